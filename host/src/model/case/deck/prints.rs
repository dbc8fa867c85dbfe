//! `*NODE PRINT`, `*EL PRINT`, `*SECTION PRINT`: what goes into the file of numbers.

use toml::Spanned;

use super::Reader;
use crate::element::ElementKind;
use crate::io::inp::geometry::Surface;
use crate::io::inp::{Card, Mistake, Read};
use crate::mesh::write::Form;
use crate::model::Physics;
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
    /// `SOF`, `SOM`, `SOAREA`: force and moment on a surface.
    Section,
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
    /// The faces of a surface.
    pub sides: Vec<Side>,
    /// Whether the sum is printed, and the values.
    pub totals: [bool; 2],
    /// Whether components are along the mesh's axes.
    pub is_global: bool,
    /// The step whose card it is of.
    pub step: usize,
}

const OF_NODES: [(&str, Item); 3] = [("U", Item::Displacement), ("RF", Item::Reaction), ("NT", Item::Temperature)];
const OF_ELEMENTS: [(&str, Item); 6] = [
    ("S", Item::Stress),
    ("E", Item::Strain),
    ("ME", Item::MechanicalStrain),
    ("ENER", Item::EnergyDensity),
    ("ELSE", Item::Energy),
    ("EVOL", Item::Volume),
];

const OF_SURFACES: [(&str, Item); 3] = [("SOF", Item::Section), ("SOM", Item::Section), ("SOAREA", Item::Section)];

/// What the words of *NODE FILE and *EL FILE stand for, beside displacements and stresses.
const OF_FILES: [(&str, &str); 2] = [("RF", "nodal_force"), ("E", "strain_nodal")];

impl Reader<'_> {
    /// `*NODE FILE`, `*EL FILE`, `*NODE OUTPUT`, `*ELEMENT OUTPUT`: fields that are written, too.
    pub(super) fn file(&mut self, card: &Card) {
        for line in self.deck.lines(card) {
            let words = line.fields().into_iter().map(|field| field.name());
            let asked = words.filter_map(|word| OF_FILES.iter().find(|(known, _)| *known == word));
            self.files.extend(asked.map(|(_, field)| *field));
        }
    }

    /// The fields of all files.
    pub(super) fn close_files(&mut self) {
        let whole = self.tables.mesh.span();
        let usual = Physics::Elasticity.fields().filter(|field| field.when == When::Usual).map(|field| field.name);
        let study = self.tables.analysis.study.as_ref();
        let study = study.and_then(|study| Study::from_name(study.get_ref())).unwrap_or_default();
        let fields = usual.chain(self.files.iter().copied()).filter(|name| study.has(name));
        let fields = fields.map(|field| Spanned::new(whole.clone(), field.to_string()));
        self.tables.output.fields = Some(fields.collect());
        self.tables.output.frd = Some(Spanned::new(whole, Form::NAMES[0].to_string()));
    }

    /// The first print card of its kind in a step takes the place of all of steps before.
    pub(super) fn print(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        let (known, step) = (known(card), self.state.number());
        let is_older = |print: &Print| print.step < step && known.iter().any(|(_, item)| *item == print.item);
        self.state.prints.retain(|print| !is_older(print));
        // Every 0 increments: never.
        if card.word("FREQUENCY").as_deref() == Some("0") {
            return Ok(());
        }
        let (set, tags, sides) = self.printed(card)?;
        if sides.iter().any(|side| side.kind.info().dim < 2) {
            let written = self.deck.written(card);
            self.warnings.push(format!("{written}: forces on edges of plane elements are not printed"));
            return Ok(());
        }
        let totals = match card.word("TOTALS").as_deref() {
            Some("YES") => [true, true],
            Some("ONLY") => [true, false],
            _ => [false, true],
        };
        let is_global = card.word("GLOBAL").is_some_and(|word| word == "YES");
        let print =
            |item| Print { item, set: set.clone(), tags: tags.clone(), sides: sides.clone(), totals, is_global, step };
        let mut items = Vec::new();
        for field in self.deck.lines(card).flat_map(|line| line.fields()) {
            let name = field.name();
            match known.iter().find(|(word, _)| *word == name) {
                // Whatever is asked of a section, all of it is printed.
                Some((_, Item::Section)) if !items.is_empty() => {}
                Some((_, item)) => items.push(*item),
                None => self.warnings.push(format!("{} {name}: this is not printed", self.deck.written(card))),
            }
        }
        self.state.prints.extend(items.into_iter().map(print));
        Ok(())
    }

    /// The set that a card prints, its nodes or elements, or the faces of a surface.
    fn printed(&self, card: &Card) -> Read<(String, Vec<u64>, Vec<Side>)> {
        let (parameter, sets) = match card.name.as_str() {
            "NODEPRINT" => ("NSET", &self.geometry.node_sets),
            "ELPRINT" => ("ELSET", &self.geometry.element_sets),
            _ => {
                let (name, place) = card.required("SURFACE")?;
                self.surface(&name, &place)?;
                return match &self.geometry.surfaces[&name] {
                    Surface::Faces(faces) => {
                        let sides = faces.iter().filter_map(|(element, face)| self.geometry.side(*element, *face));
                        Ok((name, Vec::new(), sides.map(|(kind, nodes)| Side { kind, nodes }).collect()))
                    }
                    Surface::Nodes(_) => {
                        let message = format!("{name} is a surface of nodes");
                        Err(Mistake::at(place, message, "forces act on *SURFACE, TYPE=ELEMENT"))
                    }
                };
            }
        };
        let (set, place) = card.required(parameter)?;
        match sets.get(&set) {
            Some(tags) => Ok((set, tags.clone(), Vec::new())),
            None => Err(Mistake::at(place, format!("there is no set {set}"), "define it before it is used")),
        }
    }
}

/// What a print card may ask for.
fn known(card: &Card) -> &'static [(&'static str, Item)] {
    match card.name.as_str() {
        "NODEPRINT" => &OF_NODES,
        "ELPRINT" => &OF_ELEMENTS,
        _ => &OF_SURFACES,
    }
}
