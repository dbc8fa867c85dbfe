//! A paper's tables and figures, each with its counterpart here or the reason it has none.

use super::block::Block;
use super::markdown::{anchor, median, number};
use super::outline::{Answer, made};
use super::plot::Plots;
use super::provenance::{listed, numbered};
use super::run::Run;
use serde::Deserialize;
use std::fmt::Write;

/// One paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// What this project calls it.
    pub name: String,
    /// Authors, title, year.
    pub source: String,
    /// What it was measured on.
    pub hardware: String,
    #[serde(rename = "item")]
    pub items: Vec<Item>,
}

/// A table or figure, or several that one measurement answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// `Table IV`, or `Figures 7, 8`.
    pub label: String,
    /// What it shows.
    pub about: String,
    /// Why it has no counterpart here.
    pub nothing: Option<String>,
    /// What a document or another section has of it, as the rest of a sentence.
    pub elsewhere: Option<String>,
    /// What the paper claims, with its numbers.
    pub claim: Option<String>,
    /// The lists of the JSON that answer it.
    #[serde(default)]
    pub lists: Vec<String>,
    pub answer: Option<Answer>,
    #[serde(rename = "block", default)]
    pub blocks: Vec<Block>,
}

impl Paper {
    fn heading(&self, item: &Item) -> String {
        format!("{}, {}: {}", self.name, item.label, item.about)
    }

    /// Its rows in the list at the top: what each table and figure is, and where its counterpart is.
    pub fn contents(&self, answered: &[String]) -> Vec<Vec<String>> {
        let row = |item: &Item| {
            let heading = self.heading(item);
            let place = match (&item.nothing, &item.elsewhere) {
                (Some(why), _) => format!("None: {why}."),
                (_, Some(place)) => format!("{place}."),
                _ if answered.contains(&heading) => format!("[below](#{})", anchor(&heading)),
                _ => format!("Not measured: {} of the files lacks what it takes.", quoted(&item.lists)),
            };
            vec![format!("{} {}", self.name, item.label), item.about.clone(), place]
        };
        self.items.iter().map(row).collect()
    }

    /// A section for every table and figure that some run has an answer to, and their headings.
    pub fn sections(&'static self, runs: &[Run], plots: &mut Plots) -> (String, Vec<String>) {
        let (mut out, mut headings) = (String::new(), Vec::new());
        for item in &self.items {
            let Some(claim) = &item.claim else { continue };
            let make = |run: &Run, plots: &mut Plots| made(&item.answer, &item.blocks, run, plots);
            let answers: String = runs.iter().map(|run| sourced(run, &item.lists, make, plots)).collect();
            if !answers.is_empty() {
                let heading = self.heading(item);
                // Writing to a string does not fail.
                let _ =
                    write!(out, "\n### {heading}\n\n**{} says** ({}): {claim}\n{answers}", self.name, self.hardware);
                headings.push(heading);
            }
        }
        (out, headings)
    }
}

fn quoted(lists: &[String]) -> String {
    lists.iter().map(|list| format!("`{list}`")).collect::<Vec<_>>().join(", ")
}

/// An answer with where it is from; nothing for none.
pub fn sourced(run: &Run, lists: &[String], make: impl Fn(&Run, &mut Plots) -> String, plots: &mut Plots) -> String {
    let text = make(run, plots);
    if text.is_empty() {
        return String::new();
    }
    let runs = run.behind(|run| {
        let mut drawn = Plots::default();
        (make(run, &mut drawn), drawn.0)
    });
    let Run { device, name, .. } = run;
    let (when, which) = match &runs[..] {
        [] => Default::default(),
        runs => (format!(", {}", listed(&run.dates(runs))), format!(", [{}](#measured-on)", numbered(runs))),
    };
    format!(
        "\n**Here** ({device}{when}; [`{name}`]({name}), {}{which}):\n\n{}\n",
        quoted(lists),
        text.trim_matches('\n')
    )
}

/// Whether what was measured is what a paper says.
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

