//! Printing: results on stdout, which may be a pipe that closes; errors on stderr.

use super::failure::Failure;
use crate::mesh::{Cells, Mesh};
use crate::pipeline::Solution;
use crate::result::choices::{Method, Precision};
use crate::result::{Ending, Measure};
use crate::{Error, output, result};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use warpfem_text::visible;
pub(super) use warpfem_text::{bytes, count, seconds, vector};

/// Prints to stdout. Unlike `println!`, a closed pipe is an error and no panic.
pub fn text(text: &str) -> anyhow::Result<()> {
    put(&mut io::stdout().lock(), &shown(text, has_colours(&io::stdout())))?;
    Ok(())
}

/// Prints what `clap` says: help on stdout, errors on stderr.
pub(super) fn usage(error: &clap::Error) -> io::Result<()> {
    let said = error.render();
    let text = |colours| shown(&if colours { said.ansi().to_string() } else { said.to_string() }, colours);
    match error.use_stderr() {
        true => put(&mut io::stderr(), &text(has_colours(&io::stderr()))),
        false => put(&mut io::stdout().lock(), &text(has_colours(&io::stdout()))),
    }
}

/// Columns of the terminal that text is for.
pub const WIDTH: usize = 80;

/// A line, broken between words where it would be longer than [`WIDTH`]; the lines after the first begin with `indent`.
/// Vectors and percentages stay whole.
pub(super) fn wrapped(line: &str, indent: &str) -> String {
    let options = textwrap::Options::new(WIDTH)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .subsequent_indent(indent);
    textwrap::fill(&with_whole_vectors(line).replace(" %", &format!("{UNBROKEN}%")), options).replace(UNBROKEN, " ")
}

/// A space that no line ends at.
pub(super) const UNBROKEN: char = '\u{a0}';

/// Text that no line ends in.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(' ', &UNBROKEN.to_string())
}

/// `(1, 2, 3)` with spaces that do not break.
fn with_whole_vectors(line: &str) -> String {
    let is_vector = |inside: &str| inside.chars().all(|c| c.is_ascii_digit() || "+-.e, ".contains(c));
    let mut out = String::with_capacity(line.len());
    for (i, piece) in line.split('(').enumerate() {
        out += if i > 0 { "(" } else { "" };
        match piece.split_once(')') {
            Some((inside, rest)) if i > 0 && is_vector(inside) => {
                out.extend([&unbroken(inside), ")", rest]);
            }
            _ => out += piece,
        }
    }
    out
}

/// [`quoted`], for a line that is [`wrapped`]: no line ends within it.
pub(super) fn whole(path: &Path) -> String {
    unbroken(&quoted(path))
}

/// A path as a shell takes it: in quotes where it has to be.
pub(super) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    match !path.is_empty() && path.chars().all(is_plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// `12 tri6, 3 quad8`: the solids of a mesh.
pub(super) fn elements(mesh: &Mesh) -> String {
    let of = |(_, cells): (usize, &Cells)| format!("{} {}", count(cells.len()), cells.kind.info().name);
    mesh.solids().map(of).collect::<Vec<_>>().join(", ")
}

fn put(out: &mut dyn Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Text as a terminal may have it: what names bring along is [written out](visible), and of codes only our colours are
/// left, where there are colours.
fn shown(text: &str, colours: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[").filter(|_| colours) {
        let code = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        let (before, after) = match code.strip_prefix('m') {
            Some(after) => (at, after),
            None => (at + 2, code),
        };
        out += &visible(&rest[..before]);
        out += &rest[before..rest.len() - after.len()];
        rest = after;
    }
    out + &visible(rest)
}

/// Whether an error is that the reader of our output has gone.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// What a colour says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Doubtful,
    Bad,
}

/// A text for stdout in the colour of its tone, where there are colours.
pub(super) fn toned(tone: Tone, text: &str) -> String {
    if has_colours(&io::stdout()) { colour(tone, text) } else { text.into() }
}

/// Whether a stream shows colours, and nobody asked for none.
pub(super) fn has_colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && wants_colours()
}

