//! Draws symbols into a frame, and their legend below the part.

use super::canvas::{Canvas, Font};
use super::colormap::{Map, Rgb, SIZE};
use super::project::View;
use super::raster::{Drawing, Frame};
use super::scene::{Edge, NONE, normal};
use super::shapes::{Shape, frame};
use super::symbols::{GRAVITY, Group, Symbol};
use super::{IN_FRONT, SAMPLES, Shown, canvas, lit};
use crate::mesh::vector::{dot, unit};
use warpfem_text::visible;

/// How much nearer a symbol counts than its node, in pixels.
const LEAD: f32 = 8.0;
/// How much of the colour of a symbol is white if the whole group is behind the part.
const PALE: f32 = 0.45;
/// Rows of the legend: their height, and their greatest number.
const ROW: f32 = 30.0;
const MOST_ROWS: usize = 4;
/// The text of an entry is cut off after so many characters.
const MOST_CHARACTERS: usize = 48;
const INK: Rgb = [30, 30, 36];

/// The solids of symbols, as faces in samples.
struct Solids {
    points: Vec<[f32; 3]>,
    t: Vec<f32>,
    faces: Vec<[u32; 4]>,
    edges: Vec<[Edge; 4]>,
    shades: Vec<f32>,
    map: Map,
    colors: usize,
}

impl Solids {
    fn new() -> Solids {
        let map = Map { colors: [[0; 3]; SIZE], above: [0; 3] };
        Solids { points: vec![], t: vec![], faces: vec![], edges: vec![], shades: vec![], map, colors: 0 }
    }

    /// The place of a further colour in the map; after many the last is used again.
    fn color(&mut self, color: Rgb) -> f32 {
        let i = self.colors.min(SIZE - 1);
        self.map.colors[i] = color;
        self.colors += 1;
        i as f32 / (SIZE - 1) as f32
    }

    /// Adds `shape` at a place in pixels, with its axes as seen: right, up and towards the eye.
    fn add(&mut self, shape: Shape, at: [f32; 3], axes: [[f64; 3]; 3], t: f32) {
        let (solid, first) = (shape.solid(), self.points.len() as u32);
        let turned = |p: &[f64; 3]| std::array::from_fn(|c| (0..3).map(|k| p[k] * axes[k][c]).sum());
        let turned: Vec<[f64; 3]> = solid.points.iter().map(turned).collect();
        let samples = SAMPLES as f32;
        self.points.extend(
            turned
                .iter()
                .map(|p| [samples * (at[0] + p[0] as f32), samples * (at[1] - p[1] as f32), at[2] + p[2] as f32]),
        );
        self.t.extend(turned.iter().map(|_| t));
        self.shades.extend(solid.faces.iter().map(|face| lit(normal(&turned, face))));
        let shift = |node: u32| if node == NONE { NONE } else { node + first };
        self.faces.extend(solid.faces.iter().map(|face| face.map(shift)));
        self.edges.extend(solid.edges);
    }

    fn draw(self, frame: &mut Frame) {
        let plain = Drawing::plain(self.points, &self.t, &self.faces, &self.map);
        Drawing { edges: &self.edges, shades: &self.shades, ..plain }.render_on(frame);
    }
}

/// A direction as seen: right, up and towards the eye.
fn seen(view: &View, v: [f64; 3]) -> [f64; 3] {
    view.axes.map(|axis| dot(v, axis))
}

/// Draws the symbols of all groups; one that is wholly behind the part shines through, paler.
pub(super) fn draw(frame: &mut Frame, shown: &Shown, view: &View) {
    let [mut there, mut behind] = [Solids::new(), Solids::new()];
    for group in &shown.groups {
        let is_seen =
            group.symbols.iter().any(|symbol| is_seen(frame, view.project(shown.deformed[symbol.node as usize])));
        let (solids, color) = match is_seen {
            true => (&mut there, group.color),
            false => (&mut behind, canvas::mix(group.color, [255; 3], PALE)),
        };
        let t = solids.color(color);
        group.symbols.iter().for_each(|symbol| add(solids, shown, view, symbol, t));
    }
    // In front of all, but one before the other as they are.
    let nearest = frame.depth.iter().copied().filter(|depth| depth.is_finite()).fold(0.0, f32::max);
    let farthest = behind.points.iter().map(|p| p[2]).fold(f32::INFINITY, f32::min);
    behind.points.iter_mut().for_each(|p| p[2] += nearest - farthest);
    there.draw(frame);
    behind.draw(frame);
}

