//! The `#[kernel]` attribute: from one generic function to PTX entry points and a typed launch description.

mod args;
mod emit;
mod model;

use proc_macro::TokenStream;

/// Makes a kernel of an `unsafe fn` without a return value.
///
/// The function stays as it is, generic and callable on device and host; where its documentation has no section on
/// safety, the one that all kernels share is put there. Beside it the attribute emits
///
/// - for `nvptx64`, one entry point for each combination of the listed generic arguments, named after the function and
///   the lower-cased arguments in the order of the generic parameters (`assemble_tet4_f64`);
/// - for the host, a `Copy` struct named after the function in camel case (`Assemble`) with the same generics, one
///   field for each parameter and a constructor `new`, which implements `cuda_std::launch::Kernel`. A generic type that
///   occurs in no parameter is kept in one more field, `marker`; use `new` there.
///
/// `#[kernel]` alone is for a function without generic parameters. `#[kernel(T = [f32, f64], B = [1, 3])]` lists the
/// arguments of each generic type or const parameter. With `#[kernel(items, ..)]` the first parameter must be
/// `i: usize`: the function computes item `i`, the entry points take the number of items in its place and leave
/// out the threads beyond, and the struct implements `cuda_std::launch::ItemKernel`.
///
/// `cpu = rows` names a function with the same parameters, but for a range of items in the place of one: what a CPU
/// calls instead of the kernel for one item after the other. It is not compiled for the device, and computes the same
/// bits.
///
/// `launch_bounds(256, 2)` promises blocks of at most 256 threads, and asks for registers such that two of them fit on
/// a multiprocessor: CUDA's `__launch_bounds__`. Without it `ptxas` saves registers for occupancy, and with them the
/// loads that it could have on their way at a time.
///
/// A list that several kernels share can be held by a macro that passes it on, `macro_rules! for_each_element {
/// ($then:ident) => { $then! { Tet4, Hex8 } } }`, and is then named instead: `#[kernel(E = for_each_element!)]`.
///
/// Parameters are passed by value and must be `Copy` with the same layout on both sides: numbers, views, raw pointers,
/// `repr(C)` structs of these.
#[proc_macro_attribute]
pub fn kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = || {
        let arguments = syn::parse::<args::Args>(args.clone())?;
        let function = syn::parse::<syn::ItemFn>(item)?;
        Ok(match arguments.listed_by {
            Some((name, list)) => emit::ask_for_list(args.into(), &name, &list, &function),
            None => emit::emit(&model::Kernel::new(arguments, function)?),
        })
    };
    expanded().unwrap_or_else(|error: syn::Error| error.into_compile_error()).into()
}
