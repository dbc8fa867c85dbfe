//! Files that appear complete or not at all.
//!
//! Only regular files are replaced. A symbolic link stays, and the file that it leads to is written.

use std::fs::{File, FileType, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

use super::error::{Error, Result};
use warpfem_text::files::folder_of;

/// The temporary files there are now. A signal handler cannot run destructors, so it needs to know them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether a file has got its final name.
static PUBLISHED: AtomicBool = AtomicBool::new(false);

/// Removes the temporary files of writes in progress, and says whether a file has been written before. For a Ctrl-C
/// handler, just before it ends the process.
pub fn discard_unfinished() -> bool {
    discard(unfinished())
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn discard(mut unfinished: MutexGuard<Vec<PathBuf>>) -> bool {
    for path in unfinished.drain(..) {
        // A file that has been renamed or removed meanwhile is no longer there to discard.
        let _ = std::fs::remove_file(path);
    }
    // Kept locked, so that no other thread makes a new file before the process has ended.
    std::mem::forget(unfinished);
    PUBLISHED.load(Ordering::Relaxed)
}

/// [`discard_unfinished`] for a thread that may be making a file itself, which then stays.
pub fn discard_unfinished_or_give_up() {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        let free = match UNFINISHED.try_lock() {
            Ok(free) => free,
            Err(TryLockError::Poisoned(free)) => free.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
        };
        discard(free);
        return;
    }
}

/// A complete file that still has its temporary name. Dropped unpublished, it is removed.
pub(super) struct Staged {
    /// `None` once it is published.
    temporary: Option<NamedTempFile>,
    name: PathBuf,
    /// The path as the user named it.
    target: PathBuf,
    /// Where `target` leads to.
    place: PathBuf,
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

    /// Writes more, behind what is there.
    pub(super) fn append<T>(&mut self, body: impl FnOnce(&mut File) -> io::Result<T>) -> Result<T> {
        let fail = |source| Error::Output { path: self.target.clone(), source };
        let temporary = self.temporary.as_mut().ok_or_else(|| fail(io::ErrorKind::NotFound.into()))?;
        body(temporary.as_file_mut()).map_err(fail)
    }

    /// Renames files to their final names, over what had these names before; a signal comes before all of it or after.
    pub(super) fn publish(mut files: Vec<Staged>) -> Result<Vec<PathBuf>> {
        // The files themselves are dropped after it, which takes the lock again.
        let guard = unfinished();
        let published = files.iter_mut().map(Staged::rename).collect();
        drop(guard);
        published
    }

    fn rename(&mut self) -> Result<PathBuf> {
        if let Some(temporary) = self.temporary.take() {
            let fail = |e: tempfile::PersistError| Error::Output { path: self.target.clone(), source: e.error };
            temporary.persist(&self.place).map_err(fail)?;
            PUBLISHED.store(true, Ordering::Relaxed);
        }
        Ok(self.target.clone())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.name);
    }
}

/// Checks that a file can be written at `path`: nothing is there, or a file that may be replaced.
///
/// # Errors
///
/// [`Error::Output`] with the path.
pub fn check_file(path: &Path) -> Result<()> {
    place_of(path).map(drop).map_err(|source| Error::Output { path: path.to_path_buf(), source })
}

/// Removes the file that `path` leads to, if there is one. The rules are those of writing.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let (place, _) = place_of(path)?;
    match std::fs::remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Where `target` leads to, and the permissions of the file that is there.
fn place_of(target: &Path) -> io::Result<(PathBuf, Option<Permissions>)> {
    let found = match std::fs::metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((end_of_links(target), None)),
        found => found?,
    };
    let refuse = |kind, what: &str| Err(io::Error::new(kind, what));
    if !found.is_file() {
        let text = format!("it is a {}, and only regular files are replaced", kind_of(found.file_type()));
        return refuse(io::ErrorKind::InvalidInput, &text);
    }
    if found.permissions().readonly() {
        return refuse(io::ErrorKind::PermissionDenied, "the file there is write-protected");
    }
    Ok((target.canonicalize()?, Some(found.permissions())))
}

