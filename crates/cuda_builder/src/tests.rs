use super::*;
use crate::testing::Folder;

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

/// A kernel crate with a function call into `core`, built for real where this machine has a compiler for it.
fn fixture(name: &str, body: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write(
        "k/Cargo.toml",
        "[workspace]\n[package]\nname = \"my-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    write_kernel(&folder, body);
    folder
}

fn write_kernel(folder: &Folder, body: &str) {
    folder.write(
        "k/src/lib.rs",
        &format!(
            "#![no_std]\n#![feature(abi_ptx)]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}\n\
             #[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn twice(x: *mut f64, i: usize) {{ {body} }}\n"
        ),
    );
}

#[test]
fn a_kernel_crate_becomes_ptx_with_a_header() {
    if Compiler::find().unwrap().is_none() {
        eprintln!("skipped: no compiler for kernels");
        return;
    }
    let build = |folder: &Folder| {
        let (dir, ptx) = (folder.path().join("k"), folder.path().join("out/k.ptx"));
        let built = CudaBuilder::new(&dir).copy_to(&ptx).build().unwrap();
        assert_eq!(built, Built { ptx: ptx.clone(), origin: Origin::Compiled });
        let again = CudaBuilder::new(&dir).copy_to(&ptx).force(false).build().unwrap();
        assert_eq!(again.origin, Origin::CheckedIn);
        assert_eq!(Header::parse(&fs::read_to_string(&ptx).unwrap()).unwrap().sources, source_hash(&dir).unwrap());
        fs::read_to_string(&ptx).unwrap()
    };
    let body = "unsafe { core::slice::from_raw_parts_mut(x, 8)[i] *= 2.0 }";
    let here = fixture("here", body);
    let text = build(&here);
    assert!(text.contains(".entry twice(") && text.contains(".target sm_80"), "{text}");
    fails_with_the_compilers_words(&here);
}

/// A kernel that does not compile fails the build and leaves the old PTX; in a folder where `core` is built already.
fn fails_with_the_compilers_words(folder: &Folder) {
    write_kernel(folder, "no_such_function(x, i)");
    let ptx = folder.write("k.ptx", ".version 7.0\n");
    let error = CudaBuilder::new(folder.path().join("k")).copy_to(&ptx).build().unwrap_err();
    assert!(error.to_string().contains("cannot find function `no_such_function`"), "{error}");
    assert_eq!(fs::read_to_string(&ptx).unwrap(), ".version 7.0\n");
}
