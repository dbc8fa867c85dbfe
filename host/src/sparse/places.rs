//! Single entries of vectors, and lists of their places.

use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use cuda_std::prelude::View;
use kernels_rs::coupling::{FindPlaces, MoveEntries};
use kernels_rs::real::Real;

/// The entries of a vector at some places.
pub fn pick<T: Real>(space: &Space, x: &Buffer<T>, places: &[u32]) -> Result<Vec<T>> {
    space.take(gather(space, x, &space.upload(places)?)?)
}

/// The same on the device.
fn gather<T: Real>(space: &Space, x: &Buffer<T>, places: &Buffer<u32>) -> Result<Buffer<T>> {
    let mut picked = space.zeros(places.len())?;
    gather_into(space, x, places, &mut picked)?;
    Ok(picked)
}

/// `y_i = x_s` for the places s of a list.
pub fn gather_into<T: Real>(space: &Space, x: &Buffer<T>, places: &Buffer<u32>, y: &mut Buffer<T>) -> Result<()> {
    let (n, sources, targets) = (places.len(), places.view(), View::from_slice(&[]));
    // SAFETY: all live until the kernel has run, as what is freed is freed in its order; places are those of x.
    unsafe { space.run(n, MoveEntries { sources, targets, x: x.view(), y: y.view_mut() }) }
}

/// `y_t = x_i` for the places t of a list, all different.
pub fn scatter<T: Real>(space: &Space, x: &Buffer<T>, places: &Buffer<u32>, y: &mut Buffer<T>) -> Result<()> {
    let (n, sources, targets) = (places.len(), View::from_slice(&[]), places.view());
    // SAFETY: as above; places are those of y, all different.
    unsafe { space.run(n, MoveEntries { sources, targets, x: x.view(), y: y.view_mut() }) }
}

/// Sets the entries of a vector at some places, all different.
pub fn put<T: Real>(space: &Space, x: &mut Buffer<T>, places: &[u32], entries: &[T]) -> Result<()> {
    scatter(space, &space.upload(entries)?, &space.upload(places)?, x)?;
    space.finish()
}

/// The place in a list of each index below n, or [`NONE`](kernels_rs::coupling::NONE); the list ascends.
pub fn places(space: &Space, n: usize, list: &[u32]) -> Result<Buffer<u32>> {
    let (list, mut places) = (space.upload(list)?, space.zeros(n)?);
    // SAFETY: both live until `finish`, and there is a place for each index.
    unsafe { space.run(n, FindPlaces { list: list.view(), places: places.view_mut() }) }?;
    space.finish()?;
    Ok(places)
}
