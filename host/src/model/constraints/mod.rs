//! Constraints that couple unknowns: `u_s = sum_m T_sm u_m + g_s` for each slave s, from equations `sum a_i u_i = b`.
//!
//! Equations are taken one by one, by Gauss's elimination: slaves known so far are replaced by their masters, prescribed
//! values go to the other side, and one of the unknowns left becomes a slave. So a slave that is another's master is
//! resolved, and an equation that says nothing new is dropped, or contradicts the others.

mod equation;
pub mod patch;
mod projection;
pub mod remote;
mod tie;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use toml::Spanned;

use super::case::Case;
use super::names::nearest;
use super::problems::Problems;
use super::select::Selector;
use super::supports::unique;
use super::{Checked, Place, Support};
use crate::mesh::Mesh;
use crate::mesh::parts::{find, number, unite};
use remote::Remote;

/// A component at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dof {
    /// The node.
    pub node: u32,
    /// 0, 1 or 2: x, y or z; of a potential 0.
    pub component: u8,
}

/// What made a constraint.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name in messages and results.
    pub name: String,
    /// `tie` or `equation`.
    pub kind: &'static str,
    /// Where it stands in the case file.
    pub place: Place,
}

/// An equation `sum a_i u_i = value` that is to hold.
#[derive(Debug, Clone)]
pub struct Equation {
    /// Unknowns and their factors.
    pub terms: Vec<(Dof, f64)>,
    /// The right-hand side.
    pub value: f64,
    /// The unknowns of which one becomes the slave; if empty, any may.
    pub slaves: Vec<Dof>,
    /// The number of its entry.
    pub entry: u32,
}

/// `u_slave = sum factor u + value`.
#[derive(Debug, Clone)]
struct Row {
    slave: Dof,
    /// Slaves of later rows and prescribed unknowns may be among them.
    terms: Vec<(Dof, f64)>,
    value: f64,
    entry: u32,
    /// Factors of the equation in the components of the slave's node, that of the slave 1.
    direction: [f64; 3],
    /// The rows that were subtracted from the equation, that many times.
    subtracted: Vec<(u32, f64)>,
}

/// Why an equation does not go with what is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Conflict {
    /// Its slave is one of this entry already.
    TiedTwice(Dof, u32),
    /// Its masters depend on its slave by way of this entry.
    Cycle(Dof, u32),
    /// Its slave is supported, and its masters are free.
    Supported(Dof),
    /// It contradicts these entries, or what supports prescribe if there are none.
    Inconsistent(Vec<u32>),
    /// It has no factors.
    Empty,
}

/// A factor below this part of the largest one is rounding.
const ROUNDING: f64 = 1e-12;
/// An equation holds if its sides differ by less than this part of their terms.
const HOLDS: f64 = 1e-9;

/// All constraints of a model, in the mesh's numbering.
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    /// What made them.
    pub entries: Vec<Entry>,
    /// In the order in which they were found.
    rows: Vec<Row>,
    /// The row of each slave.
    row_of: HashMap<Dof, u32>,
    /// What supports prescribe.
    prescribed: HashMap<Dof, f64>,
    /// Each tie's name, its nodes and the largest gap, in words.
    pub notes: Vec<String>,
    /// The remote points.
    pub remotes: Vec<Remote>,
}

/// A resolved row: a slave, its masters with their factors, and a value.
pub type Resolved = (Dof, Vec<(Dof, f64)>, f64);

