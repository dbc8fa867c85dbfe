//! Why a model is solved as it is.

use super::choices::Precision;
use std::fmt;

/// Why a factor is taken or not, or a preconditioner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// A model too small for the choice to matter.
    SmallModel,
    /// This part of the nodes is on the surface: the factor would be large.
    Compact(f64),
    /// Free memory is less than twice these bytes of a factor.
    FactorTooLarge(u64),
    /// A small factor, of a body that is so.
    CheapFactor(Body, PerUnknown),
    /// A factor that is larger, but iterations would be many.
    ManyIterations(Hard, PerUnknown),
    /// A factor that is too large.
    CostlyFactor(PerUnknown),
    /// A factor was decided on and could not be made.
    FactorFailed,
    /// What takes Jacobi many iterations, and multigrid few.
    Needed(Hard),
    /// What a precision has for a preconditioner.
    OfPrecision(Precision),
    /// Multigrid in double precision on a CPU.
    FastestOnCpu,
    /// Iterations that are expected with Jacobi, and those that take as long as multigrid.
    Iterations {
        /// With Jacobi.
        jacobi: f64,
        /// In the time of multigrid.
        multigrid: f64,
    },
    /// Products of quadratic elements are faster without a matrix.
    NoMatrix,
    /// There is too little memory for the matrix.
    MatrixTooLarge,
    /// A direct solver runs on one device.
    SeveralDevices,
    /// The lowest modes are iterated on together.
    Modes,
    /// Multigrid was decided on and has too little memory.
    MultigridTooLarge,
}

/// Values of a factor per unknown.
pub type PerUnknown = f64;

/// What makes a factor small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// In the plane.
    Plane,
    /// Most of its nodes are on the surface.
    Thin,
    /// Neither.
    Coarse,
}

/// What makes iterations many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hard {
    /// Poisson's ratio near 0.5.
    Poisson(f64),
    /// Elements so many times as long as wide.
    Stretched(f64),
    /// One element across.
    OneAcross,
    /// A material so many times as stiff as another.
    StiffnessRatio(f64),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::SmallModel => write!(f, "a small model"),
            Reason::Compact(on_surface) => {
                let percent = 100.0 * on_surface;
                write!(
                    f,
                    "a compact body ({percent:.0} % of its nodes on the surface), for which a direct solution costs more"
                )
            }
            Reason::FactorTooLarge(bytes) => {
                write!(f, "too little memory for a factor of {}", warpfem_text::bytes(*bytes))
            }
            Reason::CheapFactor(body, per) => {
                write!(f, "{body}, cheap to solve directly (its factor has {per:.0} values per unknown)")
            }
            Reason::ManyIterations(hard, per) => {
                write!(f, "{hard}, which iterations find hard (its factor has {per:.0} values per unknown)")
            }
            Reason::CostlyFactor(per) => {
                write!(f, "a direct solution would cost more (its factor has {per:.0} values per unknown)")
            }
            Reason::FactorFailed => write!(f, "a factor was not possible"),
            Reason::SeveralDevices => write!(f, "the direct solver runs on one device only"),
            Reason::Needed(hard) => write!(f, "{hard}"),
            Reason::OfPrecision(precision) => write!(f, "the preconditioner of {} precision", precision.name()),
            Reason::FastestOnCpu => write!(f, "multigrid is the fastest iteration on a CPU"),
            Reason::Iterations { jacobi, multigrid } => write!(
                f,
                "about {jacobi:.0} iterations with Jacobi are expected, and multigrid costs as much as {multigrid:.0}"
            ),
            Reason::NoMatrix => write!(f, "products without a matrix, which are faster for quadratic elements"),
            Reason::MatrixTooLarge => write!(f, "products without a matrix, as there is too little memory for one"),
            Reason::Modes => write!(f, "LOBPCG finds the lowest modes, and takes few iterations with multigrid"),
            Reason::MultigridTooLarge => write!(f, "multigrid has too little memory"),
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Body::Plane => "a plane problem",
            Body::Thin => "a thin body",
            Body::Coarse => "a body of few elements",
        })
    }
}

impl fmt::Display for Hard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hard::Poisson(poisson) => write!(f, "Poisson's ratio is {poisson}"),
            Hard::Stretched(times) => write!(f, "elements are {times:.0} times as long as wide"),
            Hard::OneAcross => write!(f, "one element across where it is thin"),
            Hard::StiffnessRatio(ratio) => write!(f, "one material is {ratio:.0e} times as stiff as another"),
        }
    }
}
