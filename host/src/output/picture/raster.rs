//! A z-buffer rasteriser for shaded faces and for lines, in horizontal bands that are drawn in parallel.
//!
//! Depth grows towards the eye. Lines along faces are not drawn as lines: a sample that is near an edge of its face is
//! darkened, so that no depth offset can let an edge through that is hidden. A band draws its faces in their given
//! order, so the picture does not depend on the number of threads.

use super::canvas::{Canvas, mix};
use super::colormap::{Map, Rgb, pick};
use super::scene::{Edge, corners};
use crate::parallel;

const BAND: usize = 32;
/// How much nearer a line counts than it is, in pixels: enough to win over a face it lies in.
const LINE_LEAD: f32 = 2.0;
const BACKGROUND: Rgb = [255; 3];
pub(super) const EDGE_COLOR: Rgb = [20, 20, 30];

#[derive(Debug, Clone, Copy)]
struct Pen {
    /// Width of the line inside the face, in samples.
    reach: f64,
    /// Share of the line's colour.
    strength: f64,
}
const NO_PEN: Pen = Pen { reach: 0.0, strength: 0.0 };
const SMOOTH_PEN: Pen = Pen { reach: 0.5, strength: 0.35 };
const FEATURE_PEN: Pen = Pen { reach: 1.5, strength: 0.7 };

pub(super) struct Drawing<'a> {
    /// Corners in samples: right, down, towards the eye; `[n][3]`.
    pub points: Vec<[f32; 3]>,
    /// Position in the colour map, 0 to 1, or beyond, `[n]`.
    pub t: &'a [f32],
    /// Faces of three or four corners, `[n_faces][4]`.
    pub faces: &'a [[u32; 4]],
    /// Kinds of their edges, `[n_faces][4]`; empty to draw none.
    pub edges: &'a [[Edge; 4]],
    pub smooth_edges: bool,
    /// Brightness, `[n_faces]`; empty for full.
    pub shades: &'a [f32],
    /// Free lines, hidden where faces are nearer.
    pub lines: Vec<Line>,
    pub map: &'a Map,
}

/// A straight line between two points, in samples.
#[derive(Clone)]
pub(super) struct Line {
    pub ends: [[f32; 3]; 2],
    pub color: Rgb,
}

/// Samples, `[height][width]` from the top left.
pub(super) struct Frame {
    pub width: usize,
    /// Depth of the nearest face; minus infinity where there is none.
    pub depth: Vec<f32>,
    pub color: Vec<Rgb>,
}

struct Band<'a> {
    first: usize,
    width: usize,
    depth: &'a mut [f32],
    color: &'a mut [Rgb],
}

impl<'a> Drawing<'a> {
    /// Faces without edges, all of full brightness.
    pub(super) fn plain(points: Vec<[f32; 3]>, t: &'a [f32], faces: &'a [[u32; 4]], map: &'a Map) -> Drawing<'a> {
        Drawing { points, t, faces, map, edges: &[], smooth_edges: false, shades: &[], lines: vec![] }
    }

    /// Draws it into `width` by `height` samples.
    pub(super) fn render(&self, width: usize, height: usize) -> Frame {
        let (depth, color) = (vec![f32::NEG_INFINITY; width * height], vec![BACKGROUND; width * height]);
        let mut frame = Frame { width, depth, color };
        self.render_on(&mut frame);
        frame
    }

    /// Draws it where it is nearer than what the frame has.
    pub(super) fn render_on(&self, frame: &mut Frame) {
        let Frame { width, ref mut depth, ref mut color } = *frame;
        let bins = self.bins((depth.len() / width).div_ceil(BAND));
        let bands = depth.chunks_mut(BAND * width).zip(color.chunks_mut(BAND * width)).zip(&bins);
        parallel::map(bands.enumerate(), &|(i, ((depth, color), bin))| {
            let mut band = Band { first: i * BAND, width, depth, color };
            bin.iter().for_each(|&face| self.face(&mut band, face as usize));
            self.lines.iter().for_each(|line| band.line(line));
        });
    }

    /// The faces that may touch each band, ascending.
    fn bins(&self, n_bands: usize) -> Vec<Vec<u32>> {
        let mut bins = vec![Vec::new(); n_bands];
        for (i, face) in self.faces.iter().enumerate() {
            let rows = corners(face).iter().map(|&p| self.points[p as usize][1]);
            let (low, high) = rows.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)));
            if high >= 0.0 {
                let bands = low.max(0.0) as usize / BAND..=high as usize / BAND;
                bands.take_while(|&band| band < n_bands).for_each(|band| bins[band].push(i as u32));
            }
        }
        bins
    }

    /// Draws the part of a face that is in `band`, a quadrilateral as two triangles.
    fn face(&self, band: &mut Band, i: usize) {
        let face = &self.faces[i];
        let pen = |k: usize| match self.edges.get(i).map(|edges| edges[k]) {
            Some(Edge::Feature) => FEATURE_PEN,
            Some(Edge::Smooth) if self.smooth_edges => SMOOTH_PEN,
            _ => NO_PEN,
        };
        let shade = self.shades.get(i).copied().unwrap_or(1.0);
        if corners(face).len() == 3 {
            self.triangle(band, [face[0], face[1], face[2]], [pen(0), pen(1), pen(2)], shade);
        } else {
            self.triangle(band, [face[0], face[1], face[2]], [pen(0), pen(1), NO_PEN], shade);
            self.triangle(band, [face[0], face[2], face[3]], [NO_PEN, pen(2), pen(3)], shade);
        }
    }

    /// Draws the part of a triangle in `band`, with `pens` for its edges 01, 12, 20.
    fn triangle(&self, band: &mut Band, nodes: [u32; 3], pens: [Pen; 3], shade: f32) {
        let p = nodes.map(|node| self.points[node as usize].map(f64::from));
        let t = nodes.map(|node| self.t[node as usize]);
        // Twice the signed area, then the barycentric coordinates as functions a x + b y + c of the sample.
        let area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
        if area.abs() < 1e-9 {
            return;
        }
        let coordinate: [[f64; 3]; 3] = std::array::from_fn(|k| {
            let (q, r) = (p[(k + 1) % 3], p[(k + 2) % 3]);
            [(q[1] - r[1]) / area, (r[0] - q[0]) / area, (q[0] * r[1] - r[0] * q[1]) / area]
        });
        let heights = coordinate.map(|[a, b, _]| 1.0 / a.hypot(b));
        // Edge 12 is opposite corner 0, and so on.
        let pens = [pens[1], pens[2], pens[0]];
        band.samples(&p, |at, x, y| {
            let w = coordinate.map(|[a, b, c]| a * x + b * y + c);
            // A little beyond the edge, so that no gap is left between neighbours.
            if w.iter().any(|&w| w < -1e-7) {
                return None;
            }
            let depth = (w[0] * p[0][2] + w[1] * p[1][2] + w[2] * p[2][2]) as f32;
            if depth <= at {
                return None;
            }
            let ink = |k: usize| pens[k].strength * (pens[k].reach + 0.5 - w[k] * heights[k]).clamp(0.0, 1.0);
            let value = (0..3).map(|k| w[k] as f32 * t[k]).sum();
            let color = pick(self.map, value).map(|c| (f32::from(c) * shade) as u8);
            Some((depth, mix(color, EDGE_COLOR, ink(0).max(ink(1)).max(ink(2)) as f32)))
        });
    }
}

