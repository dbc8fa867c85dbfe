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
    /// The names of its pictures.
    pictures: Vec<String>,
}

/// What is said of a file that has taken the place of one of the same case and mesh.
pub const SAME: &str = " (replaced)";

impl Earlier {
    /// As the summary in the folder has it; nothing if there is none.
    pub fn read(dir: &Path) -> Option<Earlier> {
        let summary: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.join("summary.json")).ok()?).ok()?;
        let count = |key: &str| summary[key].as_u64();
        let pictures = summary["pictures"].as_array().into_iter().flatten().filter_map(|name| name.as_str());
        let (case, pictures) = (summary["case"].as_str()?.into(), pictures.map(String::from).collect());
        Some(Earlier { case, nodes: count("nodes")?, elements: count("elements")?, pictures })
    }

    /// How many of its pictures are not among the new ones of the same case, and were removed.
    pub fn removed(&self, s: &Summary) -> usize {
        let is_removed = |name: &&String| self.case == s.case && !s.pictures.contains(name);
        self.pictures.iter().filter(is_removed).count()
    }

    /// What to say of a file that has taken its place; more than a word if it was of another case or mesh.
    pub fn replaced(&self, s: &Summary) -> String {
        let Earlier { case, nodes, elements, .. } = self;
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
