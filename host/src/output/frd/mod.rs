//! `<case>.frd`: the result file of CalculiX, for its viewer and for others that read it.
//!
//! The file has the nodes and elements by their tags, then a block for each field at the nodes of each step. Numbers are
//! of single precision. FRD has no pyramids: they are hexahedra whose upper nodes are one.
//!
//! Format: CalculiX GraphiX manual, "Result Format".

mod elements;
mod number;
#[cfg(test)]
mod tests;

use std::f64::consts::TAU;
use std::io::{self, Write};

use super::field::check;
use super::rows;
use crate::mesh::Mesh;
use crate::mesh::write::Form;
use crate::result::{At, Field, FieldInfo, Moment, Quantity, Step, Study, TENSOR, VECTOR};

/// Fields that CalculiX has: our name, its name, and what the names of components begin with.
const KNOWN: [(&str, &str, &str); 8] = [
    ("displacement", "DISP", "D"),
    ("stress_nodal", "STRESS", "S"),
    ("strain_nodal", "TOSTRAIN", "E"),
    ("nodal_force", "FORC", "F"),
    ("reaction_force", "FORC", "F"),
    ("potential", "NDTEMP", "T"),
    ("temperature", "NDTEMP", "T"),
    ("heat_flux_nodal", "FLUX", "F"),
];
/// The components of a tensor and their indices; the order is ours too.
const SHEARS_LAST: [(&str, [usize; 2]); 6] =
    [("XX", [1, 1]), ("YY", [2, 2]), ("ZZ", [3, 3]), ("XY", [1, 2]), ("YZ", [2, 3]), ("ZX", [3, 1])];

/// Writes steps of a mesh: of their fields those of these `names` at the nodes, but for what readers compute from the stress.
///
/// # Errors
///
/// Those of `out`, and `InvalidInput` where the lengths of a step do not fit the mesh.
pub fn write<'s, W: Write>(
    out: &mut W,
    mesh: &Mesh,
    steps: impl IntoIterator<Item = &'s Step>,
    names: &[String],
    form: Form,
) -> io::Result<()> {
    let mut file = Frd::begin(out, mesh, names, form)?;
    steps.into_iter().try_for_each(|step| file.add(out, step))?;
    end(out)
}

/// Writes the last line.
pub(super) fn end<W: Write>(out: &mut W) -> io::Result<()> {
    out.write_all(b" 9999\n")?;
    out.flush()
}

/// A file whose steps come one by one.
pub(super) struct Frd<'a> {
    mesh: &'a Mesh,
    names: &'a [String],
    form: Form,
    node_tags: Vec<u64>,
    n_steps: usize,
    n_blocks: usize,
}

