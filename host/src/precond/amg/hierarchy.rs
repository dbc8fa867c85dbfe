//! How large the levels are.

/// The size of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelSize {
    /// Rows of a block: modes of a node below the finest level.
    pub size: usize,
    /// Block rows: nodes.
    pub rows: usize,
    /// Blocks of the matrix.
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

    /// Blocks in a row, on average.
    pub fn stencil(&self) -> f64 {
        self.blocks as f64 / self.rows.max(1) as f64
    }
}

/// The levels of a multigrid preconditioner, the finest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hierarchy {
    /// Their sizes.
    pub levels: Vec<LevelSize>,
}

impl Hierarchy {
    /// Entries of the matrices of all levels over those of the finest.
    pub fn operator_complexity(&self) -> f64 {
        let entries = |level: &LevelSize| level.entries() as f64;
        let finest = self.levels.first().map_or(0.0, entries);
        if finest == 0.0 { 1.0 } else { self.levels.iter().map(entries).sum::<f64>() / finest }
    }
}
