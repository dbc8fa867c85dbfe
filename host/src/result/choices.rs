//! What can be chosen of a solution, each with its word: that of the case file, of the command line, of messages and of
//! `summary.json`. What `auto` stands for is no choice: where it is one of the words, the choice is an `Option`.

use kernels_rs::{for_each_format, for_each_strategy};
use std::ops::RangeInclusive;

/// One of several things that can be chosen.
pub trait Choice: Copy + Send + Sync + 'static {
    /// Its word.
    fn word(self) -> &'static str;
}

/// The one of these with this word.
pub fn find<C: Choice>(choices: &[C], word: &str) -> Option<C> {
    choices.iter().copied().find(|choice| choice.word() == word)
}

/// Precisions that a matrix and its vectors can be in.
pub const PLAIN_PRECISIONS: [Precision; 2] = [Precision::Double, Precision::Single];
/// Orders of polynomial preconditioners: products per application.
pub const ORDERS: RangeInclusive<usize> = 1..=16;

/// Makes an enum from its variants and their words.
macro_rules! choices {
    ($(#[$doc:meta])* $Name:ident: $($(#[$of:meta])* $Variant:ident = $word:expr),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $Name { $(#[doc = concat!("`", $word, "`\n\n")] $(#[$of])* $Variant),+ }

        impl $Name {
            /// All there are.
            pub const ALL: [$Name; [$($Name::$Variant),+].len()] = [$($Name::$Variant),+];

            /// Its word.
            pub const fn name(self) -> &'static str {
                match self { $($Name::$Variant => $word),+ }
            }

            /// The one of this word; none of `auto`.
            pub fn from_name(word: &str) -> Option<$Name> {
                $crate::result::choices::find(&Self::ALL, word)
            }

            /// The words of all.
            pub fn names() -> Vec<&'static str> {
                Self::ALL.map(Self::name).to_vec()
            }
        }

        impl $crate::result::choices::Choice for $Name {
            fn word(self) -> &'static str {
                self.name()
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<str>::deserialize(deserializer)?;
                Self::from_name(&word).ok_or_else(|| serde::de::Error::custom(format!("no such choice: {word}")))
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(crate) use choices;

choices! {
    /// What is asked of a model.
    #[derive(Default)]
    Study:
    /// Its answer to loads at rest.
    #[default]
    Static = "static",
    /// Its natural frequencies, and how it vibrates at each: `K u = lambda M u`.
    Modal = "modal",
    /// The loads at which it buckles, and how: `(K + lambda G) u = 0`.
    Buckling = "buckling",
    /// Its temperatures over time: `C du/dt + K u = f`.
    Transient = "transient",
}

choices! {
    /// How a transient study goes from one time to the next.
    #[derive(Default)]
    Scheme:
    /// Backward differences of second order.
    #[default]
    Bdf2 = "bdf2",
    /// Backward Euler, of first order.
    BackwardEuler = "backward_euler",
}

choices! {
    /// How a system is solved.
    Method:
    /// Preconditioned conjugate gradients.
    Cg = "cg",
    /// Cholesky factors.
    Direct = "direct",
    /// Element by element, without a matrix.
    Femses = "femses",
}

choices! {
    /// What makes FEMSES faster.
    Acceleration:
    /// Nothing: the thesis.
    None = "none",
    /// Chebyshev's semi-iteration.
    Chebyshev = "chebyshev",
    /// Conjugate gradients.
    Cg = "cg",
}

choices! {
    /// The precision of matrix, preconditioner and vectors.
    Precision:
    /// 64 bits.
    Double = "double",
    /// 32 bits.
    Single = "single",
    /// Double, with a preconditioner or a factor in single.
    Mixed = "mixed",
    /// The same, with the preconditioner's copy of the matrix in 16 bits.
    MixedHalf = "mixed_half",
}

choices! {
    /// How products with K are computed.
    Operator:
    /// From its entries, which are assembled and stored.
    Assembled = "assembled",
    /// From coordinates and materials, cell by cell, each time.
    MatrixFree = "matrix_free",
}

choices! {
    /// The order of the nodes before the sort by degree.
    Ordering:
    /// As in the mesh.
    Mesh = "mesh",
    /// Along a Hilbert curve.
    Hilbert = "hilbert",
    /// Level by level from one end of the mesh.
    ReverseCuthillMckee = "rcm",
}

macro_rules! formats {
    ($($file:ident { $($Format:ident = $word:literal: $($Type:ident),+;)+ })+) => {
        choices! {
            /// How a matrix is stored: see [`kernels_rs::sparse`].
            Format: $($($Format = $word),+),+
        }
    };
}
for_each_format!(formats);

/// Calls `$callback! { $arguments file { Type = "word", .. } .. }` with every preconditioner, by its file in
/// [`precond`](crate::precond), its type and its word: the only list of them.
macro_rules! for_each_preconditioner {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)*
            jacobi { Identity = "none", Jacobi = "jacobi", BlockJacobi = "block_jacobi" }
            polynomial { Neumann = "neumann" }
            chebyshev { Chebyshev = "chebyshev" }
            least_squares { LeastSquares = "least_squares" }
            amg { Amg = "amg" }
        }
    };
}
pub(crate) use for_each_preconditioner;

macro_rules! preconditioners {
    ($($file:ident { $($P:ident = $word:literal),+ })+) => {
        choices! {
            /// What conjugate gradients are preconditioned with.
            Preconditioner: $($($P = $word),+),+
        }
    };
}
for_each_preconditioner!(preconditioners);

macro_rules! strategies {
    ($($name:ident $Strategy:ident),+) => {
        choices! {
            /// How element stiffness is computed and added up: see [`kernels_rs::assembly`].
            Strategy: $($Strategy = stringify!($name)),+
        }
    };
}
for_each_strategy!(strategies);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_to_what_they_name() {
        macro_rules! check {
            ($($Name:ident),+) => { $(
                assert!($Name::ALL.into_iter().all(|choice| $Name::from_name(choice.name()) == Some(choice)));
                assert_eq!($Name::from_name("auto"), None);
            )+ };
        }
        check!(Study, Scheme, Method, Acceleration, Precision, Ordering, Format, Preconditioner, Strategy);
    }
}
