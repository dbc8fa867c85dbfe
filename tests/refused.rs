//! Bad inputs of temperatures, loads and free bodies: exit code, line and reason.

use warpfem::element::ElementKind::{Hex8, Quad4};
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::verify;

const SOFT: &str = "[[material]]\nname = \"soft\"\nyoung = 1000.0\npoisson = 0.3\n";
const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";

/// The text is refused with this exit code, at this line of its own, with these words.
#[track_caller]
fn refused(text: &str, code: u8, line: usize, words: &[&str]) {
    let plane = ["plane", "axisymmetric"].iter().any(|kind| text.contains(kind));
    let mesh = match plane {
        true => generate_rectangle(Quad4, [1.0; 2], [2; 2]).unwrap(),
        false => generate_box(Hex8, [1.0; 3], [2; 3]).unwrap(),
    };
    let error = verify::model(text, mesh).expect_err(text);
    let said = error.to_string();
    assert_eq!(error.exit_code(), code, "{said}");
    // `verify::model` puts two lines before it.
    assert!(said.contains(&format!(":{}:", line + 2)) && said.contains("help: "), "{said}");
    words.iter().for_each(|word| assert!(said.contains(word), "{said}\ndoes not hold {word}"));
}

/// Behind material and support, which take seven lines.
#[track_caller]
fn refused_load(load: &str, line: usize, words: &[&str]) {
    refused(&format!("{SOFT}{CLAMP}{load}"), 2, 7 + line, words);
}

#[test]
fn temperatures() {
    let warm = "[temperature]\nreference = 20.0\n";
    refused(&format!("{SOFT}{CLAMP}{warm}value = 80.0\n"), 4, 2, &["`expansion` of material `soft`", "12e-6"]);
    refused_load(warm, 1, &["does not say how warm"]);
    refused_load("[temperature]\nvalue = 80.0\n", 1, &["`reference` is missing", "reference = 20.0"]);
    refused_load(&format!("{warm}value = 80.0\nfile = \"t.csv\"\n"), 4, &["more than one of `value`, `file`, `from`"]);
    refused_load(&format!("{warm}value = nan\n"), 3, &["`value` must be finite"]);
    let expands = SOFT.replace("poisson", "expansion = 1e-5\npoisson");
    let with = |rest: &str| format!("{expands}{CLAMP}{warm}{rest}");
    refused(&with("file = \"none.csv\"\n"), 2, 10 + 1, &["cannot read", "there is no such file"]);
    refused(&with("file = \"t.vtu\"\n"), 2, 11, &[".vtu are not read", "x, y, z, temperature"]);
    refused(&with("from = \"heat.vtu\"\n"), 2, 11, &["heat.vtu is no case file", "heat_nodes.csv"]);
    refused(&with("[[temperature.on]]\non = \"ymx\"\nvalue = 1.0\n"), 2, 12, &["no group `ymx`", "ymax"]);
    refused(&with("value = 1.0\n").replace("1e-5", "[1e-5, 2e-5]"), 2, 4, &["one number or three"]);
    let heat =
        "[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"m\"\nconductivity = 1.0\n[temperature]\nvalue = 1.0\n";
    refused(heat, 2, 6, &["`temperature` belongs to elasticity"]);
}

#[test]
fn files_of_points() {
    let folder = tempfile::tempdir().unwrap();
    let written = |text: &str| {
        let path = folder.path().join("p.csv");
        std::fs::write(&path, text).unwrap();
        format!("[[pressure]]\non = \"xmax\"\nfile = '{}'\n", path.display())
    };
    refused_load(&written("1,2,3\n"), 3, &["3 numbers, and no header", "x, y, z, p"]);
    refused_load(&written("x,y,z,p\n0,0,0,1\n0,0,0,high\n"), 3, &["line 3: `high` is no number"]);
    refused_load(&written("x,y,z,T\n0,0,0,1\n"), 3, &["no column p"]);
    refused_load(&written("90,0,0,1\n90,1,1,2\n"), 3, &["far from the body", "the same unit"]);
}

#[test]
fn pressures() {
    let on = "[[pressure]]\non = \"xmax\"\n";
    refused_load(on, 1, &["exactly one of `value`, `gradient`, `file`"]);
    refused_load(&format!("{on}value = 1.0\ngradient = 2.0\n"), 1, &["exactly one of"]);
    refused_load(&format!("{on}gradient = 2.0\n"), 3, &["needs the `level`"]);
    refused_load(&format!("{on}gradient = 2.0\nlevel = [0.0, 0.0, 1.0]\n"), 3, &["where is down"]);
    let down = "direction = [0.0, 0.0, 0.0]\n";
    refused_load(&format!("{on}gradient = 2.0\nlevel = [0.0, 0.0, 1.0]\n{down}"), 5, &["must not be zero"]);
    refused_load(&format!("{on}value = 2.0\nlevel = [0.0, 0.0, 1.0]\n"), 4, &["belongs to the `gradient`"]);
    refused_load(&format!("{on}gradient = 2.0\nlevel = [0.0]\n"), 4, &["three numbers"]);
}

