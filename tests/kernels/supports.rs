//! Supports in slanted directions, and sparse additions to K.

use super::GUARD;
use crate::common::blocks::{Blocks, dense_of, random_sparsity};
use crate::common::{Random, assert_close, bits, rounding};
use kernels_rs::assembly::addition::{AddBlocks, AddProduct, Addition};
use kernels_rs::assembly::slanted::{Directions, EliminateSlanted, Held, ProjectFree, SLANTED};
use kernels_rs::real::Real;
use nalgebra::{DMatrix, DVector, Vector3};
use warpfem::linalg::Space;
use warpfem::result::choices::Format;
use warpfem::sparse::{AUTO, Matrix};

/// What a product of a row may reach.
const SCALE: f64 = 30.0;

/// One direction or two of a node, orthonormal.
fn directions(random: &mut Random, dim: usize) -> Directions {
    let mut vector = || Vector3::from_fn(|c, _| if c < dim { random.next() } else { 0.0 });
    let first = vector().normalize();
    let second = vector();
    let second = (second - first * first.dot(&second)).normalize();
    [first.into(), if dim == 3 && random.below(2) == 0 { second.into() } else { [0.0; 3] }]
}

/// Masks with components held, slanted nodes and free ones; the table and the places in it.
fn held(n: usize, dim: usize) -> (Vec<u8>, Vec<u32>, Vec<Directions>) {
    let (mut random, mut table) = (Random(8), Vec::new());
    let mut place = vec![0; n];
    let mut mask = |row: usize| match random.below(4) {
        0 => random.below(1 << dim) as u8,
        1 => {
            place[row] = table.len() as u32;
            table.push(directions(&mut random, dim));
            SLANTED
        }
        _ => 0,
    };
    ((0..n).map(&mut mask).collect(), place, table)
}

pub fn eliminate_slanted(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for format in Format::ALL {
        for n in [0, 1, 33, 70] {
            found.extend(eliminate_of::<f32, 3>(space, format, n));
            found.extend(eliminate_of::<f64, 3>(space, format, n));
        }
    }
    [found, eliminate_of::<f32, 2>(space, AUTO, 70), eliminate_of::<f64, 2>(space, AUTO, 257)].concat()
}

fn eliminate_of<T: Real, const D: usize>(space: &Space, format: Format, n: usize) -> Vec<u64> {
    let blocks = Blocks::dominant(random_sparsity(n, 8, 5), D, 1.0, 6).rounded::<T>();
    let (fixed, place, table) = held(n, D);
    // Held directions, column by column, of all nodes.
    let mut q = DMatrix::<f64>::identity(D * n, D * n);
    let mut normals = Vec::new();
    for row in 0..n {
        let of_mask =
            (0..D).filter(|i| fixed[row] >> i & 1 == 1).map(|i| [0, 1, 2].map(|c| f64::from(u8::from(c == i))));
        let of_table = if fixed[row] == SLANTED { table[place[row] as usize].to_vec() } else { vec![] };
        for direction in of_mask.chain(of_table).filter(|v| *v != [0.0; 3]) {
            let mut normal = DVector::zeros(D * n);
            normal.rows_mut(D * row, D).copy_from_slice(&direction[..D]);
            q -= &normal * normal.transpose();
            normals.push(normal);
        }
    }
    let mut matrix: Matrix<T> = blocks.upload(space, format);
    let (device_fixed, device_place) = (space.upload(&fixed).unwrap(), space.upload(&place).unwrap());
    let device_table = space.upload(&table).unwrap();
    let all = Held { fixed: device_fixed.view(), place: device_place.view(), directions: device_table.view() };
    let kernel = EliminateSlanted::<T, D>::new(matrix.entries(), all, matrix.values_mut());
    // SAFETY: all live and have a row per node.
    unsafe { space.run(n, kernel) }.unwrap();
    let k = blocks.dense();
    let diagonal = normals.iter().map(|n| n * n.dot(&(&k * n)) * n.transpose());
    let expected = diagonal.fold(&q * &k * &q, |sum, term| sum + term);
    let found = dense_of(space, &matrix);
    assert_eq!(found, found.transpose(), "{n} rows: not symmetric to the last bit");
    assert_close("K", found.as_slice(), expected.as_slice(), rounding::<T>(), SCALE);
    bits(&matrix.blocks(space).unwrap())
}

pub fn project_free<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    (2..=3).flat_map(|size| project_free_of::<T>(space, n, size)).collect()
}

