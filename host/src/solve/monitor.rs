//! How a solution reports its progress, and how it is told to stop.

/// Someone who watches. All methods may be called often and should return at once.
pub trait Monitor {
    /// A phase begins.
    fn phase(&self, _name: &'static str) {}
    /// The iteration stands at this error, or at this residual if the tolerance is on that; both are relative.
    fn error(&self, _iteration: usize, _error: f64, _tolerance: f64) {}
    /// Whether to end early.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Monitor for Silent {}
