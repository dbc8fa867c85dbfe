//! `[temperature]`: how much warmer than where it has no thermal strain each part of the body is.

use rayon::prelude::*;
use toml::Spanned;

use super::case::tables::{TemperatureOnTable, TemperatureTable};
use super::density::in_use;
use super::problems::Problems;
use super::scattered::Scattered;
use super::select::Selector;
use super::{Axes, Checked, Material};

/// Thermal strains beyond this are larger than those of any solid between cold and melting.
const LARGE: f64 = 0.05;

/// Temperatures less the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Temperature {
    /// Where there is no thermal strain.
    pub reference: f64,
    /// At the nodes, `[n_nodes]`.
    pub nodal: Vec<f64>,
    /// Of the cells that have one of their own, NaN of others: by position in `mesh.cells`, `[n_cells]` each; empty where
    /// no cell has.
    pub of_cells: Vec<Vec<f64>>,
}

impl Temperature {
    /// The smallest and the largest.
    pub fn range(&self) -> (f64, f64) {
        let all = self.nodal.iter().chain(self.of_cells.iter().flatten()).filter(|t| !t.is_nan());
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &t| (low.min(t), high.max(t)))
    }

    /// That of a cell at one of its nodes.
    pub fn in_cell(&self, block: usize, cell: usize, node: u32) -> f64 {
        let own = self.of_cells.get(block).and_then(|of| of.get(cell)).filter(|own| !own.is_nan());
        own.copied().unwrap_or(self.nodal[node as usize])
    }
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
    let temperature = problems.take(read(selector, table.get_ref()))?;
    let all_have = check_expansion(selector, table, materials, cell_material, problems);
    all_have.then_some(temperature)
}

fn read(selector: &Selector<'_>, table: &TemperatureTable) -> Checked<Temperature> {
    let (case, mesh, reference) = (selector.case, selector.mesh, *table.reference.get_ref());
    let nodal = match (&table.value, &table.file) {
        (Some(value), _) => vec![value.get_ref() - reference; mesh.coords.len()],
        (_, Some(file)) => {
            let points = Scattered::read(case, file, &["temperature", "potential", "t", "value"], mesh.extent())?;
            mesh.coords.par_iter().map(|&x| points.at(x) - reference).collect()
        }
        _ => vec![0.0; mesh.coords.len()],
    };
    let mut temperature = Temperature { reference, nodal, of_cells: vec![Vec::new(); mesh.cells.len()] };
    for on in &table.on {
        temperature.set(selector, on)?;
    }
    Ok(temperature)
}

impl Temperature {
    /// Groups of bodies give whole cells their temperature, all others nodes.
    fn set(&mut self, selector: &Selector<'_>, table: &TemperatureOnTable) -> Checked {
        let (mesh, value) = (selector.mesh, *table.value.get_ref() - self.reference);
        for (name, place) in table.on.get_ref().with_places(table.on.span()) {
            let Some(group) = mesh.group(name).filter(|group| group.dim == mesh.dim()) else {
                let on = Spanned::new(place.clone(), super::case::Names::One(name.to_string()));
                selector.nodes(&on)?.iter().for_each(|&node| self.nodal[node as usize] = value);
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
    let (low, high) = temperature.range();
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
