//! `<case>_nodes.csv` and `<case>_elements.csv`: a line per node and per element, with its tag, its place and its results; and
//! `<case>_tables.csv`: reactions and all else that has a name; and `<case>_response.csv`: what probes do over frequencies.
//!
//! The header has the unit of a column in brackets, if the case names its units. Coordinates are the shortest numbers that
//! read back to the same bits; results are rounded to single precision, which halves the files, as is done for pictures.
//! VTU and JSON have every digit. What is infinite is left empty.

use std::io::{self, Write};

use super::rows;
use crate::mesh::vector::add;
use crate::mesh::{Mesh, middle};
use crate::result::{At, Curve, Field, Quantity, Series, Step, Units};

/// Writes a line for every node, or for every cell of the mesh's highest dimension or each of its integration points, in the
/// order of the mesh; the place of a cell is the mean of its nodes. Reactions are left out, which are zero at most nodes,
/// and numbers of materials.
pub fn write<W: Write>(mut out: W, mesh: &Mesh, step: &Step, at: At, units: Option<Units>) -> io::Result<()> {
    let is_column = |field: &&Field| {
        field.info.at == at && field.info.name != "reaction_force" && field.info.unit != Quantity::Index
    };
    let fields: Vec<&Field> = step.fields.iter().filter(is_column).collect();
    if at == At::Node {
        writeln!(out, "{}", header("node", &fields, units))?;
        Table::new(&mesh.node_tags, &fields, 0).write(&mut out, |node| mesh.coords[node])?;
        return out.flush();
    }
    writeln!(out, "{}", header("element", &fields, units))?;
    for (block, cells) in mesh.solids() {
        let nodes = |cell: usize| cells.cell(cell).iter().map(|&node| mesh.coords[node as usize]);
        if at == At::Cell {
            Table::new(&cells.tags, &fields, block).write(&mut out, |cell| middle(nodes(cell)))?;
            continue;
        }
        let shape = &cells.kind.info().shape;
        let n = shape.quadrature.len();
        let tags: Vec<u64> = cells.tags.iter().flat_map(|tag| std::iter::repeat_n(*tag, n)).collect();
        let place = |row: usize| {
            let share = |(b, x): (usize, [f64; 3])| x.map(|c| c * (shape.value)(b, shape.quadrature[row % n].0));
            nodes(row / n).enumerate().map(share).fold([0.0; 3], add)
        };
        Table::new(&tags, &fields, block).write(&mut out, place)?;
    }
    out.flush()
}

/// Writes the tables of a step, a line for each number: the table, the row's name, the column, the number and its unit.
pub fn write_tables<W: Write>(mut out: W, step: &Step, units: Option<Units>) -> io::Result<()> {
    writeln!(out, "table,name,column,value,unit")?;
    for table in &step.tables {
        for (name, values) in &table.rows {
            let name = quoted(name);
            for ((column, unit), value) in table.info.columns.iter().zip(values) {
                let unit = units.and_then(|units| units.label(*unit)).unwrap_or_default();
                writeln!(out, "{},{name},{column},{value},{unit}", table.info.name)?;
            }
        }
    }
    out.flush()
}

/// Writes a line for each value that a series runs over, with all columns of each curve.
pub fn write_series<W: Write>(mut out: W, series: &Series, units: Option<Units>) -> io::Result<()> {
    let headed = |name: &str, quantity| quoted(&headed(name, quantity, units));
    let of_curve = |curve: &Curve| {
        series.columns.iter().map(|(column, of)| headed(&format!("{} {column}", curve.name), *of)).collect::<Vec<_>>()
    };
    let heads = series.curves.iter().flat_map(of_curve);
    let heads: Vec<String> = std::iter::once(headed(series.over.0, series.over.1)).chain(heads).collect();
    writeln!(out, "{}", heads.join(","))?;
    for (row, at) in series.at.iter().enumerate() {
        let mut text = at.to_string().into_bytes();
        series.curves.iter().flat_map(|curve| &curve.rows[row]).for_each(|value| number(&mut text, *value));
        text.push(b'\n');
        out.write_all(&text)?;
    }
    out.flush()
}

/// A name, which may be any text.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}

/// A column's name with its unit.
fn headed(name: &str, quantity: Quantity, units: Option<Units>) -> String {
    units.and_then(|units| units.label(quantity)).map_or(name.to_owned(), |unit| format!("{name} [{unit}]"))
}

