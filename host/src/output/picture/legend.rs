//! What is written around the part: title, colour bar, axes, the place of the maximum.

use super::canvas::{Canvas, Font};
use super::colormap::{Map, Rgb, pick};
use super::project::View;
use crate::output::Summary;
use warpfem_text::{clean, count, counted, engineering as number, engineering_beside, scaled, thousands, visible};

const INK: Rgb = [30, 30, 36];
const FAINT: Rgb = [110, 110, 118];
const ALARM: Rgb = [190, 20, 20];
const DOUBT: Rgb = [170, 90, 0];
const NOT_CONVERGED: &str = "NOT CONVERGED";

/// A whole number with thousands set off by commas, or a short fraction.
pub(super) fn factor(value: f64) -> String {
    if !(1.0..1e15).contains(&value) {
        return if (1e-3..1.0).contains(&value) { format!("{value}") } else { format!("{value:e}") };
    }
    count(value.round() as usize)
}

/// Round numbers from `low` to `high`, some six, with their texts; none where the two are as good as one.
pub(super) fn ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / 6.0;
    if !rough.is_normal() || rough < 1e-12 * high.abs().max(low.abs()) {
        return vec![];
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).ceil() as i64, (high / step * (1.0 + 1e-12)).floor() as i64);
    // All with one exponent, so that they can be compared at a glance.
    let size = high.abs().max(low.abs());
    let exponent = if (1e-2..1e5).contains(&size) { 0 } else { thousands(size) };
    let decimals = (exponent - (step * 1.001).log10().floor() as i32).max(0) as usize;
    let text = |value: f64| match exponent {
        _ if value == 0.0 => "0".into(),
        0 => format!("{value:.decimals$}"),
        _ => format!("{:.decimals$}e{exponent}", scaled(value, exponent)),
    };
    (first..=last).map(|i| i as f64 * step).map(|value| (value, text(value))).collect()
}

pub(super) struct Bar<'a> {
    pub map: &'a Map,
    /// The values at its ends.
    pub range: [f64; 2],
    /// The largest value, where that is above the upper end.
    pub above: Option<f64>,
    /// Two lines.
    pub title: [String; 2],
}

/// Draws a colour bar with its left edge at `x`, from `top` to `bottom`, its title above. Its ends have their exact
/// values, round ones stand between.
pub(super) fn color_bar(canvas: &mut Canvas, bar: &Bar, (x, [top, bottom]): (f32, [f32; 2])) {
    let [low, high] = bar.range;
    let height = bottom - top;
    for y in 0..height as usize {
        let t = 1.0 - (y as f32 + 0.5) / height;
        canvas.fill([x, top + y as f32], [28.0, 1.0], pick(bar.map, t), 1.0);
    }
    let (right, line) = (x + 28.0, Font::Plain.height());
    frame(canvas, [x, top], [right, bottom]);
    let mut label = |y: f32, text: &str| {
        canvas.line([right, y], [right + 8.0, y], 1.5, INK);
        canvas.text(Font::Plain, [right + 14.0, y - line / 2.0], text, INK);
    };
    if high > low {
        // A stress of rounding errors is none.
        let largest = low.abs().max(high.abs());
        label(bottom, &engineering_beside(clean(low, 1e-9 * largest), largest));
        label(top, &engineering_beside(high, largest));
    } else {
        label((top + bottom) / 2.0, &number(low));
    }
    for (value, text) in ticks(low, high) {
        let y = bottom - ((value - low) / (high - low)) as f32 * height;
        if (top + 1.2 * line..bottom - 1.2 * line).contains(&y) {
            label(y, &text);
        }
    }
    let mut above = top;
    if let Some(most) = bar.above {
        above -= 1.8 * line;
        canvas.fill([x, above], [28.0, line], bar.map.above, 1.0);
        frame(canvas, [x, above], [right, above + line]);
        canvas.text(Font::Plain, [right + 14.0, above], &format!("to {}", number(most)), INK);
    }
    canvas.text(Font::Plain, [x, above - 2.6 * line], &bar.title[0], INK);
    canvas.text(Font::Plain, [x, above - 1.5 * line], &bar.title[1], FAINT);
}

/// The outline of a rectangle.
fn frame(canvas: &mut Canvas, [left, top]: [f32; 2], [right, bottom]: [f32; 2]) {
    for y in [top, bottom] {
        canvas.line([left, y], [right, y], 1.0, INK);
    }
    for x in [left, right] {
        canvas.line([x, top], [x, bottom], 1.0, INK);
    }
}

/// Draws the directions of x, y and z around `(x, y)`.
pub(super) fn axes(canvas: &mut Canvas, view: &View, [x, y]: [f32; 2]) {
    let colors = [[190, 50, 40], [40, 140, 60], [40, 80, 190]];
    for (i, (name, color)) in ["x", "y", "z"].into_iter().zip(colors).enumerate() {
        let (right, up) = (view.axes[0][i] as f32, view.axes[1][i] as f32);
        if right.hypot(up) > 0.1 {
            let tip = [x + 42.0 * right, y - 42.0 * up];
            canvas.line([x, y], tip, 2.0, color);
            let reach = 14.0 / right.hypot(up);
            let at = [tip[0] + reach * right, tip[1] - reach * up];
            let half = [Font::Plain.width(name) / 2.0, Font::Plain.height() / 2.0];
            canvas.text(Font::Plain, [at[0] - half[0], at[1] - half[1]], name, color);
        }
    }
}

