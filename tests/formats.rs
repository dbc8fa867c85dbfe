//! Every storage format, block size and precision: the product is the reference's, padding is harmless, figures are
//! right.

use crate::common::blocks::{Blocks, band, product, random_sparsity, sparsity};
use crate::common::{Random, assert_close, on_every_device};
use kernels_rs::real::Real;
use warpfem::linalg::Space;
use warpfem::result::Error;
use warpfem::result::choices::Format;
use warpfem::sparse::{Footprint, LinOp, Matrix, Pattern, Sparsity, Tuning};

/// Rows of the diagonal alone, of a few blocks, and one that neighbours every other.
fn one_long_row(n: usize, long: usize) -> Sparsity {
    let mut neighbours: Vec<Vec<usize>> = (0..n).map(|row| if row % 3 == 0 { vec![] } else { vec![row / 2] }).collect();
    neighbours[long] = (0..n).collect();
    sparsity(&neighbours)
}

/// As [`random_sparsity`], but every other row has no block at all, not even the diagonal one.
fn empty_rows(n: usize) -> Sparsity {
    let full = random_sparsity(n, 8, 2);
    let (mut row_start, mut columns) = (vec![0], Vec::new());
    for row in 0..n {
        if row % 2 == 1 {
            columns.extend_from_slice(full.row(row));
        }
        row_start.push(columns.len() as u64);
    }
    Sparsity { row_start, columns }
}

/// The patterns by name.
fn patterns() -> Vec<(String, Sparsity)> {
    let mut patterns: Vec<(String, Sparsity)> = Vec::new();
    for n in [0, 1, 31, 32, 33, 509] {
        patterns.push((format!("random of {n}"), random_sparsity(n, 12, n as u64)));
    }
    for n in [1, 33, 200] {
        patterns.push((format!("diagonal of {n}"), sparsity(&vec![Vec::new(); n])));
        patterns.push((format!("empty rows of {n}"), empty_rows(n)));
    }
    for (n, long) in [(33, 0), (33, 32), (300, 77)] {
        patterns.push((format!("row {long} of {n} full"), one_long_row(n, long)));
    }
    patterns
}

/// Calls `check(format, pattern's name, pattern, block size)` for all there are.
fn for_all(check: impl Fn(Format, &str, &Sparsity, usize)) {
    for (name, sparsity) in patterns() {
        Format::ALL.iter().for_each(|format| (1..=3).for_each(|size| check(*format, &name, &sparsity, size)));
    }
}

fn is_dense(format: Format) -> bool {
    format.name().starts_with("dense")
}

fn products_are_the_reference<T: Real>() {
    for_all(|format, name, sparsity, size| {
        // A block of threads per row of many takes the emulator long.
        if sparsity.n_rows() * size > 500 && is_dense(format) {
            return;
        }
        let blocks = Blocks::random(sparsity.clone(), size, 11);
        let longest = (0..sparsity.n_rows()).map(|row| sparsity.row(row).len()).max().unwrap_or(0);
        on_every_device!(product::<T>, name, format, &blocks, 1.0 + (longest * size) as f64);
    });
}

#[test]
fn products_in_double_are_the_reference() {
    products_are_the_reference::<f64>();
}

#[test]
fn products_in_single_are_the_reference() {
    products_are_the_reference::<f32>();
}

#[test]
fn what_was_put_into_a_matrix_comes_out_and_nothing_else_is_stored() {
    let space = Space::cpu();
    for_all(|format, name, sparsity, size| {
        let mut blocks = Blocks::random(sparsity.clone(), size, 0);
        // All different, so that two entries at one place are found; small enough that sums are exact.
        blocks.values.iter_mut().enumerate().for_each(|(i, value)| *value = (i + 1) as f64);
        let (matrix, what): (Matrix<f64>, _) = (blocks.upload(&space, format), format!("{format} of {name}, {size}"));
        assert_eq!(matrix.format(), format.name());
        assert_eq!(matrix.blocks(&space).unwrap(), blocks.values, "{what}");
        let values = matrix.values();
        // SAFETY: the values live, and host views check their bounds.
        let stored: f64 = (0..values.len()).map(|i| unsafe { values.at(i) }).sum();
        assert_eq!(stored, blocks.values.iter().sum::<f64>(), "{what}: padding is not zero");
        for tuning in
            [Tuning { slice_height: 32, sorting_window: 1024 }, Tuning { slice_height: 8, sorting_window: 64 }]
        {
            let matrix: Matrix<f64> = blocks.upload_tuned(&space, format, tuning);
            let expected = expected_footprint(format.name(), sparsity, size, tuning);
            assert_eq!(matrix.footprint(), expected, "{what}");
        }
    });
}

