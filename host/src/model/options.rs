//! `[solver]` and the lists of names the case file may use.

use std::ops::RangeInclusive;
use toml::Spanned;

use super::case::Case;
use super::case::synonyms::{self, Meant};
use super::names::{list, nearest};
use super::{Analysis, CaseError, SolverOptions};

/// Analysis kinds of this version.
pub fn analyses() -> Vec<&'static str> {
    Analysis::ALL.iter().map(|analysis| analysis.name()).collect()
}
/// Solution methods of this version; `auto` is what `plan` decides.
pub const METHODS: &[&str] = &["auto", "cg", "direct", "femses"];
/// What makes `femses` faster, in this version.
pub const ACCELERATIONS: &[&str] = &["none", "chebyshev", "cg"];
/// Precisions of this version; `auto` is double, or mixed where `plan` decides so.
pub const PRECISIONS: &[&str] = &["auto", "double", "single", "mixed", "mixed_half"];
/// Precisions that a matrix and its vectors can be in.
pub const PLAIN_PRECISIONS: &[&str] = &["double", "single"];
/// Orders of polynomial preconditioners: products per application.
pub const ORDERS: RangeInclusive<usize> = 1..=16;
/// The field that there is only if a material has a yield strength.
pub const SAFETY_FACTOR: &str = "safety_factor";
/// Fields that `[output] fields` may name, and that are written if it is left out.
pub fn fields(analysis: Analysis) -> &'static [&'static str] {
    match analysis {
        Analysis::Laplace => &["potential", "gradient", "gradient_nodal", "material"],
        _ => &[
            "displacement",
            "reaction_force",
            "von_mises",
            "stress",
            "von_mises_nodal",
            "stress_nodal",
            SAFETY_FACTOR,
            "material",
        ],
    }
}

/// The names that the layers above the model offer, beside `auto`.
#[derive(Debug, Clone, Copy)]
pub struct Choices<'a> {
    /// Storage formats.
    pub formats: &'a [&'a str],
    /// Orders of the nodes.
    pub orderings: &'a [&'a str],
    /// Preconditioners.
    pub preconditioners: &'a [&'a str],
    /// Assembly strategies.
    pub assemblies: &'a [&'a str],
}

/// Relative residuals that rounding seldom lets an iteration fall below, by precision: in double what a cube of some
/// hundred nodes comes to under a clamp, in single potentials in the plane. Slender elastic bodies end at a thousand
/// times these, and more.
const LEAST: [(&str, f64); 2] = [("single", 1e-6), ("double", 1e-13)];

impl SolverOptions {
    /// What there is to say of a tolerance that an iteration in this precision will hardly meet.
    pub fn warning(&self) -> Option<String> {
        // The mixed ones end as double does.
        let [single, double] = LEAST;
        let (precision, least) = if self.precision == single.0 { single } else { double };
        let (of, fall, tolerance) = match self.residual_tolerance {
            Some(tolerance) => ("residual tolerance", "residuals", tolerance),
            None => ("tolerance", "errors", self.tolerance),
        };
        (tolerance < least).then(|| {
            format!(
                "a {of} of {tolerance:e} is more than {precision} precision allows: {fall} seldom fall below {least:e}, and on slender \
                 bodies end far above"
            )
        })
    }
}

