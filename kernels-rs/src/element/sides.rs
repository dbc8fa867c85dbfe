//! Elements that are no more than sides of others: nothing is solved on them, loads and supports are.

use super::{Domain, Element, Point, rules};
use crate::real::Real;

/// A single node, as Gmsh writes it for physical points.
#[derive(Debug, Clone, Copy)]
pub struct Point1;

impl Element for Point1 {
    const NAME: &'static str = "point1";
    const DOMAIN: Domain = Domain::Point;
    const GMSH: i32 = 15;
    const VTK: u8 = 1;
    type Nodal<X: Copy> = [X; 1];
    const NODES: &'static [[f64; 3]] = Domain::Point.corners();
    const QUADRATURE: &'static [Point] = &[([0.0; 3], 1.0)];
    type Points<X: Copy> = [X; 1];

    fn shape<T: Real>(_: usize, _: [T; 3]) -> T {
        T::ONE
    }

    fn shape_gradient<T: Real>(_: usize, _: [T; 3]) -> [T; 3] {
        [T::ZERO; 3]
    }
}

/// Where the nodes of an edge are.
const EDGE: [[f64; 3]; 3] = [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]];

/// The straight edge: `N = (1 + s xi) / 2` at `xi = s`.
#[derive(Debug, Clone, Copy)]
pub struct Line2;

impl Element for Line2 {
    const NAME: &'static str = "line2";
    const DOMAIN: Domain = Domain::Line;
    const GMSH: i32 = 1;
    const VTK: u8 = 3;
    type Nodal<X: Copy> = [X; 2];
    const NODES: &'static [[f64; 3]] = EDGE.split_at(2).0;
    const QUADRATURE: &'static [Point] = &rules::LINE_3;
    type Points<X: Copy> = [X; 3];

    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        T::from_f64(0.5) * (T::ONE + T::from_f64(EDGE[b][0]) * xi[0])
    }

    fn shape_gradient<T: Real>(b: usize, _: [T; 3]) -> [T; 3] {
        [T::from_f64(0.5 * EDGE[b][0]), T::ZERO, T::ZERO]
    }
}

/// The quadratic edge: `N = xi (xi + s) / 2` at the ends `xi = s`, `1 - xi^2` in the middle.
#[derive(Debug, Clone, Copy)]
pub struct Line3;

impl Element for Line3 {
    const NAME: &'static str = "line3";
    const DOMAIN: Domain = Domain::Line;
    const GMSH: i32 = 8;
    const VTK: u8 = 21;
    type Nodal<X: Copy> = [X; 3];
    const NODES: &'static [[f64; 3]] = &EDGE;
    const QUADRATURE: &'static [Point] = &rules::LINE_3;
    type Points<X: Copy> = [X; 3];

    fn shape<T: Real>(b: usize, [xi, ..]: [T; 3]) -> T {
        if b == 2 { T::ONE - xi * xi } else { T::from_f64(0.5) * xi * (xi + T::from_f64(EDGE[b][0])) }
    }

    fn shape_gradient<T: Real>(b: usize, [xi, ..]: [T; 3]) -> [T; 3] {
        [if b == 2 { -(xi + xi) } else { xi + T::from_f64(0.5 * EDGE[b][0]) }, T::ZERO, T::ZERO]
    }
}
