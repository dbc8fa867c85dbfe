//! The text of a new case file: what the mesh holds, a material, and suggestions for supports and loads.
//!
//! A suggestion is a table, or a key of one, whose lines begin with `#` and no space; after `# ` stand words. Each
//! suggestion can be used as it is: it names a group, or else an extreme plane, that there is.

use super::print::{count, elements, vector};
use crate::mesh::{Group, Mesh, quality};
use crate::model::units::{self, System};
use crate::model::{Analysis, Physics, Units, planes};
use std::fmt::Write;
use warpfem_text::{counted, number};

/// Where comments behind values begin.
const COMMENT: usize = 34;

/// What may stand after `on`.
const NAMES: &str = "a name, or a list of names";

/// Parts of names of sides that are rarely held or loaded.
const TRANSITIONS: [&str; 4] = ["fillet", "chamfer", "blend", "radius"];

/// The case file `case` for a mesh that lies at `path` from it.
pub fn text(mesh: &Mesh, path: &str, case: &str, analysis: Analysis) -> String {
    let places = Places::of(mesh);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = head(&mut out, mesh, path, case).and_then(|()| groups(&mut out, mesh, &places));
    let longest = mesh.longest_side();
    let mut file = File { out, mesh, places, analysis, units: units::likely(longest), longest };
    file.mesh_and_analysis(path);
    file.material();
    match analysis.physics() {
        Physics::Potential | Physics::Heat => file.potential(),
        Physics::Elasticity => file.elasticity(),
    }
    file.out
}

/// Where suggestions are: names as they stand in the file, in quotes.
struct Places {
    held: Option<String>,
    loaded: Option<String>,
    /// Extreme planes with faces of the body's surface; only looked for where no group of sides is.
    planes: Vec<&'static str>,
}

impl Places {
    fn of(mesh: &Mesh) -> Places {
        let sides: Vec<&Group> = mesh.groups.iter().filter(|group| group.dim + 1 == mesh.dim()).collect();
        let names: Vec<&str> = sides.iter().map(|group| group.name.as_str()).collect();
        let has_faces = |name: &&&str| mesh.faces_on(name).is_some_and(|faces| !faces.is_empty());
        let planes: Vec<&str> = match sides.is_empty() {
            true => planes(mesh.dim()).iter().filter(has_faces).copied().collect(),
            false => Vec::new(),
        };
        let mut names = if sides.is_empty() { planes.clone() } else { names };
        let is_likely = |name: &&str| !TRANSITIONS.iter().any(|word| name.to_lowercase().contains(word));
        if names.iter().any(is_likely) {
            names.retain(is_likely);
        }
        let bodies = mesh.groups.iter().find(|group| group.dim == mesh.dim()).map(|group| group.name.as_str());
        let held = names.first().copied().map(quoted);
        Places { held, loaded: names.last().copied().or(bodies).map(quoted), planes }
    }
}

/// A basic string of TOML; in a comment too, where a name must not end the line.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn head(out: &mut String, mesh: &Mesh, path: &str, case: &str) -> std::fmt::Result {
    let (low, high) = mesh.extent();
    let (nodes, cells, low, high) = (count(mesh.coords.len()), elements(mesh), vector(low), vector(high));
    writeln!(out, "# {}: {nodes} nodes, {cells}, from {low} to {high}.", quoted(path))?;
    writeln!(out, "#")?;
    writeln!(
        out,
        "# Lines that begin with # and no space are suggestions: take the # away, and set names and numbers."
    )?;
    writeln!(out, "# Fill in a support and a load, then:")?;
    writeln!(out, "#   warpfem check {0}\n#   warpfem solve {0}", quoted(case).trim_matches('"'))
}

