//! `<case>.vtu`: VTK's unstructured grid, XML around raw appended binary.
//!
//! Points are all nodes and cells are all solids, both in the order of the mesh. Every array goes from where the solver
//! left it to the file: nothing of the mesh's size is copied. The offsets of the arrays in the XML come first in
//! the file but are known last, so the head is written twice, padded to the same length.
//!
//! The arrays lie in the reverse of the XML's order. meshio (5.3) takes the arrays as they lie and overwrites the offset
//! of each in the XML; then it looks for the next by the first tag with its offset, which may be one that it has
//! overwritten. In reverse, the tag that is meant always comes first.

mod array;
#[cfg(test)]
mod tests;

use std::io::{self, Seek, SeekFrom, Write};

use crate::mesh::{Group, Mesh};
use crate::output::field::check;
use crate::result::{At, Field, Quantity, Step, VECTOR};
use array::{Array, Piece, bytes};

/// Writes the fields of these `names`, as users write them, at nodes and cells of `mesh`; names of fields that the step does
/// not have are passed over. Field data `converged` is 0 or 1.
///
/// # Errors
///
/// Those of `out`, and `InvalidInput` where the lengths of `step` do not fit the mesh.
pub fn write<W: Write + Seek>(
    out: &mut W,
    mesh: &Mesh,
    step: &Step,
    names: &[String],
    converged: bool,
) -> io::Result<()> {
    check(step, mesh)?;
    let arrays = names.iter().filter_map(|name| field(mesh, step.field(name)?));
    File::new(mesh, arrays, Some(converged)).write(out)
}

/// Writes a mesh alone: its solids, and for each group an array with 1 in it and 0 elsewhere, at the cells for bodies and
/// else at the points.
///
/// # Errors
///
/// Those of `out`.
pub fn write_mesh<W: Write + Seek>(out: &mut W, mesh: &Mesh) -> io::Result<()> {
    let marks: Vec<Vec<Vec<u8>>> = mesh.groups.iter().map(|group| marks(mesh, group)).collect();
    let arrays = mesh.groups.iter().zip(&marks).map(|(group, marks)| {
        let section = if group.dim == mesh.dim() { "CellData" } else { "PointData" };
        Array::new(section, &group.name, "UInt8", 1, marks.iter().map(|list| bytes(list)).collect())
    });
    File::new(mesh, arrays, None).write(out)
}

/// Where a group is: of bodies a list for each block of solids, of others one of the nodes.
fn marks(mesh: &Mesh, group: &Group) -> Vec<Vec<u8>> {
    let marked = |n: usize, of: &[u32]| {
        let mut marks = vec![0; n];
        of.iter().for_each(|&i| marks[i as usize] = 1);
        marks
    };
    if group.dim != mesh.dim() {
        return vec![marked(mesh.coords.len(), &mesh.nodes_of(group))];
    }
    let members = |block: usize| group.members.iter().find(|(of, _)| *of == block).map_or(&[][..], |(_, cells)| cells);
    mesh.solids().map(|(block, cells)| marked(cells.len(), members(block))).collect()
}

const SECTIONS: [&str; 4] = ["Points", "Cells", "PointData", "CellData"];

/// The file, but for the offsets.
struct File<'a> {
    n_points: usize,
    n_cells: usize,
    converged: Option<bool>,
    arrays: Vec<Array<'a>>,
}

impl<'a> File<'a> {
    fn new(mesh: &'a Mesh, data: impl Iterator<Item = Array<'a>>, converged: Option<bool>) -> Self {
        let n_cells = mesh.n_solids();
        let mut arrays = vec![Array::new("Points", "Points", "Float64", 3, vec![bytes(&mesh.coords)])];
        arrays.extend(topology(mesh));
        arrays.extend(data);
        // Readers look for point data before cell data; the user's order holds within each.
        arrays.sort_by_key(|array| SECTIONS.iter().position(|section| *section == array.section));
        File { n_points: mesh.coords.len(), n_cells, converged, arrays }
    }

