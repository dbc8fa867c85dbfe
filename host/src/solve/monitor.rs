//! How a solution reports its progress, and how it is told to stop.

/// Someone who watches. All methods may be called often and should return at once.
pub trait Monitor {
    /// A phase begins.
    fn phase(&self, _name: &'static str) {}
    /// The iteration stands at this residual, relative to the right-hand side.
    fn residual(&self, _iteration: usize, _relative: f64, _tolerance: f64) {}
    /// Whether to end early.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Monitor for Silent {}
