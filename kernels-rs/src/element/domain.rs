//! Shapes of reference elements: what belongs to the shape and not to the nodes on it.
//!
//! Every shape but the pyramid is a product of simplices: a line for each direction of a square, a triangle and a line of
//! a wedge. Coordinates along a line are in [-1, 1], those in a triangle or tetrahedron at least 0 with a sum of at most
//! 1. The pyramid is the cube whose upper side is drawn together in the point (0, 0, 1): `xi = u t, eta = v t,
//! zeta = 1 - t` with u and v in [-1, 1] and t in [0, 1].

use super::Point;

/// The shape of a reference element.
#[allow(missing_docs, reason = "the names are the documentation")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    Point,
    Line,
    Triangle,
    Quadrilateral,
    Tetrahedron,
    Hexahedron,
    Wedge,
    Pyramid,
}

/// A side of a shape, of one dimension less.
#[derive(Debug)]
pub struct Facet {
    /// Its shape.
    pub domain: Domain,
    /// Its corners among those of the whole, in an order whose normal points outward.
    pub corners: &'static [usize],
}

struct Data {
    corners: &'static [[f64; 3]],
    facets: &'static [Facet],
    factors: &'static [usize],
    centroid: [f64; 3],
}

const ENDS: [Facet; 2] = [facet(Domain::Point, &[0]), facet(Domain::Point, &[1])];
const TRIANGLE: [[f64; 3]; 3] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
const SQUARE: [[f64; 3]; 4] = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];

const fn facet(domain: Domain, corners: &'static [usize]) -> Facet {
    Facet { domain, corners }
}

const fn edge(corners: &'static [usize]) -> Facet {
    facet(Domain::Line, corners)
}

const fn tri(corners: &'static [usize]) -> Facet {
    facet(Domain::Triangle, corners)
}

const fn quad(corners: &'static [usize]) -> Facet {
    facet(Domain::Quadrilateral, corners)
}

/// In the order of [`Domain`].
static DATA: [Data; 8] = [
    Data { corners: &[[0.0; 3]], facets: &[], factors: &[], centroid: [0.0; 3] },
    Data { corners: &[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], facets: &ENDS, factors: &[1], centroid: [0.0; 3] },
    Data {
        corners: &TRIANGLE,
        facets: &[edge(&[0, 1]), edge(&[1, 2]), edge(&[2, 0])],
        factors: &[2],
        centroid: [1.0 / 3.0, 1.0 / 3.0, 0.0],
    },
    Data {
        corners: &SQUARE,
        facets: &[edge(&[0, 1]), edge(&[1, 2]), edge(&[2, 3]), edge(&[3, 0])],
        factors: &[1, 1],
        centroid: [0.0; 3],
    },
    Data {
        corners: &[TRIANGLE[0], TRIANGLE[1], TRIANGLE[2], [0.0, 0.0, 1.0]],
        facets: &[tri(&[0, 2, 1]), tri(&[0, 1, 3]), tri(&[0, 3, 2]), tri(&[1, 2, 3])],
        factors: &[3],
        centroid: [0.25; 3],
    },
    Data {
        corners: &[
            [-1.0, -1.0, -1.0],
            [1.0, -1.0, -1.0],
            [1.0, 1.0, -1.0],
            [-1.0, 1.0, -1.0],
            [-1.0, -1.0, 1.0],
            [1.0, -1.0, 1.0],
            [1.0, 1.0, 1.0],
            [-1.0, 1.0, 1.0],
        ],
        facets: &[
            quad(&[0, 3, 2, 1]),
            quad(&[4, 5, 6, 7]),
            quad(&[0, 1, 5, 4]),
            quad(&[1, 2, 6, 5]),
            quad(&[2, 3, 7, 6]),
            quad(&[3, 0, 4, 7]),
        ],
        factors: &[1, 1, 1],
        centroid: [0.0; 3],
    },
    Data {
        corners: &[
            [0.0, 0.0, -1.0],
            [1.0, 0.0, -1.0],
            [0.0, 1.0, -1.0],
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 1.0],
            [0.0, 1.0, 1.0],
        ],
        facets: &[tri(&[0, 2, 1]), tri(&[3, 4, 5]), quad(&[0, 1, 4, 3]), quad(&[1, 2, 5, 4]), quad(&[2, 0, 3, 5])],
        factors: &[2, 1],
        centroid: [1.0 / 3.0, 1.0 / 3.0, 0.0],
    },
    Data {
        corners: &[SQUARE[0], SQUARE[1], SQUARE[2], SQUARE[3], [0.0, 0.0, 1.0]],
        facets: &[quad(&[0, 3, 2, 1]), tri(&[0, 1, 4]), tri(&[1, 2, 4]), tri(&[2, 3, 4]), tri(&[3, 0, 4])],
        factors: &[1, 1, 1],
        centroid: [0.0, 0.0, 0.25],
    },
];

