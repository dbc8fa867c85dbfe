//! Decks of heat, and of the stress that it causes: cards beside exact answers and case files, what is printed, what is refused.

use crate::common::{assert_close, devices};
use crate::decks::{model, path, refused, text};
use crate::heat::times;
use warpfem::device::DeviceName;
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::model::case::Case;
use warpfem::output::dat;
use warpfem::pipeline::{self, Solution};
use warpfem::result::Steps;
use warpfem::solve::Silent;

/// A bar of length 2 along x, k = 50, c rho = 1, with this in its steps. `11, F3` and `16, F3` are its far end.
fn bar(steps: &str) -> String {
    let deck = text("gmsh.inp");
    let body = deck
        .split("*STEP\n")
        .next()
        .unwrap()
        .replace("*ELASTIC\n", "*CONDUCTIVITY\n50.\n*DENSITY\n2.\n*SPECIFIC HEAT\n.5\n*EXPANSION\n1.E-5\n*ELASTIC\n");
    let sets = "*NSET, NSET=ALL, GENERATE\n1, 12\n*AMPLITUDE, NAME=RISE\n0., 0., 2., 1.\n\
                *INITIAL CONDITIONS, TYPE=TEMPERATURE\nALL, 20.\n";
    format!("{body}{sets}{steps}")
}

fn step(kind: &str, cards: &str) -> String {
    format!("*STEP\n*{kind}\n{cards}*NODE PRINT, NSET=ALL\nNT, RFL\n*EL PRINT, ELSET=body\nHFL\n*END STEP\n")
}

const STEADY: &str = "HEAT TRANSFER, STEADY STATE";
const HOT: &str = "*BOUNDARY\nroot, 11, 11, 120.\n";
const FILM: &str = "*FILM\n11, F3, 20., 25.\n16, F3, 20., 25.\n";

fn deck(steps: &str) -> Model {
    model("gmsh.inp", &bar(steps))
}

/// All steps, with what is printed of each.
fn solved(model: &Model, device: DeviceName) -> Vec<(Solution, String)> {
    let space = Space::open(device).unwrap();
    let mut kept = Steps { fields: pipeline::asked_fields(model, &dat::fields(model)), ..Steps::default() };
    let found = pipeline::solve_into(&space, model, &mut kept, &Silent).unwrap();
    let printed = |(number, (of, step)): (usize, (Solution, _))| {
        let mut text = Vec::new();
        dat::write(&mut text, model, number, &step).unwrap();
        (Solution { step, ..of }, String::from_utf8(text).unwrap())
    };
    found.into_iter().zip(kept.steps).enumerate().map(printed).collect()
}

/// The rows of a table of a `.dat`: a node's values, or an element's, with its point.
fn rows(dat: &str, heading: &str) -> Vec<Vec<f64>> {
    let table = dat.split(heading).nth(1).unwrap_or_else(|| panic!("{heading}: {dat}"));
    let lines = table.lines().skip(2).take_while(|line| !line.is_empty());
    lines.map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect()).collect()
}

fn along_x(model: &Model, t: impl Fn(f64) -> f64) -> Vec<f64> {
    model.mesh.coords.iter().map(|x| t(x[0])).collect()
}

