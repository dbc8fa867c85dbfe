//! One `DataArray` of a VTU: its tag in the XML, its bytes raw or in zlib blocks.

use std::io::{self, Seek, SeekFrom, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use rayon::prelude::*;

/// Bytes made, and compressed, at a time. A multiple of every item's size, so that no item is cut.
const BLOCK: usize = 1 << 20;
/// Compressed blocks held in memory before they are written.
const WINDOW: usize = 64;

/// A stretch of an array.
pub(super) enum Piece<'a> {
    /// Bytes as they are in memory.
    Bytes(&'a [u8]),
    /// `first, first + step, ...`, `count` numbers of 4 bytes, or 8 if `wide`.
    Ramp { first: usize, step: usize, count: usize, wide: bool },
    /// `value`, `count` times.
    Constant { value: u8, count: usize },
    /// Node indices, each cell's in the given order (as they are if it is empty), of 4 bytes, or 8 if `wide`.
    Nodes { nodes: &'a [u32], order: &'static [usize], wide: bool },
}

/// The bytes of plain values.
pub(super) fn bytes<T: bytemuck::NoUninit>(values: &[T]) -> Piece<'_> {
    Piece::Bytes(bytemuck::cast_slice(values))
}

impl Piece<'_> {
    /// Length in bytes.
    fn len(&self) -> usize {
        match *self {
            Piece::Bytes(bytes) => bytes.len(),
            Piece::Ramp { count, wide, .. } => count * if wide { 8 } else { 4 },
            Piece::Constant { count, .. } => count,
            Piece::Nodes { nodes, wide, .. } => nodes.len() * if wide { 8 } else { 4 },
        }
    }

    /// Appends the bytes `start..end`, which do not cut an item, to `out`.
    fn append(&self, start: usize, end: usize, out: &mut Vec<u8>) {
        match *self {
            Piece::Bytes(bytes) => out.extend_from_slice(&bytes[start..end]),
            Piece::Constant { value, .. } => out.resize(out.len() + end - start, value),
            Piece::Nodes { nodes, order, wide: true } => {
                (start / 8..end / 8).for_each(|i| {
                    out.extend_from_slice(&u64::from(nodes[placed(i, order)]).to_ne_bytes());
                });
            }
            Piece::Nodes { nodes, order, wide: false } => {
                (start / 4..end / 4).for_each(|i| out.extend_from_slice(&nodes[placed(i, order)].to_ne_bytes()));
            }
            Piece::Ramp { first, step, wide: true, .. } => {
                (start / 8..end / 8).for_each(|i| out.extend_from_slice(&((first + i * step) as u64).to_ne_bytes()));
            }
            // Not wide means that the largest value is below 2^31.
            Piece::Ramp { first, step, wide: false, .. } => {
                (start / 4..end / 4).for_each(|i| out.extend_from_slice(&((first + i * step) as u32).to_ne_bytes()));
            }
        }
    }
}

/// Where entry `i` of the reordered cells is among the cells as they are.
fn placed(i: usize, order: &[usize]) -> usize {
    if order.is_empty() { i } else { i - i % order.len() + order[i % order.len()] }
}

/// One array: where it belongs in the XML, and what it holds.
pub(super) struct Array<'a> {
    /// The element it is in: `Points`, `Cells`, `PointData` or `CellData`.
    pub section: &'static str,
    /// Its name.
    pub name: &'static str,
    /// VTK's name of the item type.
    pub item: &'static str,
    /// Items per point or cell.
    pub components: usize,
    /// Names of the components, or none.
    pub component_names: &'static [&'static str],
    /// Its content, in order.
    pub pieces: Vec<Piece<'a>>,
}

impl<'a> Array<'a> {
    pub(super) fn new(
        section: &'static str,
        name: &'static str,
        item: &'static str,
        components: usize,
        pieces: Vec<Piece<'a>>,
    ) -> Self {
        Array { section, name, item, components, component_names: &[], pieces }
    }

    /// Length in bytes, uncompressed.
    fn len(&self) -> usize {
        self.pieces.iter().map(Piece::len).sum()
    }

    /// The `DataArray` element, as long for one offset as for another.
    pub(super) fn tag(&self, offset: u64) -> String {
        let mut tag = format!("<DataArray type=\"{}\" Name=\"{}\"", self.item, self.name);
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

    /// Appends the bytes of block `block` to `out`.
    fn append_block(&self, block: usize, out: &mut Vec<u8>) {
        let (start, end) = (block * BLOCK, (block + 1) * BLOCK);
        let mut at = 0;
        for piece in &self.pieces {
            let (from, to) = (start.max(at), end.min(at + piece.len()));
            if from < to {
                piece.append(from - at, to - at, out);
            }
            at += piece.len();
        }
    }

    /// Writes the length as UInt64, then the bytes. What lies in memory goes out as it is.
    pub(super) fn write_raw<W: Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(&(self.len() as u64).to_ne_bytes())?;
        let mut buffer = Vec::new();
        for piece in &self.pieces {
            if let Piece::Bytes(bytes) = piece {
                out.write_all(bytes)?;
                continue;
            }
            for start in (0..piece.len()).step_by(BLOCK) {
                buffer.clear();
                piece.append(start, piece.len().min(start + BLOCK), &mut buffer);
                out.write_all(&buffer)?;
            }
        }
        Ok(())
    }

    /// Writes VTK's compressed form: UInt64 number of blocks, block size, size of a last shorter block or 0, compressed
    /// sizes; then the blocks, each a zlib stream. The sizes are filled in when the blocks are done.
    pub(super) fn write_compressed<W: Write + Seek>(&self, out: &mut W) -> io::Result<()> {
        let n_blocks = self.len().div_ceil(BLOCK);
        let mut header = vec![n_blocks as u64, BLOCK as u64, (self.len() % BLOCK) as u64];
        let start = out.stream_position()?;
        out.write_all(&vec![0; 8 * (header.len() + n_blocks)])?;
        for first in (0..n_blocks).step_by(WINDOW) {
            let window = first..n_blocks.min(first + WINDOW);
            let blocks: Vec<Vec<u8>> =
                window.into_par_iter().map(|i| self.compressed_block(i)).collect::<io::Result<_>>()?;
            for block in &blocks {
                header.push(block.len() as u64);
                out.write_all(block)?;
            }
        }
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(start))?;
        out.write_all(bytemuck::cast_slice(&header))?;
        out.seek(SeekFrom::Start(end))?;
        Ok(())
    }

    /// Block `block` as a zlib stream.
    fn compressed_block(&self, block: usize) -> io::Result<Vec<u8>> {
        let mut plain = Vec::with_capacity(BLOCK.min(self.len()));
        self.append_block(block, &mut plain);
        let mut encoder = ZlibEncoder::new(Vec::with_capacity(plain.len() / 2), Compression::fast());
        encoder.write_all(&plain)?;
        encoder.finish()
    }
}
