//! Systems of equations against dense elimination, projections, and what is refused.

use nalgebra::{DMatrix, DVector};

use super::projection::Surface;
use super::*;
use crate::element::ElementKind::{Hex8, Hex20, Quad8, Tet10};
use crate::mesh::generate::generate_box;
use crate::mesh::rectangle::generate_rectangle;
use crate::model::Model;
use crate::model::testing::{beside, clamped, head, load, load_on, refused, refused_on};
use crate::verify::meshes::Random;

fn dof(i: usize) -> Dof {
    Dof { node: (i / 3) as u32, component: (i % 3) as u8 }
}

fn place(dof: Dof) -> usize {
    3 * dof.node as usize + usize::from(dof.component)
}

fn entry() -> Entry {
    Entry { name: "e".into(), kind: "equation", place: 0..0 }
}

/// Random equations of a known solution: consistent, some of them sums of others, some unknowns prescribed.
#[test]
fn random_systems_are_what_dense_elimination_makes_of_them() {
    let mut random = Random(3);
    for round in 0..200 {
        let n = 3 + random.below(13);
        let exact = DVector::from_fn(n, |_, _| random.next());
        let prescribed: Vec<usize> = (0..n).filter(|_| random.below(5) == 0).collect();
        let mut constraints = Constraints::beside(prescribed.iter().map(|i| (dof(*i), exact[*i])));
        let mut rows: Vec<DVector<f64>> = Vec::new();
        for _ in 0..1 + random.below(n) {
            let mut row = DVector::zeros(n);
            (0..1 + random.below(4)).for_each(|_| row[random.below(n)] += [1.0, -1.0, 2.0, -0.5][random.below(4)]);
            if rows.len() > 1 && random.below(4) == 0 {
                row = &rows[0] - 2.0 * &rows[1];
            }
            if row.amax() == 0.0 {
                continue;
            }
            let terms = (0..n).filter(|i| row[*i] != 0.0).map(|i| (dof(i), row[i])).collect();
            let entry = constraints.enter(entry());
            let value = row.dot(&exact);
            constraints.add(Equation { terms, value, slaves: vec![], entry }).unwrap();
            rows.push(row);
        }
        // As many slaves as the equations have rank in the unknowns that are not prescribed.
        let is_free = |i: &usize| !prescribed.contains(i);
        let free: Vec<usize> = (0..n).filter(is_free).collect();
        let dense = DMatrix::from_fn(rows.len(), free.len(), |i, j| rows[i][free[j]]);
        let resolved = constraints.resolved(false).rows;
        let rank = if dense.is_empty() { 0 } else { dense.rank(1e-9) };
        assert_eq!(resolved.len(), rank, "{round}");
        // Whatever the masters are, every equation holds.
        let mut u = DVector::from_fn(n, |i, _| if is_free(&i) { random.next() } else { exact[i] });
        for (slave, terms, value) in &resolved {
            assert!(terms.iter().all(|(dof, _)| resolved.iter().all(|other| other.0 != *dof)));
            u[place(*slave)] = value + terms.iter().map(|(dof, factor)| factor * u[place(*dof)]).sum::<f64>();
        }
        for row in &rows {
            let residual = row.dot(&(&u - &exact));
            assert!(residual.abs() < 1e-9 * u.amax().max(1.0), "{round}: {residual}");
        }
        check_forces(&constraints, &rows, n, &prescribed, &mut random);
    }
}

/// Forces of equations, `sum lambda_k a_k`, are found from what they do to the unknowns.
fn check_forces(constraints: &Constraints, rows: &[DVector<f64>], n: usize, fixed: &[usize], random: &mut Random) {
    let reaction = DVector::from_fn(n, |i, _| if fixed.contains(&i) { random.next() } else { 0.0 });
    let lambda: Vec<f64> = rows.iter().map(|_| random.next()).collect();
    let total = rows.iter().zip(&lambda).fold(reaction.clone(), |sum, (row, lambda)| sum + row * *lambda);
    let mut forces = vec![[0.0; 3]; n.div_ceil(3)];
    (0..n).for_each(|i| forces[i / 3][i % 3] = total[i]);
    constraints.take_forces(&mut forces);
    for i in (0..n).filter(|i| !fixed.contains(i)) {
        assert!(forces[i / 3][i % 3].abs() < 1e-9, "{i}: {:?}", forces[i / 3]);
    }
    let is_independent = constraints.rows.len() == rows.len();
    for i in fixed.iter().filter(|_| is_independent) {
        assert!((forces[i / 3][i % 3] - reaction[*i]).abs() < 1e-8);
    }
}

