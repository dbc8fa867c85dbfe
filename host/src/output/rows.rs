//! Rows of text or bytes that are formatted in parallel and written in order.

use std::io::{self, Write};

use crate::parallel;

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
        let texts = parallel::map_ranges((n - window).min(CHUNK * WINDOW), CHUNK, &|mut rows| {
            let mut text = Vec::new();
            rows.try_for_each(|i| row(window + i, &mut text)).map(|()| text)
        });
        texts.into_iter().try_for_each(|text: io::Result<_>| out.write_all(&text?))?;
    }
    Ok(())
}
