//! Where the pieces of a PTX text begin and end.

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

/// The pieces of a text in their order, none of them empty: together they are the text.
pub(crate) fn pieces(ptx: &str) -> Vec<(Kind<'_>, &str)> {
    let (mut pieces, mut rest) = (Vec::new(), ptx);
    while let Some(start) = start_of_entry(rest) {
        let (before, from) = rest.split_at(start);
        let (entry, behind) = from.split_at(end_of_body(from));
        let name = entry[ENTRY.len()..].split('(').next().unwrap_or("").trim();
        pieces.extend([(Kind::Rest, before), (Kind::Entry(name), entry)]);
        rest = behind;
    }
    pieces.push((Kind::Rest, rest));
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

/// Where the next entry point begins: at the start of a line.
fn start_of_entry(text: &str) -> Option<usize> {
    let mut places = text.match_indices(ENTRY).map(|(at, _)| at);
    places.find(|&at| at == 0 || text.as_bytes()[at - 1] == b'\n')
}

/// The length of a function: up to the brace that closes its body, and the end of that line. A brace at the start of a
/// line may close a block of the body: inline assembly has such.
fn end_of_body(text: &str) -> usize {
    let mut depth = 0;
    let closes = |(_, c): &(usize, u8)| {
        depth += i32::from(*c == b'{') - i32::from(*c == b'}');
        *c == b'}' && depth == 0
    };
    let end = text.bytes().enumerate().find(closes).map_or(text.len(), |(at, _)| at + 1);
    end + usize::from(text[end..].starts_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_ends_where_its_own_brace_closes() {
        let entry = ".visible .entry f (\n\t.param .u64 p\n)\n{\n\t{\n.shared .b8 x[8];\n}\n\tret;\n}\n";
        let text = format!(".version 7.8\n{entry}{entry}\n// .visible .entry g()\n");
        let expected = [
            (Kind::Rest, ".version 7.8\n"),
            (Kind::Entry("f"), entry),
            (Kind::Entry("f"), entry),
            (Kind::Rest, "\n// .visible .entry g()\n"),
        ];
        assert_eq!(pieces(&text), expected);
    }

    #[test]
    fn a_cut_off_entry_reaches_to_the_end() {
        assert_eq!(pieces(".visible .entry f()\n{"), [(Kind::Entry("f"), ".visible .entry f()\n{")]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn comments_are_those_in_front() {
        assert_eq!(split_comments("// a\n// b\n.version\n// c\n"), ("// a\n// b\n", ".version\n// c\n"));
        assert_eq!(split_comments("// a"), ("// a", ""));
    }
}
