//! The checked kernel: parameters with plain names, generic parameters with their lists, and their combinations.

use crate::args::Args;
use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, FnArg, GenericParam, ItemFn, Pat, ReturnType, Token, Type};

/// A function that passed every check.
pub struct Kernel {
    /// The function as written.
    pub function: ItemFn,
    /// Whether it computes one item.
    pub items: bool,
    /// The function that computes a range of items on a CPU.
    pub cpu: Option<Ident>,
    /// Threads per block at most, and blocks on a multiprocessor at least.
    pub launch_bounds: Option<(u32, u32)>,
    /// The parameters of a launch: without the item's index.
    pub params: Vec<Param>,
    /// The generic parameters in order.
    pub generics: Vec<Generic>,
}

/// One parameter of the launch.
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// Its type, which may name generic parameters.
    pub ty: Type,
}

/// One generic parameter and the arguments listed for it.
pub struct Generic {
    /// Its name.
    pub name: Ident,
    /// The type of a const parameter; none for a type parameter.
    pub const_type: Option<Type>,
    /// The arguments.
    pub arguments: Vec<Argument>,
}

/// One argument of a generic parameter.
#[derive(Clone)]
pub struct Argument {
    /// The type or expression.
    pub tokens: TokenStream,
    /// Its part of the entry point's name.
    pub suffix: String,
}

impl Kernel {
    /// Checks the function against the attribute's arguments.
    pub fn new(args: Args, function: ItemFn) -> syn::Result<Self> {
        check_signature(&function)?;
        let mut params = parameters(&function)?;
        if args.items {
            check_item_index(&function, params.first())?;
            params.remove(0);
        } else if let Some(cpu) = &args.cpu {
            return Err(Error::new(cpu.span(), "only an items kernel has items that a CPU can compute together"));
        }
        let generics = generics(args.lists, &function)?;
        Ok(Kernel { items: args.items, cpu: args.cpu, launch_bounds: args.launch_bounds, params, generics, function })
    }

    /// Every combination of generic arguments, the last parameter fastest.
    pub fn instances(&self) -> Vec<Vec<Argument>> {
        self.generics.iter().fold(vec![Vec::new()], |instances, generic| {
            let extend = |head: Vec<Argument>| {
                generic.arguments.iter().map(move |argument| [head.as_slice(), std::slice::from_ref(argument)].concat())
            };
            instances.into_iter().flat_map(extend).collect()
        })
    }

    /// The entry point's name for one combination.
    pub fn entry_name(&self, instance: &[Argument]) -> String {
        let name = self.function.sig.ident.to_string();
        instance.iter().fold(name, |name, argument| format!("{name}_{}", argument.suffix))
    }
}

fn check_signature(function: &ItemFn) -> syn::Result<()> {
    let sig = &function.sig;
    let error = |span: Span, text: &str| Err(Error::new(span, text));
    if sig.unsafety.is_none() {
        return error(sig.fn_token.span, "a kernel is an `unsafe fn`: its threads share what its parameters point to");
    }
    if let Some(token) = &sig.asyncness {
        return error(token.span, "a kernel cannot be async");
    }
    if let Some(abi) = &sig.abi {
        return error(abi.span(), "leave the ABI out: the attribute emits the entry points");
    }
    if let Some(dots) = &sig.variadic {
        return error(dots.span(), "a kernel cannot be variadic");
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        return error(ty.span(), "a kernel returns nothing: write results through a `ViewMut` parameter");
    }
    Ok(())
}

fn parameters(function: &ItemFn) -> syn::Result<Vec<Param>> {
    let parameter = |arg: &FnArg| {
        let arg = match arg {
            FnArg::Typed(arg) => arg,
            FnArg::Receiver(receiver) => {
                return Err(Error::new(receiver.span(), "a kernel is a free function: `self` cannot be a parameter"));
            }
        };
        if let Type::ImplTrait(ty) = &*arg.ty {
            return Err(Error::new(ty.span(), "name a generic parameter and list its arguments: `T = [..]`"));
        }
        if let Type::Reference(ty) = &*arg.ty {
            return Err(Error::new(ty.span(), "a kernel's parameters are passed by value: use a `View` or `ViewMut`"));
        }
        match &*arg.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                Ok(Param { name: pat.ident.clone(), ty: (*arg.ty).clone() })
            }
            pat => {
                Err(Error::new(pat.span(), "a kernel's parameter is a plain name: it becomes a field of the launch"))
            }
        }
    };
    function.sig.inputs.iter().map(parameter).collect()
}

