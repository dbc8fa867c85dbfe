//! MSH 4.1, ASCII and binary, through the `mshio` crate.
//!
//! `mshio` skips `$PhysicalNames`, drops node tags unless they are sparse, panics on some counts, and says of a broken
//! file only that a number was expected. So the file is walked here first: the walk takes the names and node tags,
//! checks every count against what is there, and names what is wrong; `mshio` then reads coordinates, elements and
//! entities.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mshio::{MshData, MshFile};

use super::cursor::{Cursor, Encoding};
use super::{Raw, kinds, sections};
use crate::element::ElementKind;
use crate::mesh::MeshError;

pub(super) fn read(mut cursor: Cursor) -> Result<Raw, MeshError> {
    let bytes = cursor.bytes;
    let mut raw = Raw::default();
    sections(&mut cursor, &mut raw, |cursor, raw| match cursor.section.as_str() {
        "Entities" => entities(cursor).map(|()| true),
        "Nodes" => nodes(cursor, raw).map(|()| true),
        "Elements" => elements(cursor, raw).map(|()| true),
        _ => Ok(false),
    })?;
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
    let parsed = catch_unwind(AssertUnwindSafe(|| mshio::parse_msh_bytes(&bytes[start..]).map_err(|e| reason(&e))));
    let file = parsed.unwrap_or_else(|_| Err("the reader gave up".into()));
    take(file.map_err(|detail| MeshError::Malformed { section: "MeshFormat".into(), detail })?, &mut raw)?;
    Ok(raw)
}

/// What `mshio` objects to, without the hexadecimal dump of the file.
fn reason(error: &mshio::MshParserError<&[u8]>) -> String {
    let kinds: Vec<String> = error.filter_msh_errors().map(|(_, kind)| kind.to_string()).collect();
    kinds.join(", in ")
}

fn entities(cursor: &mut Cursor) -> Result<(), MeshError> {
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = cursor.size("numbers of entities")?;
    }
    for (dim, count) in counts.into_iter().enumerate() {
        for _ in 0..count {
            cursor.int("tag of an entity")?;
            cursor.pass(if dim == 0 { 3 } else { 6 }, 8, "extent of an entity")?;
            for _ in 0..if dim == 0 { 1 } else { 2 } {
                let n = cursor.size("number of tags of an entity")?;
                cursor.pass(n, 4, "tags of an entity")?;
            }
        }
    }
    Ok(())
}

/// Calls `read` with the name of each block of a section, and with the number that follows its entity.
///
/// Before the blocks stand the total and the range of tags; `mshio` counts down from both.
fn blocks(
    cursor: &mut Cursor,
    mut read: impl FnMut(&mut Cursor, &str, i32) -> Result<(), MeshError>,
) -> Result<(), MeshError> {
    let blocks = cursor.size("number of blocks")?;
    let [total, low, high] = [cursor.size("the total")?, cursor.size("lowest tag")?, cursor.size("highest tag")?];
    if total == 0 || low == 0 || high < low {
        return Err(cursor.malformed(format!("it announces {total} entries with tags from {low} to {high}")));
    }
    for block in 0..blocks {
        let what = format!("block {} of {blocks}", block + 1);
        cursor.pass(2, 4, &what)?;
        let number = cursor.int(&what)?;
        read(cursor, &what, number)?;
    }
    Ok(())
}

fn nodes(cursor: &mut Cursor, raw: &mut Raw) -> Result<(), MeshError> {
    blocks(cursor, |cursor, what, parametric| {
        if parametric != 0 {
            return Err(cursor.malformed("parametric coordinates are not supported (save without them)".into()));
        }
        let n = cursor.size(what)?;
        let first = raw.node_tags.len();
        for _ in 0..n {
            raw.node_tags.push(cursor.size(what)?);
        }
        match cursor.encoding {
            Encoding::Ascii => coordinates(cursor, &raw.node_tags[first..], what),
            _ => cursor.pass(n, 24, what),
        }
    })
}

/// Passes over coordinates in text; `mshio` cannot read "nan" or "inf", so they are caught here.
fn coordinates(cursor: &mut Cursor, tags: &[u64], what: &str) -> Result<(), MeshError> {
    for &node in tags {
        for _ in 0..3 {
            let word = cursor.word(what)?;
            if word.iter().any(|b| b"nN".contains(b)) {
                return Err(MeshError::NonFinite(node));
            }
        }
    }
    Ok(())
}

fn elements(cursor: &mut Cursor, raw: &mut Raw) -> Result<(), MeshError> {
    blocks(cursor, |cursor, what, code| {
        let n = cursor.size(what)?;
        let width = match kinds::gmsh_kind(code) {
            Some((_, n_nodes)) => n_nodes + 1,
            // How long its elements are is not known, nor what follows them.
            None if n > 0 => {
                raw.push_unknown(code, cursor.size(what)?, &[], &[]);
                return raw.check_kinds();
            }
            None => 0,
        };
        cursor.pass(n.saturating_mul(width), 8, what)
    })
}

/// Moves what `mshio` read into `raw`, whose node tags are there already.
fn take(file: MshFile<u64, i32, f64>, raw: &mut Raw) -> Result<(), MeshError> {
    let physical = physical_tags(&file.data);
    raw.volume_entities = file.data.entities.is_some_and(|entities| !entities.volumes.is_empty());
    for block in file.data.nodes.into_iter().flat_map(|nodes| nodes.node_blocks) {
        raw.coords.extend(block.nodes.iter().map(|node| [node.x, node.y, node.z]));
    }
    for block in file.data.elements.into_iter().flat_map(|elements| elements.element_blocks) {
        let code = block.element_type as i32;
        let kind = ElementKind::from_gmsh(code);
        let groups = physical.get(&(block.entity_dim, block.entity_tag)).map_or(&[][..], Vec::as_slice);
        for element in block.elements {
            match kind {
                Some(kind) => raw.push(kind, element.element_tag, &element.nodes, groups),
                None => raw.push_unknown(code, element.element_tag, &element.nodes, groups),
            }
        }
    }
    Ok(())
}

fn physical_tags(data: &MshData<u64, i32, f64>) -> HashMap<(i32, i32), Vec<i32>> {
    let Some(entities) = &data.entities else { return HashMap::new() };
    let points = entities.points.iter().map(|e| ((0, e.tag), e.physical_tags.clone()));
    let curves = entities.curves.iter().map(|e| ((1, e.tag), e.physical_tags.clone()));
    let surfaces = entities.surfaces.iter().map(|e| ((2, e.tag), e.physical_tags.clone()));
    let volumes = entities.volumes.iter().map(|e| ((3, e.tag), e.physical_tags.clone()));
    points.chain(curves).chain(surfaces).chain(volumes).collect()
}
