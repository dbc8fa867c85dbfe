//! Plots as SVG files that stand alone: white ground, axes with units, a legend beside the plot.
//!
//! The HTML report's drawings take their colours from their page; these have their own, so that they read the same on
//! any page.

use std::fmt::Write;
use warpfem_text::{count, escape, number};

/// Width and height; the legend's width on the right, and what labels take on the left, above and below.
const SIZE: [f64; 2] = [820.0, 440.0];
const LEGEND: f64 = 190.0;
const LEFT: f64 = 76.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;

/// Colours that are told apart also by those who do not see all (Okabe and Ito).
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a8500"];

/// Dashes of curves: each leaves what is under it to be seen, and the first is drawn first.
const CURVES: [&str; 5] = [
    "",
    " stroke-dasharray=\"7 5\"",
    " stroke-dasharray=\"2 4\"",
    " stroke-dasharray=\"10 4 2 4\"",
    " stroke-dasharray=\"14 5\"",
];

/// One axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What it is, with its unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
}

impl Axis {
    /// A logarithmic axis.
    pub fn log(label: &str) -> Axis {
        Axis { label: label.into(), log: true }
    }

    /// A linear axis.
    pub fn linear(label: &str) -> Axis {
        Axis { label: label.into(), log: false }
    }
}

/// What joins the points of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A line through marks.
    Line,
    /// A line without marks, dashed so that one shows under another.
    Curve,
    /// Marks alone.
    Marks,
    /// A broken line without marks, in grey: a bound.
    Bound,
}

/// Points with a name.
#[derive(Debug, Clone)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    pub style: Style,
    /// Words beside some of the points: on the right of them, or on the left.
    pub notes: Vec<Note>,
}

/// A word beside a point.
#[derive(Debug, Clone)]
pub struct Note {
    pub at: (f64, f64),
    pub text: String,
    pub on_the_left: bool,
}

impl Series {
    /// Those points that have both coordinates.
    pub fn new(name: &str, style: Style, points: impl IntoIterator<Item = (Option<f64>, Option<f64>)>) -> Series {
        let points = points.into_iter().filter_map(|(x, y)| Some((x?, y?))).collect();
        Series { name: name.into(), points, style, notes: Vec::new() }
    }
}

/// Curves over one pair of axes.
#[derive(Debug, Clone)]
pub struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

/// An axis between two values, on its place in the picture.
struct Scale {
    log: bool,
    low: f64,
    high: f64,
    /// Where `low` and `high` are.
    from: f64,
    to: f64,
}

impl Scale {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let put = |value: f64| if axis.log { value.log10() } else { value };
        let (mut low, mut high) =
            values.map(put).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if axis.log {
            // A little air, so that no mark lies on the frame.
            (low, high) = (low - 0.08, high + 0.08);
        } else {
            (low, high) = (low.min(0.0), high * 1.05);
        }
        if high <= low {
            high = low + 1.0;
        }
        Scale { log: axis.log, low, high, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Values to be labelled.
    fn ticks(&self) -> Vec<f64> {
        if !self.log {
            let step = nice((self.high - self.low) / 6.0);
            let first = (self.low / step).ceil() as i64;
            return (first..).map(|i| i as f64 * step).take_while(|tick| *tick <= self.high).collect();
        }
        let decades = self.low.floor() as i32..=self.high.ceil() as i32;
        let per_decade: &[f64] = if self.high - self.low > 2.2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let every = ((self.high - self.low) / 9.0).ceil().max(1.0) as i32;
        let all = decades.filter(|power| power.rem_euclid(every) == 0);
        let all = all.flat_map(|power| per_decade.iter().map(move |digit| digit * 10f64.powi(power)));
        all.filter(|tick| (self.low..=self.high).contains(&tick.log10())).collect()
    }
}

/// 1, 2 or 5 times a power of ten, about as large as `step`.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let digits = [1.0, 2.0, 5.0, 10.0];
    power * digits.into_iter().find(|digit| digit * power >= step).unwrap_or(10.0)
}

/// A tick's label.
fn label(value: f64) -> String {
    match value.abs() {
        v if (1e3..1e7).contains(&v) => count(value.round() as usize),
        _ => number(value, 3),
    }
}

impl Chart {
    /// The picture; nothing if there is no point to draw.
    pub fn svg(&self) -> Option<String> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        points().next()?;
        let x = Scale::new(&self.x, points().map(|point| point.0), LEFT, SIZE[0] - LEGEND);
        let y = Scale::new(&self.y, points().map(|point| point.1), SIZE[1] - BOTTOM, TOP);
        let mut out = frame(&self.title, SIZE[1]);
        self.draw_axes(&mut out, &x, &y);
        let mut colours = 0;
        for (i, series) in self.series.iter().filter(|series| !series.points.is_empty()).enumerate() {
            let is_bound = series.style == Style::Bound;
            draw(&mut out, series, (&x, &y), colours, TOP + 14.0 + 20.0 * i as f64);
            colours += usize::from(!is_bound);
        }
        Some(out + "</svg>\n")
    }

    fn draw_axes(&self, out: &mut String, x: &Scale, y: &Scale) {
        let (left, right, bottom, top) = (x.from, x.to, y.from, y.to);
        // Writing to a string does not fail.
        for tick in x.ticks() {
            let at = x.at(tick);
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>");
            let _ = writeln!(
                out,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 17.0,
                label(tick)
            );
        }
        for tick in y.ticks() {
            let at = y.at(tick);
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>");
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 7.0,
                at + 4.0,
                label(tick)
            );
        }
        let _ = writeln!(out, "<path class=\"frame\" d=\"M{left:.1} {top:.1}H{right:.1}V{bottom:.1}H{left:.1}Z\"/>");
        let (middle, height) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let _ = writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 40.0,
            escape(&self.x.label)
        );
        let _ = writeln!(
            out,
            "<text transform=\"translate(16 {height:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(&self.y.label)
        );
    }
}

