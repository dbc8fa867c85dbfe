//! The command line: raw arguments become a validated job, which runs and ends in an exit code. All printing for people
//! is here and below. What is public serves the workspace's other program, `warpfem-bench`, as well.

mod cases;
mod check;
mod completions;
mod convert;
mod demo;
pub mod devices;
mod earlier;
mod failure;
mod geometry;
mod info;
mod init;
mod interrupt;
mod job;
mod mesh;
mod modes;
mod mpi;
mod preview;
pub mod print;
mod progress;
mod refine;
mod solve;
pub mod summary;
pub mod table;
mod template;
mod terminal;
mod threads;
mod verify;
mod warnings;

#[cfg(test)]
mod tests;

pub use cases::save;
pub use failure::{Failure, exit_code, united};
pub use job::{model_of, read_model, solve_and_keep};
pub use progress::Share;
pub use solve::{Auto, auto_or, one_of, orders, tolerance};

use crate::output;
use clap::error::{ContextKind, ContextValue};
use clap::{ColorChoice, Parser, Subcommand};
use std::alloc::Layout;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic;
use std::process::ExitCode;
use std::thread::Builder;

/// Finite elements for linear elasticity and potentials, on NVIDIA GPUs and CPUs.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = print::WIDTH,
    arg_required_else_help = true,
    after_help = "Examples:
  warpfem demo
  warpfem mesh box --size 16 2 2 --cells 64 8 8 -o cantilever.msh
  warpfem info cantilever.msh
  warpfem init cantilever.msh
  warpfem check cantilever.toml
  warpfem solve cantilever.toml

Exit codes: 0 done, 2 bad case file or arguments, 3 bad mesh, 4 a model that cannot be solved, \
5 not converged or a failed verification, 6 out of memory, 7 device, 8 output, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// What can be asked for.
#[derive(Debug, Subcommand)]
enum Command {
    /// Solve a built-in crane hook, and leave its files for you to try things on.
    Demo(demo::Arguments),
    /// Solve a case: displacements, stresses and a picture from a mesh and a case file.
    Solve(Box<solve::Arguments>),
    /// Write a case file for a mesh or a geometry (STEP, IGES, BREP), for you to fill in.
    Init(init::Arguments),
    /// Check a case: the model, everything wrong with it, memory and time to solve it.
    Check(check::Arguments),
    /// Write the element sizes for a wanted error, for Gmsh to mesh with.
    Refine(refine::Arguments),
    /// Describe a mesh: nodes, elements, groups, extent, quality.
    Info(info::Arguments),
    /// Write a mesh in the format of another program: Gmsh, CalculiX, Abaqus, ParaView.
    Convert(convert::Arguments),
    /// Generate a mesh file.
    #[command(subcommand, after_help = "Example: warpfem mesh box --size 16 2 2 --cells 64 8 8 -o cantilever.msh")]
    Mesh(mesh::Kind),
    /// Solve problems with published answers, and compare.
    Verify(verify::Arguments),
    /// List the devices of this machine.
    #[command(after_help = "Example: warpfem devices")]
    Devices,
    /// Print the script that lets a shell complete commands and flags.
    Completions(completions::Arguments),
    /// The name of another program, `warpfem-bench`.
    #[command(hide = true, disable_help_flag = true)]
    Bench(Elsewhere),
    /// One of its commands.
    #[command(hide = true, disable_help_flag = true)]
    Report(Elsewhere),
}

/// The arguments of a command of another program, whatever they are.
#[derive(Debug, clap::Args)]
struct Elsewhere {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<OsString>,
}

/// Runs `warpfem`.
pub fn main() -> ExitCode {
    ExitCode::from(main_of(std::env::args_os().collect()))
}

/// The same of some words, the program's name first, where those of the process are another's; returns the exit code.
pub fn main_of(words: Vec<OsString>) -> u8 {
    program_of(words, |arguments: Arguments| run(arguments.command))
}

/// Runs a program on its arguments and reports errors; its exit code, of which 1 stands for a bug alone.
pub fn program<A: Parser>(run: fn(A) -> anyhow::Result<()>) -> ExitCode {
    ExitCode::from(program_of(std::env::args_os().collect(), run))
}

fn program_of<A: Parser>(words: Vec<OsString>, run: fn(A) -> anyhow::Result<()>) -> u8 {
    panic::set_hook(Box::new(print::bug));
    panic::catch_unwind(|| match parse(&words) {
        Ok(arguments) => finish(run(arguments)),
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            match print::usage(&error) {
                Err(error) if code == 0 => finish(Err(error.into())),
                // There is nowhere left to report that stderr is closed.
                _ => code,
            }
        }
    })
    .unwrap_or(1)
}

