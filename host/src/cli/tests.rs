//! The help of every command.

use super::Arguments;
use clap::{Command, CommandFactory, Parser};

/// Every command below one, with what is to be typed for it.
fn all(command: &Command, typed: &str) -> Vec<(String, Command)> {
    let mut found = vec![(typed.to_owned(), command.clone())];
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        found.extend(all(below, &format!("{typed} {}", below.get_name())));
    }
    found
}

/// The commands that a help shows.
fn examples(command: &Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (_, shown) = help.split_once("Example").unwrap_or_default();
    let lines = shown.lines().map(|line| line.trim_start_matches(['s', ':', ' ']));
    lines.filter(|line| line.starts_with("warpfem ")).map(str::to_owned).collect()
}

#[test]
fn every_help_has_examples_and_every_example_is_understood() {
    let commands = all(&Arguments::command(), "warpfem");
    assert!(commands.len() > 12, "{}", commands.len());
    for (typed, command) in commands {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "the help of `{typed}` has no example");
        for example in &examples {
            let belongs = example.starts_with(&typed);
            // What is after a redirection is the shell's.
            let words = example.split(" > ").next().unwrap_or("").split_whitespace();
            let understood = Arguments::try_parse_from(words);
            assert!(belongs && understood.is_ok(), "`{example}` in the help of `{typed}`: {:?}", understood.err());
        }
    }
}

#[test]
fn every_command_and_flag_says_what_it_is() {
    Arguments::command().debug_assert();
    for (typed, command) in all(&Arguments::command(), "warpfem") {
        assert!(command.get_about().is_some(), "{typed}");
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{typed}: {argument}");
        }
    }
}
