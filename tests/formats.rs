//! Every storage format, in both precisions: the product is the reference's, padding is harmless, figures are right.

mod common;

use common::blocks::{Blocks, random_sparsity, sparsity, with_host_layout};
use common::{Random, assert_close, assert_orders_agree, bits, on_every_device, rounding};
use kernels_rs::for_each_format;
use kernels_rs::real::Real;
use kernels_rs::sparse::Layout;
use warpfem::backend::Backend;
use warpfem::sparse::{Format, Matrix, Sparsity};

/// Rows of the diagonal alone, of a few blocks, and one that neighbours every other.
fn one_long_row(n: usize, long: usize) -> Sparsity {
    let mut neighbours: Vec<Vec<usize>> = (0..n).map(|row| if row % 3 == 0 { vec![] } else { vec![row / 2] }).collect();
    neighbours[long] = (0..n).collect();
    sparsity(&neighbours)
}

/// The patterns by name.
fn patterns() -> Vec<(String, Sparsity)> {
    let mut patterns: Vec<(String, Sparsity)> = Vec::new();
    for n in [0, 1, 31, 32, 33, 1009] {
        patterns.push((format!("diagonal of {n}"), sparsity(&vec![Vec::new(); n])));
        patterns.push((format!("random of {n}"), random_sparsity(n, 12, n as u64)));
    }
    for (n, long) in [(33, 0), (33, 32), (300, 77)] {
        patterns.push((format!("row {long} of {n} full"), one_long_row(n, long)));
    }
    patterns
}

fn product<B: Backend, F: Format, T: Real>(backend: &B, name: &str, blocks: &Blocks) -> Vec<u64> {
    let n = blocks.n_rows();
    let matrix: Matrix<B, F, T> = blocks.upload(backend);
    let x = Random(3).vector::<T>(3 * n);
    let expected = blocks.product(&x.iter().map(|v| v.to_f64()).collect::<Vec<_>>());
    let x = backend.upload(&x).unwrap();
    let longest = (0..n).map(|row| blocks.sparsity.row(row).len()).max().unwrap_or(0) as f64;
    let multiply = || {
        let mut y = backend.upload(&vec![T::from_f64(f64::NAN); 3 * n]).unwrap();
        backend.spmv(&matrix, &x, &mut y).unwrap();
        backend.download(&y).unwrap()
    };
    let y = multiply();
    assert_close(&format!("{} {} {name}", F::NAME, T::NAME), &y, &expected, rounding::<T>(), 3.0 * longest);
    assert!(bits(&multiply()) == bits(&y), "{name}: two products differ");
    bits(&y)
}

fn products_are_the_reference<F: Format, T: Real>() {
    for (name, sparsity) in patterns() {
        let blocks = Blocks::random(sparsity, 11);
        assert_orders_agree(&on_every_device!(product::<_, F, T>, &name, &blocks));
    }
}

/// Every stored column is a column of the matrix, the diagonal is first, padding repeats the row.
fn columns_are_valid<F: Format>() {
    for (name, sparsity) in patterns() {
        let format = F::build(&sparsity);
        with_host_layout(&format, |layout| {
            for row in 0..sparsity.n_rows() {
                // SAFETY: a row of the matrix; host views check their bounds.
                let width = unsafe { layout.width(row) };
                // SAFETY: as above, and k is below the width.
                let columns: Vec<usize> = (0..width).map(|k| unsafe { layout.column(row, k) }).collect();
                let (own, padding) = columns.split_at(sparsity.row(row).len());
                assert!(own.iter().zip(sparsity.row(row)).all(|(a, b)| *a == *b as usize), "{name}, row {row}");
                assert!(padding.iter().all(|column| *column == row), "{name}, row {row}: {padding:?}");
            }
        });
    }
}

/// No two entries of a matrix share a place, and all places are counted.
fn entries_are_distinct<F: Format>() {
    for (name, sparsity) in patterns() {
        let format = F::build(&sparsity);
        let mut taken = vec![false; format.footprint().values as usize];
        with_host_layout(&format, |layout| {
            for row in 0..sparsity.n_rows() {
                // SAFETY: a row of the matrix; host views check their bounds.
                for k in 0..unsafe { layout.width(row) } {
                    for (i, j) in (0..9).map(|entry| (entry / 3, entry % 3)) {
                        // SAFETY: as above, and k is below the width.
                        let place = unsafe { layout.entry(row, k, i, j) };
                        let twice = std::mem::replace(&mut taken[place], true);
                        assert!(!twice, "{name}: block {k} of row {row} and another share {place}");
                    }
                }
            }
        });
    }
}

/// The same sparsity gives the same arrays, and as many bytes as the backend is asked to hold.
fn footprints_are_what_is_stored<F: Format>() {
    use common::recorder::Recorder;
    use warpfem::backend::{Buffer, GpuBackend};
    for (name, sparsity) in patterns() {
        let (format, again) = (F::build(&sparsity), F::build(&sparsity));
        assert_eq!(format.footprint(), again.footprint(), "{name}");
        let least = 9 * sparsity.n_blocks() as u64;
        assert!(format.footprint().values >= least, "{name}: {:?}", format.footprint());
        let backend = GpuBackend::new(Recorder::default()).unwrap();
        let before = backend.launcher().counts().bytes_uploaded;
        let matrix: Matrix<_, F, f64> = Matrix::zeros(&backend, &format, sparsity.n_rows()).unwrap();
        let uploaded = backend.launcher().counts().bytes_uploaded - before;
        assert_eq!(format.footprint().index_bytes, uploaded as u64, "{name}");
        assert_eq!(format.footprint().values, matrix.values.len() as u64, "{name}");
    }
}

macro_rules! formats {
    ($($F:ident),+) => { $(
        #[allow(non_snake_case, reason = "the module is named after the format")]
        mod $F {
            use warpfem::sparse::$F;
            #[test]
            fn products_in_double() { super::products_are_the_reference::<$F, f64>() }
            #[test]
            fn products_in_single() { super::products_are_the_reference::<$F, f32>() }
            #[test]
            fn columns() { super::columns_are_valid::<$F>() }
            #[test]
            fn entries() { super::entries_are_distinct::<$F>() }
            #[test]
            fn footprint() { super::footprints_are_what_is_stored::<$F>() }
        }
    )+ };
}
for_each_format!(formats);

#[test]
fn ebw_pads_each_slice_of_32_rows_to_its_longest() {
    let format = warpfem::sparse::Ebw::build(&one_long_row(33, 32));
    // Rows 0 to 31 have at most two blocks, row 32 has all 33.
    assert_eq!(format.slice_start, [0, 2, 35]);
    let footprint = format.footprint();
    assert_eq!((footprint.values, footprint.index_bytes), (9 * 32 * 35, 8 * 3 + 4 * 32 * 35));
}
