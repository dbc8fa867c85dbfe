//! What a module needs of what stands outside its entry points.

use crate::statements::{declared, statements, words};
use std::collections::HashMap;

/// A text without the functions and variables that its entry points use neither directly nor through others.
pub(crate) fn needed(ptx: &str) -> String {
    // Of a function there may be a declaration and a definition.
    let mut unused: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut unread = Vec::new();
    for statement in statements(ptx) {
        match declared(statement) {
            Some(name) => unused.entry(name).or_default().push(statement),
            None => unread.push(statement),
        }
    }
    while let Some(statement) = unread.pop() {
        unread.extend(words(statement).filter_map(|word| unused.remove(word)).flatten());
    }
    statements(ptx).filter(|statement| declared(statement).is_none_or(|name| !unused.contains_key(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = ".version 7.4\n.extern .shared .align 16 .b8 all[];\n.func stop()\n.noreturn;\n\
                        .global .b8 ab_$_1[2] = {1, 2};\n.const .u32 ab;\n.global .u64 at = generic(ab_$_1);\n\
                        .func  (.param .b64 r) of_block()\n{\n\tcall.uni stop;\n}\n";
    const STOP: &str = ".func stop()\n.noreturn\n{\n\texit;\n}\n";

    fn declared_for(body: &str) -> Vec<String> {
        let text = needed(&format!("{REST}.visible .entry f()\n{{\n\t{body}\n}}\n{STOP}"));
        assert!(text.starts_with(".version 7.4\n") && text.contains(body), "{text}");
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
