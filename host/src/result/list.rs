//! The one list of results: each a name, where its values are, what they measure, and what they are results of.
//!
//! The function of the same name in [`stress`](crate::stress) computes it, in `fields.rs` or `tables.rs`; nothing else
//! has to know of it. Tables of modes are computed where these are.

use super::choices::Study;
use super::labels::Quantity;
use super::physics::Physics;

/// Where the values of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// At the nodes.
    Node,
    /// At the centres of the elements.
    Cell,
    /// At the integration points of the elements.
    CellPoint,
}

/// When a field is computed and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// If nobody names fields, too.
    Usual,
    /// The same, if a material has a yield strength.
    WithStrength,
    /// If it is named.
    Asked,
}

/// What is known of a field before it is computed.
#[derive(Debug, PartialEq)]
pub struct FieldInfo {
    /// Its name in `[output] fields` and in files.
    pub name: &'static str,
    /// Where its values are.
    pub at: At,
    /// Names of the components; empty for a scalar.
    pub components: &'static [&'static str],
    /// What it measures.
    pub unit: Quantity,
    /// What it is a result of.
    pub physics: &'static [Physics],
    /// When it is computed.
    pub when: When,
}

/// What is known of a table before it is computed.
#[derive(Debug, PartialEq)]
pub struct TableInfo {
    /// Its name: a key of the summary.
    pub name: &'static str,
    /// The names of its columns and what they measure.
    pub columns: &'static [(&'static str, Quantity)],
    /// What it is a result of.
    pub physics: &'static [Physics],
}

/// A number.
pub const SCALAR: &[&str] = &[];
/// A vector.
pub const VECTOR: &[&str] = &["x", "y", "z"];
/// A symmetric tensor; shears of a strain are the engineer's.
pub const TENSOR: &[&str] = &["xx", "yy", "zz", "xy", "yz", "xz"];
/// Principal values, the largest first.
pub const PRINCIPAL: &[&str] = &["1", "2", "3"];
/// Their directions, unit vectors.
pub const DIRECTIONS: &[&str] = &["1x", "1y", "1z", "2x", "2y", "2z", "3x", "3y", "3z"];

/// Calls `$callback! { name, At, COMPONENTS, Quantity, [Physics], When; .. }` with every field.
macro_rules! for_each_field {
    ($callback:ident) => {
        $callback! {
            displacement, Node, VECTOR, Length, [Elasticity], Usual;
            reaction_force, Node, VECTOR, Force, [Elasticity], Usual;
            von_mises, Cell, SCALAR, Stress, [Elasticity], Usual;
            stress, Cell, TENSOR, Stress, [Elasticity], Usual;
            von_mises_nodal, Node, SCALAR, Stress, [Elasticity], Usual;
            stress_nodal, Node, TENSOR, Stress, [Elasticity], Usual;
            safety_factor, Node, SCALAR, Unlabelled, [Elasticity], WithStrength;
            potential, Node, SCALAR, Unlabelled, [Potential], Usual;
            gradient, Cell, VECTOR, Unlabelled, [Potential], Usual;
            gradient_nodal, Node, VECTOR, Unlabelled, [Potential], Usual;
            temperature, Node, SCALAR, Unlabelled, [Heat], Usual;
            heat_flux, Cell, VECTOR, Unlabelled, [Heat], Usual;
            heat_flux_nodal, Node, VECTOR, Unlabelled, [Heat], Usual;
            material, Cell, SCALAR, Index, [Elasticity, Potential, Heat], Usual;
            error, Cell, SCALAR, Unlabelled, [Elasticity, Potential, Heat], Asked;
            error_nodal, Node, SCALAR, Unlabelled, [Elasticity, Potential, Heat], Asked;
            nodal_force, Node, VECTOR, Force, [Elasticity], Asked;
            nodal_flow, Node, SCALAR, Unlabelled, [Heat], Asked;
            heat_flux_points, CellPoint, VECTOR, Unlabelled, [Heat], Asked;
            stress_points, CellPoint, TENSOR, Stress, [Elasticity], Asked;
            strain, Cell, TENSOR, Unlabelled, [Elasticity], Asked;
            strain_nodal, Node, TENSOR, Unlabelled, [Elasticity], Asked;
            tresca, Cell, SCALAR, Stress, [Elasticity], Asked;
            tresca_nodal, Node, SCALAR, Stress, [Elasticity], Asked;
            principal_stress, Cell, PRINCIPAL, Stress, [Elasticity], Asked;
            principal_stress_nodal, Node, PRINCIPAL, Stress, [Elasticity], Asked;
            principal_directions, Cell, DIRECTIONS, Unlabelled, [Elasticity], Asked;
            principal_directions_nodal, Node, DIRECTIONS, Unlabelled, [Elasticity], Asked;
        }
    };
}
pub(crate) use for_each_field;

