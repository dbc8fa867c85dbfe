//! Values at scattered points, from a CSV file, and between them.
//!
//! At a place the value is that of the linear function that fits the nearest points best, weighted by the inverse square of
//! their distance (moving least squares, Lancaster and Salkauskas 1981): linear fields are exact, and so is every point of
//! the file. It leaves the range of these points by at most half of that.

pub mod nearest;
mod table;

use std::path::Path;

use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use toml::Spanned;

use self::nearest::Tree;
use super::Checked;
use super::case::Case;
use crate::mesh::vector::{norm, sub};
use warpfem_text::{files, vector};

/// Points that a fit takes.
const TAKEN: usize = 12;
/// A point as near as this part of the extent of all is the place itself.
const SAME: f64 = 1e-9;
/// Eigenvalues of a fit below this part of the largest are zero: its points lie in a plane, in a line or together.
const RANK: f64 = 1e-8;
/// Points as far outside of the mesh's box as this part of its diagonal are of another body.
const ELSEWHERE: f64 = 0.1;

/// Points and their values.
#[derive(Debug)]
pub struct Scattered {
    tree: Tree,
    values: Vec<f64>,
    /// Distance below which a point is the place itself.
    same: f64,
}

/// Whether points between these lie far from a body between those.
pub fn are_elsewhere((first, last): ([f64; 3], [f64; 3]), (low, high): ([f64; 3], [f64; 3])) -> bool {
    let gap = norm([0, 1, 2].map(|c| (first[c] - high[c]).max(low[c] - last[c]).max(0.0)));
    gap > ELSEWHERE * norm(sub(high, low))
}

/// Reads the points of the file that a case names, and the values of each; `words` are headers of their columns.
///
/// # Errors
///
/// A file that cannot be read, has no such columns, or points far from the mesh's box.
pub fn read<const N: usize>(
    case: &Case,
    file: &Spanned<String>,
    words: [&[&str]; N],
    (low, high): ([f64; 3], [f64; 3]),
) -> Checked<(Tree, Vec<[f64; N]>)> {
    let path = case.path.parent().unwrap_or(Path::new("")).join(file.get_ref());
    let wrong = |message: String, help: String| Err(case.error_at(file.span(), message, help));
    if let Some(ending @ ("vtu" | "frd" | "toml")) = path.extension().and_then(|ending| ending.to_str()) {
        let form = table::form(words);
        let earlier = if N == 1 { ", as CASE_nodes.csv of an earlier result has" } else { "" };
        let help = format!("a CSV file has lines of {form}{earlier}");
        return wrong(format!("files of type .{ending} are not read here"), help);
    }
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("cannot read {}: {}", path.display(), files::reason(&path, &error));
            return wrong(message, files::instead(&path, "csv", "CSV files"));
        }
    };
    let plane_z = (case.dim() == Some(2)).then_some(low[2]);
    let (points, values) = match table::parse(&text, words, plane_z) {
        Ok(rows) => rows,
        Err(why) => {
            let help = format!("a line of {} for each point", table::form(words));
            return wrong(format!("{}: {why}", path.display()), help);
        }
    };
    let tree = Tree::new(points);
    let (first, last) = tree.extent();
    if are_elsewhere((first, last), (low, high)) {
        let message = format!("the points of {} are far from the body", path.display());
        let [low, high, first, last] = [low, high, first, last].map(vector);
        let help = format!("they reach from {first} to {last}, the mesh from {low} to {high}: the same unit?");
        return wrong(message, help);
    }
    Ok((tree, values))
}

impl Scattered {
    /// Reads the file that a case names; `words` are headers of the column of values.
    ///
    /// # Errors
    ///
    /// As of [`read`].
    pub fn read(
        case: &Case,
        file: &Spanned<String>,
        words: &[&str],
        extent: ([f64; 3], [f64; 3]),
    ) -> Checked<Scattered> {
        let (tree, values) = read(case, file, [words], extent)?;
        Ok(Scattered::new(tree, values.into_iter().flatten().collect()))
    }

