//! `*MATERIAL` and what follows it.

use super::Reader;
use crate::io::inp::{Card, Mistake, Place, Read};

/// Rows of constants, each of a temperature if there are several.
#[derive(Debug, Clone)]
pub struct Constants {
    /// The card.
    pub place: Place,
    /// `ISO`, `ORTHO`, ..
    pub kind: String,
    /// How many numbers a row has, without its temperature.
    n: usize,
    rows: Vec<Vec<f64>>,
}

/// A material as its cards have it.
#[derive(Debug, Clone)]
pub struct Material {
    pub name: String,
    pub place: Place,
    pub elastic: Option<Constants>,
    pub density: Option<Constants>,
    pub expansion: Option<Constants>,
    pub conductivity: Option<Constants>,
    pub specific_heat: Option<Constants>,
    /// The temperature from which `expansion` counts.
    pub zero: f64,
}

/// All materials; the last one is that which cards are of.
pub type Materials = Vec<Material>;

/// `*ELASTIC, TYPE=` by its first letters, and its number of constants.
const ELASTIC: [(&str, usize); 4] = [("ISO", 2), ("ENGINEERING", 9), ("ORTHO", 9), ("ANISO", 21)];
/// The same of `*EXPANSION` and `*CONDUCTIVITY`.
const EXPANSION: [(&str, usize); 3] = [("ISO", 1), ("ORTHO", 3), ("ANISO", 6)];

impl Constants {
    fn read(reader: &Reader<'_>, card: &Card, kinds: &[(&str, usize)]) -> Read<Constants> {
        let word = card.word("TYPE").unwrap_or_else(|| "ISO".into());
        let Some((kind, n)) = kinds.iter().find(|(kind, _)| word.starts_with(kind)) else {
            let known: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
            let message = format!("*{}, TYPE={word} is not supported", card.name);
            return Err(Mistake::at(card.place.clone(), message, format!("there are: {}", known.join(", "))));
        };
        let (mut rows, mut row) = (Vec::new(), Vec::new());
        for line in reader.deck.lines(card) {
            for field in line.fields() {
                row.push(field.number()?);
            }
            if row.len() > n + 1 {
                let message = format!("*{} of this type has {n} numbers and a temperature", card.name);
                return Err(Mistake::at(line.place, message, ""));
            }
            if row.len() >= *n {
                rows.push(std::mem::take(&mut row));
            }
        }
        if rows.is_empty() || !row.is_empty() {
            let message = format!("*{} of this type has {n} numbers", card.name);
            return Err(Mistake::at(card.place.clone(), message, "they are on the lines below, up to eight on each"));
        }
        Ok(Constants { place: card.place.clone(), kind: kind.to_string(), n: *n, rows })
    }

    /// Whether they change with the temperature.
    pub fn vary(&self) -> bool {
        self.rows.windows(2).any(|pair| pair[0][..self.n] != pair[1][..self.n])
    }

    /// At a temperature: straight between rows, constant beyond.
    pub fn at(&self, temperature: f64) -> Vec<f64> {
        let of = |row: &Vec<f64>| row.get(self.n).copied().unwrap_or(0.0);
        let after = self.rows.iter().position(|row| of(row) >= temperature).unwrap_or(self.rows.len() - 1);
        let (low, high) = (&self.rows[after.saturating_sub(1)], &self.rows[after]);
        let span = of(high) - of(low);
        let share = if span > 0.0 { ((temperature - of(low)) / span).clamp(0.0, 1.0) } else { 0.0 };
        (0..self.n).map(|k| low[k] + share * (high[k] - low[k])).collect()
    }
}

impl Reader<'_> {
    pub(super) fn material(&mut self, card: &Card) -> Read {
        let (name, place) = card.required("NAME")?;
        if self.materials.iter().any(|material| material.name == name) {
            return Err(Mistake::at(place, format!("a second material is called {name}"), "give it another name"));
        }
        let [elastic, density, expansion, conductivity, specific_heat] = [const { None }; 5];
        let zero = 0.0;
        self.materials.push(Material { name, place, elastic, density, expansion, conductivity, specific_heat, zero });
        Ok(())
    }

    /// A card of the material before it.
    pub(super) fn constants(&mut self, card: &Card) -> Read {
        let kinds: &[_] = match card.name.as_str() {
            "ELASTIC" => &ELASTIC,
            "DENSITY" | "SPECIFICHEAT" => &[("ISO", 1)],
            _ => &EXPANSION,
        };
        let read = Constants::read(self, card, kinds)?;
        let zero = card.value("ZERO").and_then(crate::io::inp::fields::number).unwrap_or(0.0);
        let Some(material) = self.materials.last_mut() else {
            let message = format!("*{} is of no material", card.name);
            return Err(Mistake::at(card.place.clone(), message, "*MATERIAL, NAME=.. comes before it"));
        };
        match card.name.as_str() {
            "ELASTIC" => material.elastic = Some(read),
            "DENSITY" => material.density = Some(read),
            "SPECIFICHEAT" => material.specific_heat = Some(read),
            "CONDUCTIVITY" => material.conductivity = Some(read),
            _ => (material.expansion, material.zero) = (Some(read), zero),
        }
        Ok(())
    }
}
