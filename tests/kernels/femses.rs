//! FEMSES: element matrices, weights, products and steps of both forms, on every element.

use super::GUARD;
use crate::common::{Random, assert_close, bits, largest, meshes, reference, rounding};
use kernels_rs::assembly::MeshView;
use kernels_rs::element::Element;
use kernels_rs::femses::{FemsesMatrices, n_packed};
use kernels_rs::real::Real;
use nalgebra::{DMatrix, DVector};
use warpfem::assembly::{ElementOperator, Supports, Symbolic};
use warpfem::element::ElementKind;
use warpfem::linalg::{Scalar, Space};
use warpfem::model::{Analysis, Model};
use warpfem::result::choices::Ordering;
use warpfem::sparse::LinOp;

const SUM: Scalar = Scalar::new(12);

/// A model of more nodes than a block has threads where that is cheap.
fn model<E: Element>() -> (Model, Symbolic) {
    let kind = ElementKind::from_name(E::NAME).unwrap();
    let cells = match kind {
        ElementKind::Tri3 | ElementKind::Quad4 => [17, 15, 1],
        _ if kind.info().is_quadratic() => [2, 2, 2],
        _ => [3, 4, 3],
    };
    let model = meshes::two_materials_in(Analysis::Laplace, meshes::distorted_box(kind, cells, 0.2));
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Mesh, 1).unwrap();
    (model, symbolic)
}

/// The matrices of elements: summed up, they are K; and nothing is written behind them.
pub fn femses_matrices<E: Element, T: Real>(space: &Space) -> Vec<u64> {
    let (model, symbolic) = model::<E>();
    let mesh = meshes::upload(space, &model, &symbolic);
    let (block, view): (_, MeshView) = (&mesh.blocks[0], mesh.view(&mesh.blocks[0]));
    let (n_cells, n) = (block.cells.n_cells, E::N);
    let unwritten = vec![T::from_f64(f64::NAN); n_packed(n) * n_cells + GUARD];
    let mut matrices = space.upload(&unwritten).unwrap();
    let kernel = FemsesMatrices::<E, T>::new(n_cells, view, matrices.view_mut());
    // SAFETY: the mesh lives, and there is room for every value.
    unsafe { space.run(n * n_cells, kernel) }.unwrap();
    let mut found = space.download(&matrices).unwrap();
    assert!(found.split_off(n_packed(n) * n_cells).iter().all(|v| v.to_f64().is_nan()));
    let nodes = space.download(&block.cells.nodes).unwrap();
    let mut sum = DMatrix::<f64>::zeros(mesh.n_nodes, mesh.n_nodes);
    for cell in 0..n_cells {
        for a in 0..n {
            for b in 0..n {
                let value = found[n_packed(a.max(b)) * n_cells + a.min(b) * n_cells + cell].to_f64();
                sum[(nodes[cell * n + a] as usize, nodes[cell * n + b] as usize)] += value;
            }
        }
    }
    let expected = reference::stiffness(&model);
    assert_close(E::NAME, sum.as_slice(), expected.as_slice(), rounding::<T>(), expected.amax());
    bits(&found)
}

/// Products, gathered steps of any numbers, and scattered steps, against K with its supports' rows and columns left
/// out.
pub fn femses_steps<E: Element, T: Real>(space: &Space) -> Vec<u64> {
    let (model, symbolic) = model::<E>();
    let mesh = meshes::upload(space, &model, &symbolic);
    let supports = Supports::new(&model, &symbolic.numbering);
    let operator = ElementOperator::<T>::new(space, &mesh, &supports).unwrap();
    let n = operator.n();
    let k = reference::stiffness(&model);
    let free = |i: usize| supports.fixed[i] == 0;
    let inverse = DVector::from_fn(n, |i, _| if free(i) { 1.0 / k[(i, i)] } else { 0.0 });
    let found_inverse = space.download(operator.inverse_diagonal()).unwrap();
    assert_close("weights", &found_inverse, inverse.as_slice(), rounding::<T>(), inverse.amax());
    let vector = |seed: u64| -> Vec<T> {
        let values = Random(seed).vector::<T>(n);
        values.into_iter().enumerate().map(|(i, x)| if free(i) { x } else { T::ZERO }).collect()
    };
    let double = |x: &[T]| DVector::<f64>::from_iterator(n, x.iter().map(|x| x.to_f64()));
    let masked = |mut x: DVector<f64>| {
        (0..n).filter(|i| !free(*i)).for_each(|i| x[i] = 0.0);
        x
    };
    let (u, old, f) = (vector(1), vector(2), vector(3));
    let [mut device_u, mut other, device_f] = [&u, &old, &f].map(|x| space.upload(x).unwrap());
    let product = masked(&k * double(&u));
    let tolerance = 4.0 * rounding::<T>();
    let mut y = space.upload(&vec![T::from_f64(f64::NAN); n]).unwrap();
    operator.apply(space, &device_u, &mut y).unwrap();
    let y = space.download(&y).unwrap();
    assert_close("product", &y, product.as_slice(), tolerance, k.amax());

    let [a, b, c] = [1.25, -0.5, 0.75];
    let r = double(&f) - &product;
    let expected = a * double(&u) + b * double(&old) + c * inverse.component_mul(&r);
    let scale = 1.0 + inverse.amax() * (1.0 + k.amax());
    let mut scratch = space.zeros(n).unwrap();
    let vectors = [&mut device_u, &mut other, &mut scratch];
    operator.gather(space, [a, b, c], &device_f, vectors, SUM).unwrap();
    let gathered = space.download(&other).unwrap();
    assert_close("step", &gathered, expected.as_slice(), tolerance, scale);
    let sum = space.read([SUM]).unwrap();
    assert_close("residual", &[sum[0].sqrt()], &[r.norm()], tolerance, k.amax() * (n as f64).sqrt());

    let jacobi = double(&u) + inverse.component_mul(&r);
    let [mut sums, mut next, mut residual] = [0; 3].map(|_| space.zeros::<T>(n).unwrap());
    operator.scatter(space, 96, &device_f, &device_u, [&mut sums, &mut next, &mut residual]).unwrap();
    assert_close("by atomics", &space.download(&next).unwrap(), jacobi.as_slice(), tolerance, scale);
    let room = tolerance * scale * k.amax();
    assert_close("its residual", &space.download(&residual).unwrap(), r.as_slice(), room, 1.0);
    assert_eq!(largest(double(&space.download(&sums).unwrap()).as_slice()), 0.0);
    [bits(&found_inverse), bits(&y), bits(&gathered), bits(&sum)].concat()
}
