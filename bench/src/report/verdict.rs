//! Whether what was measured is what a paper says.

use super::markdown::median;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    /// It is more than the paper says.
    Exceeded,
    /// It is less than the paper says, in the same direction.
    Short,
    /// It is the opposite.
    Contradicted,
    /// The paper speaks of another quantity.
    Incomparable,
}

use Verdict::{Contradicted, Exceeded, Holds, Incomparable, Short};

/// A claim on a ratio is met if the median of what was measured is in its range, give or take this share.
const SLACK: f64 = 0.1;

impl Verdict {
    /// The verdict on a claimed range; what is said to be faster and is slower contradicts the claim.
    pub fn of(found: &[f64], low: f64, high: f64) -> Option<Verdict> {
        let middle = median(found)?;
        Some(match () {
            () if middle > high * (1.0 + SLACK) => Exceeded,
            () if middle >= low * (1.0 - SLACK) => Holds,
            () if low > 1.0 && middle < 1.0 => Contradicted,
            () => Short,
        })
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Holds => "holds",
            Exceeded => "holds and is exceeded",
            Short => "falls short",
            Contradicted => "contradicted",
            Incomparable => "not comparable",
        }
    }

    /// A sentence that begins with the verdict: what was measured, and why it came out so.
    pub fn sentence(self, measured: &str, why: &str) -> String {
        let (first, rest) = self.words().split_at(1);
        format!("**{}{rest}**: {measured}{}{why}.", first.to_uppercase(), if why.is_empty() { "" } else { "; " })
    }

    /// The reason among those for as claimed, more, and less.
    pub fn reason<T>(self, [yes, more, no]: [T; 3]) -> T {
        match self {
            Holds => yes,
            Exceeded => more,
            _ => no,
        }
    }
}

/// Several verdicts in a few words: `holds (2), contradicted`.
pub fn tally(verdicts: &[Verdict]) -> String {
    let words = [Holds, Exceeded, Short, Contradicted, Incomparable].into_iter().filter_map(|kind| {
        match verdicts.iter().filter(|verdict| **verdict == kind).count() {
            0 => None,
            1 => Some(kind.words().to_owned()),
            n => Some(format!("{} ({n})", kind.words())),
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The exponent p of y ~ x^p through some points, by least squares of the logarithms; nothing from fewer than three.
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = |value: fn(&(f64, f64)) -> f64| logs.iter().map(value).sum::<f64>() / n;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let (above, below) = logs.iter().fold((0.0, 0.0), |(a, b), p| (a + (p.0 - x) * (p.1 - y), b + (p.0 - x).powi(2)));
    (logs.len() >= 3 && below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_of_the_median() {
        let verdict = |found: &[f64]| Verdict::of(found, 5.0, 10.0);
        assert_eq!(verdict(&[1.0, 7.0, 30.0]), Some(Holds));
        assert_eq!((verdict(&[4.6]), verdict(&[4.4]), verdict(&[0.9])), (Some(Holds), Some(Short), Some(Contradicted)));
        assert_eq!(Verdict::of(&[0.96], 1.05, 1.1), Some(Holds));
        assert_eq!(Verdict::of(&[0.2], 0.5, 0.5), Some(Short));
        assert_eq!((verdict(&[10.9, 11.1, 12.0]), verdict(&[])), (Some(Exceeded), None));
    }

    #[test]
    fn verdicts_are_said_in_words() {
        assert_eq!(Holds.sentence("3 of 3", ""), "**Holds**: 3 of 3.");
        assert_eq!(Contradicted.sentence("1 of 3", "why not"), "**Contradicted**: 1 of 3; why not.");
        assert_eq!(tally(&[Short, Holds, Short]), "holds, falls short (2)");
    }

    #[test]
    fn powers_are_found() {
        let points: Vec<(f64, f64)> = [1.0, 10.0, 50.0, 700.0].iter().map(|x: &f64| (*x, 3.0 * x.powf(0.4))).collect();
        assert!((exponent(&points).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(exponent(&points[..2]), None);
    }
}