/// A claim on a ratio is met if the median of what was measured is in its range, give or take this share.
pub const SLACK: f64 = 0.1;

impl Verdict {
    /// The verdict on a claimed range; what is said to be faster and is slower contradicts the claim.
    pub fn of(found: &[f64], low: f64, high: f64) -> Option<Verdict> {
        let middle = median(found)?;
        Some(match () {
            () if middle > high * (1.0 + SLACK) => Verdict::Exceeded,
            () if middle >= low * (1.0 - SLACK) => Verdict::Holds,
            () if low > 1.0 && middle < 1.0 => Verdict::Contradicted,
            () => Verdict::Short,
        })
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Exceeded => "holds and is exceeded",
            Verdict::Short => "falls short",
            Verdict::Contradicted => "contradicted",
            Verdict::Incomparable => "not comparable",
        }
    }

    /// A sentence that begins with the verdict: what was measured, and why it came out so.
    pub fn sentence(self, measured: &str, why: &str) -> String {
        let words = self.words();
        let (first, rest) = words.split_at(1);
        format!("**{}{rest}**: {measured}{}{why}.", first.to_uppercase(), if why.is_empty() { "" } else { "; " })
    }

    /// The reason among those for as claimed, more, and less.
    pub fn reason<T>(self, why: [T; 3]) -> T {
        let [yes, more, no] = why;
        match self {
            Verdict::Holds => yes,
            Verdict::Exceeded => more,
            _ => no,
        }
    }
}

/// A claim that is a yes or a no, with what was measured and why it came out so.
pub fn yes_or_no(holds: bool, measured: &str, why_yes: &str, why_no: &str) -> String {
    if holds { Verdict::Holds.sentence(measured, why_yes) } else { Verdict::Contradicted.sentence(measured, why_no) }
}

/// A claim on one number, with what was measured and why it came out so: as claimed, more, less.
pub fn in_range(found: f64, [low, high]: [f64; 2], measured: &str, why: [&str; 3]) -> String {
    Verdict::of(&[found], low, high).map_or(String::new(), |verdict| verdict.sentence(measured, verdict.reason(why)))
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

/// `N^0.389`.
pub fn power(exponent: f64) -> String {
    format!("N^{}", number(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_of_the_median() {
        let verdict = |found: &[f64]| Verdict::of(found, 5.0, 10.0);
        assert_eq!(verdict(&[1.0, 7.0, 30.0]), Some(Verdict::Holds));
        assert_eq!(verdict(&[4.6]), Some(Verdict::Holds));
        assert_eq!(verdict(&[4.4]), Some(Verdict::Short));
        assert_eq!(verdict(&[0.9]), Some(Verdict::Contradicted));
        assert_eq!(Verdict::of(&[0.96], 1.05, 1.1), Some(Verdict::Holds));
        assert_eq!(Verdict::of(&[0.2], 0.5, 0.5), Some(Verdict::Short));
        assert_eq!(verdict(&[10.9, 11.1, 12.0]), Some(Verdict::Exceeded));
        assert_eq!(verdict(&[]), None);
    }

    #[test]
    fn powers_are_found() {
        let points: Vec<(f64, f64)> = [1.0, 10.0, 50.0, 700.0].iter().map(|x: &f64| (*x, 3.0 * x.powf(0.4))).collect();
        assert!((exponent(&points).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(exponent(&points[..2]), None);
    }

    #[test]
    fn a_number_is_more_or_less() {
        let said = |found| in_range(found, [50.0, 50.0], "so much", ["", "why more", "why less"]);
        assert_eq!(said(52.0), "**Holds**: so much.");
        assert_eq!(said(152.0), "**Holds and is exceeded**: so much; why more.");
        assert_eq!(said(5.0), "**Falls short**: so much; why less.");
    }

    #[test]
    fn a_sentence_turns_with_the_numbers() {
        assert_eq!(yes_or_no(true, "3 of 3", "", "why not"), "**Holds**: 3 of 3.");
        assert_eq!(yes_or_no(false, "1 of 3", "", "why not"), "**Contradicted**: 1 of 3; why not.");
    }
}
