//! Sectors of rings, bolts, and supports in any direction where parts are tied.

use crate::common::devices;
use crate::common::fields::converged;
use crate::couplings::{HEAD, bent, difference, joined, model, row, solved, tie};
use std::collections::HashMap;
use std::f64::consts::TAU;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Hex20, Quad4, Tet4, Tet10, Tri6};
use warpfem::linalg::Space;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::mesh::{Cells, Group, Mesh};
use warpfem::model::Model;
use warpfem::pipeline::{self, Solution};
use warpfem::result::choices::{Method, Preconditioner};
use warpfem::solve::Silent;

type Solved = (Model, Solution);

/// So many of six sectors of a ring, radii 1 and 2, height 0.5: cells run along the radius, round the axis and along it.
/// Groups are `xmin` (the bore) and `xmax`, `ymin` and `ymax` (the sides), `zmin` and `zmax`.
fn ring(
    kind: ElementKind,
    sectors: usize,
    [radial, around, along]: [usize; 3],
    warp: impl Fn([f64; 3]) -> f64,
) -> Mesh {
    let length = sectors as f64;
    let mut mesh = match kind.info().dim {
        2 => generate_rectangle(kind, [1.0, length], [radial, sectors * around]),
        _ => generate_box(kind, [1.0, length, 0.5], [radial, sectors * around, along]),
    }
    .unwrap();
    for x in &mut mesh.coords {
        let (r, angle) = (1.0 + warp(*x), x[1] * TAU / 6.0);
        *x = [r * angle.cos(), r * angle.sin(), x[2]];
    }
    if sectors == 6 { closed(&mesh) } else { mesh }
}

/// Nodes at one place become one.
fn closed(mesh: &Mesh) -> Mesh {
    let (mut at, mut coords) = (HashMap::new(), Vec::new());
    let place = |x: &[f64; 3]| {
        *at.entry(x.map(|c| (c * 1e6).round() as i64)).or_insert_with(|| {
            coords.push(*x);
            coords.len() as u32 - 1
        })
    };
    let node: Vec<u32> = mesh.coords.iter().map(place).collect();
    let new =
        |cells: &Cells| Cells { nodes: cells.nodes.iter().map(|old| node[*old as usize]).collect(), ..cells.clone() };
    let sides = ["ymin", "ymax"];
    Mesh {
        node_tags: (1..=coords.len() as u64).collect(),
        coords,
        cells: mesh.cells.iter().map(new).collect(),
        groups: mesh.groups.iter().filter(|group| !sides.contains(&group.name.as_str())).cloned().collect(),
        ..Mesh::default()
    }
}

const CYCLIC: &str = "[[cyclic]]\nfrom = \"ymin\"\nto = \"ymax\"\naxis = [0.0, 0.0, 1.0]\n";

/// Spinning, held round the bore, with a force on the rim in each of so many sectors that turns and lifts it.
fn spun(sectors: usize) -> String {
    let mut text = format!(
        "{HEAD}density = 1e-4\n[rotation]\naxis = [0.0, 0.0, 1.0]\nspeed = 30.0\n[[support]]\non = \"xmin\"\nfix = \"tz\"\n\
         axes = {{ axis = [0.0, 0.0, 1.0] }}\n"
    );
    for sector in 0..sectors {
        let (sin, cos) = ((sector as f64 + 0.5) * TAU / 6.0).sin_cos();
        let [x, y] = [3.0 * cos - 2.0 * sin, 3.0 * sin + 2.0 * cos];
        text += &format!("[[point_force]]\nat = [{}, {}, 0.5]\nvector = [{x}, {y}, 0.5]\n", 2.0 * cos, 2.0 * sin);
    }
    text
}

