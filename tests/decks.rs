//! Decks of CalculiX and Abaqus, long because each card and each mistake has its line: those of other programs as they write them,
//! each card beside what a case file says, and mistakes, each at its line.

use crate::common::{assert_close, devices};
use std::path::{Path, PathBuf};
use warpfem::device::DeviceName;
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::model::case::{Case, deck_mesh};
use warpfem::output::dat;
use warpfem::pipeline::{self, Solution};
use warpfem::result::Steps;
use warpfem::result::choices::{Method, Operator, Preconditioner};
use warpfem::solve::Silent;

pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/decks").join(name)
}

pub fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

pub fn model(name: &str, text: &str) -> Model {
    let case = Case::parse(&path(name), text).unwrap_or_else(|error| panic!("{error}"));
    let mesh = case.mesh().unwrap_or_else(|error| panic!("{error}"));
    exact(Model::resolve(&case, mesh).unwrap_or_else(|error| panic!("{error}")))
}

/// Solved until rounding allows no more.
fn exact(mut model: Model) -> Model {
    model.solver.residual_tolerance = Some(1e-11);
    model
}

fn solve(model: &Model) -> Solution {
    pipeline::solve(model, DeviceName::Cpu, &Silent).unwrap()
}

/// The same body with these tables of a case file, on the mesh of the deck.
fn as_case(name: &str, tables: &str) -> Solution {
    solve(&case_model(name, tables))
}

fn case_model(name: &str, tables: &str) -> Model {
    let head =
        "[mesh]\nfile = \"deck\"\n[[material]]\nname = \"steel\"\nyoung = 210e3\npoisson = 0.3\ndensity = 7.8e-9\n";
    let case =
        Case::parse(Path::new("case.toml"), &format!("{head}{tables}")).unwrap_or_else(|error| panic!("{error}"));
    let mesh = deck_mesh(&path(name)).unwrap_or_else(|error| panic!("{error}"));
    exact(Model::resolve(&case, mesh).unwrap_or_else(|error| panic!("{error}")))
}

fn assert_same(deck: &Solution, case: &Solution) {
    let [deck, case] = [deck, case].map(|solution| solution.displacement().as_flattened());
    let largest = case.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
    assert_close("displacements", deck, case, 1e-9, largest);
}

/// Gmsh leaves lines and surfaces as elements beside the body.
#[test]
fn a_deck_of_gmsh_is_its_body() {
    let deck = solve(&model("gmsh.inp", &text("gmsh.inp")));
    let loads = "[[support]]\non = \"ROOT\"\nfix = \"xyz\"\n[[force]]\non = \"END\"\ntotal = [0.0, 0.0, -100.0]\n";
    assert_same(&deck, &as_case("gmsh.inp", loads));
}

#[test]
fn a_deck_of_prepomax_is_pressed_and_heavy() {
    let deck = solve(&model("prepomax.inp", &text("prepomax.inp").replace("0.28", "0.3")));
    let case = "[gravity]\nacceleration = [0.0, 0.0, -9810.0]\n[[support]]\non = \"INTERNAL-1_FIXED\"\nfix = \"xyz\"\n\
                [[pressure]]\non = \"SURFACE-1\"\nvalue = 10.0\n";
    assert_same(&deck, &as_case("prepomax.inp", case));
}

#[test]
fn a_deck_of_freecad_includes_its_mesh() {
    let deck = model("freecad.inp", &text("freecad.inp"));
    let total: f64 = deck.nodal_forces.iter().map(|f| f[2]).sum();
    assert!((deck.applied[0].total[2] - total).abs() < 1e-12 && total < -99.0, "{:?}", deck.applied);
    assert_eq!(deck.mesh.coords.len(), model("prepomax.inp", &text("prepomax.inp")).mesh.coords.len());
    assert!(solve(&deck).outcome.converged);
}

/// Two instances of a part, the second one moved and turned by nothing, are one bar.
#[test]
fn instances_of_abaqus_are_placed_and_tied() {
    let deck = model("abaqus.inp", &text("abaqus.inp"));
    let (low, high) = deck.mesh.extent();
    assert_eq!((low, high), ([0.0; 3], [2.0, 1.0, 1.0]));
    assert_eq!(deck.mesh.node_tags[20..22], [101, 102], "the second instance's tags are shifted");
    let deck = solve(&deck);
    let case = "[[support]]\non = \"ROOT\"\nfix = \"xyz\"\n[[tie]]\nslave = \"SLAVE\"\nmaster = \"MASTER\"\n\
                [[pressure]]\non = \"TOP\"\nvalue = 10.0\n[[point_force]]\non = \"END\"\nvector = [0.0, 3.0, 0.0]\n";
    assert_same(&deck, &as_case("abaqus.inp", case));
    let turned =
        text("abaqus.inp").replace("1.,           1.,           0.,           0.\n*End", "1., 1., 0., 90.\n*End");
    let (low, high) = Case::parse(&path("abaqus.inp"), &turned).unwrap().mesh().unwrap().extent();
    assert_close("extent", &[low[1], low[2], high[1], high[2]], &[0.0, -1.0, 1.0, 1.0], 1e-12, 1.0);
}

/// The side that is followed may be a surface of faces, or of their nodes.
#[test]
fn a_deck_of_a_sector_is_a_cyclic_case() {
    let deck = text("sector.inp");
    let faces = deck.split("*SURFACE, NAME=START\n").nth(1).unwrap().split('*').next().unwrap();
    let of_nodes = deck.replace("NAME=START\n", "NAME=START, TYPE=NODE\n").replace(faces, "STARTS\n");
    let case = "[[support]]\non = \"HUB\"\nfix = \"xyz\"\n[rotation]\naxis = [0.0, 0.0, 1.0]\nspeed = 1e3\n\
                [gravity]\nacceleration = [0.0, 0.0, 9810.0]\n[[cyclic]]\nfrom = \"START\"\nto = \"STOP\"\naxis = [0.0, 0.0, 1.0]\n";
    let case = as_case("sector.inp", case);
    for deck in [&deck, &of_nodes] {
        assert_same(&solve(&model("sector.inp", deck)), &case);
    }
}