impl Band<'_> {
    /// Calls `paint` with depth and position of every sample in the bounding box of `p`, and sets what it returns.
    fn samples(&mut self, p: &[[f64; 3]; 3], paint: impl Fn(f32, f64, f64) -> Option<(f32, Rgb)>) {
        let range = |i: usize, from: usize, to: usize| {
            let (low, high) = p.iter().fold((f64::MAX, f64::MIN), |(l, h), q| (l.min(q[i]), h.max(q[i])));
            from.max((low - 0.5).max(0.0) as usize)..to.min((high + 1.5).max(0.0) as usize)
        };
        for y in range(1, self.first, self.first + self.depth.len() / self.width) {
            for x in range(0, 0, self.width) {
                let i = (y - self.first) * self.width + x;
                let [right, down] = place(x, y);
                if let Some((depth, color)) = paint(self.depth[i], right, down) {
                    (self.depth[i], self.color[i]) = (depth, color);
                }
            }
        }
    }

    /// Draws the part of a line in this band, two samples wide, where no face is nearer.
    fn line(&mut self, line: &Line) {
        let [a, b] = line.ends;
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = dx.hypot(dy);
        let rows = self.depth.len() / self.width;
        let (low, high) = (a[1].min(b[1]) - 2.0, a[1].max(b[1]) + 2.0);
        if length < 1e-3 || high < self.first as f32 || low > (self.first + rows) as f32 {
            return;
        }
        for row in 0..rows {
            let y = (self.first + row) as f32 + 0.5;
            // Where the row crosses the strip of half width 1.5 around the line, and the ends.
            let (middle, reach) =
                if dy.abs() > 1e-3 { (a[0] + (y - a[1]) * dx / dy, 1.5 * length / dy.abs()) } else { (a[0], f32::MAX) };
            let from = (middle - reach).max(a[0].min(b[0]) - 2.0).max(0.0) as usize;
            let to = (middle + reach).min(a[0].max(b[0]) + 2.0).max(-1.0) + 1.0;
            for x in from..self.width.min(to as usize) {
                let (px, py) = (x as f32 + 0.5 - a[0], y - a[1]);
                let along = (px * dx + py * dy) / (length * length);
                let off = (px * dy - py * dx).abs() / length;
                let i = row * self.width + x;
                let depth = a[2] + along * (b[2] - a[2]) + LINE_LEAD;
                if (0.0..=1.0).contains(&along) && depth > self.depth[i] {
                    self.color[i] = mix(self.color[i], line.color, (1.5 - off).clamp(0.0, 1.0));
                }
            }
        }
    }
}

/// Where a sample is taken: in a turned square among four neighbours, so that an edge that is nearly level or upright
/// gets five shades from them and not three.
fn place(x: usize, y: usize) -> [f64; 2] {
    let side = |odd: bool| if odd { 0.75 } else { 0.25 };
    [x as f64 + side(y.is_multiple_of(2)), y as f64 + side(!x.is_multiple_of(2))]
}

impl Frame {
    /// The mean colours of squares of `n` by `n` samples.
    pub(super) fn resolve(&self, n: usize) -> Canvas {
        let (width, height) = (self.width / n, self.color.len() / self.width / n);
        let pixel = |i: usize| {
            let (x, y) = (i % width * n, i / width * n);
            let samples = (0..n * n).map(|k| self.color[(y + k / n) * self.width + x + k % n]);
            let sum = samples.fold([0u32; 3], |sum, c| std::array::from_fn(|k| sum[k] + u32::from(c[k])));
            sum.map(|c| (c / (n * n) as u32) as u8)
        };
        Canvas { width, height, pixels: parallel::map_indices(width * height, &pixel) }
    }
}

#[cfg(test)]
#[path = "raster_tests.rs"]
mod tests;
