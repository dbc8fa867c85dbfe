//! `warpfem completions SHELL`.

use super::print;
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
#[command(after_help = "Put them where your shell looks for them.

Examples:
  warpfem completions bash > ~/.local/share/bash-completion/completions/warpfem
  warpfem completions zsh > ~/.zfunc/_warpfem
  warpfem completions fish > ~/.config/fish/completions/warpfem.fish")]
pub struct Arguments {
    /// The shell.
    shell: Shell,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "warpfem", &mut script);
    print::text(&String::from_utf8_lossy(&script))
}
