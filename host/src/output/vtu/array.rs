//! One `DataArray` of a VTU: its tag in the XML, its bytes.

use std::io::{self, Read, Write};

use warpfem_text::escape;

/// Integers made at a time.
const BLOCK: usize = 1 << 18;

/// A stretch of an array.
pub(super) enum Piece<'a> {
    /// Bytes as they are in memory.
    Bytes(&'a [u8]),
    /// Whole numbers, of 4 bytes.
    Indices(&'a [f64]),
    /// `first, first + step, ...`, `count` numbers of 4 bytes, or 8 if `wide`.
    Ramp { first: usize, step: usize, count: usize, wide: bool },
    /// `value`, `count` times.
    Constant { value: u8, count: usize },
    /// Node indices, each cell's in the given order (as they are if it is empty), of 4 bytes, or 8 if `wide`.
    Nodes { nodes: &'a [u32], order: &'static [usize], wide: bool },
}

pub(super) fn bytes<T: bytemuck::NoUninit>(values: &[T]) -> Piece<'_> {
    Piece::Bytes(bytemuck::cast_slice(values))
}

impl Piece<'_> {
    /// Length in bytes.
    fn len(&self) -> usize {
        let size = |wide| if wide { 8 } else { 4 };
        match *self {
            Piece::Bytes(bytes) => bytes.len(),
            Piece::Indices(values) => 4 * values.len(),
            Piece::Ramp { count, wide, .. } => count * size(wide),
            Piece::Constant { count, .. } => count,
            Piece::Nodes { nodes, wide, .. } => nodes.len() * size(wide),
        }
    }

    fn write<W: Write>(&self, out: &mut W) -> io::Result<()> {
        match *self {
            Piece::Bytes(bytes) => out.write_all(bytes),
            Piece::Constant { value, count } => io::copy(&mut io::repeat(value).take(count as u64), out).map(drop),
            Piece::Indices(values) => write_integers(out, values.len(), false, |i| values[i] as usize),
            Piece::Ramp { first, step, count, wide } => write_integers(out, count, wide, |i| first + i * step),
            Piece::Nodes { nodes, order, wide } => {
                write_integers(out, nodes.len(), wide, |i| nodes[placed(i, order)] as usize)
            }
        }
    }
}

/// Writes `count` numbers, of which none is above 2^32 unless they are `wide`.
fn write_integers<W: Write>(out: &mut W, count: usize, wide: bool, number: impl Fn(usize) -> usize) -> io::Result<()> {
    let mut buffer = Vec::new();
    for start in (0..count).step_by(BLOCK) {
        buffer.clear();
        for number in (start..count.min(start + BLOCK)).map(&number) {
            match wide {
                true => buffer.extend_from_slice(&(number as u64).to_ne_bytes()),
                false => buffer.extend_from_slice(&(number as u32).to_ne_bytes()),
            }
        }
        out.write_all(&buffer)?;
    }
    Ok(())
}

/// Where entry `i` of the reordered cells is among the cells as they are.
fn placed(i: usize, order: &[usize]) -> usize {
    if order.is_empty() { i } else { i - i % order.len() + order[i % order.len()] }
}

/// One array: where it belongs in the XML, and what it holds.
pub(super) struct Array<'a> {
    /// The element it is in: `Points`, `Cells`, `PointData` or `CellData`.
    pub section: &'static str,
    pub name: &'a str,
    /// VTK's name of the item type.
    pub item: &'static str,
    /// Items per point or cell.
    pub components: usize,
    pub component_names: &'static [&'static str],
    /// Its content, in order.
    pub pieces: Vec<Piece<'a>>,
}

impl<'a> Array<'a> {
    pub(super) fn new(
        section: &'static str,
        name: &'a str,
        item: &'static str,
        components: usize,
        pieces: Vec<Piece<'a>>,
    ) -> Self {
        Array { section, name, item, components, component_names: &[], pieces }
    }

    /// The `DataArray` element, as long for one offset as for another.
    pub(super) fn tag(&self, offset: u64) -> String {
        let mut tag = format!("<DataArray type=\"{}\" Name=\"{}\"", self.item, escape(self.name));
        // meshio gives a scalar that states one component the shape [n][1].
        if self.components > 1 {
            tag += &format!(" NumberOfComponents=\"{}\"", self.components);
        }
        for (i, name) in self.component_names.iter().enumerate() {
            tag += &format!(" ComponentName{i}=\"{name}\"");
        }
        let offset = format!("\"{offset}\"");
        tag + &format!(" format=\"appended\" offset={offset:<22}/>\n")
    }

    /// Writes the length as UInt64, then the bytes. What lies in memory goes out as it is.
    pub(super) fn write<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let length: usize = self.pieces.iter().map(Piece::len).sum();
        out.write_all(&(length as u64).to_ne_bytes())?;
        self.pieces.iter().try_for_each(|piece| piece.write(out))
    }
}
