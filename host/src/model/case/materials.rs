//! `[[material]]`: what is made of it, the constants of its law, its conductivity, and the axes of both.

use std::sync::Arc;

use toml::Spanned;

use super::Case;
use super::scale::NUMBERS;
use super::tables::{AtTemperatureTable, AxesTable, MaterialTable};
use super::vector::{Numbers, Vector};
use crate::mesh::vector::unit;
use crate::model::law::{self, Constants};
use crate::model::{AtTemperature, Axes, Checked, Isotropic, Law, Material, Problems, Units};

/// The numbers of a key, or none.
fn numbers(value: &Option<Spanned<Numbers>>) -> &[f64] {
    value.as_ref().map_or(&[], |value| &value.get_ref().0)
}

impl Case {
    pub(super) fn check_materials(&self, problems: &mut Problems) {
        let materials = &self.tables.material;
        if materials.is_empty() {
            let [in_mm, other] = self.analysis().keys().examples;
            let help = if self.units() == Some(Units::MmNS) { in_mm } else { other };
            problems.add(self.source.error_anywhere("there is no [[material]]", help));
        }
        for (i, material) in materials.iter().enumerate() {
            problems.take(self.check_material(material));
            problems.take(self.check_among(&materials[..i], material));
        }
    }

    /// Checks a material beside those before it, and the others.
    fn check_among(&self, before: &[Spanned<MaterialTable>], material: &Spanned<MaterialTable>) -> Checked {
        let table = material.get_ref();
        let same = |other: &&Spanned<MaterialTable>| other.get_ref().name.get_ref() == table.name.get_ref();
        if let Some(first) = before.iter().find(same) {
            let line = self.source.line_of(&first.get_ref().name.span());
            let message = format!("a second material is called `{}` (the first: {line})", table.name.get_ref());
            let help = "give it another name, or list its groups in `on`";
            return Err(self.error_at(table.name.span(), message, help));
        }
        if self.tables.material.len() > 1 && table.on.is_none() {
            let message = format!("material `{}` does not say what is made of it", table.name.get_ref());
            let help = "with several materials, each needs `on = \"group\"`";
            return Err(self.error_at(material.span(), message, help));
        }
        Ok(())
    }

    fn check_material(&self, material: &Spanned<MaterialTable>) -> Checked {
        let table = material.get_ref();
        let numbers = [
            ("density", &table.density),
            ("specific_heat", &table.specific_heat),
            ("yield_strength", &table.yield_strength),
        ];
        for (key, value) in numbers {
            value.as_ref().map_or(Ok(()), |value| self.check_positive(key, value))?;
        }
        self.check_needed(material)?;
        self.check_rows(table)?;
        self.conductivity(table)?;
        self.expansion(table)?;
        // A file is read where the mesh is known.
        let is_file =
            |axes: &AxesTable| matches!(axes, AxesTable { file: Some(_), x: None, y: None, axis: None, at: None });
        self.axes(table.axes.as_ref().filter(|axes| !is_file(axes.get_ref())))?;
        self.law(table)?;
        Ok(())
    }

    /// Refuses a material without what the analysis needs.
    fn check_needed(&self, material: &Spanned<MaterialTable>) -> Checked {
        let table = material.get_ref();
        // All constants of a law may be given at once.
        let is_elastic = table.stiffness.is_some() || table.by_temperature.is_some();
        let is_there = |key: &str| table.numbers(key).is_some() || (key != "conductivity" && is_elastic);
        match self.analysis().keys().material.iter().find(|[key, ..]| !is_there(key)) {
            Some([key, value, what]) => {
                let message = format!("`{key}` is missing here: {} needs it", self.analysis().name());
                Err(self.error_at(material.span(), message, format!("add `{key} = {value}` ({what})")))
            }
            None => Ok(()),
        }
    }

