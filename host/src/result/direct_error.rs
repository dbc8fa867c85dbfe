//! What can go wrong with a direct solver, beside a lack of memory.

/// Why a direct solver has no solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DirectError {
    /// This build has no direct solver for this device (exit code 2).
    #[error(
        "method `direct` on the CPU needs, for more than {most_dense} unknowns, the sparse Cholesky factorisation of the crate faer, \
         which this program was built without: build it with the feature `direct`, or use `--method cg`"
    )]
    NotBuilt {
        /// The unknowns that the dense factor of this build takes.
        most_dense: usize,
    },
    /// The library that factorises sparse matrices on this device was not found (exit code 2).
    #[error("sparse factors on this device need NVIDIA's cuDSS, which was not found: {0}")]
    NoLibrary(String),
    /// The matrix is not positive definite to the precision of its factor (exit code 4).
    #[error(
        "the stiffness matrix is singular or indefinite in {precision} precision: with its diagonal scaled to 1, elimination meets \
         {} in component {} of the node at {at:?}; is every part held, are elements sound, stiffnesses \
         not too far apart, and does reduced integration leave no motions free?{}",
        .pivot.map_or("a negative pivot".into(), |pivot| format!("the pivot {pivot:.1e}")), ["x", "y", "z"][*.component], if *.precision == "single" { " (`--precision double` holds more)" } else { "" }
    )]
    NotPositive {
        /// Of the scaled matrix, where it is known. Not a number if the matrix has an entry that is none.
        pivot: Option<f64>,
        /// Coordinates of the node where it is met, as elimination orders nodes.
        at: [f64; 3],
        /// The component there.
        component: usize,
        /// That of the factor.
        precision: &'static str,
    },
}

impl DirectError {
    /// The process exit code that stands for it.
    pub fn exit_code(&self) -> u8 {
        match self {
            DirectError::NotBuilt { .. } | DirectError::NoLibrary(_) => 2,
            DirectError::NotPositive { .. } => 4,
        }
    }
}
