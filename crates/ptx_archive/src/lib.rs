//! PTX in an archive: every entry point is deflated by itself, so that a program inflates those that it launches.
//!
//! An archive begins with lines of text, for people and for `grep -a`:
//!
//! ```text
//! // comments at the start of the PTX
//! ptx-archive 2
//! rest 21377 1700
//! entry dot_f64 640 310 partials stop
//!
//! ```
//!
//! Behind the name of the format each line stands for a piece of the text, in its order: an entry point with its name, or
//! what is between entry points (directives, constants, functions). The numbers are the bytes of the piece as text and
//! deflated; behind those of an entry point are the constants and functions that it needs. After an empty line follow the deflated pieces, one behind the other. The bytes of a piece depend on its
//! text alone: where one kernel changes, those of all others stay, and git stores the difference.

mod needed;
mod pieces;
mod statements;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use needed::Rest;
use pieces::{Kind, pieces, split_comments};
use std::sync::OnceLock;

/// The line in front of the index. Another layout needs another number.
const FORMAT: &str = "ptx-archive 2";
/// The most that deflate can do: 1.6 MB of 7.6 MB in half a second.
const LEVEL: u8 = 10;

/// Why device code cannot be taken from an archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// Something else, or of another version.
    #[error("this is no PTX archive: no line `{FORMAT}` stands behind the comments")]
    NotAnArchive,
    /// A line of the index that is none, or stands for more bytes than there are.
    #[error("the PTX archive is damaged: its index has the line `{0}`")]
    Index(String),
    /// Bytes that no line of the index stands for.
    #[error("the PTX archive is damaged: it has {0} bytes more than its index")]
    TooLong(usize),
    /// A piece whose bytes are not what was deflated.
    #[error("the PTX archive is damaged: its piece `{0}` cannot be inflated")]
    Piece(String),
    /// There is no such entry point.
    #[error("the PTX archive has no entry point `{0}`")]
    NoEntry(String),
}

/// An archive of a PTX text, the same bytes for the same text.
pub fn pack(ptx: &str) -> Vec<u8> {
    let (comments, ptx) = split_comments(ptx);
    let (mut index, mut data) = (format!("{comments}{FORMAT}\n"), Vec::new());
    let pieces = pieces(ptx);
    let between = pieces.iter().enumerate().filter(|(_, (kind, _))| *kind == Kind::Rest);
    let rest = Rest::of(between.map(|(i, (_, text))| (i, *text)));
    for (kind, text) in &pieces {
        let deflated = compress_to_vec(text.as_bytes(), LEVEL);
        let needs = if *kind == Kind::Rest { Vec::new() } else { rest.needed(text) };
        let needs: String = needs.iter().map(|name| format!(" {name}")).collect();
        index += &format!("{kind} {} {}{needs}\n", text.len(), deflated.len());
        data.extend(deflated);
    }
    [index.as_bytes(), b"\n", &data].concat()
}

/// A piece of a text, deflated.
#[derive(Debug, Clone)]
struct Piece<'a> {
    kind: Kind<'a>,
    /// Bytes of the text.
    length: usize,
    deflated: &'a [u8],
    /// What an entry point needs of the rest.
    needs: Vec<&'a str>,
    /// The text, once somebody has asked for it.
    text: OnceLock<String>,
}

impl<'a> Piece<'a> {
    /// By its line in the index, from the data that begin with it.
    fn read(line: &'a str, data: &mut &'a [u8]) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let (kind, length, bytes, needs) = match words[..] {
            ["rest", length, bytes] => (Kind::Rest, length, bytes, vec![]),
            ["entry", name, length, bytes, ref needs @ ..] => (Kind::Entry(name), length, bytes, needs.to_vec()),
            _ => return None,
        };
        let (deflated, behind) = data.split_at_checked(bytes.parse().ok()?)?;
        *data = behind;
        Some(Piece { kind, length: length.parse().ok()?, deflated, needs, text: OnceLock::new() })
    }

    /// Its text, inflated the first time.
    fn text(&self) -> Result<&str, ArchiveError> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let text = decompress_to_vec_with_limit(self.deflated, self.length).ok();
        let text = text.filter(|text| text.len() == self.length).and_then(|text| String::from_utf8(text).ok());
        let text = text.ok_or_else(|| ArchiveError::Piece(self.kind.to_string()))?;
        Ok(self.text.get_or_init(|| text))
    }
}

