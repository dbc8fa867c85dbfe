//! What is measured on: a mesh, a case, or a box or rectangle of cells made on the spot.

use super::Common;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};
use warpfem::Result;
use warpfem::cli::{read_model, usage};
use warpfem::element::ElementKind;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::mesh::{Mesh, generate};
use warpfem::model::{Analysis, Case, Model};
use warpfem::plan::fits;

/// Where the mesh comes from.
#[derive(Debug, clap::Args)]
pub struct Problem {
    /// A case (.toml) or a mesh (.msh), instead of cells made on the spot.
    #[arg(value_name = "INPUT", value_parser = input, conflicts_with_all = ["element", "cells", "size"])]
    input: Option<PathBuf>,
    /// Element to fill a box (tet4, tet10, six per cell; hex8, hex20) or a rectangle (tri3, tri6, two per cell; quad4,
    /// quad8) with.
    #[arg(long, default_value = "tet4", value_parser = PossibleValuesParser::new(elements()))]
    element: String,
    /// Cells along each edge: 100, or 200x100x50 (200x100 for a rectangle).
    #[arg(long, default_value = "40", value_parser = cells, value_name = "N|NxMxK", allow_negative_numbers = true)]
    cells: Cells,
    /// Lengths of the edges: 1, or 16x2x2 [default: the longest 1, the cells as long as wide].
    #[arg(long, value_parser = lengths, value_name = "X|XxYxZ", allow_negative_numbers = true)]
    size: Option<Lengths>,
}

/// Most cells along an edge.
const MAX_CELLS: usize = 100_000;

fn elements() -> Vec<&'static str> {
    [3, 2].into_iter().flat_map(generate::kinds).map(|kind| kind.info().name).collect()
}

