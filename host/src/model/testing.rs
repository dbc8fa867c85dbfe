//! What the tests of this module share: cases on small boxes.

use std::path::Path;

use super::{Case, Model};
use crate::mesh::{Cells, Mesh};
use crate::model::Error;

/// A box of 2 x 1 x 0.5 with 4 x 2 x 1 cells and a soft material, before supports and loads.
pub fn head(element: &str) -> String {
    format!(
        "[mesh]\ngenerate = {{ kind = \"box\", element = \"{element}\", size = [2.0, 1.0, 0.5], cells = [4, 2, 1] }}\n\
         [[material]]\nname = \"soft\"\nyoung = 1e6\npoisson = 0.3\n"
    )
}

/// A support that holds the box.
pub const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";

/// The same with that support, and loads or more.
pub fn clamped(element: &str, rest: &str) -> String {
    format!("{}{CLAMP}{rest}", head(element))
}

/// Resolves a case text on its own generated mesh.
pub fn load(text: &str) -> Result<Model, Error> {
    let case = Case::parse(Path::new("box.toml"), text)?;
    let mesh = case.mesh()?;
    Model::resolve(&case, mesh)
}

/// What a model is warned of, but for elements that are few across [`head`]'s box.
pub fn warned(model: &Model) -> Vec<&str> {
    model.warnings.iter().map(String::as_str).filter(|said| !said.contains("through the thickness")).collect()
}

/// A case text is refused with this exit code, by a message that holds these words; those after `>` at its start.
#[track_caller]
pub fn refused(text: &str, code: u8, words: &[&str]) {
    check_refusal(load(text), code, words);
}

/// The same on another mesh than it names.
#[track_caller]
pub fn refused_on(text: &str, mesh: Mesh, code: u8, words: &[&str]) {
    check_refusal(load_on(text, mesh), code, words);
}

#[track_caller]
fn check_refusal(model: Result<Model, Error>, code: u8, words: &[&str]) {
    let error = model.expect_err("this must be refused");
    assert_eq!(error.exit_code(), code, "{error}");
    let message = error.to_string();
    assert!(message.contains("help: "), "no next step in\n{message}");
    for word in words {
        let is_there = word.strip_prefix('>').map_or(message.contains(word), |start| message.starts_with(start));
        assert!(is_there, "{message}\ndoes not hold {word}");
    }
}

/// Resolves a case text on another mesh than it names.
pub fn load_on(text: &str, mesh: Mesh) -> Result<Model, Error> {
    Model::resolve(&Case::parse(Path::new("box.toml"), text)?, mesh)
}

/// Two meshes in one: the second shifted, its tags after the first's, groups of one name united.
pub fn beside(mut a: Mesh, b: &Mesh, shift: [f64; 3]) -> Mesh {
    let first_node = a.coords.len() as u32;
    let last_tag = a.cells.iter().flat_map(|block| &block.tags).max().copied().unwrap_or(0);
    let last_node = a.node_tags.iter().max().copied().unwrap_or(0);
    a.coords.extend(b.coords.iter().map(|x| [0, 1, 2].map(|c| x[c] + shift[c])));
    a.node_tags.extend(b.node_tags.iter().map(|tag| tag + last_node));
    let first_block = a.cells.len();
    a.cells.extend(b.cells.iter().map(|block| Cells {
        kind: block.kind,
        nodes: block.nodes.iter().map(|node| node + first_node).collect(),
        tags: block.tags.iter().map(|tag| tag + last_tag).collect(),
    }));
    for group in &b.groups {
        let members = group.members.iter().map(|(block, cells)| (block + first_block, cells.clone()));
        match a.groups.iter_mut().find(|known| known.name == group.name) {
            Some(known) => known.members.extend(members),
            None => a.groups.push(crate::mesh::Group { members: members.collect(), ..group.clone() }),
        }
    }
    a
}
