//! Numbers out of a MSH file, ASCII or binary, with the place named where they run out.

use std::str::FromStr;

use crate::mesh::MeshError;

/// How the numbers of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As text, separated by white space.
    Ascii,
    /// As little-endian bytes.
    Little,
    /// As big-endian bytes.
    Big,
}

/// A position in a file.
pub(super) struct Cursor<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    pub section: String,
    pub encoding: Encoding,
}

impl<'a> Cursor<'a> {
    pub fn truncated(&self, detail: &str) -> MeshError {
        MeshError::Truncated { section: self.section.clone(), detail: detail.into() }
    }

    pub fn malformed(&self, detail: String) -> MeshError {
        MeshError::Malformed { section: self.section.clone(), detail }
    }

    pub fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// The rest of the current line without surrounding space.
    pub fn line(&mut self) -> String {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        String::from_utf8_lossy(&rest[..end]).trim().to_string()
    }

    /// The next word of text; a word that begins with `$` ends the section early.
    pub fn word(&mut self, what: &str) -> Result<&'a [u8], MeshError> {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        if end == 0 || rest[0] == b'$' {
            return Err(self.truncated(what));
        }
        self.at += end;
        Ok(&rest[..end])
    }

    fn parse<T: FromStr>(&mut self, what: &str) -> Result<T, MeshError> {
        let word = self.word(what)?;
        let value = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
        value.ok_or_else(|| self.malformed(format!("{what}: \"{}\" is not valid", String::from_utf8_lossy(word))))
    }

    fn raw<const N: usize>(&mut self, what: &str) -> Result<[u8; N], MeshError> {
        let found = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>()).copied();
        self.at += N;
        let mut found = found.ok_or_else(|| self.truncated(what))?;
        if self.encoding == Encoding::Big {
            found.reverse();
        }
        Ok(found)
    }

    /// A C `int`.
    pub fn int(&mut self, what: &str) -> Result<i32, MeshError> {
        match self.encoding {
            Encoding::Ascii => self.parse(what),
            _ => Ok(i32::from_le_bytes(self.raw(what)?)),
        }
    }

    /// A C `size_t` of eight bytes.
    pub fn size(&mut self, what: &str) -> Result<u64, MeshError> {
        match self.encoding {
            Encoding::Ascii => self.parse(what),
            _ => Ok(u64::from_le_bytes(self.raw(what)?)),
        }
    }

    /// A C `double`.
    pub fn float(&mut self, what: &str) -> Result<f64, MeshError> {
        match self.encoding {
            Encoding::Ascii => self.parse(what),
            _ => Ok(f64::from_le_bytes(self.raw(what)?)),
        }
    }

    /// What `read` finds in a part that is text in binary files too.
    pub fn as_text<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, MeshError>) -> Result<T, MeshError> {
        let encoding = std::mem::replace(&mut self.encoding, Encoding::Ascii);
        let found = read(self);
        self.encoding = encoding;
        found
    }

    /// Passes over `n` numbers of `width` bytes each in a binary file.
    pub fn pass(&mut self, n: u64, width: u64, what: &str) -> Result<(), MeshError> {
        if self.encoding == Encoding::Ascii {
            for _ in 0..n {
                self.word(what)?;
            }
            return Ok(());
        }
        let left = (self.bytes.len() - self.at.min(self.bytes.len())) as u64;
        match n.checked_mul(width).filter(|&length| length <= left) {
            Some(length) => self.at += length as usize,
            None => return Err(self.truncated(what)),
        }
        Ok(())
    }

    /// Checks that the section's end mark stands here, and passes it.
    pub fn close(&mut self) -> Result<(), MeshError> {
        self.skip_space();
        let mark = format!("$End{}", self.section);
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.starts_with(mark.as_bytes()) {
            self.at += mark.len();
            return Ok(());
        }
        if rest.is_empty() || mark.as_bytes().starts_with(rest) {
            return Err(self.truncated("the end mark is missing"));
        }
        Err(self.malformed(format!("{mark} is not where its counts say")))
    }

    /// Passes over a section that is not read.
    pub fn skip_section(&mut self) -> Result<(), MeshError> {
        let mark = format!("$End{}", self.section);
        let rest = &self.bytes[self.at..];
        let found = rest.windows(mark.len()).position(|window| window == mark.as_bytes());
        self.at += found.ok_or_else(|| self.truncated("the end mark is missing"))? + mark.len();
        Ok(())
    }
}
