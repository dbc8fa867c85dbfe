//! `warpfem mesh box`, `warpfem mesh rectangle` and `warpfem mesh annulus`.

use super::print::{self, count};
use crate::element::ElementKind;
use crate::mesh::Mesh;
use crate::mesh::annulus::generate_annulus;
use crate::mesh::generate::{self, generate_box};
use crate::mesh::rectangle::{Diagonals, generate_cut_rectangle};
use crate::mesh::write::{Form, to_bytes};
use crate::output;
use crate::plan::fits;
use clap::builder::PossibleValuesParser;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Shapes that can be generated.
#[derive(Debug, clap::Subcommand)]
pub enum Kind {
    /// A box from the origin, with the groups body and xmin to zmax.
    Box(BoxArguments),
    /// A rectangle from the origin in the plane z = 0, with the groups body and xmin to ymax.
    Rectangle(RectangleArguments),
    /// A ring round the origin in the plane z = 0, with the groups body, inner and outer.
    Annulus(AnnulusArguments),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: warpfem mesh box --element hex8 --size 16 2 2 --cells 64 8 8 -o cantilever.msh")]
pub struct BoxArguments {
    /// tet4, tet10, pyramid5 or pyramid13 (six per cell), wedge6 or wedge15 (two), hex8, hex8i, hex20 or hex20r.
    #[arg(long, default_value = "tet4", value_parser = names(3))]
    element: String,
    /// Edge lengths.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = [1.0, 1.0, 1.0], value_parser = length,
        allow_negative_numbers = true)]
    size: Vec<f64>,
    /// Cells along each edge.
    #[arg(long, num_args = 3, value_names = ["NX", "NY", "NZ"], default_values_t = [10, 10, 10], allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    cells: Vec<u32>,
    #[command(flatten)]
    file: File,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: warpfem mesh rectangle --element quad8 --size 4 1 --cells 40 10 -o strip.msh")]
pub struct RectangleArguments {
    /// tri3 or tri6 (two per cell), quad4, quad8 or quad8r.
    #[arg(long, default_value = "quad4", value_parser = names(2))]
    element: String,
    /// Edge lengths.
    #[arg(long, num_args = 2, value_names = ["X", "Y"], default_values_t = [1.0, 1.0], value_parser = length,
        allow_negative_numbers = true)]
    size: Vec<f64>,
    /// Cells along each edge.
    #[arg(long, num_args = 2, value_names = ["NX", "NY"], default_values_t = [10, 10], allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    cells: Vec<u32>,
    /// Which way cells are cut into triangles: up (to the right) or down.
    #[arg(long, default_value = Diagonals::NAMES[0], value_parser = PossibleValuesParser::new(Diagonals::NAMES))]
    diagonals: String,
    #[command(flatten)]
    file: File,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: warpfem mesh annulus --element tri6 --radii 1 2 --cells 8 48 -o ring.msh")]
pub struct AnnulusArguments {
    /// tri3 or tri6 (two per cell), quad4, quad8 or quad8r.
    #[arg(long, default_value = "quad4", value_parser = names(2))]
    element: String,
    /// Inner and outer radius.
    #[arg(long, num_args = 2, value_names = ["INNER", "OUTER"], default_values_t = [1.0, 2.0], value_parser = length,
        allow_negative_numbers = true)]
    radii: Vec<f64>,
    /// Cells along the radius and around.
    #[arg(long, num_args = 2, value_names = ["RADIAL", "AROUND"], default_values_t = [8, 48], allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    cells: Vec<u32>,
    #[command(flatten)]
    file: File,
}

/// Where the mesh goes and how.
#[derive(Debug, clap::Args)]
struct File {
    /// Write text instead of binary.
    #[arg(long)]
    ascii: bool,
    /// The file to write (MSH 4.1).
    #[arg(short, long, value_name = "FILE.msh")]
    output: PathBuf,
}

/// The elements of a dimension.
fn names(dim: usize) -> PossibleValuesParser {
    PossibleValuesParser::new(generate::kinds(dim).into_iter().map(|kind| kind.info().name))
}

pub(super) fn length(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(length) if length > 0.0 && length.is_finite() => Ok(length),
        _ => Err("expected a length greater than 0".into()),
    }
}

/// The first `N` of some values as an array; the command line has checked that there are as many.
fn along<const N: usize, T: Copy>(values: &[T]) -> [T; N] {
    std::array::from_fn(|i| values[i])
}

/// The element and the cells, of which as many as in a `boxed` lattice fit.
fn lattice<const N: usize>(
    element: &str,
    cells: &[u32],
    boxed: fn([usize; N]) -> [usize; N],
) -> anyhow::Result<(ElementKind, [usize; N])> {
    // The command line has checked the name.
    let kind = ElementKind::from_name(element).unwrap_or(ElementKind::Tet4);
    let cells = along(cells).map(|n: u32| n as usize);
    fits::check_box(kind, boxed(cells), fits::Use::File)?;
    Ok((kind, cells))
}

pub fn run(kind: &Kind) -> anyhow::Result<()> {
    let (mesh, file) = match kind {
        Kind::Box(BoxArguments { element, size, cells, file }) => {
            let (kind, cells) = lattice::<3>(element, cells, |cells| cells)?;
            (generate_box(kind, along(size), cells), file)
        }
        Kind::Rectangle(RectangleArguments { element, size, cells, diagonals, file }) => {
            let (kind, cells) = lattice::<2>(element, cells, |cells| cells)?;
            let diagonals = Diagonals::from_name(diagonals).unwrap_or_default();
            (generate_cut_rectangle(kind, along(size), cells, diagonals), file)
        }
        Kind::Annulus(AnnulusArguments { element, radii, cells, file }) => {
            let (kind, cells) = lattice::<2>(element, cells, fits::ring)?;
            (generate_annulus(kind, along(radii), cells), file)
        }
    };
    let mesh = mesh?;
    let form = if file.ascii { Form::Ascii } else { Form::Binary };
    output::write_file(&file.output, |out| out.write_all(&to_bytes(&mesh, form)))?;
    print::text(&wrote(&file.output, &mesh))
}

/// The line that says what has been written.
pub(super) fn wrote(path: &Path, mesh: &Mesh) -> String {
    let elements = mesh.n_solids();
    format!("wrote {}: {} nodes, {} elements\n", path.display(), count(mesh.coords.len()), count(elements))
}
