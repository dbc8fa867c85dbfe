//! Embeds the device code.

fn main() {}