    fn write<W: Write + Seek>(&self, out: &mut W) -> io::Result<()> {
        let mut offsets = vec![0; self.arrays.len()];
        let start = out.stream_position()?;
        let head = self.head(&offsets);
        out.write_all(head.as_bytes())?;
        let data = start + head.len() as u64;
        for (array, offset) in self.arrays.iter().zip(&mut offsets).rev() {
            *offset = out.stream_position()? - data;
            array.write(out)?;
        }
        out.write_all(b"\n</AppendedData>\n</VTKFile>\n")?;
        out.seek(SeekFrom::Start(start))?;
        out.write_all(self.head(&offsets).as_bytes())?;
        out.seek(SeekFrom::End(0))?;
        out.flush()
    }

    /// Everything up to the underscore after which offsets count. The same length whatever the offsets.
    fn head(&self, offsets: &[u64]) -> String {
        let order = if cfg!(target_endian = "little") { "LittleEndian" } else { "BigEndian" };
        let mut head = format!(
            "<?xml version=\"1.0\"?>\n<!-- warpfem {} -->\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
             byte_order=\"{order}\" header_type=\"UInt64\">\n<UnstructuredGrid>\n",
            env!("CARGO_PKG_VERSION")
        );
        // Numbers only: meshio stops at field data of type String.
        if let Some(converged) = self.converged.map(i32::from) {
            head += "<FieldData>\n<DataArray type=\"Int32\" Name=\"converged\" NumberOfTuples=\"1\" format=\"ascii\">";
            head += &format!("{converged}</DataArray>\n</FieldData>\n");
        }
        head += &format!("<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", self.n_points, self.n_cells);
        for section in SECTIONS {
            head += &format!("<{section}>\n");
            for (array, offset) in self.arrays.iter().zip(offsets).filter(|(array, _)| array.section == section) {
                head += &array.tag(*offset);
            }
            head += &format!("</{section}>\n");
        }
        head + "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_"
    }
}

/// Connectivity, offsets and types of the solids. 32-bit where node indices and offsets fit; VTK wants both alike.
fn topology(mesh: &Mesh) -> [Array<'_>; 3] {
    let entries: usize = mesh.solids().map(|(_, cells)| cells.nodes.len()).sum();
    let wide = entries.max(mesh.coords.len()) > i32::MAX as usize;
    let integer = if wide { "Int64" } else { "Int32" };
    let (mut connectivity, mut ends, mut types) = (Vec::new(), Vec::new(), Vec::new());
    let mut first = 0;
    for (_, cells) in mesh.solids() {
        let info = cells.kind.info();
        let (nodes, order) = (cells.nodes.as_slice(), info.vtk_order);
        // A node index under 2^31 has the same bits as an Int32.
        let as_they_are = order.is_empty() && !wide;
        connectivity.push(if as_they_are { bytes(nodes) } else { Piece::Nodes { nodes, order, wide } });
        ends.push(Piece::Ramp { first: first + info.n_nodes, step: info.n_nodes, count: cells.len(), wide });
        types.push(Piece::Constant { value: info.vtk, count: cells.len() });
        first += cells.nodes.len();
    }
    [
        Array::new("Cells", "connectivity", integer, 1, connectivity),
        Array::new("Cells", "offsets", integer, 1, ends),
        Array::new("Cells", "types", "UInt8", 1, types),
    ]
}

/// A field at nodes or cells.
fn field<'a>(mesh: &Mesh, Field { info, values }: &'a Field) -> Option<Array<'a>> {
    let is_index = info.unit == Quantity::Index;
    let piece = |values: &'a Vec<f64>| if is_index { Piece::Indices(values) } else { bytes(values) };
    let (section, pieces) = match info.at {
        At::Node => ("PointData", values.iter().map(piece).collect()),
        At::Cell => ("CellData", mesh.solids().map(|(block, _)| piece(&values[block])).collect()),
        At::CellPoint => return None,
    };
    // Readers name the components of a vector themselves.
    let component_names = if info.components == VECTOR { &[] } else { info.components };
    // Every reader has Int32; an index of a material is far below 2^31.
    let item = if is_index { "Int32" } else { "Float64" };
    Some(Array { component_names, ..Array::new(section, info.name, item, info.width(), pieces) })
}
