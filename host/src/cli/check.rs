//! `warpfem check CASE`: what a case is, everything that is wrong with it, and what solving it will take.

use super::devices::{self, Computer};
use super::print::{self, bytes, count, quoted, vector, wrapped};
use super::progress::Progress;
use super::{Reported, solve, terminal, warnings};
use crate::device::{DeviceName, host_memory};
use crate::model::time::Steps;
use crate::model::{
    Analysis, AppliedLoad, Case, Directions, Excitation, LoadCase, Material, Model, Numbers, Physics, Problems,
    Quantity, Study, Transient, Units, Unused, unused, with_unit,
};
use crate::output::picture::{self, Viewpoint};
use crate::plan::{self, DeviceFacts, Expected, OnDevice, expect, fits};
use crate::result::Plan;
use crate::result::choices::Method;
use crate::solve::Monitor;
use crate::{Error, output};
use std::fmt::Write;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use toml::Spanned;
use warpfem_text::names::list;
use warpfem_text::{clean, counted, number};

/// Where the worst shape is this near to their mean, all are alike.
const ALIKE: f64 = 1e-6;
/// Elements of worse shape than this are listed.
const POOR: f64 = 0.1;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Nothing is solved, and only the picture is written. The exit code is the one of `solve`: 0 if the case can be solved.

Example: warpfem check meshes/bracket.toml"
)]
pub struct Arguments {
    /// The case file, or a deck (.inp).
    case: PathBuf,
    /// Where to solve it: auto (a GPU if there is one), cpu, cuda, cuda:1 or emulate.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices::named(), hide_possible_values = true)]
    device: String,
    /// Draw the model with its supports and loads, as FILE.png [default: <case>_model.png].
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_parser = png)]
    picture: Option<Option<PathBuf>>,
    /// Side to look from: iso, x, -x (where x is least), y, -y, z or -z [default: the one that shows most].
    #[arg(long, value_name = "SIDE", value_parser = solve::view, allow_hyphen_values = true, requires = "picture")]
    view: Option<Viewpoint>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let progress = Progress::new(false);
    let (case, problems) = match Case::review(&arguments.case) {
        Ok(found) => found,
        Err(of_model) => return report(Findings { of_model, others: Vec::new() }).map_or(Ok(()), Err),
    };
    let mut findings = Findings { of_model: problems, others: Vec::new() };
    let device: DeviceName = arguments.device.parse().map_err(anyhow::Error::msg)?;
    let found = model(&case, device, &mut findings, &progress);
    findings.take(device.check());
    let mut out = String::new();
    if let Some((model, plan)) = &found {
        progress.phase("check");
        let (is_sound, has_slip) = (findings.is_sound(), findings.of_model.has_slip());
        let free = host_memory::available();
        let (described, expected) = rayon::join(
            || describe(&mut out, &case, model),
            || plan.clone().filter(|_| is_sound).map(|plan| expect(model, plan, device, free)),
        );
        // Writing to a string cannot fail.
        let _ = described.and_then(|()| {
            if let Some(expected) = &expected {
                costs(&mut out, expected, free)?;
            }
            remarks(&mut out, &case, model, has_slip)?;
            if expected.is_some() { ready(&mut out, arguments) } else { Ok(()) }
        });
    }
    if let (Some((model, _)), Some(file)) = (&found, &arguments.picture) {
        let file = file.clone().unwrap_or_else(|| format!("{}_model.png", model.name).into());
        draw(model, &file, arguments.view)?;
        let _ = writeln!(out, "wrote {}", quoted(&file));
    }
    progress.finish();
    let printed = print::text(&fitted(&out));
    report(findings).map_or(printed, Err)
}

/// Lines that are too long are wrapped: warnings and hints under their text, what has a heading under its column.
/// Commands stay as they are, to be pasted.
fn fitted(text: &str) -> String {
    let fit = |line: &str| match line {
        _ if line.starts_with("ready: ") => format!("{line}\n"),
        _ if line.starts_with("  hint: ") => wrapped(line, "    ") + "\n",
        _ => wrapped(line, "            ") + "\n",
    };
    text.lines().map(fit).collect()
}

