//! Free rigid motions in words.

use crate::mesh::vector::{cross, dot, unit};
use nalgebra::Vector6;

use warpfem_text::{number, point};

/// A direction counts as a coordinate axis when its other components are below this.
const AXIS_TOLERANCE: f64 = 1e-3;
/// Components below this, of motions of size 1, are rounding.
const ROUNDING: f64 = 1e-6;

/// One rigid motion.
#[derive(Debug, Clone, PartialEq)]
pub enum Motion {
    /// A shift.
    Translation {
        /// Unit vector.
        along: [f64; 3],
    },
    /// A turn, possibly with a shift along its axis (a screw).
    Rotation {
        /// Unit vector.
        axis: [f64; 3],
        /// The point of the axis nearest to the middle of the part.
        through: [f64; 3],
        /// Shift along the axis per radian.
        pitch: f64,
    },
}

impl Motion {
    /// In words, for a body in space or in the plane.
    pub fn in_words(&self, dim: usize) -> String {
        match *self {
            Motion::Translation { along } => format!("translation along {}", direction(along, dim)),
            Motion::Rotation { through, .. } if dim == 2 => format!("rotation about {}", point(through, dim)),
            Motion::Rotation { axis, through, pitch } => {
                let (parallel, through) = (direction(axis, dim), point(through, dim));
                let shift = match pitch == 0.0 {
                    true => String::new(),
                    false => format!(", with a shift of {} along it per radian", number(pitch, 4)),
                };
                format!("rotation about an axis parallel to {parallel} through {through}{shift}")
            }
        }
    }
}

/// `x`, `y`, `z` or the components.
fn direction(unit: [f64; 3], dim: usize) -> String {
    for (c, name) in ["x", "y", "z"].into_iter().enumerate() {
        if (0..3).all(|k| k == c || unit[k].abs() < AXIS_TOLERANCE) {
            return name.to_string();
        }
    }
    point(unit, dim)
}

/// Names a space of motions `(t, w)`: shifts `t`, turns `w` about `centre`, both in units where `size` is 1.
///
/// The space is brought to reduced echelon form, the turns first, so that what can be said with coordinate axes is.
pub(super) fn name(space: &[Vector6<f64>], centre: [f64; 3], size: f64) -> Vec<Motion> {
    let mut rows = space.to_vec();
    let turns = eliminate(&mut rows, 0, 3..6);
    let total = eliminate(&mut rows, turns, 0..3);
    let leading = |row: &Vector6<f64>, part: std::ops::Range<usize>| {
        part.max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs()).then(b.cmp(&a)))
    };
    rows[..turns].sort_by_key(|row| leading(row, 3..6));
    rows[turns..total].sort_by_key(|row| leading(row, 0..3));
    let shifts = rows[turns..total].iter().map(|row| Motion::Translation { along: unit([row[0], row[1], row[2]]) });
    shifts.chain(rows[..turns].iter().map(|row| rotation(row, centre, size))).collect()
}

/// Gauss-Jordan elimination of rows `first..` with full pivoting over some columns; returns the rows used so far.
fn eliminate(rows: &mut [Vector6<f64>], first: usize, columns: std::ops::Range<usize>) -> usize {
    let mut done = first;
    while done < rows.len() {
        let candidates = (done..rows.len()).flat_map(|r| columns.clone().map(move |c| (r, c)));
        let size = |&(r, c): &(usize, usize)| rows[r][c].abs();
        let Some((r, c)) = candidates.max_by(|a, b| size(a).total_cmp(&size(b))) else { break };
        if size(&(r, c)) < ROUNDING {
            break;
        }
        rows.swap(done, r);
        let pivot = rows[done] / rows[done][c];
        rows[done] = pivot;
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != done) {
            let factor = row[c];
            *row -= pivot * factor;
        }
        done += 1;
    }
    done
}

/// The screw `t + w x r` as an axis, a point of it and a pitch.
fn rotation(row: &Vector6<f64>, centre: [f64; 3], size: f64) -> Motion {
    let w = [row[3], row[4], row[5]];
    let t = [row[0], row[1], row[2]];
    let w2 = dot(w, w);
    // The points with t + w x r parallel to w; the nearest to r = 0 is w x t / w.w.
    let foot = cross(w, t);
    let snap = |v: f64| if v.abs() < ROUNDING { 0.0 } else { v };
    let through = [0, 1, 2].map(|c| size * snap(centre[c] / size + snap(foot[c] / w2)));
    Motion::Rotation { axis: unit(w), through, pitch: size * snap(dot(t, w) / w2) }
}
