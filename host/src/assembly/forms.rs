//! From a form known at run time to the code compiled for it.

/// Evaluates `$body` with `$P` naming the form of an isotropic material of `$form`, and `$E` the element type of `$kind`, of
/// those that `$with_element` knows.
macro_rules! with_isotropic {
    ($form:expr, $kind:expr, $P:ident, $E:ident => $body:expr) => {
        with_isotropic!($form, $kind, $P, $E in with_element => $body)
    };
    ($form:expr, $kind:expr, $P:ident, $E:ident in $with_element:ident => $body:expr) => {
        match $form.physics {
            crate::model::Physics::Potential | crate::model::Physics::Heat => {
                type $P = kernels_rs::form::Conduction;
                $with_element!($kind, $E => $body)
            }
            crate::model::Physics::Elasticity => {
                type $P = kernels_rs::form::Elasticity;
                $with_element!($kind, $E => $body)
            }
        }
    };
}

/// The same of the form with all constants of a material, and of bodies of revolution.
macro_rules! with_general {
    ($form:expr, $kind:expr, $P:ident, $E:ident => $body:expr) => {
        match $form.physics {
            crate::model::Physics::Potential | crate::model::Physics::Heat => {
                type $P = kernels_rs::form::Scalar;
                crate::assembly::forms::with_body!($form, $kind, $E => $body)
            }
            crate::model::Physics::Elasticity => {
                type $P = kernels_rs::form::General;
                crate::assembly::forms::with_body!($form, $kind, $E => $body)
            }
        }
    };
}

/// [`with_element!`], or the element of a body of revolution.
macro_rules! with_body {
    ($form:expr, $kind:expr, $E:ident => $body:expr) => {
        if $form.is_revolved {
            kernels_rs::for_each_plane_element!(match_revolved, ($kind, $E, $body))
        } else {
            with_element!($kind, $E => $body)
        }
    };
}

/// The match of [`with_body`].
macro_rules! match_revolved {
    (($kind:expr, $E:ident, $body:expr) $($Kind:ident),+) => {
        match $kind.of_kernels() {
            $(crate::element::ElementKind::$Kind => {
                type $E = kernels_rs::element::Revolved<kernels_rs::element::$Kind>;
                $body
            })+
            other => Err(crate::result::Error::NotSolvable(other.info().name)),
        }
    };
}
pub(crate) use {match_revolved, with_body, with_general, with_isotropic};
