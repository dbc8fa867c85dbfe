//! `warpfem mesh box`.

use super::memory;
use super::print::{self, count};
use clap::builder::PossibleValuesParser;
use std::io::Write;
use std::path::PathBuf;
use warpfem::element::ElementKind;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::write::{Form, to_bytes};
use warpfem::model::options::box_elements;
use warpfem::output;

/// Shapes that can be generated.
#[derive(Debug, clap::Subcommand)]
pub enum Kind {
    /// A box from the origin, with the groups body and xmin to zmax.
    Box(BoxArguments),
}

/// A box of tetrahedra or hexahedra.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: warpfem mesh box --element hex8 --size 16 2 2 --cells 64 8 8 -o cantilever.msh")]
pub struct BoxArguments {
    /// tet4 (six per cell) or hex8.
    #[arg(long, default_value = "tet4", value_parser = PossibleValuesParser::new(box_elements()))]
    element: String,
    /// Edge lengths.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = [1.0, 1.0, 1.0], value_parser = length,
        allow_negative_numbers = true)]
    size: Vec<f64>,
    /// Cells along each edge.
    #[arg(long, num_args = 3, value_names = ["NX", "NY", "NZ"], default_values_t = [10, 10, 10], allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    cells: Vec<u32>,
    /// Write text instead of binary.
    #[arg(long)]
    ascii: bool,
    /// The file to write (MSH 4.1).
    #[arg(short, long, value_name = "FILE.msh")]
    output: PathBuf,
}

/// The element of this name, which the command line has checked.
pub fn element(name: &str) -> ElementKind {
    ElementKind::from_name(name).unwrap_or(ElementKind::Tet4)
}

fn length(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(length) if length > 0.0 && length.is_finite() => Ok(length),
        _ => Err("expected a length greater than 0".into()),
    }
}

/// Runs the command.
pub fn run(kind: &Kind) -> anyhow::Result<()> {
    let Kind::Box(arguments) = kind;
    let three = |i: usize| (arguments.size[i], arguments.cells[i] as usize);
    let [x, y, z] = [three(0), three(1), three(2)];
    let element = element(&arguments.element);
    memory::check_box(element, [x.1, y.1, z.1], memory::Use::File)?;
    let mesh = generate_box(element, [x.0, y.0, z.0], [x.1, y.1, z.1]).map_err(warpfem::Error::from)?;
    let form = if arguments.ascii { Form::Ascii } else { Form::Binary };
    output::write_file(&arguments.output, |file| file.write_all(&to_bytes(&mesh, form)))?;
    let elements = mesh.solids().map(|(_, cells)| cells.len()).sum();
    let path = arguments.output.display();
    print::text(&format!("wrote {path}: {} nodes, {} elements\n", count(mesh.coords.len()), count(elements)))
}
