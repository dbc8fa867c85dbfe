//! `<case>.png`: the deformed skin, coloured by von Mises stress, with the undeformed outline, a colour bar and the
//! place of the maximum. Of a potential the body as it is, coloured by the potential.
//!
//! Only the skin is drawn, so the effort grows with the surface of the part; besides, the elements are read once for the
//! means at the nodes.

mod canvas;
pub(in crate::output) mod colormap;
mod creases;
mod legend;
mod project;
mod raster;
pub(in crate::output) mod scene;
mod thumbnail;

use std::io;

use rayon::prelude::*;

use super::{Fields, Solved, largest};
use crate::mesh::Mesh;
use canvas::Canvas;
pub(in crate::output) use legend::{factor, number};
use project::View;
use raster::{Drawing, Frame, Line};
use scene::{Scene, dot, normal, sub};
pub use thumbnail::{Thumbnail, thumbnail};

/// Width of the picture in pixels.
const WIDTH: usize = 1600;
/// Samples per pixel in each direction.
const SAMPLES: usize = 2;
/// Up to this many faces the edges of the elements are drawn.
const MOST_FACES_WITH_EDGES: usize = 20_000;
/// How far behind the face in front of it a point counts as seen when views are compared, in their pixels.
const SEEN: f32 = 2.0;
const UNDEFORMED_COLOR: colormap::Rgb = [150, 150, 155];
/// The part's rectangle: left, top, width; least and greatest height.
const PART: [f64; 5] = [50.0, 104.0, 1280.0, 460.0, 960.0];
/// Height of what is below the part's rectangle.
const FOOT: f64 = 76.0;

/// What the picture is of.
pub(super) struct Heading<'a> {
    /// The case's name.
    pub case: &'a str,
    /// Whether the solution met its tolerance; if not, the picture says so.
    pub converged: bool,
}

/// The skin as it is drawn.
pub(super) struct Shown {
    pub scene: Scene,
    /// Factor on the displacements.
    pub scale: f64,
    /// Length of the largest displacement.
    pub largest: f64,
    /// Coordinates with the displacements, `[n_skin_nodes][3]`.
    deformed: Vec<[f64; 3]>,
    /// Least and greatest value.
    range: [f64; 2],
    /// The value's place in the range, `[n_skin_nodes]`.
    t: Vec<f32>,
}

impl Shown {
    /// Of results whose lengths fit the mesh.
    pub(super) fn new(mesh: &Mesh, fields: &Fields) -> Shown {
        let scene = Scene::new(mesh, fields);
        let extents = extents(&scene.rest);
        let largest = scene.displacement.iter().map(|&u| dot(u, u).sqrt()).fold(0.0, f64::max);
        let scale = project::deformation_scale(largest, dot(extents, extents).sqrt());
        let bound = |pick: fn(f64, f64) -> f64| scene.value.iter().copied().reduce(pick).unwrap_or(0.0);
        let range = [bound(f64::min), bound(f64::max)];
        let span = range[1] - range[0];
        // A span of rounding errors is no span: a uniform stress gets one colour.
        let uniform = span <= 1e-9 * range[1].abs().max(range[0].abs());
        let place = |v: &f64| if uniform { 0.5 } else { ((v - range[0]) / span) as f32 };
        let t = scene.value.iter().map(place).collect();
        Shown { deformed: scene.deformed(scale), scale, largest, range, t, scene }
    }

    /// The picture as PNG, 1600 pixels wide.
    pub(super) fn png(&self, mesh: &Mesh, fields: &Fields, heading: &Heading) -> io::Result<Vec<u8>> {
        let canvas = self.draw(mesh, fields, heading);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, canvas.width as u32, canvas.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(canvas.pixels.as_flattened())?;
        writer.finish()?;
        Ok(file)
    }

    /// The view that shows most of the part and most of its stress.
    pub(super) fn view(&self) -> View {
        let by_size = |u: &&[f64; 3], v: &&[f64; 3]| dot(**u, **u).total_cmp(&dot(**v, **v));
        let motion = self.scene.displacement.iter().max_by(by_size).copied().unwrap_or_default();
        let eyes = project::eyes(extents(&self.scene.rest), motion);
        let views = eyes.into_iter().map(View::from);
        let scored = views.map(|view| (view, self.score(&view)));
        // The first of equals, so that a symmetric part is seen from the usual side.
        let better = |best: (View, f64), next: (View, f64)| if next.1 > 1.02 * best.1 { next } else { best };
        scored.reduce(better).map_or(View::from([1.0, -1.0, 0.7]), |(view, _)| view)
    }

