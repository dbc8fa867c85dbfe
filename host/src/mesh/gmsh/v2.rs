//! MSH 2.2, ASCII and binary.
//!
//! An element's first tag is its physical group, 0 for none. Gmsh writes an element once for each of its groups, one
//! after the other and under new tags; it is kept once, under the first of them.

use super::cursor::{Cursor, Encoding};
use super::{Raw, kinds, sections};
use crate::element::{ElementKind, MAX_NODES};
use crate::mesh::MeshError;

pub(super) fn read(mut cursor: Cursor) -> Result<Raw, MeshError> {
    let mut raw = Raw::default();
    sections(&mut cursor, &mut raw, |cursor, raw| match cursor.section.as_str() {
        "Nodes" => nodes(cursor, raw).map(|()| true),
        "Elements" if cursor.encoding == Encoding::Ascii => elements_ascii(cursor, raw).map(|()| true),
        "Elements" => elements_binary(cursor, raw).map(|()| true),
        _ => Ok(false),
    })?;
    Ok(raw)
}

/// A count, with the end of its line.
fn count(cursor: &mut Cursor, what: &str) -> Result<u64, MeshError> {
    let n = cursor.as_text(|cursor| cursor.size(what))?;
    cursor.line();
    Ok(n)
}

fn nodes(cursor: &mut Cursor, raw: &mut Raw) -> Result<(), MeshError> {
    for i in 0..count(cursor, "number of nodes")? {
        let what = "a node is missing";
        let tag = match cursor.encoding {
            Encoding::Ascii => cursor.size(what)?,
            _ => cursor.int(what)? as u64,
        };
        let x = [cursor.float(what)?, cursor.float(what)?, cursor.float(what)?];
        debug_assert_eq!(raw.coords.len() as u64, i);
        raw.node_tags.push(tag);
        raw.coords.push(x);
    }
    Ok(())
}

fn elements_ascii(cursor: &mut Cursor, raw: &mut Raw) -> Result<(), MeshError> {
    for _ in 0..count(cursor, "number of elements")? {
        let tag = cursor.size("an element is missing")?;
        let code = cursor.int("type of an element")?;
        let n_tags = cursor.int("number of tags of an element")?;
        element(cursor, raw, tag, code, n_tags)?;
    }
    Ok(())
}

fn elements_binary(cursor: &mut Cursor, raw: &mut Raw) -> Result<(), MeshError> {
    let total = count(cursor, "number of elements")?;
    let mut done = 0;
    while done < total {
        let code = cursor.int("type of a block of elements")?;
        let n = cursor.int("number of elements of a block")?;
        let n_tags = cursor.int("number of tags of a block")?;
        if n <= 0 {
            return Err(cursor.malformed(format!("a block of {n} elements")));
        }
        for _ in 0..n {
            let tag = cursor.int("an element is missing")? as u64;
            element(cursor, raw, tag, code, n_tags)?;
        }
        done += n as u64;
    }
    Ok(())
}

fn element(cursor: &mut Cursor, raw: &mut Raw, tag: u64, code: i32, n_tags: i32) -> Result<(), MeshError> {
    let mut physical = 0;
    for i in 0..n_tags {
        let value = cursor.int("tags of an element")?;
        if i == 0 {
            physical = value;
        }
    }
    let physical: &[i32] = if physical == 0 { &[] } else { &[physical] };
    let mut nodes = [0; MAX_NODES];
    let Some(kind) = ElementKind::from_gmsh(code) else {
        let Some((_, n)) = kinds::gmsh_kind(code) else {
            raw.push_unknown(code, tag, &[], physical);
            return raw.check_kinds();
        };
        let nodes = (0..n).map(|_| cursor.int("nodes of an element").map(|node| node as u64));
        raw.push_unknown(code, tag, &nodes.collect::<Result<Vec<_>, _>>()?, physical);
        return Ok(());
    };
    let n = kind.info().n_nodes;
    for node in &mut nodes[..n] {
        *node = cursor.int("nodes of an element")? as u64;
    }
    raw.push_or_join(kind, tag, &nodes[..n], physical);
    Ok(())
}
