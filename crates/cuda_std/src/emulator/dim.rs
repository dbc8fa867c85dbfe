//! Sizes of grids and blocks.

/// A size or index in three dimensions, x fastest. Made of one, two or three numbers; those left out are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl Dim3 {
    /// Number of points.
    pub const fn count(self) -> u64 {
        self.x as u64 * self.y as u64 * self.z as u64
    }

    pub(super) const fn array(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }

    /// The `i`-th point, x fastest.
    pub(super) const fn point(self, i: u64) -> [u32; 3] {
        let (x, y) = (self.x as u64, self.y as u64);
        [(i % x) as u32, (i / x % y) as u32, (i / (x * y)) as u32]
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { x, y, z }
    }
}
