//! The checked kernel: parameters with plain names, generic parameters with their lists, and their combinations.

use crate::args::Args;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, FnArg, GenericArgument, GenericParam, ItemFn, Pat, PathArguments, Signature, Token, Type};

/// A function that passed every check.
pub struct Kernel {
    /// The function as written.
    pub function: ItemFn,
    /// The attribute's arguments; the lists are in `generics`.
    pub args: Args,
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
    pub fn new(mut args: Args, function: ItemFn) -> syn::Result<Self> {
        check_signature(&function.sig)?;
        let mut params: Vec<Param> = function.sig.inputs.iter().map(parameter).collect::<syn::Result<_>>()?;
        if args.items {
            check_item_index(&function.sig.ident, params.first())?;
            params.remove(0);
        } else if let Some(cpu) = &args.cpu {
            return Err(Error::new_spanned(cpu, "only an items kernel has items that a CPU can compute together"));
        }
        let generics = generics(std::mem::take(&mut args.lists), &function.sig)?;
        Ok(Kernel { args, params, generics, function })
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

fn check_signature(sig: &Signature) -> syn::Result<()> {
    if sig.unsafety.is_none() {
        let text = "a kernel is an `unsafe fn`: its threads share what its parameters point to";
        return Err(Error::new_spanned(sig.fn_token, text));
    }
    let refused = [
        (sig.asyncness.to_token_stream(), "a kernel cannot be async"),
        (sig.abi.to_token_stream(), "leave the ABI out: the attribute emits the entry points"),
        (sig.variadic.to_token_stream(), "a kernel cannot be variadic"),
        (sig.output.to_token_stream(), "a kernel returns nothing: write results through a `ViewMut` parameter"),
    ];
    match refused.iter().find(|(tokens, _)| !tokens.is_empty()) {
        Some((tokens, text)) => Err(Error::new_spanned(tokens, text)),
        None => Ok(()),
    }
}

fn parameter(arg: &FnArg) -> syn::Result<Param> {
    let FnArg::Typed(arg) = arg else {
        return Err(Error::new_spanned(arg, "a kernel is a free function: `self` cannot be a parameter"));
    };
    match (&*arg.ty, &*arg.pat) {
        (Type::ImplTrait(ty), _) => {
            Err(Error::new_spanned(ty, "name a generic parameter and list its arguments: `T = [..]`"))
        }
        (Type::Reference(ty), _) => {
            Err(Error::new_spanned(ty, "a kernel's parameters are passed by value: use a `View` or `ViewMut`"))
        }
        (ty, Pat::Ident(pat)) if pat.by_ref.is_none() && pat.subpat.is_none() => {
            Ok(Param { name: pat.ident.clone(), ty: ty.clone() })
        }
        (_, pat) => {
            Err(Error::new_spanned(pat, "a kernel's parameter is a plain name: it becomes a field of the launch"))
        }
    }
}

fn check_item_index(function: &Ident, first: Option<&Param>) -> syn::Result<()> {
    match first.map(|param| &param.ty) {
        Some(Type::Path(ty)) if ty.path.is_ident("usize") => Ok(()),
        Some(ty) => Err(Error::new_spanned(ty, "the first parameter of an items kernel is `i: usize`, the item")),
        None => Err(Error::new_spanned(function, "an items kernel has a first parameter `i: usize`, the item")),
    }
}

fn generics(mut lists: Vec<(Ident, TokenStream)>, sig: &Signature) -> syn::Result<Vec<Generic>> {
    let mut generics = Vec::new();
    for param in &sig.generics.params {
        let (name, const_type) = match param {
            GenericParam::Type(param) => (&param.ident, None),
            GenericParam::Const(param) => (&param.ident, Some(param.ty.clone())),
            GenericParam::Lifetime(param) => {
                return Err(Error::new_spanned(param, "a kernel cannot have lifetime parameters"));
            }
        };
        let Some(found) = lists.iter().position(|(list, _)| list == name) else {
            let text = format!("no arguments for the generic parameter `{name}`: write #[kernel({name} = [..])]");
            return Err(Error::new_spanned(name, text));
        };
        let (list, tokens) = lists.remove(found);
        let arguments = arguments(tokens, const_type.is_some())?;
        if arguments.is_empty() {
            return Err(Error::new_spanned(list, format!("the list of `{name}` is empty")));
        }
        generics.push(Generic { name: name.clone(), const_type, arguments });
    }
    match lists.first() {
        Some((name, _)) => Err(Error::new_spanned(name, format!("the function has no generic parameter `{name}`"))),
        None => Ok(generics),
    }
}

fn arguments(tokens: TokenStream, is_const: bool) -> syn::Result<Vec<Argument>> {
    fn parse<T: syn::parse::Parse + ToTokens>(
        tokens: TokenStream,
        suffix: impl Fn(&T) -> syn::Result<String>,
    ) -> syn::Result<Vec<Argument>> {
        let list = Punctuated::<T, Token![,]>::parse_terminated.parse2(tokens)?;
        list.iter().map(|item| Ok(Argument { tokens: item.to_token_stream(), suffix: suffix(item)? })).collect()
    }
    if is_const { parse(tokens, const_suffix) } else { parse(tokens, type_suffix) }
}

/// The last segment of a type's path, and those of its arguments; a type that came out of a macro's fragment is wrapped in an
/// invisible group.
fn type_suffix(ty: &Type) -> syn::Result<String> {
    match ty {
        Type::Group(group) => type_suffix(&group.elem),
        Type::Paren(paren) => type_suffix(&paren.elem),
        Type::Path(path) => {
            let mut suffix = last_segment(&path.path)?;
            if let Some(PathArguments::AngleBracketed(of)) = path.path.segments.last().map(|last| &last.arguments) {
                for argument in &of.args {
                    match argument {
                        GenericArgument::Type(ty) => suffix += &type_suffix(ty)?,
                        other => return Err(Error::new_spanned(other, "an entry point is named after types")),
                    }
                }
            }
            Ok(suffix)
        }
        _ => Err(Error::new_spanned(ty, "an entry point is named after the type's path: give the type an alias")),
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
            Err(Error::new_spanned(value, "an entry point is named after the value: a whole number, a bool or a const"))
        }
    }
}

fn last_segment(path: &syn::Path) -> syn::Result<String> {
    match path.segments.last() {
        Some(segment) => Ok(segment.ident.to_string().to_lowercase()),
        None => Err(Error::new_spanned(path, "an empty path")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &str, function: &str) -> syn::Result<Kernel> {
        Kernel::new(syn::parse_str(args)?, syn::parse_str(function)?)
    }

    fn names(args: &str, function: &str) -> Vec<String> {
        let kernel = parse(args, function).unwrap();
        kernel.instances().iter().map(|instance| kernel.entry_name(instance)).collect()
    }

    #[test]
    fn entry_names_follow_the_order_of_the_generic_parameters() {
        let function = "unsafe fn assemble<E: Element, const B: usize, const F: bool>(x: View<E>) {}";
        let args = "F = [true, false], B = [1, 3usize], E = [a::Tet4, Hex8]";
        let of = |element: &str| ["1_true", "1_false", "3_true", "3_false"].map(|b| format!("assemble_{element}_{b}"));
        assert_eq!(names(args, function), [of("tet4"), of("hex8")].concat());
        assert_eq!(names("", "unsafe fn fill(n: usize) {}"), ["fill"]);
    }

    #[test]
    fn the_items_index_is_no_parameter() {
        let kernel = parse("items", "unsafe fn fill(i: usize, a: f64, mut y: ViewMut<f64>) {}").unwrap();
        let names: Vec<_> = kernel.params.iter().map(|param| param.name.to_string()).collect();
        assert_eq!(names, ["a", "y"]);
    }

    #[test]
    fn errors_say_what_to_write() {
        let cases = [
            ("", "fn k() {}", "`unsafe fn`"),
            ("", "unsafe fn k() -> u32 {}", "returns nothing"),
            ("", r#"unsafe extern "C" fn k() {}"#, "leave the ABI out"),
            ("", "async unsafe fn k() {}", "async"),
            ("", "unsafe fn k(&self) {}", "free function"),
            ("", "unsafe fn k((a, b): (u32, u32)) {}", "plain name"),
            ("", "unsafe fn k(x: impl Copy) {}", "name a generic parameter"),
            ("", "unsafe fn k(x: &[f64]) {}", "passed by value"),
            ("", "unsafe fn k<'a>(x: View<'a>) {}", "lifetime"),
            ("", "unsafe fn k<T>(x: View<T>) {}", "no arguments for the generic parameter `T`"),
            ("T = []", "unsafe fn k<T>(x: View<T>) {}", "the list of `T` is empty"),
            ("T = [f32]", "unsafe fn k() {}", "no generic parameter `T`"),
            ("T = [f32], T = [f64]", "unsafe fn k<T>(x: View<T>) {}", "a second list for `T`"),
            ("T = [[f32; 3]]", "unsafe fn k<T>(x: View<T>) {}", "give the type an alias"),
            ("B = [1 + 2]", "unsafe fn k<const B: usize>() {}", "named after the value"),
            ("item", "unsafe fn k() {}", "expected `items`"),
            ("launch_bounds(256)", "unsafe fn k() {}", "expected `,`"),
            ("items", "unsafe fn k() {}", "first parameter `i: usize`"),
            ("items", "unsafe fn k(i: u32) {}", "`i: usize`"),
        ];
        for (args, function, expected) in cases {
            let error = parse(args, function).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{function}: {error}");
        }
    }
}