#[test]
fn a_sector_is_the_ring() {
    for (kind, cells) in [(Hex8, [2, 4, 1]), (Tet4, [2, 4, 1]), (Tet10, [1, 2, 1]), (Hex20, [1, 2, 1])] {
        let whole = solved(model(&spun(6), ring(kind, 6, cells, |x| x[0])), DeviceName::Cpu);
        for device in devices() {
            let text = spun(1) + CYCLIC;
            let (mut of, solution) = solved(model(&text, ring(kind, 1, cells, |x| x[0])), device);
            let is_sixth = |x: &[f64; 3]| x[1] > -1e-9 && x[1].atan2(x[0]) < TAU / 6.0 + 1e-9;
            assert!(solution.equilibrium_error < 1e-9);
            assert!(of.constraints.notes[0].1.contains("1/6 of a turn"), "{:?}", of.constraints.notes);
            // The same in the sector, and the reaction of the bore is a sixth of the ring's: both lift.
            let (sum, all) = (solution.reaction(0)[2], whole.1.reaction(0)[2]);
            assert!((6.0 * sum - all).abs() < 1e-8, "{sum} {all}");
            assert!((0..3).all(|c| (solution.reaction_sum[c] + solution.applied[c]).abs() < 1e-8));
            let keep: Vec<usize> =
                (0..whole.0.mesh.coords.len()).filter(|i| is_sixth(&whole.0.mesh.coords[*i])).collect();
            assert_eq!(keep.len(), of.mesh.coords.len());
            of.name.clear();
            let off = difference(&whole, &(of, solution));
            assert!(off < 1e-9, "{kind:?} on {device:?}: {off}");
        }
    }
}

#[test]
fn sectors_of_plates_and_of_potentials_are_the_ring() {
    let plane = "[analysis]\nkind = \"plane_stress\"\nthickness = 1.0\n";
    let held = "[[support]]\non = \"xmin\"\nfix = \"t\"\naxes = { axis = [0.0, 0.0, 1.0] }\n[[pressure]]\non = \"xmax\"\nvalue = -3.0\n";
    let heat = "[mesh]\nfile = \"made.msh\"\n[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"m\"\nconductivity = 2.0\n\
                [[support]]\non = \"xmin\"\nvalue = 1.0\n[source]\nvalue = 3.0\n";
    let cyclic = "[[cyclic]]\nfrom = \"ymax\"\nto = \"ymin\"\n";
    for (kind, cells) in [(Quad4, [2, 4, 1]), (Tri6, [1, 3, 1])] {
        for text in [format!("{HEAD}{plane}{held}"), heat.to_string()] {
            let whole = solved(model(&text, ring(kind, 6, cells, |x| x[0])), DeviceName::Cpu);
            let sector = solved(model(&(text + cyclic), ring(kind, 1, cells, |x| x[0])), DeviceName::Cpu);
            let unknown = |of: &Solved| of.1.unknown(of.0.analysis.components());
            let [all, own] = [unknown(&whole), unknown(&sector)];
            let most = all.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
            let n = whole.0.analysis.components();
            for (x, u) in sector.0.mesh.coords.iter().zip(own.chunks(n)) {
                let same = |y: &[f64; 3]| (0..3).all(|c| (x[c] - y[c]).abs() < 1e-9);
                let at = whole.0.mesh.coords.iter().position(same).unwrap();
                assert!((0..n).all(|c| (all[n * at + c] - u[c]).abs() < 1e-9 * most), "{kind:?} {x:?}");
            }
        }
    }
}

