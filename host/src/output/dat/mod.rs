//! `<deck>.dat`: what `*NODE PRINT` and `*EL PRINT` ask for, in CalculiX's words and columns.

mod sections;

use std::f64::consts::TAU;
use std::io::{self, Write};

use nalgebra::Vector3;

use super::modes::Mode;
use super::summary::Results;
use crate::element::ElementKind;
use crate::element::shape::At;
use crate::io::inp::codes;
use crate::model::Model;
use crate::model::case::{DeckStep, Follows, Item, Print};
use crate::result::{EFFECTIVE_MASS, PARTICIPATION, Step, Study};

/// Fields that a model's prints are made of, beside the usual ones.
pub fn fields(model: &Model) -> Vec<&'static str> {
    let prints = model.deck.iter().flat_map(|deck| &deck.steps).flat_map(|step| &step.prints);
    let of_print = prints.filter_map(|print| match print.item {
        Item::Displacement | Item::Temperature | Item::Volume => None,
        Item::Reaction => Some("nodal_force"),
        Item::Flow => Some("nodal_flow"),
        Item::HeatFlux => Some("heat_flux_points"),
        _ => Some("stress_points"),
    });
    of_print.collect()
}

/// Writes what a model's deck prints of a step, which is counted from 0. All modes are of one step of the deck, and have their
/// frequency for the time; the motion under loads is of the next.
pub fn write(file: &mut impl Write, model: &Model, number: usize, step: &Step) -> io::Result<()> {
    let Some(deck) = &model.deck else { return Ok(()) };
    let has_loads = matches!(step.study, Study::Static | Study::Transient);
    let of_modes = || {
        let of_step = deck.steps.get(usize::from(!step.is_mode()))?;
        Some((of_step, of_step.outputs.iter().position(|(_, time)| *time == step.value).unwrap_or(0)))
    };
    let Some((of_step, output)) = (if has_loads { deck.step_of(number) } else { of_modes() }) else { return Ok(()) };
    let time = if has_loads { of_step.outputs[output].1 } else { step.value };
    let has_forces = step.study != Study::Buckling;
    let is_printed = |print: &&Print| of_step.has(print, output) && (has_forces || print.item != Item::Reaction);
    let prints = of_step.prints.iter().filter(is_printed);
    let (model, case) = if has_loads { model.of_case(number) } else { (model, 0) };
    let tables = Tables {
        model,
        step,
        case,
        of_step,
        nodes: model.mesh.node_tags.iter().copied().zip(0..).collect(),
        cells: cells(model),
    };
    for print in prints {
        if has_loads || print.item != Item::Reaction {
            tables.write(file, print, time)?;
            continue;
        }
        // Forces on nodes of no element are known of loads at rest alone.
        let tags = print.tags.iter().copied().filter(|tag| tables.nodes.contains_key(tag)).collect();
        tables.write(file, &Print { tags, ..print.clone() }, time)?;
    }
    let mut sections = of_step.sections.iter().filter(|_| has_loads);
    sections.try_for_each(|print| sections::write(file, print, (model, step), &tables.nodes, time))
}

