//! Single entries of vectors, and lists of their places.

use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use kernels_rs::coupling::{FindPlaces, MoveEntries};
use kernels_rs::real::Real;

/// The entries of a vector at some places.
pub fn pick<T: Real>(space: &Space, x: &Buffer<T>, places: &[u32]) -> Result<Vec<T>> {
    space.take(gather(space, x, &space.upload(places)?)?)
}

/// The same on the device.
pub fn gather<T: Real>(space: &Space, x: &Buffer<T>, places: &Buffer<u32>) -> Result<Buffer<T>> {
    let mut picked = space.zeros(places.len())?;
    if !places.is_empty() {
        move_entries(space, (x, places), (&mut picked, &space.upload(&[])?))?;
    }
    Ok(picked)
}

/// `y_t = x_i` for the places t of a list, all different.
pub fn scatter<T: Real>(space: &Space, x: &Buffer<T>, places: &Buffer<u32>, y: &mut Buffer<T>) -> Result<()> {
    if places.is_empty() { Ok(()) } else { move_entries(space, (x, &space.upload(&[])?), (y, places)) }
}

/// Sets the entries of a vector at some places, all different.
pub fn put<T: Real>(space: &Space, x: &mut Buffer<T>, places: &[u32], entries: &[T]) -> Result<()> {
    scatter(space, &space.upload(entries)?, &space.upload(places)?, x)?;
    space.finish()
}

/// `y_t = x_s` for places s of one vector and t of another; no list stands for 0, 1, 2 ...
fn move_entries<T: Real>(
    space: &Space,
    (x, sources): (&Buffer<T>, &Buffer<u32>),
    (y, targets): (&mut Buffer<T>, &Buffer<u32>),
) -> Result<()> {
    let n = sources.len().max(targets.len());
    let (sources, targets, x, y) = (sources.view(), targets.view(), x.view(), y.view_mut());
    // SAFETY: all live until the kernel has run, as what is freed is freed in its order; places are those of the vectors, and
    // targets all different.
    unsafe { space.run(n, MoveEntries { sources, targets, x, y }) }
}

/// The place in a list of each index below n, or [`NONE`](kernels_rs::coupling::NONE); the list ascends.
pub fn places(space: &Space, n: usize, list: &[u32]) -> Result<Buffer<u32>> {
    let (list, mut places) = (space.upload(list)?, space.zeros(n)?);
    // SAFETY: both live until `finish`, and there is a place for each index.
    unsafe { space.run(n, FindPlaces { list: list.view(), places: places.view_mut() }) }?;
    space.finish()?;
    Ok(places)
}
