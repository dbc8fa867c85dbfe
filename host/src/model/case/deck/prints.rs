//! `*NODE PRINT`, `*EL PRINT`: what goes into the file of numbers.

use toml::Spanned;

use super::Reader;
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

    /// A print card takes the place of all of its kind of steps before.
    pub(super) fn print(&mut self, card: &Card) -> Read {
        self.within_step(card)?;
        // Every 0 increments: never.
        if card.word("FREQUENCY").as_deref() == Some("0") {
            return Ok(());
        }
        let is_of_nodes = card.name == "NODEPRINT";
        let (parameter, known) = if is_of_nodes { ("NSET", &OF_NODES[..]) } else { ("ELSET", &OF_ELEMENTS[..]) };
        let (set, place) = card.required(parameter)?;
        let sets = if is_of_nodes { &self.geometry.node_sets } else { &self.geometry.element_sets };
        let Some(tags) = sets.get(&set) else {
            return Err(Mistake::at(place, format!("there is no set {set}"), "define it before it is used"));
        };
        let totals = match card.word("TOTALS").as_deref() {
            Some("YES") => [true, true],
            Some("ONLY") => [true, false],
            _ => [false, true],
        };
        let is_global = card.word("GLOBAL").is_some_and(|word| word == "YES");
        let mut prints = Vec::new();
        for line in self.deck.lines(card) {
            for field in line.fields() {
                let name = field.name();
                match known.iter().find(|(word, _)| *word == name) {
                    Some((_, item)) => {
                        prints.push(Print { item: *item, set: set.clone(), tags: tags.clone(), totals, is_global });
                    }
                    None => self.warnings.push(format!("{} {name}: this is not printed", self.deck.written(card))),
                }
            }
        }
        self.state.prints.extend(prints);
        Ok(())
    }
}
