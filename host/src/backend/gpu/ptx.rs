//! The device code, and how one kernel is taken out of it.
//!
//! The driver compiles a module when it is loaded. A module per kernel, loaded when the kernel is first launched, means
//! that a program waits only for the kernels it uses.

/// PTX of every kernel, made by `build.rs`.
pub const KERNELS: &str = include_str!(env!("WARPFEM_PTX"));

const ENTRY: &str = ".visible .entry ";

/// A module with the one entry point `name` of `ptx`, and all that is not an entry point.
pub fn module_with(ptx: &str, name: &str) -> Option<String> {
    let mut module = String::new();
    let mut found = false;
    let mut rest = ptx;
    while let Some(start) = rest.find(ENTRY) {
        module.push_str(&rest[..start]);
        let entry = &rest[start..];
        let end = entry.find("\n}").map_or(entry.len(), |at| at + 2);
        let this = entry[ENTRY.len()..end].split('(').next()?.trim();
        if this == name {
            module.push_str(&bounded(&entry[..end], name));
            found = true;
        }
        rest = &entry[end..];
    }
    module.push_str(rest);
    found.then_some(module)
}

/// The entry point, with the blocks of 256 threads that the trials' names want on a multiprocessor.
fn bounded(entry: &str, name: &str) -> String {
    let blocks = name.strip_prefix("trial_parts_").and_then(|rest| rest.split('_').nth(1));
    match blocks {
        Some(blocks @ ("2" | "4")) => entry.replacen("\n{", &format!("\n.maxntid 256\n.minnctapersm {blocks}\n{{"), 1),
        _ => entry.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = ".version 7.8\n.shared .b8 tile[64];\n.visible .entry a(\n\t.param .u64 p\n)\n{\n\tret;\n}\n\
                       .func helper()\n{\n\tret;\n}\n.visible .entry ab()\n{\n\ttrap;\n}\n// end\n";

    #[test]
    fn keeps_one_entry_and_everything_else() {
        let module = module_with(TWO, "a").unwrap();
        assert!(module.contains(".version") && module.contains("tile") && module.contains(".func helper"));
        assert!(module.contains(".entry a(") && !module.contains(".entry ab("));
        let module = module_with(TWO, "ab").unwrap();
        assert!(module.contains("trap") && !module.contains(".param"));
        assert_eq!(module_with(TWO, "b"), None);
    }
}
