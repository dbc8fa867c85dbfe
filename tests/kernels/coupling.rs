//! Couplings against dense products: slaves that follow their masters, short rows and long ones.

use crate::common::blocks::{Blocks, random_sparsity};
use crate::common::{Random, assert_close, bits, floats, rounding};
use kernels_rs::amg::blocks::{BlockRows, Blocks as OfBlocks};
use kernels_rs::amg::coupled::{CombineRows, CountReplaced, ListReplaced, Replaced};
use kernels_rs::coupling::{CoupledDiagonal, NONE, SparseRows};
use kernels_rs::half::F16;
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::PatternView;
use nalgebra::DMatrix;
use warpfem::linalg::Space;
use warpfem::sparse::{AUTO, CoupledRows, Coupling, Matrix, pick, put};

/// Every fifth unknown a slave of some others; the last of as many as there are, and one of none.
fn random_rows(n: usize) -> CoupledRows {
    let mut random = Random(11);
    let slaves: Vec<usize> = (0..n).step_by(5).collect();
    let masters: Vec<u32> = (0..n).filter(|i| i % 5 != 0).map(|i| i as u32).collect();
    let mut rows = Vec::new();
    for (row, slave) in slaves.iter().enumerate() {
        let count = if row + 1 == slaves.len() { masters.len() } else { row % 4 };
        let mut of_row: Vec<u32> = (0..count.min(masters.len())).map(|k| masters[k]).collect();
        if row + 1 != slaves.len() && !masters.is_empty() {
            of_row.iter_mut().for_each(|master| *master = masters[random.below(masters.len())]);
        }
        of_row.sort_unstable();
        of_row.dedup();
        rows.push((*slave as u32, of_row.into_iter().map(|master| (master, random.next())).collect()));
    }
    CoupledRows::new(n, rows)
}

/// T as a dense matrix, and its columns of slaves 0.
fn dense(rows: &CoupledRows) -> DMatrix<f64> {
    let mut t = DMatrix::identity(rows.n, rows.n);
    for (slave, masters) in rows.rows() {
        t[(slave, slave)] = 0.0;
        masters.for_each(|(master, factor)| t[(slave, master)] = factor);
    }
    t
}

/// `T x` and `T^T x`; rows of up to 4,000 entries, for a thread, a block, and some blocks.
pub fn gather_rows(space: &Space) -> Vec<u64> {
    let of = |n| [expand_and_restrict::<f32>(space, n), expand_and_restrict::<f64>(space, n)].concat();
    [0, 1, 7, 100, 5200].into_iter().flat_map(of).collect()
}

fn expand_and_restrict<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let (rows, x) = (random_rows(n), Random(4).vector::<T>(n));
    let coupling = Coupling::<T>::new(space, &rows).unwrap();
    let [mut moved, mut gathered] = [(); 2].map(|()| space.upload(&x).unwrap());
    coupling.expand(space, &mut moved).unwrap();
    coupling.restrict(space, &mut gathered).unwrap();
    let [moved, gathered] = [moved, gathered].map(|vector| space.download(&vector).unwrap());
    let (mut expected, mut transposed) = (floats(&x), floats(&x));
    rows.expand(&mut expected);
    rows.restrict(&mut transposed);
    let scale = 10.0 * (n as f64).sqrt().max(1.0);
    assert_close("T x", &moved, &expected, rounding::<T>(), scale);
    assert_close("T^T x", &gathered, &transposed, rounding::<T>(), scale);
    [bits(&moved), bits(&gathered)].concat()
}

pub fn coupled_diagonal(space: &Space) -> Vec<u64> {
    let of = |n| {
        let [single, double] = [diagonal_of::<f32>(space, n), diagonal_of::<f64>(space, n)];
        [single, double, diagonal_of::<F16>(space, n)].concat()
    };
    [0, 1, 33, 70].into_iter().flat_map(of).collect()
}

