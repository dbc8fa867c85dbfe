//! What a study of modes asks of a model, and what of it plays no part.

use std::collections::HashMap;

use super::names::list;
use super::select::Selector;
use super::{Checked, HeldSpace, Model};

/// Refuses more modes than there are unknowns which nothing holds.
pub(super) fn check(model: &Model, selector: &Selector<'_>) -> Checked {
    let (case, table) = (selector.case, &selector.case.tables.analysis);
    if let Some(harmonic) = case.tables.harmonic.as_ref().filter(|_| model.constraints.are_driven()) {
        let message = "[harmonic]: a coupling prescribes displacements, and they do not vibrate";
        return Err(case.error_at(harmonic.span(), message, "prescribe 0, or prescribe them in [[support]]"));
    }
    let n = unknowns(model, selector);
    if model.modes <= n {
        return Ok(());
    }
    let place = table.modes.as_ref().map(|modes| modes.span()).or(table.study.as_ref().map(|study| study.span()));
    let message = match n {
        0 => "supports hold every node: nothing can move".to_string(),
        _ => format!("`modes` is {}, and the model has {n} unknowns that nothing holds", model.modes),
    };
    let help = if n == 0 { "leave a support out".to_string() } else { format!("modes = {n}, or fewer") };
    Err(case.error_at(place.unwrap_or(0..0), message, help))
}

/// Unknowns that are neither held nor follow from others.
fn unknowns(model: &Model, selector: &Selector<'_>) -> usize {
    let mut held: HashMap<u32, HeldSpace> = HashMap::new();
    let on_axis = super::on_axis(model.analysis, selector.mesh).map(|node| (node, [1.0, 0.0, 0.0], 0.0));
    let by_supports = model.supports.iter().flat_map(|support| support.held(&selector.mesh.coords));
    for (node, direction, value) in by_supports.chain(on_axis) {
        held.entry(node).or_default().add(direction, value);
    }
    let nodes = selector.in_solid.iter().filter(|in_solid| **in_solid).count();
    let of_node = |(node, space): (&u32, &HeldSpace)| match selector.in_solid[*node as usize] {
        true => space.directions().len(),
        false => 0,
    };
    let taken = held.iter().map(of_node).sum::<usize>() + model.constraints.n_slaves();
    (nodes * model.analysis.components()).saturating_sub(taken)
}

/// The names of what prescribes displacements that are not 0.
fn moved(model: &Model) -> Vec<&str> {
    let is_moved = |values: &[Option<f64>; 3]| values.iter().flatten().any(|value| *value != 0.0);
    let moved = model.supports.iter().filter(|support| is_moved(&support.displacement));
    let driven = model.constraints.are_driven().then_some("a coupling");
    moved.map(|support| support.name.as_str()).chain(driven).collect()
}

/// What there is to say of loads and prescribed displacements.
pub(super) fn idle(model: &Model) -> Vec<String> {
    let volume = [
        ("gravity", model.gravity.is_some_and(|g| g != [0.0; 3])),
        ("rotation", model.rotation.is_some_and(|rotation| rotation.speed != 0.0)),
        ("temperature", model.temperature.is_some()),
    ];
    let volume = volume.into_iter().filter(|(_, acts)| *acts).map(|(name, _)| name);
    let mut loads: Vec<&str> = volume.chain(model.applied.iter().map(|load| load.name.as_str())).collect();
    let mut moved = moved(model);
    if model.response.is_some() {
        loads.clear();
        moved.clear();
    }
    let said = |what: &str, names: &[&str]| (!names.is_empty()).then(|| format!("{what}: {}", list(names)));
    let loads =
        said("loads do not change the natural frequencies here (their stress does with `prestress = true`)", &loads);
    let moved = said("prescribed displacements count as 0 in a modal study", &moved);
    loads.into_iter().chain(moved).collect()
}

#[cfg(test)]
mod tests {
    use crate::element::ElementKind::Hex8;
    use crate::mesh::generate::generate_box;
    use crate::model::testing::{CLAMP, beside, head, load, load_on, refused, warned};
    use crate::model::{Damping, Excitation, Study};