/// Cylindrical axes, an equation with a point that is loaded by an amplitude, and a second step whose loads replace the first's.
#[test]
fn two_steps_are_two_load_cases() {
    let deck = text("by_hand.inp");
    let model = model("by_hand.inp", &deck);
    let steps = pipeline::solve_cases(&Space::open(DeviceName::Cpu).unwrap(), &model, &Silent).unwrap();
    let tie: String = {
        let case = Case::parse(&path("by_hand.inp"), &deck).unwrap();
        let tags = deck.lines().filter_map(|line| Some(line.strip_suffix(", 3, 1., 999, 3, -1.")?.to_string()));
        let tags: Vec<String> = tags.collect();
        assert!(case.deck.is_some() && tags.len() > 1);
        let equal = |tag: &String| {
            let term = |tag: &str, factor| format!("{{ node = {tag}, dof = \"z\", factor = {factor} }}");
            format!("[[equation]]\nterms = [{}, {}]\n", term(&tags[0], "1.0"), term(tag, "-1.0"))
        };
        let force = format!("[[point_force]]\nname = \"first\"\nnode = {}\nvector = [0.0, 0.0, 20.0]\n", tags[0]);
        tags[1..].iter().map(equal).collect::<String>() + &force
    };
    let held = "[[support]]\non = \"SIDES\"\nfix = \"t\"\naxes = { axis = [0.0, 0.0, 1.0] }\n[[support]]\non = \"BOTTOM\"\nfix = \"z\"\n";
    let first = as_case("by_hand.inp", &format!("{held}{tie}[rotation]\naxis = [0.0, 0.0, 1.0]\nspeed = 1e3\n"));
    assert_same(&steps[0], &first);
    // The force of the first step stays.
    assert!(steps[1].applied[2] != 0.0 && (steps[1].applied[2] - 20.0).abs() < 1e-9, "{:?}", steps[1].applied);
    let names: Vec<&str> = model.load_cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["step 1", "step 2"]);
}

/// Steps that are held or heated otherwise are models of their own, load cases of one result.
#[test]
fn steps_of_other_supports_are_solved_one_by_one() {
    let deck = text("gmsh.inp").replace("*ELASTIC\n", "*EXPANSION\n1e-5\n*ELASTIC\n").replace(
        "*STEP\n",
        "*NSET, NSET=ALLNODES, GENERATE\n1, 12\n*INITIAL CONDITIONS, TYPE=TEMPERATURE\nALLNODES, 20.\n*STEP\n",
    );
    let later = "*STEP\n*STATIC\n*CLOAD, OP=NEW\nend, 2, 1.\n*END STEP\n\
                 *STEP\n*STATIC\n*BOUNDARY\nend, 1, 1, 0.01\n*TEMPERATURE\nALLNODES, 50.\n*END STEP\n\
                 *STEP\n*STATIC\n*BOUNDARY, OP=NEW\nend, 1, 3\n*CLOAD, OP=NEW\nroot, 3, 5.\n\
                 *TEMPERATURE, OP=NEW\nALLNODES, 30.\n*TEMPERATURE, OP=NEW\nroot, 40.\n*END STEP\n\
                 *STEP\n*STATIC\n*BOUNDARY\nroot, 1, 1, 0.02\n*CLOAD, OP=NEW\n*END STEP\n";
    let model = model("gmsh.inp", &(deck + later));
    assert_eq!((model.n_steps(), model.load_cases.len(), model.others.len()), (5, 2, 3));
    let names: Vec<_> = (0..5).map(|step| model.step_name(step).into_owned()).collect();
    assert_eq!(names, ["step 1", "step 2", "step 3", "step 4", "step 5"]);
    let is_of_cases = |said: &&String| said.contains("nothing loads") || said.contains("there is no [temperature]");
    assert_eq!(model.warnings.iter().find(is_of_cases), None);
    let steps = pipeline::solve_cases(&Space::open(DeviceName::Cpu).unwrap(), &model, &Silent).unwrap();
    assert_eq!(steps.iter().map(|of| of.step.value).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    let (root, end) = ("[[support]]\non = \"ROOT\"\nfix = \"xyz\"\n", "[[support]]\non = \"END\"\n");
    let force = |on: &str, total: &str| format!("[[force]]\non = \"{on}\"\ntotal = {total}\n");
    let heated = |rest: &str| format!("[temperature]\nreference = 20.0\n{rest}");
    let cooled = heated("value = 30.0\n[[temperature.on]]\non = \"ROOT\"\nvalue = 40.0\n");
    let cases = [
        format!("{root}{}", force("END", "[0.0, 0.0, -100.0]")),
        format!("{root}{}", force("END", "[0.0, 4.0, 0.0]")),
        format!(
            "{}{root}{end}displacement = {{ x = 0.01 }}\n{}",
            heated("value = 50.0\n"),
            force("END", "[0.0, 4.0, 0.0]")
        ),
        format!("{}{end}fix = \"xyz\"\n{}", cooled, force("ROOT", "[0.0, 0.0, 20.0]")),
        format!("{cooled}{end}fix = \"xyz\"\n[[support]]\non = \"ROOT\"\ndisplacement = {{ x = 0.02 }}\n"),
    ];
    for (step, case) in steps.iter().zip(cases) {
        assert_same(step, &as_case("gmsh.inp", &format!("expansion = 1e-5\n{case}")));
    }
}

/// The corners of a bar along x, from one at the origin, in the order of decks, and the ends of its edges.
const CORNERS: [[u8; 3]; 8] = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
const EDGES: [[usize; 2]; 12] =
    [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]];

/// Two bars in a row, held at one end: springs along the lines between four pairs of nodes join them, others keep the second from
/// moving across. Its far face keeps plane and is pulled.
fn bars(kind: &str, [young, rate, pull]: [f64; 3]) -> String {
    let n_nodes = if kind == "C3D8" { 8 } else { 20 };
    let block = |first: usize, x: f64| -> String {
        let corner = |n: usize| CORNERS[n].map(f64::from);
        let node = |n: usize| match n.checked_sub(8) {
            None => corner(n),
            Some(edge) => {
                let [a, b] = EDGES[edge].map(corner);
                [0, 1, 2].map(|c| 0.5 * (a[c] + b[c]))
            }
        };
        let line = |n: usize| {
            let [i, j, k] = node(n);
            format!("{}, {}, {j}, {k}\n", first + n, x + i)
        };
        (0..n_nodes).map(line).collect()
    };
    let element = |first: usize| (first..first + n_nodes).map(|tag| tag.to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "*NODE\n{}{}100, 6., .2, .7\n*ELEMENT, TYPE={kind}, ELSET=A\n1, {}\n*ELEMENT, TYPE={kind}, ELSET=B\n2, {}\n\
         *ELEMENT, TYPE=SPRINGA, ELSET=ALONG\n31, 2, 51\n32, 3, 54\n33, 6, 55\n34, 7, 58\n*SPRING, ELSET=ALONG\n\n{rate}\n\
         *ELEMENT, TYPE=SPRING2, ELSET=Y\n41, 2, 51\n42, 6, 55\n*SPRING, ELSET=Y\n2, 2\n1.\n\
         *ELEMENT, TYPE=SPRING2, ELSET=Z\n61, 2, 51\n*SPRING, ELSET=Z\n3, 3\n1.\n\
         *MATERIAL, NAME=MA\n*ELASTIC\n{young}, 0.\n*SOLID SECTION, ELSET=A, MATERIAL=MA\n\
         *MATERIAL, NAME=MB\n*ELASTIC\n{young}, .3\n*SOLID SECTION, ELSET=B, MATERIAL=MB\n\
         *SURFACE, NAME=FAR\n2, S4\n*SURFACE, NAME=CUT\n1, S4\n*SURFACE, NAME=ROOT\n1, S6\n*NSET, NSET=LAST\n100, 53\n\
         *COUPLING, REF NODE=100, SURFACE=FAR, CONSTRAINT NAME=C\n*KINEMATIC\n1, 1\n\
         *BOUNDARY\n1, 1, 3\n4, 1, 3\n5, 1, 3\n8, 1, 3\n100, 2, 6\n*STEP\n*STATIC\n*CLOAD\n100, 1, {pull}\n\
         *NODE PRINT, NSET=LAST\nU\n*SECTION PRINT, SURFACE=CUT, NAME=CUT\nSOF, SOM\n*END STEP\n",
        block(1, 0.0),
        block(51, 3.0),
        element(1),
        element(51),
    )
}