/// Whether the environment leaves terminals their colours (<https://no-color.org>).
pub(super) fn wants_colours() -> bool {
    let said = |name: &str| std::env::var(name).ok();
    allows_colours(said("NO_COLOR").as_deref(), said("TERM").as_deref())
}

fn allows_colours(no_color: Option<&str>, term: Option<&str>) -> bool {
    no_color.is_none_or(str::is_empty) && term != Some("dumb")
}

fn colour(tone: Tone, text: &str) -> String {
    let code = match tone {
        Tone::Good => 32,
        Tone::Doubtful => 33,
        Tone::Bad => 31,
    };
    format!("\x1b[1;{code}m{text}\x1b[0m")
}

/// Reports an error on stderr, and what to do about it where the error itself does not say.
pub(super) fn error(error: &anyhow::Error) {
    let text = format!("{}: {}", word(), message(error));
    let has_colours = has_colours(&io::stderr());
    let text = if has_colours { with_red_pointers(&text) } else { text };
    // There is nowhere left to report that stderr is closed.
    let _ = writeln!(io::stderr(), "{}", shown(&text, has_colours));
}

/// What is said of an error, behind the word.
pub fn message(error: &anyhow::Error) -> String {
    match (error.downcast_ref::<Error>(), error.downcast_ref::<Failure>()) {
        // The texts of both have their causes' in them.
        (Some(error), _) => format!("{error}{}", help(error)),
        (_, Some(failure)) => format!("{failure}{}", help_after(failure)),
        _ => format!("{error:#}"),
    }
}

/// The text with the pointers under words of a case file, `  | ^^^^`, in red.
fn with_red_pointers(text: &str) -> String {
    let painted = |line: &str| match line.find('^') {
        Some(at) if line[at..].chars().all(|c| c == '^') && line[..at].trim_end().ends_with('|') => {
            format!("{}{}", &line[..at], colour(Tone::Bad, &line[at..]))
        }
        _ => line.to_owned(),
    };
    text.lines().map(painted).collect::<Vec<_>>().join("\n")
}

/// `error`, red where there are colours.
fn word() -> String {
    if has_colours(&io::stderr()) { colour(Tone::Bad, "error") } else { "error".into() }
}

/// What comes before every help where results are marked.
const MARKED: &str = "\nhelp: the results are written, marked as not converged";

fn help_after(failure: &Failure) -> String {
    match failure {
        Failure::NotConverged(solution) => format!("{MARKED}{}", next_step(solution)),
        Failure::Gmsh { .. } | Failure::Stopped => String::new(),
        Failure::Unverified { .. } => "\nhelp: try `--device cpu`, and report a bug with the table above".into(),
        Failure::Threads { .. } => {
            "\nhelp: raise the limits on processes and memory (`ulimit -u`, `ulimit -v`), or take fewer \
                                    threads: `RAYON_NUM_THREADS=1`"
                .into()
        }
    }
}

fn help(error: &Error) -> &'static str {
    match error {
        Error::Solve(result::Error::Breakdown) => {
            "\nhelp: nothing is written; `warpfem info` shows the mesh's extent and its worst elements"
        }
        error if error.exit_code() == 6 => "\nhelp: use a coarser mesh; on a GPU try `--device cpu`",
        Error::Solve(result::Error::Devices(_)) => "\nhelp: leave out `--devices`, or start one process",
        Error::Solve(result::Error::Device(_)) => {
            "\nhelp: `warpfem devices` lists the devices of this machine; `--device cpu` needs no GPU, and gives the \
             same results"
        }
        Error::Output(output::Error::Output { .. } | output::Error::Folder { .. }) => {
            "\nhelp: choose another place with `-o`"
        }
        _ => "",
    }
}

/// Why an iteration does not converge.
const CAUSES: &str = "Likely causes: a body that is barely held, nearly a mechanism (`warpfem check`) or very slender, badly shaped \
                      elements (`warpfem info`), or materials of very different stiffness";

