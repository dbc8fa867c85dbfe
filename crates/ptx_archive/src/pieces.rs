//! The pieces that an archive keeps a PTX text in.

use crate::statements::statements;
use std::fmt;

const ENTRY: &str = ".visible .entry ";

/// What a piece of the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    /// An entry point of this name.
    Entry(&'a str),
    /// What stands between entry points.
    Rest,
}

impl<'a> Kind<'a> {
    /// Of a statement.
    fn of(statement: &'a str) -> Self {
        let entry = statement.trim_start().strip_prefix(ENTRY).and_then(|entry| entry.split('(').next());
        entry.map_or(Kind::Rest, |name| Kind::Entry(name.trim()))
    }
}

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Entry(name) => write!(f, "entry {name}"),
            Kind::Rest => f.write_str("rest"),
        }
    }
}

/// The lines of comments that a text begins with, and what follows.
pub(crate) fn split_comments(text: &str) -> (&str, &str) {
    let comments = text.split_inclusive('\n').take_while(|line| line.starts_with("//"));
    text.split_at(comments.map(str::len).sum())
}

/// The pieces of a text in their order: together they are the text.
pub(crate) fn pieces(ptx: &str) -> Vec<(Kind<'_>, &str)> {
    let (mut pieces, mut start, mut end) = (Vec::new(), 0, 0);
    for statement in statements(ptx) {
        let kind = Kind::of(statement);
        if kind != Kind::Rest {
            pieces.push((Kind::Rest, &ptx[start..end]));
            start = end + statement.len();
            pieces.push((kind, statement));
        }
        end += statement.len();
    }
    pieces.push((Kind::Rest, &ptx[start..]));
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_points_stand_by_themselves_and_the_rest_together() {
        let entry = ".visible .entry f (\n\t.param .u64 p\n)\n{\n\t{\n.shared .b8 x[8];\n}\n\tret;\n}\n";
        let [before, behind] = [".version 7.8\n.global .u32 a;\n", ".func g()\n{\n\tret;\n}\n.global .u32 b;\n"];
        let expected =
            [(Kind::Rest, before), (Kind::Entry("f"), entry), (Kind::Entry("f"), entry), (Kind::Rest, behind)];
        assert_eq!(pieces(&format!("{before}{entry}{entry}{behind}")), expected);
        assert_eq!(pieces(".visible .entry f()\n{"), [(Kind::Entry("f"), ".visible .entry f()\n{")]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn comments_are_those_in_front() {
        assert_eq!(split_comments("// a\n// b\n.version\n// c\n"), ("// a\n// b\n", ".version\n// c\n"));
        assert_eq!(split_comments("// a"), ("// a", ""));
    }
}
