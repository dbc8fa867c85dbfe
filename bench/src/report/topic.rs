//! Sections that are about no paper: a heading, what it shows, and each run's tables.

use super::paper::sourced;
use super::plot::Plots;
use super::run::Run;

/// One topic.
pub struct Topic {
    pub heading: &'static str,
    /// What its tables show.
    pub about: &'static str,
    /// The lists of the JSON that they are from.
    pub lists: &'static [&'static str],
    pub tables: fn(&Run, &mut Plots) -> String,
}

/// A chapter of topics, those that some run has figures of; nothing if there is none.
pub fn chapter(heading: &str, about: &str, topics: &[Topic], runs: &[Run], plots: &mut Plots) -> String {
    let mut out = String::new();
    for topic in topics {
        let answers: String = runs.iter().map(|run| sourced(run, topic.lists, topic.tables, plots)).collect();
        if !answers.is_empty() {
            out += &format!("\n### {}\n\n{}\n{answers}", topic.heading, topic.about);
        }
    }
    if out.is_empty() { out } else { format!("\n## {heading}\n\n{about}\n{out}") }
}
