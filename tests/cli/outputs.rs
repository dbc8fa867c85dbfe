//! What is in the way of an output file: only regular files are replaced, and links lead to the file that is written.
#![cfg(target_os = "linux")]

use crate::{Folder, GOOD, Run, SOLVE};
use std::ffi::CString;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Every command that writes files, and one of its files.
const WRITERS: [(&str, &[&str], &str); 9] = [
    ("mesh", &["mesh", "box", "-o", "new.msh"], "new.msh"),
    ("init", &["init", "part.msh", "-o", "new.toml", "--force"], "new.toml"),
    ("convert", &["convert", "part.msh", "new.inp"], "new.inp"),
    ("demo", &["demo", "-o", "out", "--device", "cpu"], "out/hook.msh"),
    ("solve, vtu", &SOLVE, "out/case.vtu"),
    ("solve, frd", &["solve", "case.toml", "-o", "out", "--device", "cpu", "--frd"], "out/case.frd"),
    ("solve, png", &SOLVE, "out/case.png"),
    ("solve, html", &SOLVE, "out/case.html"),
    ("solve, json", &SOLVE, "out/summary.json"),
];

/// A folder with all that the commands read.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("case.toml", GOOD);
    folder.run(&["mesh", "box", "--cells", "2", "2", "2", "-o", "part.msh"]).done();
    fs::create_dir(folder.path("out")).unwrap();
    folder
}

/// Makes something that is no regular file, without opening it.
fn special(path: &Path, kind: libc::mode_t) -> std::io::Result<()> {
    let name = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the name ends in a zero and lives as long as the call. The device, should it be one, is /dev/null's.
    match unsafe { libc::mknod(name.as_ptr(), kind | 0o666, libc::makedev(1, 3)) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Whatever is refused stays, and nothing is left beside it.
fn refuses(what: &str, make: impl Fn(&Path) -> std::io::Result<()>, is_there: impl Fn(&Path) -> bool) {
    let folder = prepared();
    for (name, arguments, file) in WRITERS {
        let path = folder.path(file);
        if let Err(error) = make(&path) {
            println!("skipped: a {what} cannot be made here ({error})");
            return;
        }
        let before = folder.names("out");
        let run = folder.run(arguments);
        assert!(run.err.contains(file), "{name}: {run:?}");
        run.refused(8, &["cannot write ", what, "`-o`"]);
        assert!(is_there(&path), "{name}");
        assert_eq!(folder.names("out"), before, "{name}");
        if path.is_dir() { fs::remove_dir(&path).unwrap() } else { fs::remove_file(&path).unwrap() }
    }
    assert_eq!(folder.names("."), ["case.toml", "out", "part.msh"]);
}

fn kind(path: &Path) -> fs::FileType {
    fs::symlink_metadata(path).unwrap().file_type()
}

/// Root too heeds the permission bits, as whoever set them meant the file to stay.
#[test]
fn only_regular_files_that_may_be_written_are_replaced() {
    refuses("device", |path| special(path, libc::S_IFCHR), |path| kind(path).is_char_device());
    refuses("pipe", |path| special(path, libc::S_IFIFO), |path| kind(path).is_fifo());
    refuses("socket", |path| UnixListener::bind(path).map(drop), |path| kind(path).is_socket());
    refuses("folder", |path| fs::create_dir(path), |path| kind(path).is_dir());
    refuses("device", |path| symlink("/dev/null", path), |path| kind(path).is_symlink());
    assert!(kind(Path::new("/dev/null")).is_char_device());
    let protect = |path: &Path| {
        fs::write(path, "dear")?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o444))
    };
    refuses("write-protected", protect, |path| fs::read(path).unwrap() == b"dear");
}

#[test]
fn a_link_stays_and_its_file_is_written() {
    for is_there in [true, false] {
        let folder = prepared();
        fs::create_dir(folder.path("far")).unwrap();
        for (name, arguments, file) in WRITERS.into_iter().filter(|writer| writer.0 != "demo") {
            let path = folder.path(file);
            let target = folder.path("far").join(path.file_name().unwrap());
            if is_there {
                fs::write(&target, "old").unwrap();
            }
            symlink(&target, folder.path("far/link")).unwrap();
            symlink(folder.path("far/link"), &path).unwrap();
            let run = folder.run(arguments);
            assert_eq!(run.code, Some(0), "{name}: {run:?}");
            assert!(kind(&path).is_symlink() && kind(&target).is_file(), "{name}");
            assert!(fs::read(&target).unwrap().len() > 3, "{name}");
            fs::remove_file(folder.path("far/link")).unwrap();
            fs::remove_dir_all(folder.path("out")).unwrap();
            fs::create_dir(folder.path("out")).unwrap();
        }
    }
}

#[test]
fn links_that_go_in_a_circle_are_an_error() {
    let folder = Folder::new();
    symlink("b.msh", folder.path("a.msh")).unwrap();
    symlink("a.msh", folder.path("b.msh")).unwrap();
    folder.run(&["mesh", "box", "-o", "a.msh"]).refused(8, &["cannot write a.msh: ", "symbolic links"]);
    assert_eq!(folder.names("."), ["a.msh", "b.msh"]);
}

/// A picture that is no longer true goes, and nothing else that has its name.
#[test]
fn what_is_no_picture_is_not_removed() {
    let folder = Folder::new();
    let still = GOOD.replace("-1e3]", "0.0]").replace("-9.81", "0.0");
    let solve = |folder: &Folder| -> Run { folder.solve(&still, &["--quiet"]) };
    assert_eq!(solve(&folder).code, Some(0));
    folder.write("out/case.png", "old");
    assert_eq!(solve(&folder).code, Some(0));
    assert!(!folder.path("out/case.png").exists());
    fs::create_dir(folder.path("out/case.png")).unwrap();
    solve(&folder).refused(8, &["cannot write out/case.png: it is a folder"]);
    assert!(folder.path("out/case.png").is_dir());
}
