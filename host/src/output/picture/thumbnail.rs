//! A picture of a few dozen pixels, without words: the part in the same view and colours, for a terminal.

use super::colormap::{self, Rgb};
use super::raster::{Drawing, Frame};
use super::{SAMPLES, Shown, shade};
use crate::mesh::Mesh;
use crate::output::field::{check, is_zero};
use crate::parallel;
use crate::result::Step;

/// A small picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Thumbnail {
    /// Pixels of a row.
    pub width: usize,
    /// sRGB from the top left, row by row; `None` where the part is not.
    pub pixels: Vec<Option<[u8; 3]>>,
}

/// Draws the results on `mesh` as large as fits into `most` square pixels across and down; `None` where the lengths of
/// `step` do not fit the mesh, the part has no extent, or all is zero.
pub fn thumbnail(mesh: &Mesh, step: &Step, most: [usize; 2]) -> Option<Thumbnail> {
    check(step, mesh).ok().filter(|()| !is_zero(step))?;
    let shown = Shown::new(mesh, step, &[], None);
    let view = shown.view();
    let extent = view.extent(shown.deformed.iter());
    let [across, up] = extent.map(|[low, high]| high - low);
    let scale = (most[0] as f64 / across).min(most[1] as f64 / up);
    if !scale.is_normal() {
        return None;
    }
    let [width, height] = [across, up].map(|size| (scale * size).ceil().max(1.0));
    let samples = SAMPLES as f64;
    let view = view.fit(extent, [0.0; 2], [samples * width, samples * height]);
    let map = colormap::stress();
    let shades: Vec<f32> = parallel::map_items(&shown.scene.faces, &|face| shade(&view, &shown.deformed, face));
    let points = parallel::map_items(&shown.deformed, &|&x| view.project(x));
    let drawing = Drawing { shades: &shades, ..Drawing::plain(points, &shown.colors.t, &shown.scene.faces, &map) };
    let (width, height) = (width as usize, height as usize);
    let frame = drawing.render(width * SAMPLES, height * SAMPLES);
    let pixels = (0..width * height).map(|i| mean_of_part(&frame, i % width, i / width)).collect();
    Some(Thumbnail { width, pixels })
}

/// The mean colour of a pixel's samples that show the part, if at least half of them do.
fn mean_of_part(frame: &Frame, x: usize, y: usize) -> Option<Rgb> {
    let at = |k: usize| (y * SAMPLES + k / SAMPLES) * frame.width + x * SAMPLES + k % SAMPLES;
    let (mut sum, mut n) = ([0u32; 3], 0);
    for i in (0..SAMPLES * SAMPLES).map(at).filter(|&i| frame.depth[i].is_finite()) {
        sum = std::array::from_fn(|c| sum[c] + u32::from(frame.color[i][c]));
        n += 1;
    }
    (2 * n >= SAMPLES * SAMPLES).then(|| sum.map(|c| (c / n as u32) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::{elastic, hex_pair, values, zero};

    #[test]
    fn a_thumbnail_fits_its_box_and_shows_the_part() {
        let (mesh, results) = (hex_pair(), elastic());
        for most in [[60, 40], [10, 80], [1, 1]] {
            let found = thumbnail(&mesh, &results, most).unwrap();
            let height = found.pixels.len() / found.width;
            assert!(found.width <= most[0] + 1 && height <= most[1] + 1, "{most:?} {} {height}", found.width);
            let covered = found.pixels.iter().flatten().count();
            assert!(2 * covered > found.pixels.len(), "{covered} of {}", found.pixels.len());
        }
    }

    #[test]
    fn the_higher_stress_is_lighter() {
        let (mesh, results) = (hex_pair(), elastic());
        let found = thumbnail(&mesh, &results, [60, 40]).unwrap();
        let mean = |from: usize, to: usize| {
            let columns = found.pixels.iter().enumerate().filter(|(i, _)| (from..to).contains(&(i % found.width)));
            let greens: Vec<f64> = columns.filter_map(|(_, pixel)| pixel.map(|c| f64::from(c[1]))).collect();
            greens.iter().sum::<f64>() / greens.len() as f64
        };
        let (left, right) = (mean(0, found.width / 4), mean(3 * found.width / 4, found.width));
        assert!((left - right).abs() > 60.0, "{left} {right}");
    }

    #[test]
    fn a_part_without_extent_or_results_that_do_not_fit_have_no_thumbnail() {
        let mut results = elastic();
        values(&mut results, "displacement").truncate(33);
        assert_eq!(thumbnail(&hex_pair(), &results, [60, 40]), None);
        let mut mesh = hex_pair();
        mesh.coords.fill([1.0; 3]);
        results = zero(&mesh);
        assert_eq!(thumbnail(&mesh, &results, [60, 40]), None);
    }
}