#[test]
fn moments() {
    let on = "[[load]]\non = \"xmax\"\n";
    refused_load(on, 1, &["neither `force` nor `moment`"]);
    refused_load(&format!("{on}moment = 3.0\n"), 3, &["`moment` has three numbers"]);
    refused_load(&format!("{on}moment = [0.0, inf, 0.0]\n"), 3, &["must be finite"]);
    refused_load(&format!("{on}moment = [0.0, 1.0, 0.0]\nat = [0.0, 0.0, 0.0]\n"), 4, &["there is none"]);
    refused_load("[[load]]\non = \"body2\"\nforce = [1.0, 0.0, 0.0]\n", 2, &["no group `body2`"]);
    let plane = format!("[analysis]\nkind = \"plane_strain\"\n{SOFT}{}", CLAMP.replace("xyz", "xy"));
    refused(&format!("{plane}{on}moment = [1.0, 0.0, 0.0]\n"), 2, 12, &["one number"]);
    let section = plane.replace("plane_strain", "axisymmetric");
    refused(&format!("{section}{on}moment = 1.0\n"), 2, 10, &["takes no [[load]]", "[[force]]"]);
}

#[test]
fn free_bodies() {
    let force = "[[load]]\non = \"xmax\"\nforce = [1.0, 0.0, 0.0]\n";
    refused(&format!("{SOFT}[inertia_relief]\n{force}"), 4, 2, &["inertia_relief needs the density"]);
    let heavy = SOFT.replace("poisson", "density = 2.0\npoisson");
    refused(&format!("{heavy}{CLAMP}[inertia_relief]\n{force}"), 2, 6, &["moves freely", "has no [[support]]"]);
    refused(&format!("{heavy}[[inertia_relief]]\n{force}"), 2, 6, &["only one `inertia_relief`"]);
}

#[test]
fn sectors_and_bolts() {
    let sector = "[[cyclic]]\nfrom = \"ymin\"\nto = \"xmin\"\n";
    refused_load(sector, 1, &["`axis` is missing", "about what does the sector repeat"]);
    refused_load(&format!("{sector}axis = [0.0, 0.0, 0.0]\n"), 4, &["no axis in this direction"]);
    refused_load(
        &format!("{sector}axis = [0.0, 0.0, 1.0]\nat = [0.5, -1.0, 0.0]\n"),
        3,
        &["degrees apart", "whole part of a turn"],
    );
    let about_z = format!("{sector}axis = [0.0, 0.0, 1.0]\n");
    refused_load(&about_z.replace("\"xmin\"", "\"xmn\""), 3, &["no group `xmn`", "xmin"]);
    // Opposite sides, and an axis between them that is off the middle of neither: half a turn, but not onto the other.
    let skewed = "[[cyclic]]\nfrom = \"ymin\"\nto = \"xmax\"\naxis = [0.0, 0.0, 1.0]\nat = [-0.25, 0.25, 0.0]\n";
    refused_load(skewed, 1, &["turned back by", "away from `ymin`"]);
    let heavy = SOFT.replace("poisson", "density = 2.0\npoisson");
    let with = |rest: &str| format!("{heavy}{about_z}{rest}");
    refused(&with("[gravity]\nacceleration = [1.0, 0.0, 0.0]\n"), 2, 11, &["not the same in all sectors"]);
    refused(
        &with("[rotation]\naxis = [0.0, 0.0, 1.0]\nat = [1.0, 0.0, 0.0]\nspeed = 1.0\n"),
        2,
        10,
        &["about another axis"],
    );
    refused(&with("[inertia_relief]\n"), 2, 6, &["no body of its own"]);
    let section =
        format!("[analysis]\nkind = \"axisymmetric\"\n{SOFT}[[support]]\non = \"ymin\"\nfix = \"y\"\n{sector}");
    refused(&section, 2, 10, &["the same all round already"]);

    let bolt = "[[bolt]]\non = \"xmax\"\n";
    refused_load(bolt, 1, &["exactly one of `preload`, `shortening`"]);
    refused_load(&format!("{bolt}preload = 1.0\nshortening = 1e-3\n"), 1, &["exactly one of"]);
    refused_load(&format!("{bolt}preload = -1.0\n"), 3, &["`preload` must be greater than 0"]);
    refused_load(
        &format!("{bolt}preload = 1.0\n"),
        2,
        &["4 of the 4 faces of `xmax` lie on the body's surface", "across its shank"],
    );
    refused_load("[[bolt]]\non = \"cut\"\npreload = 1.0\n", 2, &["no group `cut`"]);
    let heat = "[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"m\"\nconductivity = 1.0\n[[support]]\non = \"xmin\"\nvalue = 1.0\n";
    refused(&format!("{heat}{bolt}preload = 1.0\n"), 2, 9, &["has no bolts"]);

    let mass = "[[mass]]\non = \"xmax\"\nmass = 3.0\n";
    refused_load(&format!("{mass}inertia = 1.0\n"), 4, &["`inertia` has three numbers"]);
    refused_load(&format!("{mass}inertia = [1.0, -1.0, 1.0]\n"), 4, &["not negative"]);
    refused_load(&mass.replace("xmax", "motor"), 2, &["no group `motor`"]);
}
