//! Sums and largest values over parts of a body: the host's side of [`kernels_rs::parts`].

use crate::device::Buffer;

use crate::linalg::Space;
use crate::parallel::{self, PART};
use crate::result::Result;
use kernels_rs::parts::{
    CHUNK, Frames, N_MOTIONS, NO_ROW, PartDot, PartLargest, PartMoments, PartMotion, PartRows, rigid_motion,
};
use kernels_rs::real::Real;
use nalgebra::{Matrix4, Matrix6, Matrix6x4, SymmetricEigen, Vector4, Vector6};

/// Eigenvalues of a Gram matrix below this share of the largest are zero.
const RANK: f64 = 1e-12;

/// Rows of each part. A row may be in several parts.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Members {
    /// Where each part starts, `[n_parts + 1]`.
    pub start: Vec<usize>,
    /// The rows, part by part, ascending in each.
    pub rows: Vec<u32>,
}

impl Members {
    /// Of one part.
    pub fn of_all(n: usize) -> Self {
        Members { start: vec![0, n], rows: (0..n as u32).collect() }
    }

    /// From the part of each row.
    pub fn of_labels(labels: &[u32], n_parts: usize) -> Self {
        let mut start = vec![0; n_parts + 1];
        labels.iter().for_each(|part| start[*part as usize + 1] += 1);
        (0..n_parts).for_each(|part| start[part + 1] += start[part]);
        let (mut next, mut rows) = (start.clone(), vec![0; labels.len()]);
        for (row, part) in labels.iter().enumerate() {
            rows[next[*part as usize]] = row as u32;
            next[*part as usize] += 1;
        }
        Members { start, rows }
    }

    /// From the rows of each part.
    pub fn of_lists(lists: impl Iterator<Item = Vec<u32>>) -> Self {
        let mut members = Members { start: vec![0], rows: Vec::new() };
        for rows in lists {
            members.rows.extend(rows);
            members.start.push(members.rows.len());
        }
        members
    }

    /// How many parts there are.
    pub fn n_parts(&self) -> usize {
        self.start.len() - 1
    }

    /// The rows of a part.
    pub fn of(&self, part: usize) -> &[u32] {
        &self.rows[self.start[part]..self.start[part + 1]]
    }
}

/// The least coordinates of some rows, and the greatest.
fn extent(rows: &[u32], coords: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let add = |[low, high]: [[f64; 3]; 2], row: &u32| {
        let x = coords[*row as usize];
        [core::array::from_fn(|c| low[c].min(x[c])), core::array::from_fn(|c| high[c].max(x[c]))]
    };
    let join = |a: [[f64; 3]; 2], b: [[f64; 3]; 2]| {
        [core::array::from_fn(|c| a[0][c].min(b[0][c])), core::array::from_fn(|c| a[1][c].max(b[1][c]))]
    };
    let nothing = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    parallel::map(rows.chunks(PART), &|rows| rows.iter().fold(nothing, add)).into_iter().fold(nothing, join)
}

/// Centre and 1 / length of an extent; a single point has the length 1.
fn frame([low, high]: [[f64; 3]; 2]) -> [f64; 4] {
    let length = (0..3).map(|c| 0.5 * (high[c] - low[c])).fold(0.0, f64::max);
    let centre = |c: usize| 0.5 * (low[c] + high[c]);
    [centre(0), centre(1), centre(2), if length > 0.0 { 1.0 / length } else { 1.0 }]
}

/// The frames of parts, of the rows of all ranks.
fn frames(space: &Space, members: &Members, coords: &[[f64; 3]]) -> Result<Vec<[f64; 4]>> {
    let mut extents: Vec<[[f64; 3]; 2]> = (0..members.n_parts()).map(|part| extent(members.of(part), coords)).collect();
    let turn = |extents: &mut [[[f64; 3]; 2]]| extents.iter_mut().for_each(|[low, _]| *low = low.map(|x| -x));
    turn(&mut extents);
    space.largest_of_ranks(extents.as_flattened_mut().as_flattened_mut())?;
    turn(&mut extents);
    Ok(extents.into_iter().map(frame).collect())
}

/// A place about the centre of a frame, in units of its length.
pub fn about_centre(x: [f64; 3], frame: [f64; 4]) -> [f64; 3] {
    core::array::from_fn(|c| (x[c] - frame[c]) * frame[3])
}

/// The rigid motions that component `i` at a place sees: one row of R.
pub fn motion_row(size: usize, i: usize, y: [f64; 3]) -> Vector6<f64> {
    Vector6::from_fn(|motion, _| if motion < size * (size + 1) / 2 { rigid_motion(size, motion, i, y) } else { 0.0 })
}

