//! What a module needs of what stands outside its entry points.

use crate::statements::{declared, statements, words};
use std::collections::{BTreeSet, HashMap};

/// The statements between entry points.
#[derive(Debug, Clone)]
pub(crate) struct Rest {
    /// Each with the piece that it is of, ascending, and what it declares.
    statements: Vec<(usize, Option<String>, String)>,
}

impl Rest {
    /// The statements of some pieces, each with its place among all.
    pub(crate) fn of<'a>(pieces: impl Iterator<Item = (usize, &'a str)>) -> Rest {
        let of_piece = |(i, text): (usize, &'a str)| {
            statements(text).map(move |statement| (i, declared(statement).map(str::to_owned), statement.to_owned()))
        };
        Rest { statements: pieces.flat_map(of_piece).collect() }
    }

    /// What an entry point uses of the functions and variables declared here, directly or through others, by name.
    pub(crate) fn needed(&self, entry: &str) -> Vec<&str> {
        // Of a function there may be a declaration and a definition.
        let mut unused: HashMap<&str, Vec<&str>> = HashMap::new();
        for (_, name, statement) in &self.statements {
            if let Some(name) = name {
                unused.entry(name).or_default().push(statement);
            }
        }
        let (mut unread, mut used) = (vec![entry], BTreeSet::new());
        while let Some(text) = unread.pop() {
            for word in words(text) {
                if let Some((name, statements)) = unused.remove_entry(word) {
                    used.insert(name);
                    unread.extend(statements);
                }
            }
        }
        used.into_iter().collect()
    }

    /// The statements of a piece that declare nothing, such as directives, or one of these names.
    pub(crate) fn of_piece<'a>(&'a self, piece: usize, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let start = self.statements.partition_point(|(of, ..)| *of < piece);
        let of_it = self.statements[start..].iter().take_while(move |(of, ..)| *of == piece);
        let is_needed = |name: &Option<String>| name.as_deref().is_none_or(|name| names.contains(&name));
        of_it.filter(move |(_, name, _)| is_needed(name)).map(|(.., statement)| statement.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = ".version 7.4\n.extern .shared .align 16 .b8 all[];\n.func stop()\n.noreturn;\n\
                        .global .b8 ab_$_1[2] = {1, 2};\n.const .u32 ab;\n.global .u64 at = generic(ab_$_1);\n\
                        .func  (.param .b64 r) of_block()\n{\n\tcall.uni stop;\n}\n";
    const STOP: &str = ".func stop()\n.noreturn\n{\n\texit;\n}\n";

    fn declared_for(body: &str) -> Vec<String> {
        let rest = Rest::of([(0, REST), (2, STOP)].into_iter());
        let names = rest.needed(&format!(".visible .entry f()\n{{\n\t{body}\n}}\n"));
        let text: String = [0, 2].iter().flat_map(|&piece| rest.of_piece(piece, &names)).collect();
        assert!(text.starts_with(".version 7.4\n"), "{text}");
        statements(&text).filter_map(declared).map(str::to_owned).collect()
    }

    #[test]
    fn what_is_used_is_there_with_what_it_uses() {
        assert_eq!(declared_for("mov.u64 %rd1, all;"), ["all"]);
        assert_eq!(declared_for("call (r), of_block, ();"), ["stop", "of_block", "stop"]);
        assert_eq!(declared_for("ld.global.u64 %rd1, [at+8];"), ["ab_$_1", "at"]);
    }

    #[test]
    fn parts_of_names_are_no_names() {
        assert_eq!(declared_for("mov.u32 %r1, ab;"), ["ab"]);
        assert_eq!(declared_for("mov.u64 %rd1, xall; stop_2;"), [""; 0]);
    }
}
