//! The files that decide what the PTX is, and their hash.

use crate::error::{BuilderError, at};
use std::fs;
use std::path::{Path, PathBuf};

/// The device sources of a kernel crate: its own, and those of the workspace's `crates/cuda_std*`.
pub struct Sources {
    /// Folder that holds the workspace (the kernel crate itself when it is in none); hashed paths are relative to it.
    pub root: PathBuf,
    /// `src` folders and manifests, for cargo to watch.
    pub watched: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Sources {
    /// Collects the sources of the crate in `crate_dir`.
    pub fn of(crate_dir: &Path) -> Result<Self, BuilderError> {
        let crate_dir = at(crate_dir, crate_dir.canonicalize())?;
        if !crate_dir.join("Cargo.toml").is_file() {
            return Err(BuilderError::NotACrate(crate_dir));
        }
        let root = workspace_root(&crate_dir);
        let mut crates = vec![crate_dir];
        crates.extend(device_libraries(&root)?);
        let mut sources = Self { root, watched: Vec::new(), files: Vec::new() };
        for dir in crates {
            let manifest = dir.join("Cargo.toml");
            sources.files.push(manifest.clone());
            sources.watched.extend([manifest, dir.join("src")]);
            collect(&dir.join("src"), &mut sources.files)?;
        }
        Ok(sources)
    }

    /// SHA-256, in hex, over the sorted relative paths and the contents with line ends as LF: the same in any checkout.
    pub fn hash(&self) -> Result<String, BuilderError> {
        let mut named = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let relative = file.strip_prefix(&self.root).unwrap_or(file);
            let name = relative.to_string_lossy().replace('\\', "/");
            named.push((name, at(file, fs::read(file))?));
        }
        named.sort();
        let mut hasher = hmac_sha256::Hash::new();
        for (name, mut content) in named {
            content.retain(|&byte| byte != b'\r');
            for part in [name.as_bytes(), &content] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
        Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The nearest folder from `crate_dir` upwards whose manifest has a `[workspace]` table, or `crate_dir`.
fn workspace_root(crate_dir: &Path) -> PathBuf {
    let has_workspace = |dir: &&Path| {
        fs::read_to_string(dir.join("Cargo.toml")).is_ok_and(|text| text.lines().any(|l| l.trim() == "[workspace]"))
    };
    crate_dir.ancestors().find(has_workspace).unwrap_or(crate_dir).to_owned()
}

/// `crates/cuda_std*` of the workspace, where it has them.
fn device_libraries(root: &Path) -> Result<Vec<PathBuf>, BuilderError> {
    let crates = root.join("crates");
    if !crates.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in at(&crates, fs::read_dir(&crates))? {
        let path = at(&crates, entry)?.path();
        let is_library = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda_std"));
        if is_library && path.join("Cargo.toml").is_file() {
            found.push(path);
        }
    }
    Ok(found)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), BuilderError> {
    for entry in at(dir, fs::read_dir(dir))? {
        let path = at(dir, entry)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::write;
    use tempfile::{TempDir, tempdir};

    fn workspace() -> TempDir {
        let folder = tempdir().unwrap();
        write(&folder, "Cargo.toml", "[workspace]\n");
        write(&folder, "k/Cargo.toml", "[package]\nname = \"k\"\n");
        write(&folder, "k/src/lib.rs", "mod a;\n");
        write(&folder, "k/src/deep/a.rs", "fn a() {}\n");
        write(&folder, "crates/cuda_std/Cargo.toml", "[package]\n");
        write(&folder, "crates/cuda_std/src/lib.rs", "\n");
        write(&folder, "crates/other/Cargo.toml", "[package]\n");
        folder
    }

    fn hash(folder: &TempDir) -> String {
        Sources::of(&folder.path().join("k")).unwrap().hash().unwrap()
    }

    #[test]
    fn the_hash_is_that_of_the_sources_and_not_of_the_place() {
        let (a, b) = (workspace(), workspace());
        assert_eq!(hash(&a).len(), 64);
        assert_eq!(hash(&a), hash(&b));
        write(&b, "k/src/lib.rs", "mod a;\r\n");
        write(&b, "crates/other/src/lib.rs", "changed");
        assert_eq!(hash(&a), hash(&b));
    }

    #[test]
    fn any_change_of_a_device_source_changes_the_hash() {
        let original = hash(&workspace());
        let changes = [
            ("k/src/deep/a.rs", "fn b() {}\n"),
            ("k/src/new.rs", ""),
            ("k/Cargo.toml", "[package]\nname = \"l\"\n"),
            ("crates/cuda_std/src/lib.rs", "//\n"),
            ("crates/cuda_std_macros/Cargo.toml", ""),
        ];
        for (file, text) in changes {
            let folder = workspace();
            write(&folder, "crates/cuda_std_macros/src/lib.rs", "");
            write(&folder, file, text);
            assert_ne!(hash(&folder), original, "{file}");
        }
    }

    #[test]
    fn a_folder_without_a_manifest_is_refused() {
        let folder = tempdir().unwrap();
        assert!(matches!(Sources::of(folder.path()), Err(BuilderError::NotACrate(_))));
    }
}
