//! What `#[kernel]` emits: names, parameters in order, generics with lists of types and constants.

use cuda_std::emulator::{Emulator, Order};
use cuda_std::launch::Params;
use cuda_std::prelude::*;

/// y[i] = a x[i] + y[i]
#[kernel(items, T = [f32, f64])]
pub unsafe fn axpy<T: GpuFloat>(i: usize, a: f64, x: View<T>, y: ViewMut<T>) {
    // SAFETY: i is below the lengths.
    unsafe { y.set(i, T::from_f64(a).mul_add(x.at(i), y.at(i))) }
}

/// An element's number of nodes.
pub trait Element {
    /// Nodes.
    const NODES: usize;
}
/// Four nodes.
pub struct Tet4;
/// Eight nodes.
pub struct Hex8;
impl Element for Tet4 {
    const NODES: usize = 4;
}
impl Element for Hex8 {
    const NODES: usize = 8;
}

mod listed {
    use super::*;

    macro_rules! with_elements {
        ($($element:path),*) => {
            /// out[i] = nodes, in every component
            ///
            /// # Safety
            /// `out` has an item per thread.
            #[kernel(items, E = [$($element),*], T = [f32, f64], B = [1, 3])]
            pub unsafe fn count_nodes<E: Element, T: GpuFloat, const B: usize>(i: usize, out: ViewMut<[T; B]>) {
                // SAFETY: i is below the length.
                unsafe { out.set(i, [T::from_f64(E::NODES as f64); B]) }
            }
        };
    }
    with_elements!(Tet4, super::Hex8);
}

/// Two views and a number as one parameter.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rows<T> {
    columns: View<u32>,
    values: View<T>,
    width: u32,
}

/// y[i] = sum over k of values[i][k] x[columns[i][k]]
#[kernel(items, T = [f32, f64])]
pub unsafe fn product<T: GpuFloat>(i: usize, m: Rows<T>, x: View<T>, y: ViewMut<T>) {
    let width = m.width as usize;
    let mut sum = T::ZERO;
    for k in i * width..(i + 1) * width {
        // SAFETY: k is an item of row i.
        sum = unsafe { m.values.stream(k).mul_add(x.at(m.columns.stream(k) as usize), sum) };
    }
    // SAFETY: i is a row.
    unsafe { y.set(i, sum) }
}

fn read<T: Copy>(params: &Params, k: usize) -> T {
    // SAFETY: the caller names the type of parameter k.
    unsafe { params[k].cast::<T>().read() }
}

#[test]
fn params_are_the_fields_in_order() {
    let (x, mut y) = (vec![1.0_f32; 5], vec![2.0_f32; 6]);
    let launch = Items { n: 5, kernel: Axpy { a: 3.0, x: View::from_slice(&x), y: ViewMut::from_slice(&mut y) } };
    let params = cuda_std::launch::Kernel::params(&launch);
    assert_eq!(params.len(), 4);
    assert_eq!(read::<usize>(&params, 0), 5);
    assert_eq!(read::<f64>(&params, 1), 3.0);
    let x_words: [usize; 2] = read(&params, 2);
    assert_eq!(x_words, [x.as_ptr() as usize, 5]);
    let y_words: [usize; 2] = read(&params, 3);
    assert_eq!(y_words, [y.as_ptr() as usize, 6]);
}

#[test]
fn names_follow_the_generic_arguments() {
    let y = ViewMut::<[f64; 3]>::from_slice(&mut []);
    assert_eq!(listed::CountNodes::<Tet4, f64, 3>::new(y).name(), "count_nodes_tet4_f64_3");
    let y = ViewMut::<[f32; 1]>::from_slice(&mut []);
    assert_eq!(listed::CountNodes::<Hex8, f32, 1>::new(y).name(), "count_nodes_hex8_f32_1");
    assert_eq!(Axpy::<f32>::new(0.0, View::from_slice(&[]), ViewMut::from_slice(&mut [])).name(), "axpy_f32");
}

#[test]
#[should_panic(expected = "kernel `count_nodes` has no entry point")]
fn arguments_that_are_not_listed_have_no_entry_point() {
    listed::CountNodes::<Tet4, f64, 2>::new(ViewMut::from_slice(&mut [])).name();
}

#[test]
fn items_beyond_the_last_are_left_out() {
    for n in [0, 1, 31, 33, 1009] {
        for order in [Order::Forward, Order::Reverse, Order::Shuffled(3)] {
            let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let mut y = vec![1.0; n];
            let kernel = Axpy { a: 2.0, x: View::from_slice(&x), y: ViewMut::from_slice(&mut y) };
            let blocks = (n as u32).div_ceil(64).max(1) + 1;
            // SAFETY: x and y are live and have n items.
            unsafe { Emulator::new(order).launch(blocks, 64, 0, &Items { n, kernel }) }.unwrap();
            assert!((0..n).all(|i| y[i] == 2.0 * i as f64 + 1.0));
        }
    }
}

#[test]
fn generic_lists_run() {
    let mut out = vec![[0.0_f32; 3]; 40];
    let kernel = listed::CountNodes::<Hex8, f32, 3>::new(ViewMut::from_slice(&mut out));
    // SAFETY: out is live and has 40 items.
    unsafe { Emulator::default().launch(2, 32, 0, &Items { n: 40, kernel }) }.unwrap();
    assert!(out.iter().all(|&v| v == [8.0; 3]));
}

#[test]
fn a_struct_of_views_is_one_parameter() {
    let (columns, values) = (vec![0_u32, 1, 2, 0, 1, 2], vec![1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (x, mut y) = (vec![1.0, 10.0, 100.0], vec![0.0; 2]);
    let m = Rows { columns: View::from_slice(&columns), values: View::from_slice(&values), width: 3 };
    let kernel = Product { m, x: View::from_slice(&x), y: ViewMut::from_slice(&mut y) };
    assert_eq!(kernel.params().len(), 3);
    let stored: Rows<f64> = read(&kernel.params(), 0);
    assert_eq!((stored.width, stored.values.as_ptr()), (3, values.as_ptr()));
    // SAFETY: everything is live and has the sizes the kernel asks for.
    unsafe { Emulator::default().launch(1, 32, 0, &Items { n: 2, kernel }) }.unwrap();
    assert_eq!(y, [321.0, 654.0]);
}