/// An infinite entry of x reaches the rows that have its column, and no other through padding; also where half of a
/// matrix is read.
#[test]
fn padding_reads_no_other_row() {
    let space = Space::cpu();
    for (size, format) in (1..=3).flat_map(|size| Format::ALL.map(|format| (size, format))) {
        let patterns = [(one_long_row(70, 40), false), (band(70, 3, 40, &[3]), true)];
        for (sparsity, is_symmetric) in patterns.into_iter().filter(|_| !is_dense(format)) {
            let mut blocks = Blocks::random(sparsity, size, 5);
            blocks.values.fill(1.0);
            let mut matrix: Matrix<f64> = blocks.upload(&space, format);
            if is_symmetric {
                matrix.promise_symmetric();
            }
            for column in 0..blocks.n() {
                let mut x = vec![1.0; blocks.n()];
                x[column] = f64::INFINITY;
                let expected = blocks.product(&x);
                let mut y = space.zeros(blocks.n()).unwrap();
                matrix.apply(&space, &space.upload(&x).unwrap(), &mut y).unwrap();
                let finite = |y: &[f64]| y.iter().map(|y| y.is_finite()).collect::<Vec<_>>();
                assert_eq!(finite(y.host()), finite(&expected), "{format}: column {column}, blocks of {size}");
            }
        }
    }
}

/// Stored columns of rows of these lengths, padded to the longest of each `height`.
fn padded(lengths: &[usize], height: usize) -> usize {
    lengths.chunks(height).map(|slice| height * slice.iter().max().unwrap()).sum()
}

/// What a format stores, by its definition: values, and bytes of indices.
fn expected_footprint(name: &str, sparsity: &Sparsity, size: usize, tuning: Tuning) -> Footprint {
    let blocks: Vec<usize> = (0..sparsity.n_rows()).map(|row| sparsity.row(row).len()).collect();
    let scalars: Vec<usize> = blocks.iter().flat_map(|length| vec![length * size; size]).collect();
    let n = scalars.len();
    let sorted = |window: usize| -> Vec<usize> {
        let sort = |window: &[usize]| {
            let mut window = window.to_vec();
            window.sort_unstable_by(|a, b| b.cmp(a));
            window
        };
        scalars.chunks(window.max(1)).flat_map(sort).collect()
    };
    let whole_warps = |n: usize| n.next_multiple_of(32).max(32);
    let sliced = |lengths: &[usize], height: usize, values: usize, rows: usize| {
        let columns = padded(lengths, height);
        let index_bytes = 8 * (lengths.len().div_ceil(height) + 1) + 4 * (columns + rows);
        (columns * values, index_bytes)
    };
    let (values, index_bytes) = match name {
        "dense" | "dense_block" => (n * n, 0),
        "csr" | "csr_vector" => (scalars.iter().sum(), 8 * (n + 1) + 4 * scalars.iter().sum::<usize>()),
        "bcsr" => {
            let n_blocks = blocks.iter().sum::<usize>();
            (size * size * n_blocks, 8 * (blocks.len() + 1) + 4 * n_blocks)
        }
        "ell_row" => (padded(&scalars, 1.max(n)), 4 * padded(&scalars, 1.max(n))),
        "ell" => sliced(&scalars, whole_warps(n), 1, 0),
        "ell_warp" => sliced(&sorted(n), 32, 1, n),
        "sell" => sliced(&sorted(tuning.sorting_window), tuning.slice_height, 1, n),
        "bell" => sliced(&blocks, whole_warps(blocks.len()), size * size, 0),
        "ebw" => sliced(&blocks, 32, size * size, 0),
        "ebw64" => sliced(&blocks, 64, size * size, 0),
        "ebw16" => {
            let columns = padded(&blocks, 32);
            (size * size * columns, 8 * (blocks.len().div_ceil(32) + 1) + 2 * columns + 4 * columns / 32)
        }
        "ebw128" => sliced(&blocks, 128, size * size, 0),
        _ => panic!("what does {name} store?"),
    };
    Footprint { values: values as u64, index_bytes: index_bytes as u64 }
}

