//! Results as data: fields on a mesh, tables by name, and the steps of a study that bring them.

use super::choices::Study;
use super::error::Result;
use super::labels::Quantity;
use super::list::{FieldInfo, TableInfo};
use super::outcome::Outcome;
use super::physics::Physics;

/// Values on a mesh, in its numbering.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name, place, components and unit.
    pub info: &'static FieldInfo,
    /// `[n][components]`, flat. At nodes one list of `[n_nodes]`; else a list for each of the mesh's blocks of cells, which
    /// is empty where a block is not solved on.
    pub values: Vec<Vec<f64>>,
}

impl Field {
    /// The values of a list as vectors; none if they have another number of components.
    pub fn vectors<const K: usize>(&self, list: usize) -> &[[f64; K]] {
        if self.info.width() == K { self.values[list].as_chunks().0 } else { &[] }
    }

    /// The magnitude of a vector's values, or a scalar's own; lists as in [`Field::values`].
    pub fn magnitudes(&self) -> Vec<Vec<f64>> {
        let magnitude = |v: &[f64]| if v.len() == 1 { v[0] } else { v.iter().map(|c| c * c).sum::<f64>().sqrt() };
        self.values.iter().map(|list| list.chunks_exact(self.info.width()).map(magnitude).collect()).collect()
    }
}

/// What belongs to names and not to places.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name and columns.
    pub info: &'static TableInfo,
    /// A name, and a number for each column.
    pub rows: Vec<(String, Vec<f64>)>,
}

/// What a step of the motion under loads is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The real part of a steady vibration: the state when the loads are largest.
    Real,
    /// The imaginary part: the state a quarter of a period before.
    Imaginary,
    /// The state at a time.
    Time,
}

/// A load case, a mode, a part of a vibration or a time, and its results.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// Its name.
    pub label: String,
    /// Its load factor, frequency or time.
    pub value: f64,
    /// What is solved for.
    pub physics: Physics,
    /// What it is a step of.
    pub study: Study,
    /// What it is of, if it is a step of the motion under loads.
    pub moment: Option<Moment>,
    /// Fields; what others are computed from comes before them.
    pub fields: Vec<Field>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Its loads and reactions.
    pub balance: ForceBalance,
    /// How its solution ended; none where nothing was solved.
    pub outcome: Option<Outcome>,
}

/// Sums of loads and reactions, and how far they are from balance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForceBalance {
    /// The sum of all loads but thermal strain; of a potential what fluxes and sources bring in, then zeros.
    pub applied: [f64; 3],
    /// The sum of the forces of all supports, springs and remote points on the body, or of the flows into it there; a node
    /// of several counts once.
    pub reaction_sum: [f64; 3],
    /// The sizes of the forces at nodes, thermal strain and inertia among them, added up.
    pub nodal_forces: f64,
    /// How far both are from balance, relative to the sum of the magnitudes of all nodal forces.
    pub equilibrium_error: f64,
    /// The same of each connected part.
    pub parts: Vec<f64>,
    /// The same relative to the loads or the largest reaction; 0 of a potential.
    pub load_error: f64,
}

impl Step {
    /// A step of these fields, by name; unknown names are passed over.
    pub fn of<'a>(physics: Physics, fields: impl IntoIterator<Item = (&'a str, Vec<Vec<f64>>)>) -> Step {
        let fields = fields.into_iter();
        let field = |(name, values): (&str, _)| FieldInfo::named(name).map(|info| Field { info, values });
        Step { physics, fields: fields.filter_map(field).collect(), ..Step::default() }
    }

    /// The same without fields and tables.
    pub fn without_results(&self) -> Step {
        let Step { label, value, physics, study, moment, balance, outcome, .. } = self;
        let (label, balance, outcome) = (label.clone(), balance.clone(), outcome.clone());
        let (value, physics, study, moment) = (*value, *physics, *study, *moment);
        Step { label, value, physics, study, moment, balance, outcome, ..Step::default() }
    }

    /// Whether it is a mode.
    pub fn is_mode(&self) -> bool {
        self.study.is_of_modes() && self.moment.is_none()
    }

    /// The field of this name, if it is there.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.info.name == name)
    }

    /// The values of a field, `[n_blocks]` lists of cells or one of nodes; none if it is not there.
    pub fn lists(&self, name: &str) -> &[Vec<f64>] {
        self.field(name).map_or(&[], |field| &field.values)
    }

    /// The values of a field at the nodes, `[n_nodes][components]`, flat; none if it is not there.
    pub fn nodes(&self, name: &str) -> &[f64] {
        self.lists(name).first().map_or(&[], Vec::as_slice)
    }

    /// The same as vectors, `[n_nodes]`; none if they have another number of components.
    pub fn vectors<const K: usize>(&self, name: &str) -> &[[f64; K]] {
        self.field(name).map_or(&[], |field| field.vectors(0))
    }

    /// The table of this name, if it is there.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.info.name == name)
    }

    /// A row of a table; empty if it is not there.
    pub fn row(&self, table: &str, row: usize) -> &[f64] {
        self.table(table).and_then(|table| table.rows.get(row)).map_or(&[], |row| &row.1)
    }
}

/// What belongs to names, over frequencies or times.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What it is: part of a file's name, and a key of the summary.
    pub name: &'static str,
    /// What it runs over, and what that measures.
    pub over: (&'static str, Quantity),
    /// Its values, ascending.
    pub at: Vec<f64>,
    /// What there is of each curve, the size first, and what that measures.
    pub columns: &'static [(&'static str, Quantity)],
    /// A curve for each name.
    pub curves: Vec<Curve>,
}

/// A curve of a [`Series`].
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Whose it is.
    pub name: String,
    /// A number for each column, for each value that the series runs over.
    pub rows: Vec<Vec<f64>>,
}

impl Series {
    /// Where the size of each curve is largest, and that: the first of equals.
    pub fn peaks(&self) -> impl Iterator<Item = (&str, f64, f64)> {
        let size = |row: &Vec<f64>| row.first().copied().unwrap_or(0.0);
        self.curves.iter().filter_map(move |curve| {
            let rows = self.at.iter().zip(curve.rows.iter().map(size)).filter(|(_, size)| size.is_finite());
            let (at, size) = rows.reduce(|most, next| if next.1 > most.1 { next } else { most })?;
            Some((curve.name.as_str(), *at, size))
        })
    }
}

/// What a study sends its results to.
pub trait Sink {
    /// Whether it takes the field or table of this name. What it does not take is not computed.
    fn wants(&self, name: &str) -> bool;

    /// Takes a step.
    fn take(&mut self, step: Step) -> Result<()>;

    /// Takes a series, behind the steps.
    fn take_series(&mut self, _series: Series) -> Result<()> {
        Ok(())
    }
}

/// Keeps the fields of these names, and all tables, of every step.
#[derive(Debug, Default)]
pub struct Steps {
    /// Names of fields.
    pub fields: Vec<String>,
    /// The steps.
    pub steps: Vec<Step>,
    /// Series.
    pub series: Vec<Series>,
}

impl Sink for Steps {
    fn wants(&self, name: &str) -> bool {
        FieldInfo::named(name).is_none() || self.fields.iter().any(|field| field == name)
    }

    fn take(&mut self, step: Step) -> Result<()> {
        self.steps.push(step);
        Ok(())
    }

    fn take_series(&mut self, series: Series) -> Result<()> {
        self.series.push(series);
        Ok(())
    }
}