/// The arguments; clap's own messages have colours where ours have.
fn parse<A: Parser>(words: &[OsString]) -> Result<A, clap::Error> {
    let colours = if print::wants_colours() { ColorChoice::Auto } else { ColorChoice::Never };
    let mut command = A::command().color(colours);
    let matches = command.try_get_matches_from_mut(words);
    A::from_arg_matches(&matches.map_err(|error| by_beginning(error, &command, words))?)
}

/// Where what is no flag is the beginning of one, that one is meant: clap would offer the one with the most letters in
/// common.
fn by_beginning(mut error: clap::Error, command: &clap::Command, words: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return error };
    let said = words.iter().skip(1);
    let command = said.fold(command, |command, word| command.find_subcommand(word).unwrap_or(command));
    let flags = command.get_arguments().filter_map(|argument| Some(format!("--{}", argument.get_long()?)));
    let meant: Vec<String> = flags.filter(|flag| typed.len() > 2 && flag.starts_with(typed.as_str())).collect();
    if let [one] = meant.as_slice() {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(one.clone()));
        // It is of the flag that clap would have offered.
        error.remove(ContextKind::Usage);
    }
    error
}

fn run(command: Command) -> anyhow::Result<()> {
    start(match &command {
        Command::Solve(arguments) => arguments.threads,
        _ => None,
    })?;
    dispatch(command)
}

/// Runs a command of `warpfem` in this process: its words, the program's name first.
///
/// # Errors
///
/// Those of the command and of words that are none.
pub fn run_command(words: &[&str]) -> anyhow::Result<()> {
    dispatch(Arguments::try_parse_from(words)?.command)
}

fn dispatch(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Solve(arguments) => solve::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Refine(arguments) => refine::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Mesh(kind) => mesh::run(&kind),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Devices => devices::run(),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Bench(_) => Err(elsewhere("bench", "COMMAND")),
        Command::Report(_) => Err(elsewhere("report", "report")),
    }
}

/// Listens for Ctrl-C and starts the threads that all loops share; without a number as many as the machine runs at a
/// time.
///
/// # Errors
///
/// [`Failure::Threads`]
pub fn start(n: Option<u32>) -> Result<(), Failure> {
    interrupt::listen().map_err(|source| Failure::Threads { source })?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n.unwrap_or(0) as usize);
    let pool = pool.spawn_handler(|thread| threads::spawn(Builder::new(), || thread.run()));
    pool.build_global().map_err(|error| Failure::Threads { source: io::Error::other(error) })
}

/// Ends the program where an allocation has failed; for [`std::alloc::set_alloc_error_hook`]. Allocates nothing.
pub fn out_of_memory(layout: Layout) {
    output::discard_unfinished_or_give_up();
    let mib = layout.size() as f64 / f64::from(1 << 20);
    // There is nowhere left to report that stderr is closed.
    let _ = writeln!(
        io::stderr(),
        "error: out of memory on this machine: {mib:.1} MiB more were asked for\n\
         help: take a coarser mesh, or raise the limit on memory (`ulimit -v`)"
    );
    // SAFETY: it ends the process. The handlers that it leaves out may need memory.
    #[cfg(unix)]
    unsafe {
        libc::_exit(6)
    }
    #[cfg(not(unix))]
    std::process::exit(6)
}

/// A command that another program has.
fn elsewhere(command: &str, its: &str) -> anyhow::Error {
    usage(format!(
        "`warpfem {command}` is now `warpfem-bench {its}`\nhelp: in the repository: cargo run --release -p warpfem-bench -- {its} .."
    ))
}

/// The exit code of something that has been reported.
#[derive(Debug, thiserror::Error)]
#[error("exit code {0}")]
pub struct Reported(pub u8);

/// An error of arguments that are sound one by one and make no sense together.
pub fn usage(message: String) -> anyhow::Error {
    clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, message + "\n").into()
}

/// Reports an error and turns it into the exit code.
fn finish(result: anyhow::Result<()>) -> u8 {
    let code = result.map_or_else(|error| reported(&failure::united(error)), |()| 0);
    // The results of an iteration that Ctrl-C has ended are written by then.
    let code = if matches!(code, 0 | 5) && interrupt::was_heeded() { interrupt::INTERRUPTED } else { code };
    mpi::leave(code);
    code
}

fn reported(error: &anyhow::Error) -> u8 {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // There is nowhere left to report that stderr is closed.
        let _ = print::usage(usage);
        return 2;
    }
    if print::is_closed_pipe(error) {
        return 0;
    }
    if let Some(Reported(code)) = error.downcast_ref() {
        return *code;
    }
    print::error(error);
    failure::exit_code(error)
}