    /// The constants of an isotropic material by temperature; nothing without a table.
    fn rows(&self, table: &MaterialTable) -> Vec<AtTemperature> {
        let rows = table.by_temperature.iter().flat_map(|rows| rows.get_ref()).map(Spanned::get_ref);
        let row = |row: &AtTemperatureTable| AtTemperature {
            temperature: *row.temperature.get_ref(),
            young: *row.young.get_ref(),
            poisson: *row.poisson.get_ref(),
            expansion: *row.expansion.get_ref(),
        };
        rows.map(row).collect()
    }

    /// Refuses rows that are none of an isotropic material, and others beside.
    fn check_rows(&self, table: &MaterialTable) -> Checked {
        let Some(rows) = &table.by_temperature else { return Ok(()) };
        for key in ["young", "poisson", "shear", "stiffness", "expansion"] {
            if let Some(other) = table.numbers(key) {
                let message = format!("`{key}` stands beside `by_temperature`, which has the constants");
                return Err(self.error_at(other.span(), message, "leave one of them out"));
            }
        }
        for row in rows.get_ref().iter().map(Spanned::get_ref) {
            self.check_number("temperature", &row.temperature)?;
            self.check_positive("young", &row.young)?;
            self.check_number("expansion", &row.expansion)?;
            let (young, poisson) = ([*row.young.get_ref()], [*row.poisson.get_ref()]);
            law::read(&Constants { young: &young, poisson: &poisson, shear: &[], stiffness: &[] })
                .map_err(|refused| self.error_at(row.poisson.span(), refused.message, refused.help))?;
        }
        let is_ascending = self.rows(table).windows(2).all(|pair| pair[0].temperature < pair[1].temperature);
        if rows.get_ref().is_empty() || !is_ascending {
            let message = "`by_temperature` has rows by ascending `temperature`";
            let help = "by_temperature = [{ temperature = 20.0, young = 210e9, poisson = 0.3, expansion = 12e-6 }, ..]";
            return Err(self.error_at(rows.span(), message, help));
        }
        match self.tables.temperature {
            Some(_) => Ok(()),
            None => {
                let message = "`by_temperature` needs to know how warm the body is";
                Err(self.error_at(rows.span(), message, "add [temperature]"))
            }
        }
    }

    /// A material, as far as the analysis has a use for it; what is wrong with it has been said.
    pub(in crate::model) fn material(&self, table: &MaterialTable) -> Material {
        let given = |value: &Option<Spanned<f64>>| value.as_ref().map(|value| *value.get_ref());
        let by_temperature = self.rows(table);
        if let Some(first) = by_temperature.first().copied() {
            let mut material = Material::isotropic(table.name.get_ref(), first.young, first.poisson);
            material.expansion = Some([first.expansion; 3]);
            let (density, yield_strength) = (given(&table.density), given(&table.yield_strength));
            return Material { by_temperature, density, yield_strength, ..material };
        }
        Material {
            by_temperature,
            name: table.name.get_ref().clone(),
            law: self.law(table).unwrap_or_else(|_| Arc::new(Isotropic { young: 0.0, poisson: 0.0 })),
            conductivity: self.conductivity(table).unwrap_or_default(),
            axes: self.axes(table.axes.as_ref()).unwrap_or_default(),
            expansion: self.expansion(table).unwrap_or_default(),
            density: given(&table.density),
            specific_heat: given(&table.specific_heat),
            yield_strength: given(&table.yield_strength),
        }
    }

    /// The law; without stiffness where the table has no constants of one.
    fn law(&self, table: &MaterialTable) -> Checked<Arc<dyn Law>> {
        for key in ["young", "shear"] {
            self.check_moduli(key, table.numbers(key))?;
        }
        let words = ["young", "poisson", "shear", "stiffness"];
        let [young, poisson, shear, stiffness] = words.map(|key| numbers(table.numbers(key)));
        let is_there = young.len() + stiffness.len() > 0 && (!stiffness.is_empty() || !poisson.is_empty());
        if !is_there {
            return Ok(Arc::new(Isotropic { young: young.first().copied().unwrap_or(0.0), poisson: 0.0 }));
        }
        law::read(&Constants { young, poisson, shear, stiffness }).map_err(|refused| {
            let place = table.numbers(refused.key).as_ref().map_or(table.name.span(), Spanned::span);
            self.error_at(place, refused.message, refused.help)
        })
    }

