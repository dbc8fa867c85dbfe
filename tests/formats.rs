//! Every storage format, block size and precision: the product is the reference's, padding is harmless, figures are
//! right.

use crate::common::blocks::{Blocks, random_sparsity, sparsity};
use crate::common::{Random, assert_close, assert_orders_agree, bits, on_every_device, rounding};
use kernels_rs::for_each_format;
use kernels_rs::real::Real;
use kernels_rs::sparse::Layout;
use warpfem::linalg::{Scalar, Space};
use warpfem::result::choices::Format;
use warpfem::sparse::{Footprint, LinOp, Matrix, Sparsity, Tuning};

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
    for n in [0, 1, 31, 32, 33, 1009] {
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

/// The block sizes of a layout.
fn sizes<L: Layout>() -> Vec<usize> {
    L::BLOCK.map_or(vec![1, 2, 3], |size| vec![size])
}

/// `A x` and `x . A x` of a device, compared with the reference; their bits.
fn product<T: Real>(space: &Space, what: &str, format: Format, blocks: &Blocks) -> Vec<u64> {
    let n = blocks.n();
    let matrix: Matrix<T> = blocks.upload(space, format);
    let x = Random(3).vector::<T>(n);
    let expected = blocks.product(&x.iter().map(|v| v.to_f64()).collect::<Vec<_>>());
    let expected_dot = x.iter().zip(&expected).map(|(x, y)| x.to_f64() * y).sum::<f64>();
    let x = space.upload(&x).unwrap();
    let longest = (0..blocks.n_rows()).map(|row| blocks.sparsity.row(row).len()).max().unwrap_or(0);
    let scale = 1.0 + (longest * blocks.size) as f64;
    let nan = vec![T::from_f64(f64::NAN); n];
    let (mut y, mut z) = (space.upload(&nan).unwrap(), space.upload(&nan).unwrap());
    matrix.apply(space, &x, &mut y).unwrap();
    let dot = Scalar::new(33);
    matrix.apply_dot(space, &x, &mut z, dot).unwrap();
    let [dot] = space.read([dot]).unwrap();
    let (y, z) = (space.download(&y).unwrap(), space.download(&z).unwrap());
    let what = format!("{format} {} {what}, blocks of {}", T::NAME, blocks.size);
    assert_close(&what, &y, &expected, rounding::<T>(), scale);
    assert!(bits(&y) == bits(&z), "{what}: with and without the inner product differ");
    assert_close(&what, &[dot], &[expected_dot], rounding::<T>(), scale * (1.0 + n as f64));
    [bits(&y), bits(&[dot])].concat()
}

fn format_of<L: Layout>() -> Format {
    Format::from_name(L::NAME).unwrap()
}

fn products_are_the_reference<L: Layout, T: Real>() {
    for size in sizes::<L>() {
        for (name, sparsity) in patterns() {
            // A block of threads per row of many takes the emulator long.
            if sparsity.n_rows() * size > 500 && L::NAME.starts_with("dense") {
                continue;
            }
            let blocks = Blocks::random(sparsity, size, 11);
            assert_orders_agree(&on_every_device!(product::<T>, &name, format_of::<L>(), &blocks));
        }
    }
}

/// What was put into a matrix comes out of it, and nothing else is stored.
fn entries_are_kept<L: Layout>() {
    let space = Space::cpu();
    for size in sizes::<L>() {
        for (name, sparsity) in patterns() {
            let mut blocks = Blocks::random(sparsity, size, 0);
            // All different, so that two entries at one place are found; small enough that sums are exact.
            blocks.values.iter_mut().enumerate().for_each(|(i, value)| *value = (i + 1) as f64);
            let matrix: Matrix<f64> = blocks.upload(&space, format_of::<L>());
            assert_eq!(matrix.blocks(&space).unwrap(), blocks.values, "{name}, blocks of {size}");
            let values = matrix.values();
            // SAFETY: the values live, and host views check their bounds.
            let stored: f64 = (0..values.len()).map(|i| unsafe { values.at(i) }).sum();
            assert_eq!(stored, blocks.values.iter().sum::<f64>(), "{name}, blocks of {size}: padding is not zero");
        }
    }
}

/// An infinite entry of x reaches the rows that have its column, and no other through padding.
fn padding_reads_no_other_row<L: Layout>() {
    let space = Space::cpu();
    for size in sizes::<L>() {
        let mut blocks = Blocks::random(one_long_row(70, 40), size, 5);
        blocks.values.iter_mut().for_each(|value| *value = 1.0);
        if L::NAME.starts_with("dense") {
            continue;
        }
        let matrix: Matrix<f64> = blocks.upload(&space, format_of::<L>());
        for column in 0..blocks.n() {
            let mut x = vec![1.0; blocks.n()];
            x[column] = f64::INFINITY;
            let expected = blocks.product(&x);
            let mut y = space.zeros(blocks.n()).unwrap();
            matrix.apply(&space, &space.upload(&x).unwrap(), &mut y).unwrap();
            let reached = |y: &[f64]| y.iter().enumerate().filter(|(_, y)| !y.is_finite()).map(|(i, _)| i).collect();
            let (found, expected): (Vec<usize>, Vec<usize>) = (reached(y.host()), reached(&expected));
            assert_eq!(found, expected, "{}: column {column}, blocks of {size}", L::NAME);
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

fn footprints_are_by_the_definition<L: Layout>() {
    let space = Space::cpu();
    for size in sizes::<L>() {
        for (name, sparsity) in patterns() {
            for (slice_height, sorting_window) in [(32, 1024), (8, 64)] {
                let tuning = Tuning { slice_height, sorting_window };
                let blocks = Blocks::random(sparsity.clone(), size, 0);
                let matrix: Matrix<f64> = blocks.upload_tuned(&space, format_of::<L>(), tuning);
                let expected = expected_footprint(L::NAME, &sparsity, size, tuning);
                assert_eq!(matrix.footprint(), expected, "{} of {name}, blocks of {size}", L::NAME);
            }
        }
    }
}

macro_rules! layouts {
    ($($L:ident),+) => { $(
        #[allow(non_snake_case, reason = "the module is named after the layout")]
        mod $L {
            use kernels_rs::sparse::$L;
            #[test]
            fn products_in_double() { super::products_are_the_reference::<$L, f64>() }
            #[test]
            fn products_in_single() { super::products_are_the_reference::<$L, f32>() }
            #[test]
            fn entries() { super::entries_are_kept::<$L>() }
            #[test]
            fn padding() { super::padding_reads_no_other_row::<$L>() }
            #[test]
            fn footprint() { super::footprints_are_by_the_definition::<$L>() }
        }
    )+ };
}
for_each_format!(layouts);

#[test]
fn slices_and_windows_of_sell_can_be_chosen() {
    let blocks = Blocks::random(one_long_row(200, 9), 3, 4);
    for (slice_height, sorting_window) in [(1, 1), (8, 1), (8, 40), (128, 10_000)] {
        let tuning = Tuning { slice_height, sorting_window };
        let multiply = |space: &Space| {
            let matrix: Matrix<f64> = blocks.upload_tuned(space, Format::Sell, tuning);
            let x: Vec<f64> = Random(1).vector(blocks.n());
            let mut y = space.zeros(blocks.n()).unwrap();
            matrix.apply(space, &space.upload(&x).unwrap(), &mut y).unwrap();
            assert_close(&format!("{tuning:?}"), y.host(), &blocks.product(&x), 1e-14, 600.0);
        };
        multiply(&Space::cpu());
    }
}

#[test]
fn every_format_is_there_for_every_block_size_and_no_other_is() {
    let space = Space::cpu();
    for size in 1..=3 {
        let blocks = Blocks::random(random_sparsity(40, 6, 1), size, 2);
        for name in Format::ALL {
            assert_eq!(blocks.upload::<f64>(&space, name).format(), name.name());
        }
    }
    let pattern = std::rc::Rc::new(warpfem::sparse::Pattern::upload(&space, random_sparsity(4, 2, 1)).unwrap());
    let missing = Matrix::<f64>::zeros(&space, Format::Bcsr, 4, &pattern, Tuning::default());
    assert!(missing.is_err_and(|error| error.to_string().contains("`bcsr`")));
}

#[test]
fn a_dense_matrix_that_does_not_fit_is_refused_with_what_it_needs() {
    let space = Space::cpu();
    let n = 3_000_000;
    let diagonal = Sparsity { row_start: (0..=n as u64).collect(), columns: (0..n).collect() };
    let pattern = std::rc::Rc::new(warpfem::sparse::Pattern::upload(&space, diagonal).unwrap());
    let refused = Matrix::<f64>::zeros(&space, Format::Dense, 3, &pattern, Tuning::default());
    match refused {
        Err(warpfem::result::Error::OutOfMemory { needed, .. }) => {
            assert_eq!(needed, Some(8 * (3 * u64::from(n)).pow(2)))
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("648 TB were found"),
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
        let space = Space::cpu();
        product::<f64>(&space, "far neighbour", Format::Ebw16, &Blocks::random(far_neighbour(65_535), size, 1));
        let too_far = warpfem::sparse::Pattern::upload(&space, far_neighbour(65_536)).unwrap();
        let refused = Matrix::<f64>::zeros(&space, Format::Ebw16, size, &too_far.into(), Tuning::default());
        match refused {
            Err(error @ warpfem::result::Error::TooLarge(_)) => {
                assert!(error.to_string().contains("65536 columns apart"), "{error}");
                assert_eq!(error.exit_code(), 4);
            }
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("65,536 went into 16 bits"),
        }
    }
}

#[test]
fn a_long_row_that_would_pad_all_others_is_refused_before_memory_is_taken() {
    let space = Space::cpu();
    let n = 4_000_000_u32;
    // A row of 500,000 blocks makes ELL's columns 24 TB.
    let hub = 500_000;
    let row_start = std::iter::once(0).chain((0..u64::from(n)).map(|row| row + hub)).collect();
    let columns = std::iter::once(0).chain(1..hub as u32).chain(1..n).collect();
    let pattern = std::rc::Rc::new(warpfem::sparse::Pattern::upload(&space, Sparsity { row_start, columns }).unwrap());
    for format in [Format::Ell, Format::EllRow, Format::Bell] {
        let refused = Matrix::<f64>::zeros(&space, format, 3, &pattern, Tuning::default());
        assert!(matches!(refused, Err(warpfem::result::Error::OutOfMemory { .. })), "{format}");
    }
}
