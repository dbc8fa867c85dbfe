//! The skin as the report carries it: small, and quick for a browser to unpack.
//!
//! Every number of a vertex is quantised to 16 bits over its range, `q = round(65535 (v - low) / (high - low))`, so it
//! is off by at most `(high - low) / 131070`: too little to see on a screen of a few thousand pixels. Numbers of a kind
//! stand together, each as its difference to the one before (modulo 2^16), low bytes first, then high bytes; triangles
//! and lines are node numbers, each as its difference to the one before, in zigzag form and base 128. All of it is
//! deflated.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;

use super::thin::{self, Surface};
use crate::output::picture::Shown;
use crate::output::picture::colormap::{self, Rgb};
use crate::output::picture::scene::{Edge, NONE, Scene, corners};
use crate::output::picture::shapes::Shape;
use crate::output::picture::symbols::Symbol;
use crate::result::{Quantity, Units};
use warpfem_text::visible;

/// Above this many vertices the skin is thinned. With incompressible values it then takes some 4 MB as text.
pub(super) const MOST_VERTICES: usize = 90_000;
/// The most vertices of each of several skins in a page.
pub(in crate::output) fn most_vertices(n_skins: usize) -> usize {
    (MOST_VERTICES / n_skins).max(LEAST_VERTICES)
}

/// However many skins there are, each may have so many.
const LEAST_VERTICES: usize = 15_000;
/// Up to this many faces the edges of the elements are carried.
const MOST_FACES_WITH_EDGES: usize = 20_000;
/// Steps of 16 bits.
const STEPS: f64 = 65535.0;

pub(in crate::output) struct Skin {
    /// Counts, ranges and how to show it, as JSON.
    pub header: String,
    /// The numbers, deflated.
    pub packed: Vec<u8>,
    /// What was left out, for the reader; empty if nothing was.
    pub note: String,
}

/// Numbers of one kind, one per vertex, and their range.
struct Plane {
    range: [f64; 2],
    values: Vec<u16>,
}

impl Plane {
    fn new(values: impl Iterator<Item = f64> + Clone) -> Plane {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
        let span = high - low;
        let quantise = |v: f64| if span > 0.0 { ((v - low) / span * STEPS).round() as u16 } else { 0 };
        let range = if low <= high { [low, high] } else { [0.0; 2] };
        Plane { range, values: values.map(quantise).collect() }
    }

    /// Differences, as low bytes and then high bytes.
    fn write(&self, out: &mut Vec<u8>) {
        let before = std::iter::once(0).chain(self.values.iter().copied());
        let steps: Vec<u16> = self.values.iter().zip(before).map(|(v, before)| v.wrapping_sub(before)).collect();
        out.extend(steps.iter().map(|step| *step as u8));
        out.extend(steps.iter().map(|step| (step >> 8) as u8));
    }
}

impl Skin {
    /// Packs what is shown, with at most so many vertices. `revolved`: it is a section, which the reader may sweep round
    /// the axis.
    pub(in crate::output) fn pack(shown: &Shown, units: Option<Units>, revolved: bool, most: usize) -> Skin {
        let scene = &shown.scene;
        let whole = surface(scene);
        let (n_vertices, n_edges) = (whole.vertices.len(), whole.edges.len());
        let surface = if n_vertices > most { thin::thin(scene, whole, most) } else { whole };
        let note = match surface.vertices.len() < n_vertices {
            true => format!(
                "Simplified: {} of the skin's {n_vertices} nodes are shown here. The picture, the table and the VTU file have \
                 all of them.",
                surface.vertices.len()
            ),
            false => String::new(),
        };
        let (planes, fields) = planes(scene, &surface);
        let (fields, measured): (Vec<&str>, Vec<Quantity>) = fields.into_iter().unzip();
        let mut bytes = Vec::new();
        planes.iter().for_each(|plane| plane.write(&mut bytes));
        let mut last = 0;
        let lines = surface.outline.iter().chain(&surface.edges);
        let numbers = surface.triangles.iter().flatten().chain(lines.flatten());
        numbers.for_each(|&number| write_step(&mut bytes, &mut last, number));
        let ranges: Vec<[f64; 2]> = planes.iter().map(|plane| plane.range).collect();
        let map = colormap::stress();
        let label = |quantity| units.and_then(|units| units.label(quantity));
        let colors: String = map.colors.iter().map(hex).collect();
        let header = json!({
            "vertices": surface.vertices.len(), "triangles": surface.triangles.len(),
            "outline": surface.outline.len(), "edges": surface.edges.len(), "bytes": bytes.len(),
            "ranges": ranges, "scale": shown.scale, "axes": shown.view().axes, "colors": colors,
            "fields": fields, "labels": measured.into_iter().map(label).collect::<Vec<_>>(),
            "moves": shown.largest > 0.0, "fewEdges": n_edges > 0, "largest": shown.largest,
            "cap": shown.colors.above.map(|_| shown.colors.range[1]), "above": hex(&map.above),
            "symbols": symbols(shown), "gravity": shown.gravity, "revolved": revolved,
            "units": { "length": label(Quantity::Length), "stress": label(Quantity::Stress) },
        });
        Skin { header: header.to_string().replace('<', "\\u003c"), packed: deflate(&bytes), note }
    }
}

