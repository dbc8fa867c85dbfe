//! What the report says and where its figures come from: `report.toml`, read once.

use super::block::Block;
use super::expression::Expression;
use super::paper::{Paper, sourced};
use super::plot::Plots;
use super::run::Run;
use super::select::Select;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The report's outline.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// Selections by name.
    pub select: BTreeMap<String, Select>,
    /// What entries of a list are ordered by, by problem.
    pub order: Vec<Expression>,
    /// The papers, in the order of the report.
    #[serde(rename = "paper")]
    pub papers: Vec<Paper>,
    /// What is about no paper.
    #[serde(rename = "chapter")]
    pub chapters: Vec<Chapter>,
}

/// A chapter of topics.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    heading: String,
    about: String,
    #[serde(rename = "topic")]
    topics: Vec<Topic>,
}

/// A heading, and each run's tables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Topic {
    heading: String,
    /// What its tables show.
    about: String,
    /// The lists of the JSON that they are from.
    lists: Vec<String>,
    answer: Option<Answer>,
    #[serde(rename = "block", default)]
    blocks: Vec<Block>,
}

/// The name of a function of [`ANSWERS`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Answer(String);

/// Makes text and plots of a machine's figures; no text if it lacks what that takes.
type Make = fn(&Run, &mut Plots) -> String;

macro_rules! answers {
    ($($module:ident: $($name:ident),+;)+) => {
        &[$($((concat!(stringify!($module), "::", stringify!($name)), super::$module::$name)),+),+]
    };
}

/// Every function that makes a section, by its module and name.
const ANSWERS: &[(&str, Make)] = answers! {
    dsm_rates: rates, stages, convergence, vase, memory;
    femses_gpu: block_sizes;
    femses_iteration: exact, growth;
    femses_table: every;
    phases: cpu_phases, breakdown, section;
    precond: every;
    products: by_format, orders;
    roofline: roofline;
    sbell_solver: iterations, times, jacobi, devices;
    trials: trials;
    warp: meshes, strategies, colors;
};

/// The outline of `report.toml`.
pub static OUTLINE: LazyLock<Outline> = LazyLock::new(|| {
    let found = toml::from_str(include_str!("report.toml"));
    found.unwrap_or_else(|error| panic!("report.toml: {error}"))
});

/// A machine's section: by its function, and its blocks.
pub fn made(answer: &Option<Answer>, blocks: &'static [Block], run: &Run, plots: &mut Plots) -> String {
    let own = answer.as_ref().map_or(String::new(), |answer| answer.make(run, plots));
    blocks.iter().fold(own, |text, block| text + &block.make(&run.json))
}

impl Answer {
    /// A machine's answer.
    fn make(&self, run: &Run, plots: &mut Plots) -> String {
        let found = ANSWERS.iter().find(|(name, _)| *name == self.0);
        found.unwrap_or_else(|| panic!("report.toml: there is no answer {}", self.0)).1(run, plots)
    }
}

impl Chapter {
    /// Its topics, those that some run has figures of; nothing if there is none.
    pub fn text(&'static self, runs: &[Run], plots: &mut Plots) -> String {
        let mut out = String::new();
        for topic in &self.topics {
            let make = |run: &Run, plots: &mut Plots| made(&topic.answer, &topic.blocks, run, plots);
            let answers: String = runs.iter().map(|run| sourced(run, &topic.lists, make, plots)).collect();
            if !answers.is_empty() {
                out += &format!("\n### {}\n\n{}\n{answers}", topic.heading, topic.about);
            }
        }
        if out.is_empty() { out } else { format!("\n## {}\n\n{}\n{out}", self.heading, self.about) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_answer_is_there_and_used() {
        let of_papers = OUTLINE.papers.iter().flat_map(|paper| &paper.items).filter_map(|item| item.answer.as_ref());
        let of_topics =
            OUTLINE.chapters.iter().flat_map(|chapter| &chapter.topics).filter_map(|topic| topic.answer.as_ref());
        let named: BTreeSet<&str> = of_papers.chain(of_topics).map(|answer| answer.0.as_str()).collect();
        let there: BTreeSet<&str> = ANSWERS.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, there);
    }
}
