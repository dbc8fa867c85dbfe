//! `*NODE PRINT`, `*EL PRINT`, `*SECTION PRINT`: what goes into the file of numbers.

use toml::Spanned;

use super::Reader;
use crate::element::ElementKind;
use crate::io::inp::geometry::Surface;
use crate::io::inp::{Card, Mistake, Read};
use crate::mesh::write::Form;
use crate::model::Analysis;
use crate::result::{Study, When};

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// `U`: displacements.
    Displacement,
    /// `RF`: forces of supports.
    Reaction,
    /// `NT`: temperatures.
    Temperature,
    /// `S`: stresses at integration points.
    Stress,
    /// `E`: strains there.
    Strain,
    /// `ME`: strains there less those of temperature.
    MechanicalStrain,
    /// `ENER`: energy per volume there.
    EnergyDensity,
    /// `ELSE`: energy of elements.
    Energy,
    /// `EVOL`: their volumes.
    Volume,
    /// `RFL`: heat that conduction takes from nodes.
    Flow,
    /// `HFL`: heat flux at integration points.
    HeatFlux,
}

/// A face of an element, its nodes in the order of its kind: the normal points out of the element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// What it is.
    pub kind: ElementKind,
    /// Tags.
    pub nodes: Vec<u64>,
}

/// A table that a card asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Print {
    /// What.
    pub item: Item,
    /// The name of the set.
    pub set: String,
    /// Tags of its nodes or elements.
    pub tags: Vec<u64>,
    /// Whether the sum is printed, and the values.
    pub totals: [bool; 2],
    /// Whether components are along the mesh's axes.
    pub is_global: bool,
    /// The step whose card it is of.
    pub step: usize,
    /// How many increments are from one that is printed to the next.
    pub frequency: usize,
}

/// `SOF`, `SOM`, `SOAREA`: force and moment on a surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionPrint {
    /// Its name.
    pub surface: String,
    /// Its faces.
    pub sides: Vec<Side>,
    /// The step whose card it is of.
    step: usize,
}

const OF_NODES: [(&str, Item); 4] =
    [("U", Item::Displacement), ("RF", Item::Reaction), ("NT", Item::Temperature), ("RFL", Item::Flow)];
const OF_ELEMENTS: [(&str, Item); 7] = [
    ("S", Item::Stress),
    ("E", Item::Strain),
    ("ME", Item::MechanicalStrain),
    ("ENER", Item::EnergyDensity),
    ("ELSE", Item::Energy),
    ("EVOL", Item::Volume),
    ("HFL", Item::HeatFlux),
];

/// What the words of *NODE FILE and *EL FILE stand for, beside displacements and stresses.
const OF_FILES: [(&str, &str); 2] = [("RF", "nodal_force"), ("E", "strain_nodal")];

