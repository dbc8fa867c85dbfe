//! `<case>.png`: the deformed skin, coloured by the von Mises stress at the nodes, with the undeformed outline, a
//! colour bar and the place of the maximum. Of a potential the body as it is, coloured by the potential.
//!
//! Only the skin is drawn, so the effort grows with the surface of the part. Where a hot spot would leave all else
//! dark, the colours end below the maximum, and what is above has a colour of its own.

mod canvas;
mod coloring;
pub(in crate::output) mod colormap;
mod creases;
mod glyphs;
mod legend;
mod project;
mod raster;
pub(in crate::output) mod scene;
pub(in crate::output) mod shapes;
mod sheet;
mod shot;
pub(in crate::output) mod symbols;
mod thumbnail;

use std::io;

use super::field::PointField;
use super::{Summary, largest};
use crate::mesh::vector::{dot, norm, sub};
use crate::mesh::{Mesh, extent};
use crate::model::Model;
use crate::parallel;
use crate::result::{Physics, Quantity, Step, Units, with_unit};
use canvas::Canvas;
use coloring::Coloring;
use colormap::{Rgb, pick};
use legend::factor;
use project::View;
use raster::{Drawing, Frame, Line};
use scene::{Scene, normal};
use sheet::{Captions, Sheet};
pub use shot::{Shot, Viewpoint};
use symbols::Group;
pub use thumbnail::{Thumbnail, thumbnail};
use warpfem_text::{counted, engineering as number, vector};

/// Width of the picture in pixels.
const WIDTH: usize = 1600;
/// Samples per pixel in each direction.
const SAMPLES: usize = 2;
/// Up to this many faces the edges of the elements are drawn.
const MOST_FACES_WITH_EDGES: usize = 20_000;
/// Motions below this part of the body's diagonal are not seen.
const SEEN_MOTION: f64 = 3e-3;
/// How far behind the face in front of it a point counts as seen when views are compared, in their pixels.
const SEEN: f32 = 2.0;
const UNDEFORMED_COLOR: colormap::Rgb = [150, 150, 155];
/// The colour of a body that has no results.
const GREY: colormap::Rgb = [205, 207, 212];
/// The part's rectangle: left, top, width; least and greatest height.
const PART: [f64; 5] = [50.0, 104.0, 1280.0, 460.0, 960.0];
/// Height of what is below the part's rectangle.
const FOOT: f64 = 76.0;
/// What the part keeps clear of on each side of its rectangle where it has symbols.
const MARGIN: f64 = 44.0;

/// The skin as it is drawn.
pub(super) struct Shown {
    pub scene: Scene,
    /// Factor on the displacements.
    pub scale: f64,
    /// Length of the largest displacement.
    pub largest: f64,
    /// Coordinates with the displacements, `[n_skin_nodes][3]`.
    deformed: Vec<[f64; 3]>,
    /// The usual colours.
    pub colors: Coloring,
    pub groups: Vec<Group>,
    /// The acceleration of gravity and its label, if it is drawn.
    pub gravity: Option<([f64; 3], String)>,
}

impl Shown {
    /// Of results whose lengths fit the mesh, to be drawn in these colours beside the usual ones, with the `symbols` of a
    /// model in one of its load cases.
    pub(super) fn new(mesh: &Mesh, step: &Step, shots: &[Shot], symbols: Option<(&Model, usize)>) -> Shown {
        let of_shots = shots.iter().filter_map(|shot| shot.field.as_ref());
        let peaks: Vec<usize> =
            of_shots.filter_map(|field| largest(field.values(step).into_iter())).map(|peak| peak.0).collect();
        let scene = Scene::new(mesh, step, &peaks);
        let largest = scene.displacement.iter().map(|&u| norm(u)).fold(0.0, f64::max);
        let scale = project::deformation_scale(largest, norm(extents(&scene.rest)));
        let symbols = symbols.map(|(model, case)| (model.of_case(case).0, model.loads(case)));
        let groups = symbols.as_ref().map_or(vec![], |(model, loads)| symbols::resolve(&scene, model, loads));
        let gravity = symbols.and_then(|(model, loads)| symbols::gravity(model, &loads));
        let colors = Coloring::new(scene.values().to_vec(), PointField::usual(step).may_be_cut());
        Shown { deformed: scene.deformed(scale), scale, largest, colors, groups, gravity, scene }
    }

