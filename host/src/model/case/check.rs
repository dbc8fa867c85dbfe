//! Checks of a case file that need no mesh.

use toml::Spanned;

use super::Case;
use super::scale::NUMBERS;
use super::tables::{CyclicTable, MaterialTable, PointForceTable, ProbeTable, PushTable, RotationTable, SupportTable};
use super::vector::Vector;
use crate::mesh::LENGTHS;
use crate::mesh::generate;
use crate::mesh::vector::unit;
use crate::mesh::write::Form;
use crate::model::{Analysis, Checked, Place, Problems, Rotation, SolverOptions, Units};
use crate::result::{FIELDS, FieldInfo, When};

pub(super) const NO_MESH: &str = "[mesh] says neither `file` nor `generate`";
pub(super) const NO_MESH_HELP: &str =
    "file = \"part.msh\"\nor: generate = { kind = \"box\", element = \"tet4\", size = [1, 1, 1], cells = [8, 8, 8] }";

impl Case {
    /// Everything that can be checked before the mesh is read; nothing if the analysis is wrong, on which most depends.
    pub(super) fn check(&self, problems: &mut Problems) -> Option<()> {
        problems.take(self.check_analysis())?;
        self.check_study(problems);
        self.check_harmonic(problems);
        self.check_time(problems);
        problems.take(self.check_mesh());
        self.check_materials(problems);
        for support in &self.tables.support {
            problems.take(self.check_support(support));
        }
        self.check_springs_and_masses(problems);
        self.check_loads(problems);
        self.check_load_cases(problems);
        for field in self.tables.output.fields.iter().flatten() {
            let fields = self.analysis().physics().fields().map(|field| field.name);
            let names: Vec<&str> = fields.filter(|name| self.study().has(name)).collect();
            problems.take(self.check_name("field", Some(field), &names));
            problems.take(self.check_strength(field));
        }
        problems.take(self.check_name("form of FRD files", self.tables.output.frd.as_ref(), &Form::NAMES));
        self.check_probes(problems);
        problems.take(self.solver_options());
        // They are looked at whatever is wrong with the others.
        problems.take(self.matrix_options(SolverOptions::default()));
        Some(())
    }

    fn check_probes(&self, problems: &mut Problems) {
        let probes: Vec<&ProbeTable> =
            self.tables.output.probes.iter().flatten().map(|probe| probe.get_ref()).collect();
        for (i, probe) in probes.iter().enumerate() {
            problems.take(self.check_point("at", &probe.at));
            if probes[..i].iter().any(|other| other.name.get_ref() == probe.name.get_ref()) {
                let message = format!("a second probe is called `{}`", probe.name.get_ref());
                problems.add(self.error_at(probe.name.span(), message, "give it another name"));
            }
        }
    }

    /// Refuses a field that is made of a strength where no material has one.
    fn check_strength(&self, field: &Spanned<String>) -> Checked {
        let has_strength = |material: &Spanned<MaterialTable>| material.get_ref().yield_strength.is_some();
        let needs = |info: &FieldInfo| info.name == field.get_ref() && info.when == When::WithStrength;
        if !FIELDS.iter().any(needs) || self.tables.material.iter().any(has_strength) {
            return Ok(());
        }
        let message = format!("`{}` needs the `yield_strength` of a [[material]]", field.get_ref());
        Err(self.error_at(field.span(), message, "yield_strength = 235e6 is that of structural steel in Pa"))
    }

    fn check_mesh(&self) -> Checked {
        let place = self.tables.mesh.span();
        let mesh = self.tables.mesh.get_ref();
        match (&mesh.file, &mesh.generate) {
            _ if self.deck.is_some() => Ok(()),
            (Some(_), None) => self.check_name("element", mesh.element.as_ref(), &generate::every_name()),
            (None, Some(_)) if mesh.element.is_some() => {
                let place = mesh.element.as_ref().map_or(place, Spanned::span);
                Err(self.error_at(place, "`element` is for the elements of a `file`", "write it into `generate`"))
            }
            (None, Some(_)) => self.generated().map(|_| ()),
            (None, None) => Err(self.error_at(place, NO_MESH, NO_MESH_HELP)),
            (Some(_), Some(generate)) => {
                Err(self.error_at(generate.span(), "[mesh] says both `file` and `generate`", "leave one of them out"))
            }
        }
    }

    fn check_analysis(&self) -> Checked {
        let table = &self.tables.analysis;
        self.check_name("analysis kind", table.kind.as_ref(), &Analysis::names())?;
        self.check_name("system of units", table.units.as_ref(), &Units::names())?;
        match (&table.thickness, self.dim()) {
            (Some(_), Some(dim)) => self.check_thickness(dim),
            (Some(thickness), None) => self.check_positive("thickness", thickness),
            _ => Ok(()),
        }
    }

    /// Everything that the dimension of the mesh decides where the analysis does not.
    pub(in crate::model) fn check_in(&self, dim: usize) -> Checked {
        self.check_thickness(dim)?;
        for in_box in self.tables.support.iter().filter_map(|support| support.get_ref().in_box.as_ref()) {
            self.check_point_in(dim, "min", &in_box.get_ref().min)?;
            self.check_point_in(dim, "max", &in_box.get_ref().max)?;
        }
        Ok(())
    }

