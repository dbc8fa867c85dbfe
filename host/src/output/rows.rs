//! Rows of text or bytes that are formatted in parallel and written in order.

use std::io::{self, Write};

use rayon::prelude::*;

/// Rows formatted by one task; some 2 MB of text.
pub(super) const CHUNK: usize = 1 << 13;
/// Chunks held in memory before they are written.
pub(super) const WINDOW: usize = 32;

/// Writes what `row` appends for each of `n` rows.
pub(super) fn write<W: Write>(
    out: &mut W,
    n: usize,
    row: impl Fn(usize, &mut Vec<u8>) -> io::Result<()> + Sync,
) -> io::Result<()> {
    for window in (0..n).step_by(CHUNK * WINDOW) {
        let starts: Vec<usize> = (window..n.min(window + CHUNK * WINDOW)).step_by(CHUNK).collect();
        let format = |&start: &usize| {
            let mut text = Vec::new();
            (start..n.min(start + CHUNK)).try_for_each(|i| row(i, &mut text)).map(|()| text)
        };
        let texts: Vec<Vec<u8>> = starts.par_iter().map(format).collect::<io::Result<_>>()?;
        texts.iter().try_for_each(|text| out.write_all(text))?;
    }
    Ok(())
}