fn add(solids: &mut Solids, shown: &Shown, view: &View, symbol: &Symbol, t: f32) {
    let [right, down, near] = view.project(shown.deformed[symbol.node as usize]);
    solids.add(symbol.shape, [right, down, near + LEAD], local(symbol.along).map(|axis| seen(view, axis)), t);
}

fn local(along: [f64; 3]) -> [[f64; 3]; 3] {
    if along == [0.0; 3] { frame([1.0, 0.0, 0.0]) } else { frame(along) }
}

/// Whether no face is in front of a place in pixels.
pub(super) fn is_seen(frame: &Frame, [right, down, near]: [f32; 3]) -> bool {
    let (x, y, height) = (right as i64, down as i64, frame.color.len() / frame.width);
    let inside = x >= 0 && y >= 0 && (x as usize) < frame.width / SAMPLES && (y as usize) < height / SAMPLES;
    !inside || frame.depth[y as usize * SAMPLES * frame.width + x as usize * SAMPLES] <= near + IN_FRONT
}

/// An entry of the legend: its symbol, what it says, and its place from the legend's top left.
struct Entry {
    shape: Shape,
    color: Rgb,
    text: String,
    at: [f32; 2],
}

/// The legend, laid out in rows.
pub(super) struct Legend {
    entries: Vec<Entry>,
    /// In pixels; 0 if it is empty.
    pub height: f32,
}

impl Legend {
    /// What stands for the groups and gravity, in `width` pixels.
    pub(super) fn new(groups: &[Group], gravity: Option<&([f64; 3], String)>, width: f32) -> Legend {
        let gravity = gravity.map(|(_, label)| (Shape::Pull, GRAVITY, label.clone()));
        let all = groups.iter().map(|group| (group.shape, group.color, visible(&group.label).into_owned()));
        let (mut entries, mut left, mut top) = (Vec::new(), 0.0, 0.0);
        let all: Vec<_> = all.chain(gravity).collect();
        let n = all.len();
        for (i, (shape, color, text)) in all.into_iter().enumerate() {
            let text = super::legend::shorten(&text, MOST_CHARACTERS);
            let icon = if matches!(shape, Shape::Push | Shape::Pull) { 56.0 } else { 26.0 };
            let size = icon + Font::Plain.width(&text) + 36.0;
            if left > 0.0 && left + size > width {
                (left, top) = (0.0, top + ROW);
            }
            if top >= MOST_ROWS as f32 * ROW {
                entries.push(Entry { shape, color: [255; 3], text: format!("and {} more", n - i), at: [0.0, top] });
                break;
            }
            entries.push(Entry { shape, color, text, at: [left, top] });
            left += size;
        }
        let height = if entries.is_empty() { 0.0 } else { top + ROW + 10.0 };
        Legend { entries, height }
    }

    /// Draws the symbols of the legend, and gravity's arrow at the place `corner`.
    pub(super) fn draw(&self, frame: &mut Frame, view: &View, at: [f32; 2], gravity: Option<([f64; 3], [f32; 2])>) {
        let mut solids = Solids::new();
        for entry in self.entries.iter().filter(|entry| entry.color != [255; 3]) {
            let t = solids.color(entry.color);
            let [x, y] = [at[0] + entry.at[0], at[1] + entry.at[1] + ROW / 2.0];
            let (x, axes) = match entry.shape {
                Shape::Push => (x + 48.0, local([1.0, 0.0, 0.0])),
                Shape::Pull => (x + 2.0, local([1.0, 0.0, 0.0])),
                Shape::Cone => (x + 10.0, local([0.0, -1.0, 0.0])),
                _ => (x + 10.0, local([1.0, 0.0, 0.0]).map(|axis| seen(view, axis))),
            };
            let y = if entry.shape == Shape::Cone { y - 8.0 } else { y };
            solids.add(entry.shape, [x, y, 1e6], axes, t);
        }
        if let Some((g, [x, y])) = gravity {
            let t = solids.color(GRAVITY);
            let axes = local(unit(g)).map(|axis| seen(view, axis));
            solids.add(Shape::Pull, [x, y, 1e6], axes, t);
        }
        solids.draw(frame);
    }

    /// Writes what the symbols mean.
    pub(super) fn write(&self, canvas: &mut Canvas, [x, y]: [f32; 2]) {
        for entry in &self.entries {
            let icon = match entry.shape {
                _ if entry.color == [255; 3] => 0.0,
                Shape::Push | Shape::Pull => 58.0,
                _ => 26.0,
            };
            let corner = [x + entry.at[0] + icon, y + entry.at[1] + (ROW - Font::Plain.height()) / 2.0];
            canvas.text(Font::Plain, corner, &entry.text, INK);
        }
    }
}