/// `node,x [mm],y [mm],z [mm],displacement_x [mm]` and so on; names do without `_nodal`, which the file says.
fn header(first: &str, fields: &[&Field], units: Option<Units>) -> String {
    let mut header = first.to_string();
    let mut add = |name: &str, quantity| header += &format!(",{}", headed(name, quantity, units));
    ["x", "y", "z"].into_iter().for_each(|axis| add(axis, Quantity::Length));
    for info in fields.iter().map(|field| field.info) {
        let name = info.short_name();
        match info.components {
            [] => add(name, info.unit),
            components => components.iter().for_each(|component| add(&format!("{name}_{component}"), info.unit)),
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
    /// Of one list of each field.
    fn new(tags: &'a [u64], fields: &[&'a Field], list: usize) -> Table<'a> {
        Table { tags, columns: fields.iter().map(|field| (&field.values[list][..], field.info.width())).collect() }
    }

    fn write<W: Write>(&self, out: &mut W, place: impl Fn(usize) -> [f64; 3] + Sync) -> io::Result<()> {
        rows::write(out, self.tags.len(), |row, text| {
            write!(text, "{}", self.tags[row])?;
            place(row).iter().for_each(|&x| number(text, x));
            for (values, width) in &self.columns {
                values[row * width..(row + 1) * width].iter().for_each(|&value| rounded(text, value));
            }
            text.push(b'\n');
            Ok(())
        })
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
    use crate::output::rows::{CHUNK, WINDOW};
    use crate::output::tests::{hex_pair, of_hex_pair};
    use crate::result::{Physics, When};

    /// Rounded as in the files: subnormal numbers stay.
    fn single(values: &[f64]) -> Vec<f64> {
        values
            .iter()
            .map(|&v| if (v as f32).is_normal() { (v as f32).to_string().parse().unwrap() } else { v })
            .collect()
    }

    /// The header, then tags and numbers.
    fn table(mesh: &Mesh, step: &Step, at: At, units: Option<Units>) -> (String, Vec<Vec<f64>>) {
        let mut text = Vec::new();
        write(&mut text, mesh, step, at, units).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (header, rows) = text.split_once('\n').unwrap();
        let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
        (header.into(), rows.lines().map(row).collect())
    }

    /// Every field there is comes back, in single precision, and every place to the same bits.
    #[test]
    fn every_column_is_read_back() {
        let mesh = hex_pair();
        let of_cells: Vec<[f64; 3]> = (0..2).map(|i| [0.5 + f64::from(i), 0.5, 0.5]).collect();
        let rule = mesh.cells[1].kind.info().shape.quadrature;
        let at = |x: &[f64; 3], xi: [f64; 3]| [0, 1, 2].map(|c| x[c] + 0.5 * xi[c]);
        let of_points: Vec<[f64; 3]> =
            of_cells.iter().flat_map(|x| rule.iter().map(move |(xi, _)| at(x, *xi))).collect();
        let point_tags = [[41; 8], [42; 8]].concat();
        for (physics, when) in [Physics::Elasticity, Physics::Potential].into_iter().zip([When::Usual, When::Asked]) {
            let mut step = of_hex_pair(physics, when);
            step.fields.iter_mut().for_each(|field| field.values.last_mut().unwrap()[1] = 5e-324);
            for (at, tags, places) in [
                (At::Node, &mesh.node_tags, &mesh.coords),
                (At::Cell, &mesh.cells[1].tags, &of_cells),
                (At::CellPoint, &point_tags, &of_points),
            ] {
                let (header, rows) = table(&mesh, &step, at, None);
                let left_out = ["reaction_force", "material"];
                let is_there = |field: &&Field| field.info.at == at && !left_out.contains(&field.info.name);
                let fields: Vec<&Field> = step.fields.iter().filter(is_there).collect();
                for (i, row) in rows.iter().enumerate() {
                    let mut expected = [&[tags[i] as f64][..], &places[i]].concat();
                    for Field { info, values } in &fields {
                        expected.extend(single(&values.last().unwrap()[i * info.width()..(i + 1) * info.width()]));
                    }
                    let near = row.iter().zip(&expected).all(|(a, b)| a == b || (a - b).abs() < 1e-15 * b.abs());
                    assert!(near, "{header}: {row:?}, {expected:?}");
                }
                assert_eq!((rows.len(), header.split(',').count()), (tags.len(), rows[0].len()));
            }
        }
    }

    #[test]
    fn names_and_units_stand_in_the_header() {
        let mesh = hex_pair();
        let header = |physics, at, units| table(&mesh, &of_hex_pair(physics, When::Usual), at, units).0;
        let stress = "von_mises,stress_xx,stress_yy,stress_zz,stress_xy,stress_yz,stress_xz";
        let (elastic, potential) = (Physics::Elasticity, Physics::Potential);
        assert_eq!(
            header(elastic, At::Node, None),
            format!("node,x,y,z,displacement_x,displacement_y,displacement_z,{stress}")
        );
        assert_eq!(header(elastic, At::Cell, None), format!("element,x,y,z,{stress}"));
        let [nodes, elements] = [At::Node, At::Cell].map(|at| header(elastic, at, Some(Units::MmNS)));
        assert!(nodes.starts_with("node,x [mm],y [mm],z [mm],displacement_x [mm],"), "{nodes}");
        assert!(nodes.ends_with(",stress_xz [MPa]") && elements.contains(",stress_xx [MPa],"), "{nodes}");
        let gradient = "gradient_x,gradient_y,gradient_z";
        assert_eq!(
            header(potential, At::Node, Some(Units::Si)),
            format!("node,x [m],y [m],z [m],potential,{gradient}")
        );
        assert_eq!(header(potential, At::Cell, Some(Units::Si)), format!("element,x [m],y [m],z [m],{gradient}"));
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
