//! From a deck of CalculiX or Abaqus to a case: the tables that a case file would have, with their places in the deck.
//!
//! A card that changes the answer and is not understood is refused; one that does not is passed over.

mod bodies;
mod cards;
mod couplings;
mod frames;
mod heat;
mod loads;
mod materials;
mod motion;
mod points;
mod prints;
mod remotes;
mod response;
mod sections;
mod sectors;
mod springs;
mod steps;
mod supports;
mod temperatures;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use warpfem_text::counted;

use super::Case;
use super::tables::{AnalysisTable, AxesTable, MeshTable, OutputTable, SolverTable, Tables};
use crate::io::inp::{self, Deck, Faces, Geometry, Listing, Mistake, Read, Scoped};
use crate::mesh::{Mesh, MeshError};
use crate::model::{Axes, CaseError, Checked, Error, Source};
pub use points::Follows;
pub use prints::{Item, Print, SectionPrint, Side};

/// The mesh of a deck, and what it says beside the tables.
#[derive(Debug)]
pub struct DeckCase {
    geometry: Geometry,
    faces: Vec<Faces>,
    /// The deck without long lists, for reports.
    pub excerpt: Arc<str>,
    /// What it says of each step.
    pub steps: Vec<DeckStep>,
    frame_of: HashMap<u64, usize>,
    frames: Vec<Axes>,
}

/// A step of a deck, beside its tables.
#[derive(Debug, Clone)]
pub struct DeckStep {
    /// What is to be printed after it of nodes and elements.
    pub prints: Vec<Print>,
    /// And of surfaces.
    pub sections: Vec<SectionPrint>,
    /// The increments that results are written after, and when these end.
    pub outputs: Vec<(usize, f64)>,
    /// Of nodes by tag.
    pub temperatures: Arc<BTreeMap<u64, f64>>,
    /// What is known of nodes without elements.
    pub points: Arc<PointsOfStep>,
    /// What loads on such nodes put on prescribed ones, by way of equations.
    pub on_held: Vec<(steps::Dof, f64)>,
    /// The loads on such nodes themselves.
    pub on_points: BTreeMap<steps::Dof, f64>,
}

impl DeckStep {
    /// Whether a card prints after one of the outputs.
    pub fn has(&self, print: &Print, output: usize) -> bool {
        output + 1 == self.outputs.len() || self.outputs[output].0.is_multiple_of(print.frequency)
    }
}

/// Components of nodes without elements, and what springs do.
#[derive(Debug, Clone, Default)]
pub struct PointsOfStep {
    /// For prescribed ones the equations that they are in, and their factors there.
    pub equations: BTreeMap<steps::Dof, Vec<(usize, f64)>>,
    /// For others what they follow; for prescribed ones no more than their value.
    pub follows: BTreeMap<steps::Dof, points::Follows>,
    /// The reference nodes of those whose displacements are rotations.
    pub rotations: BTreeMap<u64, u64>,
    /// Forces of springs that CalculiX counts in RF, and the field `nodal_force` has not: factors times sums.
    pub of_springs: springs::Forces,
}

impl DeckCase {
    /// The mesh.
    ///
    /// # Errors
    ///
    /// What is wrong with elements.
    pub fn mesh(&self) -> Result<Mesh, MeshError> {
        self.geometry.mesh(&self.faces)
    }

    /// The step that results are of, counted from 0 over all that are written, and the place among its outputs.
    pub fn step_of(&self, mut number: usize) -> Option<(&DeckStep, usize)> {
        for step in &self.steps {
            match number.checked_sub(step.outputs.len()) {
                Some(rest) => number = rest,
                None => return Some((step, number)),
            }
        }
        None
    }

    /// The axes that a node's components are along, one per row, if it has its own.
    pub fn axes_at(&self, tag: u64) -> Option<nalgebra::Matrix3<f64>> {
        let (frame, node) = (self.frame_of.get(&tag)?, self.geometry.node(tag)?);
        Some(self.frames[*frame].at(self.geometry.coords[node]))
    }
}

