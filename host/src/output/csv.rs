//! `<case>.csv`: one line per element, its tag and its von Mises stress, or how steep its potential is.
//!
//! Numbers are the shortest that read back to the same bits.

use std::io::{self, Write};

use rayon::prelude::*;

use crate::mesh::Mesh;

/// Lines formatted by one task; some 1.5 MB of text.
const CHUNK: usize = 1 << 16;
/// Chunks held in memory before they are written.
const WINDOW: usize = 32;

/// Writes the header `element,` and the column's name, and a line for every cell of the mesh's highest dimension, in
/// the order of the mesh. The column's values are `[n_blocks][n_cells]`.
pub fn write<W: Write>(mut out: W, mesh: &Mesh, (name, column): (&str, &[Vec<f64>])) -> io::Result<()> {
    writeln!(out, "element,{name}")?;
    for (block, cells) in mesh.solids() {
        for (tags, values) in cells.tags.chunks(CHUNK * WINDOW).zip(column[block].chunks(CHUNK * WINDOW)) {
            let pairs = tags.par_chunks(CHUNK).zip(values.par_chunks(CHUNK));
            let texts: io::Result<Vec<_>> = pairs.map(|(tags, values)| lines(tags, values)).collect();
            texts?.iter().try_for_each(|text| out.write_all(text))?;
        }
    }
    out.flush()
}

/// The lines of some elements.
fn lines(tags: &[u64], values: &[f64]) -> io::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(tags.len() * 28);
    for (tag, value) in tags.iter().zip(values) {
        // Debug, not Display: Display writes 1e300 with 301 digits.
        writeln!(text, "{tag},{value:?}")?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::hex_pair;

    #[test]
    fn every_value_reads_back_to_the_same_bits() {
        let mesh = hex_pair();
        let von_mises = vec![vec![], vec![1.0 / 3.0 * 1e8, 5e-324]];
        let mut text = Vec::new();
        write(&mut text, &mesh, ("von_mises", &von_mises)).unwrap();
        let text = String::from_utf8(text).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("element,von_mises"));
        let read: Vec<(u64, f64)> = lines
            .map(|line| line.split_once(',').unwrap())
            .map(|(tag, value)| (tag.parse().unwrap(), value.parse().unwrap()))
            .collect();
        assert_eq!(read, vec![(41, von_mises[1][0]), (42, von_mises[1][1])]);
    }

    #[test]
    fn chunks_join_in_order() {
        let mut mesh = hex_pair();
        let n = CHUNK + 3;
        mesh.cells[1].tags = (1..=n as u64).collect();
        mesh.cells[1].nodes = mesh.cells[1].nodes[..8].repeat(n);
        let von_mises = vec![vec![], (0..n).map(|i| i as f64 * 0.1).collect()];
        let mut text = Vec::new();
        write(&mut text, &mesh, ("von_mises", &von_mises)).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), n + 1);
        for (i, line) in text.lines().skip(1).enumerate() {
            assert_eq!(line, format!("{},{:?}", i + 1, von_mises[1][i]));
        }
    }
}
