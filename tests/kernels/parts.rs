//! `parts`: sums and largest values over parts of a body, and row sums of a matrix.

use super::GUARD;
use crate::common::blocks::{Blocks, random_sparsity};
use crate::common::{Random, assert_close, bits, rounding};
use kernels_rs::parts::{CHUNK, Frames, N_MOTIONS, NO_ROW, PartDot, PartLargest, PartMoments, PartMotion, PartRows};
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::entries::RowSums;
use warpfem::linalg::Space;
use warpfem::result::choices::Format;
use warpfem::sparse::Matrix;

/// Rows of three parts, one of which fills no chunk and one more than one.
const PARTS: [usize; 3] = [5, CHUNK, 2 * CHUNK + 7];

/// The rows of each part, scattered; a row may be in two parts.
fn rows_of_parts(n_rows: usize) -> Vec<Vec<usize>> {
    let mut next = 0;
    let mut part = |count: usize| {
        let rows = (next..next + count).map(|k| k * 37 % n_rows).collect();
        next += count - 1;
        rows
    };
    PARTS.iter().map(|count| part(*count)).collect()
}

/// The textbook's rigid motions of a place: `[components][motions]`.
fn motions(size: usize, y: [f64; 3]) -> Vec<Vec<f64>> {
    match size {
        1 => vec![vec![1.0]],
        2 => vec![vec![1.0, 0.0, -y[1]], vec![0.0, 1.0, y[0]]],
        _ => vec![
            vec![1.0, 0.0, 0.0, -y[1], 0.0, y[2]],
            vec![0.0, 1.0, 0.0, y[0], -y[2], 0.0],
            vec![0.0, 0.0, 1.0, 0.0, y[1], -y[0]],
        ],
    }
}

pub fn parts(space: &Space) -> Vec<u64> {
    (1..=3).flat_map(|size| [parts_of::<f32>(space, size), parts_of::<f64>(space, size)].concat()).collect()
}