/// Whether a path is that of a deck.
pub fn is_deck(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("inp"))
}

/// The mesh of a deck without its supports and loads.
///
/// # Errors
///
/// What is wrong with its nodes, elements, sets and surfaces.
pub fn mesh(path: &Path) -> Result<Mesh, Error> {
    let geometry = |deck: &Deck| Geometry::of(deck, &Scoped::of(deck)?);
    let read = Deck::read(path).and_then(|deck| geometry(&deck).map_err(|mistake| (deck.listing, mistake)));
    let geometry = read.map_err(|(listing, mistake)| located(&Source::of_deck(path, &listing), *mistake))?;
    let in_file = |source| MeshError::InFile { path: path.to_path_buf(), source: Box::new(source) };
    Ok(geometry.mesh(&[]).map_err(in_file)?)
}

fn located(source: &Source, mistake: Mistake) -> Box<CaseError> {
    match mistake.place {
        Some(place) => source.error_at(place, mistake.message, mistake.help),
        None => source.error_anywhere(mistake.message, mistake.help),
    }
}

/// Reads a deck and all that it includes.
pub fn read(path: &Path) -> Checked<Case> {
    case(path, Deck::read(path))
}

/// The same from a text.
pub fn parse(path: &Path, text: &str) -> Checked<Case> {
    case(path, Deck::parse(path, text.as_bytes()))
}

fn case(path: &Path, deck: Result<Deck, (Listing, Box<Mistake>)>) -> Checked<Case> {
    let (listing, read) = match deck {
        Ok(deck) => (deck.listing.clone(), Reader::read(&deck)),
        Err((listing, mistake)) => (listing, Err(mistake)),
    };
    let source = Source::of_deck(path, &listing);
    match read {
        Ok((tables, warnings, deck)) => {
            let deck = Arc::new(deck);
            let case = |tables| Case {
                path: path.to_path_buf(),
                source: source.clone(),
                tables,
                warnings: Vec::new(),
                deck: Some(deck.clone()),
                others: Vec::new(),
            };
            let mut cases = tables.into_iter().map(case);
            let Some(first) = cases.next() else { unreachable!("a deck has a step") };
            Ok(Case { warnings, others: cases.collect(), ..first })
        }
        Err(mistake) => Err(located(&source, *mistake)),
    }
}

/// What is known of a deck while its cards are read.
struct Reader<'a> {
    deck: &'a Deck,
    geometry: Geometry,
    /// Elements that a section makes bodies of, by tag.
    in_sections: HashSet<u64>,
    /// Whether nodes have stiffness, in the order of the geometry.
    in_body: Vec<bool>,
    materials: materials::Materials,
    sections: Vec<sections::Section>,
    orientations: BTreeMap<String, frames::Frame>,
    /// Axes of nodes, by tag, and these axes.
    frame_of: HashMap<u64, usize>,
    frames: Vec<Axes>,
    frame_tables: Vec<Spanned<AxesTable>>,
    amplitudes: BTreeMap<String, steps::Amplitude>,
    couplings: couplings::Couplings,
    temperatures: temperatures::Temperatures,
    state: steps::State,
    steps: Vec<steps::Step>,
    tables: Tables,
    warnings: Vec<String>,
    faces: Vec<Faces>,
    /// Fields that are written beside the usual ones.
    files: BTreeSet<&'static str>,
    springs: Vec<springs::OfCard>,
    /// What is known of nodes without elements.
    points: PointsOfStep,
}

impl<'a> Reader<'a> {
    fn read(deck: &'a Deck) -> Read<(Vec<Tables>, Vec<String>, DeckCase)> {
        let scoped = Scoped::of(deck)?;
        Reader::of(deck, &scoped)?.run(&scoped)
    }

