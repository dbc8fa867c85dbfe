//! Provides what the library embeds: `WARPFEM_PTX` is the path of the archive of PTX, `WARPFEM_DEMO_MESH` that of the demo's
//! mesh, deflated.

use cuda_builder::CudaBuilder;
use miniz_oxide::deflate::compress_to_vec_zlib;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

const DEMO_MESH: &str = "meshes/hook.msh";
/// zlib's best.
const LEVEL: u8 = 9;

fn main() -> ExitCode {
    let archive = CudaBuilder::new("kernels-rs").copy_to("kernels-rs/ptx/kernels.archive").build();
    let embedded = archive.map_err(|error| error.to_string()).and_then(|built| {
        let mesh = deflated(Path::new(DEMO_MESH)).map_err(|error| format!("{DEMO_MESH}: {error}"))?;
        Ok([("WARPFEM_PTX", built.archive), ("WARPFEM_DEMO_MESH", mesh)])
    });
    match embedded {
        Ok(paths) => {
            paths.iter().for_each(|(name, path)| println!("cargo:rustc-env={name}={}", path.display()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The path of a deflated copy of a file.
fn deflated(path: &Path) -> io::Result<PathBuf> {
    println!("cargo:rerun-if-changed={}", path.display());
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    let copy = Path::new(&folder).join("mesh.zlib");
    fs::write(&copy, compress_to_vec_zlib(&fs::read(path)?, LEVEL))?;
    Ok(copy)
}