impl Reader<'_> {
    /// `*NODE FILE`, `*EL FILE`, `*NODE OUTPUT`, `*ELEMENT OUTPUT`: fields that are written, too.
    pub(super) fn file(&mut self, card: &Card) {
        self.state.of_files = frequency(card);
        if card.word("GLOBAL").as_deref() == Some("NO") {
            let written = self.deck.written(card);
            self.warnings.push(format!("{written}, GLOBAL=NO: fields are along x, y, z all the same"));
        }
        for line in self.deck.lines(card) {
            let words = line.fields().into_iter().map(|field| field.name());
            let asked = words.filter_map(|word| OF_FILES.iter().find(|(known, _)| *known == word));
            self.files.extend(asked.map(|(_, field)| *field));
        }
    }

    /// The fields of all files.
    pub(super) fn close_files(&mut self) {
        let whole = self.tables.mesh.span();
        let kind = self.tables.analysis.kind.as_ref().and_then(|kind| Analysis::from_name(kind.get_ref()));
        let physics = kind.unwrap_or_default().physics();
        let usual = physics.fields().filter(|field| field.when == When::Usual).map(|field| field.name);
        let study = self.tables.analysis.study.as_ref();
        let study = study.and_then(|study| Study::from_name(study.get_ref())).unwrap_or_default();
        let asked = self.files.iter().copied().filter(|name| physics.fields().any(|field| field.name == *name));
        let fields = usual.chain(asked).filter(|name| study.has(name));
        let fields = fields.map(|field| Spanned::new(whole.clone(), field.to_string()));
        self.tables.output.fields = Some(fields.collect());
        self.tables.output.frd = Some(Spanned::new(whole, Form::NAMES[0].to_string()));
    }

    /// The first print card of its kind in a step takes the place of all of steps before.
    pub(super) fn print(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let (parameter, known) = match card.name.as_str() {
            "NODEPRINT" => ("NSET", &OF_NODES[..]),
            _ => ("ELSET", &OF_ELEMENTS[..]),
        };
        let step = self.state.number();
        let is_older = |print: &Print| print.step < step && known.iter().any(|(_, item)| *item == print.item);
        self.state.prints.retain(|print| !is_older(print));
        let frequency = frequency(card);
        if frequency == 0 {
            return Ok(());
        }
        let (set, place) = card.required(parameter)?;
        let sets = if parameter == "NSET" { &self.geometry.node_sets } else { &self.geometry.element_sets };
        let Some(tags) = sets.get(&set) else {
            return Err(Mistake::at(place, format!("there is no set {set}"), "define it before it is used"));
        };
        let totals = match card.word("TOTALS").as_deref() {
            Some("YES") => [true, true],
            Some("ONLY") => [true, false],
            _ => [false, true],
        };
        let is_global = card.word("GLOBAL").is_some_and(|word| word == "YES");
        let print = |item| Print { item, set: set.clone(), tags: tags.clone(), totals, is_global, step, frequency };
        for field in self.deck.lines(card).flat_map(|line| line.fields()) {
            let name = field.name();
            match known.iter().find(|(word, _)| *word == name) {
                Some((_, item)) => self.state.prints.push(print(*item)),
                None => self.warnings.push(format!("{} {name}: this is not printed", self.deck.written(card))),
            }
        }
        Ok(())
    }

    /// `*SECTION PRINT, SURFACE=`: whatever is asked, all is printed. Of cards of several steps it is as for [`Self::print`].
    pub(super) fn section_print(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let step = self.state.number();
        self.state.sections.retain(|print| print.step == step);
        if frequency(card) == 0 {
            return Ok(());
        }
        let (surface, place) = card.required("SURFACE")?;
        self.surface(&surface, &place)?;
        let Surface::Faces(faces) = &self.geometry.surfaces[&surface] else {
            let message = format!("{surface} is a surface of nodes");
            return Err(Mistake::at(place, message, "forces act on *SURFACE, TYPE=ELEMENT"));
        };
        let sides = faces.iter().filter_map(|(element, face)| self.geometry.side(*element, *face));
        let sides: Vec<Side> = sides.map(|(kind, nodes)| Side { kind, nodes }).collect();
        let (written, mut is_asked) = (self.deck.written(card), false);
        for field in self.deck.lines(card).flat_map(|line| line.fields()) {
            match ["SOF", "SOM", "SOAREA"].contains(&field.name().as_str()) {
                true => is_asked = true,
                false => self.warnings.push(format!("{written} {}: this is not printed", field.name())),
            }
        }
        if sides.iter().any(|side| side.kind.info().dim < 2) {
            self.warnings.push(format!("{written}: forces on edges of plane elements are not printed"));
        } else if is_asked {
            self.state.sections.push(SectionPrint { surface, sides, step });
        }
        Ok(())
    }
}

/// How many increments are from one that a card is for to the next; 0 if it is for none.
fn frequency(card: &Card) -> usize {
    card.value("FREQUENCY").and_then(|frequency| frequency.trim().parse().ok()).unwrap_or(1)
}
