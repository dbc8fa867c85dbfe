//! Arithmetic that `core` has no function for, by LLVM's names, which change less often than those of `core`'s
//! intrinsics.

mod llvm {
    unsafe extern "C" {
        #[link_name = "llvm.fma.f32"]
        pub safe fn fma_f32(a: f32, b: f32, c: f32) -> f32;
        #[link_name = "llvm.fma.f64"]
        pub safe fn fma_f64(a: f64, b: f64, c: f64) -> f64;
        #[link_name = "llvm.sqrt.f32"]
        pub safe fn sqrt_f32(x: f32) -> f32;
        #[link_name = "llvm.sqrt.f64"]
        pub safe fn sqrt_f64(x: f64) -> f64;
        #[link_name = "llvm.floor.f32"]
        pub safe fn floor_f32(x: f32) -> f32;
        #[link_name = "llvm.floor.f64"]
        pub safe fn floor_f64(x: f64) -> f64;
        #[link_name = "llvm.ceil.f32"]
        pub safe fn ceil_f32(x: f32) -> f32;
        #[link_name = "llvm.ceil.f64"]
        pub safe fn ceil_f64(x: f64) -> f64;
    }
}

macro_rules! forward {
    ($($name:ident($($arg:ident),*) $type:ty;)*) => {$(
        #[inline(always)]
        pub fn $name($($arg: $type),*) -> $type {
            llvm::$name($($arg),*)
        }
    )*};
}

forward! {
    fma_f32(a, b, c) f32;
    fma_f64(a, b, c) f64;
    sqrt_f32(x) f32;
    sqrt_f64(x) f64;
    floor_f32(x) f32;
    floor_f64(x) f64;
    ceil_f32(x) f32;
    ceil_f64(x) f64;
}