#[test]
fn points_are_projected_onto_flat_and_curved_faces() {
    let mut random = Random(5);
    for kind in [Hex8, Hex20, Tet10] {
        let mesh = generate_box(kind, [1.0; 3], [3; 3]).unwrap();
        let surface = Surface::new(&mesh, mesh.faces_on("xmax").unwrap());
        for _ in 0..50 {
            let [y, z, gap] = [0; 3].map(|_| 0.5 + 0.5 * random.next());
            let foot = surface.nearest([1.0 + 0.1 * gap, y, z]);
            assert!((foot.gap - 0.1 * gap).abs() < 1e-14 && (foot.normal[0] - 1.0).abs() < 1e-12, "{foot:?}");
            let at = |c: usize| foot.weights.iter().map(|(n, w)| w * mesh.coords[*n as usize][c]).sum::<f64>();
            assert!((at(1) - y).abs() < 1e-12 && (at(2) - z).abs() < 1e-12);
        }
        // Beyond an edge it is the edge that is nearest.
        let foot = surface.nearest([1.0, 1.5, 0.3]);
        assert!((foot.gap - 0.5).abs() < 1e-14);
    }
    // A parabola over an edge of one element, curved as it is: y = 1 + x (1 - x).
    let mut plate = generate_rectangle(Quad8, [1.0; 2], [1, 1]).unwrap();
    plate.coords.iter_mut().filter(|x| x[1] > 0.9).for_each(|x| x[1] += x[0] * (1.0 - x[0]));
    let surface = Surface::new(&plate, plate.faces_on("ymax").unwrap());
    for x in [0.0, 0.2, 0.55, 1.0] {
        let foot = surface.nearest([x, 1.0 + x * (1.0 - x), 0.0]);
        assert!(foot.gap < 1e-12, "{x}: {foot:?}");
    }
}

/// Two boxes, the second at x = 1 + gap with these cells: `a_..` and `b_..` are their sides.
fn pair(kind: crate::element::ElementKind, cells: usize, gap: f64) -> Mesh {
    let named = |prefix: &str, cells: usize| {
        let mut mesh = generate_box(kind, [1.0; 3], [cells; 3]).unwrap();
        mesh.groups.iter_mut().for_each(|group| group.name = format!("{prefix}_{}", group.name));
        mesh
    };
    beside(named("a", 2), &named("b", cells), [1.0 + gap, 0.0, 0.0])
}

/// A case of two boxes with the first one held, and more.
fn case(rest: &str) -> String {
    format!("{}[[support]]\non = \"a_xmin\"\nfix = \"xyz\"\n{rest}", head("hex8"))
}

const TIE: &str = "[[tie]]\nslave = \"b_xmin\"\nmaster = \"a_xmax\"\n";

#[test]
fn a_tie_holds_and_says_what_it_ties() {
    let model = load_on(&case(TIE), pair(Hex8, 2, 0.0)).unwrap();
    assert_eq!(model.constraints.notes, [("tie", "b_xmin: 9 nodes tied, no gap".into())]);
    assert!(model.warnings.iter().all(|said| !said.contains("coincide") && !said.contains("barely")));
    assert_eq!(model.coupled_parts().1, 1);
    let wide = load_on(&case(TIE), pair(Hex8, 2, 0.02)).unwrap();
    assert_eq!(wide.constraints.notes, [("tie", "b_xmin: 9 nodes tied, gaps up to 0.02".into())]);
    let said = |text: &str, mesh: Mesh| load_on(text, mesh).unwrap().warnings.join("\n");
    let turned = "[[tie]]\nslave = \"a_xmax\"\nmaster = \"b_xmin\"\n";
    assert!(said(&case(turned), pair(Hex8, 5, 0.0)).contains("coarser than the master `b_xmin`"));
}

#[test]
fn parts_that_ties_leave_free_are_refused_with_their_motion() {
    let mesh = || pair(Hex8, 2, 0.0);
    let sliding = format!("{TIE}kind = \"sliding\"\n");
    refused_on(&case(&sliding), mesh(), 4, &["part 2", "translation along y", "translation along z"]);
    refused_on(&case(""), mesh(), 4, &["part 2", "nothing stops"]);
    // A row of nodes is a hinge.
    let tags = |x: [f64; 3], part: usize| -> u64 {
        let mesh = mesh();
        let found = mesh.coords.iter().enumerate().filter(|(_, y)| **y == x).map(|(i, _)| i).collect::<Vec<_>>();
        mesh.node_tags[found[part]]
    };
    let join = |y: f64, z: f64| -> String {
        let [a, b] = [0, 1].map(|part| tags([1.0, y, z], part));
        let one = |c: &str| {
            format!(
                "[[equation]]\nterms = [{{ node = {a}, dof = \"{c}\", factor = 1.0 }}, {{ node = {b}, dof = \"{c}\", factor = -1.0 }}]\n"
            )
        };
        ["x", "y", "z"].map(one).concat()
    };
    let hinge = [join(0.0, 0.0), join(1.0, 0.0)].concat();
    refused_on(&case(&hinge), mesh(), 4, &["rotation about an axis parallel to y through (1, 0.5, 0)"]);
    load_on(&case(&[hinge, join(0.5, 1.0)].concat()), mesh()).unwrap();
}

