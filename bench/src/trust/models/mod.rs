//! Sound models on which solvers have been seen to stop too early, too late or never.

mod boxes;
mod layered;
mod moved;
mod parts;
mod shapes;
mod text;

use warpfem::model::Model;
use warpfem::model::Result;

/// How large models are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Some hundred unknowns, for tests.
    Short,
    /// Some ten thousand.
    Full,
}

impl Size {
    /// The one or the other.
    fn of<T>(self, short: T, full: T) -> T {
        match self {
            Size::Short => short,
            Size::Full => full,
        }
    }
}

/// A model and its name.
pub struct Entry {
    pub name: String,
    /// Makes it.
    pub make: Box<dyn Fn() -> anyhow::Result<Model>>,
}

/// The list under construction.
struct Models(Vec<Entry>);

impl Models {
    /// Adds a model, which is made when it is asked for, from its name.
    fn add(&mut self, name: impl Into<String>, make: impl Fn(&str) -> Result<Model> + 'static) {
        let name = name.into();
        let called = name.clone();
        self.0.push(Entry { name, make: Box::new(move || Ok(make(&called)?)) });
    }
}

/// All models.
pub fn all(size: Size) -> Vec<Entry> {
    let mut models = Models(Vec::new());
    boxes::add(&mut models, size);
    moved::add(&mut models, size);
    layered::add(&mut models, size);
    parts::add(&mut models, size);
    models.0
}
