//! `*SOLID SECTION`: which elements are made of what; materials with their axes become tables.

use std::collections::{HashMap, HashSet};

use toml::Spanned;
use warpfem_text::counted;

use super::super::tables::MaterialTable;
use super::super::{Names, Numbers};
use super::Reader;
use super::materials::{Constants, Material};
use crate::io::inp::codes::{self, Family};
use crate::io::inp::{Card, Deck, Geometry, Mistake, Place, Read, Scoped};

/// Elements of one material.
#[derive(Debug, Clone)]
pub struct Section {
    elements: (String, Place),
    material: (String, Place),
    orientation: Option<String>,
    /// The elements have this thickness, if they are plane.
    thickness: Option<(f64, Place)>,
}

/// The elements of all sections of a deck, of whatever kind.
pub fn elements(deck: &Deck, scoped: &Scoped, geometry: &mut Geometry) -> HashSet<u64> {
    let mut found = HashSet::new();
    for (card, scope) in &scoped.cards {
        let card = &deck.cards[*card];
        geometry.enter(*scope);
        if let Some(name) = card.word("ELSET").filter(|_| card.name.ends_with("SECTION")) {
            found.extend(geometry.set_of(&name, &geometry.element_sets).into_iter().flatten());
        }
    }
    geometry.enter(None);
    found
}

