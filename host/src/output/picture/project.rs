//! The view: an orthographic camera that shows as much of the part as it can, and the scale of the deformation.

use crate::mesh::vector::{cross, dot, norm, unit};

/// Under this ratio of the smallest to the second extent a part is flat.
const FLAT: f64 = 0.02;

/// An orthographic view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::output) struct View {
    /// Unit vectors in space: right and up in the picture, and towards the eye.
    pub axes: [[f64; 3]; 3],
    /// Pixels per length.
    scale: f64,
    /// Pixel coordinates of the origin.
    offset: [f64; 2],
}

impl View {
    /// A view along `-eye`, in units of length. `z` is up in the picture, unless one looks along it; then `y`.
    pub(super) fn from(eye: [f64; 3]) -> View {
        let towards = unit(eye);
        let up = if towards[2].abs() > 0.999 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
        let right = unit(cross(up, towards));
        View { axes: [right, cross(towards, right), towards], scale: 1.0, offset: [0.0; 2] }
    }

    /// Right, down, and towards the eye, in pixels.
    pub(super) fn project(&self, x: [f64; 3]) -> [f32; 3] {
        let [right, up, towards] = self.axes;
        let across = self.scale * dot(x, right) + self.offset[0];
        [across as f32, (self.offset[1] - self.scale * dot(x, up)) as f32, (self.scale * dot(x, towards)) as f32]
    }

    /// The extent of some points to the right and up: least and greatest.
    pub(super) fn extent<'a>(&self, points: impl Iterator<Item = &'a [f64; 3]>) -> [[f64; 2]; 2] {
        points.fold([[f64::INFINITY, f64::NEG_INFINITY]; 2], |extent, &x| {
            std::array::from_fn(|i| {
                let at = dot(x, self.axes[i]);
                [extent[i][0].min(at), extent[i][1].max(at)]
            })
        })
    }

    /// The same view, with `extent` as large as fits and centred in the rectangle from `corner` of size `size`.
    pub(super) fn fit(self, extent: [[f64; 2]; 2], corner: [f64; 2], size: [f64; 2]) -> View {
        let span = extent.map(|[low, high]| high - low);
        let scale = (size[0] / span[0]).min(size[1] / span[1]);
        let scale = if scale.is_finite() && scale > 0.0 { scale } else { 1.0 };
        let middle = extent.map(|[low, high]| (low + high) / 2.0);
        let offset = [corner[0] + size[0] / 2.0 - scale * middle[0], corner[1] + size[1] / 2.0 + scale * middle[1]];
        View { scale, offset, ..self }
    }
}

/// The directions to the eye worth trying for a part with these extents and this direction of its main displacement.
///
/// A flat part is seen face on, unless it moves out of its plane. Any other is seen from where the three visible sides
/// of its box have the largest projected area, `max d . (bc, ac, ab)`, as far as that is oblique; the four
/// candidates are the four corners it can be seen from, from above.
pub(super) fn eyes(extents: [f64; 3], motion: [f64; 3]) -> Vec<[f64; 3]> {
    let [a, b, c] = extents;
    let mut sorted = extents;
    sorted.sort_by(f64::total_cmp);
    if let Some(thin) = (0..3).find(|&i| extents[i] == sorted[0]).filter(|_| sorted[0] <= FLAT * sorted[1]) {
        let across = motion[thin].abs() > 0.5 * norm(motion);
        if sorted[0] == 0.0 || !across {
            let sign = if thin == 1 { -1.0 } else { 1.0 };
            return vec![std::array::from_fn(|i| if i == thin { sign } else { 0.0 })];
        }
    }
    let sides = [b * c, a * c, a * b];
    let azimuth = sides[1].atan2(sides[0]).clamp(28f64.to_radians(), 62f64.to_radians());
    let elevation = sides[2].atan2(sides[0].hypot(sides[1])).clamp(20f64.to_radians(), 38f64.to_radians());
    let (x, y) = (azimuth.cos() * elevation.cos(), azimuth.sin() * elevation.cos());
    // The first is the draughtsman's: x to the right, y away from the eye.
    [[1.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[p, q]| [p * x, q * y, elevation.sin()]).to_vec()
}

/// The factor for displacements up to `largest` that moves a part of this diagonal by about 8 % of it: 1, 2 or 5 times
/// a power of ten.
pub(super) fn deformation_scale(largest: f64, diagonal: f64) -> f64 {
    let wanted = 0.08 * diagonal / largest;
    if !wanted.is_normal() {
        return 1.0;
    }
    let power = wanted.log10().floor();
    let off = |step: f64| (step.log10() + power - wanted.log10()).abs();
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(1.0);
    // Through decimal text, which is exact where a product of powers of ten is not.
    format!("{step}e{power}").parse().ok().filter(|scale: &f64| scale.is_normal()).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deformation_scale_is_round_and_near_the_aim() {
        for exponent in -40..40 {
            let largest = 1.37f64.powi(exponent);
            let scale = deformation_scale(largest, 3.0);
            assert!((0.5..2.0).contains(&(scale * largest / 0.24)), "{largest} {scale}");
            let digits = format!("{scale:e}");
            assert!(["1e", "2e", "5e"].iter().any(|lead| digits.starts_with(lead)), "{digits}");
        }
        for (largest, diagonal) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1e-300, 1e300), (0.0, 0.0)] {
            assert_eq!(deformation_scale(largest, diagonal), 1.0);
        }
    }

    #[test]
    fn flat_parts_are_seen_face_on_unless_they_bend() {
        assert_eq!(eyes([3.0, 2.0, 0.0], [0.0, 0.0, 1.0]), [[0.0, 0.0, 1.0]]);
        assert_eq!(eyes([3.0, 0.01, 2.0], [1.0, 0.0, 0.2]), [[0.0, -1.0, 0.0]]);
        assert_eq!(eyes([3.0, 0.01, 2.0], [0.1, 1.0, 0.2]).len(), 4);
        assert_eq!(eyes([3.0, 2.0, 2.0], [0.0; 3]).len(), 4);
    }

    #[test]
    fn axes_are_orthonormal_and_z_is_up() {
        for extents in [[1.0, 1.0, 1.0], [16.0, 2.0, 2.0], [1.0, 5.0, 30.0], [4.0, 3.0, 0.0]] {
            for eye in eyes(extents, [0.0; 3]) {
                let axes = View::from(eye).axes;
                for i in 0..3 {
                    for j in 0..3 {
                        approx::assert_abs_diff_eq!(
                            dot(axes[i], axes[j]),
                            f64::from(u8::from(i == j)),
                            epsilon = 1e-14
                        );
                    }
                }
                assert!(axes[1][2] > 0.5 || (axes[1][1] == 1.0 && eye[2] == 1.0));
            }
        }
    }

    #[test]
    fn the_part_fills_its_rectangle() {
        let corners = [[0.0; 3], [4.0, 1.0, 2.0], [4.0, 0.0, 0.0], [0.0, 1.0, 2.0]];
        let view = View::from([1.0, -1.0, 0.5]);
        let view = view.fit(view.extent(corners.iter()), [10.0, 20.0], [300.0, 200.0]);
        let pixels = corners.map(|x| view.project(x));
        let width = |i: usize| {
            let (low, high) = pixels.iter().fold((f32::MAX, f32::MIN), |(l, h), p| (l.min(p[i]), h.max(p[i])));
            assert!(low >= [10.0, 20.0][i] - 1e-3 && high <= [310.0, 220.0][i] + 1e-3);
            high - low
        };
        assert!((width(0) - 300.0).abs() < 1e-3 || (width(1) - 200.0).abs() < 1e-3);
    }
}