    /// Conductivity along the axes; 0 if there is none.
    fn conductivity(&self, table: &MaterialTable) -> Checked<[f64; 3]> {
        self.check_moduli("conductivity", &table.conductivity)?;
        match *numbers(&table.conductivity) {
            [] => Ok([0.0; 3]),
            [one] => Ok([one; 3]),
            [x, y] if self.dim() == Some(2) => Ok([x, y, y]),
            [x, y, z] => Ok([x, y, z]),
            _ => {
                let place = table.conductivity.as_ref().map_or(table.name.span(), Spanned::span);
                let help = "one number, or one along each of three axes";
                Err(self.error_at(place, "`conductivity` has one number or three", help))
            }
        }
    }

    /// Thermal strain per degree along the axes, which may be 0 or negative.
    fn expansion(&self, table: &MaterialTable) -> Checked<Option<[f64; 3]>> {
        let Some(value) = &table.expansion else { return Ok(None) };
        let along = &value.get_ref().0;
        self.check_finite("expansion", value.span(), along)?;
        self.check_scale("expansion", value.span(), along, &NUMBERS)?;
        match **along {
            [one] => Ok(Some([one; 3])),
            [x, y, z] => Ok(Some([x, y, z])),
            _ => {
                let help = "one number, or one along each of three axes; across a plane body there is one, too";
                Err(self.error_at(value.span(), "`expansion` has one number or three", help))
            }
        }
    }

    /// Refuses moduli that are not greater than 0.
    fn check_moduli(&self, key: &str, value: &Option<Spanned<Numbers>>) -> Checked {
        let Some(value) = value else { return Ok(()) };
        let each = |number: &f64| self.check_positive(key, &Spanned::new(value.span(), *number));
        value.get_ref().0.iter().try_for_each(each)
    }

    /// The axes of a material or a support; those of the mesh if there are none.
    pub(super) fn axes(&self, axes: Option<&Spanned<AxesTable>>) -> Checked<Axes> {
        let Some(axes) = axes else { return Ok(Axes::Global) };
        let AxesTable { x, y, axis, at, file } = axes.get_ref();
        let vector = |key: &str, value: &Spanned<Vector>| -> Checked<[f64; 3]> {
            let components = value.get_ref().xyz();
            self.check_scale(key, value.span(), &components, &NUMBERS)?;
            self.check_finite(key, value.span(), &components)?;
            Ok(components)
        };
        let example = "axes = { x = [1.0, 1.0, 0.0], y = [-1.0, 1.0, 0.0] }, or round an axis: { axis = [0.0, 0.0, 1.0], at = [0.0, 0.0, 0.0] }, or { file = \"axes.csv\" } of a material";
        if let Some(file) = file {
            let message = "`file` is for the axes of a material, and stands alone";
            return Err(self.error_at(file.span(), message, example));
        }
        match (x, y, axis) {
            (Some(x), Some(y), None) if at.is_none() => {
                let (first, second) = (vector("x", x)?, vector("y", y)?);
                Axes::fixed(first, second).ok_or_else(|| {
                    self.error_at(y.span(), "`x` and `y` are parallel, or one of them is 0", "let them span a plane")
                })
            }
            (None, None, Some(axis)) => {
                let along = unit(vector("axis", axis)?);
                if along == [0.0; 3] {
                    return Err(self.error_at(axis.span(), "`axis` must not be zero", "[0.0, 0.0, 1.0] is along z"));
                }
                let at = at.as_ref().map_or(Ok([0.0; 3]), |at| vector("at", at))?;
                Ok(Axes::Cylinder { at, along })
            }
            _ => Err(self.error_at(axes.span(), "axes are `x` and `y`, or `axis` and `at`", example)),
        }
    }
}