/// Meshes that differ on the two sides: free expansion is linear, which they share; else they meet the better the finer.
#[test]
fn sides_of_other_meshes_meet() {
    let warped = |x: [f64; 3]| x[0].powf(1.0 + 0.4 * x[1]);
    let free = format!(
        "{HEAD}expansion = 1e-3\n[temperature]\nreference = 0.0\nvalue = 10.0\n[[support]]\non = \"xmin\"\nfix = \"t\"\n\
         axes = {{ axis = [0.0, 0.0, 1.0] }}\n[[support]]\non = \"zmin\"\nfix = \"z\"\n{CYCLIC}"
    );
    for (kind, cells) in [(Hex8, [3, 3, 1]), (Tet10, [2, 2, 1])] {
        let (of, solution) = solved(model(&free, ring(kind, 1, cells, warped)), DeviceName::Cpu);
        for (x, u) in of.mesh.coords.iter().zip(solution.displacement()) {
            assert!((0..3).all(|c| (u[c] - 0.01 * x[c]).abs() < 1e-10), "{kind:?} {x:?} {u:?}");
        }
    }
    let sheared = |n: usize| {
        let cells = [2 * n, 3 * n, 1];
        let energy = |warp: &dyn Fn([f64; 3]) -> f64, sectors: usize, text: &str| {
            solved(model(text, ring(Hex8, sectors, cells, warp)), DeviceName::Cpu).1.strain_energy()
        };
        let loads = |text: &str| text.split("[[point_force]]").next().unwrap().to_string();
        let (whole, sector) = (loads(&spun(6)), loads(&spun(1)) + CYCLIC);
        let exact = energy(&|x| x[0], 6, &whole) / 6.0;
        (energy(&warped, 1, &sector) / exact - 1.0).abs()
    };
    let [coarse, fine] = [1, 2].map(sheared);
    assert!(fine < 0.5 * coarse && coarse < 0.1, "{coarse} {fine}");
}

/// Quadratic ties put slave nodes onto faces as sectors do: so a fifth whose sides differ is the ring of five, tied.
#[test]
fn a_sector_with_other_meshes_on_its_sides_is_the_ring_of_tied_sectors() {
    let warped = |x: [f64; 3]| x[0].powf(1.0 + 0.4 * x[1]);
    let loads = spun(0);
    for (kind, cells) in [(Tet10, [2, 2, 1]), (Hex20, [2, 2, 1])] {
        let fifth = |number: usize| {
            let mut mesh = ring(kind, 1, cells, warped);
            for [x, y, _] in &mut mesh.coords {
                let (r, angle) = (x.hypot(*y), 1.2 * y.atan2(*x) + number as f64 * TAU / 5.0);
                (*x, *y) = (r * angle.cos(), r * angle.sin());
            }
            mesh
        };
        let bores: Vec<String> = (0..5).map(|sector| format!("\"s{sector}_xmin\"")).collect();
        let ties = (0..5).map(|sector| tie(&format!("s{sector}_ymax"), &format!("s{}_ymin", (sector + 1) % 5)));
        let text = loads.replace("\"xmin\"", &format!("[{}]", bores.join(", "))) + &ties.collect::<String>();
        let whole =
            solved(model(&text, joined((0..5).map(|number| (format!("s{number}"), fifth(number))))), DeviceName::Cpu);
        for device in devices() {
            let sector = solved(model(&(loads.clone() + CYCLIC), fifth(0)), device);
            let off = difference(&whole, &sector);
            assert!(off < 1e-9, "{kind:?} on {device:?}: {off}");
        }
    }
}

/// Adds faces across a box: those of a side, at a distance along x.
fn with_section(mut mesh: Mesh, side: &str, name: &str, distance: f64) -> Mesh {
    let key = |x: [f64; 3]| x.map(|c| (c * 1e6).round() as i64);
    let at: HashMap<_, u32> = mesh.coords.iter().map(|x| key(*x)).zip(0..).collect();
    let group = mesh.group(side).unwrap().clone();
    for (block, members) in group.members {
        let of = &mesh.cells[block];
        let nodes = members.iter().flat_map(|cell| of.cell(*cell as usize)).map(|&node| {
            let [x, y, z] = mesh.coords[node as usize];
            at[&key([x + distance, y, z])]
        });
        let cells =
            Cells { kind: of.kind, nodes: nodes.collect(), tags: (9000..9000 + members.len() as u64).collect() };
        mesh.groups.push(Group {
            name: name.into(),
            dim: 2,
            members: vec![(mesh.cells.len(), (0..members.len() as u32).collect())],
        });
        mesh.cells.push(cells);
    }
    mesh
}