impl Constraints {
    /// Without any yet, beside what is prescribed.
    pub fn beside(prescribed: impl IntoIterator<Item = (Dof, f64)>) -> Self {
        Constraints { prescribed: prescribed.into_iter().collect(), ..Constraints::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether an unknown is neither a slave nor prescribed.
    fn is_free(&self, dof: &Dof) -> bool {
        !self.row_of.contains_key(dof) && !self.prescribed.contains_key(dof)
    }

    /// A name that no other entry has: this one, or with a number behind it.
    fn unused(&self, name: String) -> String {
        unique(name, |name| self.entries.iter().any(|entry| entry.name == name))
    }

    /// Notes what makes the equations that follow; returns its number.
    pub fn enter(&mut self, entry: Entry) -> u32 {
        self.entries.push(entry);
        self.entries.len() as u32 - 1
    }

    /// Takes an equation; false if it says nothing new.
    ///
    /// # Errors
    ///
    /// The [`Conflict`] that leaves the constraints as they were.
    pub fn add(&mut self, equation: Equation) -> Result<bool, Conflict> {
        let Equation { terms, mut value, slaves, entry } = equation;
        let (mut left, mut subtracted) = (BTreeMap::<Dof, f64>::new(), BTreeMap::<u32, f64>::new());
        terms.iter().for_each(|(dof, factor)| *left.entry(*dof).or_default() += factor);
        let original = left.clone();
        let mut size = value.abs();
        let largest = left.values().fold(0.0, |most: f64, factor| most.max(factor.abs()));
        if largest == 0.0 {
            return Err(Conflict::Empty);
        }
        if let Some(slave) = slaves.iter().find(|slave| slaves.len() == 1 && self.row_of.contains_key(slave)) {
            return Err(Conflict::TiedTwice(*slave, self.rows[self.row_of[slave] as usize].entry));
        }
        while let Some((dof, row)) = left.keys().find_map(|dof| Some((*dof, *self.row_of.get(dof)?))) {
            let (factor, known) = (left.remove(&dof).unwrap_or_default(), &self.rows[row as usize]);
            value -= factor * known.value;
            size += (factor * known.value).abs();
            known.terms.iter().for_each(|(master, of)| *left.entry(*master).or_default() += factor * of);
            *subtracted.entry(row).or_default() += factor;
        }
        left.retain(|_, factor| factor.abs() > ROUNDING * largest);
        let known = |dof: &Dof| self.prescribed.get(dof).copied();
        let is_free = |dof: &Dof| known(dof).is_none();
        let may = |dof: &Dof| is_free(dof) && (slaves.is_empty() || slaves.contains(dof));
        let better = |best: Option<(Dof, f64)>, (dof, factor): (Dof, f64)| match best {
            Some((_, most)) if most.abs() >= factor.abs() => best,
            _ => Some((dof, factor)),
        };
        // Of equal factors the one that the equation names first.
        let order = terms.iter().map(|(dof, _)| *dof).chain(left.keys().copied());
        let candidates = order.filter(|dof| may(dof)).filter_map(|dof| Some((dof, *left.get(&dof)?)));
        let Some((slave, pivot)) = candidates.fold(None, better) else {
            let sides = left.iter().map(|(dof, factor)| factor * known(dof).unwrap_or_default());
            let (sum, size) = sides.fold((0.0, size), |(sum, size), side| (sum + side, size + side.abs()));
            let others = || subtracted.keys().map(|row| self.rows[*row as usize].entry).collect::<Vec<_>>();
            // A slave that its own masters follow leaves nothing of its equation.
            return match (left.is_empty() || left.keys().any(is_free), slaves.first()) {
                (true, Some(slave)) if is_free(slave) => {
                    Err(Conflict::Cycle(*slave, others().first().copied().unwrap_or(entry)))
                }
                (true, Some(slave)) if !left.is_empty() => Err(Conflict::Supported(*slave)),
                _ if (sum - value).abs() <= HOLDS * size => Ok(false),
                _ => Err(Conflict::Inconsistent(others())),
            };
        };
        let own = original.get(&slave).copied().unwrap_or_default();
        if let [slave] = slaves[..]
            && (own - pivot).abs() > HOLDS * own.abs()
        {
            let other = subtracted.keys().next().map_or(entry, |row| self.rows[*row as usize].entry);
            return Err(Conflict::Cycle(slave, other));
        }
        left.remove(&slave);
        let at_node = |component| original.get(&Dof { node: slave.node, component }).map_or(0.0, |a| a / pivot);
        let row = Row {
            slave,
            terms: left.into_iter().map(|(dof, factor)| (dof, -factor / pivot)).collect(),
            value: value / pivot,
            entry,
            direction: [0, 1, 2].map(at_node),
            subtracted: subtracted.into_iter().map(|(row, factor)| (row, factor / pivot)).collect(),
        };
        self.row_of.insert(slave, self.rows.len() as u32);
        self.rows.push(row);
        Ok(true)
    }

    /// Every slave by masters that are neither slaves nor prescribed.
    pub fn resolved(&self) -> Vec<Resolved> {
        let mut found: Vec<Resolved> = Vec::with_capacity(self.rows.len());
        // A row's slaves are of later rows.
        for row in self.rows.iter().rev() {
            let (mut terms, mut value) = (Vec::with_capacity(row.terms.len()), row.value);
            for (dof, factor) in &row.terms {
                if let Some(prescribed) = self.prescribed.get(dof) {
                    value += factor * prescribed;
                } else if let Some(later) = self.row_of.get(dof) {
                    let (_, others, of) = &found[self.rows.len() - 1 - *later as usize];
                    value += factor * of;
                    terms.extend(others.iter().map(|(master, share)| (*master, factor * share)));
                } else {
                    terms.push((*dof, *factor));
                }
            }
            terms.sort_unstable_by_key(|(dof, _)| *dof);
            let same = terms.chunk_by(|a, b| a.0 == b.0);
            let terms = same.map(|same| (same[0].0, same.iter().map(|term| term.1).sum())).collect();
            found.push((row.slave, terms, value));
        }
        found
    }

    /// The masters of the longest row or the slaves of the busiest master, and the entry that makes it.
    pub fn longest(&self) -> Option<(usize, &Entry)> {
        let resolved = self.resolved();
        let mut slaves_of = HashMap::<Dof, usize>::new();
        resolved.iter().flat_map(|row| &row.1).for_each(|(dof, _)| *slaves_of.entry(*dof).or_default() += 1);
        let of_row = |(row, (_, terms, _)): (&Row, &Resolved)| {
            let busiest = terms.iter().map(|(dof, _)| slaves_of[dof]).max().unwrap_or(0);
            (terms.len().max(busiest), row.entry)
        };
        let longest = self.rows.iter().rev().zip(&resolved).map(of_row).max_by_key(|(length, _)| *length);
        longest.map(|(length, entry)| (length, &self.entries[entry as usize]))
    }

    /// Whether the values of constraints move anything.
    pub fn are_driven(&self) -> bool {
        self.rows.iter().any(|row| row.value != 0.0)
    }

    /// Takes the forces of the constraints, `K u - f` at the nodes, `[n_nodes][3]`, off these: what is left is that of the
    /// supports. Returns the force of each row, as the entries of the case have them.
    pub fn take_forces(&self, forces: &mut [[f64; 3]]) -> Vec<f64> {
        let mut multipliers = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let own = &mut forces[row.slave.node as usize][usize::from(row.slave.component)];
            let multiplier = std::mem::take(own);
            for (dof, factor) in &row.terms {
                forces[dof.node as usize][usize::from(dof.component)] += factor * multiplier;
            }
            multipliers.push(multiplier);
        }
        for (number, row) in self.rows.iter().enumerate().rev() {
            for (other, times) in &row.subtracted {
                multipliers[*other as usize] -= times * multipliers[number];
            }
        }
        multipliers
    }

    /// The ties: their numbers and names.
    pub fn ties(&self) -> impl Iterator<Item = (u32, &str)> {
        let numbered = self.entries.iter().zip(0..);
        numbered.filter(|(entry, _)| entry.kind == "tie").map(|(entry, number)| (number, entry.name.as_str()))
    }

    /// The forces that an entry does to the nodes of its slaves, from those of [`Constraints::take_forces`].
    pub fn forces(&self, entry: u32, multipliers: &[f64]) -> Vec<(u32, [f64; 3])> {
        let of_entry = self.rows.iter().zip(multipliers).filter(|(row, _)| row.entry == entry);
        of_entry.map(|(row, force)| (row.slave.node, row.direction.map(|factor| factor * force))).collect()
    }

    /// The equations as they were taken: unknowns with factors, that of the slave first, and the entry. Slaves of
    /// earlier ones are replaced by their masters.
    pub fn equations(&self) -> impl Iterator<Item = (Vec<(Dof, f64)>, u32)> + '_ {
        self.rows.iter().map(|row| {
            let masters = row.terms.iter().map(|(dof, factor)| (*dof, -factor));
            (std::iter::once((row.slave, 1.0)).chain(masters).collect(), row.entry)
        })
    }

