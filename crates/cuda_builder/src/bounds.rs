//! Launch bounds of kernels. Rust has no attribute for them, so `#[kernel(launch_bounds(..))]` leaves a comment in the
//! module's assembly, and the directives are put where PTX wants them.

/// What `cuda_std_macros` begins the comment with; kernel, threads and blocks follow.
const MARK: &str = "// launch_bounds ";

/// The PTX with `.maxntid` and `.minnctapersm` in the entry points that comments name, without the comments.
pub fn apply(ptx: &str) -> String {
    let marks: Vec<Vec<&str>> =
        ptx.lines().filter_map(|line| line.trim().strip_prefix(MARK)).map(|rest| rest.split(' ').collect()).collect();
    let mut bounds = None;
    let mut text = String::with_capacity(ptx.len() + 64 * marks.len());
    for line in ptx.lines().filter(|line| !line.trim().starts_with(MARK)) {
        if let Some((_, entry)) = line.split_once(".entry ") {
            let name = entry.split('(').next().unwrap_or(entry).trim();
            bounds = marks.iter().find(|mark| mark[0] == name);
        }
        if line == "{"
            && let Some([_, threads, blocks]) = bounds.take().map(Vec::as_slice)
        {
            text.push_str(&format!(".maxntid {threads}\n.minnctapersm {blocks}\n"));
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::apply;

    #[test]
    fn directives_stand_before_the_body_of_the_kernel_that_is_named() {
        let ptx = "// launch_bounds b_f64 256 2\n.visible .entry b(\n\t.param .u64 p\n)\n{\n\t{\n\t}\n\tret;\n}\n\
                   .visible .entry b_f64(\n\t.param .u64 p\n)\n{\n\tret;\n}\n";
        let expected = ".visible .entry b(\n\t.param .u64 p\n)\n{\n\t{\n\t}\n\tret;\n}\n\
                        .visible .entry b_f64(\n\t.param .u64 p\n)\n.maxntid 256\n.minnctapersm 2\n{\n\tret;\n}\n";
        assert_eq!(apply(ptx), expected);
        assert_eq!(apply(expected), expected);
    }
}