/// A shank in a sleeve, 2 long, both of section 1: side by side here, as they share no nodes; their ends move as one.
fn clamped(bolt: &str) -> String {
    format!(
        "[mesh]\nfile = \"made.msh\"\n[[material]]\nname = \"shank\"\non = \"a_body\"\nyoung = 200e3\npoisson = 0.0\n\
         [[material]]\nname = \"sleeve\"\non = \"b_body\"\nyoung = 50e3\npoisson = 0.0\n\
         [[support]]\non = [\"a_xmin\", \"b_xmin\"]\nfix = \"xyz\"\n\
         [[remote]]\nname = \"head\"\non = [\"a_xmax\", \"b_xmax\"]\nkind = \"rigid\"\nfix = \"yz rx ry rz\"\n\
         [[bolt]]\nname = \"m8\"\non = \"cut\"\n{bolt}\n"
    )
}

fn stack(kind: ElementKind) -> Mesh {
    let mut mesh = row(kind, &[(2.0, [4, 2, 2]); 2]);
    let half = mesh.coords.len() / 2;
    mesh.coords[half..].iter_mut().for_each(|x| *x = [x[0] - 2.0, x[1] + 3.0, x[2]]);
    with_section(mesh, "a_xmin", "cut", 1.0)
}

#[test]
fn a_clamped_stack_is_that_of_the_joint_diagram() {
    let (force, stiffness) = (600.0, [100e3, 25e3]);
    let shortening = force / stiffness[0] + force / stiffness[1];
    for kind in [Hex8, Tet4, Tet10, Hex20] {
        for device in devices() {
            for bolt in [format!("preload = {force:?}"), format!("shortening = {shortening:?}")] {
                let (of, solution) = solved(model(&clamped(&bolt), stack(kind)), device);
                let row = |table: &str| solution.step.row(table, 0).to_vec();
                assert!((row("bolt_shortenings")[0] / shortening - 1.0).abs() < 1e-9, "{:?}", row("bolt_shortenings"));
                // The half above is pulled down, all along the axis.
                let [x, y, z] = row("tie_forces")[..] else { panic!() };
                assert!(
                    (x + force).abs() < 1e-6 && y.abs() + z.abs() < 1e-6,
                    "{kind:?} {device:?} {bolt}: {x} {y} {z}"
                );
                assert!(row("tie_moments").iter().all(|m| m.abs() < 1e-6), "{:?}", row("tie_moments"));
                assert!((solution.reaction_sum[0]).abs() < 1e-6 && solution.equilibrium_error < 1e-9);
                let stress = &solution.step.lists("stress")[0];
                let expected = |cell: usize| if cell < of.mesh.cells[0].len() { force } else { -force };
                let all = solution.step.lists("stress").iter().flat_map(|list| list.as_chunks::<6>().0);
                assert!(!stress.is_empty() && all.zip(0..).all(|(s, cell)| (s[0] - expected(cell)).abs() < 1e-6));
            }
        }
    }
}

#[test]
fn a_preload_is_a_load_of_load_cases() {
    let cases = "[[load_case]]\nname = \"tight\"\nfactors = { m8 = 1.0 }\n[[load_case]]\nname = \"tighter\"\nfactors = { m8 = 2.5 }\n";
    let of = model(&(clamped("preload = 600.0") + cases), stack(Hex8));
    let solutions = pipeline::solve_cases(&Space::cpu(), &of, &Silent).unwrap();
    let forces: Vec<f64> = solutions.iter().map(|solution| solution.step.row("tie_forces", 0)[0]).collect();
    assert!((forces[0] + 600.0).abs() < 1e-3 && (forces[1] + 1500.0).abs() < 1e-3, "{forces:?}");
}