/// What all pictures look like.
const STYLE: &str = "text{font:12px sans-serif;fill:#222}.head{font-size:14px;font-weight:bold}.note{font-size:10px}\
    .grid{stroke:#ddd;fill:none}.frame{stroke:#444;fill:none}";

/// The beginning of a picture of some height.
fn frame(title: &str, height: f64) -> String {
    let (width, title) = (SIZE[0], escape(title));
    let size = format!("width=\"{width}\" height=\"{height}\"");
    [
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" {size} role=\"img\">\n"),
        format!("<title>{title}</title>\n<style>{STYLE}</style>\n<rect {size} fill=\"#fff\"/>\n"),
        format!("<text class=\"head\" x=\"{LEFT}\" y=\"24\">{title}</text>\n"),
    ]
    .concat()
}

/// A series, and its line in the legend at height `at`.
fn draw(out: &mut String, series: &Series, (x, y): (&Scale, &Scale), index: usize, at: f64) {
    let is_bound = series.style == Style::Bound;
    let colour = if is_bound { "#777" } else { COLOURS[index % COLOURS.len()] };
    let dash = match (series.style, index / COLOURS.len()) {
        (Style::Bound, _) => " stroke-dasharray=\"6 4\"",
        (Style::Curve, _) => CURVES[index % CURVES.len()],
        (_, 0) => "",
        _ => " stroke-dasharray=\"2 3\"",
    };
    let places: Vec<(f64, f64)> = series.points.iter().map(|point| (x.at(point.0), y.at(point.1))).collect();
    let key = SIZE[0] - LEGEND + 14.0;
    if series.style != Style::Marks {
        let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let stroke = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"{dash}");
        let _ = writeln!(out, "<path {stroke} d=\"M{}\"/>", line.join("L"));
        let _ = writeln!(out, "<path {stroke} d=\"M{key:.1} {at:.1}H{:.1}\"/>", key + 24.0);
    }
    if !is_bound && series.style != Style::Curve {
        for (x, y) in places.into_iter().chain([(key + 12.0, at)]) {
            let _ = writeln!(out, "{}", mark(index, x, y, colour));
        }
    }
    for Note { at, text, on_the_left } in &series.notes {
        let (side, anchor) = if *on_the_left { (-7.0, "end") } else { (7.0, "start") };
        let _ = writeln!(
            out,
            "<text class=\"note\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x.at(at.0) + side,
            y.at(at.1) + 4.0,
            escape(text)
        );
    }
    let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", key + 31.0, at + 4.0, escape(&series.name));
}

/// A mark whose shape tells series apart where colours do not.
fn mark(index: usize, x: f64, y: f64, colour: &str) -> String {
    // With more series than colours the shapes of the second round are other ones.
    match (index + index / COLOURS.len()) % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.6\" fill=\"{colour}\"/>"),
        1 => {
            format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6.6\" height=\"6.6\" fill=\"{colour}\"/>", x - 3.3, y - 3.3)
        }
        2 => format!("<path d=\"M{x:.1} {:.1}l4.4 7.6h-8.8z\" fill=\"{colour}\"/>", y - 4.6),
        _ => format!("<path d=\"M{x:.1} {:.1}l4.6 4.6l-4.6 4.6l-4.6 -4.6z\" fill=\"{colour}\"/>", y - 4.6),
    }
}

/// A bar of several parts.
#[derive(Debug, Clone)]
pub struct Bar {
    pub name: String,
    /// The parts' values, in the order of their names.
    pub parts: Vec<f64>,
    /// What is written behind it.
    pub note: String,
}