fn diagonal_of<V: Stored>(space: &Space, n: usize) -> Vec<u64> {
    let blocks = Blocks::positive(random_sparsity(n, 8, 5), 1.0, 6).rounded::<V>();
    let (matrix, rows): (Matrix<V>, _) = (blocks.upload(space, AUTO), random_rows(3 * n));
    let slaves: Vec<u32> = rows.rows().flat_map(|(slave, of)| of.map(move |_| slave as u32)).collect();
    let (starts, row_of) = (space.upload(&rows.starts).unwrap(), space.upload(&rows.row_of()).unwrap());
    let (columns, of) = (space.upload(&rows.masters).unwrap(), space.upload(&slaves).unwrap());
    let (factors, mut terms) = (space.upload(&rows.factors).unwrap(), space.zeros(slaves.len()).unwrap());
    let kernel = CoupledDiagonal {
        entries: matrix.entries(),
        values: matrix.values(),
        rows: SparseRows { starts: starts.view(), columns: columns.view(), factors: factors.view() },
        slaves: of.view(),
        row_of: row_of.view(),
        terms: terms.view_mut(),
    };
    // SAFETY: all live until the download, and have an entry for each of T, or each unknown.
    unsafe { space.run(slaves.len(), kernel) }.unwrap();
    let terms: Vec<f64> = space.download(&terms).unwrap();
    let (k, t) = (blocks.dense(), dense(&rows));
    let mut found: Vec<f64> = (0..3 * n).map(|i| k[(i, i)]).collect();
    rows.masters.iter().zip(&terms).for_each(|(master, term)| found[*master as usize] += term);
    let reduced = t.transpose() * &k * &t;
    rows.slaves.iter().for_each(|slave| found[*slave as usize] = 0.0);
    let expected: Vec<f64> = (0..3 * n).map(|i| reduced[(i, i)]).collect();
    assert_close("the diagonal of T^T K T", &found, &expected, 1e-10, 100.0 * (1.0 + n as f64));
    bits(&terms)
}

/// The places of the multiples of 3 among the first numbers; and a pattern whose rows of these numbers are replaced.
pub fn replaced_rows(space: &Space) -> Vec<u64> {
    let of = |n: usize| {
        let list: Vec<u32> = (0..n as u32).step_by(3).collect();
        let places = warpfem::sparse::places(space, n, &list).unwrap();
        let found = space.download(&places).unwrap();
        (0..n).for_each(|i| assert_eq!(found[i], if i % 3 == 0 { (i / 3) as u32 } else { NONE }, "of {n}"));
        // Row i has i % 4 columns, 10 i and those after it; what stands for row 3 k has column 7 where k is odd.
        let rows_of = |rows: Vec<Vec<u32>>| {
            let starts = rows.iter().scan(0u64, |end, row| Some(std::mem::replace(end, *end + row.len() as u64)));
            let starts: Vec<u64> = starts.chain([rows.iter().map(|row| row.len() as u64).sum()]).collect();
            (space.upload(&starts).unwrap(), space.upload(&rows.concat()).unwrap())
        };
        let row = |i: usize| (0..i % 4).map(|k| (10 * i + k) as u32).collect::<Vec<u32>>();
        let other = |k: usize| if k % 2 == 1 { vec![7] } else { vec![] };
        let (starts, columns) = rows_of((0..n).map(row).collect());
        let (other_starts, other_columns) = rows_of((0..list.len()).map(other).collect());
        let rows = Replaced {
            pattern: PatternView { row_start: starts.view(), columns: columns.view() },
            with: PatternView { row_start: other_starts.view(), columns: other_columns.view() },
            which: places.view(),
        };
        let expected: Vec<Vec<u32>> = (0..n).map(|i| if i % 3 == 0 { other(i / 3) } else { row(i) }).collect();
        let mut lengths = space.zeros::<u32>(n).unwrap();
        // SAFETY: all live until the download, and have an entry per row.
        unsafe { space.run(n, CountReplaced { rows, lengths: lengths.view_mut() }) }.unwrap();
        let row_start = space.exclusive_sum(&lengths).unwrap();
        let lengths = space.download(&lengths).unwrap();
        assert!(lengths.iter().zip(&expected).all(|(length, row)| *length as usize == row.len()), "of {n}");
        let of_rows = (0..n).flat_map(|i| vec![i as u32; expected[i].len()]);
        let (of_rows, expected) = (of_rows.collect::<Vec<u32>>(), expected.concat());
        let [mut columns, mut rows_of] = [(); 2].map(|()| space.zeros::<u32>(expected.len()).unwrap());
        let to = (columns.view_mut(), rows_of.view_mut());
        let kernel = ListReplaced { rows, row_start: row_start.view(), columns: to.0, rows_of: to.1 };
        // SAFETY: as above, and a place for each block.
        unsafe { space.run(n, kernel) }.unwrap();
        let (columns, rows_of) = (space.download(&columns).unwrap(), space.download(&rows_of).unwrap());
        assert_eq!((&columns, &rows_of), (&expected, &of_rows), "of {n}");
        columns.iter().chain(&rows_of).map(|entry| u64::from(*entry)).collect::<Vec<u64>>()
    };
    [0, 1, 5, 300].into_iter().flat_map(of).collect()
}

