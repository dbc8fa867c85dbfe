//! `warpfem devices`.

use super::print;
use std::fmt::Write;

/// Lists the devices.
pub fn run() -> anyhow::Result<()> {
    let mut out = format!("cpu       {} threads\n", rayon::current_num_threads());
    out.push_str("emulate   the GPU's kernels on the CPU, for tests\n");
    list_gpus(&mut out)?;
    print::text(&out)
}

#[cfg(feature = "cuda")]
fn list_gpus(out: &mut String) -> anyhow::Result<()> {
    use warpfem::backend::gpu;
    for gpu in gpu::devices()? {
        let (major, minor) = gpu.compute;
        let gib = gpu.memory as f64 / f64::from(1 << 30);
        let name = format!("cuda:{}", gpu.index);
        writeln!(out, "{name:<9} {}, {gib:.1} GiB, compute capability {major}.{minor}", gpu.name)?;
    }
    if let Some(why) = gpu::unavailable() {
        writeln!(out, "cuda      none: {why}")?;
    }
    Ok(())
}

#[cfg(not(feature = "cuda"))]
fn list_gpus(out: &mut String) -> anyhow::Result<()> {
    writeln!(out, "cuda      none: built without the `cuda` feature")?;
    Ok(())
}