fn input(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if has_extension(&path, "toml") || has_extension(&path, "msh") {
        Ok(path)
    } else {
        Err("expected a case (.toml) or a mesh (.msh)".into())
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Cells along each edge; one number stands for all edges.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cells(Vec<usize>);

fn cells(text: &str) -> Result<Cells, String> {
    let number = |part: &str| part.parse().ok().filter(|n| (1..=MAX_CELLS).contains(n));
    match text.split('x').map(number).collect::<Option<Vec<usize>>>() {
        Some(numbers) if numbers.len() <= 3 => Ok(Cells(numbers)),
        _ => Err(format!("expected N, NxM or NxMxK, each from 1 to {MAX_CELLS}")),
    }
}

/// Lengths of edges; one number stands for all edges.
#[derive(Debug, Clone, PartialEq)]
struct Lengths(Vec<f64>);

fn lengths(text: &str) -> Result<Lengths, String> {
    let number = |part: &str| part.parse().ok().filter(|length: &f64| *length > 0.0 && length.is_finite());
    match text.split('x').map(number).collect::<Option<Vec<f64>>>() {
        Some(numbers) if numbers.len() <= 3 => Ok(Lengths(numbers)),
        _ => Err("expected X, XxY or XxYxZ, each longer than 0".into()),
    }
}

/// One number for each of `N` edges, from one for all or one for each.
fn along<const N: usize, X: Copy>(numbers: &[X], flag: &str, element: &str) -> anyhow::Result<[X; N]> {
    match *numbers {
        [one] => Ok([one; N]),
        _ => numbers.try_into().map_err(|_| {
            let given = numbers.len();
            usage(format!("`{flag}` has {given} numbers, and a mesh of {element} has cells along {N} edges"))
        }),
    }
}

/// Lengths that make every cell as long as it is wide; the longest is 1.
fn even_lengths<const N: usize>(cells: [usize; N]) -> [f64; N] {
    let most = cells.iter().copied().max().unwrap_or(1) as f64;
    cells.map(|n| n as f64 / most)
}

impl Problem {
    /// The element that the command line has checked.
    fn kind(&self) -> ElementKind {
        ElementKind::from_name(&self.element).unwrap_or(ElementKind::Tet4)
    }

    fn is_plane(&self) -> bool {
        self.kind().info().dim == 2
    }

    /// What reports call it: the file's name, or `tet4 cube 40`.
    pub fn name(&self) -> String {
        if let Some(path) = &self.input {
            return path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        let shape = match (self.is_plane(), self.cells.0.len() == 1) {
            (true, true) => "square",
            (true, false) => "rectangle",
            (false, true) => "cube",
            (false, false) => "box",
        };
        let cells: Vec<String> = self.cells.0.iter().map(usize::to_string).collect();
        let name = format!("{} {shape} {}", self.element, cells.join("x"));
        let Some(Lengths(lengths)) = &self.size else { return name };
        let lengths: Vec<String> = lengths.iter().map(f64::to_string).collect();
        format!("{name} of {}", lengths.join("x"))
    }

    /// Cells and lengths along the edges.
    fn edges<const N: usize>(&self) -> anyhow::Result<([usize; N], [f64; N])> {
        let cells = along(&self.cells.0, "--cells", &self.element)?;
        let lengths = match &self.size {
            Some(Lengths(lengths)) => along(lengths, "--size", &self.element)?,
            None => even_lengths(cells),
        };
        Ok((cells, lengths))
    }

    /// The mesh alone, if memory allows; what a matrix on it takes depends on the format.
    pub fn mesh(&self) -> anyhow::Result<Mesh> {
        let purpose = fits::Use::of(Analysis::Elasticity, false);
        let mesh = match &self.input {
            Some(path) if has_extension(path, "msh") => {
                fits::check_file(path)?;
                Mesh::read(path)?
            }
            Some(path) => {
                let case = Case::read(path)?;
                fits::check_case(&case, false)?;
                case.mesh()?
            }
            None if self.is_plane() => {
                let (cells, lengths) = self.edges()?;
                fits::check_box(self.kind(), cells, purpose)?;
                generate_rectangle(self.kind(), lengths, cells)?
            }
            None => {
                let (cells, lengths) = self.edges()?;
                fits::check_box(self.kind(), cells, purpose)?;
                generate_box(self.kind(), lengths, cells)?
            }
        };
        fits::check_mesh(&mesh, Analysis::Elasticity, false)?;
        Ok(mesh)
    }

    /// The model, if memory allows: the case's, or a steel box (in the plane a rectangle in plane stress) clamped at
    /// x = 0 under its own weight.
    pub fn model(&self, common: &Common) -> anyhow::Result<Model> {
        match &self.input {
            Some(path) if has_extension(path, "toml") => Ok(read_model(path, common.device)?.1),
            Some(path) => {
                let mesh = path.display();
                Err(usage(format!("{mesh} is a mesh without supports and loads: name a case (.toml) that uses it")))
            }
            None if self.is_plane() => self.clamped::<2>(common),
            None => self.clamped::<3>(common),
        }
    }

    fn clamped<const D: usize>(&self, common: &Common) -> anyhow::Result<Model> {
        let (cells, lengths) = self.edges::<D>()?;
        let on_host = !common.is_gpu();
        fits::check_box(self.kind(), cells, fits::Use::of(Analysis::Elasticity, on_host))?;
        Ok(model("clamped.toml", &clamped(&self.element, cells, lengths))?)
    }
}

/// The model of a case text.
pub fn model(name: &str, text: &str) -> Result<Model> {
    let case = Case::parse(Path::new(name), text)?;
    Ok(Model::resolve(&case, case.mesh()?)?)
}

/// The case of a steel box or rectangle of these cells, clamped at x = 0, under its own weight.
pub fn clamped<const D: usize>(element: &str, cells: [usize; D], lengths: [f64; D]) -> String {
    let (shape, analysis, fix) = match D {
        2 => ("rectangle", "kind = \"plane_stress\"\n        thickness = 0.01", "xy"),
        _ => ("box", "kind = \"elasticity\"", "xyz"),
    };
    let mut weight = [0.0; D];
    weight[D - 1] = -9.81;
    format!(
        r#"
        [mesh]
        generate = {{ kind = "{shape}", element = "{element}", size = {lengths:?}, cells = {cells:?} }}
        [analysis]
        {analysis}
        [[material]]
        name = "steel"
        young = 200e9
        poisson = 0.3
        density = 7850.0
        [[support]]
        on = "xmin"
        fix = "{fix}"
        [gravity]
        acceleration = {weight:?}
        "#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_one_to_three_numbers() {
        assert_eq!(cells("40"), Ok(Cells(vec![40])));
        assert_eq!(cells("4x3x2"), Ok(Cells(vec![4, 3, 2])));
        for text in ["", "0", "-1", "4x", "x4", "4x0x1", "1x2x3x4", "1.5", "4 x 3", "1000000"] {
            assert!(cells(text).is_err(), "{text}");
        }
        assert_eq!(along(&[7], "--cells", "tet4").unwrap(), [7; 3]);
        assert_eq!(along(&[7, 5], "--cells", "tri3").unwrap(), [7, 5]);
        assert!(along::<3, usize>(&[7, 5], "--cells", "tet4").is_err());
    }

    #[test]
    fn lengths_are_positive() {
        assert_eq!(lengths("16x2x2"), Ok(Lengths(vec![16.0, 2.0, 2.0])));
        for text in ["", "0", "-1", "2x", "nan", "inf", "1x2x3x4"] {
            assert!(lengths(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_cube_of_cells_has_edges_of_length_1() {
        assert_eq!(even_lengths([40; 3]), [1.0; 3]);
        assert_eq!(even_lengths([4, 2]), [1.0, 0.5]);
    }
}