impl<'a> Frd<'a> {
    /// Writes the head, the nodes and the elements.
    pub fn begin<W: Write>(out: &mut W, mesh: &'a Mesh, names: &'a [String], form: Form) -> io::Result<Frd<'a>> {
        let node_tags = elements::tags(mesh.node_tags.iter());
        let file = Frd { mesh, names, form, node_tags, n_steps: 0, n_blocks: 0 };
        let version = env!("CARGO_PKG_VERSION");
        // The format of coordinates in binary files is of double precision.
        let format = if form == Form::Ascii { 1 } else { 3 };
        let n = mesh.coords.len();
        write!(
            out,
            "    1C\n    1UPGM               warpfem\n    1UVERSION           Version {version}\n    2C{n:>30}{format:>38}\n"
        )?;
        rows::write(out, n, |node, text| {
            let (tag, x) = (file.node_tags[node], mesh.coords[node]);
            match form {
                Form::Ascii => file.text_row(text, tag, x),
                Form::Binary => {
                    binary_integer(text, tag);
                    x.iter().for_each(|c| text.extend_from_slice(&c.to_le_bytes()));
                }
            }
            Ok(())
        })?;
        file.end_block(out)?;
        elements::write(out, mesh, &file.node_tags, form)?;
        file.end_block(out)?;
        Ok(file)
    }

    /// Writes the blocks of the next step.
    pub fn add<W: Write>(&mut self, out: &mut W, step: &Step) -> io::Result<()> {
        check(step, self.mesh)?;
        self.n_steps += 1;
        // Forces of supports are among those of all.
        let has_all = self.names.iter().any(|name| name == "nodal_force");
        let names = self.names.iter().filter(|name| !has_all || *name != "reaction_force");
        let is_written =
            |field: &&Field| field.info.at == At::Node && !is_of_stress(field.info) && field.info.components.len() <= 6;
        let mut fields = names.filter_map(|name| step.field(name)).filter(is_written);
        fields.try_for_each(|field| {
            self.n_blocks += 1;
            self.block(out, step, field)
        })
    }

    fn block<W: Write>(&self, out: &mut W, step: &Step, field: &Field) -> io::Result<()> {
        let (n, format) = (self.mesh.coords.len(), if self.form == Form::Ascii { 1 } else { 2 });
        let is_case = step.study == Study::Static;
        // Readers take 0 for a state before the first step.
        let value = if step.value == 0.0 && is_case { self.n_steps as f64 } else { step.value };
        let is_mode = step.is_mode();
        let (kind, analysis) = match step.study {
            Study::Static | Study::Transient => (0, ""),
            _ if !is_mode => (1, ""),
            Study::Modal => (2, "MODAL"),
            Study::Buckling => (4, ""),
        };
        let label: String = step.label.chars().filter(char::is_ascii).take(20).collect();
        let (number, set) = (self.n_steps, 100 + self.n_steps);
        writeln!(out, "    1PSTEP{:>26}{:>12}{number:>12}", self.n_blocks, 1)?;
        if is_mode && step.study == Study::Modal {
            let (mass, stiffness) = (real(1.0), real((TAU * value).powi(2)));
            writeln!(out, "    1PGM{mass:>28}\n    1PGK{stiffness:>28}\n    1PMODE{number:>26}")?;
        }
        let value = real(value);
        writeln!(out, "  100CL{set:>5}{value}{n:>12}{label:<20}{kind:>2}{number:>5}{analysis:<10}{format:>2}")?;
        let info = field.info;
        out.write_all(header(info, step.moment).as_bytes())?;
        // Shears of a strain are the engineer's here, the tensor's there.
        let scale = |i: usize| if info.name == "strain_nodal" && i >= 3 { 0.5 } else { 1.0 };
        let (values, width) = (&field.values[0], info.width());
        rows::write(out, n, |node, text| {
            let row = values[node * width..(node + 1) * width].iter().enumerate().map(|(i, v)| scale(i) * v);
            let tag = self.node_tags[node];
            match self.form {
                Form::Ascii => self.text_row(text, tag, row),
                Form::Binary => {
                    binary_integer(text, tag);
                    row.for_each(|v| text.extend_from_slice(&(v as f32).to_le_bytes()));
                }
            }
            Ok(())
        })?;
        self.end_block(out)
    }

    fn text_row(&self, text: &mut Vec<u8>, tag: u64, values: impl IntoIterator<Item = f64>) {
        text.extend_from_slice(b" -1");
        integer(text, tag, 10);
        values.into_iter().for_each(|value| number::write(text, value));
        text.push(b'\n');
    }

    /// Binary blocks have no end.
    fn end_block<W: Write>(&self, out: &mut W) -> io::Result<()> {
        if self.form == Form::Ascii { out.write_all(b" -3\n") } else { Ok(()) }
    }
}

/// A number in 12 characters.
fn real(value: f64) -> String {
    let mut text = Vec::new();
    number::write(&mut text, value);
    String::from_utf8_lossy(&text).into_owned()
}

/// Whether readers compute it from the stress.
fn is_of_stress(info: &FieldInfo) -> bool {
    info.unit == Quantity::Stress && info.components != TENSOR
}

/// The lines that name a field and its components. What CalculiX does not have keeps its own name; `I` marks imaginary parts.
fn header(info: &FieldInfo, moment: Option<Moment>) -> String {
    let own = info.short_name().replace('_', "").to_uppercase();
    let known = KNOWN.iter().find(|(name, ..)| *name == info.name);
    let (name, prefix) = known.map_or((own.as_str(), &own[..1]), |(_, name, prefix)| (name, prefix));
    let mark = if moment == Some(Moment::Imaginary) { "I" } else { "" };
    let name: String = name.chars().chain(mark.chars()).take(8).collect();
    let component =
        |name: String, kind: usize, [i, j]: [usize; 2]| format!(" -5  {name:<8}    1{kind:>5}{i:>5}{j:>5}\n");
    let (n, components) = match info.components {
        TENSOR => (6, SHEARS_LAST.map(|(axes, at)| component(format!("{prefix}{axes}"), 4, at)).concat()),
        VECTOR => {
            let all = format!(" -5  ALL         1{:>5}    0    0    1ALL\n", 2);
            (4, [1, 2, 3].map(|i| component(format!("{prefix}{i}"), 2, [i, 0])).concat() + &all)
        }
        [] => (1, component(if known.is_some() { prefix.into() } else { name.clone() }, 1, [0, 0])),
        others => (others.len(), others.iter().map(|c| component(format!("{prefix}{c}"), 1, [0, 0])).collect()),
    };
    format!(" -4  {name:<8}{n:>5}    1\n{components}")
}

/// Appends a whole number at the right of a column.
fn integer(text: &mut Vec<u8>, mut value: u64, width: usize) {
    let start = text.len();
    text.resize(start + width, b' ');
    for digit in text[start..].iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
}

/// Appends a whole number of 4 bytes; tags are [that small](elements::tags).
fn binary_integer(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend_from_slice(&(value as u32).to_le_bytes());
}
