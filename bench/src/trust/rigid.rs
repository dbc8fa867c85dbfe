//! Rigid motions of a part: six in space, three in the plane; of a potential a constant.

use super::extended::Extended;
use nalgebra::{DMatrix, DVector};

/// Rigid motions about a point, of a body of some size.
#[derive(Debug, Clone)]
pub struct Modes {
    components: usize,
    centre: [f64; 3],
    /// A power of two, so that to divide by it is exact.
    scale: f64,
}

impl Modes {
    /// Those of a body whose nodes these are, with so many unknowns each.
    pub fn new(components: usize, nodes: impl ExactSizeIterator<Item = [f64; 3]> + Clone) -> Modes {
        let centre = warpfem::mesh::middle(nodes.clone());
        let distance = |x: [f64; 3]| (0..3).map(|c| (x[c] - centre[c]).abs()).fold(0.0, f64::max);
        let reach = nodes.map(distance).fold(0.0, f64::max);
        let scale = if reach > 0.0 { 2.0_f64.powi(reach.log2().ceil() as i32) } else { 1.0 };
        Modes { components, centre, scale }
    }

    /// Unknowns of a node.
    pub fn components(&self) -> usize {
        self.components
    }

    /// How many there are.
    fn len(&self) -> usize {
        [0, 1, 3, 6][self.components]
    }

    /// Component `i` of motion `mode` at a point.
    fn value(&self, mode: usize, x: [f64; 3], i: usize) -> Extended {
        if mode < self.components {
            return Extended::from(if mode == i { 1.0 } else { 0.0 });
        }
        // The axis of the rotation: z in the plane.
        let axis = if self.components == 2 { 2 } else { mode - 3 };
        let (from, to) = ((axis + 1) % 3, (axis + 2) % 3);
        let arm = |c: usize| (Extended::from(x[c]) - Extended::from(self.centre[c])).times(1.0 / self.scale);
        match i {
            _ if i == from => -arm(to),
            _ if i == to => arm(from),
            _ => Extended::ZERO,
        }
    }

    /// Component `i` of a sum of motions at a point.
    pub fn motion(&self, amounts: &[f64], x: [f64; 3], i: usize) -> Extended {
        let terms = amounts.iter().enumerate().map(|(mode, amount)| self.value(mode, x, i).times(*amount));
        terms.fold(Extended::ZERO, |sum, term| sum + term)
    }

    /// The motion that fits some values best, each a point, a component, a value and a weight: least squares, of the
    /// least size where several fit as well.
    pub fn fit(&self, values: &[([f64; 3], usize, f64, f64)]) -> Vec<f64> {
        let n = self.len();
        let largest = values.iter().map(|v| v.3).fold(0.0, f64::max);
        if values.iter().all(|v| v.2 == 0.0) || largest == 0.0 {
            return vec![0.0; n];
        }
        let root = |weight: f64| (weight / largest).sqrt();
        // By the normal equations, and once more for what they leave: enough for a motion that only has to be near.
        let rows: Vec<Vec<f64>> =
            values.iter().map(|&(x, i, _, _)| (0..n).map(|mode| self.value(mode, x, i).rounded()).collect()).collect();
        let mut normal = DMatrix::zeros(n, n);
        for (row, &(_, _, _, weight)) in rows.iter().zip(values) {
            let row = DVector::from_column_slice(row) * root(weight);
            normal += &row * row.transpose();
        }
        let svd = normal.svd(true, true);
        let threshold = 1e-12 * svd.singular_values.max();
        let mut amounts = vec![0.0; n];
        for _ in 0..2 {
            let mut right = DVector::zeros(n);
            for (row, &(x, i, value, weight)) in rows.iter().zip(values) {
                let left = (Extended::from(value) - self.motion(&amounts, x, i)).rounded();
                right += DVector::from_column_slice(row) * (left * weight / largest);
            }
            // There are both sets of vectors.
            if let Ok(more) = svd.solve(&right, threshold) {
                amounts.iter_mut().zip(more.iter()).for_each(|(amount, more)| *amount += more);
            }
        }
        amounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f64; 3]; 5] =
        [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [3.0, 2.0, 1.0]];

    #[test]
    fn rigid_motions_are_found_again() {
        let (modes, shift, turn) = (Modes::new(3, CORNERS.into_iter()), [0.5, -2.0, 7.0], [0.3, 0.1, -0.2]);
        let moved = |x: [f64; 3]| {
            [0, 1, 2].map(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                shift[i] + turn[j] * x[k] - turn[k] * x[j]
            })
        };
        let values: Vec<_> =
            CORNERS.iter().flat_map(|&x| (0..3).map(move |i| (x, i, moved(x)[i], 1.0 + x[0]))).collect();
        let amounts = modes.fit(&values);
        for &(x, i, value, _) in &values {
            assert!((modes.motion(&amounts, x, i).rounded() - value).abs() < 1e-14, "{x:?} {i}");
        }
    }

    #[test]
    fn weights_decide_between_values_that_do_not_fit() {
        let modes = Modes::new(1, CORNERS.into_iter());
        let amounts = modes.fit(&[(CORNERS[0], 0, 1.0, 1e9), (CORNERS[1], 0, 0.0, 1.0)]);
        assert!((amounts[0] - 1.0).abs() < 2e-9, "{amounts:?}");
        assert_eq!(modes.fit(&[(CORNERS[0], 0, 0.0, 1.0)]), [0.0]);
    }
}