impl Case {
    /// `[solver]`, with its method, precision, tolerance and iteration limit checked.
    pub fn solver_options(&self) -> Result<SolverOptions, Box<CaseError>> {
        let table = &self.tables.solver;
        self.check_name("method", table.method.as_ref(), METHODS)?;
        self.check_name("acceleration", table.acceleration.as_ref(), ACCELERATIONS)?;
        self.check_name("precision", table.precision.as_ref(), PRECISIONS)?;
        let mut options = SolverOptions::default();
        set(&mut options.method, table.method.as_ref());
        set(&mut options.acceleration, table.acceleration.as_ref());
        set(&mut options.format, table.format.as_ref());
        set(&mut options.ordering, table.ordering.as_ref());
        set(&mut options.preconditioner, table.preconditioner.as_ref());
        set(&mut options.precision, table.precision.as_ref());
        set(&mut options.assembly, table.assembly.as_ref());
        options.tolerance = self.tolerance("tolerance", table.tolerance.as_ref())?.unwrap_or(options.tolerance);
        options.residual_tolerance = self.tolerance("residual_tolerance", table.residual_tolerance.as_ref())?;
        if let Some(limit) = &table.max_iterations {
            options.max_iterations = match usize::try_from(*limit.get_ref()) {
                Ok(n) if n >= 1 => n,
                _ => {
                    return Err(self.error_at(
                        limit.span(),
                        "`max_iterations` must be 1 or more",
                        "20000 is the default",
                    ));
                }
            };
        }
        if let Some(order) = &table.order {
            options.order = match usize::try_from(*order.get_ref()) {
                Ok(n) if ORDERS.contains(&n) => n,
                _ => {
                    let message = format!("`order` must lie between {} and {}", ORDERS.start(), ORDERS.end());
                    return Err(self.error_at(order.span(), message, "it is that of polynomial preconditioners"));
                }
            };
        }
        Ok(options)
    }

    /// A number between 0 and 1.
    fn tolerance(&self, key: &str, value: Option<&Spanned<f64>>) -> Result<Option<f64>, Box<CaseError>> {
        let Some(value) = value else { return Ok(None) };
        if *value.get_ref() > 0.0 && *value.get_ref() < 1.0 {
            return Ok(Some(*value.get_ref()));
        }
        Err(self.error_at(value.span(), format!("`{key}` must lie between 0 and 1"), "1e-6 is usual"))
    }

    /// Checks the names in `[solver]` that the model itself does not know; `auto` is always one of them.
    pub fn check_solver(&self, choices: &Choices<'_>) -> Result<(), Box<CaseError>> {
        let table = &self.tables.solver;
        self.check_name("format", table.format.as_ref(), &[&["auto"], choices.formats].concat())?;
        self.check_name("ordering", table.ordering.as_ref(), &[&["auto"], choices.orderings].concat())?;
        self.check_name(
            "preconditioner",
            table.preconditioner.as_ref(),
            &[&["auto"], choices.preconditioners].concat(),
        )?;
        self.check_name("assembly", table.assembly.as_ref(), &[&["auto"], choices.assemblies].concat())
    }

    /// Refuses a value that is not in a list of names: as another word for one of them or a slip, or else as not there
    /// yet.
    pub(super) fn check_name(
        &self,
        key: &str,
        value: Option<&Spanned<String>>,
        available: &[&str],
    ) -> Result<(), Box<CaseError>> {
        let Some(place) = value.filter(|value| !available.contains(&value.get_ref().as_str())) else { return Ok(()) };
        let name = place.get_ref();
        let names = format!("available: {}", list(available));
        let is_there = |meant: &Meant| !matches!(meant, Meant::Is(name) if !available.contains(name));
        let meant = synonyms::name(key, name).filter(is_there);
        let (near, help) = match meant.or_else(|| nearest(name, available).map(Meant::Is)) {
            Some(Meant::Is(near)) => (true, format!("did you mean `{near}`? {names}")),
            Some(Meant::Not(why)) => (false, format!("{why}; {names}")),
            None => (false, names),
        };
        let message = match near {
            true => format!("there is no {key} `{name}`"),
            false => format!("{key} `{name}` is not available in this version"),
        };
        Err(self.error_at(place.span(), message, help))
    }
}

fn set(option: &mut String, value: Option<&Spanned<String>>) {
    if let Some(value) = value {
        option.clone_from(value.get_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_that_rounding_does_not_allow_are_warned_of() {
        let of = |precision: &str, tolerance| {
            let residual_tolerance = Some(tolerance);
            SolverOptions { precision: precision.into(), residual_tolerance, ..SolverOptions::default() }.warning()
        };
        assert_eq!((of("double", 1e-12), of("mixed", 1e-12), of("single", 1e-5)), (None, None, None));
        assert!(
            of("double", 1e-18)
                .unwrap()
                .starts_with("a residual tolerance of 1e-18 is more than double precision allows")
        );
        assert!(of("mixed", 1e-14).unwrap().contains("below 1e-13,"));
        assert!(of("single", 1e-8).unwrap().contains("single precision allows: residuals seldom fall below 1e-6"));
    }
}
