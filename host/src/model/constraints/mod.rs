//! Constraints that couple unknowns: `u_s = sum_m T_sm u_m + g_s` for each slave s, from equations `sum a_i u_i = b`.
//!
//! Equations are taken one by one, by Gauss's elimination: slaves known so far are replaced by their masters, prescribed
//! values go to the other side, and one of the unknowns left becomes a slave. So a slave that is another's master is
//! resolved, and an equation that says nothing new is dropped, or contradicts the others.

pub mod bolt;
mod cyclic;
mod equation;
mod mortar;
pub mod patch;
mod projection;
pub mod remote;
pub(super) mod tie;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use toml::Spanned;

use super::case::Case;
use super::names::nearest;
use super::problems::Problems;
use super::select::Selector;
use super::supports::unique;
use super::{Checked, Place, Support};
use crate::mesh::Mesh;
use crate::mesh::cut::Cut;
use crate::mesh::parts::{find, number, unite};
use bolt::Bolt;
use remote::Remote;

/// A component at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
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
    /// The table that it is: `tie`, `equation`, ..
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
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
struct Row {
    slave: Dof,
    /// Slaves of later rows and prescribed unknowns may be among them.
    terms: Vec<(Dof, f64)>,
    value: f64,
    entry: u32,
    /// The node that the equation is about, and the equation's factors in its components, those of the slave's 1.
    own: (u32, [f64; 3]),
    /// What the equation was divided by.
    pivot: f64,
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

/// The tables that join two sides.
const JOINTS: [&str; 3] = ["tie", "cyclic", "bolt"];
/// A row of factors whose squares add up to more is a sum of many unknowns.
const LARGE: f64 = 16.0;
/// A factor below this part of the largest one is rounding.
const ROUNDING: f64 = 1e-12;
/// An equation holds if its sides differ by less than this part of their terms.
const HOLDS: f64 = 1e-9;

/// All constraints of a model, in the mesh's numbering.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Constraints {
    /// What made them.
    #[serde(skip)]
    pub entries: Vec<Entry>,
    /// In the order in which they were found.
    rows: Vec<Row>,
    /// The row of each slave.
    row_of: HashMap<Dof, u32>,
    /// What supports prescribe.
    prescribed: HashMap<Dof, f64>,
    /// What joins, in words: the table, then its name, its nodes and the largest gap.
    #[serde(skip)]
    pub notes: Vec<(&'static str, String)>,
    /// The remote points.
    #[serde(skip)]
    pub remotes: Vec<Remote>,
    /// The bolts.
    #[serde(skip)]
    pub bolts: Vec<Bolt>,
    /// Nodes whose supports in directions of their own are equations here, as others follow them or they follow others.
    #[serde(skip)]
    pub slanted: HashSet<u32>,
    /// Sums of unknowns that springs resist: they join bodies, and nothing follows from them.
    #[serde(skip)]
    pub bonds: Vec<Vec<(Dof, f64)>>,
}

/// A resolved row: a slave, its masters with their factors, and a value.
pub type Resolved = (Dof, Vec<(Dof, f64)>, f64);

/// Every slave by masters that are neither slaves nor prescribed.
#[derive(Debug, Clone, Default)]
pub struct Resolution {
    /// Rows of slaves, the last found first.
    pub rows: Vec<Resolved>,
    /// Those that are sums of many unknowns, of which no other row makes use.
    pub sums: Vec<Resolved>,
}

impl Constraints {
    /// Without any yet, beside what is prescribed.
    pub fn beside(prescribed: impl IntoIterator<Item = (Dof, f64)>) -> Self {
        Constraints { prescribed: prescribed.into_iter().collect(), ..Constraints::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether anything joins nodes of different elements.
    pub fn joins(&self) -> bool {
        !self.is_empty() || !self.bonds.is_empty()
    }

    /// All pairs of nodes that a spring joins.
    pub fn pairs(&self) -> Vec<[u32; 2]> {
        let of_bond = |bond: &Vec<(Dof, f64)>| {
            let nodes: BTreeSet<u32> = bond.iter().map(|(dof, _)| dof.node).collect();
            let nodes: Vec<u32> = nodes.into_iter().collect();
            let before = |(i, b): (usize, &u32)| nodes[..i].iter().map(|a| [*a, *b]).collect::<Vec<_>>();
            nodes.iter().enumerate().flat_map(before).collect::<Vec<_>>()
        };
        self.bonds.iter().flat_map(of_bond).collect()
    }

    /// The equations between nodes that have a place, by these, without what made them.
    pub fn among(&self, place: impl Fn(u32) -> Option<u32>) -> Constraints {
        let moved = |of: &Dof| Some(Dof { node: place(of.node)?, ..*of });
        let row = |Row { slave, terms, value, entry, own, pivot, .. }: &Row| {
            Some(Row {
                slave: moved(slave)?,
                terms: terms.iter().map(|(of, factor)| Some((moved(of)?, *factor))).collect::<Option<_>>()?,
                value: *value,
                entry: *entry,
                own: (place(own.0)?, own.1),
                pivot: *pivot,
                subtracted: Vec::new(),
            })
        };
        let rows: Vec<Row> = self.rows.iter().filter_map(row).collect();
        Constraints {
            row_of: rows.iter().zip(0..).map(|(row, number)| (row.slave, number)).collect(),
            prescribed: self.prescribed.iter().filter_map(|(of, value)| Some((moved(of)?, *value))).collect(),
            rows,
            ..Constraints::default()
        }
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
        let original = merged(terms.clone());
        let (mut left, mut subtracted) = (original.clone(), BTreeMap::<u32, f64>::new());
        let mut size = value.abs();
        let largest = left.iter().fold(0.0, |most: f64, (_, factor)| most.max(factor.abs()));
        if largest == 0.0 {
            return Err(Conflict::Empty);
        }
        if let Some(slave) = slaves.iter().find(|slave| slaves.len() == 1 && self.row_of.contains_key(slave)) {
            return Err(Conflict::TiedTwice(*slave, self.rows[self.row_of[slave] as usize].entry));
        }
        while left.iter().any(|(dof, _)| self.row_of.contains_key(dof)) {
            let mut more = Vec::with_capacity(left.len());
            for (dof, factor) in left {
                let Some(&row) = self.row_of.get(&dof) else {
                    more.push((dof, factor));
                    continue;
                };
                let known = &self.rows[row as usize];
                value -= factor * known.value;
                size += (factor * known.value).abs();
                more.extend(known.terms.iter().map(|(master, of)| (*master, factor * of)));
                *subtracted.entry(row).or_default() += factor;
            }
            left = merged(more);
        }
        left.retain(|(_, factor)| factor.abs() > ROUNDING * largest);
        let known = |dof: &Dof| self.prescribed.get(dof).copied();
        let is_free = |dof: &Dof| known(dof).is_none();
        let may = |dof: &Dof| is_free(dof) && (slaves.is_empty() || slaves.contains(dof));
        let better = |best: Option<(Dof, f64)>, (dof, factor): (Dof, f64)| match best {
            Some((_, most)) if most.abs() >= factor.abs() => best,
            _ => Some((dof, factor)),
        };
        // Of equal factors the one that the equation names first.
        let order = terms.iter().map(|(dof, _)| *dof).chain(left.iter().map(|(dof, _)| *dof));
        let candidates = order.filter(|dof| may(dof)).filter_map(|dof| Some((dof, factor_of(&left, &dof)?)));
        let Some((slave, pivot)) = candidates.fold(None, better) else {
            let sides = left.iter().map(|(dof, factor)| factor * known(dof).unwrap_or_default());
            let (sum, size) = sides.fold((0.0, size), |(sum, size), side| (sum + side, size + side.abs()));
            let others = || subtracted.keys().map(|row| self.rows[*row as usize].entry).collect::<Vec<_>>();
            // A slave that its own masters follow leaves nothing of its equation.
            return match (left.is_empty() || left.iter().any(|(dof, _)| is_free(dof)), slaves.first()) {
                (true, Some(slave)) if is_free(slave) => {
                    Err(Conflict::Cycle(*slave, others().first().copied().unwrap_or(entry)))
                }
                (true, Some(slave)) if !left.is_empty() => Err(Conflict::Supported(*slave)),
                _ if (sum - value).abs() <= HOLDS * size => Ok(false),
                _ => Err(Conflict::Inconsistent(others())),
            };
        };
        let own = factor_of(&original, &slave).unwrap_or_default();
        if let [slave] = slaves[..]
            && (own - pivot).abs() > HOLDS * own.abs()
        {
            let other = subtracted.keys().next().map_or(entry, |row| self.rows[*row as usize].entry);
            return Err(Conflict::Cycle(slave, other));
        }
        left.retain(|(dof, _)| *dof != slave);
        let node = if slaves.is_empty() { terms[0].0.node } else { slave.node };
        let at_node = |component| factor_of(&original, &Dof { node, component }).map_or(0.0, |a| a / pivot);
        let row = Row {
            slave,
            terms: left.into_iter().map(|(dof, factor)| (dof, -factor / pivot)).collect(),
            value: value / pivot,
            entry,
            own: (node, [0, 1, 2].map(at_node)),
            pivot,
            subtracted: subtracted.into_iter().map(|(row, factor)| (row, factor / pivot)).collect(),
        };
        self.row_of.insert(slave, self.rows.len() as u32);
        self.rows.push(row);
        Ok(true)
    }

    /// Every slave by its masters; sums of many unknowns may be kept apart.
    pub fn resolved(&self, keeps_sums: bool) -> Resolution {
        let mut found: Vec<Resolved> = Vec::with_capacity(self.rows.len());
        let mut is_sum = vec![false; self.rows.len()];
        // A row's slaves are of later rows.
        for (number, row) in self.rows.iter().enumerate().rev() {
            let (mut terms, mut value) = (Vec::with_capacity(row.terms.len()), row.value);
            for (dof, factor) in &row.terms {
                if let Some(prescribed) = self.prescribed.get(dof) {
                    value += factor * prescribed;
                } else if let Some(later) = self.row_of.get(dof).filter(|later| !is_sum[**later as usize]) {
                    let (_, others, of) = &found[self.rows.len() - 1 - *later as usize];
                    value += factor * of;
                    terms.extend(others.iter().map(|(master, share)| (*master, factor * share)));
                } else {
                    terms.push((*dof, *factor));
                }
            }
            let terms = merged(terms);
            is_sum[number] = keeps_sums && terms.iter().map(|(_, factor)| factor * factor).sum::<f64>() > LARGE;
            found.push((row.slave, terms, value));
        }
        is_sum.reverse();
        let (sums, rows) = found.into_iter().zip(is_sum).partition::<Vec<_>, _>(|(_, is_sum)| *is_sum);
        let [rows, sums] = [rows, sums].map(|of| of.into_iter().map(|(row, _)| row).collect());
        Resolution { rows, sums }
    }

    /// The masters of the longest row or the slaves of the busiest master, and the entry that makes it.
    pub fn longest(&self) -> Option<(usize, &Entry)> {
        let resolved = self.resolved(false).rows;
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

    /// How many unknowns follow from others.
    pub fn n_slaves(&self) -> usize {
        self.rows.len()
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

    /// What joins two sides: numbers and names.
    pub fn joints(&self) -> impl Iterator<Item = (u32, &str)> {
        let numbered = self.entries.iter().zip(0..);
        numbered.filter(|(entry, _)| JOINTS.contains(&entry.kind)).map(|(entry, number)| (number, entry.name.as_str()))
    }

    /// What is joined, in a word with its name, and the nodes that follow or are moved together, ascending.
    pub fn joined(&self) -> Vec<(String, Vec<u32>)> {
        let joints = self.joints().map(|(number, name)| {
            let rows = self.rows.iter().filter(|row| row.entry == number);
            let mut nodes: Vec<u32> = rows.map(|row| row.own.0).collect();
            nodes.sort_unstable();
            nodes.dedup();
            (format!("{} {name}", self.entries[number as usize].kind), nodes)
        });
        let remotes = self.remotes.iter().map(|of| (format!("remote {}", of.name), of.patch.nodes.clone()));
        joints.chain(remotes).collect()
    }

    /// The forces that an entry does to the nodes of its slaves, from those of [`Constraints::take_forces`].
    pub fn forces(&self, entry: u32, multipliers: &[f64]) -> Vec<(u32, [f64; 3])> {
        let of_entry = self.rows.iter().zip(multipliers).filter(|(row, _)| row.entry == entry);
        of_entry.map(|(row, force)| (row.own.0, row.own.1.map(|factor| factor * force))).collect()
    }

    /// The forces of all entries but supports on the nodes, which balance each other unless they hold the body from outside.
    pub fn outer_forces<'a>(&'a self, multipliers: &'a [f64]) -> impl Iterator<Item = (u32, [f64; 3])> + 'a {
        self.all_forces(multipliers, |entry| !self.is_support(entry))
    }

    /// The force of each entry of a kind per unit of its factors, from those of [`Constraints::take_forces`].
    pub fn multipliers<'a>(&'a self, kind: &'a str, forces: &'a [f64]) -> impl Iterator<Item = (&'a str, f64)> + 'a {
        let of_rows =
            self.rows.iter().zip(forces).map(|(row, force)| (&self.entries[row.entry as usize], force / row.pivot));
        of_rows
            .filter(move |(entry, _)| entry.kind == kind)
            .map(|(entry, multiplier)| (entry.name.as_str(), multiplier))
    }

    fn is_support(&self, entry: u32) -> bool {
        self.entries[entry as usize].kind == "support"
    }

    /// The forces of some entries on the nodes, also on masters, from those of [`Constraints::take_forces`].
    pub fn all_forces<'a>(
        &'a self,
        multipliers: &'a [f64],
        is_asked: impl Fn(u32) -> bool + 'a,
    ) -> impl Iterator<Item = (u32, [f64; 3])> + 'a {
        let of_entry = self.rows.iter().zip(multipliers).filter(move |(row, _)| is_asked(row.entry));
        of_entry.flat_map(move |(row, &force)| {
            let own = std::iter::once((row, 1.0));
            let known = row.subtracted.iter().map(|(other, times)| (&self.rows[*other as usize], *times));
            own.chain(known).flat_map(move |(row, times)| {
                let masters = row.terms.iter().map(|(dof, factor)| (*dof, -factor));
                std::iter::once((row.slave, 1.0)).chain(masters).map(move |(dof, factor)| {
                    let mut vector = [0.0; 3];
                    vector[usize::from(dof.component)] = times * factor * force;
                    (dof.node, vector)
                })
            })
        })
    }

    /// The forces of the supports that are equations here, on their nodes.
    pub fn support_forces<'a>(&'a self, multipliers: &'a [f64]) -> impl Iterator<Item = (u32, [f64; 3])> + 'a {
        let of_supports = self.rows.iter().zip(multipliers).filter(|(row, _)| self.is_support(row.entry));
        of_supports.map(|(row, force)| (row.own.0, row.own.1.map(|factor| factor * force)))
    }

    /// The sums that are held: of equations as they were taken, unknowns with factors, that of the slave first, and the entry,
    /// slaves of earlier ones replaced by their masters; and those that springs resist.
    pub fn sums(&self) -> impl Iterator<Item = (Vec<(Dof, f64)>, Option<u32>)> + '_ {
        let of_rows = self.rows.iter().map(|row| {
            let masters = row.terms.iter().map(|(dof, factor)| (*dof, -factor));
            (std::iter::once((row.slave, 1.0)).chain(masters).collect(), Some(row.entry))
        });
        of_rows.chain(self.bonds.iter().map(|bond| (bond.clone(), None)))
    }

    /// The connected parts of a mesh, those that are coupled joined: as [`Mesh::parts`] has them.
    pub fn parts(&self, mesh: &Mesh) -> (Vec<u32>, usize) {
        let (mut labels, n_parts) = mesh.parts().clone();
        let mut parent: Vec<u32> = (0..n_parts as u32).collect();
        for (sum, _) in self.sums() {
            for (dof, _) in &sum[1..] {
                let of_node = [sum[0].0.node, dof.node].map(|node| labels[node as usize]);
                let [a, b] = of_node.map(|part| find(&mut parent, part));
                unite(&mut parent, a, b);
            }
        }
        let count = number(&mut parent);
        labels.iter_mut().for_each(|label| *label = parent[*label as usize]);
        (labels, count)
    }
}

/// Each unknown once, ascending, with the sum of its factors.
fn merged(mut terms: Vec<(Dof, f64)>) -> Vec<(Dof, f64)> {
    terms.sort_by_key(|(dof, _)| *dof);
    terms.dedup_by(|next, known| {
        let is_same = next.0 == known.0;
        known.1 += if is_same { next.1 } else { 0.0 };
        is_same
    });
    terms
}

/// The factor of an unknown in such terms.
fn factor_of(terms: &[(Dof, f64)], dof: &Dof) -> Option<f64> {
    terms.binary_search_by_key(dof, |(dof, _)| *dof).ok().map(|at| terms[at].1)
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
    cuts: &[Option<Cut>],
    supports: &[&Support],
    on_axis: impl Iterator<Item = u32>,
    warnings: &mut Vec<String>,
    problems: &mut Problems,
) -> Constraints {
    let tables = &selector.case.tables;
    let n_tables =
        [tables.tie.len(), tables.cyclic.len(), tables.bolt.len(), tables.remote.len(), tables.equation.len()];
    if n_tables == [0; 5] {
        return Constraints::default();
    }
    let dof = |node, component: usize| Dof { node, component: component as u8 };
    type Numbered<'a> = Vec<(usize, &'a Support)>;
    let numbered = supports.iter().copied().enumerate();
    let (slanted, along): (Numbered<'_>, Numbered<'_>) = numbered.partition(|(_, support)| support.is_slanted());
    let held = along.into_iter().flat_map(|(_, of)| of.prescribed()).map(|(node, c, value)| (dof(node, c), value));
    let mut constraints = Constraints::beside(held.chain(on_axis.map(|node| (dof(node, 0), 0.0))));
    for table in tables.tie.iter().filter(|tie| tie.get_ref().conductance.is_none()) {
        problems.take(tie::add(selector, table, &mut constraints, warnings));
    }
    for table in &tables.cyclic {
        problems.take(cyclic::add_one(selector, table, &mut constraints));
    }
    bolt::add_all(selector, cuts, &mut constraints, problems);
    remote::add_all(selector, &mut constraints, problems);
    equation::add_all(selector, &mut constraints, problems);
    constraints.add_supports(selector, &slanted, problems);
    constraints
}

impl Constraints {
    /// Takes supports in directions of their own at the nodes that are coupled.
    fn add_supports(&mut self, selector: &Selector<'_>, supports: &[(usize, &Support)], problems: &mut Problems) {
        let of_row = |row: &Row| row.terms.iter().map(|(dof, _)| dof.node).chain([row.slave.node]).collect::<Vec<_>>();
        let coupled: HashSet<u32> = self.rows.iter().flat_map(of_row).collect();
        let components = selector.case.analysis().components();
        for (number, support) in supports {
            // Pins of a free body come behind the tables.
            let place = selector.case.tables.support.get(*number).map_or(0..0, Spanned::span);
            let entry = self.enter(Entry { name: support.name.clone(), kind: "support", place: place.clone() });
            let held = support.held(&selector.mesh.coords).filter(|(node, ..)| coupled.contains(node));
            for (node, direction, value) in held {
                let along = (0u8..).zip(direction).take(components).filter(|(_, factor)| *factor != 0.0);
                let terms = along.map(|(component, factor)| (Dof { node, component }, factor)).collect();
                self.slanted.insert(node);
                let equation = Equation { terms, value, slaves: Vec::new(), entry };
                if problems.take(self.take(selector, equation, place.clone())).is_none() {
                    break;
                }
            }
        }
    }

    /// As [`Constraints::add`], with a conflict as an error at a place; an equation without factors says nothing.
    fn take(&mut self, selector: &Selector<'_>, equation: Equation, place: Place) -> Checked {
        match self.add(equation) {
            Ok(_) | Err(Conflict::Empty) => Ok(()),
            Err(conflict) => {
                let (message, help) = self.explain(selector.case, selector.mesh, &conflict);
                Err(selector.case.error_at(place, message, help))
            }
        }
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