fn hex(color: &Rgb) -> String {
    color.iter().map(|c| format!("{c:02x}")).collect()
}

/// The solids of symbols, and for each group its colour, what it says, and where which solid stands in which direction:
/// coordinates, displacement and direction one after the other.
fn symbols(shown: &Shown) -> serde_json::Value {
    let number = |shape: Shape| Shape::ALL.iter().position(|&of| of == shape);
    let solid = |shape: Shape| {
        let solid = shape.solid();
        json!({ "points": solid.points, "triangles": solid.faces.iter().flat_map(triangles).collect::<Vec<_>>() })
    };
    let placed = |symbol: &Symbol| {
        let (scene, node) = (&shown.scene, symbol.node as usize);
        let numbers = [scene.rest[node], scene.displacement[node], symbol.along].concat();
        json!([number(symbol.shape), numbers])
    };
    let groups = shown.groups.iter().map(|group| {
        let symbols: Vec<_> = group.symbols.iter().map(placed).collect();
        json!({ "label": visible(&group.label), "color": hex(&group.color), "symbols": symbols })
    });
    json!({ "solids": Shape::ALL.map(solid), "groups": groups.collect::<Vec<_>>() })
}

/// Coordinates, displacements, then the scalars, and their names and what they measure. Further scalars that are 0
/// everywhere, as are components of stress in the plane, are left out.
fn planes<'a>(scene: &'a Scene, surface: &Surface) -> (Vec<Plane>, Vec<(&'a str, Quantity)>) {
    let nodes = || surface.vertices.iter().map(|&node| node as usize);
    let vector = |values: &[[f64; 3]]| [0, 1, 2].map(|c| Plane::new(nodes().map(|node| values[node][c])));
    let mut planes: Vec<Plane> = vector(&scene.rest).into_iter().chain(vector(&scene.displacement)).collect();
    let mut names = Vec::new();
    for (i, (name, quantity, values)) in scene.scalars.iter().enumerate() {
        let plane = Plane::new(nodes().map(|node| values[node]));
        if i == 0 || plane.range != [0.0; 2] {
            planes.push(plane);
            names.push((name.as_str(), *quantity));
        }
    }
    (planes, names)
}

/// A face as one triangle or two.
fn triangles(face: &[u32; 4]) -> impl Iterator<Item = [u32; 3]> {
    let &[a, b, c, d] = face;
    [[a, b, c], [a, c, d]].into_iter().take(corners(face).len() - 2)
}

/// All of a scene: its nodes in the order in which faces need them, so that numbers in succession are close.
fn surface(scene: &Scene) -> Surface {
    let mut number = vec![NONE; scene.rest.len()];
    let mut surface = Surface { vertices: vec![], triangles: vec![], outline: vec![], edges: vec![] };
    // Where a largest value is inside, its node is for its mark.
    for &node in scene.faces.iter().flat_map(corners).chain(&scene.peaks) {
        if number[node as usize] == NONE {
            number[node as usize] = surface.vertices.len() as u32;
            surface.vertices.push(node);
        }
    }
    let numbered = |triangle: [u32; 3]| triangle.map(|node| number[node as usize]);
    surface.triangles = scene.faces.iter().flat_map(triangles).map(numbered).collect();
    surface.outline = scene.outline.iter().map(|edge| edge.map(|node| number[node as usize])).collect();
    if scene.faces.len() <= MOST_FACES_WITH_EDGES {
        let smooth = scene.faces.iter().zip(&scene.edges).flat_map(|(face, kinds)| {
            let n = corners(face).len();
            (0..n).filter(|&k| kinds[k] == Edge::Smooth).map(move |k| [face[k], face[(k + 1) % n]])
        });
        let numbered = smooth.map(|edge| edge.map(|node| number[node as usize]));
        surface.edges = numbered.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        surface.edges.sort_unstable();
        surface.edges.dedup();
    }
    surface
}

/// Appends `number - last` in zigzag form, seven bits a byte, the lowest first; the eighth says that more follow.
fn write_step(out: &mut Vec<u8>, last: &mut u32, number: u32) {
    let step = i64::from(number) - i64::from(*last);
    *last = number;
    let mut zigzag = ((step << 1) ^ (step >> 63)) as u64;
    while zigzag >= 128 {
        out.push(zigzag as u8 | 128);
        zigzag >>= 7;
    }
    out.push(zigzag as u8);
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(5));
    // Writing to a vector does not fail.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

#[cfg(test)]
#[path = "skin_tests.rs"]
mod tests;
