//! Potentials resolved against meshes: the mesh decides the dimension, and what does not fit it is refused.

use super::testing::{beside, load, load_on, refused, refused_on};
use super::*;
use crate::element::ElementKind::{Hex8, Quad4, Tri3};
use crate::mesh::generate::generate_box;
use crate::mesh::rectangle::generate_rectangle;

const GIVEN: &str = "[mesh]\nfile = \"given.msh\"\n[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"clay\"\n\
                     conductivity = 2.0\n[[support]]\non = \"xmin\"\nvalue = 4.0\n";

fn square() -> Mesh {
    generate_rectangle(Quad4, [2.0, 1.0], [4, 2]).unwrap()
}

fn cube() -> Mesh {
    generate_box(Hex8, [2.0, 1.0, 1.0], [2, 1, 1]).unwrap()
}

#[test]
fn the_mesh_decides_the_dimension() {
    for (mesh, area) in [(square(), 1.0), (cube(), 1.0)] {
        let model = load_on(&format!("{GIVEN}[[flux]]\non = \"xmax\"\nvalue = 3.0\n"), mesh).unwrap();
        assert_eq!((model.analysis, model.analysis.components(), model.thickness), (Analysis::Laplace, 1, 1.0));
        assert_eq!(model.materials[0].conductivity, [2.0; 3]);
        assert_eq!(model.supports[0].displacement, [Some(4.0), None, None]);
        assert_eq!(model.applied[0].name, "flux on xmax");
        assert!((model.applied[0].total[0] - 3.0 * area).abs() < 1e-12, "{:?}", model.applied);
        assert_eq!(model.fields, ["potential", "gradient", "gradient_nodal", "material"]);
        assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    }
    let source = load_on(&format!("{GIVEN}[source]\nvalue = -1.5\n"), square()).unwrap();
    assert_eq!((source.applied[0].name.as_str(), source.warnings.len()), ("source", 0));
    assert!((source.applied[0].total[0] + 3.0).abs() < 1e-12, "{:?}", source.applied);
    let nothing = load_on(&format!("{GIVEN}[source]\nvalue = 0.0\n"), square()).unwrap();
    assert_eq!(nothing.warnings[0], "source is zero");
}

#[test]
fn thickness_and_points_must_fit_the_mesh() {
    let thick = GIVEN.replace("\"laplace\"", "\"laplace\"\nthickness = 0.5");
    assert_eq!(load_on(&thick, square()).unwrap().thickness, 0.5);
    refused_on(&thick, cube(), 2, &[">box.toml:5:13: `thickness` belongs to plane problems", "leave it out"]);
    let flat = GIVEN.replace("on = \"xmin\"", "box = { min = [-1, -1], max = [0.1, 2] }");
    assert_eq!(load_on(&flat, square()).unwrap().supports[0].nodes.len(), 3);
    refused_on(&flat, cube(), 2, &[">box.toml:9:15: this must be three numbers", "not 2 values"]);
    let deep = flat.replace("-1, -1]", "-1, -1, -1]").replace("0.1, 2]", "0.1, 2, 2]");
    assert_eq!(load_on(&deep, cube()).unwrap().supports[0].nodes.len(), 4);
    assert_eq!(load_on(&deep, square()).unwrap().supports[0].nodes.len(), 3);
}

#[test]
fn meshes_without_bodies_and_bent_ones_are_refused() {
    let mut lines = square();
    lines.cells.remove(0);
    lines.groups.clear();
    refused_on(GIVEN, lines, 4, &[">given.msh has no plane or solid elements, which laplace needs; it holds 12 line2"]);
    let mut bent = square();
    bent.coords[4][2] = 0.5;
    refused_on(GIVEN, bent, 4, &[">given.msh is not flat; laplace needs a plane z = constant"]);
}

#[test]
fn every_part_needs_a_value() {
    let two = || beside(square(), &generate_rectangle(Tri3, [1.0; 2], [1, 1]).unwrap(), [5.0, 0.0, 0.0]);
    let message = ">the potential of 1 of the body's 2 separate parts is fixed nowhere\npart 2 (4 nodes, from (5, 0)";
    let one = GIVEN.replace("on = \"xmin\"", "nodes = [1]");
    refused_on(&one, two(), 4, &[message, "help: add a [[support]] with `value` on any of: xmin, xmax, ymin, ymax"]);
    // The groups of both are united.
    assert!(load_on(GIVEN, two()).is_ok());
}

#[test]
fn supports_agree_and_an_idle_model_says_so() {
    let again = |value: &str| format!("{GIVEN}[[support]]\non = \"ymin\"\nvalue = {value}\n");
    refused_on(
        &again("1.0"),
        square(),
        2,
        &[">box.toml:12:6: supports `xmin` (box.toml:9) and `ymin` prescribe", "4 and 1"],
    );
    let idle = load_on(&again("4.0"), square()).unwrap();
    assert_eq!(idle.warnings, ["nothing drives a flow: the potential will be constant"]);
    let lost = load_on(&format!("{GIVEN}[[flux]]\non = \"xmin\"\nvalue = 1.0\n"), square()).unwrap();
    assert_eq!(lost.warnings, ["flux on xmin: 100 % of it acts on supported nodes and goes straight into the support"]);
}

#[test]
fn generated_shapes_of_either_dimension_fit() {
    for (shape, dim, side) in [
        ("\"box\", element = \"tet4\", size = [1, 1, 1]", 3, "xmin"),
        ("\"rectangle\", element = \"tri3\", size = [1, 1]", 2, "xmin"),
        ("\"annulus\", element = \"tri6\", radii = [1, 2]", 2, "inner"),
    ] {
        let cells = if dim == 3 { "[2, 2, 2]" } else { "[2, 9]" };
        let generate = format!("generate = {{ kind = {shape}, cells = {cells} }}");
        let given = GIVEN.replace("file = \"given.msh\"", &generate).replace("xmin", side);
        let model = load(&given).unwrap();
        assert_eq!(model.mesh.dim(), dim);
        let elastic = given.replace("laplace", "plane_strain");
        let plane =
            elastic.replace("conductivity = 2.0", "young = 1.0\npoisson = 0.0").replace("value = 4.0", "fix = \"xy\"");
        assert_eq!(load(&plane).is_ok(), dim == 2, "{shape}");
    }
    let ring = "generate = { kind = \"annulus\", element = \"tri6\", radii = [1, 2], cells = [2, 9] }";
    let space = GIVEN.replace("file = \"given.msh\"", ring).replace("laplace", "elasticity").replace("value = 4.0", "");
    refused(&space, 2, &["an annulus is no mesh for the analysis kind `elasticity`"]);
}
