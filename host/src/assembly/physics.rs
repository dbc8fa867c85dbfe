//! From an analysis known at run time to the code compiled for its physics.

/// Evaluates `$body` with `$P` naming the physics of `$analysis`, and `$E` the element type of `$kind`, of those that
/// `$with_element` knows.
macro_rules! with_physics {
    ($analysis:expr, $kind:expr, $P:ident, $E:ident => $body:expr) => {
        with_physics!($analysis, $kind, $P, $E in with_element => $body)
    };
    ($analysis:expr, $kind:expr, $P:ident, $E:ident in $with_element:ident => $body:expr) => {
        if $analysis == crate::model::Analysis::Laplace {
            type $P = kernels_rs::physics::Conduction;
            $with_element!($kind, $E => $body)
        } else {
            type $P = kernels_rs::physics::Elasticity;
            $with_element!($kind, $E => $body)
        }
    };
}
pub(super) use with_physics;
