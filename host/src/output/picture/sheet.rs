//! The sheet that a picture is drawn on: where the part, its legend and its captions stand.

use super::canvas::{Canvas, Font};
use super::glyphs::{self, Legend};
use super::legend::{self, Bar};
use super::project::View;
use super::raster::Frame;
use super::symbols::GRAVITY;
use super::{FOOT, MARGIN, PART, SAMPLES, Shot, Shown, WIDTH, factor};
use crate::output::distribution::{Distribution, Peak};
use crate::output::field::{PointField, SAFE, displacement, sizes};
use crate::output::summary::RISING;
use crate::output::{Summary, largest};
use crate::result::{Quantity, Step, Units, with_unit};
use warpfem_text::engineering as number;

/// A sheet, laid out for a view of a part.
pub(super) struct Sheet {
    pub view: View,
    pub height: usize,
    /// The lower end of the part's rectangle.
    pub bottom: f32,
    symbols: Legend,
    corner: [f32; 2],
}

impl Sheet {
    pub(super) fn new(shown: &Shown, view: View) -> Sheet {
        let extent = shown.extent(&view);
        let [left, top, width, least, most] = PART;
        let [across, up] = extent.map(|[low, high]| high - low);
        let wanted = width * up / across;
        let part = if wanted.is_finite() { wanted.clamp(least, most) } else { least }.round();
        let margin = if shown.groups.is_empty() { 0.0 } else { MARGIN };
        let view = view.fit(extent, [left + margin, top + margin], [width - 2.0 * margin, part - 2.0 * margin]);
        let symbols = Legend::new(&shown.groups, shown.gravity.as_ref(), WIDTH as f32 - 80.0);
        let height = (top + part + FOOT) as usize + symbols.height as usize;
        let corner = [(left + width) as f32 + 120.0, height as f32 - 90.0];
        Sheet { view, height, bottom: (top + part) as f32, symbols, corner }
    }

    /// Draws symbols, legend and axes; a pixel is the mean of its samples.
    pub(super) fn finish(&self, shown: &Shown, frame: &mut Frame) -> Canvas {
        let below = [40.0, self.bottom + 24.0];
        let gravity = shown.gravity.as_ref().map(|&(g, _)| (g, [self.corner[0] + 100.0, self.corner[1] - 30.0]));
        glyphs::draw(frame, shown, &self.view);
        self.symbols.draw(frame, &self.view, below, gravity);
        let mut canvas = frame.resolve(SAMPLES);
        legend::axes(&mut canvas, &self.view, self.corner);
        if let Some((_, [x, y])) = gravity {
            canvas.text(Font::Plain, [x + 12.0, y - 22.0], "g", GRAVITY);
        }
        self.symbols.write(&mut canvas, below);
        canvas
    }

    pub(super) fn color_bar(&self, canvas: &mut Canvas, bar: &Bar) {
        let top = if bar.above.is_some() { 206.0 } else { 170.0 };
        legend::color_bar(canvas, bar, (self.corner[0] - 50.0, [top, self.height as f32 - 190.0]));
    }
}

pub(super) struct Captions {
    /// The two lines above the colour bar.
    pub title: [String; 2],
    pub subtitle: String,
    pub foot: String,
}

impl Captions {
    pub(super) fn new(shown: &Shown, step: &Step, shot: &Shot, summary: &Summary) -> Captions {
        let field = shot.field.clone().unwrap_or_else(|| PointField::usual(step));
        let units = summary.units;
        let moves = displacement(step).is_some();
        let unit = units.and_then(|units| units.label(field.unit()));
        let at = unit.map_or(if moves { "at the nodes".into() } else { String::new() }, |unit| format!("in {unit}"));
        let subtitle = match field.may_be_cut() {
            true => largest_stress(step, summary),
            false => ends(&field, step, units),
        };
        let foot = match largest(sizes(step).iter().copied()) {
            _ if moves => deformation(shown, units),
            Some((_, steepest)) => format!("steepest {} {}", step.physics.words().intensity[1], number(steepest)),
            None => String::new(),
        };
        Captions { title: [field.title(), at], subtitle, foot }
    }
}

/// The least and the greatest value of a field.
fn ends(field: &PointField, step: &Step, units: Option<Units>) -> String {
    let (title, values) = (field.title(), field.values(step));
    let least = largest(values.iter().map(|v| -v)).map(|(_, least)| number(-least));
    match (least, largest(values.iter().copied())) {
        (Some(least), Some((_, SAFE))) if field.is_least_of_interest() => {
            format!("{title} from {least} to {SAFE} and more")
        }
        (Some(least), Some((_, most))) => {
            format!("{title} from {least} to {}", with_unit(number(most), units, field.unit()))
        }
        _ => format!("no finite {title}"),
    }
}

/// The largest stress at nodes, at centres, and away from where it grows with every refinement.
fn largest_stress(step: &Step, summary: &Summary) -> String {
    let stress = |value| with_unit(number(value), summary.units, Quantity::Stress);
    let words = step.physics.words();
    let centres = step.lists(words.centres).iter().flatten();
    let (Some((_, max)), Some((_, of_centres))) = (largest(sizes(step).iter().copied()), largest(centres.copied()))
    else {
        return "no finite stress".into();
    };
    let (away, rises) = (summary.results.away(), summary.results.rises());
    let away = away.map_or(String::new(), |away| {
        let rises = if rises { RISING } else { "" };
        format!("; away from supports, point loads and inner corners {}{rises}", stress(away.max))
    });
    let centres = Distribution { max: of_centres, ..Distribution::default() };
    let beside = Peak { max, ..Peak::default() }.beside(&centres);
    // Both would be too long for the picture.
    let beside = if rises { String::new() } else { format!(" ({beside})") };
    format!("largest {} {}{beside}{away}", words.intensity[0], stress(max))
}

fn deformation(shown: &Shown, units: Option<Units>) -> String {
    match shown.largest > 0.0 {
        true => {
            let (scale, most) = (factor(shown.scale), with_unit(number(shown.largest), units, Quantity::Length));
            let lines = if shown.shows_undeformed() { "   grey lines: undeformed" } else { "" };
            format!("deformation x {scale}   largest displacement {most}{lines}")
        }
        false => "no displacement".into(),
    }
}
