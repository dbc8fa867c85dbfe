//! Products of matrices that are promised to be symmetric, of which the CPU reads half: they are the general product,
//! the same bits for any number of threads, and what is above the diagonal has no part in them.

use crate::common::blocks::{Blocks, band, random_sparsity, sparsity};
use crate::common::{Random, assert_close, bits, floats, on_threads, rounding};
use cuda_std::{GpuFloat, Number};
use kernels_rs::cg_persistent::{HISTORY, RECORD};
use kernels_rs::half::F16;
use kernels_rs::precond::Step;
use kernels_rs::real::Stored;
use warpfem::linalg::{Scalar, Space};
use warpfem::result::choices::Format;
use warpfem::sparse::{CgState, Epilogue, LinOp, Matrix, Sparsity};

/// Rows at a few distances neighbour each other, as in a grid: most neighbouring rows have neighbouring columns. Rows
/// that are left out have no blocks.
fn grid(n: usize, is_left_out: impl Fn(usize) -> bool) -> Sparsity {
    let (mut row_start, mut columns) = (vec![0], Vec::new());
    for row in 0..n {
        let before = [100, 40, 7, 1].into_iter().filter_map(|distance| row.checked_sub(distance));
        let after = [1, 7, 40, 100].into_iter().map(|distance| row + distance).filter(|other| *other < n);
        if !is_left_out(row) {
            columns.push(row as u32);
            columns.extend(before.chain(after).filter(|other| !is_left_out(*other)).map(|other| other as u32));
        }
        row_start.push(columns.len() as u64);
    }
    Sparsity { row_start, columns }
}

/// Patterns that are cut in parts, or small.
fn patterns() -> Vec<(String, Sparsity)> {
    let mut patterns = Vec::new();
    for n in [0, 1, 5, 31, 32, 33, 1009] {
        patterns.push((format!("random of {n}"), random_sparsity(n, 12, n as u64)));
    }
    patterns.push(("diagonal".into(), sparsity(&vec![Vec::new(); 70])));
    patterns.push(("a grid".into(), grid(4001, |_| false)));
    patterns.push(("a grid with gaps".into(), grid(4001, |row| row % 97 == 5 || (128..260).contains(&row))));
    patterns.push(("many parts".into(), band(4001, 9, 40, &[])));
    patterns.push(("all parts reach the first row".into(), band(4001, 3, 10, &[0])));
    patterns.push(("the last row reaches all, in one part".into(), band(1200, 3, 10, &[1199])));
    patterns
}

/// `A x`, `x . A x` and a step of a polynomial.
fn results<V: Stored>(space: &Space, matrix: &Matrix<V>, x: &[V::Arithmetic]) -> [Vec<V::Arithmetic>; 2] {
    let n = x.len();
    let nan = vec![V::Arithmetic::from_f64(f64::NAN); n];
    let (x, mut y, mut z) = (space.upload(x).unwrap(), space.upload(&nan).unwrap(), space.upload(&nan).unwrap());
    matrix.apply(space, &x, &mut y).unwrap();
    matrix.apply_dot(space, &x, &mut z, Scalar::new(33)).unwrap();
    assert!(bits(y.host()) == bits(z.host()), "with and without the inner product differ");
    let [dot] = space.read([Scalar::new(33)]).unwrap();
    let expected: f64 = x.host().iter().zip(y.host()).map(|(x, y)| x.to_f64() * y.to_f64()).sum();
    assert_close("x . A x", &[dot], &[expected], rounding::<V::Arithmetic>(), 100.0 * (1.0 + n as f64));
    let (inverse, r): (Vec<_>, Vec<_>) = (Random(5).vector(n), Random(6).vector(n));
    let (inverse, r) = (space.upload(&inverse).unwrap(), space.upload(&r).unwrap());
    let mut previous = space.upload(&Random(7).vector(n)).unwrap();
    let factors = [0.5, 0.25, 2.0].map(V::Arithmetic::from_f64);
    let step = Step { factors, inverse: inverse.view(), r: r.view(), previous: previous.view_mut() };
    // SAFETY: vectors of the matrix's rows, which live, and of which no other is `previous`.
    unsafe { matrix.apply_then(space, &x, &mut z, Epilogue::Step(step)) }.unwrap();
    [y.host().to_vec(), previous.host().to_vec()]
}