    /// Sum over a small picture of how much stress it shows, and more if it shows the largest.
    fn score(&self, view: &View) -> f64 {
        let (width, height) = (200, 150);
        let view = view.fit(self.extent(view), [0.0; 2], [width as f64, height as f64]);
        let map = colormap::identity();
        let drawing = Drawing {
            points: self.deformed.iter().map(|&x| view.project(x)).collect(),
            t: &self.t,
            faces: &self.scene.faces,
            edges: &[],
            smooth_edges: false,
            shades: &[],
            lines: vec![],
            map: &map,
        };
        let frame = drawing.render(width, height);
        let seen = frame.depth.iter().zip(&frame.color).filter(|(depth, _)| depth.is_finite());
        let sum: f64 = seen.map(|(_, color)| 100.0 + f64::from(color[0])).sum();
        let highest = self.t.iter().position(|&t| t >= 1.0).is_some_and(|node| {
            let [right, down, near] = drawing.points[node];
            let at = (down as usize).min(height - 1) * width + (right as usize).min(width - 1);
            frame.depth[at] <= near + SEEN
        });
        if highest { 1.2 * sum } else { sum }
    }

    /// The extent of both shapes in a view.
    fn extent(&self, view: &View) -> [[f64; 2]; 2] {
        view.extent(self.scene.rest.iter().chain(&self.deformed))
    }

    /// Draws the part.
    fn render(&self, view: &View, height: usize, map: &[colormap::Rgb; colormap::SIZE]) -> Frame {
        let samples = SAMPLES as f32;
        let place = |x: [f64; 3]| {
            let [right, down, near] = view.project(x);
            [samples * right, samples * down, near]
        };
        // Faces of a pixel or two are too small to carry the lines of their edges; there the part's edges are free lines.
        let fine = self.scene.faces.len() >= MOST_FACES_WITH_EDGES;
        let lines = |x: &[[f64; 3]], color, wanted: bool| -> Vec<Line> {
            let outline = if wanted { self.scene.outline.as_slice() } else { &[] };
            outline.iter().map(|edge| Line { ends: edge.map(|node| place(x[node as usize])), color }).collect()
        };
        let moved = lines(&self.deformed, raster::EDGE_COLOR, fine);
        let lines = [moved, lines(&self.scene.rest, UNDEFORMED_COLOR, self.largest > 0.0)];
        let shades: Vec<f32> = self.scene.faces.par_iter().map(|face| shade(view, &self.deformed, face)).collect();
        let drawing = Drawing {
            points: self.deformed.par_iter().map(|&x| place(x)).collect(),
            t: &self.t,
            faces: &self.scene.faces,
            edges: if fine { &[] } else { &self.scene.edges },
            smooth_edges: !fine,
            shades: &shades,
            lines: lines.into_iter().flatten().collect(),
            map,
        };
        drawing.render(WIDTH * SAMPLES, height * SAMPLES)
    }

    /// The whole picture.
    fn draw(&self, mesh: &Mesh, fields: &Fields, heading: &Heading) -> Canvas {
        let view = self.view();
        let extent = self.extent(&view);
        let [left, top, width, least, most] = PART;
        let [across, up] = extent.map(|[low, high]| high - low);
        let wanted = width * up / across;
        let part_height = if wanted.is_finite() { wanted.clamp(least, most) } else { least }.round();
        let view = view.fit(extent, [left, top], [width, part_height]);
        let height = (top + part_height + FOOT) as usize;

        let map = colormap::stress();
        let frame = self.render(&view, height, &map);
        let mut canvas = frame.resolve(SAMPLES);
        let column = (left + width) as f32 + 70.0;
        let (title, subtitle, foot) = captions(self, fields);
        legend::color_bar(&mut canvas, &map, self.range, title, (column, [170.0, height as f32 - 190.0]));
        legend::axes(&mut canvas, &view, [column + 50.0, height as f32 - 90.0]);
        legend::captions(&mut canvas, heading, &subtitle, &foot);
        mark_maximum(&mut canvas, &frame, self, &view, mesh, fields);
        canvas
    }
}