/// What is wrong with a model, and what else keeps this machine from solving it.
struct Findings {
    of_model: Problems,
    others: Vec<Error>,
}

impl Findings {
    /// The value; or nothing, and its error is noted.
    fn take<T>(&mut self, result: Result<T, impl Into<Error>>) -> Option<T> {
        let mut note = |error: Error| match error {
            Error::Model(error) => self.of_model.add(error),
            other => self.others.push(other),
        };
        result.map_err(|error| note(error.into())).ok()
    }

    fn is_sound(&self) -> bool {
        self.of_model.count() == 0 && self.others.is_empty()
    }
}

/// Reads the mesh and resolves the case on it, as far as both go; how it would be solved, if it can be.
fn model(
    case: &Case,
    device: DeviceName,
    findings: &mut Findings,
    progress: &Progress,
) -> Option<(Model, Option<Plan>)> {
    let on_host = !matches!(device.resolve(), DeviceName::Cuda(_));
    findings.take(fits::check_case(case, on_host))?;
    progress.phase("read");
    let mesh = findings.of_model.take(case.mesh())?;
    findings.take(fits::check_mesh(&mesh, case.analysis(), on_host));
    progress.phase("check");
    let (model, more) = Model::review(case, mesh);
    more.into_vec().into_iter().for_each(|error| findings.of_model.add(error));
    let plan = findings.is_sound().then(|| findings.take(plan::resolve(&model, &DeviceFacts::guess(device)))).flatten();
    Some((model, plan))
}

/// The path of a picture: a slip must not replace a case or a mesh.
fn png(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    if is_png { Ok(path) } else { Err("a picture is written as PNG: its name must end in .png".into()) }
}

fn draw(model: &Model, file: &Path, view: Option<Viewpoint>) -> output::Result<()> {
    let png = picture::model_png(model, view);
    output::write_file(file, |out| out.write_all(&png?))
}

/// Prints every problem; the exit code is that of the first, which `solve` would end with.
fn report(findings: Findings) -> Option<anyhow::Error> {
    let of_model = findings.of_model.into_vec().into_iter().map(Error::from);
    let problems: Vec<Error> = of_model.chain(findings.others).collect();
    let code = problems.first()?.exit_code();
    let n = problems.len();
    problems.into_iter().for_each(|error| print::error(&error.into()));
    if n > 1 {
        // There is nowhere left to report that stderr is closed.
        let _ = writeln!(io::stderr(), "{n} problems; exit code {code}, from the first");
    }
    Some(Reported(code).into())
}

