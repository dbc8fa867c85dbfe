//! The report's drawings, as SVG that takes its colours from the page.

use std::fmt::Write;

use crate::output::solver::History;
use crate::output::summary::Timings;
use crate::result::{Curve, Series, Units, with_unit};
use warpfem_text::{count, engineering, escape, seconds};

/// Width and height of a plot, and what its labels take on the left and below.
const SIZE: [f64; 2] = [640.0, 260.0];
const MARGIN: [f64; 2] = [56.0, 30.0];

/// Curves, most with a logarithmic axis upwards.
struct Plot<'a> {
    /// Whether heights are values themselves, not their logarithms.
    is_linear: bool,
    /// What it is of, for those who do not see it.
    label: &'a str,
    /// Where the axis begins and ends, and what stands there.
    across: [(f64, String); 2],
    /// A name, and points by their place across and their height.
    curves: Vec<(&'a str, Vec<(f64, f64)>)>,
    /// A height that is marked, and what it is.
    goal: Option<(f64, &'static str)>,
}

impl Plot<'_> {
    /// The drawing; nothing where there is no curve to draw.
    fn draw(&self) -> Option<String> {
        let heights = || self.curves.iter().flat_map(|(_, points)| points).map(|point| point.1);
        if heights().count() < 2 || self.across[0].0 >= self.across[1].0 {
            return None;
        }
        let all = || heights().chain(self.goal.map(|goal| goal.0));
        let [low, high] = [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)];
        let [low, high] = match self.is_linear {
            true if high > low => [low, high],
            true => [low - 1.0, high + 1.0],
            false => [low.floor(), high.ceil().max(low.floor() + 1.0)],
        };
        let [(first, from), (last, to)] = &self.across;
        let x = |at: f64| MARGIN[0] + (at - first) / (last - first) * (SIZE[0] - MARGIN[0] - 12.0);
        let y = |v: f64| 10.0 + (high - v) / (high - low) * (SIZE[1] - MARGIN[1] - 10.0);
        let (left, right, bottom) = (x(*first), x(*last), y(low));
        let [width, height] = SIZE;
        let label = escape(self.label);
        let mut out =
            format!("<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">");
        let every = if self.is_linear { 0.25 * (high - low) } else { ((high - low) / 6.0).ceil().max(1.0) };
        // Writing to a string does not fail.
        for height in (0..).map(|k| high - every * f64::from(k)).take_while(|height| *height >= low - 1e-9 * every) {
            let at = y(height);
            let _ = write!(out, "<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>");
            let (beside, below) = (left - 8.0, at + 5.0);
            let _ = write!(out, "<text x=\"{beside:.1}\" y=\"{below:.1}\" text-anchor=\"end\">");
            let _ = match self.is_linear {
                true => write!(out, "{}</text>", engineering(height)),
                false => {
                    let exponent = format!("{height}").replace('-', "−");
                    write!(out, "10<tspan dy=\"-5\" font-size=\"9\">{exponent}</tspan></text>")
                }
            };
        }
        if let Some((goal, name)) = self.goal.map(|(goal, name)| (y(goal), name)) {
            let _ = write!(out, "<path class=\"goal\" d=\"M{left:.1} {goal:.1}H{right:.1}\"/>");
            let _ = write!(out, "<text class=\"goal\" x=\"{left:.1}\" y=\"{:.1}\" dx=\"6\">{name}</text>", goal - 5.0);
        }
        for (k, (name, points)) in self.curves.iter().enumerate().filter(|(_, (_, points))| !points.is_empty()) {
            let line: Vec<String> = points.iter().map(|&(at, v)| format!("{:.1} {:.1}", x(at), y(v))).collect();
            let _ = write!(out, "<path class=\"curve nth{}\" d=\"M{}\"/>", k % NTHS, line.join("L"));
            let highest = points.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| !name.is_empty());
            if let Some((at, v)) = highest {
                let (at, above) = (x(*at).clamp(left + 40.0, right - 40.0), y(*v) + 14.0 * k as f64 + 12.0);
                let _ = write!(
                    out,
                    "<text class=\"faint\" x=\"{at:.1}\" y=\"{above:.1}\" dx=\"8\">{}</text>",
                    escape(name)
                );
            }
        }
        let _ = write!(out, "<text x=\"{left:.1}\" y=\"{bottom:.1}\" dy=\"20\">{from}</text>");
        let _ = write!(out, "<text x=\"{right:.1}\" y=\"{bottom:.1}\" dy=\"20\" text-anchor=\"end\">{to}</text>");
        Some(out + "</svg>")
    }
}

/// Strokes that tell curves apart.
const NTHS: usize = 4;