impl Domain {
    const fn data(self) -> &'static Data {
        &DATA[self as usize]
    }

    /// Number of coordinates.
    pub const fn dim(self) -> usize {
        let (mut dim, mut i) = (0, 0);
        while i < self.factors().len() {
            dim += self.factors()[i];
            i += 1;
        }
        dim
    }

    /// Reference coordinates of the corners, in Gmsh's order.
    pub const fn corners(self) -> &'static [[f64; 3]] {
        self.data().corners
    }

    /// The sides.
    pub const fn facets(self) -> &'static [Facet] {
        self.data().facets
    }

    /// The dimensions of the simplices whose product it is, coordinate after coordinate; of a pyramid those of the cube
    /// that it is made from.
    pub const fn factors(self) -> &'static [usize] {
        self.data().factors
    }

    /// The centre of mass.
    pub const fn centroid(self) -> [f64; 3] {
        self.data().centroid
    }

    /// Whether it is a line, a triangle or a tetrahedron: straight elements of linear shape functions have constant
    /// gradients.
    pub const fn is_simplex(self) -> bool {
        self.factors().len() == 1
    }

    /// Whether it has layers: it is the product of a line with something else, so that sides lie opposite each other.
    pub const fn is_layered(self) -> bool {
        let factors = self.factors();
        factors.len() > 1 && factors[factors.len() - 1] == 1 && !self.has_apex()
    }

    /// Whether gradients at its last corner depend on where one comes from: the pyramid's.
    pub const fn has_apex(self) -> bool {
        matches!(self, Domain::Pyramid)
    }

    /// The edges by their corners, each once, in the order and the direction in which the facets first have them.
    pub fn edges(self, mut visit: impl FnMut([usize; 2])) {
        if self.dim() == 1 {
            return visit([0, 1]);
        }
        // The sides of a plane shape are its edges; those of a solid have edges from corner to corner.
        let facets = self.facets();
        let of = |i: usize| {
            let corners = facets[i].corners;
            let n = if corners.len() == 2 { 1 } else { corners.len() };
            (0..n).map(move |k| [corners[k], corners[(k + 1) % corners.len()]])
        };
        for i in 0..facets.len() {
            for edge in of(i) {
                let is_same = |other: [usize; 2]| other == edge || other == [edge[1], edge[0]];
                if !(0..i).any(|before| of(before).any(is_same)) {
                    visit(edge);
                }
            }
        }
    }

    /// The mirror image of a point, by a reflection that maps the shape to itself.
    pub fn mirrored(self, mut xi: [f64; 3]) -> [f64; 3] {
        let last = if self.dim() == 0 { 0 } else { self.dim() - 1 };
        match self {
            Domain::Triangle | Domain::Tetrahedron => xi.swap(0, last),
            Domain::Pyramid => xi.swap(0, 1),
            _ => xi[last] = -xi[last],
        }
        xi
    }

    /// The point of the shape for one of the line, square or cube of the same dimension, and by what its weight in a
    /// quadrature rule is to be multiplied. Simplices are drawn together in corners (Duffy 1982), which costs a
    /// triangle one degree and a tetrahedron two, a pyramid two.
    pub fn collapsed(self, u: [f64; 3]) -> Point {
        let unit = u.map(|u| 0.5 * (1.0 + u));
        if self.has_apex() {
            // Upside down, so that the corners keep their place.
            let t = 1.0 - unit[2];
            return ([u[0] * t, u[1] * t, 1.0 - t], 0.5 * t * t);
        }
        let (mut xi, mut scale, mut i) = (u, 1.0, 0);
        for &n in self.factors() {
            let mut left = 1.0;
            for k in (i..i + n).take(if n > 1 { n } else { 0 }) {
                xi[k] = left * unit[k];
                scale *= 0.5 * left;
                left *= 1.0 - unit[k];
            }
            i += n;
        }
        (xi, scale)
    }

    /// By how much of the shape's width a point is outside; at most 0 inside.
    pub fn excess(self, xi: [f64; 3]) -> f64 {
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        if self.has_apex() {
            let t = 1.0 - xi[2];
            let across = larger(larger(xi[0], -xi[0]), larger(xi[1], -xi[1]));
            return larger(0.5 * (across - t), -xi[2]);
        }
        let (mut most, mut i) = (f64::NEG_INFINITY, 0);
        for &n in self.factors() {
            if n == 1 {
                most = larger(most, 0.5 * (larger(xi[i], -xi[i]) - 1.0));
            } else {
                let sum: f64 = xi[i..i + n].iter().sum();
                most = xi[i..i + n].iter().fold(larger(most, sum - 1.0), |most, xi| larger(most, -xi));
            }
            i += n;
        }
        most
    }

    /// A point of the shape near one that may be outside; one inside stays.
    pub fn nearest(self, mut xi: [f64; 3]) -> [f64; 3] {
        if self.has_apex() {
            xi[2] = xi[2].clamp(0.0, 1.0);
            let t = 1.0 - xi[2];
            return [xi[0].clamp(-t, t), xi[1].clamp(-t, t), xi[2]];
        }
        let mut i = 0;
        for &n in self.factors() {
            let own = &mut xi[i..i + n];
            let low = if n == 1 { -1.0 } else { 0.0 };
            own.iter_mut().for_each(|xi| *xi = xi.clamp(low, 1.0));
            let sum: f64 = own.iter().sum();
            if n > 1 && sum > 1.0 {
                own.iter_mut().for_each(|xi| *xi /= sum);
            }
            i += n;
        }
        xi
    }

    /// Whether the monomial of these powers is in basis `step` of the ladder for fits to values at points: 0 constant, 1
    /// linear, 2 linear in each factor, 3 quadratic.
    pub fn has_monomial(self, step: usize, powers: [usize; 3]) -> bool {
        let degree: usize = powers.iter().sum();
        let dim = self.dim();
        if powers[dim..].iter().any(|&p| p > 0) || degree <= 1 {
            return powers[dim..].iter().all(|&p| p == 0) && degree <= step;
        }
        let mut i = 0;
        let is_tensor = self.factors().iter().all(|&n| {
            let sum: usize = powers[i..i + n].iter().sum();
            i += n;
            sum <= 1
        });
        // Over a pyramid's base alone.
        let is_tensor = is_tensor && !(self.has_apex() && powers[2] > 0);
        step >= 2 && is_tensor || step >= 3 && degree <= 2
    }
}