fn project_free_of<T: Real>(space: &Space, n: usize, size: usize) -> Vec<u64> {
    let mut random = Random(11);
    let rows: Vec<u32> = (0..n).map(|item| 2 * item as u32).collect();
    let table: Vec<Directions> = (0..n).map(|_| directions(&mut random, size)).collect();
    let x = Random(12).vector::<T>(size * 2 * n + GUARD);
    let (device_rows, device_table) = (space.upload(&rows).unwrap(), space.upload(&table).unwrap());
    let mut device_x = space.upload(&x).unwrap();
    let (rows, directions) = (device_rows.view(), device_table.view());
    // SAFETY: all live; the rows are of x.
    unsafe { space.run(n, ProjectFree { size, rows, directions, x: device_x.view_mut() }) }.unwrap();
    let found = space.download(&device_x).unwrap();
    let mut expected: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
    for (item, table) in table.iter().enumerate() {
        let row = &mut expected[2 * item * size..(2 * item + 1) * size];
        let whole = row.to_vec();
        for n in table {
            let along: f64 = whole.iter().zip(n).map(|(x, n)| x * n).sum();
            row.iter_mut().zip(n).for_each(|(x, n)| *x -= along * n);
        }
    }
    assert_close("free part", &found, &expected, rounding::<T>(), 10.0);
    bits(&found)
}

pub fn additions(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for format in Format::ALL {
        found.extend(addition_of::<f32>(space, format, 3));
        found.extend(addition_of::<f64>(space, format, 3));
    }
    [found, addition_of::<f64>(space, AUTO, 2)].concat()
}

/// Every third row has something added in its first blocks.
fn addition_of<T: Real>(space: &Space, format: Format, size: usize) -> Vec<u64> {
    let n = 70;
    let blocks = Blocks::random(random_sparsity(n, 8, 5), size, 6);
    let rows: Vec<u32> = (0..n as u32).filter(|row| row % 3 == 1).collect();
    let (mut starts, mut columns) = (vec![0], Vec::new());
    for row in &rows {
        columns.extend(blocks.sparsity.row(*row as usize).iter().take(3));
        starts.push(columns.len() as u64);
    }
    let added: Vec<[[f64; 3]; 3]> = Random(13)
        .vector::<f64>(9 * columns.len())
        .chunks(9)
        .map(|c| [0, 1, 2].map(|i| [0, 1, 2].map(|j| c[3 * i + j])))
        .collect();
    let mut a = DMatrix::zeros(size * n, size * n);
    for (k, row) in rows.iter().enumerate() {
        for block in starts[k] as usize..starts[k + 1] as usize {
            for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                a[(size * *row as usize + i, size * columns[block] as usize + j)] = added[block][i][j];
            }
        }
    }
    let mut matrix: Matrix<T> = blocks.upload(space, format);
    let (device_rows, device_starts) = (space.upload(&rows).unwrap(), space.upload(&starts).unwrap());
    let (device_columns, device_added) = (space.upload(&columns).unwrap(), space.upload(&added).unwrap());
    let addition = Addition {
        rows: device_rows.view(),
        starts: device_starts.view(),
        columns: device_columns.view(),
        blocks: device_added.view(),
    };
    let kernel = AddBlocks { addition, entries: matrix.entries(), values: matrix.values_mut() };
    // SAFETY: all live; the rows are the matrix's, each once.
    unsafe { space.run(rows.len(), kernel) }.unwrap();
    let found = dense_of(space, &matrix);
    assert_close("sum", found.as_slice(), (blocks.dense() + &a).as_slice(), rounding::<T>(), 2.0);
    let (x, y) = (Random(14).vector::<f64>(size * n), Random(15).vector::<f64>(size * n));
    let (device_x, mut device_y) = (space.upload(&x).unwrap(), space.upload(&y).unwrap());
    let kernel = AddProduct { size, addition, x: device_x.view(), y: device_y.view_mut() };
    // SAFETY: as above, with vectors of the matrix's rows.
    unsafe { space.run(rows.len(), kernel) }.unwrap();
    let product = space.download(&device_y).unwrap();
    let expected = DVector::from_vec(y) + a * DVector::from_vec(x);
    assert_close("product", &product, expected.as_slice(), rounding::<f64>(), SCALE);
    [bits(&matrix.blocks(space).unwrap()), bits(&product)].concat()
}
