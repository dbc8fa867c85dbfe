//! `<case>_nodes.csv` and `<case>_elements.csv`: a line per node and per element, with its tag, its place and its results.
//!
//! The header has the unit of a column in brackets, if the case names its units. Coordinates are the shortest numbers that
//! read back to the same bits; results are rounded to single precision, which halves the files, as is done for pictures.
//! VTU and JSON have every digit. What is infinite is left empty.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

use super::field::{Field, Fields, Values};
use crate::mesh::{Mesh, middle};
use crate::model::{Quantity, Units};

/// Lines formatted by one task; some 2 MB of text.
const CHUNK: usize = 1 << 13;
/// Chunks held in memory before they are written.
const WINDOW: usize = 32;

/// Writes a line for every node, in the order of the mesh. Reactions are left out: they are zero at most nodes.
pub fn write_nodes<W: Write>(mut out: W, mesh: &Mesh, fields: &Fields, units: Option<Units>) -> io::Result<()> {
    let at_nodes = |field: &&Field| matches!(field.values, Values::Nodes(_)) && field.name != "reaction_force";
    let fields: Vec<&Field> = fields.list.iter().filter(at_nodes).collect();
    writeln!(out, "{}", header("node", &fields, units))?;
    Table::new(&mesh.node_tags, &fields, 0).write(&mut out, |node| mesh.coords[node])?;
    out.flush()
}

/// Writes a line for every cell of the mesh's highest dimension, in the order of the mesh; its place is the mean of its
/// nodes.
pub fn write_elements<W: Write>(mut out: W, mesh: &Mesh, fields: &Fields, units: Option<Units>) -> io::Result<()> {
    let fields: Vec<&Field> = fields.list.iter().filter(|field| matches!(field.values, Values::Cells(_))).collect();
    writeln!(out, "{}", header("element", &fields, units))?;
    for (block, cells) in mesh.solids() {
        let place = |cell| middle(cells.cell(cell).iter().map(|&node| mesh.coords[node as usize]));
        Table::new(&cells.tags, &fields, block).write(&mut out, place)?;
    }
    out.flush()
}

/// `node,x [mm],y [mm],z [mm],displacement_x [mm]` and so on; names do without `_nodal`, which the file says.
fn header(first: &str, fields: &[&Field], units: Option<Units>) -> String {
    let mut header = first.to_string();
    let mut add = |name: String, quantity| {
        let unit = units.and_then(|units| units.label(quantity));
        header += &unit.map_or(format!(",{name}"), |unit| format!(",{name} [{unit}]"));
    };
    ["x", "y", "z"].into_iter().for_each(|axis| add(axis.into(), Quantity::Length));
    for field in fields {
        let name = field.name.strip_suffix("_nodal").unwrap_or(field.name);
        match field.components {
            [] => add(name.into(), field.quantity),
            components => components.iter().for_each(|component| add(format!("{name}_{component}"), field.quantity)),
        }
    }
    header
}

/// Columns side by side: values `[n][width]`, flat, and their width.
struct Table<'a> {
    tags: &'a [u64],
    columns: Vec<(&'a [f64], usize)>,
}

impl<'a> Table<'a> {
    /// Of fields at the nodes, or in a block of cells.
    fn new(tags: &'a [u64], fields: &[&Field<'a>], block: usize) -> Table<'a> {
        let values = |field: &&Field<'a>| match &field.values {
            Values::Nodes(values) => (*values, field.width()),
            Values::Cells(blocks) => (blocks[block], field.width()),
        };
        Table { tags, columns: fields.iter().map(values).collect() }
    }

    fn write<W: Write>(&self, out: &mut W, place: impl Fn(usize) -> [f64; 3] + Sync) -> io::Result<()> {
        let n = self.tags.len();
        for window in (0..n).step_by(CHUNK * WINDOW) {
            let starts: Vec<usize> = (window..n.min(window + CHUNK * WINDOW)).step_by(CHUNK).collect();
            let lines = |&start: &usize| self.lines(start..n.min(start + CHUNK), &place);
            let texts: Vec<Vec<u8>> = starts.par_iter().map(lines).collect::<io::Result<_>>()?;
            texts.iter().try_for_each(|text| out.write_all(text))?;
        }
        Ok(())
    }

    /// The text of some rows.
    fn lines(&self, rows: Range<usize>, place: &impl Fn(usize) -> [f64; 3]) -> io::Result<Vec<u8>> {
        let width: usize = 3 + self.columns.iter().map(|(_, width)| width).sum::<usize>();
        let mut text = Vec::with_capacity(rows.len() * 20 * width);
        for row in rows {
            write!(text, "{}", self.tags[row])?;
            place(row).iter().for_each(|&x| number(&mut text, x));
            for (values, width) in &self.columns {
                values[row * width..(row + 1) * width].iter().for_each(|&value| rounded(&mut text, value));
            }
            text.push(b'\n');
        }
        Ok(text)
    }
}

