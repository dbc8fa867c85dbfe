//! The report, from the figures of some machines: Markdown, and the plots that it shows.

use super::markdown::table;
use super::outline::OUTLINE;
use super::plot::Plots;
use super::run::Run;

const HEAD: &str = "\
# The papers' tables and figures, made again

Four papers claim that one layout, strategy or solver beats another. Here each of their tables and figures stands
beside what warpfem measures, with a sentence on whether the claim holds. Then: rooflines, phases, peers,
preconditioners, and all tables of measured speed.

Made by `warpfem-bench report` from the JSON files in this folder; do not edit. [README](README.md) says how to measure and
make it anew.

**How to read it.** Every section names the file, the lists in it and the runs that its numbers are from: those
without whose figures it would read otherwise. What a paper says is marked as such, with its hardware; every other
number is computed from the JSON, verdicts too: other figures make other verdicts. Six to fifteen years of hardware
lie between theirs and ours, so claims are about ratios, not times. A verdict is of the condition it states, and is
one of five. **Holds**: so it is here; a claim on a ratio holds if the median of what was measured is within a tenth
of the paper's range. **Holds and is exceeded**: it is more than that. **Falls short**: it is less, in the same
direction. **Contradicted**: it is not so, or the other way round. **Not comparable**: the paper measured another
quantity. Reasons are ours.

**The problems**: cubes of n x n x n cells in steel (E = 200 GPa, nu = 0.3), hex8 or six tet4 per cell, clamped at x =
0, under their own weight; squares of n x n cells, quad4 or two tri3 each; and meshes by the names of their files:
`cube_N`, unstructured unit cubes of about N nodes, and `bracket_1m`, a part of about a million. Products are measured
on the pattern of the mesh with values made up, the same in every format.

**The yardstick** is `copy`: the bandwidth of a copy within the device's memory, reads and writes both counted,
measured in the same run. A product's **least bytes** are the values and one column index for each block of the mesh
(3x3 in space, 2x2 in the plane), and x and y once; a format's **own bytes** are all that it stores, padding and
indices included, and x and y once; an iteration's are the product's least bytes and what the vector steps of the
measured program move: eight words and 4 bytes per unknown, in earlier runs nine words or ten. `of copy` without more
is the share of the least bytes. A share above 100 % is no mistake: a product reads far more than it
writes, and reads are a little faster than copies; and small matrices stay in the cache from one product to the next.
`x` something says how many times as fast as that warpfem is.

**Statistics**, as [`run_gpu.sh`](run_gpu.sh) measures (`--samples`): products, assemblies and copies are medians of 25
samples after a warm-up, set-up of three; solutions by conjugate gradients are medians of five, their set-up and assembly
single runs; potentials are medians of five, or of as many as begin within two seconds; preconditioners of every order are
medians of three on squares. Those on cubes, on the matrices of SBELL's sizes, and multigrid are single runs, and so are
solutions from case to files. No spread was kept: read differences below some 5 % as none.

f64 is double precision, f32 single. Formats: [formats](../formats.md); assembly: [assembly](../assembly.md); the
iteration: [solver](../solver.md).
";

/// What comes before the files' own runs.
const COMMANDS: &str = "\
A file is of one kind of machine, its runs perhaps of several such. A run's number is what its entries in the file
have as `run`. Of processors, those of GPUs' hosts among them, files say how many there are at most. The commands are
as they were noted: BINARY, FOLDER and FILE stand for yours, and not every line can be run as it stands. Words after
[`run_gpu.sh`](run_gpu.sh)'s BINARY FOLDER are its parts, and what follows a comma says what was left out of them;
`cube_N.toml` and `bracket_1m.msh` are made by [`meshes.py`](meshes.py).
";

/// The report's text and its plots by file name.
pub fn make(runs: &[Run]) -> (String, Plots) {
    let mut plots = Plots::default();
    let mut contents = String::new();
    let mut papers = String::new();
    for paper in &OUTLINE.papers {
        let (sections, answered) = paper.sections(runs, &mut plots);
        let rows = paper.contents(&answered);
        let list = table(&["table or figure", "what it shows.", "counterpart here."], &rows);
        contents += &format!("\n### Of {}\n\n{list}", paper.name);
        papers += &format!("\n## {}\n\n{}. {}.\n{sections}", paper.name, paper.source, paper.hardware);
    }
    let mut out = format!("{HEAD}\n{}\n## Every table and figure\n{contents}{papers}", measured(runs));
    for chapter in &OUTLINE.chapters {
        out += &chapter.text(runs, &mut plots);
    }
    (out, plots)
}