/// A film, a flux and a heater, each beside a held end; what is printed of nodes adds up to what flows, and elements have the flux.
#[test]
fn a_bar_is_heated_as_cards_say() {
    let flux = "*DFLUX, AMPLITUDE=RISE\n11, S3, 600.\n16, S3, 600.\n";
    let (point, heater) = ("*CFLUX\nend, 11, 75.\n", "*DFLUX\nbody, BF, 150.\n");
    let slopes: [(&str, Option<f64>, f64); 4] =
        [(FILM, Some(-25.0), -1250.0), (flux, Some(6.0), 300.0), (point, None, 300.0), (heater, None, 300.0)];
    for device in devices() {
        for (cards, slope, flow) in slopes {
            let model = deck(&step(STEADY, &format!("{HOT}{cards}")));
            let [(of, dat)] = &solved(&model, device)[..] else { panic!("one step") };
            if let Some(slope) = slope {
                let exact = along_x(&model, |x| 120.0 + slope * x);
                assert_close(cards, of.step.nodes("temperature"), &exact, 1e-9, 120.0);
                let printed: Vec<f64> = rows(dat, "temperatures for set").iter().map(|row| row[1]).collect();
                assert_close("printed", &printed, &exact, 1e-6, 120.0);
                for row in rows(dat, "heat flux (elem") {
                    assert_close("flux", &row[2..], &[-50.0 * slope, 0.0, 0.0], 1e-6, 300.0);
                }
            }
            let flows = rows(dat, "heat generation for set");
            let at =
                |ends: [f64; 4]| -> f64 { flows.iter().filter(|row| ends.contains(&row[0])).map(|row| row[1]).sum() };
            let inside = if cards == heater { 0.0 } else { flow };
            assert_close(
                cards,
                &[at([1.0, 4.0, 7.0, 10.0])],
                &[if cards == heater { -300.0 + 75.0 } else { -flow }],
                0.26,
                300.0,
            );
            assert!(cards == heater || (at([3.0, 6.0, 9.0, 12.0]) - inside).abs() < 1e-3, "{dat}");
        }
    }
}

/// Increments of one length go by backward Euler, and are printed as often as a card says; a step goes on from the one before.
#[test]
fn steps_in_time_go_on_from_each_other() {
    let direct = |length: &str| format!("HEAT TRANSFER, DIRECT\n0.005, {length}");
    let cards = format!("{HOT}{FILM}");
    let whole = deck(
        &step(&direct("0.04"), &cards)
            .replace("NSET=ALL\n", "NSET=ALL, FREQUENCY=3\n")
            .replace("*EL PRINT, ELSET=body\nHFL\n", ""),
    );
    let parts = deck(&(step(&direct("0.02"), &cards) + &step(&direct("0.02"), "")));
    assert_eq!((whole.n_steps(), parts.n_steps(), parts.others.len()), (3, 8, 1));
    let [whole, parts] = [&whole, &parts].map(|model| solved(model, DeviceName::Cpu));
    let at: Vec<f64> = whole.iter().map(|(of, _)| of.step.value).collect();
    assert_close("times", &at, &[0.015, 0.03, 0.04], 1e-12, 1.0);
    let (last, end) = (&whole[2].0.step, &parts[7].0.step);
    assert_close("the end", end.nodes("temperature"), last.nodes("temperature"), 1e-6, 100.0);
    assert!(whole[2].1.contains("temperatures for set ALL and time  0.4000000E-01"), "{}", whole[2].1);
    // The same of a case, and of steps that the program chooses.
    let case = "[analysis]\nkind = \"heat\"\nstudy = \"transient\"\n[[material]]\nname = \"m\"\nconductivity = 50.0\ndensity = 2.0\n\
         specific_heat = 0.5\n[[support]]\non = \"ROOT\"\nvalue = 120.0\n[time]\nend = 0.04\nstep = 0.005\ninitial = 20.0\n\
         scheme = \"backward_euler\"\noutputs = 1\n";
    let case = Case::parse(path("part.toml").as_path(), &format!("[mesh]\nfile = \"gmsh.inp\"\n{case}")).unwrap();
    let case = Model::resolve(&case, case.mesh().unwrap()).unwrap();
    let held = deck(&step(&direct("0.04"), HOT));
    let [of_case, of_deck] = [&case, &held].map(|model| times(model, DeviceName::Cpu).pop().unwrap());
    assert_close("case", of_deck.step.nodes("temperature"), of_case.step.nodes("temperature"), 1e-6, 100.0);
    let chosen = deck(&step("HEAT TRANSFER\n0.001, 40.", &cards));
    let of_chosen = times(&chosen, DeviceName::Cpu).pop().unwrap();
    assert_close("at rest", of_chosen.step.nodes("temperature"), &along_x(&chosen, |x| 120.0 - 25.0 * x), 1e-5, 100.0);
}