    /// [`head`]'s box with a density, in a modal study with more of `[analysis]`.
    fn modal(analysis: &str, rest: &str) -> String {
        let material = head("hex8").replace("poisson = 0.3", "poisson = 0.3\ndensity = 2.0");
        format!("{material}[analysis]\nstudy = \"modal\"\n{analysis}{rest}")
    }

    #[test]
    fn a_body_that_nothing_holds_has_modes() {
        let model = load(&modal("modes = 12\nshift = 3.0\n", "")).unwrap();
        assert_eq!((model.study, model.modes, model.shift), (Study::Modal, 12, 3.0));
        assert!(warned(&model).is_empty(), "{:?}", model.warnings);
        assert_eq!((model.n_steps(), &*model.step_name(11)), (12, "mode 12"));
        assert!(model.has_steps() && !model.fields.iter().any(|name| name == "reaction_force"));
        let cube = generate_box(Hex8, [1.0; 3], [2; 3]).unwrap();
        let two = load_on(&modal("", CLAMP), beside(cube.clone(), &cube, [1.0, 0.0, 0.0])).unwrap();
        assert!(warned(&two).iter().any(|said| said.contains("are not merged")), "{:?}", two.warnings);
    }

    #[test]
    fn loads_and_prescribed_displacements_are_said_to_play_no_part() {
        let rest = "[gravity]\nacceleration = [0.0, 0.0, -9.81]\n[[pressure]]\non = \"zmax\"\nvalue = 1.0\n\
                    [[support]]\non = \"xmin\"\nfix = \"xy\"\ndisplacement = { z = 1e-3 }\n";
        let model = load(&modal("", rest)).unwrap();
        let said = [
            "loads do not change the natural frequencies here (their stress does with `prestress = true`): gravity, pressure on zmax",
            "prescribed displacements count as 0 in a modal study: xmin",
        ];
        assert_eq!(warned(&model), said);
        let loads = model.loads(0);
        assert!(loads.gravity.is_none() && loads.applied.is_empty());
        assert!(loads.nodal_forces.iter().all(|force| *force == [0.0; 3]));
    }

    const PROBES: &str = "[output]\nprobes = [{ name = \"tip\", at = [1.0, 0.0, 0.0] }]\n";
    const PRESSED: &str = "[[pressure]]\non = \"zmax\"\nvalue = 1.0\n";

    /// The modal study with loads and a probe, and what `[harmonic]` says.
    fn shaken(keys: &str, more: &str) -> String {
        modal("", &format!("{CLAMP}{PRESSED}{more}[harmonic]\n{keys}{PROBES}"))
    }

    #[test]
    fn loads_that_vibrate_are_those_of_the_model() {
        let model = load(
            &shaken("from = 1.0\nto = 3.0\npoints = 3\ndamping = [0.01, 0.02]\n", "")
                .replace("[analysis]\n", "[analysis]\nmodes = 2\n"),
        )
        .unwrap();
        let response = model.response.as_ref().unwrap();
        let frequencies = vec![1.0, 2.0, 3.0];
        assert_eq!(response.excitation, Excitation::Harmonic { frequencies, is_range: true, fields: vec![] });
        assert_eq!(response.damping, Damping::Ratios(vec![0.01, 0.02]));
        assert!(warned(&model).is_empty() && !model.bears_loads(), "{:?}", model.warnings);
        assert_eq!(model.loads(0).applied.len(), 1);
        let listed = load(&shaken("frequencies = [9.0, 0.0, 9.0]\nrayleigh = [0.0, 1e-4]\n", "")).unwrap();
        assert_eq!(listed.response.unwrap().probed(&[1.0]), [0.0, 9.0]);
        let still = shaken("frequencies = 9.0\ndamping = 0.1\n", "").replace(PRESSED, "");
        assert!(warned(&load(&still).unwrap()).iter().any(|said| said.contains("[harmonic] finds nothing")));
    }