    /// Of points and the value of each.
    pub fn new(tree: Tree, values: Vec<f64>) -> Scattered {
        let (low, high) = tree.extent();
        Scattered { same: SAME * norm(sub(high, low)), tree, values }
    }

    /// The value at a place.
    pub fn at(&self, place: [f64; 3]) -> f64 {
        let near = self.tree.nearest(place, TAKEN);
        let closest = near[0];
        if closest.0 <= self.same || near.len() == 1 {
            return self.values[closest.1];
        }
        // About the weighted mean, so that directions in which the points do not differ have no slope.
        let weight = |distance: f64| (closest.0 / distance).powi(2);
        let place = Vector3::from(place);
        let of = |point: usize| (Vector3::from(self.tree.points()[point]) - place, self.values[point]);
        let (mut whole, mut middle, mut mean) = (0.0, Vector3::zeros(), 0.0);
        for &(distance, point) in &near {
            let (weight, (x, value)) = (weight(distance), of(point));
            (whole, middle, mean) = (whole + weight, middle + weight * x, mean + weight * value);
        }
        (middle, mean) = (middle / whole, mean / whole);
        let (mut gram, mut moments) = (Matrix3::zeros(), Vector3::zeros());
        for &(distance, point) in &near {
            let (x, value) = of(point);
            gram += weight(distance) * (x - middle) * (x - middle).transpose();
            moments += weight(distance) * (value - mean) * (x - middle);
        }
        let eigen = SymmetricEigen::new(gram);
        let limit = RANK * eigen.eigenvalues.max();
        let inverses = eigen.eigenvalues.map(|value| if value > limit { 1.0 / value } else { 0.0 });
        let slope = eigen.eigenvectors * inverses.component_mul(&(eigen.eigenvectors.transpose() * moments));
        let value = mean - slope.dot(&middle);
        let taken = || near.iter().map(|&(_, point)| self.values[point]);
        let (least, most) = (taken().fold(f64::INFINITY, f64::min), taken().fold(f64::NEG_INFINITY, f64::max));
        let slack = 0.5 * (most - least);
        value.clamp(least - slack, most + slack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::generate_box;

    #[test]
    fn linear_fields_and_the_points_themselves_are_exact() {
        let linear = |[x, y, z]: [f64; 3]| 3.0 + 2.0 * x - y + 0.5 * z;
        let points = generate_box(crate::element::ElementKind::Hex8, [1.0, 2.0, 3.0], [5, 4, 6]).unwrap().coords;
        let of = |f: &dyn Fn([f64; 3]) -> f64| {
            Scattered::new(Tree::new(points.clone()), points.iter().map(|&x| f(x)).collect())
        };
        let bent = |[x, y, z]: [f64; 3]| x * y + z * z;
        for at in [[0.3, 1.1, 2.2], [0.0, 0.0, 0.0], [0.71, 1.9, 0.01], [1.02, 2.02, 3.02]] {
            assert!((of(&linear).at(at) - linear(at)).abs() < 1e-9, "{at:?}");
            assert!((of(&bent).at(at) - bent(at)).abs() < 0.2, "{at:?}");
        }
        points.iter().for_each(|&x| assert_eq!(of(&bent).at(x), bent(x)));
    }

    #[test]
    fn points_in_a_line_make_a_field_along_it() {
        let points: Vec<[f64; 3]> = (0..5).map(|i| [0.0, 0.25 * f64::from(i), 0.0]).collect();
        let of = Scattered::new(Tree::new(points.clone()), points.iter().map(|x| 100.0 * x[1]).collect());
        for at in [[0.0, 0.4, 0.0], [0.2, 0.4, -0.1]] {
            assert!((of.at(at) - 40.0).abs() < 0.5, "{}", of.at(at));
        }
        assert_eq!(Scattered::new(Tree::new(vec![[1.0; 3]]), vec![7.0]).at([2.0; 3]), 7.0);
    }
}
