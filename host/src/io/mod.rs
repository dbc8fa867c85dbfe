//! From the bytes of files to what they hold, and back.

pub mod inp;