/// The machines and how they were measured.
fn measured(runs: &[Run]) -> String {
    let of_machine = |run: &Run| {
        let items: String = (0..run.runs.len()).map(|one| run.item(one)).collect();
        format!("\n- {}: [`{name}`]({name})\n{items}", run.device, name = run.name)
    };
    format!("## Measured on\n\n{COMMANDS}{}", runs.iter().map(of_machine).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::markdown::anchor;
    use crate::report::paper::Paper;
    use std::collections::BTreeSet;

    /// Every number of a label: `Figures 5.1, 5.2` are two.
    fn numbers(paper: &Paper, kind: &str) -> Vec<String> {
        let labels = paper.items.iter().flat_map(|item| {
            item.label.split(", ").scan("", |current, word| {
                let (kind, number) = word.split_once(' ').unwrap_or((current, word));
                *current = kind.trim_end_matches('s');
                Some((*current, number.to_owned()))
            })
        });
        labels.filter(|(found, _)| *found == kind).map(|(_, number)| number).collect()
    }

    fn paper(name: &str) -> &'static Paper {
        OUTLINE.papers.iter().find(|paper| paper.name == name).unwrap()
    }

    fn listed(paper: &Paper, kind: &str, expected: impl IntoIterator<Item = String>) {
        let found = numbers(paper, kind);
        let once: BTreeSet<String> = found.iter().cloned().collect();
        assert_eq!(once.len(), found.len(), "{} has a {kind} twice: {found:?}", paper.name);
        assert_eq!(once, expected.into_iter().collect(), "{} {kind}", paper.name);
    }

    #[test]
    fn every_table_and_figure_of_the_papers_is_listed_once() {
        let range = |chapter: &str, n: usize| (1..=n).map(|i| format!("{chapter}{i}")).collect::<Vec<_>>();
        listed(paper("DSM"), "Table", ["I", "II", "III", "IV", "V", "VI", "VII"].map(String::from));
        listed(paper("DSM"), "Figure", range("", 11));
        listed(paper("SBELL"), "Table", range("", 5));
        listed(paper("SBELL"), "Figure", range("", 10));
        listed(paper("WARP"), "Table", range("", 4));
        listed(paper("WARP"), "Figure", range("", 14));
        listed(paper("FEMSES"), "Table", ["5.1".into()]);
        let chapters = [("2.", 6), ("3.", 6), ("4.", 12), ("5.", 42), ("6.", 1)];
        listed(paper("FEMSES"), "Figure", chapters.into_iter().flat_map(|(chapter, n)| range(chapter, n)));
    }

    #[test]
    fn without_figures_the_report_says_what_is_missing() {
        let (text, plots) = make(&[]);
        assert!(plots.0.is_empty());
        for item in OUTLINE.papers.iter().flat_map(|paper| &paper.items).filter(|item| item.claim.is_some()) {
            assert!(text.contains(&format!("Not measured: `{}`", item.lists[0])), "{}", item.label);
        }
        assert!(!text.contains("](#"), "a link to a section that is not there");
    }

    fn checked_in() -> String {
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/benchmarks/report.md")).unwrap()
    }

    #[test]
    fn columns_are_few_and_have_heads_of_their_own() {
        let text = checked_in();
        let lines: Vec<&str> = text.lines().collect();
        let tables = lines.windows(2).filter(|pair| pair[1].starts_with("| ---")).map(|pair| pair[0]);
        let heads: Vec<Vec<&str>> =
            tables.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect();
        assert!(heads.len() > 40, "{}", heads.len());
        for columns in heads {
            let once: BTreeSet<&str> = columns.iter().copied().collect();
            assert_eq!(once.len(), columns.len(), "a head twice: {columns:?}");
            assert!(columns.len() <= 12, "too wide: {columns:?}");
        }
    }

    #[test]
    fn links_lead_to_headings() {
        let text = checked_in();
        let headings: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| anchor(line.trim_start_matches('#').trim()))
            .collect();
        let links: Vec<&str> = text.split("](#").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
        assert!(links.len() > 20, "{}", links.len());
        for link in links {
            assert_eq!(headings.iter().filter(|heading| *heading == link).count(), 1, "{link}");
        }
    }
}