fn describe(out: &mut String, case: &Case, model: &Model) -> std::fmt::Result {
    let mesh = &model.mesh;
    let (nodes, (low, high)) = (mesh.coords.len(), mesh.extent());
    writeln!(out, "{}: {} on {}", model.name, in_words(model), case.mesh_name())?;
    writeln!(
        out,
        "  mesh      {} nodes, {}, from {} to {}",
        count(nodes),
        print::elements(mesh),
        vector(low),
        with_unit(vector(high), model.units, Quantity::Length)
    )?;
    writeln!(out, "  unknowns  {}", count(nodes * model.analysis.components()))?;
    if model.study.is_of_modes() {
        let shift = if model.shift == 0.0 { String::new() } else { format!(", shift {}", number(model.shift, 4)) };
        let of = match (model.study, model.prestress) {
            (Study::Buckling, _) => "buckling",
            (_, true) => "vibration under the loads",
            (_, false) => "vibration",
        };
        writeln!(out, "  study     {} of {of}{shift}", counted(model.modes, "mode"))?;
        let ends = |list: &[f64]| [list.first(), list.last()].map(|end| end.map_or(String::new(), |at| number(*at, 4)));
        let vibrate = |list| {
            let [from, to] = ends(list);
            format!("  harmonic  loads vibrate at {from} to {to}, cycles per time\n")
        };
        *out += &model.response.as_ref().map_or(String::new(), |response| match &response.excitation {
            Excitation::Harmonic { frequencies, fields, .. } => {
                vibrate(if frequencies.is_empty() { fields } else { frequencies })
            }
            Excitation::Sweep { range, .. } => vibrate(range),
            Excitation::History { times } => {
                format!("  motion    from rest, {} up to {}\n", counted(times.len(), "time"), ends(times)[1])
            }
        });
    }
    if let Some(Transient { times, steps, scheme, .. }) = &model.time {
        let steps = match steps {
            Steps::Fixed(step) => format!("steps of {}", number(*step, 4)),
            Steps::Within(tolerance) => format!("steps that may be off by {}", number(*tolerance, 4)),
        };
        let end = number(times.last().copied().unwrap_or(0.0), 4);
        writeln!(out, "  time      0 to {end} in {steps} by {scheme}; results at {}", counted(times.len(), "time"))?;
    }
    parts(out, case, model)?;
    for (case, other) in case.others.iter().zip(&model.others) {
        writeln!(out, "  from {} on:", other.step_name(0))?;
        parts(out, case, other)?;
    }
    shapes(out, model)
}

/// What a model is made of, and what holds and loads it.
fn parts(out: &mut String, case: &Case, model: &Model) -> std::fmt::Result {
    materials(out, case, model)?;
    for support in &model.supports {
        let held = prescribed(model.analysis, model.units, support.displacement, support.directions.letters());
        let of_axes = if matches!(support.directions, Directions::Axes(_)) { " in its own axes" } else { "" };
        let held = format!("{held}{of_axes}");
        writeln!(out, "  support   {}: {}, {held}", support.name, counted(support.nodes.len(), "node"))?;
    }
    for spring in &model.springs {
        let (key, rates) = (spring.rate.0, listed(&spring.rate.1, None, Quantity::Unlabelled));
        let of = match (key, spring.rate.1.len()) {
            ("stiffness", _) => " along x y z in all",
            ("rate", _) => " each",
            ("coefficient" | "conductance", _) => " per area",
            (_, 1) => " per area along the normal",
            _ => " per area",
        };
        let nodes = counted(spring.holds.nodes.len(), "node");
        writeln!(out, "  {:<9} {}: {nodes}, {rates}{of}", spring.kind(), spring.name)?;
    }
    for mass in &model.masses {
        let size = with_unit(number(mass.mass, 4), model.units, Quantity::Mass);
        writeln!(out, "  mass      {}: {}, {size}", mass.name, counted(mass.nodes().len(), "node"))?;
    }
    for (table, note) in &model.constraints.notes {
        writeln!(out, "  {table:<9} {note}")?;
    }
    for load in model.applied.iter().filter(|load| !load.is_preload()) {
        let (place, total) = match model.analysis.physics() {
            Physics::Potential | Physics::Heat => (String::new(), number(load.total[0], 4)),
            Physics::Elasticity => (place(model, load), force(model, load.total)),
        };
        writeln!(out, "  load      {}{place}: {total} in total", load.name)?;
    }
    for case in &model.load_cases {
        writeln!(out, "  case      {}: {}", case.name, factors(model, case))?;
    }
    Ok(())
}

/// The loads of a case with their factors.
fn factors(model: &Model, case: &LoadCase) -> String {
    let volume =
        [("gravity", model.gravity.is_some(), case.gravity), ("rotation", model.rotation.is_some(), case.rotation)];
    let volume = volume.into_iter().filter(|(_, is_there, _)| *is_there);
    let volume = volume.map(|(name, _, factor)| (name, factor));
    let others = model.applied.iter().map(|load| load.name.as_str()).zip(case.applied.iter().copied());
    let factors = volume.chain(others).filter(|(_, factor)| *factor != 0.0);
    let said: Vec<String> = factors.map(|(name, factor)| format!("{} x {name}", number(factor, 4))).collect();
    if said.is_empty() { "no load".into() } else { said.join(", ") }
}