/// The two lines above the colour bar, the line under the title, and the one at the foot.
fn captions(shown: &Shown, fields: &Fields) -> ([&'static str; 2], String, String) {
    let spans = |least: Option<f64>, most: Option<f64>, what: &str, none: &str| match (least, most) {
        (Some(least), Some(most)) => format!("{what}: min {}, max {}", number(least), number(most)),
        _ => none.into(),
    };
    match fields.solved {
        Solved::Elastic { von_mises, .. } => {
            let least = von_mises.iter().flatten().copied().filter(|v| v.is_finite()).reduce(f64::min);
            let most = largest(von_mises).map(|(_, _, most)| most);
            let subtitle = spans(least, most, "von Mises stress of the elements", "no finite stress");
            let foot = match shown.largest > 0.0 {
                true => {
                    let (scale, most) = (factor(shown.scale), number(shown.largest));
                    format!("deformation x {scale}   largest displacement {most}   grey lines: undeformed")
                }
                false => "no displacement".into(),
            };
            (["von Mises", "nodal average"], subtitle, foot)
        }
        Solved::Potential { potential, steepness, .. } => {
            let finite = || potential.iter().copied().filter(|v| v.is_finite());
            let [least, most] = [finite().reduce(f64::min), finite().reduce(f64::max)];
            let subtitle = spans(least, most, "potential of the nodes", "no finite potential");
            let steepest = largest(steepness).map(|(_, _, most)| format!("steepest gradient {}", number(most)));
            (["potential", ""], subtitle, steepest.unwrap_or_default())
        }
    }
}

/// Marks the element of the largest stress or the steepest gradient, unless it is one of many.
fn mark_maximum(canvas: &mut Canvas, frame: &Frame, shown: &Shown, view: &View, mesh: &Mesh, fields: &Fields) {
    let (_, values) = fields.of_elements();
    let Some((block, cell, value)) = largest(values) else { return };
    let all = || values.iter().flatten();
    if all().filter(|&&v| value - v <= 1e-6 * value.abs()).count() > (all().count() / 1000).max(2) {
        return;
    }
    let cells = &mesh.cells[block];
    let nodes = cells.cell(cell).iter().map(|&node| {
        let u = fields.displacement().map_or([0.0; 3], |u| u[node as usize]);
        let x = mesh.coords[node as usize];
        view.project(std::array::from_fn(|i| if u[i].is_finite() { x[i] + shown.scale * u[i] } else { x[i] }))
    });
    let corners: Vec<[f32; 3]> = nodes.collect();
    let center: [f32; 3] = std::array::from_fn(|i| corners.iter().map(|p| p[i]).sum::<f32>() / corners.len() as f32);
    let size =
        corners.iter().map(|p| (0..3).map(|i| (p[i] - center[i]).powi(2)).sum::<f32>().sqrt()).fold(0.0, f32::max);
    let depth = |x: i64, y: i64| {
        let inside = (0..canvas.width as i64).contains(&x) && (0..canvas.height as i64).contains(&y);
        inside.then(|| frame.depth[y as usize * SAMPLES * frame.width + x as usize * SAMPLES])
    };
    // Somewhat more than the element itself: its neighbours may be in front of its middle.
    let hidden = depth(center[0] as i64, center[1] as i64).is_some_and(|near| near > center[2] + 2.5 * size);
    let note = if hidden { " (behind)" } else { "" };
    let what = if fields.displacement().is_some() { "max" } else { "steepest" };
    let text = format!("{what} {}, element {}{note}", number(value), cells.tags[cell]);
    let mask: Vec<bool> = frame.depth.iter().map(|depth| depth.is_finite()).collect();
    let covered = |x: i64, y: i64| {
        let at = (y.max(0) as usize * frame.width + x.max(0) as usize) * SAMPLES;
        mask.get(at).copied().unwrap_or(false)
    };
    let [left, top, width, ..] = PART.map(|v| v as f32);
    let area = [[left - 20.0, top - 16.0], [left + width + 20.0, canvas.height as f32 - FOOT as f32 + 20.0]];
    legend::marker(canvas, [center[0], center[1]], &text, area, &covered);
}

/// Brightness of a face in the light of a lamp up to the left of the eye; both sides of a face are alike.
fn shade(view: &View, x: &[[f64; 3]], face: &[u32; 4]) -> f32 {
    const LAMP: [f64; 3] = [-0.30, 0.42, 0.86];
    let n = normal(x, face);
    let n = view.axes.map(|axis| dot(n, axis));
    let lit = dot(n, LAMP) * n[2].signum();
    (0.70 + 0.30 * lit.max(0.0)) as f32
}

/// The size of the box around some points; zero for none.
fn extents(points: &[[f64; 3]]) -> [f64; 3] {
    let grow = |pick: fn(f64, f64) -> f64| {
        points.iter().copied().reduce(|a, b| std::array::from_fn(|i| pick(a[i], b[i]))).unwrap_or_default()
    };
    sub(grow(f64::max), grow(f64::min))
}

#[cfg(test)]
mod tests;