/// An archive whose index has been read.
#[derive(Debug, Clone)]
pub struct Archive<'a> {
    comments: &'a str,
    pieces: Vec<Piece<'a>>,
    rest: OnceLock<Rest>,
}

impl<'a> Archive<'a> {
    /// Reads the index.
    ///
    /// # Errors
    ///
    /// Where the bytes are no archive, or not all of one.
    pub fn open(bytes: &'a [u8]) -> Result<Self, ArchiveError> {
        let is_format = |index: &str| split_comments(index).1.lines().next() == Some(FORMAT);
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").ok_or(ArchiveError::NotAnArchive)?;
        let index = str::from_utf8(&bytes[..end]).ok().filter(|index| is_format(index));
        let (comments, index) = split_comments(index.ok_or(ArchiveError::NotAnArchive)?);
        let mut data = &bytes[end + 2..];
        let read = |line| Piece::read(line, &mut data).ok_or_else(|| ArchiveError::Index(line.to_owned()));
        let pieces = index.lines().skip(1).map(read).collect::<Result<_, _>>()?;
        if data.is_empty() {
            Ok(Archive { comments, pieces, rest: OnceLock::new() })
        } else {
            Err(ArchiveError::TooLong(data.len()))
        }
    }

    /// The comments in front of the text, which say what it was made of.
    pub fn comments(&self) -> &'a str {
        self.comments
    }

    /// Names of the entry points, in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = &'a str> {
        self.pieces.iter().filter_map(|piece| match piece.kind {
            Kind::Entry(name) => Some(name),
            Kind::Rest => None,
        })
    }

    /// The whole text.
    ///
    /// # Errors
    ///
    /// Where a piece is damaged.
    pub fn text(&self) -> Result<String, ArchiveError> {
        let pieces = self.pieces.iter().map(Piece::text).collect::<Result<String, _>>()?;
        Ok(format!("{}{pieces}", self.comments))
    }

    /// Inflates all of it, for modules to be made at once when they are asked for. What is damaged is said then.
    pub fn prepare(&self) {
        let _ = self.rest();
        self.pieces.iter().for_each(|piece| drop(piece.text()));
    }

    /// A module of these entry points with what they need of what is not an entry point, and without the comments. So the
    /// text of a kernel stays as it is while others change, and drivers have it in their cache.
    ///
    /// # Errors
    ///
    /// Where an entry point is not there, or a piece is damaged.
    pub fn module(&self, entries: &[&str]) -> Result<String, ArchiveError> {
        if let Some(missing) = entries.iter().find(|name| !self.entries().any(|entry| entry == **name)) {
            return Err(ArchiveError::NoEntry((*missing).to_owned()));
        }
        let is_wanted = |piece: &&Piece| matches!(piece.kind, Kind::Entry(name) if entries.contains(&name));
        let needs: Vec<&str> = self.pieces.iter().filter(is_wanted).flat_map(|piece| piece.needs.clone()).collect();
        let rest = self.rest()?;
        let mut module = String::new();
        for (i, piece) in self.pieces.iter().enumerate() {
            match piece.kind {
                Kind::Rest => rest.of_piece(i, &needs).for_each(|statement| module += statement),
                Kind::Entry(name) if entries.contains(&name) => module += piece.text()?,
                Kind::Entry(_) => {}
            }
        }
        Ok(module)
    }

    /// What is between entry points.
    fn rest(&self) -> Result<&Rest, ArchiveError> {
        if let Some(rest) = self.rest.get() {
            return Ok(rest);
        }
        let of_rest = self.pieces.iter().enumerate().filter(|(_, piece)| piece.kind == Kind::Rest);
        let texts = of_rest.map(|(i, piece)| Ok((i, piece.text()?))).collect::<Result<Vec<_>, _>>()?;
        Ok(self.rest.get_or_init(|| Rest::of(texts.into_iter())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// sources: ab12\n// compiler: rustc\n.version 7.8\n.shared .b8 tile[64];\n\
                        .visible .entry a(\n\t.param .u64 p\n)\n.maxntid 256\n{\n\tcall helper;\n}\n\
                        .func helper()\n{\n\tret;\n}\n.visible .entry ab()\n{\n\tmov.u64 %rd1, tile;\n}\n.func last();\n";

    #[test]
    fn a_text_comes_back_as_it_was() {
        for text in [TEXT, ".version 7.8\n", "// alone\n", ""] {
            assert_eq!(Archive::open(&pack(text)).unwrap().text().unwrap(), text);
        }
        let packed = pack(TEXT);
        let archive = Archive::open(&packed).unwrap();
        assert_eq!(archive.comments(), "// sources: ab12\n// compiler: rustc\n");
        assert!(archive.entries().eq(["a", "ab"]));
    }

    #[test]
    fn the_index_is_for_people() {
        let packed = pack(TEXT);
        let text = String::from_utf8_lossy(&packed);
        let lines: Vec<_> = text.lines().take_while(|line| !line.is_empty()).collect();
        assert_eq!(lines[2], FORMAT);
        assert!(lines[4].starts_with("entry a 67 ") && lines[4].ends_with(" helper"), "{lines:?}");
        assert_eq!(lines.len(), 8);
    }

    #[test]
    fn a_module_has_the_entries_that_are_asked_for_and_what_they_need() {
        let packed = pack(TEXT);
        let archive = Archive::open(&packed).unwrap();
        let module = archive.module(&["a"]).unwrap();
        assert!(module.starts_with(".version 7.8\n.visible .entry a("), "{module}");
        assert!(
            module.contains(".func helper") && !module.contains("tile") && !module.contains(".entry ab"),
            "{module}"
        );
        let module = archive.module(&["ab"]).unwrap();
        assert!(module.contains(".shared .b8 tile[64];\n.visible .entry ab") && !module.contains("helper"), "{module}");
        let both = TEXT[archive.comments().len()..].replace(".func last();\n", "");
        assert_eq!(archive.module(&["ab", "a"]).unwrap(), both);
        assert_eq!(archive.module(&[]).unwrap(), ".version 7.8\n");
        assert_eq!(archive.module(&["a", "b"]), Err(ArchiveError::NoEntry("b".into())));
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        for bytes in [&b""[..], b"// sources: ab12\n", TEXT.as_bytes(), b"ptx-archive 1\n\n", b"\xff\n\n"] {
            assert_eq!(Archive::open(bytes).unwrap_err(), ArchiveError::NotAnArchive);
        }
        let line = |line: &str| Archive::open(format!("{FORMAT}\n{line}\n\nabc").as_bytes()).map(|_| ()).unwrap_err();
        for wrong in ["rest 1", "entry 1 1", "piece 1 1", "rest x 1", "rest 1 -1", "rest 1 4", "rest 1 1 a"] {
            assert_eq!(line(wrong), ArchiveError::Index(wrong.into()));
        }
        assert_eq!(line("rest 9 1"), ArchiveError::TooLong(2));
    }

    #[test]
    fn damage_is_found() {
        let packed = pack(TEXT);
        let last = || ArchiveError::Piece("entry ab".into());
        let short = Archive::open(&packed[..packed.len() - 1]).unwrap_err();
        assert!(matches!(&short, ArchiveError::Index(line) if line.starts_with("rest 14 ")), "{short}");
        let longer = [&packed[..], b"x"].concat();
        assert_eq!(Archive::open(&longer).unwrap_err(), ArchiveError::TooLong(1));
        for (from, to) in [("entry ab 46 ", "entry ab 45 "), ("entry ab 46 ", "entry ab 47 ")] {
            let at = packed.windows(from.len()).position(|bytes| bytes == from.as_bytes()).unwrap();
            let changed = [&packed[..at], to.as_bytes(), &packed[at + from.len()..]].concat();
            let archive = Archive::open(&changed).unwrap();
            assert_eq!(archive.module(&["ab"]), Err(last()));
            assert!(archive.module(&["a"]).is_ok());
        }
    }
}