/// Calls `$callback! { name, [column Quantity, ..], [Physics]; .. }` with every table.
macro_rules! for_each_table {
    ($callback:ident) => {
        $callback! {
            strain_energy, ["all" Energy], [Elasticity];
            reactions, ["x" Force, "y" Force, "z" Force], [Elasticity];
            reaction_moments, ["x" Moment, "y" Moment, "z" Moment], [Elasticity];
            inertia_relief, ["acceleration x" Acceleration, "y" Acceleration, "z" Acceleration, "angular acceleration x" Unlabelled,
                "y" Unlabelled, "z" Unlabelled], [Elasticity];
            flows, ["flow into the body" Unlabelled], [Potential, Heat];
            tie_forces, ["x" Force, "y" Force, "z" Force], [Elasticity];
            tie_moments, ["x" Moment, "y" Moment, "z" Moment], [Elasticity];
            coupling_forces, ["x" Force, "y" Force, "z" Force], [Elasticity];
            equation_multipliers, ["force per factor" Unlabelled], [Elasticity];
            bolt_shortenings, ["shortening" Length], [Elasticity];
            remote_displacements, ["x" Length, "y" Length, "z" Length], [Elasticity];
            remote_rotations, ["x" Unlabelled, "y" Unlabelled, "z" Unlabelled], [Elasticity];
            remote_forces, ["x" Force, "y" Force, "z" Force], [Elasticity];
            remote_moments, ["x" Moment, "y" Moment, "z" Moment], [Elasticity];
            heat_stored, ["heat per time" Unlabelled], [Heat];
            tie_flows, ["flow into the slave" Unlabelled], [Potential, Heat];
            mesh_error, ["relative" Unlabelled], [Elasticity, Potential, Heat];
        }
    };
}
pub(crate) use for_each_table;

macro_rules! fields {
    ($($name:ident, $at:ident, $components:ident, $unit:ident, [$($of:ident),+], $when:ident;)+) => {
        /// Every field.
        pub const FIELDS: &[FieldInfo] = &[$(FieldInfo {
            name: stringify!($name),
            at: At::$at,
            components: $components,
            unit: Quantity::$unit,
            physics: &[$(Physics::$of),+],
            when: When::$when,
        }),+];
    };
}
for_each_field!(fields);

macro_rules! tables {
    ($($name:ident, [$($column:literal $unit:ident),+], [$($of:ident),+];)+) => {
        /// Every table.
        pub const TABLES: &[TableInfo] = &[$(TableInfo {
            name: stringify!($name),
            columns: &[$(($column, Quantity::$unit)),+],
            physics: &[$(Physics::$of),+],
        }),+];
    };
}
for_each_table!(tables);

