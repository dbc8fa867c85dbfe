//! Files that cannot be read, and folders that cannot be written: why, and what there is instead.

use std::io;
use std::path::{Path, PathBuf};

use super::names::{list, nearest};

/// Why a file cannot be read, in words.
pub fn reason(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        _ if path.is_dir() => "it is a folder".into(),
        _ => plain(error),
    }
}

/// The operating system's reason without its number.
pub fn plain(error: &io::Error) -> String {
    // Of a kind alone, which some errors are cut down to, Rust says "entity not found".
    if error.kind() == io::ErrorKind::NotFound {
        return "no such file or directory".into();
    }
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// The files with this ending in the folder where one was looked for, the one of nearly this name first; those in it,
/// if it is a folder itself.
pub fn instead(path: &Path, ending: &str, what: &str) -> String {
    let folder = if path.is_dir() { path } else { folder_of(path) };
    let Ok(entries) = std::fs::read_dir(folder) else { return format!("there is no folder {}", folder.display()) };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let dotted = format!(".{ending}");
    let mut stems: Vec<String> = names.filter_map(|name| name.strip_suffix(&dotted).map(str::to_string)).collect();
    stems.sort();
    let stems: Vec<&str> = stems.iter().map(String::as_str).collect();
    let names: Vec<String> = stems.iter().map(|stem| format!("{stem}{dotted}")).collect();
    let names = list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    // The ending, which they share, makes no name like another.
    match nearest(&path.file_stem().unwrap_or_default().to_string_lossy(), &stems) {
        Some(stem) => format!("did you mean `{stem}{dotted}`? {what} in that folder: {names}"),
        None => format!("{what} in that folder: {names}"),
    }
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A path as seen from the root.
pub fn full(path: &Path) -> PathBuf {
    std::path::absolute(path).map_or(path.to_path_buf(), |path| path.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_instead_is_listed() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["part.msh", "plate.msh", "part.toml"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let help = instead(&dir.path().join("prt.msh"), "msh", "meshes");
        assert_eq!(help, "did you mean `part.msh`? meshes in that folder: part.msh, plate.msh");
        assert_eq!(instead(dir.path(), "toml", "case files"), "case files in that folder: part.toml");
        assert!(instead(&dir.path().join("no/a.msh"), "msh", "meshes").starts_with("there is no folder "));
    }

    #[test]
    fn reasons_have_no_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let why = |path: &Path| reason(path, &std::fs::read(path).unwrap_err());
        assert_eq!(why(dir.path()), "it is a folder");
        assert_eq!(why(&dir.path().join("a")), "there is no such file");
        assert_eq!(plain(&io::Error::from_raw_os_error(28)), "no space left on device");
        assert_eq!(full(Path::new("/a/./b")), Path::new("/a/b"));
    }
}
