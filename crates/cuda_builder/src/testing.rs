//! Files of tests.

use std::fs;
use std::path::{Path, PathBuf};

/// Writes a file, and the folders that it is in.
pub fn write(folder: impl AsRef<Path>, file: &str, text: &str) -> PathBuf {
    let path = folder.as_ref().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}
