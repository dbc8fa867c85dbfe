//! `<case>.png`: the deformed skin, coloured by the von Mises stress at the nodes, with the undeformed outline, a
//! colour bar and the place of the maximum. Of a potential the body as it is, coloured by the potential.
//!
//! Only the skin is drawn, so the effort grows with the surface of the part. Where a hot spot would leave all else
//! dark, the colours end below the maximum, and what is above has a colour of its own.

mod canvas;
pub(in crate::output) mod colormap;
mod creases;
mod glyphs;
mod legend;
mod project;
mod raster;
pub(in crate::output) mod scene;
pub(in crate::output) mod shapes;
pub(in crate::output) mod symbols;
mod thumbnail;

use std::io;

use rayon::prelude::*;

use super::summary::{Distribution, Peak};
use super::{Fields, Solved, largest};
use crate::mesh::Mesh;
use canvas::Canvas;
use glyphs::Legend;
pub(in crate::output) use legend::factor;
use project::View;
use raster::{Drawing, Frame, Line};
use scene::{Scene, dot, normal, sub};
use symbols::Group;
pub use symbols::Symbols;
pub use thumbnail::{Thumbnail, thumbnail};
use warpfem_text::{engineering as number, vector};

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
/// What the part keeps clear of on each side of its rectangle where it has symbols.
const MARGIN: f64 = 44.0;

/// What the picture is of.
pub(super) struct Heading<'a> {
    /// The case's name.
    pub case: &'a str,
    /// Whether the solution met its tolerance; if not, the picture says so.
    pub converged: bool,
    /// How many warnings there are.
    pub warnings: usize,
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
    /// The values at the ends of the colours.
    pub range: [f64; 2],
    /// The largest value, where the colours end below it.
    pub above: Option<f64>,
    /// The value's place in the range, `[n_skin_nodes]`; beyond 1 where it is above.
    t: Vec<f32>,
    /// Supports and loads.
    pub groups: Vec<Group>,
    /// The acceleration of gravity, if it is drawn.
    pub gravity: Option<[f64; 3]>,
}

/// The colours end at the value that this share of the nodes does not exceed, where the largest is more than [`HOT`]
/// times that.
const SHARE_BELOW: f64 = 0.995;
const HOT: f64 = 2.0;

/// Where the colours of stresses end if not at the largest: at a number of two digits.
fn cap(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    let rank = ((SHARE_BELOW * values.len() as f64).ceil() as usize).checked_sub(1)?;
    let (_, &mut share, above) = sorted.select_nth_unstable_by(rank, f64::total_cmp);
    let most = above.iter().copied().fold(share, f64::max);
    // Rounded up, by decimal text.
    let size = 10f64.powf(share.log10().floor() - 1.0);
    let end: f64 = format!("{:.1e}", (share / size).ceil() * size).parse().ok()?;
    (share > 0.0 && most > HOT * end).then_some(end)
}

impl Shown {
    /// Of results whose lengths fit the mesh.
    pub(super) fn new(mesh: &Mesh, fields: &Fields, symbols: Option<&Symbols>) -> Shown {
        let scene = Scene::new(mesh, fields);
        let extents = extents(&scene.rest);
        let largest = scene.displacement.iter().map(|&u| dot(u, u).sqrt()).fold(0.0, f64::max);
        let scale = project::deformation_scale(largest, dot(extents, extents).sqrt());
        let bound = |pick: fn(f64, f64) -> f64| scene.value.iter().copied().reduce(pick).unwrap_or(0.0);
        let [least, most] = [bound(f64::min), bound(f64::max)];
        let cap = if fields.displacement().is_some() { cap(&scene.value) } else { None };
        let span = cap.unwrap_or(most) - least;
        // A span of rounding errors is no span: a uniform stress gets one colour.
        let uniform = span <= 1e-9 * most.abs().max(least.abs());
        let place = |v: &f64| if uniform { 0.5 } else { ((v - least) / span) as f32 };
        let t = scene.value.iter().map(place).collect();
        let range = if uniform { [most; 2] } else { [least, cap.unwrap_or(most)] };
        let groups = symbols.map_or(vec![], |symbols| symbols::resolve(&scene, mesh.dim() == 2, symbols));
        let gravity = symbols.and_then(|symbols| symbols.gravity);
        let (deformed, above) = (scene.deformed(scale), cap.map(|_| most));
        Shown { deformed, scale, largest, range, above, t, groups, gravity, scene }
    }

    /// The node of the largest value, of those of the scene; `None` where the values are as good as one.
    pub(super) fn peak(&self) -> Option<usize> {
        (self.range[0] < self.range[1]).then(|| largest(self.scene.value.iter().copied()).map(|peak| peak.0))?
    }