/// Tables of a mode, which a modal study brings itself: a row each, of the mode's name. Effective masses are those along x, y, z
/// and about axes along these through the origin.
pub static MODES: TableInfo = TableInfo {
    name: "modes",
    columns: &[
        ("eigenvalue", Quantity::Unlabelled),
        ("frequency", Quantity::Frequency),
        ("relative residual", Quantity::Unlabelled),
    ],
    physics: &[Physics::Elasticity],
};
/// The table of a buckling mode, likewise.
pub static BUCKLING: TableInfo = TableInfo {
    name: "buckling",
    columns: &[("load factor", Quantity::Unlabelled), ("relative residual", Quantity::Unlabelled)],
    physics: &[Physics::Elasticity],
};
/// The smallest factor of the reversed loads, below 0; not there if they buckle nothing.
pub static REVERSED: TableInfo = TableInfo {
    name: "reversed_load_factor",
    columns: &[("load factor", Quantity::Unlabelled)],
    physics: &[Physics::Elasticity],
};
/// See [`MODES`].
pub static PARTICIPATION: TableInfo = TableInfo {
    name: "participation",
    columns: &[
        ("x", Quantity::Unlabelled),
        ("y", Quantity::Unlabelled),
        ("z", Quantity::Unlabelled),
        ("about x", Quantity::Unlabelled),
        ("about y", Quantity::Unlabelled),
        ("about z", Quantity::Unlabelled),
    ],
    physics: &[Physics::Elasticity],
};
/// See [`MODES`].
pub static EFFECTIVE_MASS: TableInfo = TableInfo {
    name: "effective_mass",
    columns: &[
        ("x", Quantity::Mass),
        ("y", Quantity::Mass),
        ("z", Quantity::Mass),
        ("about x", Quantity::Unlabelled),
        ("about y", Quantity::Unlabelled),
        ("about z", Quantity::Unlabelled),
    ],
    physics: &[Physics::Elasticity],
};

/// Results that a mode does not have: it has no loads, and a size that means nothing.
const NOT_OF_MODES: [&str; 15] = [
    "error",
    "error_nodal",
    "mesh_error",
    "reaction_force",
    "safety_factor",
    "reactions",
    "reaction_moments",
    "inertia_relief",
    "tie_forces",
    "tie_moments",
    "coupling_forces",
    "equation_multipliers",
    "bolt_shortenings",
    "remote_forces",
    "remote_moments",
];

impl Study {
    /// Whether it looks for modes, each of which is a step.
    pub fn is_of_modes(self) -> bool {
        matches!(self, Study::Modal | Study::Buckling)
    }

    /// Whether the field or table of this name is a result of it.
    pub fn has(self, name: &str) -> bool {
        !self.is_of_modes() || !NOT_OF_MODES.contains(&name)
    }
}

impl TableInfo {
    /// The table of this name, but for those of modes.
    pub fn named(name: &str) -> Option<&'static TableInfo> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// The unit of all columns, if they have one alone.
    pub fn unit(&self) -> Quantity {
        let first = self.columns[0].1;
        if self.columns.iter().all(|column| column.1 == first) { first } else { Quantity::Unlabelled }
    }
}

impl FieldInfo {
    /// The field of this name.
    pub fn named(name: &str) -> Option<&'static FieldInfo> {
        FIELDS.iter().find(|field| field.name == name)
    }

    /// Numbers of a node, cell or point.
    pub fn width(&self) -> usize {
        self.components.len().max(1)
    }

    /// Whether it has a magnitude and a direction.
    pub fn is_vector(&self) -> bool {
        self.components == VECTOR
    }

    /// Its name without `_nodal` or `_points`, which go without saying where all values are there.
    pub fn short_name(&self) -> &'static str {
        self.name.strip_suffix("_nodal").or(self.name.strip_suffix("_points")).unwrap_or(self.name)
    }

    /// The names of its scalars, as `--field` has them: its own, or one for each component; each with the component.
    pub fn scalars(&self) -> impl Iterator<Item = (String, Option<usize>)> {
        let (name, parts) = (self.short_name(), self.components);
        let whole = matches!(parts, SCALAR | VECTOR).then(|| (name.to_owned(), None));
        let components = parts.iter().enumerate().map(move |(c, part)| (format!("{name}_{part}"), Some(c)));
        whole.into_iter().chain(components)
    }
}

impl Physics {
    /// The fields that there may be.
    pub fn fields(self) -> impl Iterator<Item = &'static FieldInfo> {
        FIELDS.iter().filter(move |field| field.physics.contains(&self))
    }

    /// The names of those that are written if nobody names any.
    pub fn usual_fields(self) -> impl Iterator<Item = &'static str> {
        self.fields().filter(|field| field.when != When::Asked).map(|field| field.name)
    }

    /// The tables that there are.
    pub fn tables(self) -> impl Iterator<Item = &'static TableInfo> {
        TABLES.iter().filter(move |table| table.physics.contains(&self))
    }
}
