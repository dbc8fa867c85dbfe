//! Static solutions on several devices: each rank has the elements at its own nodes on its device, and iterates with the
//! others. The first rank has the whole body besides, on the host: it makes the loads, judges, and computes results.
//!
//! Nodes of other ranks are held on a rank's device, so its own matrix, its preconditioner and its vectors are those of a body
//! by itself; `interface.rs` says what is beside that.

mod division;
mod ghosts;
mod interface;

pub use division::{Division, Part};
pub(super) use ghosts::Ghosts;
pub use interface::GATHERED;

use super::build::Iterations;
use super::system::patched;
use super::unsupported::{Made, unsupported, without_matrix};
use super::{Found, Loaded, Loading, Operator, Phase, RankSize, Run, Solution, System, Timings, stopping};
use crate::assembly::matrix_free::Division as Patches;
use crate::assembly::{Couplings, MatrixFree, VertexLevel};
use crate::device::DeviceName;
use crate::linalg::{Comm, Space, Traffic, values_in};
use crate::model::{Model, Study};
use crate::parallel::{self, PART};
use crate::plan::{self, DeviceFacts};
use crate::precond::{self, Context};
use crate::result::choices::{self, Method, Precision, Preconditioner, Strategy};
use crate::result::{Error, Outcome, Plan, Reason, Result, Sink};
use crate::solve::{CgOptions, Iteration, Monitor, Silent};
use crate::sparse::{Halo, Interfaces};
use interface::interfaces;
use std::rc::Rc;
use std::thread;

/// Models that ranks share, each divided among them, with their plans.
pub(super) struct Ranks<'a>(Vec<(Division<'a>, Plan)>);

impl<'a> Ranks<'a> {
    fn new(model: &'a Model, size: usize, facts: &DeviceFacts, gathered: usize) -> Result<Self> {
        let of_model = |model: &'a Model| {
            let division = Division::new(model, size, gathered);
            match division.empty() {
                None => Ok((division, plan_of(model, facts)?)),
                Some(rank) => refuse(format!(
                    "ties or equations join too many nodes, which one device must have, so rank {rank} has none; use fewer devices"
                )),
            }
        };
        model.all().map(of_model).collect::<Result<_>>().map(Ranks)
    }

    /// The number of a model's division, if it is one of these, and its plan.
    pub fn of(&self, model: &Model) -> Option<(usize, &Plan)> {
        let number = self.0.iter().position(|(division, _)| std::ptr::eq(division.model, model))?;
        Some((number, &self.0[number].1))
    }

    /// The part of a rank, from a number.
    fn part(&self, number: &[u8], rank: usize) -> Result<(Part, Plan)> {
        let Some((division, plan)) = values_in::<u64>(number).first().map(|number| &self.0[*number as usize]) else {
            return Err(Error::Abandoned);
        };
        Ok((division.part(rank), plan.clone()))
    }
}

fn refuse<R>(why: impl Into<String>) -> Result<R> {
    Err(Error::Devices(why.into()))
}

/// Refuses what one device alone can do.
fn check(model: &Model, size: usize) -> Result<()> {
    let of_second_order =
        |second: bool| model.mesh.solids().any(|(_, cells)| cells.kind.info().is_quadratic() == second);
    let is_warm = model.materials.iter().any(|material| !material.by_temperature.is_empty());
    let solver = &model.solver;
    match () {
        () if model.study != Study::Static => refuse("only static studies run on several devices"),
        () if !model.constraints.remotes.is_empty() => {
            refuse("models with remote points or rigid bodies run on one device only")
        }
        () if !model.constraints.bolts.is_empty() => refuse("models with bolts run on one device only"),
        () if !model.constraints.bonds.is_empty() => {
            refuse("springs between nodes, and ties with a `conductance`, run on one device only")
        }
        () if of_second_order(false) && of_second_order(true) => {
            refuse("meshes with elements of first and of second order run on one device only")
        }
        () if model.mesh.coords.len() < size => {
            refuse(format!("a mesh of {} nodes cannot be shared by {size} devices", model.mesh.coords.len()))
        }
        () if is_warm => refuse("materials with `by_temperature` run on one device only"),
        () if solver.method.is_some_and(|method| method != Method::Cg) => {
            refuse("on several devices the method must be `cg`")
        }
        () if solver.precision.is_some_and(|precision| precision != Precision::Double) => {
            refuse("on several devices the precision must be `double`")
        }
        () => Ok(()),
    }
}