    /// Refuses a thickness of solids.
    fn check_thickness(&self, dim: usize) -> Checked {
        let Some(thickness) = &self.tables.analysis.thickness else { return Ok(()) };
        if self.analysis().is_revolved() {
            let message = "`thickness` belongs to plane problems; a body of revolution goes once round its axis";
            return Err(self.error_at(thickness.span(), message, "leave it out"));
        }
        if dim == 2 {
            return self.check_positive("thickness", thickness);
        }
        let [message, help] = self.analysis().keys().thickness;
        Err(self.error_at(thickness.span(), message, help))
    }

    pub(in crate::model) fn check_positive(&self, key: &str, value: &Spanned<f64>) -> Checked {
        if *value.get_ref() > 0.0 && value.get_ref().is_finite() {
            let range = if key == "thickness" { &LENGTHS } else { &NUMBERS };
            return self.check_scale(key, value.span(), &[*value.get_ref()], range);
        }
        let help = match key {
            "young" => "steel: 210e9 in Pa; in MPa, if lengths are in mm: 210e3",
            "density" => {
                "steel: 7850.0 in kg/m^3; 7.85e-9 where lengths are in mm and forces in N; without gravity leave it out"
            }
            "conductivity" => "steel: 50.0 in W/(m K)",
            "yield_strength" => "structural steel: 235e6 in Pa; in MPa, if lengths are in mm: 235",
            "specific_heat" => "steel: 480.0 in J/(kg K)",
            "end" => "the time at which it ends, such as 3600.0",
            "step" => "the length of a step, such as 10.0",
            "tolerance" => "degrees that a step may be off, such as 0.1",
            "preload" => "the force that pulls the two halves of the shank together",
            "coefficient" => "air at rest: 5 to 25, water: 500 to 10000 W/(m^2 K)",
            "conductance" => "flow per area and difference of temperature, such as 2000.0 W/(m^2 K) of a dry joint",
            "mass" => "in kg; in t where lengths are in mm and forces in N",
            "thickness" => "that of the plate, in the unit of the mesh's lengths",
            _ => "the other body pushes against `direction`: turn that round for a push the other way",
        };
        Err(self.error_at(value.span(), format!("`{key}` must be greater than 0, and finite"), help))
    }