/// What heats and holds may change in time: an end that warms evenly is half as warm at half the time.
#[test]
fn amplitudes_are_of_heat_too() {
    let cards = "*BOUNDARY, AMPLITUDE=RISE\nALL, 11, 11, 100.\n*CFLUX, AMPLITUDE=RISE\nend, 11, 8.\n";
    let model = deck(&step("HEAT TRANSFER, DIRECT\n0.5, 2.", cards));
    for (of, factor) in times(&model, DeviceName::Cpu).iter().zip([0.25, 0.5, 0.75, 1.0]) {
        assert_close("held", of.step.nodes("temperature"), &along_x(&model, |_| 100.0 * factor), 1e-9, 100.0);
        assert_close("applied", &[of.applied[0]], &[32.0 * factor], 1e-9, 32.0);
    }
}

/// A coupled step finds the temperatures, then what a step of statics with the same temperatures finds.
#[test]
fn stress_follows_from_heat() {
    let held = "*BOUNDARY\nroot, 1, 3\n*CLOAD\nend, 3, -5.\n";
    let prints = "*NODE PRINT, NSET=ALL\nU, NT\n*EL PRINT, ELSET=body\nS\n*END STEP\n";
    let nodes: String = (1..=12).map(|tag| format!("{tag}, {}.\n", 120 - 25 * ((tag - 1) % 3))).collect();
    let warm = deck(&format!("*STEP\n*STATIC\n{held}*TEMPERATURE\n{nodes}{prints}"));
    let (expected, table) = solved(&warm, DeviceName::Cpu).pop().unwrap();
    for kind in ["UNCOUPLED", "COUPLED"] {
        let steady = format!("*STEP\n*{kind} TEMPERATURE-DISPLACEMENT, STEADY STATE\n{held}{HOT}{FILM}{prints}");
        for device in devices() {
            let (of, dat) = solved(&deck(&steady), device).pop().unwrap();
            let [found, exact] = [&of, &expected].map(|of| of.displacement().as_flattened());
            assert_close(kind, found, exact, 1e-7, 1e-3);
            let [found, exact] = [&dat, &table].map(|dat| rows(dat, "temperatures for set").concat());
            assert_close("temperatures", &found, &exact, 1e-6, 120.0);
        }
    }
    let in_time = format!("*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n10., 40.\n{held}{HOT}{FILM}{prints}");
    let found = solved(&deck(&in_time), DeviceName::Cpu);
    assert_eq!(found.iter().map(|(of, _)| of.step.value).collect::<Vec<_>>(), [10.0, 20.0, 30.0, 40.0]);
    let [last, exact] = [&found[3].0, &expected].map(|of| of.displacement().as_flattened());
    assert_close("at the end", last, exact, 1e-4, 1e-3);
}