/// The inverse of a symmetric matrix on the space where it has one: times a right-hand side, the solution of least size.
pub fn pseudo_inverse(gram: &Matrix6<f64>) -> Matrix6<f64> {
    let eigen = SymmetricEigen::new(*gram);
    let limit = RANK * eigen.eigenvalues.max();
    let inverses = eigen.eigenvalues.map(|value| if value > limit { 1.0 / value } else { 0.0 });
    eigen.eigenvectors * Matrix6::from_diagonal(&inverses) * eigen.eigenvectors.transpose()
}

/// The rows of all parts on a device.
pub struct PartLists {
    size: usize,
    rigid: Vector6<f64>,
    members: Members,
    frames: Vec<[f64; 4]>,
    chunk_part: Vec<u32>,
    device: [Buffer<u32>; 2],
    device_frames: Buffer<[f64; 4]>,
}

impl PartLists {
    /// Of rows with `size` components at `coords [n_rows]`; `rigid` is 1 for each motion that costs no energy.
    pub fn new(space: &Space, size: usize, rigid: [f64; 6], members: Members, coords: &[[f64; 3]]) -> Result<Self> {
        let (mut rows, mut chunk_part) = (Vec::with_capacity(members.rows.len()), Vec::new());
        for part in 0..members.n_parts() {
            for chunk in members.of(part).chunks(CHUNK) {
                rows.extend_from_slice(chunk);
                rows.resize(rows.len().next_multiple_of(CHUNK), NO_ROW);
                chunk_part.push(part as u32);
            }
        }
        let frames = frames(space, &members, coords)?;
        let device = [space.upload_vec(rows)?, space.upload(&chunk_part)?];
        let device_frames = space.upload(&frames)?;
        Ok(PartLists { size, rigid: rigid.into(), members, frames, chunk_part, device, device_frames })
    }

    /// The rigid motions that component `i` at a place sees: one row of R. Those that cost energy are 0.
    pub fn row(&self, i: usize, y: [f64; 3]) -> Vector6<f64> {
        motion_row(self.size, i, y).component_mul(&self.rigid)
    }

    /// From now on every motion costs energy, as where a mass is added to K.
    pub fn hold_motions(&mut self) {
        self.rigid = Vector6::zeros();
    }

    /// How many parts there are.
    pub fn n_parts(&self) -> usize {
        self.frames.len()
    }

    /// The rows of each part.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Centre and 1 / length of each part.
    pub fn frames(&self) -> &[[f64; 4]] {
        &self.frames
    }

    /// `x . y` of each part, `[n_parts]`.
    pub fn dot<T: Real>(&self, space: &Space, x: &Buffer<T>, y: &Buffer<T>) -> Result<Vec<f64>> {
        let mut sums = space.zeros(self.chunk_part.len())?;
        let kernel = PartDot { list: self.list(), x: x.view(), y: y.view(), sums: sums.view_mut() };
        // SAFETY: all live; the lists name rows of x and y, and there is a sum for each chunk.
        unsafe { space.run(self.chunk_part.len(), kernel) }?;
        let mut totals = vec![0.0; self.n_parts()];
        for (part, sum) in self.chunk_part.iter().zip(space.take(sums)?) {
            totals[*part as usize] += sum;
        }
        space.add_ranks(&mut totals)?;
        Ok(totals)
    }

    /// `R^T v` of each part, R its rigid motions.
    pub fn moments<T: Real>(
        &self,
        space: &Space,
        coords: &Buffer<[f64; 3]>,
        v: &Buffer<T>,
    ) -> Result<Vec<Vector6<f64>>> {
        let mut sums = space.zeros::<[f64; N_MOTIONS]>(self.chunk_part.len())?;
        let kernel =
            PartMoments { list: self.list(), frames: self.device_frames(coords), v: v.view(), sums: sums.view_mut() };
        // SAFETY: as above; a frame for each part, coordinates for each row.
        unsafe { space.run(self.chunk_part.len(), kernel) }?;
        let mut totals = vec![[0.0; N_MOTIONS]; self.n_parts()];
        for (part, sum) in self.chunk_part.iter().zip(space.take(sums)?) {
            totals[*part as usize].iter_mut().zip(sum).for_each(|(total, sum)| *total += sum);
        }
        space.add_ranks(totals.as_flattened_mut())?;
        Ok(totals.into_iter().map(Vector6::from).collect())
    }

