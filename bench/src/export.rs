//! The measured matrix as files, so that other programs can be measured on the same one.
//!
//! Compressed rows of scalars, columns ascending: `row_start.npy` (i64), `columns.npy` (i32), `values.npy` (f64), and
//! `matrix.json`, which says what they are.

use super::header::Header;
use super::npy;
use super::reference::Reference;
use kernels_rs::real::Real;
use rayon::prelude::*;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use warpfem::output::write_file;
use warpfem::{Result, output, result};

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
/// [`output::Error::Output`] with the file at fault; [`result::Error::TooLarge`] if columns need more than 31 bits.
pub fn write<T: Real>(folder: &Path, matrix: &Reference<T>, meta: Meta) -> Result<()> {
    let (size, rows) = (matrix.block_size, matrix.sparsity.n_rows());
    if i32::try_from(size * rows).is_err() {
        let what = format!("{} columns do not fit 31 bits", size * rows);
        return Err(result::Error::TooLarge(what).into());
    }
    let at = |path: &Path, source| output::Error::Output { path: path.to_path_buf(), source };
    std::fs::create_dir_all(folder).map_err(|source| at(folder, source))?;
    let entries = matrix.blocks.len() as u64;
    array(folder, "row_start.npy", (size * rows + 1) as u64, rows, |row| {
        let before = (size * size) as u64 * matrix.sparsity.row_start[row];
        let of_row = (size * matrix.sparsity.row(row).len()) as u64;
        let own = (0..size as u64).map(move |i| (before + i * of_row) as i64);
        // The end of the last row ends the array.
        own.chain((row + 1 == rows).then_some(entries as i64)).collect()
    })?;
    array(folder, "columns.npy", entries, rows, |row| {
        let blocks = ascending(matrix, row);
        let of_one = || blocks.iter().flat_map(|(_, column)| (0..size).map(move |j| (size * column + j) as i32));
        (0..size).flat_map(|_| of_one()).collect()
    })?;
    array(folder, "values.npy", entries, rows, |row| {
        let blocks = ascending(matrix, row);
        let of_one = |i| blocks.iter().flat_map(move |(k, _)| (0..size).map(move |j| matrix.entry(*k, i, j)));
        (0..size).flat_map(of_one).collect::<Vec<f64>>()
    })?;
    write_file(&folder.join("matrix.json"), |file| {
        let text = serde_json::to_string_pretty(&meta)? + "\n";
        file.write_all(text.as_bytes())
    })?;
    Ok(())
}

/// The blocks of a row with their columns ascending; a pattern has the diagonal first.
fn ascending<T: Real>(matrix: &Reference<T>, row: usize) -> Vec<(usize, usize)> {
    let mut blocks: Vec<(usize, usize)> = matrix.row(row).collect();
    blocks.sort_unstable_by_key(|(_, column)| *column);
    blocks
}

/// Writes the array of `n` entries that all rows' entries make.
fn array<T: npy::Entry + Send>(
    folder: &Path,
    name: &str,
    n: u64,
    rows: usize,
    of_row: impl Fn(usize) -> Vec<T> + Sync,
) -> output::Result<()> {
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
