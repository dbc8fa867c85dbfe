//! The statements of a PTX text that stand outside all others: directives, declarations, functions.

/// Directives that end with their line.
const LINES: [&str; 4] = [".version", ".target", ".address_size", ".file"];
/// Where variables live that stand outside functions.
const SPACES: [&str; 3] = [".global", ".shared", ".const"];

/// The statements of a text in their order: together they are the text.
pub(crate) fn statements(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (statement, behind) = rest.split_at(length(rest));
        rest = behind;
        (!statement.is_empty()).then_some(statement)
    })
}

/// The length of the first statement: up to the end of its line, its semicolon, or the brace behind the body of a function.
/// Within a body a brace at the start of a line may close a block: inline assembly has such.
fn length(text: &str) -> usize {
    let start = text.len() - text.trim_start().len();
    let end_of_line = |from: usize| text[from..].find('\n').map_or(text.len(), |at| from + at + 1);
    if LINES.iter().any(|directive| text[start..].starts_with(directive)) {
        return end_of_line(start);
    }
    let mut depth = 0;
    let ends = |(at, c): &(usize, u8)| {
        depth += i32::from(*c == b'{') - i32::from(*c == b'}');
        // Behind the numbers of a constant stands a semicolon.
        let closes = || *c == b'}' && !text[at + 1..].trim_start().starts_with(';');
        depth == 0 && (*c == b';' || closes())
    };
    text.bytes().enumerate().find(ends).map_or(text.len(), |(at, _)| end_of_line(at))
}

/// The name of the function or variable that a statement declares or defines; none of an entry point.
pub(crate) fn declared(statement: &str) -> Option<&str> {
    let head = statement.split(['{', ';']).next()?;
    if let Some((_, function)) = head.split_once(".func") {
        let function = function.trim_start();
        // What it returns stands in parentheses before the name.
        let name = if function.starts_with('(') { function.split_once(')')?.1 } else { function };
        return words(name).next();
    }
    let is_variable = SPACES.iter().any(|space| head.contains(space)) && !head.contains(".entry");
    is_variable.then(|| words(head.split(['[', '=']).next()?).last()).flatten()
}

/// The words of a text: names, and parts of what is no name.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_where_their_own_brace_closes() {
        let all = [
            ".version 7.4\n",
            ".target sm_80\n",
            ".file 1 \"a;b\"\n",
            ".extern .shared .align 16 .b8 all[];\n",
            ".func stop\n(\n\t.param .b64 p\n)\n.noreturn;\n",
            ".global .align 8 .b8 ab_$_1[2] = {1, 2};\n",
            ".const .u32 ab;\n",
            ".global .u64 at = generic(ab_$_1);\n",
            ".func  (.param .b64 r) of_block()\n{\n\t{\n.shared .b8 x[8];\n}\n\tcall.uni stop;\n}\n",
            "\n.visible .entry f(\n\t.param .u64 .ptr .global p\n)\n.maxntid 256\n{\n\t{\nret;\n}\n\tret;\n}\n",
            ".func cut()\n{",
        ];
        let text = all.concat();
        assert!(statements(&text).eq(all));
        let names = ["all", "stop", "ab_$_1", "ab", "at", "of_block", "cut"];
        assert!(statements(&text).filter_map(declared).eq(names));
        assert_eq!(statements("").count(), 0);
    }
}
