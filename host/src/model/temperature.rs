//! `[temperature]`: how much warmer than where it has no thermal strain each part of the body is.

use std::path::Path;
use std::sync::OnceLock;

use toml::Spanned;

use super::case::Case;
use super::case::tables::{TemperatureOnTable, TemperatureTable};
use super::density::in_use;
use super::locate::Locator;
use super::problems::Problems;
use super::scattered::nearest::Tree;
use super::scattered::{Scattered, are_elsewhere};
use super::select::Selector;
use super::{Axes, Checked, Error, Material, Model};
use crate::element::ElementKind;
use crate::mesh::{Cells, Mesh};
use crate::parallel;

/// Thermal strains beyond this are larger than those of any solid between cold and melting.
const LARGE: f64 = 0.05;

/// Temperatures less the reference.
#[derive(Debug)]
pub struct Temperature {
    /// Where there is no thermal strain.
    pub reference: f64,
    /// At the nodes, `[n_steps][n_nodes]`; those of a heat case are found with its solution, a step for each of its times.
    nodal: OnceLock<Vec<Vec<f64>>>,
    /// Of the cells that have one of their own, NaN of others: by position in `mesh.cells`, `[n_cells]` each; empty where
    /// no cell has.
    pub of_cells: Vec<Vec<f64>>,
    /// Of nodes that have one of their own.
    own: Vec<(u32, f64)>,
    /// The heat case that they come from.
    pub heat: Option<Box<Model>>,
}

impl Temperature {
    /// At the nodes, and of cells that have one of their own: see the fields.
    pub fn new(reference: f64, nodal: Vec<f64>, of_cells: Vec<Vec<f64>>) -> Temperature {
        Temperature { reference, nodal: vec![nodal].into(), of_cells, own: Vec::new(), heat: None }
    }

    /// The smallest and the largest; nothing before the heat case is solved.
    pub fn range(&self) -> Option<(f64, f64)> {
        let all = self.nodal.get()?.iter().flatten().chain(self.of_cells.iter().flatten()).filter(|t| !t.is_nan());
        Some(all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &t| (low.min(t), high.max(t))))
    }

    /// The times of the heat case, each a step; one step if it is steady, or there is none.
    pub fn n_steps(&self) -> usize {
        self.heat.as_ref().map_or(1, |heat| heat.n_steps())
    }

    /// At the nodes in a step, `[n_nodes]`; empty before the heat case is solved. One step alone is that of all load cases.
    pub fn nodal(&self, step: usize) -> &[f64] {
        let steps = self.nodal.get().map_or(&[][..], Vec::as_slice);
        steps.get(step).or(steps.first()).map_or(&[], Vec::as_slice)
    }

    /// That of a cell at one of its nodes in a step.
    pub fn in_cell(&self, step: usize, block: usize, cell: usize, node: u32) -> f64 {
        let own = self.of_cells.get(block).and_then(|of| of.get(cell)).filter(|own| !own.is_nan());
        own.copied().unwrap_or_else(|| self.nodal(step)[node as usize])
    }

    /// At the centre of a cell in a step.
    pub fn at_centre(&self, step: usize, block: usize, cells: &Cells, cell: usize) -> f64 {
        let (shape, centre) = (&cells.kind.info().shape, cells.kind.info().domain.centroid());
        let nodes = cells.cell(cell).iter().enumerate();
        nodes.map(|(b, &node)| (shape.value)(b, centre) * self.in_cell(step, block, cell, node)).sum()
    }

    /// The heat case, if it is yet to be solved.
    pub fn unsolved(&self) -> Option<&Model> {
        self.heat.as_deref().filter(|_| self.nodal.get().is_none())
    }

    /// Takes the temperatures of the heat case, `[n_steps][n_nodes]` of its mesh: at the same nodes as they are, else from
    /// the element around each node; a node outside of all has what the nearest nodes have.
    pub fn take(&self, mesh: &Mesh, heat: &Model, steps: Vec<Vec<f64>>) {
        let mut nodal = match heat.mesh.coords == mesh.coords {
            true => steps,
            false => map(&heat.mesh, mesh, &steps),
        };
        for nodal in &mut nodal {
            nodal.iter_mut().for_each(|t| *t -= self.reference);
            self.own.iter().for_each(|&(node, value)| nodal[node as usize] = value);
        }
        self.nodal.get_or_init(|| nodal);
    }
}

impl Model {
    /// Whether steps have other constants of materials, each those of its temperatures.
    pub fn stiffness_changes(&self) -> bool {
        let has_several = self.temperature.as_ref().is_some_and(|of| of.n_steps() > 1);
        has_several && self.materials.iter().any(|material| !material.by_temperature.is_empty())
    }
}

/// Nodes and their shape functions at a point.
type Shares = Vec<(u32, f64)>;

