//! The pages of the report, from `pages/*.toml`: papers with their tables and figures, and what is of no paper.

use super::block::{Block, Made};
use super::markdown::anchor;
use super::run::Run;
use super::verdict::tally;
use serde::Deserialize;
use std::sync::LazyLock;

/// The first page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overview {
    /// What it begins with.
    pub head: String,
    /// What comes before the list of runs.
    pub runs: String,
    /// What comes before the table of all tables and figures.
    pub contents: String,
    /// What comes after it.
    #[serde(rename = "item")]
    pub items: Vec<Item>,
}

/// A page of a paper, or of what belongs to none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Its file's name.
    pub file: String,
    pub title: String,
    /// What its sections have in common.
    pub about: String,
    /// What this project calls the paper.
    pub paper: Option<String>,
    #[serde(rename = "item")]
    pub items: Vec<Item>,
}

/// A table or figure of a paper, or several that one measurement answers; or what else was measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// `Table IV`, `Figures 7, 8`, or a heading.
    pub label: String,
    /// What a table or figure shows.
    #[serde(default)]
    pub about: String,
    /// Why it has no counterpart here, or where its counterpart is.
    pub nothing: Option<String>,
    /// What the paper claims, with its numbers.
    pub claim: Option<String>,
    /// What the section begins with.
    pub text: Option<String>,
    #[serde(rename = "block", default)]
    pub blocks: Vec<Block>,
}

/// A section's text with its verdicts and plots.
pub struct Section {
    pub item: &'static Item,
    pub made: Made,
}

pub static OVERVIEW: LazyLock<Overview> = LazyLock::new(|| read!("pages/report.toml"));

/// The other pages, in their order.
pub static PAGES: LazyLock<[Page; 5]> = LazyLock::new(|| {
    [
        read!("pages/dsm.toml"),
        read!("pages/sbell.toml"),
        read!("pages/warp.toml"),
        read!("pages/femses.toml"),
        read!("pages/measured.toml"),
    ]
});

impl Item {
    pub fn heading(&self) -> String {
        if self.about.is_empty() { self.label.clone() } else { format!("{}: {}", self.label, self.about) }
    }

    /// What the runs have for it, each with where it is from; empty text if none has anything.
    pub fn section(&'static self, paper: Option<&str>, runs: &[Run]) -> Section {
        let mut made = Made::default();
        for run in runs {
            made.extend(self.of_run(run));
        }
        if !made.text.is_empty() {
            let claim = self.claim.iter().zip(paper).map(|(claim, paper)| format!("**{paper} says**: {claim}\n"));
            let text = self.text.iter().map(|text| format!("{}\n", text.trim()));
            let before = claim.chain(text).collect::<Vec<_>>().join("\n");
            made.text = format!("\n## {}\n\n{before}{}", self.heading(), made.text);
        }
        Section { item: self, made }
    }

    fn of_run(&'static self, run: &Run) -> Made {
        let make = |file: &serde_json::Value| {
            let mut made = Made::default();
            self.blocks.iter().for_each(|block| made.extend(block.make(file)));
            made
        };
        let mut made = make(&run.json);
        if !made.text.is_empty() {
            let origin = run.origin(&run.behind(make));
            made.text = format!("\n**{}**{origin}:\n\n{}\n", run.device, made.text.trim_matches('\n'));
        }
        made
    }
}

impl Page {
    /// Its sections, those that have nothing among them.
    pub fn sections(&'static self, runs: &[Run]) -> Vec<Section> {
        self.items.iter().map(|item| item.section(self.paper.as_deref(), runs)).collect()
    }

    /// The page's text.
    pub fn text(&self, sections: &[Section]) -> String {
        let all: String = sections.iter().map(|section| section.made.text.as_str()).collect();
        format!("# {}\n\n{}\n{all}", self.title, self.about.trim())
    }

    /// Its row in the table of all tables and figures, and where its counterpart is.
    pub fn row(&self, Section { item, made }: &Section) -> Vec<String> {
        let label = self.paper.iter().chain([&item.label]).map(String::as_str).collect::<Vec<_>>().join(" ");
        let link = format!("[{label}]({}#{})", self.file, anchor(&item.heading()));
        let (name, said) = match &item.nothing {
            Some(why) => (label, format!("none: {why}")),
            None if made.text.is_empty() => (label, "not measured".into()),
            None if made.verdicts.is_empty() => (link, "no verdict".into()),
            None => (link, tally(&made.verdicts)),
        };
        vec![name, item.about.clone(), said]
    }
}