/// Writes the title, a line under it, and a line at the foot of the picture, with how many warnings there are.
pub(super) fn captions(canvas: &mut Canvas, summary: &Summary, subtitle: &str, foot: &str) {
    let bottom = canvas.height as f32 - 44.0;
    let mut room = canvas.width as f32 - 80.0;
    let fitting = |text: &str, room: f32, font: Font| shorten(text, (room / font.width("m")) as usize);
    canvas.text(Font::Plain, [40.0, 54.0], &fitting(subtitle, room, Font::Plain), INK);
    canvas.text(Font::Plain, [40.0, bottom], &fitting(foot, room, Font::Plain), FAINT);
    if !summary.warnings.is_empty() {
        let text = format!("{}: see the report", counted(summary.warnings.len(), "warning"));
        let width = Font::Title.width(&text);
        canvas.text(Font::Title, [canvas.width as f32 - 40.0 - width, 22.0], &text, DOUBT);
        room -= width + 30.0;
    }
    canvas.text(Font::Title, [40.0, 22.0], &fitting(&visible(&summary.case), room, Font::Title), INK);
}

/// Across the `width` pixels left of the colour bar, too large to be overlooked or cut off: that the results are none.
pub(super) fn stamp_not_converged(canvas: &mut Canvas, width: f32) {
    const TIMES: usize = 4;
    let height = Font::Title.height() * TIMES as f32;
    let top = (0.5 * (canvas.height as f32 - height)).round();
    canvas.fill([0.0, top - 12.0], [width, height + 24.0], ALARM, 0.85);
    let left = 0.5 * (width - Font::Title.width(NOT_CONVERGED) * TIMES as f32);
    canvas.magnified(Font::Title, [left, top], NOT_CONVERGED, [255; 3], TIMES);
}

/// `text`, or its beginning and dots if it has more than `most` characters.
pub(super) fn shorten(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect(),
        false => text.into(),
    }
}

/// Rings the place `at` and writes `text` beside it, within `area` (corners), where it hides least: `covered` tells
/// whether a pixel shows the part.
pub(super) fn marker(
    canvas: &mut Canvas,
    at: [f32; 2],
    text: &str,
    area: [[f32; 2]; 2],
    covered: &dyn Fn(i64, i64) -> bool,
) {
    let size = [Font::Plain.width(text) + 16.0, Font::Plain.height() + 10.0];
    let cost = |corner: &[f32; 2]| {
        let grid = (0..30).flat_map(|i| (0..4).map(move |j| (i, j)));
        let place = |(i, j): (i32, i32)| [corner[0] + size[0] * i as f32 / 29.0, corner[1] + size[1] * j as f32 / 3.0];
        let hidden = grid.map(place).filter(|p| covered(p[0] as i64, p[1] as i64)).count();
        let center = [corner[0] + size[0] / 2.0, corner[1] + size[1] / 2.0];
        hidden as f32 * 40.0 + (center[0] - at[0]).hypot(center[1] - at[1])
    };
    let mut best = ([0.0; 2], f32::INFINITY);
    for k in 0..16 {
        let (sin, cos) = (k as f32 * std::f32::consts::TAU / 16.0).sin_cos();
        for reach in [50.0, 90.0, 150.0, 240.0, 360.0] {
            let center = [at[0] + cos * (reach + size[0] / 2.0), at[1] - sin * reach];
            let corner: [f32; 2] =
                std::array::from_fn(|i| (center[i] - size[i] / 2.0).max(area[0][i]).min(area[1][i] - size[i]));
            // Moving it into the area may have moved it over the ring.
            let clear = (0..2).any(|i| at[i] + 14.0 < corner[i] || at[i] - 14.0 > corner[i] + size[i]);
            let cost = cost(&corner) + if clear { 0.0 } else { 1e6 };
            if cost < best.1 {
                best = (corner, cost);
            }
        }
    }
    let corner = best.0;
    let near: [f32; 2] = std::array::from_fn(|i| at[i].clamp(corner[i], corner[i] + size[i]));
    let length = (near[0] - at[0]).hypot(near[1] - at[1]).max(1.0);
    let start = std::array::from_fn(|i| at[i] + (near[i] - at[i]) * (10.0 / length).min(1.0));
    for (width, color) in [(5.0, [255; 3]), (2.0, INK)] {
        canvas.line(start, near, width, color);
        canvas.ring(at, 9.0, width, color);
    }
    canvas.fill(corner, size, INK, 1.0);
    canvas.fill([corner[0] + 1.5, corner[1] + 1.5], [size[0] - 3.0, size[1] - 3.0], [255; 3], 1.0);
    canvas.text(Font::Plain, [corner[0] + 8.0, corner[1] + 5.0], text, INK);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_commas() {
        let cases = [(1.0, "1"), (1000.0, "1,000"), (2e6, "2,000,000"), (500.0, "500"), (0.02, "0.02"), (1e20, "1e20")];
        cases.iter().for_each(|(value, text)| assert_eq!(factor(*value), *text));
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let texts = |low, high| ticks(low, high).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(0.9e8, 2.1e8), ["100e6", "120e6", "140e6", "160e6", "180e6", "200e6"]);
        assert_eq!(texts(12.0, 61.0), ["20", "30", "40", "50", "60"]);
        assert!(texts(5.0, 5.0).is_empty());
        for (low, high) in [(0.0, 1e-300), (1e300, 1.5e300), (-3.7, 11.2), (1.0, 1.0 + 1e-9)] {
            let found = ticks(low, high);
            assert!((1..=9).contains(&found.len()), "{low} {high} {found:?}");
            assert!(found.iter().all(|(value, _)| *value >= low - 1e-9 * low.abs() && *value <= high * (1.0 + 1e-9)));
        }
    }

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(shorten("bracket", 7), "bracket");
        assert_eq!(shorten("bracket-long", 9), "bracke...");
    }
}