/// The path that a symbolic link to nothing names; `target` itself if it is no link.
fn end_of_links(target: &Path) -> PathBuf {
    let mut place = target.to_path_buf();
    // The operating system has followed the links before, so that they end.
    while let Ok(next) = std::fs::read_link(&place) {
        place = folder_of(&place).join(next);
    }
    place
}

/// What stands in the way, in a word.
fn kind_of(found: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_char_device() || found.is_block_device() {
            return "device";
        } else if found.is_fifo() {
            return "pipe";
        } else if found.is_socket() {
            return "socket";
        }
    }
    if found.is_dir() { "folder" } else { "special file" }
}

/// An empty temporary file for `target`, with the permissions of the file that it replaces, or else those that the umask
/// allows (`tempfile` would make it private).
fn create(target: &Path) -> io::Result<Staged> {
    let (place, permissions) = place_of(target)?;
    let mut builder = Builder::new();
    builder.prefix(".warpfem-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The lock spans creation and registration: a handler sees either neither or both.
    let mut unfinished = unfinished();
    let temporary = builder.tempfile_in(folder_of(&place))?;
    let name = temporary.path().to_path_buf();
    unfinished.push(name.clone());
    drop(unfinished);
    let staged = Staged { temporary: Some(temporary), name, target: target.to_path_buf(), place };
    if let (Some(temporary), Some(permissions)) = (&staged.temporary, permissions) {
        temporary.as_file().set_permissions(permissions)?;
    }
    Ok(staged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A folder with a file in it that is to be written.
    fn with_old_file() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.txt");
        std::fs::write(&target, "old").unwrap();
        (dir, target)
    }

    fn names(dir: &Path) -> Vec<std::ffi::OsString> {
        let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    fn empty(target: PathBuf) -> Staged {
        Staged::write(target, |_| Ok(())).unwrap()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let (dir, target) = with_old_file();
        let failed = Staged::write(target.clone(), |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        let error = failed.err().unwrap();
        assert_eq!(error.exit_code(), 8);
        assert!(error.to_string().contains("a.txt"), "{error}");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(names(dir.path()), ["a.txt"]);
    }

    #[test]
    fn publishing_replaces_the_old_file() {
        let (dir, target) = with_old_file();
        let staged = Staged::write(target.clone(), |file| file.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(Staged::publish(vec![staged]).unwrap(), std::slice::from_ref(&target));
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(names(dir.path()), ["a.txt"]);
    }

    #[test]
    fn files_in_progress_are_registered_until_published_or_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let registered = || UNFINISHED.lock().unwrap().iter().filter(|path| path.starts_with(dir.path())).count();
        let staged = empty(dir.path().join("a"));
        assert_eq!(registered(), 1);
        Staged::publish(vec![staged]).unwrap();
        assert_eq!(registered(), 0);
        drop(empty(dir.path().join("b")));
        assert_eq!((registered(), names(dir.path()).len()), (0, 1));
    }

    #[test]
    fn a_file_that_cannot_be_renamed_ends_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let staged = ["a", "b", "c"].map(|name| empty(dir.path().join(name)));
        std::fs::create_dir(dir.path().join("b")).unwrap();
        let error = Staged::publish(staged.into()).unwrap_err();
        assert!(error.exit_code() == 8 && error.to_string().contains("b: "), "{error}");
        assert_eq!(names(dir.path()), ["a", "b"]);
    }

    #[cfg(unix)]
    #[test]
    fn files_have_ordinary_permissions_or_those_of_what_they_replace() {
        use std::os::unix::fs::PermissionsExt;
        let (dir, private) = with_old_file();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        let [ordinary, ours] = ["ordinary", "ours"].map(|name| dir.path().join(name));
        File::create(&ordinary).unwrap();
        std::fs::set_permissions(&private, Permissions::from_mode(0o600)).unwrap();
        let new = Staged::write(private.clone(), |file| file.write_all(b"new")).unwrap();
        Staged::publish(vec![empty(ours.clone()), new]).unwrap();
        assert_eq!(mode(&ours), mode(&ordinary));
        assert_eq!(mode(&private) & 0o777, 0o600);
        assert_eq!(std::fs::read(&private).unwrap(), b"new");
    }
}