/// The logarithm of the residual over the iterations, with the tolerance on it if there is one.
pub(super) fn residuals(history: &History, tolerance: Option<f64>) -> String {
    let place = |(i, residual): (usize, &f64)| (((i + 1) * history.every) as f64, residual.log10());
    let points = history.relative_residual.iter().enumerate().map(place);
    let points: Vec<(f64, f64)> = points.filter(|point| point.1.is_finite()).collect();
    let last = points.last().map_or(1.0, |point| point.0);
    let across = [(0.0, "0".into()), (last, format!("{} iterations", count(last as usize)))];
    let goal = tolerance.map(|tolerance| (tolerance.log10(), "tolerance"));
    let label = "relative residual over iterations";
    let plot = Plot { is_linear: false, label, across, curves: vec![("", points)], goal };
    plot.draw().map_or(String::new(), |drawn| format!("<h3>Residual</h3>{drawn}"))
}

/// The sizes of a series' curves, and where each is largest.
pub(super) fn series(series: &Series, units: Option<Units>) -> String {
    let (over, quantity) = series.over;
    let Some((first, last)) = series.at.first().zip(series.at.last()) else { return String::new() };
    let measured = |value: f64| with_unit(engineering(value), units, quantity);
    let is_linear = series.name != "response";
    let height = |value: f64| if is_linear { value } else { value.log10() };
    let points = |curve: &Curve| {
        let points = series.at.iter().zip(&curve.rows).map(|(at, row)| (*at, height(row[0])));
        points.filter(|point| point.1.is_finite()).collect()
    };
    let curves = series.curves.iter().map(|curve| (curve.name.as_str(), points(curve))).collect();
    let (size, of_size) = series.columns[0];
    let label = format!("{size} over {over}");
    let across = [(*first, measured(*first)), (*last, measured(*last))];
    let drawn = Plot { is_linear, label: &label, across, curves, goal: None }.draw().unwrap_or_default();
    let row = |(name, at, peak): (&str, f64, f64)| {
        let peak = with_unit(engineering(peak), units, of_size);
        format!("<tr><th>{}</th><td>{peak}</td><td>{}</td></tr>", escape(name), measured(at))
    };
    let rows: String = series.peaks().map(row).collect();
    format!(
        "<section><h2>{}</h2><p class=\"note\">{}</p>{drawn}<table><thead><tr><th></th><th>largest {size}</th><th>at {over}</th></tr>\
         </thead><tbody>{rows}</tbody></table></section>\n",
        if is_linear { "Probes" } else { "Response to the loads" },
        units
            .and_then(|units| units.label(of_size))
            .map_or(label.clone(), |unit| format!("{size} [{unit}] over {over}"))
    )
}

/// Bars of the tenths from 0 to 1.
pub(super) fn histogram(tenths: &[usize; 10]) -> String {
    let most = tenths.iter().copied().max().unwrap_or(0).max(1) as f64;
    let (width, height) = (SIZE[0] / 10.0, 120.0);
    let mut out = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"elements by shape\">",
        SIZE[0],
        height + 42.0
    );
    for (i, &n) in tenths.iter().enumerate() {
        let x = i as f64 * width;
        // A few elements among many are the ones that matter, so they are seen.
        let tall = if n > 0 { (n as f64 / most * height).max(2.0) } else { 0.0 };
        let top = 20.0 + height - tall;
        let (left, middle, bottom) = (x + 2.0, x + width / 2.0, height + 36.0);
        let _ = write!(out, "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\"", width - 4.0);
        let _ = write!(out, " height=\"{tall:.1}\"/>");
        if n > 0 {
            let (above, n) = (top - 5.0, count(n));
            let _ = write!(out, "<text x=\"{middle:.1}\" y=\"{above:.1}\" text-anchor=\"middle\">{n}</text>");
        }
        let (from, to) = (i as f64 / 10.0, (i + 1) as f64 / 10.0);
        let _ = write!(out, "<text class=\"faint\" x=\"{middle:.1}\" y=\"{bottom:.1}\" text-anchor=\"middle\">");
        let _ = write!(out, "{from:.1}–{to:.1}</text>");
    }
    out + "</svg>"
}

/// The phases up to writing, each with a bar of its share.
pub(super) fn timings(t: &Timings) -> String {
    let phases = t.before_writing();
    let sum: f64 = phases.iter().map(|phase| phase.1).sum();
    let row = |(name, time): (&str, f64)| {
        let share = if sum > 0.0 { 100.0 * time / sum } else { 0.0 };
        let bar = format!("<span class=\"share\" style=\"width:{share:.1}%\"></span>");
        format!("<tr><th>{name}</th><td>{}</td><td class=\"bars\">{bar}</td></tr>", seconds(time))
    };
    let rows: String = phases.map(row).concat();
    let sum = format!("<tr class=\"sum\"><th>sum</th><td>{}</td><td></td></tr>", seconds(sum));
    format!(
        "<h2>Time</h2><table class=\"timings\"><tbody>{rows}</tbody><tbody>{sum}</tbody></table><p class=\"note\">Without writing the results.</p>"
    )
}