/// What there is to warn of; groups that nothing is on are left out where the case `has_slip`, as that may be why.
fn remarks(out: &mut String, case: &Case, model: &Model, has_slip: bool) -> std::fmt::Result {
    for warning in warnings::of_model(model) {
        out.push_str(&terminal::warning(&warning));
    }
    if has_slip { Ok(()) } else { forgotten(out, case, model) }
}

/// Where a load on a single node is.
fn place(model: &Model, load: &AppliedLoad) -> String {
    let &[node] = &load.nodes[..] else { return String::new() };
    let at = with_unit(vector(model.mesh.coords[node as usize]), model.units, Quantity::Length);
    format!(" on node {} at {at}", model.mesh.node_tags[node as usize])
}

fn in_words(model: &Model) -> String {
    let what = model.analysis.what();
    match model.analysis.dim().unwrap_or(model.mesh.dim()) {
        2 if !model.analysis.is_revolved() => format!("{what}, {} thick,", number(model.thickness, 4)),
        _ => what.to_string(),
    }
}

fn force(model: &Model, force: [f64; 3]) -> String {
    with_unit(vector(force), model.units, Quantity::Force)
}

/// Each material with what is made of it; what gravity and sources add up to.
fn materials(out: &mut String, case: &Case, model: &Model) -> std::fmt::Result {
    let mut mass = 0.0;
    for (index, (material, (elements, content))) in model.materials.iter().zip(model.made_of()).enumerate() {
        // Of a density that is an error there is no mass.
        let density = material.density.filter(|&rho| rho > 0.0);
        mass += content * density.unwrap_or(0.0);
        let measured = |value, quantity| with_unit(number(value, 4), model.units, quantity);
        let weight = density.map_or(String::new(), |rho| format!(", mass {}", measured(rho * content, Quantity::Mass)));
        let table = case.tables.material[index].get_ref();
        let given = |value: &Option<Spanned<Numbers>>, quantity| match value {
            Some(value) => listed(&value.get_ref().0, model.units, quantity),
            None => "missing".into(),
        };
        let numbers = match model.analysis.physics() {
            Physics::Potential | Physics::Heat => format!("k = {}", given(&table.conductivity, Quantity::Unlabelled)),
            Physics::Elasticity if table.stiffness.is_some() || table.shear.is_some() => {
                constants(material, model.units)
            }
            Physics::Elasticity => {
                let (young, poisson) = (given(&table.young, Quantity::Stress), &table.poisson);
                format!("E = {young}, nu = {}", given(poisson, Quantity::Unlabelled))
            }
        };
        let (name, content) = (&material.name, measured(content, Quantity::Volume));
        writeln!(out, "  material  {name}: {} elements, volume {content}{weight}; {numbers}", count(elements))?;
    }
    if let Some(of) = model.mass_properties() {
        let (mass, centre) = (with_unit(number(of.mass, 4), model.units, Quantity::Mass), vector(of.centre));
        let largest = of.inertia.iter().fold(0.0_f64, |most, of| most.max(of.abs()));
        let inertia = listed(&of.inertia.map(|of| clean(of, 1e-12 * largest)), None, Quantity::Unlabelled);
        writeln!(out, "  mass      {mass}, centre {centre}; inertia about it xx yy zz xy yz xz: {inertia}")?;
    }
    if let Some(g) = model.gravity {
        let mass = mass + model.masses.iter().map(|of| of.mass).sum::<f64>();
        writeln!(out, "  load      gravity: {} in total", force(model, g.map(|c| c * mass)))?;
    }
    if let Some(rotation) = model.rotation {
        let (axis, at) = (vector(rotation.axis), vector(rotation.at));
        writeln!(out, "  load      rotation: {} radians per time about {axis} at {at}", number(rotation.speed, 4))?;
    }
    if let Some(temperature) = &model.temperature {
        let of = |degrees: f64| number(degrees + temperature.reference, 4);
        let heat = temperature.heat.as_ref().map_or("", |heat| &heat.name);
        let range = match temperature.range() {
            None => format!("that of the heat case {heat}, solved first"),
            Some((low, high)) if low == high => of(low),
            Some((low, high)) => format!("{} to {}", of(low), of(high)),
        };
        writeln!(out, "  load      temperature: {range}, without thermal strain at {}", of(0.0))?;
    }
    if !model.pins.is_empty() {
        writeln!(out, "  free      the loads accelerate the body: inertia_relief")?;
    }
    Ok(())
}

