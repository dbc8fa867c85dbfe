//! Running sums and the order of keys on a GPU.

use crate::device::{Buffer, Device, Grid};
use crate::result::{Error, Result};
use kernels_rs::reduce::BLOCK;
use kernels_rs::setup::scan::{ScanSums, ScanTiles, TILE, TileSums};
use kernels_rs::setup::sort::{DIGIT_BITS, DIGITS, DigitCounts, DigitScatter, Identity, KEYS_PER_WARP, Sorted};

/// What [`Device::exclusive_sum`] says.
pub fn exclusive_sum(device: &Device, counts: &Buffer<u32>) -> Result<Buffer<u64>> {
    let mut out = device.zeros(counts.len() + 1)?;
    let grid = Grid::new(out.len().div_ceil(TILE), BLOCK);
    let mut sums = device.zeros(grid.blocks)?;
    // SAFETY: all live until `finish`; a tile's sum per block, and the blocks cover `out`.
    unsafe {
        device.launch(grid, TileSums { counts: counts.view(), sums: sums.view_mut() })?;
        device.launch(Grid::new(1, BLOCK), ScanSums { sums: sums.view_mut() })?;
        let scan = ScanTiles { counts: counts.view(), sums: sums.view(), out: out.view_mut() };
        device.launch(grid, scan)?;
    }
    device.finish()?;
    Ok(out)
}

/// What [`Device::sort_order`] says.
pub fn sort_order(device: &Device, keys: &Buffer<u64>, bits: u32) -> Result<Buffer<u32>> {
    debug_assert!(bits <= u64::BITS, "keys have 64 bits");
    let n = keys.len();
    if u32::try_from(n).is_err() {
        return Err(Error::TooLarge(format!("{n} keys to sort, and they are numbered with 32 bits")));
    }
    let mut order = device.zeros(n)?;
    // SAFETY: order lives and has n entries.
    unsafe { device.run(n, Identity { order: order.view_mut() }) }?;
    if n == 0 {
        return Ok(order);
    }
    let warps = n.div_ceil(KEYS_PER_WARP);
    let grid = Grid::new((32 * warps).div_ceil(BLOCK), BLOCK);
    let mut counts = device.zeros(DIGITS * warps)?;
    let (mut sorted, mut next, mut next_order) = (device.zeros(n)?, device.zeros(n)?, device.zeros(n)?);
    for shift in (0..bits).step_by(DIGIT_BITS as usize) {
        let from = if shift == 0 { keys.view() } else { sorted.view() };
        // SAFETY: keys and counts live; a counter per digit and warp.
        unsafe { device.launch(grid, DigitCounts { shift, keys: from, counts: counts.view_mut() }) }?;
        let starts = device.exclusive_sum(&counts)?;
        let to = Sorted { keys: next.view_mut(), order: next_order.view_mut() };
        let scatter = DigitScatter { shift, keys: from, order: order.view(), starts: starts.view(), to };
        // SAFETY: all live until `finish`; the starts are those of these keys' counts, so every key has a place.
        unsafe { device.launch(grid, scatter) }?;
        device.finish()?;
        std::mem::swap(&mut sorted, &mut next);
        std::mem::swap(&mut order, &mut next_order);
    }
    Ok(order)
}