#[test]
fn wrong_ties_are_refused() {
    let mesh = || pair(Hex8, 2, 0.0);
    let twice = format!("{TIE}{}", TIE.replace("[[tie]]", "[[tie]]\nname = \"again\""));
    refused_on(&case(&twice), mesh(), 2, &["is a slave of [[tie]] `b_xmin` (box.toml:", "already"]);
    let ring = format!("{TIE}[[tie]]\nslave = \"a_xmax\"\nmaster = \"b_xmin\"\n");
    refused_on(&case(&ring), mesh(), 2, &["depends on itself by way of [[tie]] `b_xmin` (box.toml:"]);
    let far = format!("{TIE}tolerance = 0.1\n");
    refused_on(&case(&far), pair(Hex8, 2, 0.5), 2, &["no node of `b_xmin` is within 0.1", "0.5 away", "tolerance ="]);
    for (line, words) in [
        ("kind = \"bondd\"", ["no kind `bondd`", "did you mean `bonded`"]),
        ("tolerance = -1.0", ["`tolerance` must be greater than 0", "distance"]),
        ("tolerence = 1.0", ["tolerence", "tolerance"]),
    ] {
        refused_on(&case(&format!("{TIE}{line}\n")), mesh(), 2, &words);
    }
    refused_on(&case(&TIE.replace("a_xmax", "a_xmx")), mesh(), 2, &["no group `a_xmx`", "a_xmax"]);
    refused_on(
        &case(&TIE.replace("b_xmin", "a_xmax")),
        mesh(),
        2,
        &["every node of `a_xmax` is on a face of `a_xmax`"],
    );
    let held = format!("{TIE}[[support]]\non = \"b_xmin\"\ndisplacement = {{ x = 0.1 }}\n");
    refused_on(&case(&held), mesh(), 2, &["is a slave, and a [[support]] holds it", "swap slave and master"]);
    let agreeing = format!("{TIE}[[support]]\non = [\"a_ymin\", \"b_ymin\"]\nfix = \"y\"\n");
    load_on(&case(&agreeing), mesh()).unwrap();
    let other = agreeing.replace(
        "[\"a_ymin\", \"b_ymin\"]\nfix = \"y\"",
        "\"a_ymin\"\nfix = \"y\"\n[[support]]\non = \"b_ymin\"\ndisplacement = { y = 1e-3 }",
    );
    refused_on(&case(&other), mesh(), 2, &["contradicts what [[support]] prescribes"]);
}

#[test]
fn wrong_equations_are_refused() {
    let equation = |terms: &str, rest: &str| format!("[[equation]]\nterms = [{terms}]\n{rest}\n");
    let term = |node: u64, dof: &str, factor: f64| format!("{{ node = {node}, dof = \"{dof}\", factor = {factor:?} }}");
    let pair =
        |value: f64| equation(&[term(20, "x", 1.0), term(25, "x", -1.0)].join(", "), &format!("value = {value:?}"));
    let case = |rest: &str| clamped("tet4", rest);
    refused(&case(&format!("{}{}", pair(0.0), pair(1.0))), 2, &["contradicts [[equation]] `equation[1]` (box.toml:"]);
    load(&case(&format!("{}{}", pair(1.0), pair(1.0)))).unwrap();
    refused(&case(&equation(&term(1, "x", 1.0), "value = 0.1")), 2, &["contradicts what [[support]] prescribes"]);
    refused(&case(&equation(&term(2, "x", 0.0), "")), 2, &["factors are all zero"]);
    refused(&case(&equation(&term(2, "w", 1.0), "")), 2, &["no dof `w`", "x, y, z"]);
    refused(&case(&equation(&term(999, "x", 1.0), "")), 2, &["no node 999", "run from 1"]);
    refused(&case(&equation(&term(2, "x", f64::INFINITY), "")), 2, &["`factor` must be finite"]);
    refused(&case(&equation(&term(2, "x", 1.0), "value = nan")), 2, &["`value` must be finite"]);
    refused(&case("[[equation]]\nterms = []\n"), 2, &["needs `terms`"]);
    refused(&case("[[equation]]\nvalue = 1.0\n"), 2, &["terms"]);
    let model: Model = load(&case(&pair(0.0))).unwrap();
    assert_eq!(model.constraints.resolved(false).rows.len(), 1);
}