    /// The picture as PNG, 1600 pixels wide.
    pub(super) fn png(&self, fields: &Fields, heading: &Heading) -> io::Result<Vec<u8>> {
        let canvas = self.draw(fields, heading);
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
        let highest = self.peak().is_some_and(|node| {
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
    fn render(&self, view: &View, height: usize, map: &colormap::Map) -> Frame {
        let samples = SAMPLES as f32;
        let place = |x: [f64; 3]| {
            let [right, down, near] = view.project(x);
            [samples * right, samples * down, near]
        };
        // Faces of a pixel or two are too small to carry the lines of their edges; there the part's edges are free
        // lines.
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
    fn draw(&self, fields: &Fields, heading: &Heading) -> Canvas {
        let view = self.view();
        let extent = self.extent(&view);
        let [left, top, width, least, most] = PART;
        let [across, up] = extent.map(|[low, high]| high - low);
        let wanted = width * up / across;
        let part_height = if wanted.is_finite() { wanted.clamp(least, most) } else { least }.round();
        let margin = if self.groups.is_empty() { 0.0 } else { MARGIN };
        let view = view.fit(extent, [left + margin, top + margin], [width - 2.0 * margin, part_height - 2.0 * margin]);
        let symbols = Legend::new(&self.groups, self.gravity, WIDTH as f32 - 80.0);
        let below = [40.0, (top + part_height) as f32 + 24.0];
        let height = (top + part_height + FOOT) as usize + symbols.height as usize;

        let map = colormap::stress();
        let mut frame = self.render(&view, height, &map);
        let peak = self.peak().map(|node| (node, glyphs::is_seen(&frame, view.project(self.deformed[node]))));
        let column = (left + width) as f32 + 70.0;
        let corner = [column + 50.0, height as f32 - 90.0];
        let gravity = self.gravity.map(|g| (g, [corner[0] + 100.0, corner[1] - 30.0]));
        glyphs::draw(&mut frame, self, &view);
        symbols.draw(&mut frame, &view, below, gravity);
        let mut canvas = frame.resolve(SAMPLES);
        let (title, subtitle, foot) = captions(self, fields);
        let bar = legend::Bar { map: &map, range: self.range, above: self.above, title };
        let bar_top = if self.above.is_some() { 206.0 } else { 170.0 };
        legend::color_bar(&mut canvas, &bar, (column, [bar_top, height as f32 - 190.0]));
        legend::axes(&mut canvas, &view, corner);
        if let Some((_, [x, y])) = gravity {
            canvas.text(canvas::Font::Plain, [x + 12.0, y - 22.0], "g", symbols::GRAVITY);
        }
        symbols.write(&mut canvas, below);
        legend::captions(&mut canvas, heading, &subtitle, &foot);
        if let Some(peak) = peak {
            let bottom = (top + part_height) as f32;
            mark_maximum(&mut canvas, &frame, self, (&view, bottom), peak);
        }
        if !heading.converged {
            legend::stamp_not_converged(&mut canvas);
        }
        canvas
    }
}

/// The two lines above the colour bar, the line under the title, and the one at the foot.
fn captions(shown: &Shown, fields: &Fields) -> ([&'static str; 2], String, String) {
    let most = |values: &mut dyn Iterator<Item = f64>| largest(values).map(|(_, most)| number(most));
    match fields.solved {
        Solved::Elastic { von_mises, nodal, .. } => {
            let peak = |values: &mut dyn Iterator<Item = f64>| largest(values).map(|(_, max)| max);
            let nodal = peak(&mut nodal.sizes.iter().copied()).map(|max| Peak { max, ..Peak::default() });
            let centres = peak(&mut von_mises.iter().flatten().copied());
            let subtitle = match (nodal, centres.map(|max| Distribution { max, ..Distribution::default() })) {
                (Some(nodal), Some(centres)) => {
                    format!("largest von Mises stress {} ({})", number(nodal.max), nodal.beside(&centres))
                }
                _ => "no finite stress".into(),
            };
            let foot = match shown.largest > 0.0 {
                true => {
                    let (scale, most) = (factor(shown.scale), number(shown.largest));
                    format!("deformation x {scale}   largest displacement {most}   grey lines: undeformed")
                }
                false => "no displacement".into(),
            };
            (["von Mises", "at the nodes"], subtitle, foot)
        }
        Solved::Potential { potential, nodal, .. } => {
            let least = largest(potential.iter().map(|v| -v)).map(|(_, least)| number(-least));
            let subtitle = match (least, most(&mut potential.iter().copied())) {
                (Some(least), Some(most)) => format!("potential from {least} to {most}"),
                _ => "no finite potential".into(),
            };
            let steepest = most(&mut nodal.sizes.iter().copied());
            (["potential", ""], subtitle, steepest.map_or(String::new(), |most| format!("steepest gradient {most}")))
        }
    }
}

/// How many pixels in front of the maximum a face must be to hide it: at an edge the next face is nearer by less.
const IN_FRONT: f32 = 12.0;

/// Marks the node of the largest value, unless most have it; whether it is seen behind the symbols is known.
fn mark_maximum(
    canvas: &mut Canvas,
    frame: &Frame,
    shown: &Shown,
    (view, bottom): (&View, f32),
    (node, is_seen): (usize, bool),
) {
    let scene = &shown.scene;
    let value = scene.value[node];
    if 2 * scene.value.iter().filter(|&&v| value - v <= 1e-6 * value.abs()).count() > scene.value.len() {
        return;
    }
    let [right, down, _] = view.project(shown.deformed[node]);
    let note = match !is_seen {
        false => "",
        true if scene.is_on_skin(node as u32) => " (behind)",
        true => " (inside)",
    };
    let text = format!("max {} at {}{note}", number(value), vector(scene.rest[node]));
    let mask: Vec<bool> = frame.depth.iter().map(|depth| depth.is_finite()).collect();
    let covered = |x: i64, y: i64| {
        let at = (y.max(0) as usize * frame.width + x.max(0) as usize) * SAMPLES;
        mask.get(at).copied().unwrap_or(false)
    };
    let [left, top, width, ..] = PART.map(|v| v as f32);
    let area = [[left - 20.0, top - 16.0], [left + width + 20.0, bottom + 20.0]];
    legend::marker(canvas, [right, down], &text, area, &covered);
}

/// Brightness of a face in the light of a lamp up to the left of the eye; both sides of a face are alike.
fn shade(view: &View, x: &[[f64; 3]], face: &[u32; 4]) -> f32 {
    let n = normal(x, face);
    lit(view.axes.map(|axis| dot(n, axis)))
}

/// The same of a normal as seen: right, up and towards the eye.
fn lit(n: [f64; 3]) -> f32 {
    const LAMP: [f64; 3] = [-0.30, 0.42, 0.86];
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
