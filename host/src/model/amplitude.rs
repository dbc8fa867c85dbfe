//! Factors over time.

/// A factor over time: linear between points of time and factor, constant before the first and after the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Amplitude(pub Vec<[f64; 2]>);

impl Amplitude {
    /// At a time.
    pub fn at(&self, time: f64) -> f64 {
        self.before(self.0.partition_point(|[at, _]| *at < time), time)
    }

    /// Just after a time: where it jumps another than [`Amplitude::at`].
    pub fn after(&self, time: f64) -> f64 {
        self.before(self.0.partition_point(|[at, _]| *at <= time), time)
    }

    /// At a time that comes before one of the points.
    fn before(&self, after: usize, time: f64) -> f64 {
        let points = &self.0;
        match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
            (Some([t0, f0]), Some([t1, f1])) => f0 + (f1 - f0) * (time - t0) / (t1 - t0),
            (Some([_, factor]), None) => factor,
            (None, first) => first.map_or(1.0, |[_, factor]| *factor),
        }
    }
}