/// What to do about an iteration that ended short of its tolerance.
fn next_step(solution: &Solution) -> String {
    let outcome = &solution.outcome;
    let plan = &solution.used.plan;
    match (outcome.ending, plan.precision) {
        (Ending::Cancelled, _) => String::new(),
        (_, Precision::Single) => {
            "; single precision may not reach that: use `--precision double` or `mixed`, or a larger `--tolerance`"
                .into()
        }
        (Ending::Stagnated, _) if outcome.measure == Measure::Residual => {
            let reached = outcome.relative_residual;
            let reachable = within_reach(REACHABLE * reached);
            let right = |digits: u32| format!("; displacements are right to about {digits} digits");
            format!(
                "; rounding allows no residual below {reached:.1e} on this model (`--residual-tolerance {reachable:e}` is \
                 met){}",
                outcome.digits.map(right).unwrap_or_default()
            )
        }
        (Ending::Stagnated, Precision::Double) if plan.method == Method::Direct => format!(". {CAUSES}"),
        (Ending::Stagnated, Precision::Double) => format!(". {CAUSES}; `--method direct` may still solve it"),
        (Ending::Stagnated, _) => format!("; use `--precision double`. {CAUSES}"),
        (Ending::Indefinite | Ending::Diverged, _) => format!(". {CAUSES}"),
        _ => format!("; raise `--max-iterations`, or use `--method direct`. {CAUSES}"),
    }
}

/// A residual so many times that at which the iteration stands still is met for certain.
const REACHABLE: f64 = 2.0;

/// The power of ten above a residual.
fn within_reach(residual: f64) -> f64 {
    10f64.powi(residual.log10().ceil() as i32)
}

/// Reports a panic: a bug, for which there is nothing the user can do but tell us.
pub(super) fn bug(panic: &std::panic::PanicHookInfo<'_>) {
    let _ = writeln!(io::stderr(), "error: this is a bug in warpfem, please report it: {panic}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_on_colours() {
        assert!(allows_colours(None, None) && allows_colours(Some(""), Some("xterm")));
        assert!(!allows_colours(Some("1"), Some("xterm")) && !allows_colours(None, Some("dumb")));
    }

    #[test]
    fn lines_break_between_words_and_vectors_stay_whole() {
        let line = format!("  {} (1.000, -2.5e-3, 0) (one, two)", "word ".repeat(13).trim());
        let text = wrapped(&line, "    ");
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(text.contains("word\n    (1.000, -2.5e-3, 0) (one, two)"), "{text}");
        let long = "x".repeat(100);
        assert_eq!(wrapped(&format!("a {long}"), ""), format!("a\n{long}"));
    }

    #[test]
    fn paths_are_quoted_where_a_shell_needs_it() {
        let said = ["out/case.html", "my part/a.html", "it's", "a$b", ""].map(|path| quoted(Path::new(path)));
        assert_eq!(said, ["out/case.html", "'my part/a.html'", r"'it'\''s'", "'a$b'", "''"]);
    }

    #[test]
    fn only_colours_reach_the_terminal() {
        let text = "\x1b[1;32mgood\x1b[0m a\x1b[2Jb\x1b]0;title\x07c\u{202e}d";
        assert_eq!(shown(text, true), "\x1b[1;32mgood\x1b[0m a\\u{1b}[2Jb\\u{1b}]0;title\\u{7}c\\u{202e}d");
        assert!(!shown(text, false).contains('\x1b') && shown(text, false).starts_with("\\u{1b}[1;32mgood"));
        assert_eq!(shown("\x1b[", true), "\\u{1b}[");
    }

    #[test]
    fn pointers_are_red() {
        let text = "part.toml:3:1: no key `yuong`\n  |\n3 | yuong = 2^3\n  | ^^^^^\nhelp: ^";
        let painted = text.replace("^^^^^", "\x1b[1;31m^^^^^\x1b[0m");
        assert_eq!(with_red_pointers(text), painted);
    }

    #[test]
    fn a_tolerance_within_reach_is_a_power_of_ten() {
        assert_eq!([7.26e-11, 1.4e-13, 9.9e-8].map(|r| format!("{:e}", within_reach(r))), ["1e-10", "1e-12", "1e-7"]);
    }
}