fn groups(out: &mut String, mesh: &Mesh, places: &Places) -> std::fmt::Result {
    let last = planes(mesh.dim()).last().copied().unwrap_or_default();
    if mesh.groups.is_empty() {
        writeln!(
            out,
            "#\n# The mesh has no groups. Name what is held and loaded in Gmsh (Physical Groups), or use its"
        )?;
        writeln!(
            out,
            "# extreme planes, \"xmin\" to \"{last}\". Faces of the body lie on: {}.",
            places.planes.join(", ")
        )?;
        return writeln!(out);
    }
    writeln!(out, "#\n# Groups of the mesh, to stand after `on`, besides \"xmin\" to \"{last}\", its extreme planes:")?;
    let names: Vec<String> = mesh.groups.iter().map(|group| quoted(&group.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (group, name) in mesh.groups.iter().zip(names) {
        writeln!(out, "#   {name:<width$}  {}", size_of(mesh, group))?;
    }
    writeln!(out)
}

/// The dimension and the size of a group in words.
pub fn size_of(mesh: &Mesh, group: &Group) -> String {
    let (kind, measure) = match group.dim {
        0 => ("points  ", ""),
        1 => ("curves  ", "length"),
        2 => ("surfaces", "area"),
        _ => ("volumes ", "volume"),
    };
    let cells = group.members.iter().map(|(_, cells)| cells.len()).sum();
    let nodes = mesh.nodes_of(group).len();
    let size = match group.dim {
        0 => String::new(),
        _ => format!(", {measure} {}", number(quality::measure_of(mesh, group), 4)),
    };
    format!("{kind}  {}, {}{size}", counted(cells, "element"), counted(nodes, "node"))
}

struct File<'a> {
    out: String,
    mesh: &'a Mesh,
    places: Places,
    analysis: Analysis,
    units: &'static System,
    longest: f64,
}

impl File<'_> {
    /// Lines of a table, `key = value` with a comment each.
    fn table(&mut self, mark: &str, head: &str, lines: &[(String, String)]) {
        let _ = writeln!(self.out, "{mark}{head}");
        for (line, comment) in lines {
            let line = format!("{mark}{line}");
            let _ = match comment.is_empty() {
                true => writeln!(self.out, "{line}"),
                false => writeln!(self.out, "{line:<COMMENT$} # {comment}"),
            };
        }
        self.out.push('\n');
    }

    fn suggest(&mut self, head: &str, lines: &[(String, String)]) {
        self.table("#", head, lines);
    }

    /// A suggestion on what may be loaded, if there is anything.
    fn suggest_on(&mut self, head: &str, value: (String, String)) {
        if let Some(name) = &self.places.loaded {
            let on = line(format!("on = {name}"), NAMES);
            self.suggest(head, &[on, value]);
        }
    }

    fn say(&mut self, words: &str) {
        let _ = writeln!(self.out, "# {words}");
    }

    fn is_metres(&self) -> bool {
        self.units.length == 1.0
    }

    /// `value` in SI, in the file's units.
    fn stress(&self, pascals: f64) -> String {
        decimal(pascals / self.units.stress)
    }

    /// The units of length, stress, density and acceleration.
    fn names(&self) -> [&'static str; 4] {
        match self.is_metres() {
            true => ["m", "Pa", "kg/m^3", "m/s^2"],
            false => ["mm", "MPa", "t/mm^3", "mm/s^2"],
        }
    }

    fn mesh_and_analysis(&mut self, path: &str) {
        self.table("", "[mesh]", &[line(format!("file = {}", quoted(path)), "relative to this file")]);
        let mut lines = vec![line(format!("kind = \"{}\"", self.analysis.name()), self.analysis.hint())];
        if self.mesh.dim() == 2 && !self.analysis.is_revolved() {
            let thickness = decimal(0.01 / self.units.length);
            lines.push(line(
                format!("#thickness = {thickness}"),
                format!("[{}] set this: it is 1 if left out", self.names()[0]),
            ));
        }
        let units = if self.is_metres() { Units::Si } else { Units::MmNS };
        lines.push(line(format!("#units = \"{}\"", units.name()), "labels results; nothing is converted"));
        self.table("", "[analysis]", &lines);
    }

    fn material(&mut self) {
        let [length, stress, density, _] = self.names();
        let longest = number(self.longest, 3);
        self.say(&format!("Units: the longest side is {longest}, so {length} are likely, with {}.", self.units.name));
        let name = line("name = \"steel\"", "");
        let lines = match self.analysis.physics() {
            Physics::Potential | Physics::Heat => {
                let (value, unit) = if self.is_metres() { ("50.0", "W/(m K)") } else { ("0.05", "W/(mm K)") };
                vec![name, line(format!("conductivity = {value}"), format!("[{unit}]"))]
            }
            _ => {
                let (other, young, rho) = match self.is_metres() {
                    true => ("mm", "210e3 [MPa]", "7.85e-9 [t/mm^3]"),
                    false => ("m", "210e9 [Pa]", "7850.0 [kg/m^3]"),
                };
                self.say(&format!("If it is meant in {other}, write young = {young} and density = {rho} for steel."));
                let rho = decimal(7850.0 / self.units.density);
                vec![
                    name,
                    line(format!("young = {}", self.stress(210e9)), format!("Young's modulus [{stress}]")),
                    line("poisson = 0.3", "Poisson's ratio"),
                    line(format!("density = {rho}"), format!("[{density}], for gravity only")),
                    line(
                        format!("#yield_strength = {}", self.stress(235e6)),
                        format!("[{stress}], for the safety factor"),
                    ),
                ]
            }
        };
        self.table("", "[[material]]", &lines);
        let dim = self.mesh.dim();
        let bodies: Vec<String> =
            self.mesh.groups.iter().filter(|group| group.dim == dim).map(|group| quoted(&group.name)).collect();
        if bodies.len() > 1 {
            self.say(&format!(
                "Of several materials each says what is made of it, as: on = [{}]",
                bodies[..2].join(", ")
            ));
            self.out.push('\n');
        }
    }

    /// Where a suggested support is: a group or a plane, or else a box round the low end of the longest side.
    fn held(&self) -> (String, String) {
        if let Some(name) = &self.places.held {
            return line(format!("on = {name}"), NAMES);
        }
        let (low, mut high) = self.mesh.extent();
        let axis = (0..3).max_by(|&a, &b| (high[a] - low[a]).total_cmp(&(high[b] - low[b]))).unwrap_or(0);
        high[axis] = low[axis] + 0.1 * (high[axis] - low[axis]);
        line(format!("box = {{ min = {}, max = {} }}", self.vector(low), self.vector(high)), "the nodes inside")
    }

    /// As many components as there are dimensions.
    fn vector(&self, v: [f64; 3]) -> String {
        let components: Vec<String> = v[..self.mesh.dim()].iter().map(|&c| decimal(c)).collect();
        format!("[{}]", components.join(", "))
    }

    /// A vector along the last axis.
    fn down(&self, size: f64) -> String {
        let mut v = [0.0; 3];
        v[self.mesh.dim() - 1] = -size;
        self.vector(v)
    }

    fn elasticity(&mut self) {
        let [length, stress, _, acceleration] = self.names();
        let (all, one) = if self.mesh.dim() == 2 { ("xy", "y") } else { ("xyz", "z") };
        self.say("What holds it. All supports together must stop every rigid motion of every part.");
        let fix = line(format!("fix = \"{all}\""), format!("\"{one}\" alone: free to slide along the others"));
        let held = self.held();
        self.suggest("[[support]]", &[held.clone(), fix]);
        let moved = format!("displacement = {{ {one} = {} }}", decimal(-1e-3 * self.longest));
        self.suggest("[[support]]", &[held, line(moved, format!("[{length}], prescribed"))]);

        self.say("What loads it: any of these, any number of times.");
        let (force, vector, pressure) = (self.down(1000.0), self.down(1e6 / self.units.stress), self.stress(1e6));
        self.suggest_on("[[force]]", line(format!("total = {force}"), "[N], spread evenly"));
        self.suggest_on(
            "[[pressure]]",
            line(format!("value = {pressure}"), format!("[{stress}], pushing on the body")),
        );
        self.suggest_on("[[traction]]", line(format!("vector = {vector}"), format!("[{stress}], force per area")));
        let g = self.down(9.81 / self.units.acceleration());
        self.suggest("[gravity]", &[line(format!("acceleration = {g}"), format!("[{acceleration}]"))]);
        let sum = |x: &&[f64; 3]| x.iter().sum::<f64>();
        let corner = self.mesh.coords.iter().max_by(|a, b| sum(a).total_cmp(&sum(b))).copied().unwrap_or_default();
        let (at, force) = (self.vector(corner), self.down(1000.0));
        let at = line(format!("at = {at}"), "the nearest node takes it");
        self.suggest("[[point_force]]", &[at, line(format!("vector = {force}"), "[N]")]);
        let up = self.down(-1.0);
        let direction = line(format!("direction = {up}"), "where another body pushes from");
        self.suggest("[[push]]", &[direction, line("total = 1000.0", "[N]")]);
    }

    fn potential(&mut self) {
        self.say("Where the potential is known: in one place of every part at least. Other sides let nothing through.");
        let held = self.held();
        self.suggest("[[support]]", &[held, line("value = 20.0", "[K], for a temperature")]);
        self.say("What drives it: another support of another value, or any of these.");
        let [flux, source, driven, produced] = match self.is_metres() {
            true => ["W/m^2", "W/m^3", "1000.0", "1000.0"],
            false => ["W/mm^2", "W/mm^3", "0.001", "1e-6"],
        };
        self.suggest_on("[[flux]]", line(format!("value = {driven}"), format!("[{flux}], into the body")));
        self.suggest("[source]", &[line(format!("value = {produced}"), format!("[{source}], produced inside"))]);
    }
}

fn line(text: impl Into<String>, comment: impl Into<String>) -> (String, String) {
    (text.into(), comment.into())
}

/// A number that TOML takes for a floating-point one.
fn decimal(value: f64) -> String {
    let short = number(value, 6);
    if short.contains(['.', 'e']) { short } else { format!("{short}.0") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_toml() {
        assert_eq!(quoted("a \"b\"\\\n"), "\"a \\\"b\\\"\\\\\\u000A\"");
        assert_eq!(
            ["210e9", "1.0", "7.85e-9", "-0.5"].map(|t| decimal(t.parse().unwrap())),
            ["2.1e11", "1.0", "7.85e-9", "-0.5"]
        );
    }
}