/// A tied pair turned by an angle, whose sides slide along slanted walls through the joint.
#[test]
fn supports_in_any_direction_hold_what_is_tied() {
    let turned = |mut mesh: Mesh| {
        let (sin, cos) = 0.4_f64.sin_cos();
        mesh.coords.iter_mut().for_each(|[x, y, _]| (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y));
        mesh
    };
    for (kind, n) in [(Hex8, 2), (Tet10, 1)] {
        let walls = |on: &str| format!("[[support]]\nname = \"wall\"\non = {on}\nfix = \"normal\"\n");
        let whole = solved(
            model(&(bent("a") + &walls("\"a_ymin\"")), turned(row(kind, &[(2.0, [2 * n, n, n])]))),
            DeviceName::Cpu,
        );
        for device in devices() {
            let text = bent("b").replace("\"b_ymax\"", "[\"a_ymax\", \"b_ymax\"]")
                + &walls("[\"a_ymin\", \"b_ymin\"]")
                + &tie("b_xmin", "a_xmax");
            let halves = solved(model(&text, turned(row(kind, &[(1.0, [n; 3]); 2]))), device);
            let off = difference(&whole, &halves);
            assert!(off < 1e-9, "{kind:?} on {device:?}: {off}");
            for support in 0..2 {
                let [one, two] = [&whole, &halves].map(|of| of.1.reaction(support).to_vec());
                assert!(one.iter().zip(&two).all(|(a, b)| (a - b).abs() < 1e-7), "{one:?} {two:?}");
            }
            assert!(halves.1.equilibrium_error < 1e-9);
            let sums = [halves.1.reaction_sum, halves.1.applied];
            assert!((0..3).all(|c| (sums[0][c] + sums[1][c]).abs() < 1e-7), "{sums:?}");
        }
    }
}

/// Plates a hundred and a thousand times as wide as thick, tied, held by a remote point and bent by another: what the
/// program chooses by itself is right; and so is multigrid where a support holds them.
#[test]
fn thin_parts_with_ties_and_remotes_are_right() {
    let held = "[[remote]]\non = \"a_xmin\"\nfix = \"xyz rx ry rz\"\n";
    let clamped = "[[support]]\non = \"a_xmin\"\nfix = \"xyz\"\n";
    let bent = "[[remote]]\non = \"b_xmax\"\nkind = \"rigid\"\nat = [2.5, 0.5, 0.0]\nforce = [1.0, 2e-3, 1e-3]\nmoment = [1e-3, 2e-3, 1e-3]\n";
    for (kind, n) in [(Hex20, 4), (Tet10, 4), (Hex8, 8)] {
        for (thickness, other) in [(1e-2, n + 2), (1e-3, n + 1)] {
            let mut mesh = row(kind, &[(1.0, [n, n, 1]), (1.0, [other, other, 1])]);
            mesh.coords.iter_mut().for_each(|x| x[2] *= thickness);
            for (support, methods) in [(held, &[None][..]), (clamped, &[None, Some(Method::Cg)][..])] {
                let text = format!("{HEAD}{support}{bent}{}", tie("b_xmin", "a_xmax"));
                let mut by_factors = model(&text, mesh.clone());
                (by_factors.solver.method, by_factors.solver.tolerance) = (Some(Method::Direct), 1e-9);
                let found = converged(&by_factors, DeviceName::Cpu);
                let by_factors = (by_factors, found);
                for method in methods.iter().copied() {
                    let mut given = model(&text, mesh.clone());
                    (given.solver.method, given.solver.preconditioner) = (method, method.map(|_| Preconditioner::Amg));
                    let solution = converged(&given, DeviceName::Cpu);
                    println!("{kind:?} {thickness} {other} {method:?}: {} iterations", solution.outcome.iterations);
                    let off = difference(&by_factors, &(given, solution));
                    assert!(off < 1e-4, "{kind:?} {thickness} {other} {method:?}: {off:.1e}");
                }
            }
        }
    }
}
