//! Gmsh's mesh files (MSH): 4.1 through the `mshio` crate, 2.2 by a reader of our own, both ASCII and binary.
//!
//! Format: Gmsh reference manual, "MSH file format" and "MSH file format version 2 (Legacy)".

mod cursor;
pub(super) mod foreign;
pub(super) mod kinds;
mod v2;
mod v4;

use std::path::Path;

use self::cursor::{Cursor, Encoding};
use super::raw::Raw;
use super::{Mesh, MeshError};
use warpfem_text::files;

impl Mesh {
    /// Reads and checks a Gmsh file, MSH 4.1 or 2.2, ASCII or binary.
    ///
    /// Nodes that no element of the highest dimension uses are left out, with a warning; the others keep their order.
    ///
    /// # Errors
    /// [`MeshError::InFile`] round whatever is wrong.
    pub fn read(path: &Path) -> Result<Mesh, MeshError> {
        in_file(path, Mesh::parse)
    }

    /// The same of a file whose elements may be bad: the mesh, and what is wrong with each of them.
    ///
    /// # Errors
    /// As [`Mesh::read`], but for what is wrong with elements.
    pub fn inspect(path: &Path) -> Result<(Mesh, Vec<MeshError>), MeshError> {
        in_file(path, |bytes| {
            let (mesh, mut bad) = raw(bytes)?.into_reviewed()?;
            if bad.is_empty() {
                bad.extend(mesh.check_hanging().err());
            }
            Ok((mesh, bad))
        })
    }

    /// Reads and checks a mesh out of the bytes of a MSH file.
    pub fn parse(bytes: &[u8]) -> Result<Mesh, MeshError> {
        raw(bytes)?.into_mesh()
    }
}

/// What `read` makes of a file's bytes, with the file's name on its errors.
fn in_file<T>(path: &Path, read: impl Fn(&[u8]) -> Result<T, MeshError>) -> Result<T, MeshError> {
    let bytes = std::fs::read(path).map_err(|error| match path.is_file() {
        true => MeshError::Io(error),
        false => MeshError::NoFile { why: files::reason(path, &error), instead: files::instead(path, "msh", "meshes") },
    });
    bytes
        .and_then(|bytes| read(&bytes))
        .map_err(|source| MeshError::InFile { path: path.into(), source: Box::new(source) })
}

fn raw(bytes: &[u8]) -> Result<Raw, MeshError> {
    let mut cursor = Cursor { bytes, at: 0, section: "MeshFormat".into(), encoding: Encoding::Ascii };
    let version = header(&mut cursor)?;
    match version.as_str() {
        "4.1" => v4::read(cursor),
        "2.2" | "2.1" | "2" | "2.0" => v2::read(cursor),
        _ => Err(MeshError::Version(version)),
    }
}

/// Reads `$MeshFormat`, sets the encoding and returns the version.
fn header(cursor: &mut Cursor) -> Result<String, MeshError> {
    cursor.skip_space();
    if !cursor.bytes[cursor.at..].starts_with(b"$MeshFormat") {
        return Err(MeshError::NotMsh(foreign::guess(cursor.bytes)));
    }
    cursor.line();
    let version = String::from_utf8_lossy(cursor.word("version")?).into_owned();
    let binary = cursor.int("file type")?;
    let size = cursor.int("data size")?;
    if !matches!(binary, 0 | 1) || size != 8 {
        return Err(cursor.malformed(format!("file type {binary} with data size {size}; expected 0 or 1 with 8")));
    }
    if binary == 1 {
        cursor.line();
        let mark = cursor.bytes.get(cursor.at..).and_then(|rest| rest.first_chunk::<4>());
        cursor.encoding = match mark.map(|&mark| u32::from_le_bytes(mark)) {
            Some(1) => Encoding::Little,
            Some(0x0100_0000) => Encoding::Big,
            Some(_) => return Err(cursor.malformed("the byte order mark is not 1".into())),
            None => return Err(cursor.truncated("the byte order mark")),
        };
        cursor.at += 4;
    }
    cursor.close()?;
    Ok(version)
}

/// Walks the sections of a file; `read` handles those it knows and says whether it did.
fn sections<'a>(
    cursor: &mut Cursor<'a>,
    raw: &mut Raw,
    mut read: impl FnMut(&mut Cursor<'a>, &mut Raw) -> Result<bool, MeshError>,
) -> Result<(), MeshError> {
    loop {
        cursor.skip_space();
        if cursor.at >= cursor.bytes.len() {
            return Ok(());
        }
        if cursor.bytes[cursor.at] != b'$' {
            return Err(cursor.malformed("there is text after its end that begins no section".into()));
        }
        cursor.at += 1;
        cursor.section = cursor.line();
        if cursor.section == "PhysicalNames" {
            cursor.as_text(|cursor| names(cursor, raw))?;
            cursor.close()?;
        } else if read(cursor, raw)? {
            cursor.close()?;
        } else {
            cursor.skip_section()?;
        }
    }
}

fn names(cursor: &mut Cursor, raw: &mut Raw) -> Result<(), MeshError> {
    for _ in 0..cursor.size("number of names")? {
        let dim = cursor.int("dimension of a group")?;
        let tag = cursor.int("tag of a group")?;
        let line = cursor.line();
        let name = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let name = name.ok_or_else(|| cursor.malformed(format!("the name {line} is not in quotes")))?;
        raw.names.insert((dim, tag), name.to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
