//! From the bytes of files to what they hold.

pub mod inp;
