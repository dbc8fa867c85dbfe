//! Vectors of three components.

pub(crate) fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|c| a[c] + b[c])
}

pub(crate) fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|c| a[c] - b[c])
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The unit vector along component `c`.
pub(crate) fn axis(c: usize) -> [f64; 3] {
    let mut axis = [0.0; 3];
    axis[c] = 1.0;
    axis
}

/// Euclidean length.
pub(crate) fn norm(v: [f64; 3]) -> f64 {
    dot(v, v).sqrt()
}

/// `v` with length 1; zero stays.
pub(crate) fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = norm(v);
    if length > 0.0 { v.map(|c| c / length) } else { [0.0; 3] }
}

/// A direction without components that are rounding.
pub(crate) fn clean(direction: [f64; 3]) -> [f64; 3] {
    unit(direction.map(|c| if c.abs() < 1e-12 { 0.0 } else { c }))
}