/// Writes the tables of all modes, which CalculiX prints unasked: eigenvalues, participation factors and effective masses, or
/// buckling factors.
pub fn modes(file: &mut impl Write, modes: &[&Results]) -> io::Result<()> {
    let listed = |values: &[f64]| -> String {
        values.iter().map(|value| format!("  {:>14}", scientific(*value, 7, true))).collect()
    };
    let of_mode = |mode: Mode| match mode {
        Mode::Buckling { load_factor, .. } => vec![load_factor],
        Mode::Vibration { frequency, eigenvalue } => vec![eigenvalue, TAU * frequency, frequency, 0.0],
    };
    match modes.first().and_then(|results| results.mode) {
        None => return Ok(()),
        Some(Mode::Buckling { .. }) => {
            writeln!(
                file,
                "\n     B U C K L I N G   F A C T O R   O U T P U T\n\n MODE NO       BUCKLING\n                FACTOR\n"
            )?;
        }
        Some(Mode::Vibration { .. }) => {
            writeln!(
                file,
                "\n     E I G E N V A L U E   O U T P U T\n\n MODE NO    EIGENVALUE                       FREQUENCY   "
            )?;
            writeln!(file, "                                     REAL PART            IMAGINARY PART")?;
            writeln!(file, "                           (RAD/TIME)      (CYCLES/TIME     (RAD/TIME)\n")?;
        }
    }
    for (number, mode) in modes.iter().zip(1..).filter_map(|(results, number)| Some((number, results.mode?))) {
        writeln!(file, "{number:>7}{}", listed(&of_mode(mode)))?;
    }
    for (table, title, is_summed) in [
        (PARTICIPATION.name, "P A R T I C I P A T I O N   F A C T O R S", false),
        (EFFECTIVE_MASS.name, "E F F E C T I V E   M O D A L   M A S S", true),
    ] {
        let rows: Vec<&[f64]> = modes.iter().map(|results| results.table_row(table)).collect();
        if rows.iter().any(|row| row.is_empty()) {
            continue;
        }
        writeln!(
            file,
            "\n     {title}\n\nMODE NO.   X-COMPONENT     Y-COMPONENT     Z-COMPONENT     X-ROTATION      Y-ROTATION      Z-ROTATION\n"
        )?;
        for (row, number) in rows.iter().zip(1..) {
            writeln!(file, "{number:>7}{}", listed(row))?;
        }
        if is_summed {
            let sum = |c: usize| rows.iter().map(|row| row.get(c).copied().unwrap_or(0.0)).sum::<f64>();
            writeln!(file, "TOTAL  {}", listed(&[0, 1, 2, 3, 4, 5].map(sum)))?;
        }
    }
    Ok(())
}

/// Where elements are, by tag.
fn cells(model: &Model) -> std::collections::HashMap<u64, (usize, usize)> {
    let tagged =
        model.mesh.solids().flat_map(|(b, block)| block.tags.iter().enumerate().map(move |(i, tag)| (*tag, (b, i))));
    tagged.collect()
}

struct Tables<'a> {
    model: &'a Model,
    step: &'a Step,
    /// Its number among those of the model.
    case: usize,
    of_step: &'a DeckStep,
    nodes: std::collections::HashMap<u64, usize>,
    cells: std::collections::HashMap<u64, (usize, usize)>,
}