/// Whether conjugate gradients go on in one go; then what they take for `p . A p`, before they have A p, is that.
fn knows_square<V: Stored>(blocks: &Blocks, format: Format, x: &[V::Arithmetic]) -> bool {
    let (n, space) = (x.len(), Space::cpu());
    let mut matrix: Matrix<V> = blocks.upload(&space, format);
    matrix.promise_symmetric();
    let inverse = space.upload(&vec![1.0; n]).unwrap();
    let [mut u, mut r, mut z, mut product] = [(); 4].map(|()| space.zeros(n).unwrap());
    let (mut p, mut history) = (space.upload(x).unwrap(), space.zeros(HISTORY + RECORD).unwrap());
    matrix.apply(&space, &p, &mut product).unwrap();
    let (inverse, u, r, z, p, history_too) = (&inverse, &mut u, &mut r, &mut z, &mut p, &mut history);
    let state = CgState { inverse, u, r, z, p, history: history_too, steps: 1, enough: [0.0; 2], rho: Scalar::new(34) };
    let goes_on = matrix.fused_cg(&space, state).unwrap();
    if goes_on {
        let expected: f64 = x.iter().zip(product.host()).map(|(x, y)| x.to_f64() * y.to_f64()).sum();
        let scale = 100.0 * (1.0 + n as f64);
        assert_close("p . A p", &[history.host()[1]], &[expected], rounding::<V::Arithmetic>(), scale);
    }
    goes_on
}

fn products<V: Stored>(format: Format, size: usize) {
    for (name, sparsity) in patterns() {
        let what = format!("{format} {} {name}, blocks of {size}", V::NAME);
        let blocks = Blocks::dominant(sparsity, size, 1.0, 3).rounded::<V>();
        let x = Random(4).vector::<V::Arithmetic>(blocks.n());
        let of_half = |threads: usize| {
            on_threads(threads, || {
                let space = Space::cpu();
                let mut matrix: Matrix<V> = blocks.upload(&space, format);
                matrix.promise_symmetric();
                results(&space, &matrix, &x)
            })
        };
        let space = Space::cpu();
        let general = results(&space, &blocks.upload::<V>(&space, format), &x);
        let found = of_half(1);
        // Diagonal entries are the sums of a row's others.
        let scale = 1.0 + blocks.values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        for (found, general) in found.iter().zip(&general) {
            assert_close(&what, found, &floats(general), rounding::<V::Arithmetic>(), 10.0 * scale);
        }
        let has_half = format.name().starts_with("ebw") && format != Format::Ebw16;
        let is_cut = name.starts_with("a grid") || name == "many parts";
        let goes_on = knows_square::<V>(&blocks, format, &x);
        assert!(goes_on <= has_half && goes_on >= (has_half && is_cut), "{what}");
        for threads in [2, 3] {
            assert!(of_half(threads).map(|y| bits(&y)) == found.clone().map(|y| bits(&y)), "{what}: {threads} threads");
        }
    }
}

#[test]
fn half_of_a_matrix_gives_the_product() {
    for size in 1..=3 {
        products::<f64>(Format::Ebw, size);
        products::<f32>(Format::Ebw, size);
        products::<F16>(Format::Ebw, size);
    }
    // Of six modes, and in higher slices.
    products::<f64>(Format::Ebw, 6);
    products::<f32>(Format::Ebw, 6);
    products::<f64>(Format::Ebw64, 3);
    products::<f64>(Format::Ebw128, 2);
    // Formats that have no product of half read all.
    products::<f64>(Format::Csr, 2);
    products::<f64>(Format::Ebw16, 3);
}

#[test]
fn blocks_above_the_diagonal_are_not_in_the_product() {
    for (n, most, reach) in [(1, 1, 1), (50, 5, 20), (3000, 5, 20)] {
        let symmetric = Blocks::dominant(band(n, most, reach, &[]), 3, 1.0, 3);
        let (mut lower, mut at) = (symmetric.clone(), 0);
        symmetric.for_each(|row, column, value| {
            lower.values[at] = if column / 3 > row / 3 { 1e30 } else { value };
            at += 1;
        });
        let space = Space::cpu();
        let x = Random(4).vector::<f64>(symmetric.n());
        let [of_both, of_lower] = [&symmetric, &lower].map(|blocks| {
            let mut matrix: Matrix<f64> = blocks.upload(&space, Format::Ebw);
            matrix.promise_symmetric();
            results(&space, &matrix, &x).map(|y| bits(&y))
        });
        assert!(of_both == of_lower, "{n} rows");
    }
}

#[test]
fn what_is_written_anew_is_not_taken_for_symmetric() {
    let space = Space::cpu();
    let mut matrix: Matrix<f64> = Blocks::dominant(random_sparsity(40, 6, 1), 3, 1.0, 3).upload(&space, Format::Ebw);
    matrix.promise_symmetric();
    assert!(matrix.is_symmetric());
    matrix.make_up(&space).unwrap();
    assert!(!matrix.is_symmetric());
    matrix.promise_symmetric();
    let blocks = matrix.blocks(&space).unwrap();
    matrix.set_blocks(&space, &blocks).unwrap();
    assert!(!matrix.is_symmetric());
}
