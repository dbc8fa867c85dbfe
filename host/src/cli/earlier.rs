//! What a folder for results held before: new results take the place of the old, and say so.

use super::print::count;
use crate::output::Summary;
use std::path::Path;

/// The results that a folder held before.
#[derive(Debug)]
pub struct Earlier {
    /// The case they were of.
    pub case: String,
    nodes: u64,
    elements: u64,
}

/// What is said of a file that has taken the place of one of the same case and mesh.
pub const SAME: &str = " (replaced)";

impl Earlier {
    /// As the summary in the folder has it; nothing if there is none.
    pub fn read(dir: &Path) -> Option<Earlier> {
        let summary: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.join("summary.json")).ok()?).ok()?;
        let count = |key: &str| summary[key].as_u64();
        Some(Earlier { case: summary["case"].as_str()?.into(), nodes: count("nodes")?, elements: count("elements")? })
    }

    /// What to say of a file that has taken its place; more than a word if it was of another case or mesh.
    pub fn replaced(&self, s: &Summary) -> String {
        let Earlier { case, nodes, elements } = self;
        match (case == &s.case, (*nodes, *elements) == (s.nodes as u64, s.elements as u64)) {
            (true, true) => SAME.into(),
            _ => format!(
                " (replaced results of {case}: {} nodes, {} elements)",
                count(*nodes as usize),
                count(*elements as usize)
            ),
        }
    }
}