    fn of(deck: &'a Deck, scoped: &Scoped) -> Read<Reader<'a>> {
        let mut geometry = Geometry::of(deck, scoped)?;
        let in_sections = sections::elements(deck, scoped, &mut geometry);
        geometry.drop_surfaces(&in_sections);
        let in_body = geometry.in_bodies();
        let whole = deck.cards.first().map_or(0..0, |card| card.place.clone());
        Ok(Reader {
            deck,
            geometry,
            in_sections,
            in_body,
            materials: Default::default(),
            sections: Vec::new(),
            orientations: BTreeMap::new(),
            frame_of: HashMap::new(),
            frames: Vec::new(),
            frame_tables: Vec::new(),
            amplitudes: BTreeMap::new(),
            couplings: Default::default(),
            temperatures: Default::default(),
            state: Default::default(),
            steps: Vec::new(),
            tables: empty(whole),
            warnings: Vec::new(),
            faces: Vec::new(),
            files: BTreeSet::new(),
            points: Default::default(),
            springs: Vec::new(),
        })
    }

    fn run(mut self, scoped: &Scoped) -> Read<(Vec<Tables>, Vec<String>, DeckCase)> {
        for (card, scope) in &scoped.cards {
            self.geometry.enter(*scope);
            let deck = self.deck;
            cards::take(&mut self, &deck.cards[*card])?;
        }
        self.geometry.enter(None);
        self.check_others()?;
        self.check_sides()?;
        let (tables, steps) = self.close_steps()?;
        let Reader { deck, geometry, faces, frame_of, frames, mut warnings, .. } = self;
        let mut said = HashSet::new();
        warnings.retain(|warning| said.insert(warning.clone()));
        let case = DeckCase { geometry, faces, excerpt: excerpt(deck), steps, frame_of, frames };
        Ok((tables, warnings, case))
    }

    /// Whether a node has stiffness.
    fn is_in_body(&self, tag: u64) -> bool {
        self.geometry.node(tag).is_some_and(|node| self.in_body[node])
    }

    fn place_of(&self, tag: u64) -> [f64; 3] {
        self.geometry.node(tag).map_or([0.0; 3], |node| self.geometry.coords[node])
    }

    /// The axes of a node's components, one per row.
    fn axes_at(&self, tag: u64) -> nalgebra::Matrix3<f64> {
        match self.frame_of.get(&tag) {
            Some(frame) => self.frames[*frame].at(self.place_of(tag)),
            None => nalgebra::Matrix3::identity(),
        }
    }
}

/// Lines of a card that reports show.
const SHOWN: usize = 10;

fn excerpt(deck: &Deck) -> Arc<str> {
    let mut text = String::new();
    for card in &deck.cards {
        text += &deck.listing.text[card.place.start..card.data.start];
        let mut lines = deck.lines(card);
        lines.by_ref().take(SHOWN).for_each(|line| text.extend([line.text, "\n"]));
        let more = lines.count();
        if more > 0 {
            text += &format!("** .. {}\n", counted(more, "more line"));
        }
    }
    text.into()
}

fn empty(place: inp::Place) -> Tables {
    let mesh = MeshTable { file: None, generate: None, element: None, allow_hanging: None };
    Tables {
        mesh: Spanned::new(place, mesh),
        analysis: AnalysisTable::default(),
        material: Vec::new(),
        support: Vec::new(),
        spring: Vec::new(),
        bond: Vec::new(),
        mass: Vec::new(),
        tie: Vec::new(),
        remote: Vec::new(),
        cyclic: Vec::new(),
        bolt: Vec::new(),
        equation: Vec::new(),
        gravity: None,
        rotation: None,
        temperature: None,
        inertia_relief: None,
        harmonic: None,
        response: None,
        time: None,
        pressure: Vec::new(),
        traction: Vec::new(),
        force: Vec::new(),
        load: Vec::new(),
        point_force: Vec::new(),
        nodal_force: Vec::new(),
        push: Vec::new(),
        flux: Vec::new(),
        convection: Vec::new(),
        source: Vec::new(),
        load_case: Vec::new(),
        solver: SolverTable::default(),
        output: OutputTable::default(),
    }
}