impl Tables<'_> {
    fn write(&self, file: &mut impl Write, print: &Print, time: f64) -> io::Result<()> {
        let Print { item, set, totals: [with_total, with_values], .. } = print;
        let end = format!("for set {set} and time {:>14}", scientific(time, 7, true));
        let (what, total) = words(*item);
        if *with_values {
            writeln!(file, "\n {what} {end}\n")?;
            match item {
                Item::Displacement | Item::Reaction | Item::Temperature | Item::Flow => {
                    self.write_nodes(file, print)?
                }
                Item::Energy | Item::Volume => self.write_elements(file, print)?,
                _ => self.write_points(file, print)?,
            }
        }
        if *with_total && !total.is_empty() {
            writeln!(file, "\n {total} {end}\n")?;
            let sums = self.sums(print);
            writeln!(file, "      {}", numbers(&sums))?;
        }
        Ok(())
    }

    fn write_nodes(&self, file: &mut impl Write, print: &Print) -> io::Result<()> {
        for tag in &print.tags {
            let values = self.at(print, *tag);
            writeln!(file, "{tag:>10}{}", numbers(&values))?;
        }
        Ok(())
    }

    /// A value at a node of an element, or of none.
    fn at(&self, print: &Print, tag: u64) -> Vec<f64> {
        match self.nodes.get(&tag) {
            Some(node) if print.item == Item::Flow => {
                self.step.nodes("nodal_flow").get(*node).copied().into_iter().collect()
            }
            Some(node) if print.item == Item::Temperature => vec![self.temperature(tag, *node)],
            Some(node) => self.at_node(print, tag, *node),
            None => {
                let own = self.at_point(print.item, tag);
                let axes = self.model.deck.as_ref().filter(|_| print.is_global).and_then(|deck| deck.axes_at(tag));
                match (axes, &own[..]) {
                    (Some(rows), &[x, y, z]) => (rows.transpose() * Vector3::new(x, y, z)).as_slice().to_vec(),
                    _ => own,
                }
            }
        }
    }

    /// The temperature of a node of an element: the result, or that of the heat that the step's stress comes from, or as the deck
    /// gives it.
    fn temperature(&self, tag: u64, node: usize) -> f64 {
        let of_heat = self.model.temperature.as_ref().filter(|temperature| temperature.heat.is_some());
        let found = self.step.nodes("temperature").get(node).copied();
        let found = found.or_else(|| of_heat.map(|of| of.reference + of.nodal(self.case)[node]));
        found.unwrap_or_else(|| self.of_step.temperatures.get(&tag).copied().unwrap_or(0.0))
    }

    /// A value at a node, in its own axes unless those of the mesh are asked for.
    fn at_node(&self, print: &Print, tag: u64, node: usize) -> Vec<f64> {
        let name = match print.item {
            Item::Displacement => "displacement",
            _ => "nodal_force",
        };
        let mut global = self.step.vectors::<3>(name).get(node).copied().unwrap_or_default();
        if print.item == Item::Reaction {
            global.iter_mut().zip(0..).for_each(|(force, component)| *force += self.of_springs((tag, component)));
        }
        match self.model.deck.as_ref().filter(|_| !print.is_global).and_then(|deck| deck.axes_at(tag)) {
            Some(rows) => [0, 1, 2].map(|i| (0..3).map(|c| rows[(i, c)] * global[c]).sum()).to_vec(),
            None => global.to_vec(),
        }
    }

    /// A value at a node of no element: what remote points and equations say of it.
    fn at_point(&self, item: Item, tag: u64) -> Vec<f64> {
        let equations = self.step.table("equation_multipliers").map_or(&[][..], |table| &table.rows);
        let multiplier = |number: usize| {
            let name = format!("equation[{}]", number + 1);
            equations.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, values)| values[0])
        };
        let force = |component: u8| {
            let terms = self.of_step.points.equations.get(&(tag, component)).into_iter().flatten();
            let loads = self.of_step.on_held.iter().filter(|(dof, _)| *dof == (tag, component));
            let of_loads: f64 = loads.map(|(_, load)| load).sum();
            -of_loads - terms.map(|(number, factor)| factor * multiplier(*number)).sum::<f64>()
        };
        match item {
            Item::Temperature => vec![self.of_step.temperatures.get(&tag).copied().unwrap_or(0.0)],
            Item::Flow => vec![0.0],
            Item::Reaction => {
                let load = |component: u8| self.of_step.on_points.get(&(tag, component)).copied().unwrap_or(0.0);
                let forces: Vec<f64> = match self.of_remote(["remote_forces", "remote_moments"], tag) {
                    Some(held) => held.iter().zip(0..).map(|(force, component)| force + load(component)).collect(),
                    None => (0..3).map(force).collect(),
                };
                forces.iter().zip(0..).map(|(force, component)| force + self.of_springs((tag, component))).collect()
            }
            _ => self
                .of_remote(["remote_displacements", "remote_rotations"], tag)
                .unwrap_or_else(|| (0..3).map(|component| self.displacement((tag, component))).collect()),
        }
    }

    /// What the first table says of the remote point that a reference node is, or the second of the one whose rotations a node has.
    fn of_remote(&self, [of_reference, of_rotations]: [&str; 2], tag: u64) -> Option<Vec<f64>> {
        let (table, node) = match self.of_step.points.rotations.get(&tag) {
            Some(reference) => (of_rotations, reference),
            None => (of_reference, &tag),
        };
        let name = format!("node {node}");
        self.step.table(table)?.rows.iter().find(|(known, _)| *known == name).map(|(_, values)| values.clone())
    }

    /// The displacement of a component, also of a node of no element.
    fn displacement(&self, (tag, component): (u64, u8)) -> f64 {
        if let Some(node) = self.nodes.get(&tag) {
            return self.step.vectors::<3>("displacement").get(*node).map_or(0.0, |u| u[usize::from(component)]);
        }
        let follows = self.of_step.points.follows.get(&(tag, component));
        follows.map_or(0.0, |sum| self.sum(sum))
    }

    /// What springs do to a component beside what K has.
    fn of_springs(&self, dof: (u64, u8)) -> f64 {
        let springs = self.of_step.points.of_springs.get(&dof).into_iter().flatten();
        springs.map(|(factor, sum)| factor * self.sum(sum)).sum()
    }

    fn sum(&self, (terms, value): &Follows) -> f64 {
        value + terms.iter().map(|(dof, factor)| factor * self.displacement(*dof)).sum::<f64>()
    }

    fn write_points(&self, file: &mut impl Write, print: &Print) -> io::Result<()> {
        for tag in &print.tags {
            let Some((block, cell)) = self.cells.get(tag).copied() else { continue };
            for (point, at) in self.points(block).enumerate() {
                let values = numbers(&self.in_element(print, block, cell, at));
                writeln!(file, "{tag:>10} {:>3}{values}", point + 1)?;
            }
        }
        Ok(())
    }

    /// The integration points of a block, in the order of decks.
    fn points(&self, block: usize) -> impl Iterator<Item = usize> {
        let kind: ElementKind = self.model.mesh.cells[block].kind;
        codes::points(kind).into_iter()
    }

    fn in_element(&self, print: &Print, block: usize, cell: usize, point: usize) -> Vec<f64> {
        let (model, cells) = (self.model, &self.model.mesh.cells[block]);
        let points = &cells.kind.table().quadrature;
        let at = &points[point];
        if print.item == Item::HeatFlux {
            return self.heat_flux(print, block, cell, point);
        }
        let stress = self.stress(block, cell, point);
        let material = &model.materials[model.cell_material[block][cell] as usize];
        let place = at.place(|b| model.mesh.coords[cells.cell(cell)[b] as usize]);
        let tensor = match print.item {
            Item::Stress => stress,
            _ => {
                let mut strain = material.strain()(stress, place);
                if print.item == Item::EnergyDensity {
                    return vec![0.5 * stress.iter().zip(strain).map(|(s, e)| s * e).sum::<f64>()];
                }
                if print.item == Item::Strain {
                    let degrees = self.degrees(at, block, cell);
                    strain.iter_mut().zip(material.expansion_at(place)).for_each(|(e, per)| *e += degrees * per);
                }
                let [xx, yy, zz, xy, yz, xz] = strain;
                [xx, yy, zz, 0.5 * xy, 0.5 * yz, 0.5 * xz]
            }
        };
        let [xx, yy, zz, xy, yz, xz] = if print.is_global { tensor } else { rotated(tensor, &material.axes.at(place)) };
        vec![xx, yy, zz, xy, xz, yz]
    }

    /// The heat flux at a point, along the axes of the material unless those of the mesh are asked for.
    fn heat_flux(&self, print: &Print, block: usize, cell: usize, point: usize) -> Vec<f64> {
        let (model, cells) = (self.model, &self.model.mesh.cells[block]);
        let points = &cells.kind.table().quadrature;
        let list = self.step.field("heat_flux_points").map_or(&[][..], |field| field.vectors::<3>(block));
        let flux = Vector3::from(list.get(cell * points.len() + point).copied().unwrap_or_default());
        let material = &model.materials[model.cell_material[block][cell] as usize];
        let axes = material.axes.at(points[point].place(|b| model.mesh.coords[cells.cell(cell)[b] as usize]));
        (if print.is_global { flux } else { axes * flux }).as_slice().to_vec()
    }

    fn stress(&self, block: usize, cell: usize, point: usize) -> [f64; 6] {
        let n = self.model.mesh.cells[block].kind.table().quadrature.len();
        let list = self.step.field("stress_points").map_or(&[][..], |field| field.vectors::<6>(block));
        list.get(cell * n + point).copied().unwrap_or_default()
    }

    /// How much warmer a point is than the reference.
    fn degrees(&self, at: &At, block: usize, cell: usize) -> f64 {
        let Some(temperature) = &self.model.temperature else { return 0.0 };
        let nodes = self.model.mesh.cells[block].cell(cell).iter().zip(&at.n);
        nodes.map(|(node, n)| n * temperature.in_cell(self.case, block, cell, *node)).sum()
    }

    fn write_elements(&self, file: &mut impl Write, print: &Print) -> io::Result<()> {
        for tag in &print.tags {
            if let Some((block, cell)) = self.cells.get(tag).copied() {
                writeln!(file, "{tag:>10}{}", numbers(&[self.of_element(print, block, cell)]))?;
            }
        }
        Ok(())
    }

    /// The energy or the volume of an element.
    fn of_element(&self, print: &Print, block: usize, cell: usize) -> f64 {
        let cells = &self.model.mesh.cells[block];
        let x = |b: usize| self.model.mesh.coords[cells.cell(cell)[b] as usize];
        let density = Print { item: Item::EnergyDensity, ..print.clone() };
        let of_point = |(point, at): (usize, &At)| {
            let volume = crate::element::shape::determinant(cells.kind.info().dim, at.tangents(x)) * at.weight;
            match print.item {
                Item::Energy => volume * self.in_element(&density, block, cell, point)[0],
                _ => volume,
            }
        };
        self.model.thickness * cells.kind.table().quadrature.iter().enumerate().map(of_point).sum::<f64>()
    }

    fn sums(&self, print: &Print) -> Vec<f64> {
        // They are along the axes of the mesh.
        let global = Print { is_global: true, ..print.clone() };
        let of = |tag: &u64| match print.item {
            Item::Reaction | Item::Flow => Some(self.at(&global, *tag)),
            _ => self.cells.get(tag).map(|(block, cell)| vec![self.of_element(print, *block, *cell)]),
        };
        let add = |sums: Vec<f64>, more: Vec<f64>| sums.iter().zip(more).map(|(sum, more)| sum + more).collect();
        print.tags.iter().filter_map(of).reduce(add).unwrap_or_default()
    }
}