    /// A picture as PNG.
    pub(super) fn png(&self, step: &Step, shot: &Shot, summary: &Summary) -> io::Result<Vec<u8>> {
        self.draw(step, shot, summary).png()
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

    /// The view from a side, or else [`Shown::view`].
    fn from(&self, side: Option<Viewpoint>) -> View {
        side.map_or_else(|| self.view(), |side| View::from(side.eye()))
    }

    /// Sum over a small picture of how much stress it shows, and more if it shows the largest.
    fn score(&self, view: &View) -> f64 {
        let (width, height) = (200, 150);
        let view = view.fit(self.extent(view), [0.0; 2], [width as f64, height as f64]);
        let map = colormap::identity();
        let points = self.deformed.iter().map(|&x| view.project(x)).collect();
        let drawing = Drawing::plain(points, &self.colors.t, &self.scene.faces, &map);
        let frame = drawing.render(width, height);
        let seen = frame.depth.iter().zip(&frame.color).filter(|(depth, _)| depth.is_finite());
        let sum: f64 = seen.map(|(_, color)| 100.0 + f64::from(color[0])).sum();
        let highest = self.colors.peak(false).is_some_and(|node| {
            let [right, down, near] = drawing.points[node];
            let at = (down as usize).min(height - 1) * width + (right as usize).min(width - 1);
            frame.depth[at] <= near + SEEN
        });
        if highest { 2.0 * sum } else { sum }
    }

    /// Whether the part's own edges move far enough to be seen beside their old places.
    fn shows_undeformed(&self) -> bool {
        let size = extents(&self.scene.rest);
        let moved = |&node: &u32| {
            let d = sub(self.deformed[node as usize], self.scene.rest[node as usize]);
            dot(d, d) > SEEN_MOTION * SEEN_MOTION * dot(size, size)
        };
        self.scene.outline.iter().flatten().any(moved)
    }

    /// The extent of both shapes in a view.
    fn extent(&self, view: &View) -> [[f64; 2]; 2] {
        view.extent(self.scene.rest.iter().chain(&self.deformed))
    }

    fn render(&self, view: &View, height: usize, (t, map): (&[f32], &colormap::Map)) -> Frame {
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
        let shades: Vec<f32> = parallel::map_items(&self.scene.faces, &|face| shade(view, &self.deformed, face));
        let points = parallel::map_items(&self.deformed, &|&x| place(x));
        let drawing = Drawing {
            edges: if fine { &[] } else { &self.scene.edges },
            smooth_edges: !fine,
            shades: &shades,
            lines: lines.concat(),
            ..Drawing::plain(points, t, &self.scene.faces, map)
        };
        drawing.render(WIDTH * SAMPLES, height * SAMPLES)
    }

    fn draw(&self, step: &Step, shot: &Shot, summary: &Summary) -> Canvas {
        let field = shot.field.clone().unwrap_or_else(|| PointField::usual(step));
        let values = field.values(step);
        let at_skin = self.scene.nodes.iter().map(|&node| values.get(node as usize).copied().unwrap_or(0.0));
        let finite = at_skin.map(|value| if value.is_finite() { value } else { 0.0 });
        let colors = Coloring::new(finite.collect(), field.may_be_cut());
        let captions = Captions::new(self, step, shot, summary);
        let sheet = Sheet::new(self, self.from(shot.view));
        let map = colormap::stress();
        let mut frame = self.render(&sheet.view, sheet.height, (&colors.t, &map));
        let of_least = field.is_least_of_interest() || field.is_signed() && colors.is_mostly_negative();
        let peak = colors.peak(of_least).map(|node| (node, self.is_seen(&frame, &sheet.view, node)));
        let mut canvas = sheet.finish(self, &mut frame);
        let bar = legend::Bar { map: &map, range: colors.range, above: colors.above, title: captions.title };
        sheet.color_bar(&mut canvas, &bar);
        legend::captions(&mut canvas, summary, &captions.subtitle, &captions.foot);
        if let Some(peak) = peak {
            let (units, color) = ((summary.units, field.unit()), pick(&map, colors.t[peak.0]));
            mark_maximum(&mut canvas, &frame, (self, &colors, units), (&sheet.view, sheet.bottom), peak, color);
        }
        if !summary.solver.converged {
            legend::stamp_not_converged(&mut canvas, (PART[0] + PART[2]) as f32);
        }
        canvas
    }

    /// The body in grey, with supports and loads: nothing is solved yet.
    fn draw_model(&self, summary: &Summary, subtitle: &str, view: View) -> Canvas {
        let sheet = Sheet::new(self, view);
        let map = colormap::Map { colors: [GREY; colormap::SIZE], above: GREY };
        let mut frame = self.render(&sheet.view, sheet.height, (&self.colors.t, &map));
        let mut canvas = sheet.finish(self, &mut frame);
        legend::captions(&mut canvas, summary, subtitle, "");
        canvas
    }

    /// Whether no face hides a node.
    fn is_seen(&self, frame: &Frame, view: &View, node: usize) -> bool {
        glyphs::is_seen(frame, view.project(self.deformed[node]))
    }
}

/// A model before it is solved, as PNG; seen from where most of it shows, unless a side is named.
///
/// # Errors
///
/// Those of the encoder.
pub fn model_png(model: &Model, from: Option<Viewpoint>) -> io::Result<Vec<u8>> {
    let mesh = &model.mesh;
    let n = mesh.coords.len();
    let nothing = Step::of(Physics::Potential, [("potential", vec![vec![0.0; n]])]);
    // Beyond the last case are the loads as they are written.
    let shown = Shown::new(mesh, &nothing, &[], Some((model, model.n_steps())));
    let summary = Summary { case: model.name.clone(), ..Summary::default() };
    let elements = mesh.n_solids();
    let subtitle = format!("{}, {}, not solved", counted(n, "node"), counted(elements, "element"));
    shown.draw_model(&summary, &subtitle, shown.from(from)).png()
}

/// How many pixels in front of the maximum a face must be to hide it: at an edge the next face is nearer by less.
const IN_FRONT: f32 = 12.0;

/// Marks the node of the largest or smallest value, unless most have it. Whether it is seen was found before symbols
/// were drawn over it; a node that is not gets a dot of its own colour.
fn mark_maximum(
    canvas: &mut Canvas,
    frame: &Frame,
    (shown, colors, (units, quantity)): (&Shown, &Coloring, (Option<Units>, Quantity)),
    (view, bottom): (&View, f32),
    (node, is_seen): (usize, bool),
    color: Rgb,
) {
    let scene = &shown.scene;
    let value = colors.values[node];
    if 2 * colors.values.iter().filter(|&&v| (value - v).abs() <= 1e-6 * value.abs()).count() > colors.values.len() {
        return;
    }
    let [right, down, _] = view.project(shown.deformed[node]);
    let note = match !is_seen {
        false => "",
        true if scene.is_on_skin(node as u32) => " (behind)",
        true => " (inside)",
    };
    let name = if value > colors.range[0] { "max" } else { "min" };
    let value = with_unit(number(value), units, quantity);
    let place = with_unit(vector(scene.rest[node]), units, Quantity::Length);
    let text = format!("{name} {value} at {place}{note}");
    let mask: Vec<bool> = frame.depth.iter().map(|depth| depth.is_finite()).collect();
    let covered = |x: i64, y: i64| {
        let at = (y.max(0) as usize * frame.width + x.max(0) as usize) * SAMPLES;
        mask.get(at).copied().unwrap_or(false)
    };
    let [left, top, width, ..] = PART.map(|v| v as f32);
    let area = [[left - 20.0, top - 16.0], [left + width + 20.0, bottom + 20.0]];
    legend::marker(canvas, [right, down], &text, area, &covered);
    if !is_seen {
        // What is in front has another colour.
        canvas.ring([right, down], 4.0, 8.0, color);
    }
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
    let (low, high) = extent(points);
    sub(high, low)
}

#[cfg(test)]
mod tests;