fn number(text: &mut Vec<u8>, value: f64) {
    text.push(b',');
    if value.is_finite() {
        text.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    }
}

/// As [`number`], in single precision where that has a place for it.
fn rounded(text: &mut Vec<u8>, value: f64) {
    let single = value as f32;
    if !single.is_normal() && value != 0.0 {
        return number(text, value);
    }
    text.push(b',');
    text.extend_from_slice(zmij::Buffer::new().format_finite(single).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::{Results, hex_pair, potential};

    /// Rounded as in the files: subnormal numbers stay.
    fn single(values: &[f64]) -> Vec<f64> {
        values
            .iter()
            .map(|&v| if (v as f32).is_normal() { (v as f32).to_string().parse().unwrap() } else { v })
            .collect()
    }

    /// Both tables: the header, then tags and numbers.
    fn tables(mesh: &Mesh, fields: &Fields, units: Option<Units>) -> [(String, Vec<Vec<f64>>); 2] {
        let mut texts = [Vec::new(), Vec::new()];
        write_nodes(&mut texts[0], mesh, fields, units).unwrap();
        write_elements(&mut texts[1], mesh, fields, units).unwrap();
        texts.map(|text| {
            let text = String::from_utf8(text).unwrap();
            let (header, rows) = text.split_once('\n').unwrap();
            let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
            (header.into(), rows.lines().map(row).collect())
        })
    }

    #[test]
    fn places_read_back_to_the_same_bits_and_results_in_single_precision() {
        let (mesh, mut results) = (hex_pair(), Results::of_hex_pair());
        results.stresses.von_mises[1] = vec![1.0 / 3.0 * 1e8, 5e-324];
        let [(nodes, rows), (elements, of_elements)] = tables(&mesh, &results.fields(), None);
        let stress = "stress_xx,stress_yy,stress_zz,stress_xy,stress_yz,stress_xz,von_mises";
        assert_eq!(nodes, format!("node,x,y,z,displacement_x,displacement_y,displacement_z,{stress}"));
        assert_eq!(elements, format!("element,x,y,z,{stress}"));
        assert_eq!(rows.len(), 12);
        for (i, row) in rows.iter().enumerate() {
            let tag = [mesh.node_tags[i] as f64];
            let found = [&results.displacement[i][..], &results.nodal.values[i], &[results.nodal.sizes[i]]].concat();
            assert_eq!(*row, [&tag[..], &mesh.coords[i], &single(&found)].concat());
        }
        let expected = |i: usize| {
            let place = [41.0 + i as f64, 0.5 + i as f64, 0.5, 0.5];
            [&place[..], &single(&results.stresses.stress[1][i]), &single(&[results.stresses.von_mises[1][i]])].concat()
        };
        assert_eq!(of_elements, [expected(0), expected(1)]);
    }

    #[test]
    fn units_stand_in_the_header_alone() {
        let (mesh, results) = (hex_pair(), Results::of_hex_pair());
        let fields = results.fields();
        let ([plain, _], [nodes, elements]) = (tables(&mesh, &fields, None), tables(&mesh, &fields, Some(Units::MmNS)));
        assert!(nodes.0.starts_with("node,x [mm],y [mm],z [mm],displacement_x [mm],"), "{}", nodes.0);
        assert!(nodes.0.ends_with(",von_mises [MPa]") && elements.0.contains(",stress_xx [MPa],"), "{}", nodes.0);
        assert_eq!(plain.1, nodes.1);
        let potential = potential();
        let [nodes, elements] = tables(&mesh, &Fields::potential(&potential, &[]), Some(Units::Si));
        assert_eq!(nodes.0, "node,x [m],y [m],z [m],potential,gradient_x,gradient_y,gradient_z");
        assert_eq!(
            (elements.0.as_str(), elements.1[1][4]),
            ("element,x [m],y [m],z [m],gradient_x,gradient_y,gradient_z", 6.0)
        );
    }

    #[test]
    fn chunks_join_in_order_and_what_is_infinite_is_empty() {
        let n = CHUNK * WINDOW + 3;
        let (tags, mut values): (Vec<u64>, Vec<f64>) =
            ((1..=n as u64).collect(), (0..n).map(|i| i as f64 * 0.1).collect());
        values[1] = f64::INFINITY;
        let table = Table { tags: &tags, columns: vec![(&values, 1)] };
        let mut text = Vec::new();
        table.write(&mut text, |i| [i as f64, 0.0, 0.0]).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), n);
        for (i, line) in text.lines().enumerate() {
            let value = if i == 1 { String::new() } else { format!("{:?}", values[i] as f32) };
            assert_eq!(line, format!("{},{:?},0.0,0.0,{value}", i + 1, i as f64));
        }
    }
}