/// A tensor in other axes, one per row: xx, yy, zz, xy, yz, xz.
fn rotated([xx, yy, zz, xy, yz, xz]: [f64; 6], axes: &nalgebra::Matrix3<f64>) -> [f64; 6] {
    let t = axes * nalgebra::Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) * axes.transpose();
    [t[(0, 0)], t[(1, 1)], t[(2, 2)], t[(0, 1)], t[(1, 2)], t[(0, 2)]]
}

/// What an item is called, and its sum if it has one.
fn words(item: Item) -> (&'static str, &'static str) {
    match item {
        Item::Displacement => ("displacements (vx,vy,vz)", ""),
        Item::Reaction => ("forces (fx,fy,fz)", "total force (fx,fy,fz)"),
        Item::Temperature => ("temperatures", ""),
        Item::Flow => ("heat generation", "total heat generation"),
        Item::HeatFlux => ("heat flux (elem, integ.pnt.,qx,qy,qz)", ""),
        Item::Stress => ("stresses (elem, integ.pnt.,sxx,syy,szz,sxy,sxz,syz)", ""),
        Item::Strain => ("strains (elem, integ.pnt.,exx,eyy,ezz,exy,exz,eyz)", ""),
        Item::MechanicalStrain => ("mechanical strains (elem, integ.pnt.,exx,eyy,ezz,exy,exz,eyz)", ""),
        Item::EnergyDensity => ("internal energy density (elem, integ.pnt.,energy)", ""),
        Item::Energy => ("internal energy (element, energy)", "total internal energy"),
        Item::Volume => ("volume (element, volume)", "total volume"),
    }
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(|value| format!(" {:>13}", scientific(*value, 6, false))).collect()
}

/// A number with so many digits behind the point; `below_one` as `0.1E+01`, else as `1.0E+00`.
fn scientific(value: f64, digits: usize, below_one: bool) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let digits = if below_one { digits - 1 } else { digits };
    let text = format!("{value:.digits$E}");
    let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    match below_one {
        false => format!("{mantissa}E{exponent:+03}"),
        true => {
            let sign = if mantissa.starts_with('-') { "-" } else { "" };
            let exponent = if value == 0.0 { 0 } else { exponent + 1 };
            format!("{sign}0.{}E{exponent:+03}", mantissa.replace(['-', '.'], ""))
        }
    }
}