/// Values `[n_steps][n_nodes]` of one mesh at the nodes of another.
fn map(from: &Mesh, to: &Mesh, steps: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let cells = Locator::new(from);
    let shares: Vec<Option<Shares>> = parallel::map_items(&to.coords, &|&x| cells.shares(x));
    let of_step = |values: &Vec<f64>| {
        let outside =
            shares.iter().any(Option::is_none).then(|| Scattered::new(Tree::new(from.coords.clone()), values.clone()));
        let at = |(shares, x): (&Option<Shares>, &[f64; 3])| match (shares, &outside) {
            (None, Some(points)) => points.at(*x),
            (shares, _) => shares.iter().flatten().map(|(node, share)| share * values[*node as usize]).sum(),
        };
        shares.iter().zip(&to.coords).map(at).collect()
    };
    steps.iter().map(of_step).collect()
}

impl Material {
    /// Its thermal strain per degree at a place in global axes, in the order xx, yy, zz, xy, yz, xz with engineering shears;
    /// 0 if it has no `expansion`.
    pub fn expansion_at(&self, place: [f64; 3]) -> [f64; 6] {
        let Some(along) = self.expansion else { return [0.0; 6] };
        if self.axes == Axes::Global || along == [along[0]; 3] {
            return [along[0], along[1], along[2], 0.0, 0.0, 0.0];
        }
        let e = self.axes.tensor(along, place);
        [e[(0, 0)], e[(1, 1)], e[(2, 2)], 2.0 * e[(0, 1)], 2.0 * e[(1, 2)], 2.0 * e[(0, 2)]]
    }
}

/// The temperatures of a case; nothing without a table, or where that is wrong.
pub(super) fn resolve(
    selector: &Selector<'_>,
    materials: &[Material],
    cell_material: &[Vec<u32>],
    problems: &mut Problems,
) -> Option<Temperature> {
    let table = selector.case.tables.temperature.as_ref()?;
    problems.take(selector.case.check_temperature(table))?;
    let heat = match (&table.get_ref().from, &table.get_ref().heat) {
        (Some(from), _) => Some(problems.take(heat(selector, from))?),
        (_, Some(tables)) => {
            let case = Case { tables: *tables.clone(), others: Vec::new(), ..selector.case.clone() };
            Some(Box::new(problems.take(Model::resolve(&case, selector.mesh.clone()))?))
        }
        _ => None,
    };
    let temperature = problems.take(read(selector, table.get_ref(), heat))?;
    let all_have = check_expansion(selector, table, materials, cell_material, problems);
    all_have.then_some(temperature)
}

fn read(selector: &Selector<'_>, table: &TemperatureTable, heat: Option<Box<Model>>) -> Checked<Temperature> {
    let (case, mesh, reference) = (selector.case, selector.mesh, *table.reference.get_ref());
    let mut nodal = match (&table.value, &table.file) {
        (Some(value), _) => vec![value.get_ref() - reference; mesh.coords.len()],
        (_, Some(file)) => {
            let points = Scattered::read(case, file, &["temperature", "potential", "t", "value"], mesh.extent())?;
            parallel::map_items(&mesh.coords, &|&x| points.at(x) - reference)
        }
        _ => vec![0.0; mesh.coords.len()],
    };
    let of_cells = vec![Vec::new(); mesh.cells.len()];
    let mut temperature = Temperature { reference, nodal: OnceLock::new(), of_cells, own: Vec::new(), heat };
    for on in &table.on {
        temperature.set(selector, on)?;
    }
    if temperature.heat.is_none() {
        temperature.own.iter().for_each(|&(node, value)| nodal[node as usize] = value);
        let of_deck = table.nodal.iter().filter_map(|(tag, value)| Some((selector.node(*tag)?, value)));
        of_deck.for_each(|(node, value)| nodal[node as usize] = value - reference);
        if !table.nodal.is_empty() {
            // A C3D8 or C3D8I has the mean of its corners throughout in CalculiX.
            let takes_mean = |cells: &Cells| cells.kind.of_kernels() == ElementKind::Hex8;
            for (block, cells) in mesh.solids().filter(|(_, cells)| takes_mean(cells)) {
                let mean =
                    |cell: &[u32]| cell.iter().map(|&node| nodal[node as usize]).sum::<f64>() / cell.len() as f64;
                temperature.of_cells[block] = cells.nodes.chunks_exact(8).map(mean).collect();
            }
        }
        temperature.nodal = vec![nodal].into();
    }
    Ok(temperature)
}

