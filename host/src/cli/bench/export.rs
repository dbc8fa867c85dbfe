//! The measured matrix as files, so that other programs can be measured on the same one.
//!
//! Compressed rows of scalars, columns ascending: `row_start.npy` (i64), `columns.npy` (i32), `values.npy` (f64), and
//! `matrix.json`, which says what they are.

use super::header::Header;
use super::synthetic::value;
use rayon::prelude::*;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use warpfem::output::{npy, write_file};
use warpfem::sparse::Sparsity;
use warpfem::{Error, Result};

/// Block rows whose entries are made at a time.
const ROWS: usize = 1 << 16;

/// `matrix.json`.
#[derive(Debug, Serialize)]
pub struct Meta {
    /// As in the reports.
    problem: String,
    nodes: usize,
    elements: usize,
    /// Rows and columns of the matrix.
    dofs: usize,
    /// Rows and columns of its dense blocks.
    block_size: usize,
    blocks: usize,
    ordering: String,
    degree_window: usize,
}

impl Meta {
    /// Of the matrix of a report.
    pub fn new(header: &Header, ordering: &str, degree_window: usize) -> Self {
        Meta {
            problem: header.problem.clone(),
            nodes: header.nodes,
            elements: header.elements,
            dofs: header.dofs,
            block_size: header.block_size,
            blocks: header.blocks,
            ordering: ordering.to_owned(),
            degree_window,
        }
    }
}

/// Writes a matrix into a folder, which is made if it is missing.
///
/// # Errors
///
/// [`Error::Output`] with the file at fault; [`Error::TooLarge`] if columns need more than 31 bits.
pub fn write(folder: &Path, sparsity: &Sparsity, meta: Meta) -> Result<()> {
    let (size, rows) = (meta.block_size, sparsity.n_rows());
    if i32::try_from(size * rows).is_err() {
        return Err(Error::TooLarge(format!("{} columns do not fit 31 bits", size * rows)));
    }
    let at = |path: &Path, source| Error::Output { path: path.to_path_buf(), source };
    std::fs::create_dir_all(folder).map_err(|source| at(folder, source))?;
    let entries = (size * size * sparsity.n_blocks()) as u64;
    array(folder, "row_start.npy", (size * rows + 1) as u64, rows, |row| {
        let before = (size * size) as u64 * sparsity.row_start[row];
        let of_row = (size * sparsity.row(row).len()) as u64;
        let own = (0..size as u64).map(move |i| (before + i * of_row) as i64);
        // The end of the last row ends the array.
        own.chain((row + 1 == rows).then_some(entries as i64)).collect()
    })?;
    array(folder, "columns.npy", entries, rows, |row| {
        let columns = ascending(sparsity, row);
        let of_one = || columns.iter().flat_map(|c| (0..size).map(move |j| (size * *c as usize + j) as i32));
        (0..size).flat_map(|_| of_one()).collect()
    })?;
    array(folder, "values.npy", entries, rows, |row| {
        let columns = ascending(sparsity, row);
        let of_one = |i| {
            let entry = move |c: &u32, j| value(size, [row, *c as usize], [i, j]);
            columns.iter().flat_map(move |c| (0..size).map(move |j| entry(c, j)))
        };
        (0..size).flat_map(of_one).collect::<Vec<f64>>()
    })?;
    write_file(&folder.join("matrix.json"), |file| {
        let text = serde_json::to_string_pretty(&meta)? + "\n";
        file.write_all(text.as_bytes())
    })
}

/// The columns of a row in their order; a pattern has the diagonal first.
fn ascending(sparsity: &Sparsity, row: usize) -> Vec<u32> {
    let mut columns = sparsity.row(row).to_vec();
    columns.sort_unstable();
    columns
}

/// Writes the array of `n` entries that all rows' entries make.
fn array<T: npy::Entry + Send>(
    folder: &Path,
    name: &str,
    n: u64,
    rows: usize,
    of_row: impl Fn(usize) -> Vec<T> + Sync,
) -> Result<()> {
    write_file(&folder.join(name), |file| -> io::Result<()> {
        let mut out = BufWriter::new(file);
        npy::write_header::<T>(&mut out, n)?;
        for start in (0..rows).step_by(ROWS) {
            let end = rows.min(start + ROWS);
            let entries: Vec<T> = (start..end).into_par_iter().flat_map_iter(&of_row).collect();
            npy::write_entries(&mut out, &entries)?;
        }
        out.flush()
    })
}
