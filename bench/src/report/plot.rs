//! Charts as SVG files that stand alone: white ground, logarithmic axes with units, a legend beside the plot.
//!
//! The HTML report's drawings take their colours from their page; these have their own, so that they read the same on
//! any page.

use warpfem_text::{count, escape, number};

/// Width and height; the legend's width on the right, and what labels take on the left, above and below.
const SIZE: [f64; 2] = [820.0, 440.0];
const LEGEND: f64 = 190.0;
const LEFT: f64 = 76.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;

/// Colours that are told apart also by those who do not see all (Okabe and Ito).
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a8500"];

/// What joins the points of a series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// A line through marks.
    #[default]
    Line,
    /// Marks alone.
    Marks,
    /// A broken line without marks, in grey: a bound.
    Bound,
}

/// Points with a name.
#[derive(Debug)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    pub style: Style,
}

/// Curves over one pair of logarithmic axes, whose labels have units.
#[derive(Debug)]
pub struct Chart<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub series: &'a [Series],
}

/// A logarithmic axis between two values, on its place in the picture.
struct Scale {
    low: f64,
    high: f64,
    /// Where `low` and `high` are.
    from: f64,
    to: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (low, high) = values
            .map(f64::log10)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        // A little air, so that no mark lies on the frame.
        Scale { low: low - 0.08, high: high + 0.08, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (value.log10() - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Values to be labelled.
    fn ticks(&self) -> Vec<f64> {
        let decades = self.low.floor() as i32..=self.high.ceil() as i32;
        let per_decade: &[f64] = if self.high - self.low > 2.2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let every = ((self.high - self.low) / 9.0).ceil().max(1.0) as i32;
        let all = decades.filter(|power| power.rem_euclid(every) == 0);
        let all = all.flat_map(|power| per_decade.iter().map(move |digit| digit * 10f64.powi(power)));
        all.filter(|tick| (self.low..=self.high).contains(&tick.log10())).collect()
    }
}

/// A tick's label.
fn label(value: f64) -> String {
    match value.abs() {
        v if (1e3..1e7).contains(&v) => count(value.round() as usize),
        _ => number(value, 3),
    }
}

impl Chart<'_> {
    /// The picture; nothing if there is no point to draw.
    pub fn svg(&self) -> Option<String> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        points().next()?;
        let x = Scale::new(points().map(|point| point.0), LEFT, SIZE[0] - LEGEND);
        let y = Scale::new(points().map(|point| point.1), SIZE[1] - BOTTOM, TOP);
        let mut out = frame(self.title);
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
        for (tick, at) in x.ticks().into_iter().map(|tick| (tick, x.at(tick))) {
            *out += &format!("<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>\n");
            *out += &words(at, bottom + 17.0, "middle", &label(tick));
        }
        for (tick, at) in y.ticks().into_iter().map(|tick| (tick, y.at(tick))) {
            *out += &format!("<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>\n");
            *out += &words(left - 7.0, at + 4.0, "end", &label(tick));
        }
        *out += &format!("<path class=\"frame\" d=\"M{left:.1} {top:.1}H{right:.1}V{bottom:.1}H{left:.1}Z\"/>\n");
        *out += &words((left + right) / 2.0, bottom + 40.0, "middle", self.x);
        let turned = format!("translate(16 {:.1}) rotate(-90)", (top + bottom) / 2.0);
        *out += &format!("<text transform=\"{turned}\" text-anchor=\"middle\">{}</text>\n", escape(self.y));
    }
}

/// Words at a place.
fn words(x: f64, y: f64, anchor: &str, words: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escape(words))
}

/// What all pictures look like.
const STYLE: &str = "text{font:12px sans-serif;fill:#222}.head{font-size:14px;font-weight:bold}\
    .grid{stroke:#ddd;fill:none}.frame{stroke:#444;fill:none}";

/// The beginning of a picture.
fn frame(title: &str) -> String {
    let ([width, height], title) = (SIZE, escape(title));
    let size = format!("width=\"{width}\" height=\"{height}\"");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" {size} role=\"img\">\n\
            <title>{title}</title>\n<style>{STYLE}</style>\n<rect {size} fill=\"#fff\"/>\n\
            <text class=\"head\" x=\"{LEFT}\" y=\"24\">{title}</text>\n"
    )
}

/// A series, and its line in the legend at height `at`.
fn draw(out: &mut String, series: &Series, (x, y): (&Scale, &Scale), index: usize, at: f64) {
    let is_bound = series.style == Style::Bound;
    let colour = if is_bound { "#777" } else { COLOURS[index % COLOURS.len()] };
    let dash = match (series.style, index / COLOURS.len()) {
        (Style::Bound, _) => " stroke-dasharray=\"6 4\"",
        (_, 0) => "",
        _ => " stroke-dasharray=\"2 3\"",
    };
    let places: Vec<(f64, f64)> = series.points.iter().map(|point| (x.at(point.0), y.at(point.1))).collect();
    let key = SIZE[0] - LEGEND + 14.0;
    if series.style != Style::Marks {
        let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let stroke = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"{dash}");
        *out += &format!("<path {stroke} d=\"M{}\"/>\n", line.join("L"));
        *out += &format!("<path {stroke} d=\"M{key:.1} {at:.1}H{:.1}\"/>\n", key + 24.0);
    }
    if !is_bound {
        for (x, y) in places.into_iter().chain([(key + 12.0, at)]) {
            *out += &mark(index, x, y, colour);
        }
    }
    *out += &words(key + 31.0, at + 4.0, "start", &series.name);
}

/// A mark whose shape tells series apart where colours do not.
fn mark(index: usize, x: f64, y: f64, colour: &str) -> String {
    // With more series than colours the shapes of the second round are other ones.
    let (shape, top) = match (index + index / COLOURS.len()) % 4 {
        0 => ("m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z", y),
        1 => ("m-3.3 0h6.6v6.6h-6.6z", y - 3.3),
        2 => ("l4.4 7.6h-8.8z", y - 4.6),
        _ => ("l4.6 4.6l-4.6 4.6l-4.6 -4.6z", y - 4.6),
    };
    format!("<path class=\"mark\" d=\"M{x:.1} {top:.1}{shape}\" fill=\"{colour}\"/>\n")
}

/// The pictures of a report by file name, and the text that shows them.
#[derive(Debug, Default, PartialEq)]
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

    #[test]
    fn a_chart_has_ground_axes_units_and_a_legend() {
        let series =
            |name: &str, style, points: [(f64, f64); 2]| Series { name: name.into(), points: points.into(), style };
        let series = [
            series("a < b", Style::Line, [(10.0, 2.0), (1000.0, 200.0)]),
            series("roof", Style::Bound, [(10.0, 400.0), (1000.0, 400.0)]),
        ];
        let chart = |series| Chart { title: "rates & sizes", x: "nodes", y: "iterations/s", series };
        let svg = chart(&series).svg().unwrap();
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
        // Two points, and one in the legend.
        assert_eq!((svg.matches("class=\"mark\"").count(), chart(&[]).svg()), (3, None));
    }

    #[test]
    fn ticks_are_few_and_inside() {
        let scale = Scale::new([30.0, 2e6].into_iter(), 0.0, 1.0);
        assert_eq!(scale.ticks(), [1e2, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!((label(1e3), label(0.02)), ("1,000".into(), "0.02".into()));
    }
}
