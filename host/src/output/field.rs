//! What writers and pictures ask of a step: whether it fits the mesh, what moves the nodes, and its scalars at the nodes by
//! the names that users write.

use std::borrow::Cow;
use std::io;

use super::error::{Error, Result};
use crate::mesh::Mesh;
use crate::result::{At, FIELDS, Field, FieldInfo, Physics, Quantity, Step, When};

/// Safety factors are shown up to this: a node without stress has an infinite one.
pub(super) const SAFE: f64 = 10.0;

/// `InvalidInput` names the first field whose lists are not as long as the mesh asks.
pub(super) fn check(step: &Step, mesh: &Mesh) -> io::Result<()> {
    let expect = |name: &str, have: usize, want: usize| match have == want {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name} has {have} values, not {want}"))),
    };
    for Field { info, values } in &step.fields {
        let length = |list: usize| values[list].len() / info.width();
        match info.at {
            At::Node => expect(info.name, length(0), mesh.coords.len())?,
            At::Cell => {
                expect(info.name, values.len(), mesh.cells.len())?;
                mesh.solids().try_for_each(|(block, cells)| expect(info.name, length(block), cells.len()))?;
            }
            At::CellPoint => mesh.solids().try_for_each(|(block, cells)| {
                let points = cells.kind.info().shape.quadrature.len();
                expect(info.name, length(block), points * cells.len())
            })?,
        }
    }
    Ok(())
}

/// The displacements, `[n_nodes]`, if that is what was solved for.
pub(super) fn displacement(step: &Step) -> Option<&[[f64; 3]]> {
    step.field("displacement").map(|field| field.vectors(0))
}

/// The magnitude by which results at the nodes are judged, `[n_nodes]`: the von Mises stress, or that of the gradient.
pub fn sizes(step: &Step) -> Cow<'_, [f64]> {
    match step.field(step.physics.words().nodal) {
        None => Cow::Borrowed(&[]),
        Some(field) if field.info.width() == 1 => Cow::Borrowed(&field.values[0]),
        Some(field) => Cow::Owned(field.magnitudes().concat()),
    }
}

/// Whether what was solved for is zero everywhere, so that there is nothing to see.
pub fn is_zero(step: &Step) -> bool {
    let unknown = step.nodes(step.physics.words().unknown);
    unknown.iter().all(|value| *value == 0.0)
}

/// A scalar at the nodes, by the name that users write.
#[derive(Debug, Clone, PartialEq)]
pub struct PointField {
    /// As in `--field`: `displacement`, `stress_xx`.
    pub name: String,
    /// The field that it is of.
    pub info: &'static FieldInfo,
    /// A component, or else the scalar or the vector's magnitude.
    component: Option<usize>,
}

impl PointField {
    /// The scalars of a field.
    pub(super) fn of(info: &'static FieldInfo) -> impl Iterator<Item = PointField> {
        info.scalars().map(move |(name, component)| PointField { name, info, component })
    }

    /// The scalar of this name, of the fields that are there.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownField`] with the names that there are.
    pub fn named(name: &str, physics: Physics, is_there: impl Fn(&FieldInfo) -> bool) -> Result<PointField> {
        let at_nodes = |info: &&FieldInfo| info.at == At::Node && is_there(info);
        let all = || physics.fields().filter(at_nodes).flat_map(PointField::of);
        let name = name.trim();
        // The name in the VTU file does as well.
        let wanted = name.replace("_nodal", "");
        let unknown = || Error::UnknownField { name: name.into(), available: all().map(|field| field.name).collect() };
        all().find(|field| field.name == wanted).ok_or_else(unknown)
    }

    /// The field that a step is coloured by if nobody names one: the von Mises stress or the potential; of a mode the
    /// displacement.
    pub(super) fn usual(step: &Step) -> PointField {
        let words = step.physics.words();
        let name = if step.is_mode() { words.unknown } else { words.shown };
        let info = FieldInfo::named(name).unwrap_or(&FIELDS[0]);
        PointField { name: info.short_name().into(), info, component: None }
    }

    /// Its values, `[n_nodes]`; none if the step does not have it.
    pub(super) fn values(&self, step: &Step) -> Vec<f64> {
        let of_node = |v: &[f64]| match (self.component, v) {
            (Some(c), _) => v[c],
            (None, &[factor]) if self.is_least_of_interest() => factor.min(SAFE),
            (None, &[scalar]) => scalar,
            (None, _) => v.iter().map(|c| c * c).sum::<f64>().sqrt(),
        };
        step.nodes(self.info.name).chunks_exact(self.info.width()).map(of_node).collect()
    }

    /// Whether hot spots are cut off from its colours.
    pub(super) fn may_be_cut(&self) -> bool {
        self.info.name == "von_mises_nodal"
    }

    /// Whether its smallest value is the one to look at.
    pub(super) fn is_least_of_interest(&self) -> bool {
        self.info.when == When::WithStrength
    }

    /// Whether it has a sign that matters: components of vectors and tensors.
    pub(super) fn is_signed(&self) -> bool {
        self.component.is_some()
    }

    /// What it measures.
    pub(super) fn unit(&self) -> Quantity {
        self.info.unit
    }

    pub(super) fn title(&self) -> String {
        if self.may_be_cut() { "von Mises".into() } else { self.name.replace('_', " ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::of_hex_pair;

    #[test]
    fn every_field_has_a_value_at_every_node_and_no_two_are_alike() {
        for physics in [Physics::Elasticity, Physics::Potential] {
            let step = of_hex_pair(physics, When::Asked);
            let nodes = || physics.fields().filter(|info| info.at == At::Node);
            let all: Vec<PointField> = nodes().flat_map(PointField::of).collect();
            let values: Vec<_> = all.iter().map(|field| field.values(&step)).collect();
            for (i, (field, found)) in all.iter().zip(&values).enumerate() {
                assert_eq!(found.len(), 12, "{}", field.name);
                assert!(!values[..i].contains(found), "{}", field.name);
                assert_eq!(PointField::named(&field.name, physics, |_| true).unwrap(), *field);
            }
            assert_eq!(PointField::usual(&step).info.name, physics.words().shown);
            let error = PointField::named("stres_xx", physics, |_| true).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains(&all[0].name), "{error}");
        }
        let mut step = of_hex_pair(Physics::Elasticity, When::WithStrength);
        let y = PointField::named("displacement_y", Physics::Elasticity, |_| true).unwrap().values(&step);
        assert_eq!(y[3], step.vectors::<3>("displacement")[3][1]);
        *crate::output::tests::values(&mut step, "safety_factor") = (0..12).map(|i| 2.0 * f64::from(i)).collect();
        let factor = PointField::named("safety_factor", Physics::Elasticity, |_| true).unwrap();
        assert_eq!(factor.values(&step)[4..7], [8.0, 10.0, 10.0]);
        assert!(
            PointField::named("safety_factor", Physics::Elasticity, |info| info.when != When::WithStrength).is_err()
        );
    }
}
