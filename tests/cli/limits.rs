//! Limits that a system sets: memory, threads, open files. Each is an error with its own exit code, never a crash.
#![cfg(target_os = "linux")]

use crate::{Folder, GOOD, Run, SOLVE};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Limits a resource of a program.
pub(crate) fn limit(command: &mut Command, resource: libc::__rlimit_resource_t, most: u64) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the call may be made between fork and exec.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(resource, &limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

/// A run with a limit; the names of what it left in the folder of results.
fn limited(folder: &Folder, arguments: &[&str], resource: libc::__rlimit_resource_t, most: u64) -> (Run, Vec<String>) {
    std::fs::remove_dir_all(folder.path("out")).unwrap_or_default();
    let mut command = folder.command(arguments);
    limit(&mut command, resource, most);
    // An arena for each thread takes 128 MiB of addresses, so that threads would be the first to find none.
    let run: Run = command.env("MALLOC_ARENA_MAX", "1").output().unwrap().into();
    let left = if folder.path("out").exists() { folder.names("out") } else { Vec::new() };
    (run, left)
}

/// Some MiB of addresses with which these arguments are run. With much less the system cannot load the program; with a
/// little less the standard library, which needs a stack for signals, ends it before `main`.
fn enough_mib(folder: &Folder, arguments: &[&str]) -> u64 {
    let runs = |mib: &u64| {
        let mut command = folder.command(arguments);
        limit(&mut command, libc::RLIMIT_AS, mib << 20);
        command.env("MALLOC_ARENA_MAX", "1").output().unwrap().status.success()
    };
    // Two runs do not take the very same.
    (8..1000).find(runs).unwrap() + 1
}

/// From too little to start to enough, in steps that meet most of the large arrays, those of the pictures too.
#[test]
fn too_little_memory_is_an_error_wherever_it_is_met() {
    const MIB: u64 = 1 << 20;
    let folder = Folder::new();
    folder.write("case.toml", &GOOD.replace("cells = [8, 2, 2]", "cells = [24, 8, 8]"));
    let mut codes = Vec::new();
    for mib in (enough_mib(&folder, &["--version"])..2000).step_by(2) {
        let (run, left) = limited(&folder, &SOLVE, libc::RLIMIT_AS, mib * MIB);
        codes.push((mib, run.code));
        match run.code {
            Some(0) => break,
            Some(6) => assert!(run.err.contains("error: out of memory on this machine: "), "{mib} MiB: {run:?}"),
            Some(7) => assert!(run.err.contains("error: cannot start the threads"), "{mib} MiB: {run:?}"),
            _ => panic!("{mib} MiB: {run:?}"),
        }
        assert!(left.is_empty(), "{mib} MiB: {left:?}");
    }
    assert!(codes.iter().filter(|(_, code)| *code == Some(6)).count() > 5, "{codes:?}");
    assert_eq!(codes.last().unwrap().1, Some(0), "{codes:?}");
}

/// Its bytes are read at one go.
#[test]
fn a_mesh_file_that_does_not_fit_is_an_error() {
    let folder = Folder::new();
    folder.run(&["mesh", "box", "--cells", "50", "50", "50", "-o", "box.msh"]).done();
    let size = std::fs::metadata(folder.path("box.msh")).unwrap().len();
    let enough = enough_mib(&folder, &["mesh", "box", "-o", "one.msh"]) << 20;
    let (run, _) = limited(&folder, &["info", "box.msh"], libc::RLIMIT_AS, enough + size / 2);
    run.refused(6, &["out of memory"]);
}

#[test]
fn threads_that_cannot_be_started_are_an_error() {
    let folder = Folder::new();
    folder.write("case.toml", GOOD);
    // Stacks that no address space has room for.
    for arguments in [&SOLVE[..], &["devices"], &["mesh", "box", "-o", "box.msh"]] {
        let run: Run =
            folder.command(arguments).env("RUST_MIN_STACK", (1u64 << 46).to_string()).output().unwrap().into();
        run.refused(7, &["cannot start the threads to compute with: ", "`ulimit -u`", "RAYON_NUM_THREADS"]);
    }
    assert_eq!(folder.names("."), ["case.toml"]);
}

/// As somebody who may have one process, which root is not.
#[test]
fn a_limit_on_processes_is_an_error() {
    const NOBODY: u32 = 65534;
    let folder = Folder::new();
    let mut command = folder.command(&["devices"]);
    limit(&mut command, libc::RLIMIT_NPROC, 1);
    let run = match command.uid(NOBODY).current_dir("/").output() {
        Ok(output) => Run::from(output),
        Err(error) => {
            println!("skipped: the program cannot be run as somebody else ({error})");
            return;
        }
    };
    run.refused(7, &["cannot start the threads to compute with: resource temporarily unavailable", "`ulimit -u`"]);
}

#[test]
fn too_few_open_files_are_an_error() {
    let folder = Folder::new();
    folder.write("case.toml", GOOD);
    let mut codes = Vec::new();
    for most in 3..40 {
        let (run, left) = limited(&folder, &SOLVE, libc::RLIMIT_NOFILE, most);
        codes.push(run.code);
        match run.code {
            Some(0) => break,
            Some(2 | 3 | 8) => assert!(run.err.contains("too many open files"), "{most} files: {run:?}"),
            // The loader of libraries, before the program starts.
            Some(127) if run.err.contains("loading shared libraries") => {}
            _ => panic!("{most} files: {run:?}"),
        }
        assert!(left.is_empty(), "{most} files: {left:?}");
    }
    assert!(codes.contains(&Some(8)) && codes.last() == Some(&Some(0)), "{codes:?}");
}
