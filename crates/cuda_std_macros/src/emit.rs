//! What the attribute expands to.

use crate::args::Args;
use crate::model::{Argument, Generic, Kernel, Param};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, GenericParam, Generics, ItemFn, Path, parse_quote};

/// The function, the entry points and the launch description.
pub fn emit(kernel: &Kernel) -> TokenStream {
    let cfgs: Vec<_> = kernel.function.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
    let entries = kernel.instances().into_iter().map(|instance| entry(kernel, &cfgs, &instance));
    let function = function(kernel);
    let launch = launch(kernel, &cfgs);
    quote! {
        #function
        #(#entries)*
        #launch
    }
}

/// The attribute once more, inside a macro that `list` calls with what it holds: only then are its items known.
pub fn ask_for_list(args: TokenStream, name: &Ident, list: &Path, function: &ItemFn) -> TokenStream {
    let then = format_ident!("__list_of_{}_for_{}", name, function.sig.ident);
    let args = Args::with_list(args, name, &quote!($($items)*));
    quote! {
        macro_rules! #then {
            ($($items:tt)*) => {
                #[::cuda_std::kernel(#args)]
                #function
            };
        }
        #list! { #then }
    }
}

/// The function itself, inlined into its entry points, with what all kernels ask of their callers where it does not say
/// itself. A kernel takes as many parameters as it has arrays.
fn function(kernel: &Kernel) -> TokenStream {
    let ItemFn { attrs, vis, sig, block } = &kernel.function;
    let has_safety =
        attrs.iter().any(|attr| attr.path().is_ident("doc") && quote!(#attr).to_string().contains("# Safety"));
    let safety = (!has_safety).then(|| {
        quote! {
            #[doc = ""]
            #[doc = "# Safety"]
            #[doc = "Every view is alive for the launch and has the shape that is given for it; no two views overlap, \
                     unless both are only read."]
        }
    });
    quote! {
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #[cfg_attr(not(target_arch = "nvptx64"), inline)]
        #[allow(clippy::too_many_arguments, clippy::missing_safety_doc)]
        #(#attrs)*
        #safety
        #vis #sig #block
    }
}

/// One entry point. Aliases in an anonymous scope stand in for the generic parameters that its parameter types name.
fn entry(kernel: &Kernel, cfgs: &[&Attribute], instance: &[Argument]) -> TokenStream {
    let name = kernel.entry_name(instance);
    let ident = format_ident!("entry_of_{name}");
    let call = call_path(&kernel.function.sig.ident, kernel);
    let aliases = kernel.generics.iter().zip(instance).map(|(generic, argument)| {
        let (name, value) = (&generic.name, &argument.tokens);
        match &generic.const_type {
            None => quote!(type #name = #value;),
            Some(ty) => quote!(const #name: #ty = #value;),
        }
    });
    let types: Vec<_> = kernel.params.iter().map(|param| &param.ty).collect();
    let names: Vec<_> = (0..types.len()).map(|k| Ident::new(&format!("p{k}"), Span::mixed_site())).collect();
    let (count, body) = if kernel.args.items {
        let body = quote! {
            let i = ::cuda_std::thread::index_1d() as usize;
            if i < n {
                unsafe { #call(i, #(#names),*) }
            }
        };
        (Some(quote!(n: usize,)), body)
    } else {
        (None, quote!(unsafe { #call(#(#names),*) }))
    };
    // `cuda_builder` makes directives of the comment.
    let bounds = kernel.args.launch_bounds.map(|(threads, blocks)| {
        let comment = format!("// launch_bounds {name} {threads} {blocks}");
        quote! {
            #(#cfgs)*
            #[cfg(target_arch = "nvptx64")]
            ::core::arch::global_asm!(#comment);
        }
    });
    quote! {
        #bounds
        #(#cfgs)*
        #[cfg(target_arch = "nvptx64")]
        #[allow(dead_code, improper_ctypes_definitions)]
        const _: () = {
            #(#aliases)*
            #[unsafe(export_name = #name)]
            unsafe extern "ptx-kernel" fn #ident(#count #(#names: #types),*) {
                #body
            }
        };
    }
}

/// A function with the kernel's generic arguments written out.
fn call_path(name: &Ident, kernel: &Kernel) -> TokenStream {
    let generics = kernel.generics.iter().map(|generic| &generic.name);
    if kernel.generics.is_empty() { quote!(#name) } else { quote!(#name::<#(#generics),*>) }
}

/// The struct of the parameters and its implementations.
fn launch(kernel: &Kernel, cfgs: &[&Attribute]) -> TokenStream {
    let ident = camel_case(&kernel.function.sig.ident);
    let vis = &kernel.function.vis;
    let doc = format!("Launch of [`{}`].", kernel.function.sig.ident);
    let generics = static_generics(&kernel.function.sig.generics);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let names: Vec<_> = kernel.params.iter().map(|param| &param.name).collect();
    let types: Vec<_> = kernel.params.iter().map(|param| &param.ty).collect();
    let marker = marker(kernel);
    let marker_field = marker.as_ref().map(|ty| quote!(#[doc(hidden)] #vis marker: #ty,));
    let marker_value = marker.as_ref().map(|_| quote!(marker: ::core::marker::PhantomData,));
    let kernel_impl = kernel_impl(kernel, &ident, &generics);
    let cfgs = quote!(#(#cfgs)* #[cfg(not(target_arch = "nvptx64"))]);
    quote! {
        #cfgs
        #[doc = #doc]
        #[allow(missing_docs)]
        #vis struct #ident #generics #where_clause {
            #(#vis #names: #types,)*
            #marker_field
        }
        #cfgs
        #[allow(clippy::expl_impl_clone_on_copy)]
        impl #impl_generics ::core::clone::Clone for #ident #type_generics #where_clause {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }
        #cfgs
        impl #impl_generics ::core::marker::Copy for #ident #type_generics #where_clause {}
        #cfgs
        #[allow(clippy::too_many_arguments, clippy::new_without_default, dead_code)]
        impl #impl_generics #ident #type_generics #where_clause {
            /// The launch with these parameters.
            #[inline]
            #vis const fn new(#(#names: #types),*) -> Self {
                Self { #(#names,)* #marker_value }
            }
        }
        #cfgs
        #kernel_impl
    }
}

/// The implementation of `Kernel` or `ItemKernel`.
fn kernel_impl(kernel: &Kernel, ident: &Ident, generics: &Generics) -> TokenStream {
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let names: Vec<_> = kernel.params.iter().map(|param| &param.name).collect();
    let call = call_path(&kernel.function.sig.ident, kernel);
    let name = name_body(kernel);
    let (interface, method) = if kernel.args.items {
        let on_cpu = kernel.args.cpu.as_ref().map(|cpu| {
            let call = call_path(cpu, kernel);
            quote! {
                unsafe fn on_cpu(&self, items: ::core::ops::Range<usize>) {
                    unsafe { #call(items, #(self.#names),*) }
                }
            }
        });
        let method = quote! {
            unsafe fn item(&self, i: usize) {
                unsafe { #call(i, #(self.#names),*) }
            }
            #on_cpu
        };
        (quote!(ItemKernel), method)
    } else {
        let method = quote! {
            unsafe fn run_thread(&self) {
                unsafe { #call(#(self.#names),*) }
            }
        };
        (quote!(Kernel), method)
    };
    quote! {
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl #impl_generics ::cuda_std::launch::#interface for #ident #type_generics #where_clause {
            fn name(&self) -> &'static str {
                #name
            }
            fn params(&self) -> ::cuda_std::launch::Params {
                ::cuda_std::launch::Params::from([#((&raw const self.#names).cast_mut().cast()),*])
            }
            #[inline]
            #method
        }
    }
}

/// Finds the entry point of the struct's generic arguments: the place of each in its list makes the place of the name.
///
/// The lists are in functions of their own, compiled once for all instances: a search among all combinations in every
/// instance was an eighth of all code.
fn name_body(kernel: &Kernel) -> TokenStream {
    if kernel.generics.is_empty() {
        let name = kernel.entry_name(&[]);
        return quote!(#name);
    }
    let names: Vec<_> = kernel.instances().iter().map(|instance| kernel.entry_name(instance)).collect();
    let (lists, places): (Vec<_>, Vec<_>) = kernel.generics.iter().map(place_in_list).unzip();
    let text = format!("kernel `{}` has no entry point for these generic arguments", kernel.function.sig.ident);
    quote! {
        #(#lists)*
        static NAMES: &[&str] = &[#(#names),*];
        match ::cuda_std::launch::entry(NAMES, &[#(#places),*]) {
            Some(name) => name,
            None => ::core::panic!(#text),
        }
    }
}

/// A function that finds an argument in the list of a generic parameter, and its call with the argument: its place, and
/// how many there are.
fn place_in_list(generic: &Generic) -> (TokenStream, TokenStream) {
    let (name, n) = (&generic.name, generic.arguments.len());
    let list = format_ident!("place_of_{}", name);
    let values = generic.arguments.iter().map(|argument| &argument.tokens);
    let (of, ty, listed) = match &generic.const_type {
        None => (
            quote!(::core::any::TypeId::of::<#name>()),
            quote!(::core::any::TypeId),
            quote!(#(::core::any::TypeId::of::<#values>()),*),
        ),
        Some(ty) => (quote!(#name), quote!(#ty), quote!(#(#values),*)),
    };
    let find = quote! {
        #[allow(non_snake_case)]
        fn #list(argument: #ty) -> Option<usize> {
            [#listed].iter().position(|listed| *listed == argument)
        }
    };
    (find, quote!((#list(#of), #n)))
}

/// The function's generics with every type parameter `'static`, as comparing types needs.
fn static_generics(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    for param in &mut generics.params {
        if let GenericParam::Type(param) = param {
            param.bounds.push(parse_quote!('static));
        }
    }
    generics
}

/// The type of a field that mentions the type parameters which no parameter's type does, if there are any.
fn marker(kernel: &Kernel) -> Option<TokenStream> {
    let is_unused = |name: &&Ident| !kernel.params.iter().any(|Param { ty, .. }| mentions(quote!(#ty), name));
    let types = kernel.generics.iter().filter(|generic| generic.const_type.is_none()).map(|generic| &generic.name);
    let unused: Vec<_> = types.filter(is_unused).collect();
    (!unused.is_empty()).then(|| quote!(::core::marker::PhantomData<fn() -> (#(#unused,)*)>))
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == *name,
        proc_macro2::TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

fn camel_case(name: &Ident) -> Ident {
    let text = name.to_string();
    let capitalized = text.trim_start_matches("r#").split('_').map(|word| {
        let mut chars = word.chars();
        chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect::<String>()
    });
    Ident::new(&capitalized.collect::<String>(), name.span())
}
