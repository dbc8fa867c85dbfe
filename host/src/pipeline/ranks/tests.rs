//! Multigrid on levels that ranks share, whatever the level that is put together.

use super::super::{Solution, run_all};
use super::{GATHERED, with_others};
use crate::device::DeviceName;
use crate::element::ElementKind;
use crate::linalg::Space;
use crate::mesh::generate::generate_box;
use crate::model::{Case, Model};
use crate::result::Steps;
use crate::result::choices::{Operator, Preconditioner};
use crate::solve::Silent;
use std::path::Path;

/// A bar of two materials, pulled at its end.
fn bar(kind: ElementKind, cells: [usize; 3]) -> Model {
    let text = "[mesh]\nfile = \"bar.msh\"\n[[material]]\nname = \"steel\"\nyoung = 210e3\npoisson = 0.3\n\
                [[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[traction]]\non = \"xmax\"\nvector = [0.0, 1.0, -2.0]\n";
    let case = Case::parse(Path::new("bar.toml"), text).unwrap();
    Model::resolve(&case, generate_box(kind, [4.0, 1.0, 1.0], cells).unwrap()).unwrap()
}

fn solved(model: &Model, n: usize, gathered: usize) -> Solution {
    let space = Space::open_several(&DeviceName::Cpu.several(n)).unwrap();
    let mut kept = Steps { fields: vec!["displacement".into()], ..Steps::default() };
    let found = with_others(&space, model, gathered, |ranks| run_all(&space, model, 1, (&mut kept, &Silent), ranks));
    let mut solution = found.unwrap().swap_remove(0);
    solution.step = kept.steps.swap_remove(0);
    solution
}

#[test]
fn shared_levels_take_no_more_iterations() {
    for (kind, cells) in [(ElementKind::Hex8, [32, 8, 8]), (ElementKind::Tet10, [12, 3, 3])] {
        let mut model = bar(kind, cells);
        (model.solver.tolerance, model.solver.preconditioner) = (1e-10, Some(Preconditioner::Amg));
        model.solver.operator = Some(Operator::Assembled);
        let alone = solved(&model, 1, GATHERED);
        let largest = alone.displacement().as_flattened().iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        for (n, gathered) in [(2, GATHERED), (2, 400), (3, 0), (5, 0)] {
            let shared = solved(&model, n, gathered);
            let levels = &shared.used.hierarchy.as_ref().unwrap().levels;
            println!(
                "{} {n} {gathered} {:?}",
                kind.info().name,
                levels.iter().map(|of| of.unknowns()).collect::<Vec<_>>()
            );
            let [with, without] = [&shared, &alone].map(|of| of.outcome.iterations);
            assert!(
                with as f64 <= 1.25 * without as f64 + 1.0,
                "{n} ranks, {gathered}: {with} and {without} iterations"
            );
            let pairs = shared.displacement().as_flattened().iter().zip(alone.displacement().as_flattened());
            let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest;
            assert!(off < 1e-9, "{n} ranks, {gathered}: {off:e}");
        }
    }
}