impl Reader<'_> {
    pub(super) fn solid_section(&mut self, card: &Card) -> Read {
        let (elements, at) = card.required("ELSET")?;
        let scoped = self.geometry.scoped(&elements);
        let elements = (if self.geometry.element_sets.contains_key(&scoped) { scoped } else { elements }, at);
        let material = card.required("MATERIAL")?;
        if !self.geometry.element_sets.contains_key(&elements.0) {
            let message = format!("there is no element set {}", elements.0);
            return Err(Mistake::at(elements.1, message, "define it with *ELSET, or by *ELEMENT, ELSET=.."));
        }
        let orientation = card.word("ORIENTATION");
        if let Some(name) = &orientation {
            self.orientation_named(name, &card.place)?;
        }
        let line = self.deck.lines(card).next();
        let fields = line.as_ref().map(|line| line.fields()).unwrap_or_default();
        let thickness = match fields.first().filter(|first| !first.text.is_empty()) {
            Some(first) => Some((first.number()?, first.place.clone())),
            None => None,
        };
        self.sections.push(Section { elements, material, orientation, thickness });
        Ok(())
    }

    /// The material of a section, which may be defined behind it.
    fn material_of(&self, section: &Section) -> Read<&Material> {
        let (name, place) = &section.material;
        self.materials.iter().find(|material| material.name == *name).ok_or_else(|| {
            let known: Vec<&str> = self.materials.iter().map(|material| material.name.as_str()).collect();
            let there = if known.is_empty() { String::new() } else { format!("; there are: {}", known.join(", ")) };
            let help = format!("*MATERIAL, NAME={name} defines it{there}");
            Mistake::at(place.clone(), format!("there is no material {name}"), help)
        })
    }

    /// The tables of all materials in use, and what kind of body they make.
    pub(super) fn close_sections(&mut self, of_heat: bool) -> Read {
        let family = self.family()?;
        let kind = match family {
            Family::Revolved if of_heat => "axisymmetric_heat",
            _ if of_heat => "heat",
            Family::Solid => "elasticity",
            Family::PlaneStress => "plane_stress",
            Family::PlaneStrain => "plane_strain",
            Family::Revolved => "axisymmetric",
        };
        let whole = self.tables.mesh.span();
        self.tables.analysis.kind = Some(Spanned::new(whole, kind.to_string()));
        if matches!(family, Family::PlaneStress | Family::PlaneStrain) {
            self.tables.analysis.thickness = self.thickness()?;
        }
        type Table<'a> = (&'a Material, Option<&'a String>, Vec<Spanned<String>>);
        let mut tables: Vec<Table<'_>> = Vec::new();
        for section in &self.sections {
            let material = self.material_of(section)?;
            let orientation = section.orientation.as_ref();
            // Points, springs and masses have a section without effect.
            let is_of_bodies = |tag: &u64| self.geometry.element(*tag).is_some_and(|(block, _)| block.solid.is_some());
            if !self.geometry.element_sets[&section.elements.0].iter().any(is_of_bodies) {
                continue;
            }
            let on = Spanned::new(section.elements.1.clone(), section.elements.0.clone());
            let is_same = |table: &&mut Table<'_>| table.0.name == material.name && table.1 == orientation;
            match tables.iter_mut().find(is_same) {
                Some(table) => table.2.push(on),
                None => tables.push((material, orientation, vec![on])),
            }
        }
        let made = tables.into_iter().map(|(material, orientation, on)| {
            let table = self.material_in(material, orientation, on);
            let table = if of_heat { self.conducting(material, table) } else { self.elastic(material, table) };
            Ok(Spanned::new(material.place.clone(), table?))
        });
        self.tables.material = made.collect::<Read<_>>()?;
        Ok(())
    }

    /// A material's table without its constants.
    fn material_in(&self, material: &Material, axes: Option<&String>, on: Vec<Spanned<String>>) -> MaterialTable {
        let name = axes.map_or(material.name.clone(), |axes| format!("{} in {axes}", material.name));
        MaterialTable {
            name: Spanned::new(material.place.clone(), name),
            on: Some(Spanned::new(on[0].span(), Names::Many(on))),
            axes: axes.map(|axes| self.orientations[axes].table()),
            young: None,
            poisson: None,
            shear: None,
            stiffness: None,
            conductivity: None,
            expansion: None,
            density: None,
            specific_heat: None,
            by_temperature: None,
            yield_strength: None,
        }
    }

    /// Refuses beams and shells that a section makes bodies of; without one they are what a mesher left of lines and surfaces.
    pub(super) fn check_others(&mut self) -> Read {
        for block in self.geometry.blocks.iter().filter(|block| block.code.starts_with("SPRING")) {
            if let Some(tag) = block.tags.iter().find(|tag| !self.springs.iter().any(|of| of.has(**tag))) {
                let message = format!("spring {tag} has no rate");
                return Err(Mistake::at(block.place.clone(), message, "*SPRING, ELSET= gives it one"));
            }
        }
        let others = self.geometry.blocks.iter().filter(|block| block.solid.is_none() && !codes::is_point(&block.code));
        for block in others {
            if block.tags.iter().any(|tag| self.in_sections.contains(tag)) {
                let (message, help) = codes::refusal(&block.code);
                return Err(Mistake::at(block.place.clone(), message, help));
            }
            let n = counted(block.tags.len(), "element");
            self.warnings.push(format!("{n} {} have no section: they are left out", block.code));
        }
        Ok(())
    }

    /// What all elements of bodies are.
    fn family(&self) -> Read<Family> {
        let mut found = None;
        for block in &self.geometry.blocks {
            let Some((family, _)) = block.solid else { continue };
            match found {
                Some(other) if other != family => {
                    let message = format!("elements {} are of another kind than those before", block.code);
                    let help = "all are solid (C3D..), or all CPS.., all CPE.., all CAX..";
                    return Err(Mistake::at(block.place.clone(), message, help));
                }
                _ => found = Some(family),
            }
        }
        found.ok_or_else(|| {
            let help = "bodies are of C3D.., CPS.., CPE.., CAX..".to_string();
            Box::new(Mistake { place: None, message: "the deck has no elements of a body".into(), help })
        })
    }

    fn thickness(&self) -> Read<Option<Spanned<f64>>> {
        let mut all = self.sections.iter().filter_map(|section| section.thickness.clone());
        let Some((first, place)) = all.next() else { return Ok(Some(Spanned::new(0..0, 1.0))) };
        match all.find(|(other, _)| *other != first) {
            Some((_, place)) => Err(Mistake::at(
                place,
                "sections of different thickness are not supported",
                "mesh the part with solids",
            )),
            None => Ok(Some(Spanned::new(place, first))),
        }
    }

    /// A table with what elasticity has.
    fn elastic(&self, material: &Material, table: MaterialTable) -> Read<MaterialTable> {
        let Material { name, place, elastic, density, expansion, zero, .. } = material;
        let Some(elastic) = elastic else {
            let message = format!("material {name} has no *ELASTIC");
            return Err(Mistake::at(place.clone(), message, "*ELASTIC\n210000., 0.3"));
        };
        let at = |of: &Constants| self.temperatures.constants(of, name);
        let c = at(elastic)?;
        let (mut young, mut poisson, mut shear, mut stiffness) = (None, None, None, None);
        match elastic.kind.as_str() {
            "ISO" => (young, poisson) = (spanned(&elastic.place, &c[..1]), spanned(&elastic.place, &c[1..2])),
            "ENGINEERING" => {
                young = spanned(&elastic.place, &c[..3]);
                poisson = spanned(&elastic.place, &c[3..6]);
                shear = spanned(&elastic.place, &c[6..9]);
            }
            "ORTHO" => stiffness = spanned(&elastic.place, &ORTHO.map(|k| k.map_or(0.0, |k| c[k]))),
            _ => stiffness = spanned(&elastic.place, &ANISO.map(|k| c[k])),
        }
        let expansion = match expansion {
            Some(of) => spanned(&of.place, &self.temperatures.expansion(without_shears(of)?, *zero, name)?),
            None => None,
        };
        let density = match density {
            Some(of) => Some(Spanned::new(of.place.clone(), at(of)?[0])),
            None => None,
        };
        Ok(MaterialTable { young, poisson, shear, stiffness, expansion, density, ..table })
    }

    /// A table with what heat has.
    fn conducting(&self, material: &Material, table: MaterialTable) -> Read<MaterialTable> {
        let Material { name, place, conductivity, density, specific_heat, .. } = material;
        let Some(conductivity) = conductivity else {
            let message = format!("material {name} has no *CONDUCTIVITY");
            return Err(Mistake::at(place.clone(), message, "*CONDUCTIVITY\n50."));
        };
        let at = |of: &Constants| match of.vary() {
            true => {
                let message = format!("{name} changes with the temperature, which is what is solved for");
                Err(Mistake::at(of.place.clone(), message, "give the constants at one temperature"))
            }
            false => Ok(of.at(0.0)),
        };
        let number = |of: &Option<Constants>| -> Read<Option<Spanned<f64>>> {
            of.as_ref().map(|of| Ok(Spanned::new(of.place.clone(), at(of)?[0]))).transpose()
        };
        let (density, specific_heat) = (number(density)?, number(specific_heat)?);
        let conductivity = spanned(&conductivity.place, &at(without_shears(conductivity)?)?);
        Ok(MaterialTable { conductivity, density, specific_heat, ..table })
    }

    /// Element tags of bodies with their densities, 0 where there is none.
    pub(super) fn densities(&self) -> Read<HashMap<u64, f64>> {
        let mut found = HashMap::new();
        for section in &self.sections {
            let material = self.material_of(section)?;
            let density = material.density.as_ref().map(|of| self.temperatures.constants(of, &material.name));
            let density = density.transpose()?.map_or(0.0, |numbers| numbers[0]);
            found.extend(self.geometry.element_sets[&section.elements.0].iter().map(|tag| (*tag, density)));
        }
        Ok(found)
    }
}

