//! From an element type known at run time to the code compiled for it.

/// Evaluates `$body` with `$E` naming the element type whose kernels `$kind` is solved with.
macro_rules! with_element {
    ($kind:expr, $E:ident => $body:expr) => {
        kernels_rs::for_each_element!(match_element, ($kind, $E, $body))
    };
}
/// The same among the elements that the papers' kernels are for.
macro_rules! with_paper_element {
    ($kind:expr, $E:ident => $body:expr) => {
        kernels_rs::for_each_paper_element!(match_element, ($kind, $E, $body))
    };
}
/// The match of [`with_element`].
macro_rules! match_element {
    (($kind:expr, $E:ident, $body:expr) $($Kind:ident),+) => {
        match $kind.of_kernels() {
            $(crate::element::ElementKind::$Kind => { type $E = kernels_rs::element::$Kind; $body })+
            other => Err(crate::result::Error::NotSolvable(other.info().name)),
        }
    };
}
pub(crate) use {match_element, with_element, with_paper_element};