/// Springs and bars are in series, and the second is free to become narrower.
#[test]
fn springs_join_nodes_and_a_coupling_may_take_one_component() {
    let (e, k, pull) = (100.0, 5.0, 8.0);
    let mut model = model("joined.inp", &bars("C3D8", [e, k, pull]));
    let by = [Method::Direct, Method::Cg].into_iter().zip([None, Some(Preconditioner::Amg)]);
    let without = (Method::Cg, Some(Preconditioner::Jacobi), Some(Operator::MatrixFree));
    let by = by.map(|(method, preconditioner)| (method, preconditioner, None)).chain([without]);
    for (device, (method, preconditioner, operator)) in
        devices().into_iter().flat_map(|of| by.clone().map(move |by| (of, by)))
    {
        (model.solver.method, model.solver.preconditioner, model.solver.operator) =
            (Some(method), preconditioner, operator);
        let solution = pipeline::solve(&model, device, &Silent).unwrap();
        let (u, lengthened) = (solution.displacement(), 2.0 * pull / e + pull / (4.0 * k));
        let node = |tag: u64| u[model.mesh.node_tags.iter().position(|known| *known == tag).unwrap()];
        for tag in [52, 53, 56, 57] {
            assert!((node(tag)[0] - lengthened).abs() < 1e-9, "{tag}: {:?} for {lengthened}", node(tag));
        }
        assert!((node(53)[1] - node(52)[1] + 0.3 * pull / e).abs() < 1e-9, "{:?} {:?}", node(52), node(53));
        let mut dat = Vec::new();
        dat::write(&mut dat, &model, 0, &solution.step).unwrap();
        let dat = String::from_utf8(dat).unwrap();
        let row = |start: &str, behind: usize| -> Vec<f64> {
            let at =
                dat.lines().position(|line| line.trim().starts_with(start)).unwrap_or_else(|| panic!("{start}: {dat}"));
            dat.lines().nth(at + behind).unwrap().split_whitespace().map(|word| word.parse().unwrap()).collect()
        };
        assert_close("the point", &row("displacements", 2), &[100.0, lengthened, 0.0, 0.0], 1e-6, 1.0);
        assert_close(
            "force and moment",
            &row("total surface", 2),
            &[pull, 0.0, 0.0, 0.0, 0.5 * pull, -0.5 * pull],
            1e-6,
            pull,
        );
        assert_close("centre and normal", &row("center of", 2), &[1.0, 0.5, 0.5, 1.0, 0.0, 0.0], 1e-6, 1.0);
        assert_close("sizes", &row("area,", 2), &[1.0, pull, 0.0, 0.0, 0.0], 1e-6, pull);
    }
}

/// Axes of a cylinder are those at the node itself, also where no element has it.
#[test]
fn a_reference_node_prints_along_its_axes_or_those_of_the_mesh() {
    let deck = bars("C3D8", [100.0, 5.0, 8.0])
        .replace("*COUPLING", "*NSET, NSET=P\n100\n*TRANSFORM, NSET=P, TYPE=C\n0., 0., 0., 0., 0., 1.\n*COUPLING")
        .replace("U\n", "U\n*NODE PRINT, NSET=P, GLOBAL=YES\nU\n");
    let model = model("joined.inp", &deck);
    let mut dat = Vec::new();
    dat::write(&mut dat, &model, 0, &solve(&model).step).unwrap();
    let dat = String::from_utf8(dat).unwrap();
    let rows: Vec<[f64; 3]> = dat.lines().filter_map(|line| line.strip_prefix("       100")).map(of_row).collect();
    let [[radial, around, _], [x, y, _]] = rows[..] else { panic!("{dat}") };
    let [cos, sin] = [6.0, 0.2].map(|c: f64| c / 6.0_f64.hypot(0.2));
    assert!(radial > 0.1 && around == 0.0, "{dat}");
    assert_close("along x and y", &[x, y], &[radial * cos, radial * sin], 1e-6, radial);
}

/// Displacements of a node for rotations are those of its reference node, and forces there are moments: as ccx prints them.
#[test]
fn a_node_for_rotations_prints_rotations_and_moments() {
    let body = "*NODE, NSET=P\n901, 9., .5, .5\n902, 9., .5, .5\n*RIGID BODY, NSET=end, REF NODE=901, ROT NODE=902\n\
                *BOUNDARY\n902, 1, 1, .01\n*STEP\n";
    let deck = text("gmsh.inp").replace("*STEP\n", body);
    let deck = deck.replace("end,3,-25.\n", "901, 1, 30.\n902, 2, 7.\n*NODE PRINT, NSET=P\nU, RF\n");
    let model = model("gmsh.inp", &deck);
    let solution = solve(&model);
    let mut dat = Vec::new();
    dat::write(&mut dat, &model, 0, &solution.step).unwrap();
    let dat = String::from_utf8(dat).unwrap();
    let of = |tag: &str| -> Vec<[f64; 3]> {
        dat.lines().filter_map(|line| line.strip_prefix(&format!("       {tag}"))).map(of_row).collect()
    };
    let ccx = [
        ("901", [[2.505698e-4, 7.330060e-3, -8.267670e-3], [30.0, 0.0, 0.0]]),
        ("902", [[0.01, 1.036406e-3, 9.133105e-4], [324.1821, 7.0, 0.0]]),
    ];
    for (tag, [motion, force]) in ccx {
        let found = of(tag);
        assert_close(tag, &found[0], &motion, 1e-6, 0.01);
        assert_close(tag, &found[1], &force, 1e-6, 300.0);
    }
}