/// Rows of P replaced by sums of others.
pub fn combine_rows(space: &Space) -> Vec<u64> {
    // Three block rows of 3 scalar rows; blocks of 3 x 2 at columns 0, 1; 1; 2.
    let (row_start, columns) = (vec![0u64, 2, 3, 4], vec![0u32, 1, 1, 2]);
    let values = Random(9).vector::<f64>(4 * 6);
    let at = |row: usize, column: u32, j: usize| -> f64 {
        let blocks = row_start[row / 3] as usize..row_start[row / 3 + 1] as usize;
        blocks.filter(|b| columns[*b] == column).map(|b| values[(b * 2 + j) * 3 + row % 3]).sum()
    };
    // Scalar row 4 is 0.5 row 0 + 2 row 8; so the second block row has all three columns.
    let mut row_of = vec![NONE; 9];
    row_of[4] = 0;
    let (new_rows, new_columns) = (vec![0u32, 0, 1, 1, 1, 2], vec![0u32, 1, 0, 1, 2, 2]);
    let device = |values: &[u32]| space.upload(values).unwrap();
    let (from_start, from_columns, from_values) =
        (space.upload(&row_start).unwrap(), device(&columns), space.upload(&values).unwrap());
    let (starts, sources) = (space.upload(&[0u64, 2]).unwrap(), device(&[0, 8]));
    let factors = space.upload(&[0.5, 2.0]).unwrap();
    let (of_rows, of_columns, row_of_device) = (device(&new_rows), device(&new_columns), device(&row_of));
    let mut found = space.zeros::<f64>(36).unwrap();
    let pattern = PatternView { row_start: from_start.view(), columns: from_columns.view() };
    let kernel = CombineRows {
        from: BlockRows { pattern, values: from_values.view(), rows: 3, columns: 2 },
        of: OfBlocks { rows: of_rows.view(), columns: of_columns.view() },
        rows: SparseRows { starts: starts.view(), columns: sources.view(), factors: factors.view() },
        row_of: row_of_device.view(),
        values: found.view_mut(),
    };
    // SAFETY: all live until the download; each row of a block is written once.
    unsafe { space.run(18, kernel) }.unwrap();
    let found: Vec<f64> = space.download(&found).unwrap();
    for (block, (row, column)) in new_rows.iter().zip(&new_columns).enumerate() {
        for (i, j) in (0..3).flat_map(|i| (0..2).map(move |j| (i, j))) {
            let scalar = 3 * *row as usize + i;
            let expected = match scalar {
                4 => 0.5 * at(0, *column, j) + 2.0 * at(8, *column, j),
                _ => at(scalar, *column, j),
            };
            let off = (found[(block * 2 + j) * 3 + i] - expected).abs();
            assert!(off < 1e-15, "block {block}, {i}, {j}");
        }
    }
    bits(&found)
}

/// Entries picked from places, and put back at others.
pub fn moved_entries(space: &Space) -> Vec<u64> {
    let of = |n| [moved::<f32>(space, n), moved::<f64>(space, n)].concat();
    [1, 7, 100, 5200].into_iter().flat_map(of).collect()
}

fn moved<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let x: Vec<T> = Random(5).vector(n).into_iter().map(T::from_f64).collect();
    let places: Vec<u32> = (0..n as u32).rev().step_by(3).collect();
    let picked = pick(space, &space.upload(&x).unwrap(), &places).unwrap();
    assert!(picked.iter().zip(&places).all(|(value, place)| *value == x[*place as usize]));
    let mut y = space.upload(&x).unwrap();
    let turned: Vec<T> = picked.iter().rev().copied().collect();
    put(space, &mut y, &places, &turned).unwrap();
    let mut expected = x;
    places.iter().zip(&turned).for_each(|(place, value)| expected[*place as usize] = *value);
    let found = space.take(y).unwrap();
    assert_eq!(found, expected);
    bits(&found)
}