/// The plan of a model on several devices like this one.
fn plan_of(model: &Model, facts: &DeviceFacts) -> Result<Plan> {
    let mut plan = plan::resolve(model, facts)?;
    if plan.method != Method::Cg {
        plan = plan::without_factor(model, facts, Reason::SeveralDevices);
    }
    // Rows of a matrix are made again on one device alone.
    let is_in_slabs = plan.operator == Some(choices::Operator::MatrixFree) && plan::is_linear(&model.mesh);
    if is_in_slabs && model.solver.preconditioner.is_none() {
        plan.precondition(precond::AUTO, model.solver.order);
        plan.reasons.clear();
    }
    plan.precision = Precision::Double;
    Ok(plan)
}

/// As [`super::solve_into`], where each rank has levels of multigrid of up to `gathered` unknowns whole, instead of [`GATHERED`].
///
/// # Errors
///
/// Those of [`super::solve_into`], and what one device alone can do.
pub fn solve_into(
    space: &Space,
    model: &Model,
    gathered: usize,
    sink: &mut dyn Sink,
    monitor: &dyn Monitor,
) -> Result<Vec<Solution>> {
    super::run(space, model, (model.n_steps(), gathered), sink, monitor)
}

/// Does what the first of several ranks does, while the others serve it; of one device just that.
pub(super) fn with_others<R>(
    space: &Space,
    model: &Model,
    gathered: usize,
    work: impl FnOnce(Option<&Ranks>) -> Result<R>,
) -> Result<R> {
    let (others, size) = (space.others(), space.comm().size());
    if size == 1 {
        return work(None);
    }
    let alive = Alive(space.comm().clone());
    model.all().try_for_each(|model| check(model, size))?;
    // What one device has room for says nothing of the parts of a model.
    let facts = DeviceFacts { free: None, ..DeviceFacts::of(space) };
    let ranks = Ranks::new(model, size, &facts, gathered)?;
    let threads = (rayon::current_num_threads() / size).max(1);
    thread::scope(|scope| {
        let follow = |(device, comm): &(DeviceName, Comm)| {
            let (device, comm, ranks) = (*device, comm.clone(), &ranks);
            scope.spawn(move || follow(device, comm, ranks, threads))
        };
        let others: Vec<_> = others.iter().map(follow).collect();
        let result = alive.ended(space.connect().and_then(|()| work(Some(&ranks))));
        if result.is_ok() {
            (1..size).for_each(|rank| space.comm().send(rank, vec![]));
        }
        let failed = others.into_iter().zip(1..).filter_map(|(other, rank)| {
            let error = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).err()?;
            (!matches!(error, Error::Abandoned)).then(|| Error::Rank { rank, error: Box::new(error) })
        });
        let failed = failed.last();
        // Where the first has stopped for another, the error is the other's.
        match (result, failed) {
            (Err(Error::Abandoned), Some(error)) => Err(error),
            (result, _) => result,
        }
    })
}

/// What a process beside the first does: it is told its parts of models.
///
/// # Errors
///
/// Those of [`solve_into`].
pub fn serve(space: &Space) -> Result<()> {
    let alive = Alive(space.comm().clone());
    let part = |told: &[u8]| {
        postcard::from_bytes(told).map_err(|error| Error::Device(format!("the first rank is not understood: {error}")))
    };
    alive.ended(serve_all(space, &part))
}

/// What a rank beside the first does, in a pool of so many threads.
fn follow(device: DeviceName, comm: Comm, ranks: &Ranks, threads: usize) -> Result<()> {
    let alive = Alive(comm);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::Device(format!("threads cannot be started: {error}")))?;
    pool.install(|| {
        let space = Space::of_rank(device.open()?, alive.0.clone())?;
        alive.ended(serve_all(&space, &|number| ranks.part(number, space.comm().rank())))
    })
}

/// A rank that gives up when it is dropped, as where it fails or panics, unless it has come to its end.
struct Alive(Comm);