#[test]
fn slices_and_windows_of_sell_can_be_chosen() {
    let blocks = Blocks::random(one_long_row(200, 9), 3, 4);
    for (slice_height, sorting_window) in [(1, 1), (8, 1), (8, 40), (128, 10_000)] {
        let tuning = Tuning { slice_height, sorting_window };
        let (space, x): (_, Vec<f64>) = (Space::cpu(), Random(1).vector(blocks.n()));
        let matrix: Matrix<f64> = blocks.upload_tuned(&space, Format::Sell, tuning);
        let mut y = space.zeros(blocks.n()).unwrap();
        matrix.apply(&space, &space.upload(&x).unwrap(), &mut y).unwrap();
        assert_close(&format!("{tuning:?}"), y.host(), &blocks.product(&x), 1e-14, 600.0);
    }
}

#[test]
fn there_are_no_blocks_of_four() {
    let missing = matrix(Format::Bcsr, 4, random_sparsity(4, 2, 1));
    assert!(missing.is_err_and(|error| error.to_string().contains("`bcsr`")));
}

/// The format that is asked for, if there is room for it.
fn matrix(format: Format, size: usize, sparsity: Sparsity) -> Result<Matrix<f64>, Error> {
    let pattern = Pattern::upload(&Space::cpu(), sparsity).unwrap().into();
    Matrix::zeros(&Space::cpu(), format, size, &pattern, Tuning::default())
}

#[test]
fn a_dense_matrix_that_does_not_fit_is_refused_with_what_it_needs() {
    let n = 3_000_000;
    let diagonal = Sparsity { row_start: (0..=n as u64).collect(), columns: (0..n).collect() };
    match matrix(Format::Dense, 3, diagonal).map(|_| "648 TB were found") {
        Err(Error::OutOfMemory { needed, .. }) => assert_eq!(needed, Some(8 * (3 * u64::from(n)).pow(2))),
        other => panic!("{other:?}"),
    }
}

/// A row with a neighbour this far from the smallest column of its slice.
fn far_neighbour(distance: usize) -> Sparsity {
    // The slice's other rows are padded with themselves, of which the least is row 1.
    let mut neighbours = vec![Vec::new(); distance + 2];
    neighbours[0].push(distance + 1);
    sparsity(&neighbours)
}

#[test]
fn short_indices_reach_as_far_as_16_bits_and_no_further() {
    for size in 1..=3 {
        let blocks = Blocks::random(far_neighbour(65_535), size, 1);
        product::<f64>(&Space::cpu(), "far neighbour", Format::Ebw16, &blocks, 1.0 + 2.0 * size as f64);
        match matrix(Format::Ebw16, size, far_neighbour(65_536)).map(|_| "65,536 went into 16 bits") {
            Err(error @ Error::TooLarge(_)) => {
                assert!(error.to_string().contains("65536 columns apart") && error.exit_code() == 4, "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_long_row_that_would_pad_all_others_is_refused_before_memory_is_taken() {
    let n = 4_000_000_u32;
    // A row of 500,000 blocks makes ELL's columns 24 TB.
    let hub = 500_000;
    let row_start = std::iter::once(0).chain((0..u64::from(n)).map(|row| row + hub)).collect();
    let columns = std::iter::once(0).chain(1..hub as u32).chain(1..n).collect();
    let sparsity = Sparsity { row_start, columns };
    for format in [Format::Ell, Format::EllRow, Format::Bell] {
        assert!(matches!(matrix(format, 3, sparsity.clone()), Err(Error::OutOfMemory { .. })), "{format}");
    }
}
