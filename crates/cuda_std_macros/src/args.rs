//! What stands in the parentheses: `items, T = [f32, f64], B = [1, 3]`.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Token, bracketed};

/// The arguments of the attribute as written.
pub struct Args {
    /// `items` was given.
    pub items: bool,
    /// The lists by the name of their generic parameter.
    pub lists: Vec<(Ident, TokenStream)>,
}

impl Parse for Args {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut args = Args { items: false, lists: Vec::new() };
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                let list;
                bracketed!(list in input);
                if args.lists.iter().any(|(other, _)| *other == name) {
                    return Err(syn::Error::new(name.span(), format!("a second list for `{name}`")));
                }
                args.lists.push((name, list.parse()?));
            } else if name == "items" && !args.items {
                args.items = true;
            } else {
                let text = format!("expected `items` or `{name} = [..]`, the arguments of a generic parameter");
                return Err(syn::Error::new(name.span(), text));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(args)
    }
}