    #[test]
    fn loads_that_cannot_vibrate_are_refused() {
        const RANGE: &str = "from = 1.0\nto = 9.0\n";
        for (keys, words) in [
            (RANGE, "needs `damping` or `rayleigh`"),
            ("damping = 0.02\n", "either `frequencies`, or `from` and `to`"),
            ("damping = 0.02\nfrom = 1.0\n", "either `frequencies`, or `from` and `to`"),
            ("damping = 0.02\nfrequencies = [1.0]\npoints = 7\n", "either `frequencies`, or `from` and `to`"),
            ("damping = 0.02\nfrequencies = []\n", "`frequencies` is empty"),
            ("damping = 0.02\nfields = []\n", "`fields` is empty"),
            ("damping = 0.02\nfields = [1.0]\npoints = 3\n", "either `frequencies`, or `from` and `to`"),
            ("damping = 0.02\nfrequencies = [-1.0, 2.0]\n", "`frequencies` must be 0 or more"),
            ("damping = 0.02\nfrequencies = [inf]\n", "`frequencies` must be finite"),
            ("damping = 0.02\nfrom = 3.0\nto = 3.0\n", "`to` must be larger than `from`"),
            ("damping = 0.02\nfrom = 1.0\nto = 9.0\npoints = 1\n", "`points` must be from 2 to 100000"),
            ("damping = 2.0\nfrom = 1.0\nto = 9.0\n", "more than 0, less than 1"),
            ("damping = [0.1, 0.0]\nfrom = 1.0\nto = 9.0\n", "more than 0, less than 1"),
            ("damping = [0.1, 0.2]\nfrom = 1.0\nto = 9.0\n", "has 2 numbers, and there are 10 modes"),
            ("rayleigh = [0.0, 0.0]\nfrom = 1.0\nto = 9.0\n", "not both 0"),
            ("rayleigh = [-1.0, 1.0]\nfrom = 1.0\nto = 9.0\n", "not negative"),
            ("damping = 0.1\nrayleigh = [0.0, 1.0]\nfrom = 1.0\nto = 9.0\n", "say the same twice"),
        ] {
            refused(&shaken(keys, ""), 2, &[words]);
        }
        let good = format!("{RANGE}damping = 0.02\n");
        refused(
            &shaken(&good, "[rotation]\naxis = [0.0, 0.0, 1.0]\nspeed = 1.0\n"),
            2,
            &["[rotation] does not vibrate"],
        );
        refused(
            &shaken(&good, "").replace("study = \"modal\"", "study = \"static\""),
            2,
            &["belongs to a modal study"],
        );
        refused(
            &shaken(&good, "").replace("[analysis]\n", "[analysis]\nprestress = true\n"),
            2,
            &["at rest and vibrate"],
        );
        refused(&shaken(&good, "").replace(PROBES, ""), 2, &["names neither", "probes = "]);
        let fields = load(&shaken("fields = [7.0, 3.0]\ndamping = 0.02\n", "").replace(PROBES, "")).unwrap();
        assert_eq!((fields.n_steps(), &*fields.step_name(13)), (14, "response 2, imaginary"));
        assert_eq!(fields.response.unwrap().shown(&[1.0]), [3.0, 7.0]);
        let moved = "[[support]]\non = \"xmax\"\ndisplacement = { x = 0.1 }\n";
        assert!(load(&shaken(&good, moved)).is_ok());
        let driven = "[[remote]]\nname = \"pin\"\non = \"xmax\"\ndisplacement = { x = 0.1 }\n";
        refused(&shaken(&good, driven), 2, &["a coupling prescribes displacements"]);
    }

    #[test]
    fn more_modes_than_unknowns_and_materials_without_density_are_refused() {
        // 5 x 3 x 2 nodes, of which 6 are held.
        assert!(load(&modal("modes = 72\n", CLAMP)).is_ok());
        refused(&modal("modes = 73\n", CLAMP), 2, &["`modes` is 73, and the model has 72 unknowns", "modes = 72"]);
        let all = "[[support]]\nbox = { min = [-1, -1, -1], max = [9, 9, 9] }\nfix = \"xyz\"\n";
        refused(&modal("", all), 2, &["supports hold every node"]);
        let without = modal("", "").replace("density = 2.0\n", "");
        refused(&without, 4, &["a modal study needs the density of material `soft`"]);
    }
}
