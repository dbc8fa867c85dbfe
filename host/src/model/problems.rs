//! Everything that is wrong, in the order it was found: a check goes on where a solution stops.

use super::CaseError;
use crate::model::Error;

/// What was found wrong so far.
#[derive(Debug, Default)]
pub struct Problems(Vec<Error>);

impl Problems {
    /// These.
    pub fn of(errors: impl IntoIterator<Item = impl Into<Error>>) -> Problems {
        let mut problems = Problems::default();
        errors.into_iter().for_each(|error| problems.add(error));
        problems
    }

    /// Notes an error. A second complaint about one place of the case file follows from the first, and is left out.
    pub fn add(&mut self, error: impl Into<Error>) {
        let error = error.into();
        let is_known = |known: &Error| matches!((known, &error), (Error::Case(a), Error::Case(b)) if is_same(a, b));
        if !self.0.iter().any(is_known) {
            self.0.push(error);
        }
    }

    /// The value; or nothing, and its error is noted.
    pub fn take<T>(&mut self, result: Result<T, impl Into<Error>>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether one is of the case file, where a name may be misspelt.
    pub fn has_slip(&self) -> bool {
        self.0.iter().any(|error| matches!(error, Error::Case(_)))
    }

    /// All of them, in the order they were found.
    pub fn into_vec(self) -> Vec<Error> {
        self.0
    }

    /// The value, if nothing is wrong; else the first error.
    pub fn or<T>(self, value: T) -> Result<T, Error> {
        self.0.into_iter().next().map_or(Ok(value), Err)
    }
}

fn is_same(a: &CaseError, b: &CaseError) -> bool {
    a == b || a.span.is_some() && a.span == b.span
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Source;
    use std::path::Path;

    #[test]
    fn one_place_has_one_complaint() {
        let source = Source::new(Path::new("a.toml"), "poisson = 3\nyoung = 0\n");
        let mut problems = Problems::default();
        problems.add(source.error_at(0..7, "too large", ""));
        problems.add(source.error_at(0..7, "not below 0.5", ""));
        assert_eq!(problems.take(Err::<(), _>(source.error_at(12..17, "too small", ""))), None);
        problems.add(source.error_anywhere("no mesh", ""));
        problems.add(source.error_anywhere("no material", ""));
        assert_eq!(problems.take(Ok::<_, Error>(1)), Some(1));
        assert_eq!(problems.count(), 4);
        let said: Vec<String> = problems.into_vec().iter().map(|error| error.to_string()).collect();
        assert!(said[0].contains("too large") && said[1].contains("too small"), "{said:?}");
    }
}