/// The numbers of a key with their unit.
fn listed(numbers: &[f64], units: Option<Units>, quantity: Quantity) -> String {
    let numbers: Vec<String> = numbers.iter().map(|value| number(*value, 4)).collect();
    with_unit(numbers.join(" "), units, quantity)
}

/// The constants of a law by their keys.
fn constants(material: &Material, units: Option<Units>) -> String {
    let constants = material.law.constants();
    let constants =
        constants.iter().map(|(key, numbers, quantity)| format!("{key} = {}", listed(numbers, units, *quantity)));
    constants.collect::<Vec<_>>().join(", ")
}

/// `x = y = 0, z = -0.001`.
fn prescribed(analysis: Analysis, units: Option<Units>, values: [Option<f64>; 3], letters: [&str; 3]) -> String {
    if analysis.physics().is_scalar() {
        return format!("value {}", number(values[0].unwrap_or(0.0), 4));
    }
    let fixed: Vec<&str> = (0..3).filter(|&c| values[c] == Some(0.0)).map(|c| letters[c]).collect();
    let fixed = (!fixed.is_empty()).then(|| format!("{} fixed", fixed.join(", ")));
    let moved = (0..3).filter_map(|c| values[c].filter(|&v| v != 0.0).map(|v| (letters[c], v)));
    let moved = moved.map(|(c, v)| format!("{c} moved by {}", with_unit(number(v, 4), units, Quantity::Length)));
    fixed.into_iter().chain(moved).collect::<Vec<_>>().join(", ")
}

fn shapes(out: &mut String, model: &Model) -> std::fmt::Result {
    let Some(quality) = model.mesh.quality() else { return Ok(()) };
    if quality.mean - quality.min < ALIKE {
        writeln!(out, "  shapes    all {:.2} (1 is regular, 0 is flat)", quality.mean)?;
    } else {
        let poor = quality.worst.iter().filter(|(_, measure)| *measure < POOR);
        let poor: Vec<String> = poor.map(|(tag, measure)| format!("{tag} ({})", number(*measure, 3))).collect();
        let (mean, worst) = (quality.mean, quality.min);
        let listed = if poor.is_empty() { String::new() } else { format!("; poor elements: {}", poor.join(", ")) };
        writeln!(out, "  shapes    mean {mean:.2}, worst {worst:.2} (1 is regular, 0 is flat){listed}")?;
    }
    Ok(())
}

/// The groups that nothing in the case is on, but for those that every generated mesh has.
fn forgotten(out: &mut String, case: &Case, model: &Model) -> std::fmt::Result {
    if !matches!(case.generated(), Ok(None)) {
        return Ok(());
    }
    let (meant, others): (Vec<_>, Vec<_>) =
        unused(case, &model.mesh).into_iter().partition(|unused| unused.like.is_some());
    for Unused { group, like } in meant {
        let (name, like) = (&group.name, like.unwrap_or_default());
        writeln!(out, "  hint: nothing uses group `{name}`; did you mean it by `{like}`, the extreme plane?")?;
    }
    if others.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = others.iter().map(|unused| &*unused.group.name).collect();
    writeln!(out, "  groups    not used: {}", list(&names))
}