    /// The connected parts of a mesh, those that are coupled joined: as [`Mesh::parts`] has them.
    pub fn parts(&self, mesh: &Mesh) -> (Vec<u32>, usize) {
        let (mut labels, n_parts) = mesh.parts().clone();
        let mut parent: Vec<u32> = (0..n_parts as u32).collect();
        for row in &self.rows {
            for (dof, _) in &row.terms {
                let of_node = [row.slave.node, dof.node].map(|node| labels[node as usize]);
                let [a, b] = of_node.map(|part| find(&mut parent, part));
                unite(&mut parent, a, b);
            }
        }
        let count = number(&mut parent);
        labels.iter_mut().for_each(|label| *label = parent[*label as usize]);
        (labels, count)
    }
}

/// Which of some kinds a table of this name asks for.
fn kind_of(case: &Case, table: &str, kind: &Spanned<String>, known: &[&str]) -> Checked<usize> {
    let word = kind.get_ref();
    known.iter().position(|known| known == word).ok_or_else(|| {
        let near = nearest(word, known).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let help = format!("{near}there are: {}", known.join(", "));
        case.error_at(kind.span(), format!("there is no kind `{word}` of {table}"), help)
    })
}

/// All constraints of a case, without those that are wrong.
pub fn resolve(
    selector: &Selector<'_>,
    supports: &[&Support],
    on_axis: impl Iterator<Item = u32>,
    warnings: &mut Vec<String>,
    problems: &mut Problems,
) -> Constraints {
    let tables = &selector.case.tables;
    if tables.tie.is_empty() && tables.equation.is_empty() && tables.remote.is_empty() {
        return Constraints::default();
    }
    let dof = |node, component: usize| Dof { node, component: component as u8 };
    let (slanted, along): (Vec<&Support>, Vec<&Support>) = supports.iter().partition(|support| support.is_slanted());
    let held = along.into_iter().flat_map(Support::prescribed).map(|(node, c, value)| (dof(node, c), value));
    let mut constraints = Constraints::beside(held.chain(on_axis.map(|node| (dof(node, 0), 0.0))));
    for table in &tables.tie {
        problems.take(tie::add(selector, table, &mut constraints, warnings));
    }
    remote::add_all(selector, &mut constraints, problems);
    equation::add_all(selector, &mut constraints, problems);
    constraints.check_slanted(selector, &slanted, problems);
    constraints
}