    pub(super) fn check_finite(&self, key: &str, place: Place, values: &[f64]) -> Checked {
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(()),
            false => {
                let help = "`nan` and `inf` are nothing to solve with: write a number, such as 1500.0 or -2e-3";
                Err(self.error_at(place, format!("`{key}` must be finite"), help))
            }
        }
    }

    /// Checks a number that may be of either sign, or 0.
    pub(super) fn check_number(&self, key: &str, value: &Spanned<f64>) -> Checked {
        self.check_finite(key, value.span(), &[*value.get_ref()])?;
        self.check_scale(key, value.span(), &[*value.get_ref()], &NUMBERS)
    }

    fn check_support(&self, support: &Spanned<SupportTable>) -> Checked {
        let table = support.get_ref();
        let ways = [table.on.is_some(), table.nodes.is_some(), table.in_box.is_some()];
        if ways.iter().filter(|&&there| there).count() != 1 {
            let message = "a support says where it is by exactly one of `on`, `nodes`, `box`";
            return Err(self.error_at(
                support.span(),
                message,
                "on = \"group\", nodes = [17, 18] or box = { min = [..], max = [..] }",
            ));
        }
        if let Some(in_box) = &table.in_box {
            let (min, max) = (&in_box.get_ref().min, &in_box.get_ref().max);
            self.check_point("min", min)?;
            self.check_point("max", max)?;
            let (low, high) = (min.get_ref().with_z(f64::NEG_INFINITY), max.get_ref().with_z(f64::INFINITY));
            if (0..3).any(|c| low[c] > high[c]) {
                let help = "`min` has the lowest x, y and z of the box, `max` the highest";
                return Err(self.error_at(in_box.span(), "`min` lies above `max`, so the box is empty", help));
            }
        }
        self.prescribed(support).map(|_| ())
    }

    fn check_loads(&self, problems: &mut Problems) {
        let tables = &self.tables;
        let fluxes = tables.flux.iter().map(|load| &load.value);
        for value in fluxes.chain(tables.source.iter().map(|source| &source.value)) {
            problems.take(self.check_number("value", value));
        }
        for convection in &tables.convection {
            problems.take(self.check_positive("coefficient", &convection.coefficient));
            problems.take(self.check_number("ambient", &convection.ambient));
        }
        for conductance in tables.tie.iter().filter_map(|tie| tie.get_ref().conductance.as_ref()) {
            problems.take(self.check_conductance(conductance));
        }
        if let Some(gravity) = &tables.gravity {
            problems.take(self.check_vector("acceleration", &gravity.get_ref().acceleration));
        }
        if let Some(rotation) = &tables.rotation {
            problems.take(self.rotation(rotation));
        }
        if let Some(temperature) = &tables.temperature {
            problems.take(self.check_temperature(temperature));
        }
        for cyclic in &tables.cyclic {
            problems.take(self.axis_of_sectors(self.dim(), cyclic));
        }
        for bolt in &tables.bolt {
            problems.take(self.bolt(bolt));
        }
        for load in &tables.pressure {
            problems.take(self.check_pressure(load));
        }
        for load in &tables.load {
            problems.take(self.couple(load));
        }
        for load in &tables.traction {
            problems.take(self.check_vector("vector", &load.vector));
        }
        for load in &tables.force {
            problems.take(self.check_vector("total", &load.total));
        }
        for load in &tables.point_force {
            problems.take(self.check_point_force(load));
        }
        for load in &tables.push {
            problems.take(self.check_push(load));
        }
    }

    fn check_conductance(&self, conductance: &Spanned<f64>) -> Checked {
        if !self.analysis().physics().is_scalar() {
            let message = "`conductance` is of a joint that heat flows through, and this is a case of elasticity";
            return Err(self.error_at(conductance.span(), message, "leave it out: the parts are bonded"));
        }
        self.check_positive("conductance", conductance)
    }

    pub(in crate::model) fn check_point_force(&self, load: &Spanned<PointForceTable>) -> Checked {
        let table = load.get_ref();
        self.check_vector("vector", &table.vector)?;
        let places = [table.on.is_some(), table.at.is_some(), table.node.is_some()];
        if places.iter().filter(|&&there| there).count() != 1 {
            let message = "a point force says where it acts by exactly one of `on`, `at`, `node`";
            let help = "on = \"point\" is a group of points; at = [x, y, z] takes the nearest node; node = 17 is a tag";
            return Err(self.error_at(load.span(), message, help));
        }
        table.at.as_ref().map_or(Ok(()), |at| self.check_point("at", at))
    }

    /// How the body spins.
    pub(in crate::model) fn rotation(&self, table: &Spanned<RotationTable>) -> Checked<Rotation> {
        let RotationTable { axis, at, speed, .. } = table.get_ref();
        self.check_number("speed", speed)?;
        let [axis, at] = self.axis(self.dim(), table.span(), [axis, at], "about what does the body spin?")?;
        Ok(Rotation { axis, at, speed: *speed.get_ref() })
    }

    /// The axis that sectors go round, in a body of this dimension.
    pub(in crate::model) fn axis_of_sectors(
        &self,
        dim: Option<usize>,
        table: &Spanned<CyclicTable>,
    ) -> Checked<[[f64; 3]; 2]> {
        let CyclicTable { axis, at, .. } = table.get_ref();
        self.axis(dim, table.span(), [axis, at], "about what does the sector repeat?")
    }

    /// The direction of an axis, of length 1, and a point of it; the question is that of a table without, where the body's
    /// dimension is known and does not answer it.
    fn axis(
        &self,
        dim: Option<usize>,
        table: Place,
        [axis, at]: [&Option<Spanned<Vector>>; 2],
        question: &str,
    ) -> Checked<[[f64; 3]; 2]> {
        let own = match (self.analysis().is_revolved(), dim) {
            (true, _) => Some([0.0, 1.0, 0.0]),
            (false, Some(2)) => Some([0.0, 0.0, 1.0]),
            _ => None,
        };
        let axis = match (axis, own) {
            (None, None) if dim.is_none() => [0.0, 0.0, 1.0],
            (None, None) => {
                let help = "axis = [0.0, 0.0, 1.0] is along z; at = [x, y, z] is a point of the axis";
                return Err(self.error_at(table, format!("`axis` is missing here: {question}"), help));
            }
            (None, Some(own)) => own,
            (Some(given), own) => {
                let direction = unit(given.get_ref().xyz());
                if own.is_some_and(|own| direction != own && direction != own.map(|c| -c)) || direction == [0.0; 3] {
                    let help = "leave `axis` out in a plane; elsewhere [0.0, 0.0, 1.0] is along z";
                    return Err(self.error_at(given.span(), "there can be no axis in this direction", help));
                }
                direction
            }
        };
        let at = match at {
            Some(at) if self.analysis().is_revolved() && at.get_ref().xyz()[0] != 0.0 => {
                return Err(self.error_at(
                    at.span(),
                    "a body of revolution spins about its own axis",
                    "leave `at` out",
                ));
            }
            Some(at) => self.check_point("at", at).map(|()| at.get_ref().xyz())?,
            None => [0.0; 3],
        };
        Ok([axis, at])
    }

    pub(in crate::model) fn check_push(&self, load: &PushTable) -> Checked {
        self.check_vector("direction", &load.direction)?;
        if load.direction.get_ref().xyz() == [0.0; 3] {
            let help = match self.dim() {
                Some(2) => "[0.0, 1.0] presses on what is highest in y",
                _ => "[0.0, 0.0, 1.0] presses on what is highest in z",
            };
            return Err(self.error_at(load.direction.span(), "`direction` must not be zero", help));
        }
        self.check_positive("total", &load.total)
    }
}
