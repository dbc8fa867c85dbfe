//! All files of the report, from the figures of some machines: its pages, and the plots that they show.

use super::markdown::{anchor, table};
use super::outline::{OVERVIEW, PAGES, Section};
use super::run::Run;
use std::collections::BTreeMap;

/// What every page begins with.
const NOTE: &str = "<!-- Made by `warpfem-bench report` from the JSON files in this folder; do not edit. -->\n\n";

/// Texts by file name, and pictures among them.
pub fn make(runs: &[Run]) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let (mut rows, mut others) = (Vec::new(), String::new());
    for page in PAGES.iter() {
        let sections = page.sections(runs);
        match &page.paper {
            Some(_) => rows.extend(sections.iter().map(|section| page.row(section))),
            None => {
                let there = sections.iter().filter(|section| !section.made.text.is_empty());
                others.extend(there.map(|Section { item, .. }| {
                    format!("- [{}]({}#{})\n", item.label, page.file, anchor(&item.heading()))
                }));
            }
        }
        keep(&mut files, &page.file, page.text(&sections), sections);
    }
    let brief: Vec<Section> = OVERVIEW.items.iter().map(|item| item.section(None, runs)).collect();
    let brief_text: String = brief.iter().map(|section| section.made.text.as_str()).collect();
    let contents = table(&["table or figure", "what it shows.", "verdict here."], &rows);
    let more = if others.is_empty() { others } else { format!("\n## Of no paper\n\n{others}") };
    let text = format!(
        "{}\n{}\n## Every table and figure\n\n{}\n{contents}{brief_text}{more}",
        OVERVIEW.head,
        measured(runs),
        OVERVIEW.contents
    );
    keep(&mut files, "report.md", text, brief);
    files
}

fn keep(files: &mut BTreeMap<String, String>, name: &str, text: String, sections: Vec<Section>) {
    files.insert(name.into(), format!("{NOTE}{text}"));
    let plots = sections.into_iter().flat_map(|section| section.made.plots.0);
    files.extend(plots.map(|(name, picture)| (format!("plots/{name}"), picture)));
}

/// The machines, their files and their runs.
fn measured(runs: &[Run]) -> String {
    let of_machine = |run: &Run| {
        let lines = run.days.iter().enumerate();
        let lines = lines.map(|(i, day)| format!("  - run {i}, {day}: {}\n", run.measured(i).join(", ")));
        format!("\n- {}: [`{name}`]({name})\n{}", run.device, lines.collect::<String>(), name = run.name)
    };
    format!("## Measured on\n\n{}{}", OVERVIEW.runs, runs.iter().map(of_machine).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outline::Page;
    use crate::report::tests::checked_in;
    use std::collections::BTreeSet;
    use std::sync::LazyLock;

    static MADE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| make(&checked_in()));

    fn pages() -> impl Iterator<Item = (&'static String, &'static String)> {
        MADE.iter().filter(|(name, _)| name.ends_with(".md"))
    }

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    /// Every number of a label: `Figures 5.1, 5.2` are two.
    fn numbers(page: &Page, kind: &str) -> Vec<String> {
        let labels = page.items.iter().flat_map(|item| {
            item.label.split(", ").scan("", |current, word| {
                let (kind, number) = word.split_once(' ').unwrap_or((current, word));
                *current = kind.trim_end_matches('s');
                Some((*current, number.to_owned()))
            })
        });
        labels.filter(|(found, _)| *found == kind).map(|(_, number)| number).collect()
    }

    fn listed(name: &str, kind: &str, expected: impl IntoIterator<Item = String>) {
        let page = PAGES.iter().find(|page| page.paper.as_deref() == Some(name)).unwrap();
        let found = numbers(page, kind);
        let once: BTreeSet<String> = found.iter().cloned().collect();
        assert_eq!(once.len(), found.len(), "{name} has a {kind} twice: {found:?}");
        assert_eq!(once, expected.into_iter().collect(), "{name} {kind}");
    }

    #[test]
    fn every_table_and_figure_of_the_papers_is_listed_once() {
        let range = |chapter: &str, n: usize| (1..=n).map(|i| format!("{chapter}{i}")).collect::<Vec<_>>();
        listed("DSM", "Table", ["I", "II", "III", "IV", "V", "VI", "VII"].map(String::from));
        listed("DSM", "Figure", range("", 11));
        listed("SBELL", "Table", range("", 5));
        listed("SBELL", "Figure", range("", 10));
        listed("WARP", "Table", range("", 4));
        listed("WARP", "Figure", range("", 14));
        listed("FEMSES", "Table", ["5.1".into()]);
        let chapters = [("2.", 6), ("3.", 6), ("4.", 12), ("5.", 42), ("6.", 1)];
        listed("FEMSES", "Figure", chapters.into_iter().flat_map(|(chapter, n)| range(chapter, n)));
    }

    #[test]
    fn every_claim_has_a_verdict() {
        let runs = checked_in();
        for page in PAGES.iter().filter(|page| page.paper.is_some()) {
            for Section { item, made } in page.sections(&runs) {
                assert_eq!(item.claim.is_some(), item.nothing.is_none(), "{}", item.label);
                assert_eq!(item.claim.is_some(), !made.verdicts.is_empty(), "{} {}", page.file, item.label);
            }
        }
    }

    #[test]
    fn the_pages_are_short_enough_to_be_read() {
        let all: usize = pages().map(|(_, text)| words(text)).sum();
        assert!(words(&MADE["report.md"]) < 6_000, "report.md: {} words", words(&MADE["report.md"]));
        assert!(all < 16_000, "all pages: {all} words");
    }

    #[test]
    fn without_figures_the_report_says_what_is_missing() {
        let files = make(&[]);
        assert!(files.keys().all(|name| name.ends_with(".md")) && files.len() == 6);
        let claims = PAGES.iter().flat_map(|page| &page.items).filter(|item| item.claim.is_some()).count();
        assert_eq!(files["report.md"].matches("| not measured |").count(), claims);
    }

    #[test]
    fn columns_are_few_and_have_heads_of_their_own() {
        let lines: Vec<&str> = pages().flat_map(|(_, text)| text.lines()).collect();
        let tables = lines.windows(2).filter(|pair| pair[1].starts_with("| ---")).map(|pair| pair[0]);
        let heads: Vec<Vec<&str>> =
            tables.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect();
        assert!(heads.len() > 40, "{}", heads.len());
        for columns in heads {
            let once: BTreeSet<&str> = columns.iter().copied().collect();
            assert_eq!(once.len(), columns.len(), "a head twice: {columns:?}");
            assert!(columns.len() <= 11, "too wide: {columns:?}");
        }
    }

    #[test]
    fn links_between_pages_lead_to_headings_and_plots() {
        let mut count = 0;
        for (name, text) in pages() {
            for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
                let (file, place) = link.split_once('#').unwrap_or((link, ""));
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/benchmarks/");
                let Some(target) = MADE.get(if file.is_empty() { name.as_str() } else { file }) else {
                    assert!(std::path::Path::new(folder).join(file).exists(), "{name}: {link}");
                    continue;
                };
                let headings = target.lines().filter(|line| line.starts_with('#'));
                let same = headings.filter(|line| anchor(line.trim_start_matches('#').trim()) == place);
                assert!(place.is_empty() || same.count() == 1, "{name}: {link}");
                count += 1;
            }
        }
        assert!(count > 50, "{count}");
        let shown = |plot: &String| pages().any(|(_, text)| text.contains(&format!("]({plot})")));
        assert!(MADE.keys().filter(|name| name.ends_with(".svg")).all(shown));
    }
}
