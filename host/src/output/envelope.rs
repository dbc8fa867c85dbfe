//! The envelope of load cases: at each node the largest von Mises stress of all, and the case that has it.

use std::io::{self, Seek, Write};

use super::vtu;
use crate::mesh::Mesh;
use crate::result::{At, Field, FieldInfo, Physics, Quantity, Result, Sink, Step, When};

/// What is largest.
const ENVELOPED: &str = "von_mises_nodal";

/// The number of the load case, counted from 1, that has the largest value at a node.
static GOVERNING_CASE: FieldInfo = FieldInfo {
    name: "governing_case",
    at: At::Node,
    components: &[],
    unit: Quantity::Index,
    physics: &[Physics::Elasticity],
    when: When::Asked,
};

/// Takes steps and keeps the largest values.
#[derive(Debug, Default)]
pub struct Envelope {
    /// The largest values, `[n_nodes]`; none before the first step, and of a potential.
    pub values: Vec<f64>,
    /// The number of the step that has each, counted from 1; the first of equals.
    pub case: Vec<f64>,
    n_steps: usize,
}

impl Envelope {
    /// Takes the values of the next step.
    pub fn add(&mut self, step: &Step) {
        self.n_steps += 1;
        let (number, values) = (self.n_steps as f64, step.nodes(ENVELOPED));
        if self.values.is_empty() {
            (self.values, self.case) = (values.to_vec(), vec![number; values.len()]);
        }
        for ((largest, case), value) in self.values.iter_mut().zip(&mut self.case).zip(values) {
            if value > largest {
                (*largest, *case) = (*value, number);
            }
        }
    }

    /// The envelope as a step; none without values.
    pub fn step(&self) -> Option<Step> {
        let info = FieldInfo::named(ENVELOPED).filter(|_| !self.values.is_empty())?;
        let fields = vec![
            Field { info, values: vec![self.values.clone()] },
            Field { info: &GOVERNING_CASE, values: vec![self.case.clone()] },
        ];
        Some(Step { label: "envelope".into(), fields, ..Step::default() })
    }

    /// Writes a step of it as VTU.
    pub(super) fn write<W: Write + Seek>(out: &mut W, mesh: &Mesh, step: &Step, converged: bool) -> io::Result<()> {
        vtu::write(out, mesh, step, &[ENVELOPED.into(), GOVERNING_CASE.name.into()], converged)
    }
}

impl Sink for Envelope {
    fn wants(&self, name: &str) -> bool {
        name == ENVELOPED
    }

    fn take(&mut self, step: Step) -> Result<()> {
        self.add(&step);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_largest_governs() {
        let mut envelope = Envelope::default();
        assert!(envelope.step().is_none() && envelope.wants("von_mises_nodal") && !envelope.wants("stress"));
        for values in [[1.0, 5.0, 2.0], [1.0, 3.0, 4.0]] {
            envelope.take(Step::of(Physics::Elasticity, [("von_mises_nodal", vec![values.to_vec()])])).unwrap();
        }
        let step = envelope.step().unwrap();
        assert_eq!(
            (step.nodes("von_mises_nodal"), step.nodes("governing_case")),
            (&[1.0, 5.0, 4.0][..], &[1.0, 1.0, 2.0][..])
        );
    }
}