impl Alive {
    /// The result, if no other rank has given up before: then that is the reason, and an error here only follows from it.
    fn ended<R>(self, result: Result<R>) -> Result<R> {
        match result {
            Err(_) if self.0.is_abandoned() => Err(Error::Abandoned),
            Ok(value) => {
                std::mem::forget(self);
                Ok(value)
            }
            error => error,
        }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Makes a rank's part of a model, and its plan, of what the first rank tells.
type Told<'a> = &'a dyn Fn(&[u8]) -> Result<(Part, Plan)>;

/// Solves its parts of the models that the first rank tells of, case by case, until it tells no more.
fn serve_all(space: &Space, part: Told) -> Result<()> {
    let comm = space.comm();
    space.connect()?;
    loop {
        let told = comm.receive(0)?;
        if told.is_empty() {
            return Ok(());
        }
        let (part, plan) = part(&told)?;
        drop(told);
        let mut share = Share::new(space, &part, &plan)?;
        drop(part);
        loop {
            let case = comm.receive(0)?;
            if case.is_empty() {
                break;
            }
            share.load(&case)?;
            let (v, _, traffic) = share.solve(&Silent)?;
            comm.send(0, [bytemuck::bytes_of(&traffic), bytemuck::cast_slice(&v)].concat());
        }
    }
}

/// A rank's part of a model on its device.
pub struct Share<'a> {
    space: &'a Space,
    /// The equations at its nodes; those of others are held.
    pub system: System<f64>,
    iteration: Box<dyn Iteration<f64>>,
    /// When to stop.
    options: CgOptions,
    /// The rows of the rank's own nodes, as these ascend in the mesh.
    own: Vec<u32>,
    /// Seconds that the assembly of its matrix took.
    assembly_s: f64,
}

impl<'a> Share<'a> {
    /// Assembled as a plan says, while the other ranks do so.
    ///
    /// # Errors
    ///
    /// Those of [`solve_into`].
    pub fn new(space: &'a Space, part: &Part, plan: &Plan) -> Result<Self> {
        space.together(|| Share::assembled(space, part, plan))
    }

    fn assembled(space: &'a Space, part: &Part, plan: &Plan) -> Result<Self> {
        let model = &part.model;
        let (mut phase, mut timings) = (Phase::begin(&Silent, "setup"), Timings::default());
        let (numbering, mesh, made): (_, _, Option<Made<f64>>) = match plan.operator {
            Some(choices::Operator::MatrixFree) => {
                let (numbering, mesh) = without_matrix(space, (model, 0))?;
                (numbering, mesh, None)
            }
            _ => {
                let (numbering, mesh, made) = unsupported(space, (model, 0), plan, (&mut phase, &mut timings))?;
                timings.assembly += phase.next("setup");
                (numbering, mesh, Some(made))
            }
        };
        let mesh = Rc::new(mesh);
        let supports = part.supports(&numbering.to_mesh, |node| !part.is_own(node));
        let by = plan.preconditioner.unwrap_or(precond::AUTO);
        let (interfaces, ghosts) = interfaces(space, (part, by), (&numbering, &mesh))?;
        let coords = numbering.gather(&model.mesh.coords);
        let parts = part.parts(space, &numbering, &coords)?;
        let (operator, strategy) = match made {
            Some((mut matrix, strategy)) => {
                supports.eliminate(space, &mut matrix)?;
                (Operator::Assembled(matrix), strategy)
            }
            None => {
                let product = MatrixFree::new(space, &mesh, &supports, Patches::default())?;
                (Operator::MatrixFree(product), Strategy::RowOwner)
            }
        };
        let own = parallel::flat_map(part.rank_of.len(), &|node, own| {
            own.extend(part.is_own(node as u32).then_some(numbering.to_solver[node]));
        });
        let couplings = Couplings::new(space, model, &numbering, true)?;
        let coupling = couplings.as_ref().map(|couplings| couplings.on_device.clone());
        let (loading, ghosts) = (Loading::default(), Some(ghosts));
        let body = Loaded { numbering, mesh, supports, loading, parts, couplings, coords, ghosts };
        let iteration = iteration(space, model, by, (&body, &operator), &interfaces)?;
        let halo = Some(Halo::of(space, &interfaces.finest)?);
        let f = space.zeros(body.supports.prescribed.len())?;
        let system = System { body, operator, f, coupling, halo, strategy };
        let options = stopping(&model.solver);
        Ok(Share { space, system, iteration, options, own, assembly_s: timings.assembly })
    }

