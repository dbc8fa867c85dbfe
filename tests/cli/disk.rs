//! Disks that are full, folders that cannot be written, folders that go away, and files too large to read.
#![cfg(target_os = "linux")]

use crate::limits::limit;
use crate::stop::handle;
use crate::terminal::interrupt_iteration;
use crate::{Folder, GOOD, Run, SOLVE};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// Lets no file of a program grow beyond so many bytes: a disk of which so much is left, as far as the program can
/// tell. A write beyond the limit ends a program that does nothing about it.
fn limit_files(command: &mut Command, bytes: u64) {
    handle(command, libc::SIGXFSZ, libc::SIG_DFL);
    limit(command, libc::RLIMIT_FSIZE, bytes);
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = Folder::new();
    folder.solve(GOOD, &["--quiet"]).done();
    let whole = folder.names("out");
    let before: Vec<Vec<u8>> = whole.iter().map(|name| folder.read(&format!("out/{name}"))).collect();
    // Nothing, some, and all but the largest file.
    for bytes in [0, 1000, 10_000] {
        let mut command = folder.command(&SOLVE);
        limit_files(&mut command, bytes);
        let run: Run = command.output().unwrap().into();
        run.refused(8, &["cannot write out/", "`-o`"]);
        assert_eq!(folder.names("out"), whole);
        assert!(whole.iter().zip(&before).all(|(name, before)| folder.read(&format!("out/{name}")) == *before));
    }
    let mut command = folder.command(&["mesh", "box", "-o", "box.msh"]);
    limit_files(&mut command, 10_000);
    Run::from(command.output().unwrap()).refused(8, &["cannot write box.msh"]);
    assert_eq!(folder.names("."), ["case.toml", "out"]);
}

#[test]
fn an_output_that_is_full_is_an_error() {
    let folder = Folder::new();
    folder.write("case.toml", GOOD);
    for arguments in [&SOLVE[..], &["devices"], &["completions", "bash"], &["--help"], &["check", "case.toml"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run: Run = folder.command(arguments).stdout(full).output().unwrap().into();
        run.refused(8, &["No space left on device"]);
    }
    // What was computed is there.
    assert_eq!(folder.summary("out")["solver"]["converged"], true);
}

#[test]
fn a_folder_that_may_not_be_written() {
    let folder = Folder::new();
    folder.write("case.toml", GOOD);
    // Nobody may, not even root.
    let run = folder.run(&["solve", "case.toml", "-o", "/proc/warpfem", "--device", "cpu"]);
    run.refused(8, &["cannot write into /proc/warpfem: /proc takes no new files"]);
    fs::create_dir(folder.path("out")).unwrap();
    fs::set_permissions(folder.path("out"), fs::Permissions::from_mode(0o555)).unwrap();
    if tempfile::tempfile_in(folder.path("out")).is_ok() {
        println!("skipped: root may write everywhere");
        return;
    }
    folder.run(&SOLVE).refused(8, &["cannot write into /", "/out: you may not write in /", "`-o`"]);
}

#[test]
fn a_folder_that_goes_away_is_made_again_and_one_that_cannot_be_is_an_error() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("some/where")).unwrap();
    let run = interrupt_iteration(&folder, "some/where", || fs::remove_dir_all(folder.path("some")).unwrap());
    assert_eq!(run.code, Some(130), "{run:?}");
    assert!(folder.names("some/where").contains(&"summary.json".to_owned()));
    let run = interrupt_iteration(&folder, "some/where", || {
        fs::remove_dir_all(folder.path("some")).unwrap();
        folder.write("some", "in the way");
    });
    run.refused(8, &["cannot write some/where", "`-o`"]);
    assert_eq!(folder.read("some"), b"in the way");
}

/// A file of which the disk holds nothing.
#[test]
fn a_mesh_that_no_memory_holds_is_refused_before_it_is_read() {
    let folder = Folder::new();
    let mesh = fs::File::create(folder.path("huge.msh")).unwrap();
    if let Err(error) = mesh.set_len(8 << 40) {
        println!("skipped: this file system has no files of 8 TiB ({error})");
        return;
    }
    let start = Instant::now();
    let case = GOOD.replace(GOOD.lines().nth(1).unwrap(), "file = \"huge.msh\"");
    folder.solve(&case, &[]).refused(6, &["out of memory on this machine: 8192.0 GiB are needed", "coarser mesh"]);
    assert!(start.elapsed() < Duration::from_secs(30));
}
