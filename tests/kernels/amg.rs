//! Multigrid's kernels, by making hierarchies and applying them; `tests/amg.rs` compares each step with dense
//! references.

use crate::common::meshes::{SOFT, analysis, clamp, distorted_box, model, system_in, two_materials};
use crate::common::{Random, bits};
use kernels_rs::real::Real;
use kernels_rs::vectors::WIDTH;
use std::rc::Rc;
use warpfem::device::Buffer;
use warpfem::element::ElementKind::{Hex8, Hex20, Quad4, Quad8, Tri3};
use warpfem::linalg::Space;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::model::{Analysis, Model};
use warpfem::precond::amg::blocks::{BlockRows, Columns, Shape};
use warpfem::precond::amg::cycle::Transfer;
use warpfem::precond::{self, Context};
use warpfem::result::choices::Preconditioner;
use warpfem::sparse::{LinOp, Pattern};

/// Entry points for combinations of block sizes that no pair of levels has, and for a copy of P in its own precision.
pub const UNUSED: [&str; 11] = [
    "multiply_blocks_f32_1_6",
    "multiply_blocks_f64_1_6",
    "multiply_blocks_f32_3_1",
    "multiply_blocks_f64_3_1",
    "multiply_blocks_f32_3_2",
    "multiply_blocks_f64_3_2",
    "galerkin_product_1_3",
    "galerkin_product_1_6",
    "galerkin_product_3_1",
    "galerkin_product_3_2",
    "round_prolongator_f64",
];

/// Blocks of 3 and then 6, of 2 and then 3 on three levels, and of 1; then the vertices of quadratic elements, in flat
/// ones with stacks of nodes.
pub fn multigrid(space: &Space) -> Vec<u64> {
    let square = |kind, n: usize| generate_rectangle(kind, [1.0; 2], [n; 2]).unwrap();
    let heat = format!("{}{SOFT}{}", analysis(Analysis::Laplace, 1.0), clamp(Analysis::Laplace));
    let models = [
        (two_materials(distorted_box(Hex8, [3; 3], 0.2)), 2),
        (two_materials(square(Quad4, 44)), 3),
        (model(&heat, square(Tri3, 6)), 2),
        (two_materials(square(Quad8, 3)), 2),
        (two_materials(generate_box(Hex20, [1.0, 1.0, 0.03], [8, 8, 1]).unwrap()), 3),
    ];
    let of = |(model, levels): &(Model, usize)| {
        [applied::<f64>(space, model, *levels), applied::<f32>(space, model, *levels)].concat()
    };
    models.iter().flat_map(of).collect()
}

/// `z = M^-1 r`, which has `0 < z . A z <= z . r` as a cycle takes nothing away too much.
fn applied<T: Real>(space: &Space, model: &Model, levels: usize) -> Vec<u64> {
    let system = system_in::<T>(space, model);
    let (matrix, body) = (system.matrix(), &system.body);
    let amg =
        precond::build(Preconditioner::Amg, &Context::of_nodes(1, body.mesh.coords(), body.mesh.ends()), space, matrix)
            .unwrap();
    assert_eq!(amg.hierarchy().map(|found| found.levels.len()), Some(levels));
    let r = Random(3).vector::<T>(matrix.n());
    let [mut z, mut product] = [(); 2].map(|()| space.zeros(matrix.n()).unwrap());
    amg.apply(space, matrix, &space.upload(&r).unwrap(), &mut z).unwrap();
    matrix.apply(space, &z, &mut product).unwrap();
    let [z, product] = [z, product].map(|vector| space.download(&vector).unwrap());
    let dot = |x: &[T], y: &[T]| x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum::<f64>();
    let (energy, work) = (dot(&z, &product), dot(&z, &r));
    assert!(0.0 < energy && energy <= 1.001 * work, "{energy:e}, {work:e}");
    bits(&z)
}

/// Transfers of several vectors between levels, however many a thread has of them, are those of each, bit by bit.
pub fn transfers(space: &Space) -> Vec<u64> {
    let of = |n: usize| [transfers_of::<f32>(space, n), transfers_of::<f64>(space, n)].concat();
    [1, 2, 3, 6].into_iter().flat_map(of).collect()
}

fn transfers_of<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    const ROWS: usize = 70;
    const COARSE: usize = 9;
    let size = n.min(3);
    let columns: Vec<Vec<u32>> =
        (0..ROWS).map(|row| (row % 3..COARSE).step_by(3).map(|c| c as u32).collect()).collect();
    let starts = columns.iter().scan(0, |sum, row| {
        *sum += row.len() as u64;
        Some(*sum)
    });
    let starts: Vec<u64> = std::iter::once(0).chain(starts).collect();
    let rows: Vec<u32> = columns.iter().zip(0..).flat_map(|(columns, row)| vec![row; columns.len()]).collect();
    let pattern = Pattern {
        n_rows: ROWS,
        row_start: space.upload(&starts).unwrap(),
        columns: space.upload(&columns.concat()).unwrap(),
    };
    let shape = Rc::new(Shape { pattern, rows: space.upload(&rows).unwrap(), n_columns: COARSE });
    let values = space.upload(&Random(1).vector::<T>(rows.len() * size * n)).unwrap();
    let of_columns = Rc::new(Columns::new(space, &shape).unwrap());
    let prolongator = Rc::new(BlockRows { shape, values, rows: size, columns: n });
    let mut transfer = Transfer::new(space, prolongator, of_columns).unwrap();
    transfer.widen(space, WIDTH).unwrap();
    let vectors = |seed: u64, n: usize| -> Vec<Buffer<T>> {
        (0..WIDTH as u64).map(|k| space.upload(&Random(seed + k).vector(n)).unwrap()).collect()
    };
    let ([r, q, z], mut to) = ([10, 20, 30].map(|seed| vectors(seed, ROWS * size)), vectors(40, ROWS * size));
    let all = |vectors: &[Buffer<T>]| -> Vec<u64> {
        vectors.iter().flat_map(|vector| bits(&space.download(vector).unwrap())).collect()
    };
    let mut found: Vec<Vec<u64>> = Vec::new();
    for width in [1, 2, WIDTH] {
        *transfer.on_next()[1] = vectors(50, COARSE * n);
        match width {
            2 if !space.on_host() => {
                transfer.restrict_parts::<2>(space, (&r, &q), 0).unwrap();
                transfer.prolong_parts::<2>(space, &z, &mut to, 0).unwrap();
            }
            WIDTH if !space.on_host() => {
                transfer.restrict_parts::<WIDTH>(space, (&r, &q), 0).unwrap();
                transfer.prolong_parts::<WIDTH>(space, &z, &mut to, 0).unwrap();
            }
            // The CPU has one vector after the other.
            _ => {
                for k in 0..WIDTH {
                    transfer.restrict_parts::<1>(space, (&r[k..=k], &q[k..=k]), k).unwrap();
                    transfer.prolong_parts::<1>(space, &z[k..=k], &mut to[k..=k], k).unwrap();
                }
            }
        }
        found.push([all(transfer.on_next()[0]), all(&to)].concat());
    }
    assert!(found[0] == found[1] && found[0] == found[2], "{} of {n}", space.name());
    found.swap_remove(0)
}
