//! What stands in the parentheses: `items, cpu = rows, launch_bounds(256, 2), T = [f32, f64], B = [1, 3], E =
//! for_each_element!`.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitInt, Path, Token, bracketed, parenthesized, token};

/// The arguments of the attribute as written.
pub struct Args {
    /// `items` was given.
    pub items: bool,
    /// The function that computes a range of items on a CPU.
    pub cpu: Option<Ident>,
    /// Threads per block at most, and blocks on a multiprocessor at least.
    pub launch_bounds: Option<(u32, u32)>,
    /// The lists by the name of their generic parameter.
    pub lists: Vec<(Ident, TokenStream)>,
    /// The first list that a macro holds, and which macro.
    pub listed_by: Option<(Ident, Path)>,
}

impl Args {
    /// The attribute's arguments with `list` in the place of the macro that holds it.
    pub fn with_list(tokens: TokenStream, name: &Ident, list: &TokenStream) -> TokenStream {
        let mut out = TokenStream::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let is_name = matches!(&token, TokenTree::Ident(ident) if ident == name);
            out.extend([token]);
            if is_name {
                out.extend(quote!(= [#list]));
                while tokens.next_if(|token| !matches!(token, TokenTree::Punct(p) if p.as_char() == ',')).is_some() {}
            }
        }
        out
    }
}

impl Parse for Args {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut args = Args { items: false, cpu: None, launch_bounds: None, lists: Vec::new(), listed_by: None };
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                if name == "cpu" && args.cpu.is_none() {
                    args.cpu = Some(input.parse()?);
                    skip_comma(input)?;
                    continue;
                }
                if !input.peek(token::Bracket) {
                    let path: Path = input.parse()?;
                    input.parse::<Token![!]>()?;
                    args.listed_by.get_or_insert((name, path));
                    skip_comma(input)?;
                    continue;
                }
                let list;
                bracketed!(list in input);
                if args.lists.iter().any(|(other, _)| *other == name) {
                    return Err(syn::Error::new(name.span(), format!("a second list for `{name}`")));
                }
                args.lists.push((name, list.parse()?));
            } else if name == "items" && !args.items {
                args.items = true;
            } else if name == "launch_bounds" && args.launch_bounds.is_none() {
                args.launch_bounds = Some(launch_bounds(input)?);
            } else {
                let text = format!("expected `items` or `{name} = [..]`, the arguments of a generic parameter");
                return Err(syn::Error::new(name.span(), text));
            }
            skip_comma(input)?;
        }
        Ok(args)
    }
}

fn launch_bounds(input: ParseStream) -> syn::Result<(u32, u32)> {
    let bounds;
    parenthesized!(bounds in input);
    let number = || bounds.parse::<LitInt>()?.base10_parse();
    let threads = number()?;
    bounds.parse::<Token![,]>()?;
    Ok((threads, number()?))
}

fn skip_comma(input: ParseStream) -> syn::Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}
