//! tmp
/// tmp
pub fn hilbert(coords: &[[f64; 3]]) -> Vec<u32> { (0..coords.len() as u32).collect() }
