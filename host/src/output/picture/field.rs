//! The fields that pictures can be coloured by: those at nodes of the one [list](Fields), their magnitudes and
//! components.

use crate::model::{Quantity, SAFETY_FACTOR};
use crate::output::error::{Error, Result};
use crate::output::{Fields, Values};

/// Safety factors are shown up to this: a node without stress has an infinite one.
pub(super) const SAFE: f64 = 10.0;

/// A scalar at the nodes, by the name that users write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointField {
    /// As in `--field`: `displacement`, `stress_xx`.
    pub name: String,
    /// The name of the field in the list.
    of: &'static str,
    /// A component, or else the scalar or the vector's magnitude.
    component: Option<usize>,
    /// What it measures.
    pub quantity: Quantity,
}

impl PointField {
    /// All that there are of some results.
    fn all(fields: &Fields) -> Vec<PointField> {
        let mut all = Vec::new();
        for field in fields.list.iter().filter(|field| matches!(field.values, Values::Nodes(_))) {
            let base = field.name.trim_end_matches("_nodal");
            let of = |name, component| PointField { name, of: field.name, component, quantity: field.quantity };
            if field.components.len() <= 3 {
                all.push(of(base.into(), None));
            }
            let parts = field.components.iter().enumerate();
            all.extend(parts.map(|(c, part)| of(format!("{base}_{part}"), Some(c))));
        }
        all
    }

    /// The field of this name, of results with safety factors or without.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownField`] with the names that there are.
    pub fn named(name: &str, is_potential: bool, has_strength: bool) -> Result<PointField> {
        let (potential, stresses, nodal) = Default::default();
        let fields = match is_potential {
            true => Fields::potential(&potential, &[]),
            false => Fields::elastic(&[], &[], &stresses, &nodal, if has_strength { &[1.0] } else { &[] }, &[]),
        };
        let all = PointField::all(&fields);
        let available = all.iter().map(|field| field.name.clone()).collect();
        let name = name.trim();
        // The name in the VTU file does as well.
        let wanted = name.replace("_nodal", "");
        all.into_iter()
            .find(|field| field.name == wanted)
            .ok_or_else(|| Error::UnknownField { name: name.into(), available })
    }

    /// The usual field: the von Mises stress or the potential.
    pub(super) fn usual(fields: &Fields) -> PointField {
        let (of, quantity) = match fields.displacement() {
            Some(_) => ("von_mises_nodal", Quantity::Stress),
            None => ("potential", Quantity::Unlabelled),
        };
        PointField { name: of.trim_end_matches("_nodal").into(), of, component: None, quantity }
    }

    /// Its values, `[n_nodes]`; none if the list does not have it.
    pub(super) fn values(&self, fields: &Fields) -> Vec<f64> {
        let Some(field) = fields.list.iter().find(|field| field.name == self.of) else { return vec![] };
        let Values::Nodes(values) = field.values else { return vec![] };
        let of_node = |v: &[f64]| match (self.component, v) {
            (Some(c), _) => v[c],
            (None, &[factor]) if self.is_least_of_interest() => factor.min(SAFE),
            (None, &[scalar]) => scalar,
            (None, _) => v.iter().map(|c| c * c).sum::<f64>().sqrt(),
        };
        values.chunks_exact(field.width()).map(of_node).collect()
    }

    /// Whether hot spots are cut off from its colours.
    pub(super) fn may_be_cut(&self) -> bool {
        self.of == "von_mises_nodal"
    }

    /// Whether its smallest value is the one to look at.
    pub(super) fn is_least_of_interest(&self) -> bool {
        self.of == SAFETY_FACTOR
    }

    /// Whether it has a sign that matters: components of vectors and tensors.
    pub(super) fn is_signed(&self) -> bool {
        self.component.is_some()
    }

    pub(super) fn title(&self) -> String {
        if self.may_be_cut() { "von Mises".into() } else { self.name.replace('_', " ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::{Results, potential};

    #[test]
    fn every_field_has_a_value_at_every_node_and_no_two_are_alike() {
        let (mut elastic, potential) = (Results::of_hex_pair(), potential());
        elastic.safety_factor = (0..12).map(|i| 2.0 * f64::from(i)).collect();
        for (is_potential, fields, usual) in
            [(false, elastic.fields(), "von_mises"), (true, Fields::potential(&potential, &[]), "potential")]
        {
            let all = PointField::all(&fields);
            let values: Vec<_> = all.iter().map(|field| field.values(&fields)).collect();
            for (i, (field, found)) in all.iter().zip(&values).enumerate() {
                assert_eq!(found.len(), 12, "{}", field.name);
                assert!(!values[..i].contains(found), "{}", field.name);
                assert_eq!(PointField::named(&field.name, is_potential, true).unwrap(), *field);
                assert!(PointField::named(&field.name, !is_potential, true).is_err());
            }
            assert_eq!(PointField::usual(&fields), PointField::named(usual, is_potential, false).unwrap());
        }
        let fields = elastic.fields();
        let y = PointField::named("displacement_y", false, false).unwrap().values(&fields);
        assert_eq!(y[3], elastic.displacement[3][1]);
        let error = PointField::named("stres_xx", false, false).unwrap_err();
        assert!(error.exit_code() == 2 && error.to_string().contains("stress_xx, "), "{error}");
        let factor = PointField::named("safety_factor", false, true).unwrap();
        assert_eq!(factor.values(&fields)[4..7], [8.0, 10.0, 10.0]);
        assert!(factor.is_least_of_interest() && PointField::named("safety_factor", false, false).is_err());
    }
}
