//! Checks of `[temperature]`, `[[pressure]]`, `[[load]]` and `[[bolt]]` that need no mesh.

use toml::Spanned;

use super::Case;
use super::scale::NUMBERS;
use super::tables::{BoltTable, LoadTable, PressureTable, TemperatureTable};
use super::vector::{Numbers, Vector};
use crate::model::Checked;

/// A force and a moment.
pub(in crate::model) struct Couple {
    pub force: [f64; 3],
    pub moment: [f64; 3],
    /// Where the force acts, if that is not at the centre.
    pub at: Option<[f64; 3]>,
}

impl Case {
    pub(in crate::model) fn check_temperature(&self, table: &Spanned<TemperatureTable>) -> Checked {
        let TemperatureTable { reference, value, file, from, heat, on, nodal } = table.get_ref();
        let places =
            [value.as_ref().map(Spanned::span), file.as_ref().map(Spanned::span), from.as_ref().map(Spanned::span)];
        if let [_, second, ..] = &places.iter().flatten().collect::<Vec<_>>()[..] {
            let message = "[temperature] says more than one of `value`, `file`, `from`";
            return Err(self.error_at((*second).clone(), message, "leave one of them out"));
        }
        self.check_number("reference", reference)?;
        value.iter().chain(on.iter().map(|on| &on.value)).try_for_each(|value| self.check_number("value", value))?;
        let is_said = value.is_some() || file.is_some() || from.is_some() || heat.is_some();
        match !is_said && on.is_empty() && nodal.is_empty() {
            true => {
                let help = "value = 80.0 everywhere, `on` and `value` in [[temperature.on]], or file = \"points.csv\"";
                Err(self.error_at(table.span(), "[temperature] does not say how warm the body is", help))
            }
            false => Ok(()),
        }
    }

    pub(in crate::model) fn check_pressure(&self, load: &Spanned<PressureTable>) -> Checked {
        let table = load.get_ref();
        let ways = [table.value.is_some(), table.gradient.is_some(), table.file.is_some()];
        if ways.iter().filter(|&&there| there).count() != 1 {
            let message = "a pressure is said by exactly one of `value`, `gradient`, `file`";
            let help = "value = 2e6; gradient = 9810.0 and level = [x, y, z] of a liquid; file = \"points.csv\"";
            return Err(self.error_at(load.span(), message, help));
        }
        table.value.iter().try_for_each(|value| self.check_number("value", value))?;
        match (&table.gradient, &table.level, &table.direction) {
            (Some(_), ..) => self.liquid(table).map(|_| ()),
            (None, Some(level), _) => {
                let help = "gradient = 9810.0 is that of water in N/m^3; leave `level` out for another pressure";
                Err(self.error_at(level.span(), "`level` belongs to the `gradient` of a liquid", help))
            }
            (None, _, Some(direction)) => {
                let help = "a pressure acts along the normal; a load with a direction is [[traction]]";
                Err(self.error_at(direction.span(), "`direction` belongs to the `gradient` of a liquid", help))
            }
            _ => Ok(()),
        }
    }

    /// What a liquid's pressure grows by per length, a point of its surface, and where down is.
    pub(in crate::model) fn liquid(&self, table: &PressureTable) -> Checked<(f64, Vector, [f64; 3])> {
        let Some(gradient) = &table.gradient else { return Ok((0.0, Vector::default(), [0.0; 3])) };
        self.check_number("gradient", gradient)?;
        let Some(level) = &table.level else {
            let help = "level = [0.0, 0.0, 2.5] is a point of the liquid's surface";
            return Err(self.error_at(gradient.span(), "`gradient` needs the `level` of the liquid", help));
        };
        self.check_point("level", level)?;
        let gravity = self.tables.gravity.as_ref().map(|table| &table.get_ref().acceleration);
        let Some(down) = table.direction.as_ref().or(gravity) else {
            let help = "direction = [0.0, 0.0, -1.0] is against z; with [gravity] it is left out";
            return Err(self.error_at(gradient.span(), "there is no `direction`: where is down?", help));
        };
        self.check_vector("direction", down)?;
        match down.get_ref().xyz() {
            [0.0, 0.0, 0.0] => {
                let help = "direction = [0.0, 0.0, -1.0] is against z";
                Err(self.error_at(down.span(), "`direction` must not be zero", help))
            }
            down => Ok((*gradient.get_ref(), level.get_ref().clone(), down)),
        }
    }

    /// The force and the moment of a `[[load]]`, and where the force acts if it says so.
    pub(in crate::model) fn couple(&self, load: &Spanned<LoadTable>) -> Checked<Couple> {
        let LoadTable { force, moment, at, .. } = load.get_ref();
        if force.is_none() && moment.is_none() {
            let help = "force = [x, y, z], moment = [x, y, z], or both";
            return Err(self.error_at(load.span(), "this load has neither `force` nor `moment`", help));
        }
        if let Some(at) = at.as_ref().filter(|_| force.is_none()) {
            let help = "a moment alone is the same wherever it acts: leave `at` out";
            return Err(self.error_at(at.span(), "`at` is where the `force` acts, and there is none", help));
        }
        if self.analysis().is_revolved() {
            let help = "the force along the axis is [[force]]";
            return Err(self.error_at(load.span(), "a body of revolution takes no [[load]]", help));
        }
        force.iter().try_for_each(|force| self.check_vector("force", force))?;
        at.iter().try_for_each(|at| self.check_point("at", at))?;
        let moment = moment.as_ref().map_or(Ok([0.0; 3]), |moment| self.moment("moment", moment))?;
        let vector = |value: &Spanned<Vector>| value.get_ref().xyz();
        Ok(Couple { force: force.as_ref().map_or([0.0; 3], vector), moment, at: at.as_ref().map(vector) })
    }

    /// The preload of a bolt, or its shortening.
    pub(in crate::model) fn bolt(&self, bolt: &Spanned<BoltTable>) -> Checked<[Option<f64>; 2]> {
        let BoltTable { preload, shortening, .. } = bolt.get_ref();
        if preload.is_some() == shortening.is_some() {
            let message = "a bolt has exactly one of `preload`, `shortening`";
            return Err(self.error_at(bolt.span(), message, "preload = 5e3 is the force in its shank"));
        }
        preload.iter().try_for_each(|force| self.check_positive("preload", force))?;
        shortening.iter().try_for_each(|length| self.check_number("shortening", length))?;
        Ok([preload, shortening].map(|given| given.as_ref().map(|value| *value.get_ref())))
    }

    /// What is about x, y, z: three numbers, or in the plane one.
    pub(super) fn moment(&self, key: &str, moment: &Spanned<Numbers>) -> Checked<[f64; 3]> {
        let numbers = &moment.get_ref().0;
        self.check_finite(key, moment.span(), numbers)?;
        self.check_scale(key, moment.span(), numbers, &NUMBERS)?;
        let (message, help) = match (&numbers[..], self.dim()) {
            (&[m] | &[0.0, 0.0, m], Some(2)) => return Ok([0.0, 0.0, m]),
            (&[x, y, z], Some(3)) => return Ok([x, y, z]),
            (_, Some(2)) => (format!("`{key}` in the plane is one number"), format!("{key} = 50.0 is about z")),
            _ => (format!("`{key}` has three numbers"), format!("{key} = [0.0, 0.0, 50.0] is about z")),
        };
        Err(self.error_at(moment.span(), message, help))
    }
}