/// What is not linear, or not clear, is refused where it stands.
#[test]
fn decks_of_heat_are_refused_with_reason() {
    let steady = |cards: &str| step(STEADY, cards);
    let transient = |cards: &str| step("HEAT TRANSFER\n0.1, 1.", cards);
    let coupled = "*STEP\n*COUPLED TEMPERATURE-DISPLACEMENT";
    for (steps, said) in [
        (steady(&format!("{HOT}*RADIATE\n11, R3, 20., .8\n")), "*RADIATE: radiation goes with the fourth power"),
        (steady(""), "has no fixed value"),
        (steady(&format!("{HOT}*CFLUX\nend, 2, 8.\n")), "component 2 has no flux"),
        (steady(&format!("{HOT}*CFLUX\nend, 11\n")), "a flux has a component and a value"),
        (steady(&format!("{HOT}*DFLUX\n11, S3\n")), "which flux is meant?"),
        (steady(&format!("{HOT}*DFLUX\n11, S7, 8.\n")), "element 11 has no face S7"),
        (steady(&format!("{HOT}*DFLUX\n11, S3NU, 8.\n")), "S3NU is not supported"),
        (steady(&format!("{HOT}*FILM\n11, F3FC, 20., 25.\n")), "F3FC is not supported"),
        (steady(&format!("{HOT}*FILM\n11, F3, 20.\n")), "a film has the temperature of what flows past"),
        (steady(&format!("{HOT}*FILM\n11, F3, 20., -3.\n")), "`coefficient` must be greater than 0"),
        (steady(&format!("{HOT}*DSFLUX\nSKIN, S, 20.\n")), "there is no surface of faces SKIN"),
        (step("HEAT TRANSFER\n2., 1.", HOT), "the increment is more than 0, and not longer than the step"),
        (step("HEAT TRANSFER, DIRECT\n.001, 1.", HOT), "the step has 1000 increments, and INC allows 100"),
        (step("HEAT TRANSFER, FREQUENCY", HOT), "acoustics by way of heat"),
        (
            transient(&format!("{HOT}*FILM, FILM AMPLITUDE=RISE\n11, F3, 20., 25.\n")),
            "coefficients that change in time",
        ),
        (steady(HOT) + "*STEP\n*STATIC\n*END STEP\n", "steps of heat and others stand in one deck"),
        (format!("*STEP, NLGEOM\n*{}\n", &coupled[7..]), "NLGEOM: large displacements"),
        (format!("{coupled}\n.1, 1.\n{HOT}*END STEP\n{coupled}\n.1, 1.\n*END STEP\n"), "in a deck of one step"),
        (
            format!("{coupled}\n.1, 1.\n{HOT}*CLOAD, AMPLITUDE=RISE\nend, 1, 1.\n*END STEP\n"),
            "forces that change in time beside heat",
        ),
    ] {
        refused("gmsh.inp", &bar(&steps), said);
    }
    let changed = |from: &str, to: &str| bar(&transient(HOT)).replacen(from, to, 1);
    refused(
        "gmsh.inp",
        &changed("50.\n", "50., 0.\n60., 100.\n"),
        "changes with the temperature, which is what is solved for",
    );
    refused("gmsh.inp", &changed("*CONDUCTIVITY\n50.\n", ""), "material STEEL has no *CONDUCTIVITY");
    refused("gmsh.inp", &changed("*SPECIFIC HEAT\n.5\n", ""), "needs the `specific_heat` of material `STEEL`");
    refused(
        "gmsh.inp",
        &changed("*CONDUCTIVITY\n50.\n", "*CONDUCTIVITY, TYPE=ANISO\n5., 5., 5., 0., 0., 0.\n"),
        "TYPE=ANISO is not supported",
    );
    let uneven = bar(&format!("{coupled}, STEADY STATE\n*BOUNDARY\nroot, 1, 3\n{HOT}*END STEP\n"));
    refused(
        "gmsh.inp",
        &uneven.replacen("ALL, 20.\n", "ALL, 20.\nend, 30.\n", 1),
        "the initial temperature is not the same everywhere",
    );
}

/// Wherever a deck is cut, it is refused, or read as it stands.
#[test]
fn a_deck_of_heat_may_be_cut_anywhere() {
    let cards = format!("{HOT}{FILM}*CFLUX, AMPLITUDE=RISE\nend, 11, 8.\n*DFLUX, OP=NEW\nbody, BF, 8.\n");
    let deck = bar(&step("HEAT TRANSFER, DIRECT\n.1, 1.", &cards));
    let whole = deck.rfind("*END STEP").unwrap();
    for end in (0..whole).step_by(3) {
        assert!(Case::parse(&path("gmsh.inp"), &deck[..end]).is_err(), "cut at {end}");
    }
}
