//! Operations on several vectors in as few passes over memory as there can be: see [`kernels_rs::vectors`].

use super::{CHUNK, Space, check_finite};
use crate::device::{Buffer, Device, Plain};
use crate::parallel;
use crate::result::Result;
use cuda_std::launch::ItemKernel;
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::real::Real;
use kernels_rs::reduce::BLOCK;
use kernels_rs::vectors::{
    Coefficients, Combine, Gram, GramSums, INPUTS, OUTPUTS, SUMS, TILE, Vectors, VectorsMut, inner_products,
};
use nalgebra::DMatrix;
use std::ops::Range;

/// Entries of each vector that the CPU takes at once, so that they stay in its caches.
const AT_ONCE: usize = 256;
/// Vectors of each of two sets whose products it adds up in one loop: their partial sums are 8 KiB a [`CHUNK`].
const CPU_TILE: usize = 32;

/// Two ranges of vectors, of x and of y.
type Tile = [Range<usize>; 2];

/// Ranges of at most `size` of `0..n`.
fn ranges(n: usize, size: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    (0..n).step_by(size).map(move |start| start..n.min(start + size))
}

/// The length of all vectors.
fn length<'a>(vectors: impl IntoIterator<Item = &'a Buffer<f64>>) -> usize {
    let mut lengths = vectors.into_iter().map(Buffer::len);
    let n = lengths.next().unwrap_or(0);
    assert!(lengths.all(|length| length == n), "vectors of different lengths");
    n
}

impl Space {
    /// `x_i . y_j`, `[n_x][n_y]`; waits. The same bits every time. NaN and infinity are errors.
    ///
    /// # Errors
    ///
    /// [`Error::Breakdown`](crate::result::Error::Breakdown), and those of the device.
    pub fn gram(&self, x: &[&Buffer<f64>], y: &[&Buffer<f64>]) -> Result<DMatrix<f64>> {
        self.products(x, y, false)
    }

    /// As [`Space::gram`], of `y = B x` with a symmetric B: half of the products stand for all.
    ///
    /// # Errors
    ///
    /// As [`Space::gram`].
    pub fn symmetric_gram(&self, x: &[&Buffer<f64>], y: &[&Buffer<f64>]) -> Result<DMatrix<f64>> {
        assert_eq!(x.len(), y.len(), "a product for each vector");
        let mut gram = self.products(x, y, true)?;
        gram.fill_lower_triangle_with_upper_triangle();
        Ok(gram)
    }

    /// The products; of those below the diagonal some, if `upper`.
    fn products(&self, x: &[&Buffer<f64>], y: &[&Buffer<f64>], upper: bool) -> Result<DMatrix<f64>> {
        length(x.iter().chain(y).copied());
        let size = if self.on_host() { CPU_TILE } else { TILE };
        let rows = ranges(x.len(), size);
        let tiles = rows.flat_map(|rows| ranges(y.len(), size).map(move |columns| [rows.clone(), columns]));
        let tiles: Vec<Tile> = tiles.filter(|[rows, columns]| !upper || rows.start < columns.end).collect();
        let mut gram = DMatrix::zeros(x.len(), y.len());
        if tiles.is_empty() {
            return Ok(gram);
        }
        if self.on_host() {
            for [rows, columns] in tiles {
                let (x, y): (Vec<_>, Vec<_>) = (host(&x[rows.clone()]), host(&y[columns.clone()]));
                gram.view_mut((rows.start, columns.start), (rows.len(), columns.len())).copy_from(&tile_on_cpu(&x, &y));
            }
        } else {
            let sums = self.tiles_on_gpu(x, y, &tiles)?;
            for ([rows, columns], sums) in tiles.into_iter().zip(sums.chunks_exact(SUMS)) {
                let sums = DMatrix::from_row_slice(TILE, TILE, sums);
                let shape = (rows.len(), columns.len());
                gram.view_mut((rows.start, columns.start), shape).copy_from(&sums.view((0, 0), shape));
            }
        }
        check_finite(gram.as_slice())?;
        Ok(gram)
    }

    /// The sums of each tile, `[n_tiles][SUMS]`.
    fn tiles_on_gpu(&self, x: &[&Buffer<f64>], y: &[&Buffer<f64>], tiles: &[Tile]) -> Result<Vec<f64>> {
        let n = length(x.iter().chain(y).copied());
        let blocks = self.stride_grid(n);
        let mut sums = self.zeros(SUMS * tiles.len())?;
        let (partials, ticket) = self.partials(SUMS * blocks)?;
        for (tile, [rows, columns]) in tiles.iter().enumerate() {
            let [x, y] = [&x[rows.clone()], &y[columns.clone()]].map(|vectors| {
                let view = |k: usize| vectors.get(k).map_or(View::from_slice(&[]), |vector| vector.view());
                Vectors(std::array::from_fn(view))
            });
            let to = GramSums { partials, ticket, sums: sums.view_mut(), first: SUMS * tile };
            // SAFETY: all vectors live and have n entries; there are partial sums for each block, and sums of each tile.
            unsafe { self.launch_sum(blocks, Gram { n, x, y, to }) }?;
        }
        self.take(sums)
    }

