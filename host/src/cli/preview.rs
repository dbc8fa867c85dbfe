//! The part in the terminal: two pixels to a character, the upper half block's fore- and background, in 24-bit colour.
//!
//! Only for a terminal that says that it has such colours (`COLORTERM`), and where [colours](print::has_colours) are
//! wanted.

use super::print;
use crate::mesh::Mesh;
use crate::output::picture::{Thumbnail, thumbnail};
use crate::result::Step;
use std::env;
use std::fmt::Write;
use std::io::stdout;

/// Pixels across and down, at most: 72 columns, 24 lines.
const MOST: [usize; 2] = [72, 48];
/// Ends all colours.
const PLAIN: &str = "\x1b[0m";

/// The lines to print for results, or nothing where the terminal would not show them.
pub fn of(mesh: &Mesh, step: &Step, quiet: bool) -> String {
    if quiet || !print::has_colours(&stdout()) || !is_fine(env::var("COLORTERM").ok().as_deref()) {
        return String::new();
    }
    thumbnail(mesh, step, MOST).map_or(String::new(), |picture| encode(&picture))
}

/// Whether a terminal that says this of its colours has 24 bits of them.
fn is_fine(colorterm: Option<&str>) -> bool {
    matches!(colorterm, Some("truecolor" | "24bit"))
}

/// A picture as lines of half blocks; pixels without a colour keep the terminal's background.
fn encode(picture: &Thumbnail) -> String {
    let rows: Vec<_> = picture.pixels.chunks(picture.width.max(1)).collect();
    let mut out = String::new();
    for pair in rows.chunks(2) {
        let lower = |x: usize| pair.get(1).and_then(|row| row[x]);
        let cells: Vec<_> = pair[0].iter().enumerate().map(|(x, upper)| (*upper, lower(x))).collect();
        let end = cells.iter().rposition(|cell| *cell != (None, None)).map_or(0, |last| last + 1);
        out += "  ";
        let mut before = (None, None);
        for &cell in &cells[..end] {
            encode_cell(&mut out, before, cell);
            before = cell;
        }
        out += if end > 0 { PLAIN } else { "" };
        out.push('\n');
    }
    out
}

type Cell = (Option<[u8; 3]>, Option<[u8; 3]>);

/// Appends one character, and its colours if they differ from those `before`.
fn encode_cell(out: &mut String, before: Cell, cell: Cell) {
    // An empty half is the background's, so the block turns over where only the lower half has a colour.
    let paint = |[r, g, b]: [u8; 3], ground: u8| format!("\x1b[{ground}8;2;{r};{g};{b}m");
    let (character, colors) = match cell {
        (None, None) => (' ', String::new()),
        (Some(upper), None) => ('▀', paint(upper, 3)),
        (None, Some(lower)) => ('▄', paint(lower, 3)),
        (Some(upper), Some(lower)) => ('▀', paint(upper, 3) + &paint(lower, 4)),
    };
    if cell != before {
        // Writing to a string cannot fail.
        let _ = write!(out, "{PLAIN}{colors}");
    }
    out.push(character);
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Option<[u8; 3]> = Some([255, 0, 0]);
    const BLUE: Option<[u8; 3]> = Some([0, 0, 255]);

    #[test]
    fn halves_become_blocks_and_colours() {
        let pixels = vec![RED, RED, None, None, BLUE, BLUE, BLUE, None];
        let text = encode(&Thumbnail { width: 4, pixels });
        let both = "\x1b[0m\x1b[38;2;255;0;0m\x1b[48;2;0;0;255m▀▀";
        assert_eq!(text, format!("  {both}\x1b[0m\x1b[38;2;0;0;255m▄\x1b[0m\n"));
    }

    #[test]
    fn an_odd_row_at_the_end_has_upper_halves_and_an_empty_one_nothing() {
        let pixels = vec![None, None, None, None, RED, None];
        assert_eq!(encode(&Thumbnail { width: 2, pixels }), "  \n  \x1b[0m\x1b[38;2;255;0;0m▀\x1b[0m\n");
    }

    #[test]
    fn colours_end_on_every_line_and_fill_its_width() {
        let pixels = (0..=255).map(|i| Some([i, 255 - i, 7])).collect();
        let text = encode(&Thumbnail { width: 16, pixels });
        assert_eq!(text.lines().count(), 8);
        for line in text.lines() {
            assert!(line.ends_with(PLAIN));
            assert_eq!(line.matches('▀').count(), 16);
        }
    }

    #[test]
    fn the_terminal_says_what_colours_it_has() {
        assert!(is_fine(Some("truecolor")) && is_fine(Some("24bit")));
        assert!(!is_fine(None) && !is_fine(Some("256")));
    }
}