    /// Takes a case, as [`case`] has it.
    fn load(&mut self, mut case: &[u8]) -> Result<()> {
        let mut next = |n: usize| {
            let (own, others) = case.split_at(n * size_of::<f64>());
            case = others;
            values_in::<f64>(own)
        };
        let [norm_f, n_parts, n_weights, n_more] = next(HEAD)[..] else { return Err(Error::Abandoned) };
        let (offset, active) = (next(n_parts as usize), next(n_parts as usize));
        let (size, places) = (self.system.body.supports.components, &self.system.body.numbering.to_mesh);
        let mut vector = |is_there: f64| {
            let by_node = next(if is_there > 0.0 { size * places.len() } else { 0 });
            let n = if by_node.is_empty() { 0 } else { places.len() };
            picked(n, size, &|row| &by_node[size * places[row] as usize..])
        };
        let [mut f, all, prescribed, mut weights] = [1.0, n_more, n_more, n_weights].map(&mut vector);
        let body = &mut self.system.body;
        let all = if n_more > 0.0 { all } else { f.clone() };
        body.supports.prescribed = if n_more > 0.0 { prescribed } else { vec![0.0; f.len()] };
        // Rows of other ranks' nodes are theirs.
        body.supports.free_part(&mut f);
        body.supports.free_part(&mut weights);
        let active = active.iter().map(|active| *active > 0.0).collect();
        body.loading = Loading { norm_f, offset, active, weights, ..Loading::default() };
        body.loading.loads.all = all;
        self.system.f = self.space.upload_vec(f)?;
        Ok(())
    }

    /// Iterates with the other ranks; what is found at the rank's own nodes, as these ascend in the mesh, and what that took.
    fn solve(&self, monitor: &dyn Monitor) -> Result<(Vec<f64>, Outcome, Traffic)> {
        let (space, system) = (self.space, &self.system);
        let monitor = Together { comm: space.comm(), monitor };
        let before = space.traffic()?;
        let (v, outcome) = space.together(|| system.iterate(space, &*self.iteration, self.options, &monitor))?;
        let traffic = space.traffic()?.since(before);
        let size = system.body.supports.components;
        let rows = &self.own;
        let own = picked(rows.len(), size, &|place| &v[size * rows[place] as usize..]);
        Ok((own, outcome, traffic))
    }
}

/// What solves the equations of all ranks.
fn iteration(
    space: &Space,
    model: &Model,
    by: Preconditioner,
    (body, operator): (&Loaded, &Operator<f64>),
    interfaces: &Interfaces,
) -> Result<Box<dyn Iteration<f64>>> {
    let context = Context { ranks: Some(interfaces), ..body.context(model.solver.order) };
    let level = match by {
        Preconditioner::Amg => VertexLevel::new(space, model, &body.numbering, &body.mesh, &body.supports)?,
        _ => None,
    };
    let vertices = level.as_ref().map(precond::VertexLevel::from);
    Iterations::PLAIN.of(by, &Context { vertices, ..context }, space, operator)
}

/// Watches a solution for all ranks: that of the first may end it.
struct Together<'a> {
    comm: &'a Comm,
    monitor: &'a dyn Monitor,
}

impl Monitor for Together<'_> {
    fn error(&self, iteration: usize, error: f64, tolerance: f64) {
        self.monitor.error(iteration, error, tolerance);
    }

    fn is_cancelled(&self) -> bool {
        let mut is_cancelled = [f64::from(u8::from(self.monitor.is_cancelled()))];
        self.comm.reduce(&mut is_cancelled, f64::max).is_err() || is_cancelled != [0.0]
    }
}

/// Numbers before the vectors of a case.
const HEAD: usize = 4;

/// A case for the nodes of a piece: norm of f, number of parts, whether there are weights, whether loads are told apart from f,
/// energy of what is prescribed and whether each part is active; then by nodes f, loads and what is prescribed if they are told
/// apart, and weights.
fn case(body: &Loaded, f: &[f64], nodes: &[u32]) -> Vec<u8> {
    let Loaded { numbering, supports, loading, .. } = body;
    // Without couplings and prescribed values f is the loads of free unknowns: they are not sent twice.
    let has_more = body.couplings.is_some() || !supports.is_at_rest();
    let flags = [!loading.weights.is_empty(), has_more].map(|flag| f64::from(u8::from(flag)));
    let mut head = vec![loading.norm_f, loading.offset.len() as f64, flags[0], flags[1]];
    head.extend_from_slice(&loading.offset);
    head.extend(loading.active.iter().map(|active| f64::from(u8::from(*active))));
    let mut case = bytemuck::cast_slice(&head).to_vec();
    let more = if has_more { [&loading.loads.all[..], &supports.prescribed] } else { [&[][..]; 2] };
    let vectors = [f, more[0], more[1], &loading.weights];
    for vector in vectors.into_iter().filter(|vector| !vector.is_empty()) {
        let of_node = |place: usize| {
            let row = numbering.to_solver[nodes[place] as usize] as usize;
            &vector[row * supports.components..]
        };
        case.extend_from_slice(bytemuck::cast_slice(&picked(nodes.len(), supports.components, &of_node)));
    }
    case
}