fn check_item_index(function: &ItemFn, first: Option<&Param>) -> syn::Result<()> {
    let is_index = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident("usize"));
    match first {
        Some(param) if is_index(&param.ty) => Ok(()),
        Some(param) => {
            Err(Error::new(param.ty.span(), "the first parameter of an items kernel is `i: usize`, the item"))
        }
        None => {
            Err(Error::new(function.sig.ident.span(), "an items kernel has a first parameter `i: usize`, the item"))
        }
    }
}

fn generics(mut lists: Vec<(Ident, TokenStream)>, function: &ItemFn) -> syn::Result<Vec<Generic>> {
    let mut generics = Vec::new();
    for param in &function.sig.generics.params {
        let (name, const_type) = match param {
            GenericParam::Type(param) => (&param.ident, None),
            GenericParam::Const(param) => (&param.ident, Some(param.ty.clone())),
            GenericParam::Lifetime(param) => {
                return Err(Error::new(param.span(), "a kernel cannot have lifetime parameters"));
            }
        };
        let Some(found) = lists.iter().position(|(list, _)| list == name) else {
            let text = format!("no arguments for the generic parameter `{name}`: write #[kernel({name} = [..])]");
            return Err(Error::new(name.span(), text));
        };
        let (list, tokens) = lists.remove(found);
        let arguments = arguments(tokens, const_type.is_some())?;
        if arguments.is_empty() {
            return Err(Error::new(list.span(), format!("the list of `{name}` is empty")));
        }
        generics.push(Generic { name: name.clone(), const_type, arguments });
    }
    match lists.first() {
        Some((name, _)) => Err(Error::new(name.span(), format!("the function has no generic parameter `{name}`"))),
        None => Ok(generics),
    }
}