fn parts_of<T: Real>(space: &Space, size: usize) -> Vec<u64> {
    let n_rows = 211;
    let parts = rows_of_parts(n_rows);
    let [x, y, w] = [3, 4, 5].map(|seed| Random(seed).vector::<T>(size * n_rows));
    let coords: Vec<[f64; 3]> = Random(6).vector::<f64>(3 * n_rows).as_chunks().0.to_vec();
    let frames: Vec<[f64; 4]> = (0..parts.len()).map(|p| [0.5 * p as f64, -0.25, 0.125, 2.0 + p as f64]).collect();
    let moved: Vec<[f64; N_MOTIONS]> = Random(7).vector::<f64>(N_MOTIONS * parts.len()).as_chunks().0.to_vec();
    let chunks: Vec<(usize, Vec<usize>)> = parts
        .iter()
        .enumerate()
        .flat_map(|(part, rows)| rows.chunks(CHUNK).map(move |rows| (part, rows.to_vec())))
        .collect();
    let list: Vec<u32> =
        chunks.iter().flat_map(|(_, rows)| (0..CHUNK).map(|k| rows.get(k).map_or(NO_ROW, |row| *row as u32))).collect();
    let of_chunk: Vec<u32> = chunks.iter().map(|(part, _)| *part as u32).collect();
    let (list, of_chunk) = (space.upload(&list).unwrap(), space.upload(&of_chunk).unwrap());
    let rows = PartRows { rows: list.view(), part: of_chunk.view(), size };
    let (device_coords, device_frames) = (space.upload(&coords).unwrap(), space.upload(&frames).unwrap());
    let about = Frames { coords: device_coords.view(), frames: device_frames.view() };
    let [dx, dy, dw] = [&x, &y, &w].map(|v| space.upload(v).unwrap());
    let dm = space.upload(&moved).unwrap();
    let n = chunks.len();
    let mut dots = space.upload(&vec![f64::NAN; n + GUARD]).unwrap();
    let mut sums = space.upload(&vec![[f64::NAN; N_MOTIONS]; n + GUARD]).unwrap();
    let mut largest = space.upload(&vec![[f64::NAN; 2]; n + GUARD]).unwrap();
    // SAFETY: all live; the list names rows of the vectors and parts that have a frame and a motion.
    unsafe {
        space.run(n, PartDot { list: rows, x: dx.view(), y: dy.view(), sums: dots.view_mut() }).unwrap();
        let kernel = PartMoments { list: rows, frames: about, v: dx.view(), sums: sums.view_mut() };
        space.run(n, kernel).unwrap();
        let (motions, v, before, w) = (dm.view(), dx.view(), dy.view(), dw.view());
        let largest = largest.view_mut();
        space.run(n, PartLargest { list: rows, frames: about, motions, v, before, w, largest }).unwrap();
    }
    // Motion 1 of the first part, or the constant; a component is supported in every third row.
    let fixed: Vec<u8> = (0..n_rows).map(|row| u8::from(row % 3 == 0)).collect();
    let (chosen, device_fixed) = (space.upload(&[1u8, 0, 0]).unwrap(), space.upload(&fixed).unwrap());
    let motion = usize::from(size > 1) * size;
    let mut moving = space.upload(&vec![T::from_f64(0.5); size * n_rows]).unwrap();
    // SAFETY: as above.
    unsafe {
        let (chosen, fixed, v) = (chosen.view(), device_fixed.view(), moving.view_mut());
        space.run(n, PartMotion { list: rows, frames: about, motion, chosen, fixed, v }).unwrap();
    }
    let place = |part: usize, row: usize| [0, 1, 2].map(|c| (coords[row][c] - frames[part][c]) * frames[part][3]);
    let value = |v: &[T], row: usize, i: usize| v[size * row + i].to_f64();
    let (mut expected_dots, mut expected_sums, mut expected_largest) = (Vec::new(), Vec::new(), Vec::new());
    for (part, rows) in &chunks {
        let entries = || rows.iter().flat_map(|row| (0..size).map(move |i| (*row, i)));
        expected_dots.push(entries().map(|(row, i)| value(&x, row, i) * value(&y, row, i)).sum::<f64>());
        let mut moments = [0.0; N_MOTIONS];
        for (row, i) in entries() {
            let motions = motions(size, place(*part, row));
            motions[i].iter().zip(&mut moments).for_each(|(motion, sum)| *sum += motion * value(&x, row, i));
        }
        expected_sums.extend(moments);
        let square = |row: usize, of: &dyn Fn(usize) -> f64| {
            (0..size).map(|i| of(i).powi(2)).sum::<f64>() * f64::from(u8::from(row < n_rows))
        };
        let change = |row: &usize| square(*row, &|i| value(&x, *row, i) - value(&y, *row, i));
        let rest = |row: &usize| {
            let motions = motions(size, place(*part, *row));
            let rigid = |i: usize| motions[i].iter().zip(&moved[*part]).map(|(a, b)| a * b).sum::<f64>();
            square(*row, &|i| value(&w, *row, i) - rigid(i))
        };
        expected_largest.push(rows.iter().map(change).fold(0.0, f64::max));
        expected_largest.push(rows.iter().map(rest).fold(0.0, f64::max));
    }
    let mut expected_motion = vec![0.5; size * n_rows];
    for row in &parts[0] {
        for i in 0..size {
            let is_fixed = i == 0 && fixed[*row] == 1;
            expected_motion[size * row + i] = if is_fixed { 0.0 } else { motions(size, place(0, *row))[i][motion] };
        }
    }
    assert_close("motion", &space.download(&moving).unwrap(), &expected_motion, 2.0 * rounding::<T>(), 10.0);
    let mut found = Vec::new();
    let results = [
        ("dots", space.download(&dots).unwrap(), expected_dots),
        ("moments", space.download(&sums).unwrap().into_flattened(), expected_sums),
        ("largest", space.download(&largest).unwrap().into_flattened(), expected_largest),
    ];
    for (what, mut values, expected) in results {
        let guard = values.split_off(expected.len());
        assert!(guard.iter().all(|v| v.is_nan()), "{what}: more is written");
        assert_close(what, &values, &expected, 1e-13, 300.0);
        found.extend(bits(&values));
    }
    found
}

pub fn row_sums(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for (n, size) in [(1, 1), (33, 2), (65, 3)] {
        found.extend(row_sums_of::<f32>(space, n, size));
        found.extend(row_sums_of::<f64>(space, n, size));
        found.extend(row_sums_of::<kernels_rs::half::F16>(space, n, size));
    }
    found
}

fn row_sums_of<V: Stored>(space: &Space, n: usize, size: usize) -> Vec<u64> {
    let blocks = Blocks::dominant(random_sparsity(n, 6, 3), size, 1.0, 5).rounded::<V>();
    let matrix: Matrix<V> = blocks.upload(space, Format::Ebw);
    let mut sums = space.upload(&vec![f64::NAN; n + GUARD]).unwrap();
    let kernel = RowSums { entries: matrix.entries(), values: matrix.values(), sums: sums.view_mut() };
    // SAFETY: the entries are those of these values, and there is a sum for each row.
    unsafe { space.run(n, kernel) }.unwrap();
    let mut sums = space.download(&sums).unwrap();
    assert!(sums.split_off(n).iter().all(|v| v.is_nan()), "it writes past row {n}");
    let dense = blocks.dense();
    let of_row = |row: usize| dense.row(row).iter().map(|v| v.abs()).sum::<f64>();
    let expected: Vec<f64> = (0..n).map(|row| (0..size).map(|i| of_row(size * row + i)).fold(0.0, f64::max)).collect();
    assert_close("row sums", &sums, &expected, 4.0 * rounding::<V::Arithmetic>(), 100.0);
    bits(&sums)
}