/// Solves the cases of a model with the other ranks, as the first of them.
pub(super) fn solve(space: &Space, run: &mut Run, (ranks, number): (&Ranks, usize)) -> Result<()> {
    let (host, model) = (run.space, run.model);
    let (comm, size) = (space.comm(), space.comm().size());
    let others = || 1..size;
    let division = &ranks.0[number].0;
    for rank in others() {
        // Threads have the model too.
        let told = match space.others().is_empty() {
            true => postcard::to_allocvec(&(division.part(rank), &run.used.plan))
                .map_err(|error| Error::Device(error.to_string()))?,
            false => bytemuck::bytes_of(&(number as u64)).to_vec(),
        };
        comm.send(rank, told);
    }
    let mut share = Share::new(space, &division.part(0), &run.used.plan)?;
    run.used.hierarchy = share.iteration.hierarchy().cloned();
    run.timings.assembly += share.assembly_s;
    run.timings.setup += run.phase.next("boundary") - share.assembly_s;
    let mut body = patched(host, (model, 0), &run.used.plan)?;
    let n = body.supports.prescribed.len();
    body.take_off_motion(model, |_| Ok(vec![1.0; n]))?;
    let pieces: Vec<&[u32]> = (0..size).map(|rank| &division.piece(rank).nodes[..]).collect();
    let link = space.link().map_or(String::new(), |link| format!(", linked by {}", link.name()));
    run.used.device = format!("{size} x {}{link}", space.name());
    run.used.ranks = pieces.iter().zip(0..).map(|(nodes, rank)| size_of_rank(division, nodes, rank)).collect();
    for number in 0..run.cases.own {
        run.begin(number);
        // A body has the loads of its first case.
        let f = match number {
            0 => body.take_right_side::<f64>(host)?,
            _ => {
                let (loading, f) = body.loading::<f64>(host, model, number)?;
                body.loading = loading;
                f
            }
        };
        others().for_each(|rank| comm.send(rank, case(&body, &f, pieces[rank])));
        share.load(&case(&body, &f, pieces[0]))?;
        run.timings.boundary += run.phase.next("solve");
        run.monitor.phase("solve");
        let (own, outcome, traffic) = share.solve(run.monitor)?;
        let (mut of_ranks, mut traffic) = (vec![own], vec![traffic]);
        for rank in others() {
            let come = comm.receive(rank)?;
            let (counts, values) = come.split_at(size_of::<Traffic>());
            of_ranks.push(values_in(values));
            traffic.extend(values_in::<Traffic>(counts));
        }
        for (of, Traffic { messages, bytes, waited_s }) in run.used.ranks.iter_mut().zip(traffic) {
            (of.messages, of.bytes, of.exchange_s) = (messages, bytes, waited_s);
        }
        let v = together(division, &body, &of_ranks);
        let is_end = run.take(&body, Found { v, outcome, epsilon: f64::EPSILON })?;
        if is_end {
            break;
        }
    }
    others().for_each(|rank| comm.send(rank, vec![]));
    Ok(())
}

fn size_of_rank(division: &Division, nodes: &[u32], rank: u32) -> RankSize {
    let own = nodes.iter().filter(|node| division.partition.rank_of[**node as usize] == rank).count();
    RankSize { nodes: own, ghosts: nodes.len() - own, messages: 0, bytes: 0, exchange_s: 0.0 }
}

/// The whole vector, in the rows of the body, from what each rank has at its own nodes.
fn together(division: &Division, body: &Loaded, of_ranks: &[Vec<f64>]) -> Vec<f64> {
    let mut next = vec![0; of_ranks.len()];
    let place = |rank: &u32| {
        let next = &mut next[*rank as usize];
        *next += 1;
        *next - 1
    };
    let (rank_of, size) = (&division.partition.rank_of, body.supports.components);
    let places: Vec<u32> = rank_of.iter().map(place).collect();
    let nodes = &body.numbering.to_mesh;
    let of_row = |row: usize| {
        let node = nodes[row] as usize;
        &of_ranks[rank_of[node] as usize][size * places[node] as usize..]
    };
    picked(nodes.len(), size, &of_row)
}

/// So many values of each of n items, the first that its source has.
fn picked<'a>(n: usize, size: usize, source: &(dyn Fn(usize) -> &'a [f64] + Sync)) -> Vec<f64> {
    let mut values = vec![0.0; n * size];
    parallel::map_chunks(&mut values, PART * size, &|first, part| {
        let items = part.chunks_exact_mut(size).zip(first / size..);
        items.for_each(|(to, item)| to.copy_from_slice(&source(item)[..size]));
    });
    values
}