fn of_row(row: &str) -> [f64; 3] {
    let numbers: Vec<f64> = row.split_whitespace().map(|word| word.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// Products without a matrix have springs, too, and so has the level of the vertices that multigrid begins with.
#[test]
fn multigrid_without_a_matrix_knows_springs() {
    let deck = bars("C3D20", [100.0, 5e3, 8.0])
        .replace("*COUPLING, REF NODE=100, SURFACE=FAR, CONSTRAINT NAME=C\n*KINEMATIC\n1, 1\n", "");
    let deck = deck.replace("100, 2, 6\n", "").replace("100, 1, 8", "53, 1, 8");
    let by = |method, operator| {
        let mut model = model("joined.inp", &deck);
        (model.solver.method, model.solver.operator) = (Some(method), operator);
        model.solver.preconditioner = operator.map(|_| Preconditioner::Amg);
        model
    };
    let (direct, free) = (by(Method::Direct, None), by(Method::Cg, Some(Operator::MatrixFree)));
    for device in devices() {
        let [expected, found] = [&direct, &free].map(|model| pipeline::solve(model, device, &Silent).unwrap());
        assert_eq!(found.used.plan.preconditioner, Some(Preconditioner::Amg));
        assert!(found.outcome.converged && found.outcome.iterations < 40, "{:?}", found.outcome.iterations);
        assert_same(&found, &expected);
    }
}

/// The displacements of a reference node are those of a point where an equation asks for them.
#[test]
fn an_equation_may_drive_a_reference_node() {
    let whole = bars("C3D8", [100.0, 5.0, 8.0]).replace("*KINEMATIC\n1, 1\n", "*KINEMATIC\n");
    let direct = whole.replace("100, 2, 6\n", "100, 2, 6\n100, 1, 1, .01\n");
    let by_equation = whole
        .replace("100, 2, 6\n", "100, 2, 6\n101, 1, 1, .01\n")
        .replace("*COUPLING", "*NODE\n101, 9., 0., 0.\n*EQUATION\n2\n100, 1, 1., 101, 1, -1.\n*COUPLING");
    let [direct, by_equation] = [direct, by_equation].map(|deck| model("joined.inp", &deck));
    assert_eq!((direct.constraints.remotes.len(), by_equation.constraints.remotes.len()), (1, 0));
    let [direct, by_equation] = [direct, by_equation].map(|model| solve(&model));
    assert!(direct.displacement().iter().any(|u| (u[0] - 0.01).abs() < 1e-9));
    assert_same(&by_equation, &direct);
}

/// What a deck prints: a heading, a row per node and integration point.
#[test]
fn prints_have_the_columns_of_ccx() {
    let model = model(
        "prepomax.inp",
        &text("prepomax.inp").replace(
            "*Node print, Nset=Internal-1_Fixed, Totals=Yes\nRF",
            "*El print, Elset=Solid_part-1\nS\n*Node print, Nset=Internal-1_Fixed, Totals=Yes\nRF",
        ),
    );
    let fields = dat::fields(&model);
    assert_eq!(fields, ["stress_points", "nodal_force"]);
    let solution = pipeline::solve_asked(&Space::open(DeviceName::Cpu).unwrap(), &model, &fields, &Silent).unwrap();
    let mut dat = Vec::new();
    dat::write(&mut dat, &model, 0, &solution.step).unwrap();
    let dat = String::from_utf8(dat).unwrap();
    let lines: Vec<&str> = dat.lines().collect();
    let heading = " stresses (elem, integ.pnt.,sxx,syy,szz,sxy,sxz,syz) for set SOLID_PART-1 and time  0.1000000E+01";
    assert_eq!(lines[1], heading);
    assert_eq!(lines.iter().filter(|line| line.starts_with("         1   ")).count(), 4, "{dat}");
    let numbers: Vec<f64> = lines[3].split_whitespace().skip(2).map(|word| word.parse().unwrap()).collect();
    assert!(numbers.len() == 6 && lines[3].len() == 14 + 6 * 14, "{:?}", lines[3]);
    let total = lines.iter().position(|line| line.starts_with(" total force")).unwrap();
    let sum: Vec<f64> = lines[total + 2].split_whitespace().map(|word| word.parse().unwrap()).collect();
    // Supports carry the load, but for what acts on their own nodes.
    assert!(sum[2] > 10.0 && sum[0].abs() < 1e-6, "{sum:?}");
}

/// `*FREQUENCY`, alone or about the state at the end of a step of statics, and `*BUCKLE`, beside studies of case files.
#[test]
fn steps_of_modes_are_studies() {
    let held = "[[support]]\non = \"ROOT\"\nfix = \"xyz\"\n";
    let loads = format!("{held}[[force]]\non = \"END\"\ntotal = [0.0, 0.0, -100.0]\n");
    let deck = text("gmsh.inp").replace("*ELASTIC\n", "*DENSITY\n7.8e-9\n*ELASTIC\n");
    let about = "*END STEP\n*STEP, PERTURBATION\n*FREQUENCY, STORAGE=YES\n2\n*EL PRINT, FREQUENCY=0\n*END STEP\n";
    for (deck, study, rest) in [
        (deck.replace("*STATIC\n", "*FREQUENCY\n2\n"), "study = \"modal\"", held),
        (deck.replace("*END STEP\n", about), "study = \"modal\"\nprestress = true", &loads),
        (deck.replace("*STATIC\n", "*BUCKLE\n2\n"), "study = \"buckling\"", &loads),
    ] {
        let model = model("gmsh.inp", &deck);
        assert_eq!(model.modes, 2);
        let (found, case) = (solve(&model), as_case("gmsh.inp", &format!("[analysis]\n{study}\nmodes = 2\n{rest}")));
        assert!(found.outcome.converged && found.step.value > 0.0, "{study}: {:?}", found.outcome);
        assert!((found.step.value / case.step.value - 1.0).abs() < 1e-9, "{study}");
    }
}

/// A step behind `*FREQUENCY`: vibration beside what a case file says, and motion in time, which with much damping ends at rest.
#[test]
fn modes_move_under_loads() {
    let deck = text("gmsh.inp").replace("*ELASTIC\n", "*DENSITY\n7.8e-9\n*ELASTIC\n");
    let still = solve(&model("gmsh.inp", &deck));
    let steps = |deck: &str| {
        let mut sink = Steps { fields: ["displacement", "nodal_force"].map(String::from).into(), ..Steps::default() };
        let model = model("gmsh.inp", deck);
        pipeline::solve_into(&Space::cpu(), &model, &mut sink, &Silent).unwrap();
        assert_eq!(sink.steps.iter().filter(|step| step.is_mode()).count(), 2);
        (sink.steps, model)
    };
    let behind = |card: &str| {
        deck.replace(
            "*STATIC\n",
            &format!("*FREQUENCY, STORAGE=YES\n2\n*BOUNDARY\nroot,1,3\n*END STEP\n*STEP, INC=400\n{card}"),
        )
    };
    let (vibration, model) =
        steps(&behind("*STEADY STATE DYNAMICS\n100., 200., 3\n*MODAL DAMPING\n1, 1, 0.05\n2, 2, 0.1\n"));
    let rest = "[analysis]\nstudy = \"modal\"\nmodes = 2\n[[support]]\non = \"ROOT\"\nfix = \"xyz\"\n\
                [[force]]\non = \"END\"\ntotal = [0.0, 0.0, -100.0]\n\
                [harmonic]\nfields = [100.0, 150.0, 200.0]\ndamping = [0.05, 0.1]\n";
    let case = pipeline::solve_cases(&Space::cpu(), &case_model("gmsh.inp", rest), &Silent).unwrap();
    let behind_modes = vibration.iter().zip(&case).skip(2);
    assert_eq!((vibration.len(), case.len()), (8, 8));
    for (of_deck, of_case) in behind_modes {
        let [of_deck, of_case] = [of_deck, &of_case.step].map(|step| step.vectors::<3>("displacement").as_flattened());
        let largest = of_case.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
        assert_close("vibration", of_deck, of_case, 1e-6, largest);
    }
    let mut prints = Vec::new();
    vibration.iter().enumerate().for_each(|(k, step)| dat::write(&mut prints, &model, k, step).unwrap());
    assert_eq!(String::from_utf8(prints).unwrap().matches("and time  0.1500000E+03").count(), 4, "U and RF");
    // RF, of the root alone.
    let (motion, at_end) = steps(&behind("*MODAL DYNAMIC\n0.001, 0.1\n*MODAL DAMPING\n1, 2, 0.7\n"));
    assert_eq!((motion.len(), &*motion[101].label, motion[101].value), (102, "time 0.1", 0.1));
    let [end, at_rest] = [&motion[101], &still.step].map(|step| step.vectors::<3>("displacement").as_flattened());
    let largest = at_rest.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
    assert_close("at the end", end, at_rest, 1e-6, largest);
    let mut prints = Vec::new();
    dat::write(&mut prints, &at_end, 101, &motion[101]).unwrap();
    let prints = String::from_utf8(prints).unwrap();
    let total: Vec<f64> =
        prints.split_once("total force").unwrap().1.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert_close("RF", &total[total.len() - 3..], &[0.0, 0.0, 100.0], 1e-5, 100.0);
    // After every 30th and 40th increment, and the last.
    let (seldom, of_seldom) = steps(
        &behind("*MODAL DYNAMIC\n0.001, 0.1\n*MODAL DAMPING\n1, 2, 0.7\n")
            .replace("NSET=end\n", "NSET=end, FREQUENCY=30\n")
            .replace("TOTALS=ONLY", "TOTALS=ONLY, FREQUENCY=40"),
    );
    let blocks = |k: usize| {
        let mut prints = Vec::new();
        dat::write(&mut prints, &of_seldom, k, &seldom[k]).unwrap();
        ["displacements", "total force"].map(|word| String::from_utf8_lossy(&prints).matches(word).count())
    };
    let found: Vec<_> = (2..seldom.len()).map(|k| (seldom[k].value, blocks(k))).collect();
    let [of_end, of_root] = [[1, 0], [0, 1]];
    let expected = [(0.03, of_end), (0.04, of_root), (0.06, of_end), (0.08, of_root), (0.09, of_end), (0.1, [1, 1])];
    assert!(found.iter().map(|(_, blocks)| blocks).eq(expected.iter().map(|(_, blocks)| blocks)), "{found:?}");
    found.iter().zip(expected).for_each(|((time, _), (expected, _))| assert!((time - expected).abs() < 1e-9, "{time}"));
    let [seldom, each] = [&seldom[7], &motion[101]].map(|step| step.vectors::<3>("displacement").as_flattened());
    assert_close("at the end", seldom, each, 1e-12, largest);
}

/// What several amplitudes do adds up, and so does what bases do along several directions; a base that moves by an acceleration is
/// one by its second integral.
#[test]
fn loads_and_bases_move_by_their_own_amplitudes() {
    let head = text("gmsh.inp").replace("*ELASTIC\n", "*DENSITY\n7.8e-9\n*ELASTIC\n");
    let (head, _) = head.split_once("*STEP\n").unwrap();
    let amplitudes = "*AMPLITUDE, NAME=A\n0., 0., 2e-4, 1., 4e-4, 0.5\n*AMPLITUDE, NAME=B\n0., 0., 3e-4, 0., 5e-4, 2.\n\
                      *AMPLITUDE, NAME=C\n0., 2.\n*AMPLITUDE, NAME=D\n0., 0., 1e-3, 1e-3\n";
    let motion = |kind: &str, cards: &str| -> Vec<f64> {
        let deck = format!(
            "{head}{amplitudes}*STEP\n*FREQUENCY, STORAGE=YES\n3\n*BOUNDARY\nroot, 1, 3\n*END STEP\n\
             *STEP\n{kind}\n*MODAL DAMPING\n1, 3, 0.05\n{cards}*NODE FILE\nU\n*END STEP\n"
        );
        let mut sink = Steps { fields: vec!["displacement".into()], ..Steps::default() };
        pipeline::solve_into(&Space::cpu(), &model("gmsh.inp", &deck), &mut sink, &Silent).unwrap();
        let motion = sink.steps.iter().filter(|step| !step.is_mode());
        motion.flat_map(|step| step.vectors::<3>("displacement").as_flattened().to_vec()).collect()
    };
    let (time, vibration) = ("*MODAL DYNAMIC\n1e-4, 1e-3", "*STEADY STATE DYNAMICS\n100., 900., 3");
    let same = |what: &str, found: &[f64], parts: &[Vec<f64>]| {
        let sum: Vec<f64> = (0..found.len()).map(|k| parts.iter().map(|part| part[k]).sum()).collect();
        let largest = sum.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
        assert!(largest > 0.0 && parts.iter().all(|part| part.len() == found.len()), "{what}");
        assert_close(what, found, &sum, 1e-6, largest);
    };
    for kind in [time, vibration] {
        for cards in [
            [
                "*CLOAD, AMPLITUDE=A\nend, 3, 5.\n",
                "*DLOAD, AMPLITUDE=B\nbody, GRAV, 1e7, 0., 1., 0.\n",
                "*CLOAD\nend, 1, 9.\n",
            ],
            [
                "*BASE MOTION, DOF=1, AMPLITUDE=A, SCALE=1e7\n",
                "*BASE MOTION, DOF=3, AMPLITUDE=B, TYPE=DISPLACEMENT\n",
                "*CLOAD\nend, 1, 1e4\n",
            ],
        ] {
            same(cards[0], &motion(kind, &cards.concat()), &cards.map(|card| motion(kind, card)));
        }
    }
    // 0.5 C t^2 at increments is t^2.
    let accelerated = motion(time, "*BASE MOTION, DOF=2, AMPLITUDE=C\n");
    let at_root: Vec<f64> = accelerated.iter().skip(1).step_by(3 * 12).copied().collect();
    let squares: Vec<f64> = (1..=10).map(|k| (f64::from(k) * 1e-4).powi(2)).collect();
    assert_close("the root", &at_root, &squares, 1e-9, 1e-6);
    let by_boundary = motion(time, "*BOUNDARY, AMPLITUDE=D\nroot, 2, 2, 1.\n");
    same("boundary", &by_boundary, &[motion(time, "*BASE MOTION, DOF=2, AMPLITUDE=D, TYPE=DISPLACEMENT\n")]);
}

/// An edit of a deck, and what is said of it.
#[rustfmt::skip]
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("gmsh.inp", "*ELASTIC\n", "*PLASTIC\n240.\n*ELASTIC\n", "*PLASTIC: materials that yield"),
    ("gmsh.inp", "*STEP\n", "*STEP, NLGEOM\n", "NLGEOM: large displacements"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n", "how many modes are asked for?"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n10, 5.\n", "bounds of frequencies are not kept to"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n0\n", "`modes` must be 1 or more"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*STATIC\n", "a *FREQUENCY step stands beside others"),
    ("gmsh.inp", "*STATIC\n", "*BUCKLE\n", "how many load factors are asked for?"),
    ("gmsh.inp", "*STATIC\n", "*BUCKLE\n3\n4\n", "*BUCKLE has one line"),
    ("gmsh.inp", "*STATIC\n", "*STATIC\n*END STEP\n*STEP, PERTURBATION\n*STATIC\n", "statics about a loaded state are not solved"),
    ("gmsh.inp", "*STATIC\n", "*STATIC\n*END STEP\n*STEP, PERTURBATION\n*BUCKLE\n3\n", "a *BUCKLE step stands beside others"),
    ("gmsh.inp", "*STATIC\n", "*DYNAMIC\n", "*DYNAMIC: motion in time is solved of modes alone"),
    ("gmsh.inp", "*STATIC\n", "*STEADY STATE DYNAMICS\n1., 9.\n", "a step behind one of *FREQUENCY alone"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*STEADY STATE DYNAMICS\n9., 1.\n", "the range of frequencies is not one"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*STEADY STATE DYNAMICS\n1., 9., 1\n", "points are from 2 to 10000"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*STEADY STATE DYNAMICS, HARMONIC=NO\n1., 9.\n", "periodic and not harmonic"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*BOUNDARY\nroot,1,3\n*END STEP\n*STEP\n*STEADY STATE DYNAMICS\n1., 9.\n*MODAL DAMPING\n1, 2, 0.1\n", "some modes are not damped"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*STEADY STATE DYNAMICS\n1., 9.\n*MODAL DAMPING\n1, 3, -0.1\n", "damping is 0 or more"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*MODAL DAMPING\n1, 3, 0.1\n*MODAL DYNAMIC\n1., 9.\n", "has their card above it"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n9., 1.\n", "not longer than the step"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1.\n", "the increment and the length of the step are missing"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 101.\n", "the step has 101 increments, and INC allows 100"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*BOUNDARY\nroot,1,3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*SURFACE, NAME=S\n5, S1\n*SECTION PRINT, SURFACE=S\nSOF\n", "forces on surfaces are not printed"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BOUNDARY\nend, 1\n", "not held as the one whose modes"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*BOUNDARY\nend, 1\nroot,1,3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BOUNDARY\nend, 1, 1, 2.\n", "supports jump at the time 0.0 without an amplitude"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*CLOAD, AMPLITUDE=A\nend, 1, 2.\n", "there is no amplitude A"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*CLOAD, AMPLITUDE=A\nend, 3, 2.\n", "adds to a load of another amplitude"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*CLOAD\nend, 1, 2.\n*END STEP\n*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*CLOAD, AMPLITUDE=A\nend, 2, 2.\n*END STEP\n*STEP\n*STATIC\n", "in a step behind one of *FREQUENCY alone"),
    ("gmsh.inp", "*STATIC\n", "*FREQUENCY\n3\n*END STEP\n*STEP\n*STEADY STATE DYNAMICS\n1., 9.\n*CLOAD, LOAD CASE=2\nend, 1, 2.\n", "imaginary parts of loads are not read"),
    ("gmsh.inp", "*STATIC\n", "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*AMPLITUDE, NAME=B\n0., 1.\n*FREQUENCY\n3\n*BOUNDARY\nroot, 1, 3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BASE MOTION, AMPLITUDE=A\n", "DOF"),
    ("gmsh.inp", "*STATIC\n", "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*AMPLITUDE, NAME=B\n0., 1.\n*FREQUENCY\n3\n*BOUNDARY\nroot, 1, 3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BASE MOTION, DOF=4, AMPLITUDE=A\n", "DOF is 1, 2 or 3"),
    ("gmsh.inp", "*STATIC\n", "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*AMPLITUDE, NAME=B\n0., 1.\n*FREQUENCY\n3\n*BOUNDARY\nroot, 1, 3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BASE MOTION, DOF=1, AMPLITUDE=A, NSET=root\n", "all that is held along DOF moves"),
    ("gmsh.inp", "*STATIC\n", "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*AMPLITUDE, NAME=B\n0., 1.\n*FREQUENCY\n3\n*BOUNDARY\nroot, 1, 3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BASE MOTION, DOF=1, AMPLITUDE=A, TYPE=VELOCITY\n", "TYPE is ACCELERATION or DISPLACEMENT"),
    ("gmsh.inp", "*STATIC\n", "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*AMPLITUDE, NAME=B\n0., 1.\n*FREQUENCY\n3\n*BOUNDARY\nroot, 1, 3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BASE MOTION, DOF=1, AMPLITUDE=B, TYPE=DISPLACEMENT\n", "supports jump at the time 0.0 by the amplitude B"),
    ("gmsh.inp", "*STATIC\n", "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*AMPLITUDE, NAME=B\n0., 1.\n*FREQUENCY\n3\n*BOUNDARY\nroot, 1, 3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BASE MOTION, DOF=1, AMPLITUDE=A\n*BASE MOTION, DOF=1, AMPLITUDE=B\n", "this direction moves already"),
    ("gmsh.inp", "*STATIC\n", "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*AMPLITUDE, NAME=B\n0., 1.\n*FREQUENCY\n3\n*BOUNDARY\nroot, 1, 3\nend, 1, 2\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BASE MOTION, DOF=1, AMPLITUDE=A\n*BOUNDARY\nend, 2, 2, 1.\n", "by *BOUNDARY and by *BASE MOTION"),
    ("gmsh.inp", "*STATIC\n", "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*AMPLITUDE, NAME=B\n0., 1.\n*FREQUENCY\n3\n*BOUNDARY\nroot, 1, 3\nend, 1, 2\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1., 9.\n*BOUNDARY, AMPLITUDE=A\nend, 2, 2, 1.\n*BOUNDARY\nend, 1, 1, 1.\n", "supports that move have one amplitude"),
    ("gmsh.inp", "*STATIC\n", "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n*AMPLITUDE, NAME=B\n0., 1.\n*FREQUENCY\n3\n*BOUNDARY\nroot, 1, 3\n*END STEP\n*STEP\n*STEADY STATE DYNAMICS\n0., 9.\n*MODAL DAMPING\n1, 3, 0.1\n*BASE MOTION, DOF=1, AMPLITUDE=A\n", "an acceleration at frequency 0"),
    ("gmsh.inp", "*STATIC\n", "", "this step does not say what is solved"),
    ("gmsh.inp", "*END STEP\n", "", "this step has no end"),
    ("gmsh.inp", "*STEP\n", "", "*STATIC stands outside of a step"),
    ("gmsh.inp", "*CLOAD\n", "*CLAOD\n", "the card *CLAOD is not known"),
    ("gmsh.inp", "root,1,3", "roots,1,3", "there is no node set roots"),
    ("gmsh.inp", "root,1,3", "root,1,9", "components 1 to 9 are not there"),
    ("gmsh.inp", "root,1,3", "root", "which components are held?"),
    ("gmsh.inp", "end,3,-25.", "end,3,strong", "`strong` is no number"),
    ("gmsh.inp", "end,3,-25.", "end,3", "a force has a component and a value"),
    ("gmsh.inp", "end,3,-25.", "end,5,-25.", "node 3 is of solids"),
    ("gmsh.inp", "3, 6, 9, 12,", "3, 6, 9, 6,", "the set end lists node 6 twice"),
    ("gmsh.inp", "*STATIC\n", "*STATIC\n1., 1.\nend, 3, 5.\n", "*STATIC has one line"),
    ("gmsh.inp", "*STATIC\n", "*STATIC\n5., 3.\n", "the first increment is longer than the step"),
    ("by_hand.inp", "*EQUATION\n2\n", "*EQUATION\n1\n", "the equation has 2 terms, and 1 are announced"),
    ("gmsh.inp", "210000,.3", "210000", "*ELASTIC of this type has 2 numbers"),
    ("gmsh.inp", "*ELASTIC\n210000,.3\n", "", "material STEEL has no *ELASTIC"),
    ("gmsh.inp", "MATERIAL=steel", "MATERIAL=steal", "there is no material STEAL"),
    ("gmsh.inp", "ELSET=body,MAT", "ELSET=bodies,MAT", "there is no element set BODIES"),
    ("gmsh.inp", "16, 2, 9, 3, 12\n", "16, 2, 9, 3\n", "an element C3D4 has 4 nodes, and this one 3"),
    ("gmsh.inp", "16, 2, 9, 3, 12\n", "16, 2, 9, 3, 12, 1\n", "an element C3D4 has 4 nodes, and this one 5"),
    ("gmsh.inp", "16, 2, 9, 3, 12\n", "16, 2, 9, 3, 77\n", "element 16 has node 77, which is not there"),
    ("gmsh.inp", "16, 2, 9, 3, 12\n", "15, 2, 9, 3, 12\n", "element 15 is there twice"),
    ("gmsh.inp", "type=C3D4", "type=C3D8R", "elements C3D8R with one point bend without resistance"),
    ("gmsh.inp", "type=C3D4", "type=C3D5", "elements C3D5 are not known"),
    ("gmsh.inp", "12, 2, 1, 1\n", "12, 2, 1, one\n", "this is no tag with three coordinates"),
    ("gmsh.inp", "13, 14, 15, 16,\n", "13, 14, 15, 61,\n", "there is no element 61"),
    ("gmsh.inp", "*SOLID SECTION,ELSET=body", "*BEAM SECTION,ELSET=Line1", "*BEAM SECTION: beams are not solved"),
    ("prepomax.inp", "Surface-1, P, 10", "Surface-2, P, 10", "there is no surface Surface-2"),
    ("prepomax.inp", "Surface-1, P, 10", "Surface-1, Q, 10", "a load on a surface is a pressure"),
    ("prepomax.inp", "Grav, 9810, 0, 0, -1", "Grav, 9810", "GRAV has a size and a direction"),
    ("prepomax.inp", "internal_Surface-1_S3, S3", "internal_Surface-1_S3, S7", "has no face S7"),
    ("prepomax.inp", "*Density\n7.8E-09\n", "", "gravity"),
    ("abaqus.inp", "*End Part\n", "", "has no *END PART: the deck is cut"),
    ("abaqus.inp", "part=Block\n*End", "part=Brick\n*End", "there is no part BRICK"),
    ("abaqus.inp", "Slave, Master", "Slave", "a tie has two surfaces"),
    ("by_hand.inp", ", 3, 1., 999, 3, -1.", ", 3, 1.", "a term has node, component and factor"),
    ("by_hand.inp", "AMPLITUDE=RISE", "AMPLITUDE=FALL", "there is no amplitude FALL"),
    ("by_hand.inp", "999, 3, 40.", "998, 3, 40.", "there is no node 998"),
    ("by_hand.inp", "999, 3, 40.", "999, 2, 40.", "no element and no coupling holds node 999"),
    ("by_hand.inp", "0., 0., 0., 0., 0., 1.\n*BOUNDARY", "0., 0., 0., 0., 0., 0.\n*BOUNDARY", "these two points make no axes"),
    ("gmsh.inp", "*STATIC\n", "*STATIC\n*END STEP\n*STEP, PERTURBATION\n*FREQUENCY\n3\n*BOUNDARY\nend, 1\n", "this step is not held as the one"),
    ("joined.inp", "*SPRING, ELSET=LINES\n", "*SPRING, ELSET=LINES, NONLINEAR\n", "springs whose rate changes"),
    ("joined.inp", "ELSET=LINES\n\n4.E7\n", "ELSET=LINES\n\n-4.E7\n", "the rate of a spring is greater than 0"),
    ("joined.inp", "ELSET=LINES\n\n4.E7\n", "ELSET=LINES\n\n4.E7, , 20.\n50., , 30.\n", "rates that change with the temperature"),
    ("joined.inp", "ELSET=LINES\n\n4.E7\n", "ELSET=LINES\n\n", "a spring has its components and a rate"),
    ("joined.inp", "2, 2\n3.E7\n", "2\n3.E7\n", "SPRING2 has 2 components"),
    ("joined.inp", "2, 2\n3.E7\n", "2, 5\n3.E7\n", "there is no spring along component 5"),
    ("joined.inp", "TYPE=SPRING1, ELSET=GROUND", "TYPE=SPRING1, ELSET=LINES", "LINES has elements SPRINGA and SPRING1"),
    ("joined.inp", "*SPRING, ELSET=LINES", "*SPRING, ELSET=BARS", "elements C3D8 are no springs"),
    ("joined.inp", "ORIENTATION=OBLIQUE\n", "ORIENTATION=CROOKED\n", "there is no orientation CROOKED"),
    ("joined.inp", "201, 1, 3\n", "", "node 201 of a spring is of no body, and not held"),
    ("joined.inp", "301, 4, 13\n", "301, 4, 4\n", "the nodes of spring 301 are in one place"),
    ("joined.inp", "*KINEMATIC\n", "*DISTRIBUTING\n", "distributing couplings of some components"),
    ("joined.inp", "*KINEMATIC\n2, 3\n", "*DISTRIBUTING\n", "or along axes of their own, are not solved"),
    ("steps.inp", "*CLOAD,OP=NEW\n1,1,5.\n", "*CLOAD\n1,1,5.\n*CLOAD,OP=NEW\n2,1,5.\n", "OP=NEW stands on a later card"),
    ("joined.inp", "*KINEMATIC\n2, 3\n", "*KINEMATIC\n4, 6\n", "nodes of solids have no rotations"),
    ("joined.inp", "*KINEMATIC\n2, 3\n", "*KINEMATIC\n3, 1\n", "components 3 to 1 are not there"),
    ("joined.inp", "REF NODE=204", "REF NODE=18", "the reference node 18 belongs to an element"),
    ("joined.inp", "*KINEMATIC\n2, 3\n", "*KINEMATIC\n*TRANSFORM, NSET=POINTS\n1., 1., 0., -1., 1., 0.\n*NSET, NSET=POINTS\n204\n", "the reference node 204 has axes of its own"),
    ("joined.inp", "*KINEMATIC\n2, 3\n", "*KINEMATIC\n1, 1\n", "no element and no coupling holds node 204"),
    ("joined.inp", "*SPRING, ELSET=GROUND, ORIENTATION=OBLIQUE\n2\n1.5E7\n", "", "spring 431 has no rate"),
    ("joined.inp", "*SPRING, ELSET=GROUND", "*SPRING, ELSET=MIXED\n1, 1\n1.\n*SPRING, ELSET=GROUND", "spring 411 has a rate already"),
    ("joined.inp", "ELSET=LINES\n\n4.E7\n", "ELSET=LINES\n\n4.E15\n", "far stiffer than the body"),
    ("by_hand.inp", "*EQUATION\n", "*RIGID BODY, NSET=BOTTOM, REF NODE=999\n*COUPLING, REF NODE=999, SURFACE=X\n*EQUATION\n", "there is no surface X"),
    ("joined.inp", "*SECTION PRINT, SURFACE=CUT", "*SECTION PRINT, SURFACE=CUTS", "there is no surface CUTS"),
    ("freecad.inp", "freecad_mesh.inc", "freecad.msh", "cannot read"),
    ("sector.inp", "N=6", "N=5", "N is 5, and the two sides are 60 degrees apart"),
    ("sector.inp", "*STATIC\n", "*FREQUENCY\n2\n", "the same in all sectors"),
    ("sector.inp", "N=6", "N=one", "N is `ONE`"),
    ("sector.inp", "TIE=T1", "TIE=T2", "there is no *TIE, CYCLIC SYMMETRY, NAME=T2 above"),
    ("sector.inp", "*CYCLIC SYMMETRY MODEL, N=6, NGRAPH=6, TIE=T1\n0., 0., 0., 0., 0., 1.\n", "", "this sector has no axis"),
    ("sector.inp", "0., 0., 0., 0., 0., 1.\n*B", "0., 0., 1.\n*B", "the axis has two points"),
    ("sector.inp", "*STATIC\n", "*FREQUENCY\n2\n*SELECT CYCLIC SYMMETRY MODES, NMIN=0, NMAX=1\n", "from sector to sector"),
];

/// Checks what is said of a deck that is refused.
pub fn refused(name: &str, deck: &str, said: &str) {
    let found = Case::parse(&path(name), deck).map_err(|error| error.to_string());
    let found = found.and_then(|case| {
        let mesh = case.mesh().map_err(|error| error.to_string())?;
        Model::resolve(&case, mesh).map(drop).map_err(|error| error.to_string())
    });
    let error = found.expect_err(said);
    assert!(error.contains(said), "{said}: {error}");
}

#[test]
fn mistakes_are_said_at_their_lines() {
    for (name, from, to, said) in MISTAKES {
        let deck = text(name);
        assert!(deck.contains(from), "{from}");
        refused(name, &deck.replacen(from, to, 1), said);
    }
}

/// Wherever a deck is cut, it is refused, or solved as it stands.
#[test]
fn a_deck_may_be_cut_anywhere() {
    for name in ["gmsh.inp", "prepomax.inp", "abaqus.inp", "by_hand.inp", "sector.inp", "joined.inp", "steps.inp"] {
        let deck = text(name);
        let whole = deck.to_uppercase().rfind("*END STEP").unwrap();
        for end in (0..whole).step_by(7) {
            let end = deck.floor_char_boundary(end);
            let cut = Case::parse(&path(name), &deck[..end]);
            assert!(cut.is_err() || deck[..end].to_uppercase().contains("*END STEP"), "{name} cut at {end}");
        }
    }
}