impl Constraints {
    /// Refuses nodes that a support holds in other directions than x, y, z.
    fn check_slanted(&self, selector: &Selector<'_>, supports: &[&Support], problems: &mut Problems) {
        let at = |node: u32| supports.iter().find(|support| support.nodes.binary_search(&node).is_ok());
        let of_row = |row: &Row| {
            let mut nodes = row.terms.iter().map(|(dof, _)| dof.node).chain([row.slave.node]);
            nodes.find_map(|node| Some((node, row.entry, at(node)?)))
        };
        let Some((node, entry, support)) = self.rows.iter().find_map(of_row) else { return };
        let (tag, Entry { name, kind, place }) =
            (selector.mesh.node_tags[node as usize], &self.entries[entry as usize]);
        let message = format!(
            "[[{kind}]] `{name}` couples node {tag}, which support `{}` holds along axes of its own",
            support.name
        );
        let help = "leave the node out of one of the two groups, or hold it along x, y, z";
        problems.add(selector.case.error_at(place.clone(), message, help));
    }

    /// A conflict in words: the message, and what to do.
    fn explain(&self, case: &Case, mesh: &Mesh, conflict: &Conflict) -> (String, String) {
        let node = |dof: &Dof| mesh.node_tags[dof.node as usize];
        let other = |entry: u32| {
            let Entry { name, kind, place } = &self.entries[entry as usize];
            format!("[[{kind}]] `{name}` ({})", case.source.line_of(place))
        };
        match conflict {
            Conflict::Empty => ("the factors are all zero".into(), "leave the table out".into()),
            Conflict::TiedTwice(dof, entry) => (
                format!("node {} is a slave of {} already", node(dof), other(*entry)),
                "a node follows one tie alone: make it a master of the other, or leave it out of one group".into(),
            ),
            Conflict::Cycle(dof, entry) => (
                format!("node {} depends on itself by way of {}", node(dof), other(*entry)),
                "make one side the slave in both, or leave one of the two out".into(),
            ),
            Conflict::Supported(dof) => (
                format!("node {} is a slave, and a [[support]] holds it while its masters are free", node(dof)),
                "swap slave and master, or support the masters alike".into(),
            ),
            Conflict::Inconsistent(entries) if entries.is_empty() => (
                "this contradicts what [[support]] prescribes".into(),
                "check its value, and the values of the supports".into(),
            ),
            Conflict::Inconsistent(entries) => {
                let mut others: Vec<String> = entries.iter().map(|entry| other(*entry)).collect();
                others.dedup();
                (
                    format!("this contradicts {}", others.join(" and ")),
                    "leave one of them out, or change its value".into(),
                )
            }
        }
    }
}