    /// `y_j = beta y_j + sum_i x_i c_ij`, c `[n_x][n_y]`; with `beta = 0` what y was does not count.
    pub fn combine(&self, x: &[&Buffer<f64>], c: &DMatrix<f64>, beta: f64, y: &mut [Buffer<f64>]) -> Result<()> {
        assert_eq!(c.shape(), (x.len(), y.len()), "a coefficient for each input and output");
        let n = length(x.iter().copied().chain(&*y));
        let (n_x, n_y) = c.shape();
        let mut kernels = Vec::new();
        for outputs in ranges(n_y, OUTPUTS) {
            // Without inputs there is beta y still.
            for inputs in ranges(n_x.max(1), INPUTS) {
                let beta = if inputs.start == 0 { beta } else { 1.0 };
                let (place, x) = ([inputs.start, outputs.start], &x[inputs.start..n_x.min(inputs.end)]);
                kernels.push(combination(x, c, place, beta, &mut y[outputs.clone()]));
            }
        }
        if self.on_host() {
            parallel::for_ranges(n, AT_ONCE, &|rows| {
                for start in rows.clone().step_by(AT_ONCE) {
                    let rows = start..rows.end.min(start + AT_ONCE);
                    // SAFETY: all live and have n entries, y is borrowed uniquely, and each row is in one range.
                    kernels.iter().for_each(|kernel| unsafe { kernel.on_cpu(rows.clone()) });
                }
            });
            return Ok(());
        }
        // SAFETY: all live and have n entries; y is borrowed uniquely.
        kernels.into_iter().try_for_each(|kernel| unsafe { self.run(n, kernel) })
    }
}

/// A launch of fewer items than a sixteenth of the device's threads leaves most of it idle.
const IDLE: usize = 16;

impl Space {
    /// `count` vectors of n zeros.
    pub(crate) fn vectors<T: Real>(&self, n: usize, count: usize) -> Result<Vec<Buffer<T>>> {
        (0..count).map(|_| self.zeros(n)).collect()
    }

    /// Adds vectors of n entries until there are so many.
    pub(crate) fn widen<T: Real>(&self, vectors: &mut Vec<Buffer<T>>, n: usize, width: usize) -> Result<()> {
        while vectors.len() < width {
            vectors.push(self.zeros(n)?);
        }
        Ok(())
    }

    /// Whether so many items leave a GPU so idle that several vectors are better shared out among more threads.
    pub(crate) fn is_idle_with(&self, n: usize) -> bool {
        let Device::Gpu(launcher) = &**self else { return false };
        IDLE * n < launcher.full_grid() * BLOCK
    }
}

/// One to N vectors as kernels read them; the first stands in for those that are none.
pub(crate) fn views<T: Plain, const N: usize>(x: &[Buffer<T>]) -> Vectors<T, N> {
    assert!((1..=N).contains(&x.len()), "{} vectors", x.len());
    Vectors(std::array::from_fn(|k| x.get(k).unwrap_or(&x[0]).view()))
}

/// Up to N vectors as kernels write them.
pub(crate) fn views_mut<T: Plain, const N: usize>(y: &mut [Buffer<T>]) -> VectorsMut<T, N> {
    assert!(y.len() <= N, "{} vectors", y.len());
    let mut y = y.iter_mut().map(Buffer::view_mut);
    VectorsMut(std::array::from_fn(|_| y.next().unwrap_or(ViewMut::from_slice(&mut []))))
}

/// The vectors of a CPU.
fn host<'a>(vectors: &[&'a Buffer<f64>]) -> Vec<&'a [f64]> {
    vectors.iter().map(|vector| vector.host()).collect()
}

/// A launch for some inputs and outputs, whose coefficients begin at this place.
fn combination(
    x: &[&Buffer<f64>],
    c: &DMatrix<f64>,
    [row, column]: [usize; 2],
    beta: f64,
    y: &mut [Buffer<f64>],
) -> Combine {
    let mut factors = [[0.0; OUTPUTS]; INPUTS];
    for (i, factors) in factors[..x.len()].iter_mut().enumerate() {
        factors[..y.len()].iter_mut().enumerate().for_each(|(j, factor)| *factor = c[(row + i, column + j)]);
    }
    Combine {
        x: Vectors(std::array::from_fn(|i| x.get(i).map_or(View::from_slice(&[]), |x| x.view()))),
        c: Coefficients(factors),
        beta,
        y: views_mut(y),
    }
}

/// The products of some vectors, of each [`CHUNK`] added in order.
fn tile_on_cpu(x: &[&[f64]], y: &[&[f64]]) -> DMatrix<f64> {
    let n = x.first().map_or(0, |x| x.len());
    let mut total = DMatrix::zeros(x.len(), y.len());
    for sums in parallel::map_ranges(n, CHUNK, &|rows| products_of(x, y, rows)) {
        total += sums;
    }
    total
}

/// The products over some rows.
fn products_of(x: &[&[f64]], y: &[&[f64]], rows: Range<usize>) -> DMatrix<f64> {
    let mut total = DMatrix::zeros(x.len(), y.len());
    for start in rows.clone().step_by(AT_ONCE) {
        let rows = start..rows.end.min(start + AT_ONCE);
        for i in ranges(x.len(), 4) {
            // Of fewer vectors the last stands in for the others.
            let x = std::array::from_fn(|k| &x[(i.start + k).min(i.end - 1)][rows.clone()]);
            for j in ranges(y.len(), 2) {
                let sums = inner_products(x, [&y[j.start][rows.clone()], &y[j.end - 1][rows.clone()]]);
                i.clone().zip(sums).for_each(|(i, sums)| j.clone().zip(sums).for_each(|(j, sum)| total[(i, j)] += sum));
            }
        }
    }
    total
}