/// Bars of shares, each as long as the others: the parts of a whole, whose note stands on the right. Nothing without
/// bars.
pub fn shares(title: &str, parts: &[&str], bars: &[Bar]) -> Option<String> {
    if bars.is_empty() {
        return None;
    }
    let (row, names) = (24.0, 210.0);
    let height = TOP + 30.0 + row * bars.len() as f64 + 32.0;
    let width = SIZE[0] - names - 120.0;
    let mut out = frame(title, height);
    let mut key = names;
    for (i, part) in parts.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let _ =
            writeln!(out, "<rect x=\"{key:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>", TOP - 2.0);
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", key + 17.0, TOP + 8.0, escape(part));
        key += 32.0 + 6.6 * part.chars().count() as f64;
    }
    for (i, bar) in bars.iter().enumerate() {
        let top = TOP + 24.0 + row * i as f64;
        let sum: f64 = bar.parts.iter().sum();
        let mut left = names;
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            names - 8.0,
            top + 13.0,
            escape(&bar.name)
        );
        for (j, part) in bar.parts.iter().enumerate() {
            let long = if sum > 0.0 { part / sum * width } else { 0.0 };
            let colour = COLOURS[j % COLOURS.len()];
            let _ = writeln!(
                out,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{long:.1}\" height=\"17\" fill=\"{colour}\"/>"
            );
            left += long;
        }
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            names + width + 8.0,
            top + 13.0,
            escape(&bar.note)
        );
    }
    let bottom = TOP + 24.0 + row * bars.len() as f64 + 14.0;
    let _ = writeln!(out, "<text x=\"{names:.1}\" y=\"{bottom:.1}\">share of the time; the total on the right</text>");
    Some(out + "</svg>\n")
}

/// The pictures of a report by file name, and the text that shows them.
#[derive(Debug, Default)]
pub struct Plots(pub std::collections::BTreeMap<String, String>);

impl Plots {
    /// Keeps a picture, if there is one, and gives the Markdown that shows it.
    pub fn add(&mut self, name: String, about: &str, picture: Option<String>) -> String {
        let Some(picture) = picture else { return String::new() };
        let text = format!("\n![{about}](plots/{name}.svg)\n");
        self.0.insert(format!("{name}.svg"), picture);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(log: bool) -> Chart {
        let points = [(Some(10.0), Some(2.0)), (Some(1000.0), Some(200.0)), (Some(5.0), None)];
        let axis = |label| Axis { log, ..Axis::log(label) };
        let series = vec![
            Series::new("a < b", Style::Line, points),
            Series::new("roof", Style::Bound, [(Some(10.0), Some(400.0)), (Some(1000.0), Some(400.0))]),
        ];
        Chart { title: "rates & sizes".into(), x: axis("nodes"), y: axis("iterations/s"), series }
    }

    #[test]
    fn a_chart_has_ground_axes_units_and_a_legend() {
        let svg = chart(true).svg().unwrap();
        for wanted in [
            "fill=\"#fff\"",
            ">nodes</text>",
            ">iterations/s</text>",
            ">a &lt; b</text>",
            ">roof</text>",
            "rates &amp; sizes",
            "stroke-dasharray",
        ] {
            assert!(svg.contains(wanted), "{wanted}: {svg}");
        }
        let note = Note { at: (10.0, 2.0), text: "best <".into(), on_the_left: true };
        let mut noted = chart(true);
        noted.series[0] = Series { style: Style::Curve, notes: vec![note], ..noted.series[0].clone() };
        let noted = noted.svg().unwrap();
        assert!(noted.contains("text-anchor=\"end\">best &lt;</text>") && !noted.contains("<circle"), "{noted}");
        // A point without a value is left out: two marks, and one in the legend.
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!((svg.matches("<svg").count(), svg.matches("</svg>").count()), (1, 1));
    }

    #[test]
    fn logarithms_are_evenly_spaced_and_inside_the_frame() {
        let axis = Axis::log("");
        let scale = Scale::new(&axis, [1.0, 1000.0].into_iter(), 100.0, 500.0);
        let at: Vec<f64> = [1.0, 10.0, 100.0, 1000.0].map(|value| scale.at(value)).to_vec();
        assert!((at[1] - at[0] - (at[3] - at[2])).abs() < 1e-9 && at[0] > 100.0 && at[3] < 500.0, "{at:?}");
        assert_eq!(scale.ticks(), [1.0, 10.0, 100.0, 1000.0]);
        let narrow = Scale::new(&axis, [3.0, 40.0].into_iter(), 0.0, 1.0);
        assert_eq!(narrow.ticks(), [5.0, 10.0, 20.0]);
    }

    #[test]
    fn a_linear_axis_begins_at_nothing() {
        let scale = Scale::new(&Axis::linear(""), [3.0, 11.0].into_iter(), 0.0, 100.0);
        assert_eq!(scale.ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(scale.at(0.0), 0.0);
    }

    #[test]
    fn without_points_there_is_no_picture() {
        assert_eq!(Chart { series: vec![Series::new("a", Style::Line, [])], ..chart(true) }.svg(), None);
        assert_eq!(shares("t", &["a"], &[]), None);
    }

    #[test]
    fn parts_fill_their_bar() {
        let bar = Bar { name: "ebw".into(), parts: vec![1.0, 3.0], note: "4 ms".into() };
        let svg = shares("phases", &["set-up", "solve"], &[bar]).unwrap();
        let widths: Vec<f64> = svg
            .lines()
            .filter(|line| line.contains("height=\"17\""))
            .map(|line| line.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!((widths[1] / widths[0] - 3.0).abs() < 0.01, "{widths:?}");
        assert!(svg.contains(">4 ms</text>") && svg.contains(">set-up</text>"));
    }
}
