//! Files that appear complete or not at all.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, Result};

/// The temporary files there are now. A signal handler cannot run destructors, so it needs to know them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether a file has got its final name.
static PUBLISHED: AtomicBool = AtomicBool::new(false);

/// Removes the temporary files of writes in progress, and says whether a file has been written before. For a Ctrl-C
/// handler, just before it ends the process.
pub fn discard_unfinished() -> bool {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.drain(..) {
        // A file that has been renamed or removed meanwhile is no longer there to discard.
        let _ = std::fs::remove_file(path);
    }
    // Kept locked, so that no other thread makes a new file before the process has ended.
    std::mem::forget(unfinished);
    PUBLISHED.load(Ordering::Relaxed)
}

/// A complete file that still has its temporary name. Dropped unpublished, it is removed.
pub(super) struct Staged {
    /// `None` once it is published.
    temporary: Option<NamedTempFile>,
    name: PathBuf,
    target: PathBuf,
}

impl Staged {
    /// Writes what will be `target` into a temporary file beside it, so that the renaming stays in one file system.
    pub(super) fn write(target: PathBuf, body: impl FnOnce(&mut File) -> io::Result<()>) -> Result<Staged> {
        let fail = |source| Error::Output { path: target.clone(), source };
        let mut staged = create(&target).map_err(fail)?;
        if let Some(temporary) = staged.temporary.as_mut() {
            body(temporary.as_file_mut()).map_err(fail)?;
        }
        Ok(staged)
    }

    /// Renames it to its final name, over what had that name before.
    pub(super) fn publish(mut self) -> Result<PathBuf> {
        if let Some(temporary) = self.temporary.take() {
            let fail = |e: tempfile::PersistError| Error::Output { path: self.target.clone(), source: e.error };
            temporary.persist(&self.target).map_err(fail)?;
            PUBLISHED.store(true, Ordering::Relaxed);
        }
        Ok(self.target.clone())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.name);
    }
}

/// An empty temporary file for `target`, readable by whom the umask allows (`tempfile` would make it private).
fn create(target: &std::path::Path) -> io::Result<Staged> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => std::path::Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".warpfem-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The lock spans creation and registration: a handler sees either neither or both.
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    // The error itself would name the temporary file, which means nothing to anybody.
    let temporary = builder.tempfile_in(folder).map_err(|error| error.kind())?;
    let name = temporary.path().to_path_buf();
    unfinished.push(name.clone());
    Ok(Staged { temporary: Some(temporary), name, target: target.to_path_buf() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.txt");
        std::fs::write(&target, "old").unwrap();
        let failed = Staged::write(target.clone(), |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        let error = failed.err().unwrap();
        assert_eq!(error.exit_code(), 8);
        assert!(error.to_string().contains("a.txt"), "{error}");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn publishing_replaces_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.txt");
        std::fs::write(&target, "old").unwrap();
        let staged = Staged::write(target.clone(), |file| file.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(staged.publish().unwrap(), target);
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn files_in_progress_are_registered_until_published_or_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let registered = || UNFINISHED.lock().unwrap().iter().filter(|path| path.starts_with(dir.path())).count();
        let staged = Staged::write(dir.path().join("a"), |_| Ok(())).unwrap();
        assert_eq!(registered(), 1);
        staged.publish().unwrap();
        assert_eq!(registered(), 0);
        drop(Staged::write(dir.path().join("b"), |_| Ok(())).unwrap());
        assert_eq!((registered(), std::fs::read_dir(dir.path()).unwrap().count()), (0, 1));
    }

    #[cfg(unix)]
    #[test]
    fn results_have_the_permissions_of_ordinary_files() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let ordinary = dir.path().join("ordinary");
        File::create(&ordinary).unwrap();
        let ours = Staged::write(dir.path().join("ours"), |_| Ok(())).unwrap().publish().unwrap();
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&ordinary));
    }
}