fn arguments(tokens: TokenStream, is_const: bool) -> syn::Result<Vec<Argument>> {
    fn parse<T: syn::parse::Parse + quote::ToTokens>(
        tokens: TokenStream,
        suffix: impl Fn(&T) -> syn::Result<String>,
    ) -> syn::Result<Vec<Argument>> {
        let list = Punctuated::<T, Token![,]>::parse_terminated.parse2(tokens)?;
        list.iter().map(|item| Ok(Argument { tokens: quote::quote!(#item), suffix: suffix(item)? })).collect()
    }
    if is_const { parse(tokens, const_suffix) } else { parse(tokens, type_suffix) }
}

/// The last segment of a type's path; a type that came out of a macro's fragment is wrapped in an invisible group.
fn type_suffix(ty: &Type) -> syn::Result<String> {
    match ty {
        Type::Group(group) => type_suffix(&group.elem),
        Type::Paren(paren) => type_suffix(&paren.elem),
        Type::Path(path) => last_segment(&path.path),
        _ => Err(Error::new(ty.span(), "an entry point is named after the type's path: give the type an alias")),
    }
}

fn const_suffix(value: &Expr) -> syn::Result<String> {
    match value {
        Expr::Group(group) => const_suffix(&group.expr),
        Expr::Paren(paren) => const_suffix(&paren.expr),
        Expr::Path(path) => last_segment(&path.path),
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) => Ok(int.base10_digits().to_owned()),
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(bool), .. }) => Ok(bool.value.to_string()),
        _ => {
            Err(Error::new(value.span(), "an entry point is named after the value: a whole number, a bool or a const"))
        }
    }
}

fn last_segment(path: &syn::Path) -> syn::Result<String> {
    match path.segments.last() {
        Some(segment) => Ok(segment.ident.to_string().to_lowercase()),
        None => Err(Error::new(path.span(), "an empty path")),
    }
}

#[cfg(test)]
mod tests {
    use super::Kernel;
    use crate::args::Args;
    use quote::quote;

    fn parse(args: proc_macro2::TokenStream, function: proc_macro2::TokenStream) -> syn::Result<Kernel> {
        Kernel::new(syn::parse2::<Args>(args)?, syn::parse2(function)?)
    }

    fn names(args: proc_macro2::TokenStream, function: proc_macro2::TokenStream) -> Vec<String> {
        let kernel = parse(args, function).unwrap();
        kernel.instances().iter().map(|instance| kernel.entry_name(instance)).collect()
    }

    #[test]
    fn entry_names_follow_the_order_of_the_generic_parameters() {
        let function = quote!(
            unsafe fn assemble<E: Element, const B: usize, const F: bool>(x: View<E>) {}
        );
        let args = quote!(F = [true, false], B = [1, 3usize], E = [a::Tet4, Hex8]);
        let expected = ["tet4_1_true", "tet4_1_false", "tet4_3_true", "tet4_3_false"];
        let expected = expected.into_iter().flat_map(|name| [name.to_owned(), name.replace("tet4", "hex8")]);
        let mut expected: Vec<_> = expected.map(|name| format!("assemble_{name}")).collect();
        expected.sort_by_key(|name| name.contains("hex8"));
        assert_eq!(names(args, function), expected);
    }

    #[test]
    fn a_kernel_without_generics_has_one_entry() {
        assert_eq!(
            names(
                quote!(),
                quote!(
                    unsafe fn fill(n: usize) {}
                )
            ),
            ["fill"]
        );
    }

    #[test]
    fn the_items_index_is_no_parameter() {
        let kernel = parse(
            quote!(items),
            quote!(
                unsafe fn fill(i: usize, a: f64, mut y: ViewMut<f64>) {}
            ),
        )
        .unwrap();
        let names: Vec<_> = kernel.params.iter().map(|param| param.name.to_string()).collect();
        assert_eq!(names, ["a", "y"]);
    }

    #[test]
    fn errors_say_what_to_write() {
        let cases = [
            (
                quote!(),
                quote!(
                    fn k() {}
                ),
                "`unsafe fn`",
            ),
            (
                quote!(),
                quote!(
                    unsafe fn k() -> u32 {}
                ),
                "returns nothing",
            ),
            (
                quote!(),
                quote!(
                    unsafe extern "C" fn k() {}
                ),
                "leave the ABI out",
            ),
            (
                quote!(),
                quote!(
                    async unsafe fn k() {}
                ),
                "async",
            ),
            (
                quote!(),
                quote!(
                    unsafe fn k(&self) {}
                ),
                "free function",
            ),
            (
                quote!(),
                quote!(
                    unsafe fn k((a, b): (u32, u32)) {}
                ),
                "plain name",
            ),
            (
                quote!(),
                quote!(
                    unsafe fn k(x: impl Copy) {}
                ),
                "name a generic parameter",
            ),
            (
                quote!(),
                quote!(
                    unsafe fn k(x: &[f64]) {}
                ),
                "passed by value",
            ),
            (
                quote!(),
                quote!(
                    unsafe fn k<'a>(x: View<'a>) {}
                ),
                "lifetime",
            ),
            (
                quote!(),
                quote!(
                    unsafe fn k<T>(x: View<T>) {}
                ),
                "no arguments for the generic parameter `T`",
            ),
            (
                quote!(T = []),
                quote!(
                    unsafe fn k<T>(x: View<T>) {}
                ),
                "the list of `T` is empty",
            ),
            (
                quote!(T = [f32]),
                quote!(
                    unsafe fn k() {}
                ),
                "no generic parameter `T`",
            ),
            (
                quote!(T = [f32], T = [f64]),
                quote!(
                    unsafe fn k<T>(x: View<T>) {}
                ),
                "a second list for `T`",
            ),
            (
                quote!(T = [[f32; 3]]),
                quote!(
                    unsafe fn k<T>(x: View<T>) {}
                ),
                "give the type an alias",
            ),
            (
                quote!(B = [1 + 2]),
                quote!(
                    unsafe fn k<const B: usize>() {}
                ),
                "named after the value",
            ),
            (
                quote!(item),
                quote!(
                    unsafe fn k() {}
                ),
                "expected `items`",
            ),
            (
                quote!(launch_bounds(256)),
                quote!(
                    unsafe fn k() {}
                ),
                "expected `,`",
            ),
            (
                quote!(items),
                quote!(
                    unsafe fn k() {}
                ),
                "first parameter `i: usize`",
            ),
            (
                quote!(items),
                quote!(
                    unsafe fn k(i: u32) {}
                ),
                "`i: usize`",
            ),
        ];
        for (args, function, expected) in cases {
            let text = function.to_string();
            let error = parse(args, function).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
