//! Values as places in the map of colours.

use crate::output::largest;

/// The colours end at the value that this share of the nodes does not exceed, where the largest is more than [`HOT`]
/// times that.
const SHARE_BELOW: f64 = 0.995;
const HOT: f64 = 2.0;

pub(in crate::output) struct Coloring {
    /// The values, `[n_skin_nodes]`.
    pub values: Vec<f64>,
    /// The values at the ends of the colours.
    pub range: [f64; 2],
    /// The largest value, where the colours end below it.
    pub above: Option<f64>,
    /// The value's place in the range, `[n_skin_nodes]`; beyond 1 where it is above.
    pub t: Vec<f32>,
}

impl Coloring {
    /// Of finite values; those of a hot spot may be cut off.
    pub(super) fn new(values: Vec<f64>, may_be_cut: bool) -> Coloring {
        let bound = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick).unwrap_or(0.0);
        let [least, most] = [bound(f64::min), bound(f64::max)];
        let cap = if may_be_cut { cap(&values) } else { None };
        let span = cap.unwrap_or(most) - least;
        // A span of rounding errors is no span: a uniform stress gets one colour.
        let uniform = span <= 1e-9 * most.abs().max(least.abs());
        let place = |v: &f64| if uniform { 0.5 } else { ((v - least) / span) as f32 };
        let t = values.iter().map(place).collect();
        let range = if uniform { [most; 2] } else { [least, cap.unwrap_or(most)] };
        Coloring { range, above: cap.map(|_| most), t, values }
    }

    /// Whether the largest magnitude is that of a negative value.
    pub(super) fn is_mostly_negative(&self) -> bool {
        -self.range[0] > self.range[1]
    }

    /// The node of the largest value, or of the smallest; `None` where the values are as good as one.
    pub(in crate::output) fn peak(&self, of_least: bool) -> Option<usize> {
        let sign = if of_least { -1.0 } else { 1.0 };
        (self.range[0] < self.range[1])
            .then(|| largest(self.values.iter().map(|value| sign * value)).map(|peak| peak.0))?
    }
}

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
