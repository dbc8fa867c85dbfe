//! How large the levels are, and what it took to make them.

use serde::{Serialize, Serializer, ser::SerializeStruct};

/// Neighbours of an aggregate in a thin body at most, itself included: by the modes of an aggregate, of a body in space
/// and in the plane. Potentials do not bend.
const THIN: [(usize, f64); 2] = [(6, 32.0), (3, 6.0)];
/// And as a part of all aggregates.
const PART: f64 = 0.5;

/// The size of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelSize {
    /// Rows of a block: modes of a node below the finest level.
    pub size: usize,
    /// Block rows: nodes.
    pub rows: usize,
    /// Blocks of the matrix; 0 without a matrix.
    pub blocks: usize,
}

impl LevelSize {
    /// Unknowns.
    pub fn unknowns(&self) -> usize {
        self.size * self.rows
    }

    /// Entries of the matrix.
    pub fn entries(&self) -> u64 {
        (self.size * self.size) as u64 * self.blocks as u64
    }

    /// Whether a level of aggregates is of a thin body: these have fewer neighbours; in compact ones in space they have
    /// some forty on average, in the plane nine.
    pub fn is_thin(&self) -> bool {
        let most = THIN.iter().find(|(modes, _)| *modes == self.size).map_or(0.0, |(_, most)| *most);
        self.stencil() <= most.min(PART * self.rows as f64)
    }

    /// Blocks in a row, on average.
    pub fn stencil(&self) -> f64 {
        self.blocks as f64 / self.rows.max(1) as f64
    }
}

/// The levels of a multigrid preconditioner, the finest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hierarchy {
    /// Their sizes.
    pub levels: Vec<LevelSize>,
    /// Bytes of all of it but the finest matrix.
    pub bytes: u64,
    /// What it took to make.
    pub times: SetupTimes,
}

impl Serialize for LevelSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut level = serializer.serialize_struct("Level", 4)?;
        level.serialize_field("unknowns", &self.unknowns())?;
        level.serialize_field("rows", &self.rows)?;
        level.serialize_field("blocks", &self.blocks)?;
        level.serialize_field("stencil", &self.stencil())?;
        level.end()
    }
}

impl Serialize for Hierarchy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hierarchy = serializer.serialize_struct("Hierarchy", 4)?;
        hierarchy.serialize_field("operator_complexity", &self.operator_complexity())?;
        hierarchy.serialize_field("bytes", &self.bytes)?;
        hierarchy.serialize_field("setup_s", &self.times)?;
        hierarchy.serialize_field("levels", &self.levels)?;
        hierarchy.end()
    }
}

/// Seconds that the parts of a set-up took, on all levels together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct SetupTimes {
    /// Strong couplings, aggregates, and the modes on them.
    pub aggregation: f64,
    /// Which blocks products have.
    pub symbolic: f64,
    /// Their values.
    pub numeric: f64,
    /// Copies in the precision of the cycle, diagonals, and largest eigenvalues.
    pub smoothing: f64,
    /// The inverse of the coarsest matrix.
    pub coarsest: f64,
}

impl SetupTimes {
    /// The parts by name, in the order of the work.
    pub fn parts(&self) -> [(&'static str, f64); 5] {
        let SetupTimes { aggregation, symbolic, numeric, smoothing, coarsest } = *self;
        let names = ["aggregation", "symbolic", "numeric", "smoothing", "coarsest"];
        let times = [aggregation, symbolic, numeric, smoothing, coarsest];
        std::array::from_fn(|i| (names[i], times[i]))
    }
}

impl Hierarchy {
    /// Entries of the matrices of all levels over those of the finest that has one.
    pub fn operator_complexity(&self) -> f64 {
        let entries = || self.levels.iter().map(|level| level.entries() as f64);
        entries().find(|entries| *entries > 0.0).map_or(1.0, |finest| entries().sum::<f64>() / finest)
    }
}