    /// Rigid motion `motion` of some parts, 0 elsewhere and where a bit of `fixed` is set.
    pub fn motion<T: Real>(
        &self,
        space: &Space,
        coords: &Buffer<[f64; 3]>,
        motion: usize,
        parts: &[usize],
        fixed: &Buffer<u8>,
    ) -> Result<Buffer<T>> {
        let mut chosen = vec![0; self.n_parts()];
        parts.iter().for_each(|part| chosen[*part] = 1);
        let (chosen, mut v) = (space.upload(&chosen)?, space.zeros(self.size * fixed.len())?);
        let (list, frames, chosen, fixed) = (self.list(), self.device_frames(coords), chosen.view(), fixed.view());
        // SAFETY: all live until `finish`; no row is in two of the parts.
        unsafe {
            space.run(self.chunk_part.len(), PartMotion { list, frames, motion, chosen, fixed, v: v.view_mut() })
        }?;
        space.finish()?;
        Ok(v)
    }

    /// Of each part the largest `|v - before|` of a row, relative to its largest deformation: that of w with the best
    /// rigid motion taken off.
    pub fn largest_change<T: Real>(
        &self,
        space: &Space,
        v: &Buffer<T>,
        before: &Buffer<T>,
        w: &Buffer<T>,
        (coords, on_host): (&Buffer<[f64; 3]>, &[[f64; 3]]),
    ) -> Result<Vec<f64>> {
        let moments = self.moments(space, coords, w)?;
        let grams = self.grams(space, on_host)?;
        let fit = |part: usize| <[f64; N_MOTIONS]>::from(pseudo_inverse(&grams[part]) * moments[part]);
        let motions = space.upload(&(0..self.n_parts()).map(fit).collect::<Vec<_>>())?;
        let mut largest = space.zeros::<[f64; 2]>(self.chunk_part.len())?;
        let kernel = PartLargest {
            list: self.list(),
            frames: self.device_frames(coords),
            motions: motions.view(),
            v: v.view(),
            before: before.view(),
            w: w.view(),
            largest: largest.view_mut(),
        };
        // SAFETY: as above; a motion for each part.
        unsafe { space.run(self.chunk_part.len(), kernel) }?;
        let mut most = vec![[0.0_f64; 2]; self.n_parts()];
        for (part, found) in self.chunk_part.iter().zip(space.take(largest)?) {
            let most = &mut most[*part as usize];
            *most = [most[0].max(found[0]), most[1].max(found[1])];
        }
        space.largest_of_ranks(most.as_flattened_mut())?;
        let relative =
            |[change, deformation]: [f64; 2]| if change == 0.0 { 0.0 } else { (change / deformation).sqrt() };
        Ok(most.into_iter().map(relative).collect())
    }

    /// `R^T R` of each part: a row of R is linear in `(1, y)`, so the sum of `(1, y) (1, y)^T` over the part is enough.
    fn grams(&self, space: &Space, coords: &[[f64; 3]]) -> Result<Vec<Matrix6<f64>>> {
        let moments = (0..self.n_parts()).map(|part| <[[f64; 4]; 4]>::from(self.place_moments(part, coords)));
        let mut moments: Vec<[[f64; 4]; 4]> = moments.collect();
        space.add_ranks(moments.as_flattened_mut().as_flattened_mut())?;
        let of_part = |moments: [[f64; 4]; 4]| -> Matrix6<f64> {
            let of_component = |i: usize| {
                let at_centre = self.row(i, [0.0; 3]);
                let along = |c: usize| self.row(i, core::array::from_fn(|k| f64::from(u8::from(k == c)))) - at_centre;
                let rows = Matrix6x4::from_columns(&[at_centre, along(0), along(1), along(2)]);
                rows * Matrix4::from(moments) * rows.transpose()
            };
            (0..self.size).map(of_component).sum()
        };
        Ok(moments.into_iter().map(of_part).collect())
    }

    /// The sum of `(1, y) (1, y)^T` over the rows of a part here.
    fn place_moments(&self, part: usize, coords: &[[f64; 3]]) -> Matrix4<f64> {
        let frame = self.frames[part];
        let of_rows = |rows: &[u32]| {
            let place = |row: &u32| {
                let [x, y, z] = about_centre(coords[*row as usize], frame);
                Vector4::new(1.0, x, y, z)
            };
            rows.iter().map(place).map(|y| y * y.transpose()).sum::<Matrix4<f64>>()
        };
        let sums: Vec<Matrix4<f64>> = parallel::map(self.members.of(part).chunks(PART), &of_rows);
        sums.iter().sum()
    }

    fn list(&self) -> PartRows {
        let [rows, part] = &self.device;
        PartRows { rows: rows.view(), part: part.view(), size: self.size }
    }

    fn device_frames(&self, coords: &Buffer<[f64; 3]>) -> Frames {
        Frames { coords: coords.view(), frames: self.device_frames.view() }
    }
}