fn spanned(place: &Place, numbers: &[f64]) -> Option<Spanned<Numbers>> {
    Some(Spanned::new(place.clone(), Numbers(numbers.to_vec())))
}

/// Refuses constants of second order that are not along axes.
fn without_shears(of: &Constants) -> Read<&Constants> {
    match of.kind.as_str() {
        "ANISO" => {
            let help = "TYPE=ISO or ORTHO, with *ORIENTATION";
            Err(Mistake::at(of.place.clone(), "TYPE=ANISO is not supported of expansion and conductivity", help))
        }
        _ => Ok(of),
    }
}

/// Which of an orthotropic material's numbers (1111, 1122, 2222, 1133, 2233, 3333, 1212, 1313, 2323) each of the upper triangle
/// of D is, row by row in the order 11, 22, 33, 12, 23, 13.
#[rustfmt::skip]
const ORTHO: [Option<usize>; 21] = [
    Some(0), Some(1), Some(3), None, None, None,
    Some(2), Some(4), None, None, None,
    Some(5), None, None, None,
    Some(6), None, None,
    Some(8), None,
    Some(7),
];
/// The same of an anisotropic one (1111, 1122, 2222, 1133, 2233, 3333, 1112, 2212, 3312, 1212, 1113, 2213, 3313, 1213, 1313, 1123,
/// 2223, 3323, 1223, 1323, 2323).
#[rustfmt::skip]
const ANISO: [usize; 21] = [
    0, 1, 3, 6, 15, 10,
    2, 4, 7, 16, 11,
    5, 8, 17, 12,
    9, 18, 13,
    20, 19,
    14,
];