/// A time with two digits: an estimate has no more.
fn about(seconds: f64) -> String {
    let units = [(3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= 2.0 * unit).unwrap_or(units[4]);
    format!("{} {name}", number(seconds / unit, 2))
}

/// Memory and time on each device.
fn costs(out: &mut String, expected: &Expected, free: Option<u64>) -> std::fmt::Result {
    let Expected { host, gpu, no_room } = expected;
    let needed = host.work.memory.on_host();
    let there = free.map_or(String::new(), |free| format!(" of {} that are free", bytes(free)));
    let lack = if no_room.is_none() && free.is_some_and(|free| needed > free) { ": may be too much" } else { "" };
    writeln!(out, "  memory    about {}{there}{lack}", bytes(needed))?;
    writeln!(out, "  solver    {}", host.plan.reason())?;
    if let Some(gpu) = gpu.as_ref().filter(|gpu| gpu.plan.reason() != host.plan.reason()) {
        writeln!(out, "            on a GPU {}", gpu.plan.reason())?;
    }
    if let Some(hierarchy) = no_room {
        let (name, hierarchy) = (host.plan.preconditioner_name(), bytes(*hierarchy));
        writeln!(
            out,
            "            too little for multigrid ({hierarchy} more): on the CPU {name}, with more iterations"
        )?;
    }
    if host.plan.study.is_of_modes() {
        return writeln!(out, "            (no estimate of time for modes)");
    }
    for computer in devices::computers() {
        time(out, if computer.memory.is_none() { host } else { gpu.as_ref().unwrap_or(host) }, &computer)?;
    }
    let of = match host.plan.method {
        Method::Direct => "factor and solution",
        _ if host.work.setup > 0.0 => "set-up of multigrid and iteration",
        _ => "iteration",
    };
    let how = match host.plan.method {
        Method::Direct => "",
        _ => "; the number of iterations is a guess, to a factor of 2 or 3",
    };
    let step = if host.plan.study == Study::Transient { " of one step" } else { "" };
    writeln!(out, "            ({of}{step} only{how})")
}

/// The command that solves the case where it was checked for.
fn ready(out: &mut String, arguments: &Arguments) -> std::fmt::Result {
    let on = if arguments.device == "auto" { String::new() } else { format!(" --device {}", arguments.device) };
    writeln!(out, "ready: warpfem solve {}{on}", quoted(&arguments.case))
}

fn time(out: &mut String, expected: &OnDevice, on: &Computer) -> std::fmt::Result {
    let Computer { name, memory, speed, how } = on;
    let OnDevice { plan, work } = expected;
    let preconditioner = plan.preconditioner_name();
    let Some([setup, solution]) = work.seconds(speed) else {
        return writeln!(out, "  {name:<9} no estimate of time for this method");
    };
    let room = memory
        .map_or(String::new(), |memory| format!(", in {} of its {}", bytes(work.memory.on_device()), bytes(memory)));
    let time = about(setup + solution);
    let Some((iterations, moved)) = work.iteration else {
        let (setup, factor) = (about(setup), bytes(work.memory.factor));
        return writeln!(out, "  {name:<9} about {time}: {setup} for the factor of {factor}{room}");
    };
    let of_setup = if setup > 0.0 { format!("{} of set-up, then ", about(setup)) } else { String::new() };
    let iterations = count(iterations.round() as usize);
    let (moved, rate, reached) = (bytes(moved), bytes(speed.bandwidth as u64), 100.0 * speed.reached);
    // A cycle takes as long as so many bytes would, most of which it does not move.
    let moved = if setup > 0.0 { format!("each as long as reading {moved}") } else { format!("{moved} each") };
    writeln!(
        out,
        "  {name:<9} about {time}: {of_setup}some {iterations} iterations with {preconditioner}, {moved}, at {reached:.0} % of {rate}/s \
         ({how}){room}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::choices::Preconditioner;

    #[test]
    fn estimates_have_two_digits() {
        let times = [0.4065, 3.26, 200.0, 90_000.0, 1.5e-6];
        assert_eq!(times.map(about), ["410 ms", "3.3 s", "3.3 min", "25 h", "1.5 us"]);
    }

    /// A beam with multigrid.
    fn beam() -> Model {
        let text = "[mesh]\ngenerate = { kind = \"box\", element = \"hex8\", size = [50.0, 1.0, 1.0], cells = [150, 3, 3] }\n\
                    [[material]]\nname = \"m\"\nyoung = 1e6\npoisson = 0.3\n[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";
        let case = Case::parse(Path::new("a.toml"), text).unwrap();
        let mut model = Model::resolve(&case, case.mesh().unwrap()).unwrap();
        (model.solver.method, model.solver.preconditioner) = (Some(Method::Cg), Some(Preconditioner::Amg));
        model
    }

    /// On the CPU with so much memory free.
    fn expected(model: &Model, free: Option<u64>) -> Expected {
        expect(model, plan::resolve(model, &DeviceFacts::guess(DeviceName::Cpu)).unwrap(), DeviceName::Cpu, free)
    }

    #[test]
    fn without_room_for_a_hierarchy_another_preconditioner_is_expected() {
        let model = beam();
        let said = |free: u64| {
            let (mut out, expected) = (String::new(), expected(&model, Some(free)));
            costs(&mut out, &expected, Some(free)).unwrap();
            (expected.host.plan.preconditioner_name(), expected.no_room, out)
        };
        let needed = expected(&model, None).host.work.memory.on_host();
        let (name, no_room, out) = said(needed);
        assert_eq!((name, no_room), ("amg", None));
        assert!(!out.contains("too ") && out.contains(" of set-up, then some 11 iterations with amg"), "{out}");
        let (name, no_room, out) = said(needed - 1);
        assert_eq!((name, no_room), ("jacobi", Some(plan::hierarchy_bytes(&model, None))));
        assert!(
            out.contains("            too little for multigrid (") && out.contains("on the CPU jacobi, with more"),
            "{out}"
        );
        assert!(out.contains("  solver    jacobi: multigrid has too little memory\n"), "{out}");
        assert!(!out.contains("may be too much") && out.contains("iterations with jacobi"), "{out}");
        let (name, no_room, out) = said(needed - plan::hierarchy_bytes(&model, None) - 1);
        assert_eq!((name, no_room), ("amg", None));
        assert!(out.contains(" that are free: may be too much\n"), "{out}");
    }

    #[test]
    fn a_direct_solution_is_expected_with_its_reason_and_its_factor() {
        let mut model = beam();
        (model.solver.method, model.solver.preconditioner) = (Some(Method::Direct), None);
        let (mut out, expected) = (String::new(), expected(&model, None));
        costs(&mut out, &expected, None).unwrap();
        // 151 x 4 x 4 nodes: the least is their sparsity, the most a band of two layers.
        let values = expected.host.work.fill.unwrap().nonzeros as f64 / (3.0 * 151.0 * 16.0);
        assert!((60.0..150.0).contains(&values), "{values}");
        let words = ["  solver    direct: as asked for\n", " for the factor of ", "(factor and solution only)"];
        assert!(words.iter().all(|word| out.contains(word)), "{out}");
    }

    #[test]
    fn what_a_support_prescribes_is_said_in_words() {
        let elastic = |values| prescribed(Analysis::Elasticity, Some(Units::MmNS), values, ["x", "y", "z"]);
        assert_eq!(elastic([Some(0.0), None, Some(0.0)]), "x, z fixed");
        assert_eq!(elastic([Some(0.0), Some(-2e-3), None]), "x fixed, y moved by -0.002 mm");
        assert_eq!(prescribed(Analysis::Laplace, None, [Some(20.0), None, None], ["x"; 3]), "value 20");
    }
}