/// The heat case that a table names, beside the case.
fn heat(selector: &Selector<'_>, from: &Spanned<String>) -> Result<Box<Model>, Error> {
    let (case, mesh) = (selector.case, selector.mesh);
    let wrong = |message: String, help: &str| Err(Error::from(case.error_at(from.span(), message, help)));
    let path = case.path.parent().unwrap_or(Path::new("")).join(from.get_ref());
    let name = path.display();
    if path.extension().is_none_or(|ending| ending != "toml") {
        return wrong(
            format!("{name} is no case file"),
            "of earlier results a CSV file is read: file = \"heat_nodes.csv\"",
        );
    }
    let heat = Model::load(&path)?;
    let (of_heat, own) = (heat.analysis, case.analysis());
    if !of_heat.physics().is_scalar() {
        return wrong(format!("{name} is a case of {}", of_heat.what()), "name one of kind = \"heat\"");
    }
    if of_heat.is_revolved() != own.is_revolved() || heat.mesh.dim() != mesh.dim() {
        let message = format!("{name}, {}, is of another shape than {}", of_heat.what(), own.what());
        return wrong(message, "both are in space, in the plane or of revolution");
    }
    if let (Some(cases), true) = (case.tables.load_case.first(), heat.n_steps() > 1) {
        let message = format!("{name} has several times, each a load case here: [[load_case]] would be others");
        return Err(case
            .error_at(cases.span(), message, "leave [[load_case]] out, or let [time] have outputs = 1")
            .into());
    }
    if !heat.load_cases.is_empty() {
        return wrong(format!("{name} has several [[load_case]]: which one?"), "leave them out there");
    }
    if are_elsewhere(heat.mesh.extent(), mesh.extent()) {
        return wrong(format!("the mesh of {name} is far from this one"), "are both in the same unit?");
    }
    Ok(Box::new(heat))
}

impl Temperature {
    /// Groups of bodies give whole cells their temperature, all others nodes.
    fn set(&mut self, selector: &Selector<'_>, table: &TemperatureOnTable) -> Checked {
        let (mesh, value) = (selector.mesh, *table.value.get_ref() - self.reference);
        for (name, place) in table.on.get_ref().with_places(table.on.span()) {
            let Some(group) = mesh.group(name).filter(|group| group.dim == mesh.dim()) else {
                let on = Spanned::new(place.clone(), super::case::Names::One(name.to_string()));
                self.own.extend(selector.nodes(&on)?.into_iter().map(|node| (node, value)));
                continue;
            };
            for (block, cells) in &group.members {
                let of = &mut self.of_cells[*block];
                of.resize(mesh.cells[*block].len(), f64::NAN);
                cells.iter().for_each(|&cell| of[cell as usize] = value);
            }
        }
        Ok(())
    }
}

/// Whether every material in use has an `expansion`; else that is a problem.
fn check_expansion(
    selector: &Selector<'_>,
    table: &Spanned<TemperatureTable>,
    materials: &[Material],
    cell_material: &[Vec<u32>],
    problems: &mut Problems,
) -> bool {
    let case = selector.case;
    let without = in_use(materials, cell_material, |material| material.expansion.is_none());
    let all_have = without.is_empty();
    for i in without {
        let line = case.source.line_of(&table.span());
        let message = format!("[temperature] ({line}) needs the `expansion` of material `{}`", materials[i].name);
        let help = "expansion = 12e-6 is that of steel per kelvin; 0.0 if it does not expand";
        let place = case.tables.material[i].get_ref().name.span();
        problems.add(super::ModelError::MissingExpansion(case.error_at(place, message, help)));
    }
    all_have
}

/// What is odd about temperatures and expansions.
pub(super) fn warnings(temperature: Option<&Temperature>, materials: &[Material]) -> Vec<String> {
    let with = |material: &&Material| material.expansion.is_some_and(|e| e != [0.0; 3]);
    let Some(temperature) = temperature else {
        let idle = materials.iter().find(with).map(|material| &material.name);
        return idle
            .map(|name| {
                format!("material `{name}` has an `expansion`, but there is no [temperature]: no thermal strain")
            })
            .into_iter()
            .collect();
    };
    let Some((low, high)) = temperature.range() else {
        let heat = temperature.heat.iter();
        return heat.flat_map(|heat| heat.warnings.iter().map(|said| format!("{}: {said}", heat.name))).collect();
    };
    let degrees = low.abs().max(high.abs());
    let mut said = Vec::new();
    if degrees == 0.0 {
        said.push("[temperature] is the reference everywhere: there is no thermal strain".to_string());
    }
    for material in materials.iter().filter(with) {
        let along = material.expansion.unwrap_or_default().iter().fold(0.0_f64, |most, e| most.max(e.abs()));
        if along * degrees > LARGE {
            let (percent, name) = (100.0 * along * degrees, &material.name);
            said.push(format!(
                "material `{name}` expands by {percent:.0} %: `expansion` is per degree, 12e-6 for steel"
            ));
        }
    }
    said
}
