use super::*;
use crate::testing::write;
use tempfile::{TempDir, tempdir};

fn compiler() -> Compiler {
    Compiler { rustc: "rustc".into(), cargo: "cargo".into(), version: "rustc 1.96.0".into(), active: true }
}

#[test]
fn matching_ptx_is_used_without_looking_for_a_compiler() {
    let plan = decide(false, Some(Some("ab")), "ab", || panic!("looked for a compiler"));
    assert_eq!(plan.unwrap(), Plan::Use(Origin::CheckedIn));
}

#[test]
fn changed_or_missing_ptx_is_compiled() {
    for checked_in in [Some(Some("ab")), Some(None), None] {
        let plan = decide(false, checked_in, "cd", || Ok(Some(compiler())));
        assert_eq!(plan.unwrap(), Plan::Compile(compiler()));
    }
    let forced = decide(true, Some(Some("ab")), "ab", || Ok(Some(compiler())));
    assert_eq!(forced.unwrap(), Plan::Compile(compiler()));
}

#[test]
fn without_a_compiler_stale_ptx_is_used_and_missing_ptx_is_an_error() {
    assert_eq!(decide(false, Some(Some("ab")), "cd", || Ok(None)).unwrap(), Plan::Use(Origin::Stale));
    assert!(matches!(decide(false, None, "cd", || Ok(None)), Err(BuilderError::NoCompiler)));
    assert!(matches!(decide(true, Some(Some("ab")), "ab", || Ok(None)), Err(BuilderError::NoCompiler)));
}

#[test]
fn an_unusable_named_compiler_is_an_error() {
    let find = || Err(BuilderError::UnusableCompiler("rustc".into(), "too old".into()));
    let error = decide(false, Some(Some("ab")), "cd", find).unwrap_err();
    assert_eq!(error.to_string(), "CUDA_BUILDER_RUSTC=rustc cannot build kernels: too old");
}

/// Writes a kernel crate with a function call into `core`.
fn write_kernel(folder: &TempDir, body: &str) {
    let manifest = "[workspace]\n[package]\nname = \"my-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    write(folder, "k/Cargo.toml", manifest);
    let source = format!(
        "#![no_std]\n#![feature(abi_ptx)]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}\n\
         #[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn twice(x: *mut f64, i: usize) {{ {body} }}\n"
    );
    write(folder, "k/src/lib.rs", &source);
}

/// Built for real where this machine has a compiler for it.
#[test]
fn a_kernel_crate_becomes_ptx_with_a_header() {
    if Compiler::find().unwrap().is_none() {
        eprintln!("skipped: no compiler for kernels");
        return;
    }
    let folder = tempdir().unwrap();
    write_kernel(&folder, "unsafe { core::slice::from_raw_parts_mut(x, 8)[i] *= 2.0 }");
    let (dir, archive) = (folder.path().join("k"), folder.path().join("out/k.archive"));
    let built = CudaBuilder::new(&dir).copy_to(&archive).build().unwrap();
    assert_eq!(built, Built { archive: archive.clone(), origin: Origin::Compiled });
    let again = CudaBuilder::new(&dir).copy_to(&archive).force(false).build().unwrap();
    assert_eq!(again.origin, Origin::CheckedIn);
    let ptx = text(&archive, &[]).unwrap();
    assert_eq!(Header::parse(&ptx).unwrap().sources, source_hash(&dir).unwrap());
    assert_eq!(text(&archive, &["twice"]).unwrap(), ptx[ptx.find(".version").unwrap()..]);
    assert!(ptx.contains(".entry twice(") && ptx.contains(".target sm_80"), "{ptx}");
    // A kernel that does not compile fails the build and leaves the old archive; `core` is built already.
    write_kernel(&folder, "no_such_function(x, i)");
    fs::write(&archive, "old\n").unwrap();
    let error = CudaBuilder::new(&dir).copy_to(&archive).build().unwrap_err();
    assert!(error.to_string().contains("cannot find function `no_such_function`"), "{error}");
    assert_eq!(fs::read_to_string(&archive).unwrap(), "old\n");
}

#[test]
fn what_cannot_be_printed_is_an_error_with_its_file() {
    let folder = tempdir().unwrap();
    let archive = folder.path().join("k.archive");
    assert!(matches!(text(&archive, &[]), Err(BuilderError::Io(path, _)) if path == archive));
    fs::write(&archive, ".version 7.0\n").unwrap();
    let error = text(&archive, &[]).unwrap_err().to_string();
    assert!(error.contains("k.archive: this is no PTX archive"), "{error}");
    fs::write(&archive, pack(".version 7.0\n.visible .entry f()\n{\n}\n")).unwrap();
    assert_eq!(
        text(&archive, &["g"]).unwrap_err().to_string().split(": ").last(),
        Some("the PTX archive has no entry point `g`")
    );
}
