//! What a folder for results held before: new results take the place of the old, and say so.

use super::print::count;
use crate::output::Summary;
use std::path::Path;

/// The results that a folder held before, as its summary has them.
#[derive(Debug, serde::Deserialize)]
pub struct Earlier {
    pub case: String,
    nodes: usize,
    elements: usize,
    #[serde(default)]
    pictures: Vec<String>,
}

/// What is said of a file that has taken the place of one of the same case and mesh.
pub const SAME: &str = " (replaced)";

impl Earlier {
    /// Nothing if there is none.
    pub fn read(dir: &Path) -> Option<Earlier> {
        serde_json::from_slice(&std::fs::read(dir.join("summary.json")).ok()?).ok()
    }

    /// How many of its pictures are not among the new ones of the same case, and were removed.
    pub fn removed(&self, s: &Summary) -> usize {
        let is_removed = |name: &&String| self.case == s.case && !s.pictures.contains(name);
        self.pictures.iter().filter(is_removed).count()
    }

    /// What to say of a file that has taken its place; more than a word if it was of another case or mesh.
    pub fn replaced(&self, s: &Summary) -> String {
        let Earlier { case, nodes, elements, .. } = self;
        match *case == s.case && [*nodes, *elements] == [s.nodes, s.elements] {
            true => SAME.into(),
            false => {
                format!(" (replaced results of {case}: {} nodes, {} elements)", count(*nodes), count(*elements))
            }
        }
    }
}
