//! `[solver]`.

use super::Case;
use super::synonyms::{self, Meaning};
use crate::model::names::{list, nearest};
use crate::model::{CaseError, SolverOptions};
use crate::result::choices::{
    Acceleration, Choice, Format, Method, ORDERS, Operator, Ordering, Precision, Preconditioner, Strategy, find,
};
use toml::Spanned;

/// Relative residuals that rounding seldom lets an iteration fall below, by precision: in double what a cube of some
/// hundred nodes comes to under a clamp, in single potentials in the plane. Slender elastic bodies end at a thousand
/// times these, and more.
const LEAST: [(Precision, f64); 2] = [(Precision::Single, 1e-6), (Precision::Double, 1e-13)];

impl SolverOptions {
    /// What there is to say of a tolerance that an iteration in this precision will hardly meet.
    pub fn warning(&self) -> Option<String> {
        // The mixed ones end as double does.
        let [single, double] = LEAST;
        let (precision, least) = if self.precision == Some(single.0) { single } else { double };
        let (of, fall, tolerance) = match self.residual_tolerance {
            Some(tolerance) => ("residual tolerance", "residuals", tolerance),
            None => ("tolerance", "errors", self.tolerance),
        };
        (tolerance < least).then(|| {
            format!(
                "a {of} of {tolerance:e} is more than {} precision allows: {fall} seldom fall below {least:e}, and on slender \
                 bodies end far above",
                precision.name()
            )
        })
    }
}

impl Case {
    /// `[solver]`, with its method, precision, tolerance and iteration limit checked.
    pub fn solver_options(&self) -> Result<SolverOptions, Box<CaseError>> {
        let table = &self.tables.solver;
        let acceleration = self.one_of("acceleration", table.acceleration.as_ref(), &Acceleration::ALL, &[])?;
        let mut options = SolverOptions {
            method: self.auto_or("method", table.method.as_ref(), &Method::ALL)?,
            acceleration: acceleration.unwrap_or(Acceleration::None),
            precision: self.auto_or("precision", table.precision.as_ref(), &Precision::ALL)?,
            ..SolverOptions::default()
        };
        options.tolerance = self.tolerance("tolerance", table.tolerance.as_ref())?.unwrap_or(options.tolerance);
        options.check_count = table.check_count.as_ref().is_some_and(|check| *check.get_ref());
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
        self.matrix_options(options)
    }

    /// The same with what is of the matrix and its preconditioner.
    pub(super) fn matrix_options(&self, options: SolverOptions) -> Result<SolverOptions, Box<CaseError>> {
        let table = &self.tables.solver;
        Ok(SolverOptions {
            operator: self.auto_or("operator", table.operator.as_ref(), &Operator::ALL)?,
            format: self.auto_or("format", table.format.as_ref(), &Format::ALL)?,
            ordering: self.auto_or("ordering", table.ordering.as_ref(), &Ordering::ALL)?,
            preconditioner: self.auto_or("preconditioner", table.preconditioner.as_ref(), &Preconditioner::ALL)?,
            assembly: self.auto_or("assembly", table.assembly.as_ref(), &Strategy::ALL)?,
            ..options
        })
    }

    /// What a word stands for, which must be `auto` or one of these; none of `auto`.
    fn auto_or<C: Choice>(
        &self,
        key: &str,
        word: Option<&Spanned<String>>,
        choices: &[C],
    ) -> Result<Option<C>, Box<CaseError>> {
        match word {
            Some(word) if word.get_ref() == "auto" => Ok(None),
            _ => self.one_of(key, word, choices, &["auto"]),
        }
    }

    /// What a word stands for, which must be one of these; `others` are known too.
    fn one_of<C: Choice>(
        &self,
        key: &str,
        word: Option<&Spanned<String>>,
        choices: &[C],
        others: &[&str],
    ) -> Result<Option<C>, Box<CaseError>> {
        let words = others.iter().copied().chain(choices.iter().map(|choice| choice.word()));
        self.check_name(key, word, &words.collect::<Vec<_>>())?;
        Ok(word.and_then(|word| find(choices, word.get_ref())))
    }

    /// A number between 0 and 1.
    fn tolerance(&self, key: &str, value: Option<&Spanned<f64>>) -> Result<Option<f64>, Box<CaseError>> {
        let Some(value) = value else { return Ok(None) };
        if *value.get_ref() > 0.0 && *value.get_ref() < 1.0 {
            return Ok(Some(*value.get_ref()));
        }
        Err(self.error_at(value.span(), format!("`{key}` must lie between 0 and 1"), "1e-6 is usual"))
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
        let is_there = |meant: &Meaning| !matches!(meant, Meaning::Is(name) if !available.contains(name));
        let meant = synonyms::meaning(key, name).filter(is_there);
        let (near, help) = match meant.or_else(|| nearest(name, available).map(Meaning::Is)) {
            Some(Meaning::Is(near)) => (true, format!("did you mean `{near}`? {names}")),
            Some(Meaning::Not(why)) => (false, format!("{why}; {names}")),
            None => (false, names),
        };
        let message = match near {
            true => format!("there is no {key} `{name}`"),
            false => format!("{key} `{name}` is not available in this version"),
        };
        Err(self.error_at(place.span(), message, help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_that_rounding_does_not_allow_are_warned_of() {
        let of = |precision, tolerance| {
            let residual_tolerance = Some(tolerance);
            SolverOptions { precision: Some(precision), residual_tolerance, ..SolverOptions::default() }.warning()
        };
        assert_eq!(
            (of(Precision::Double, 1e-12), of(Precision::Mixed, 1e-12), of(Precision::Single, 1e-5)),
            (None, None, None)
        );
        assert!(
            of(Precision::Double, 1e-18)
                .unwrap()
                .starts_with("a residual tolerance of 1e-18 is more than double precision allows")
        );
        assert!(of(Precision::Mixed, 1e-14).unwrap().contains("below 1e-13,"));
        assert!(
            of(Precision::Single, 1e-8).unwrap().contains("single precision allows: residuals seldom fall below 1e-6")
        );
    }
}
