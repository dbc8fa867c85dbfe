//! A storage format of one's own: `cargo run --release --example format`.
//!
//! Block rows as in BCSR, with the distance of a column from the diagonal in 16 bits instead of the column in 32: for a
//! mesh whose numbering keeps neighbours close. What says which entries there are is made by a kernel, on any device;
//! assembly writes into the format by the places that it names, and the product is the same code for the CPU and for
//! GPUs. To have it by name and on GPUs, put the two halves into `kernels-rs/src/sparse` and `host/src/sparse` and name
//! it in `for_each_format!`.

// A kernel is unsafe as a whole: its safety section says what its views must be.
#![allow(unsafe_op_in_unsafe_fn)]

use cuda_std::prelude::*;
use kernels_rs::real::{Arithmetic, Stored, fma};
use kernels_rs::sparse::{Layout, PatternView, Product};
use std::path::Path;
use std::rc::Rc;
use warpfem::assembly::{Assembly, DeviceMesh, Topology};
use warpfem::device::Buffer;
use warpfem::linalg::Space;
use warpfem::model::{Case, Model};
use warpfem::result::Error;
use warpfem::result::choices::{Ordering, Strategy};
use warpfem::sparse::{Built, Format, LinOp, Matrix, Places, Plan, Tuning};

/// Distances from `-HALF` on fit.
const HALF: usize = 1 << 15;

/// Blocks of 3x3. Memory moved by a product: 74 B per block in f64, where BCSR has 76 B; 8 B per block row; x and y
/// once.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Near {
    /// Blocks before each block row, `[n_rows + 1]`.
    row_start: View<u64>,
    /// Columns less the row, plus [`HALF`], `[n_blocks]`.
    distances: View<u16>,
}

impl Layout for Near {
    const NAME: &'static str = "near";
    const BLOCK: Option<usize> = Some(3);

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let mut y = [V::Arithmetic::ZERO; 3];
        for k in self.row_start.at(row) as usize..self.row_start.at(row + 1) as usize {
            let column = row + self.distances.at(k) as usize - HALF;
            for j in 0..3 {
                let x = x.at(3 * column + j);
                for (i, y) in y.iter_mut().enumerate() {
                    *y = fma(values.at(9 * k + 3 * j + i).value(), x, *y);
                }
            }
        }
        y
    }
}

/// Computes: how far the columns of a block row are from the diagonal, and where its three rows start; in `too_far[0]`
/// not 0 if 16 bits do not hold one.
///
/// Parameters: `distances [n_blocks]`, `starts [n_rows][3]`, `too_far [1]`, zero before.
/// Thread mapping: an item per block row. Memory moved: 6 bytes per block, 32 per block row.
///
/// # Safety
/// The views have these shapes, live, and do not overlap; there are as many items as block rows.
#[kernel(items)]
pub unsafe fn measure(
    row: usize,
    pattern: PatternView,
    distances: ViewMut<u16>,
    starts: ViewMut<u64>,
    too_far: ViewMut<u32>,
) {
    let (first, length) = pattern.row(row);
    for i in 0..3 {
        starts.set(3 * row + i, (9 * first + i) as u64);
    }
    for k in first..first + length {
        let distance = (pattern.columns.at(k) as usize + HALF).wrapping_sub(row);
        if distance >= 2 * HALF {
            atomic::max(too_far, 0, 1);
        }
        distances.set(k, distance as u16);
    }
}

/// The arrays of [`Near`] on a device.
pub struct NearArrays {
    row_start: Buffer<u64>,
    distances: Buffer<u16>,
}

impl Format for Near {
    type Arrays = NearArrays;

    fn build(plan: &Plan) -> warpfem::result::Result<Built<Self>> {
        let Plan { space, pattern, .. } = *plan;
        let (n_rows, n_blocks) = (pattern.n_rows, pattern.n_blocks());
        let row_start = space.upload_vec(space.download(&pattern.row_start)?)?;
        let (mut distances, mut starts, mut too_far) =
            (space.zeros(n_blocks)?, space.zeros(3 * n_rows)?, space.zeros(1)?);
        let kernel = Measure {
            pattern: pattern.view(),
            distances: distances.view_mut(),
            starts: starts.view_mut(),
            too_far: too_far.view_mut(),
        };
        // SAFETY: an entry for every block and every row; all live.
        unsafe { space.run(n_rows, kernel) }?;
        if space.read_at(&too_far, 0)? != 0 {
            return Err(Error::TooLarge("neighbours more than 32,767 nodes apart: use another ordering".into()));
        }
        let places = Places { start: Rc::new(starts), block: 9, column: 3, by_column: false };
        let index_bytes = (2 * n_blocks + 8 * (n_rows + 1)) as u64;
        Ok(Built { arrays: NearArrays { row_start, distances }, index_bytes, n_values: 9 * n_blocks as u64, places })
    }

    fn view(arrays: &NearArrays) -> Self {
        Near { row_start: arrays.row_start.view(), distances: arrays.distances.view() }
    }
}

const CASE: &str = r#"
    [mesh]
    generate = { kind = "box", element = "tet4", size = [1.0, 1.0, 1.0], cells = [8, 8, 8] }
    [[material]]
    name = "steel"
    young = 210e9
    poisson = 0.3
    [[support]]
    on = "xmin"
    fix = "xyz"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let case = Case::parse(Path::new("cube.toml"), CASE)?;
    let (model, space) = (Model::resolve(&case, case.mesh()?)?, Space::cpu());
    let Topology { pattern, blocks, coords, .. } = Topology::new(&space, &model.mesh, Ordering::Mesh, 1)?;
    let mesh = DeviceMesh::new(&space, &model, blocks, coords)?;
    let mut assembly = Assembly::new(&space, &mesh, &pattern, Strategy::RowOwner)?;

    let plan = Plan { space: &space, pattern: &pattern, size: 3, tuning: Tuning::default(), value_bytes: 8 };
    let mut near = Matrix::<f64>::stored::<Near>(&plan)?;
    let mut bcsr =
        Matrix::<f64>::zeros(&space, warpfem::result::choices::Format::Bcsr, 3, &pattern, Tuning::default())?;
    let x: Vec<f64> = (0..near.n()).map(|i| (i as f64).sin()).collect();
    let x = space.upload(&x)?;
    let mut products = Vec::new();
    for matrix in [&mut near, &mut bcsr] {
        assembly.assemble(&space, &mesh, matrix)?;
        let mut y = space.zeros(matrix.n())?;
        matrix.apply(&space, &x, &mut y)?;
        products.push(space.download(&y)?);
    }
    let [ours, theirs] = [&near, &bcsr].map(|matrix| matrix.footprint().index_bytes);
    println!("K x of {} unknowns: {ours} bytes of indices, {theirs} in BCSR", near.n());
    let largest = products[1].iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    assert!(largest > 1e9 && ours < theirs);
    assert!(products[0].iter().zip(&products[1]).all(|(a, b)| (a - b).abs() <= 1e-13 * largest));
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
