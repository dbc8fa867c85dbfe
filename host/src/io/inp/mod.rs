//! Input decks of CalculiX and Abaqus: cards such as `*NODE, NSET=ALL`, each with lines of data.
//!
//! Words are the same in upper and lower case, and cards with or without spaces: `*Node Print` is `*NODEPRINT`. A line that
//! begins with `**` is a comment. `*INCLUDE` puts another file in its place.
//!
//! Source: CalculiX CrunchiX user's manual, version 2.20, "Input deck format"; Abaqus keywords reference.

pub mod codes;
pub mod fields;
pub mod geometry;
mod lexer;
mod listing;
mod mesh;
mod scope;
mod sets;
pub mod write;

#[cfg(test)]
mod tests;

pub use fields::{Field, Line};
pub use geometry::Geometry;
pub use listing::{Listing, Segment};
pub use mesh::Faces;
pub use scope::Scoped;

use std::ops::Range;
use std::path::Path;

/// A byte range of the text.
pub type Place = Range<usize>;

/// What is wrong with a deck, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// None where it is of the whole.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// May be empty.
    pub help: String,
}

impl Mistake {
    /// A mistake at a place.
    pub fn at(place: Place, message: impl Into<String>, help: impl Into<String>) -> Box<Mistake> {
        Box::new(Mistake { place: Some(place), message: message.into(), help: help.into() })
    }
}

/// What is read of a deck.
pub type Read<T = ()> = Result<T, Box<Mistake>>;

/// A word of a card's line, `NSET=ALL` or `GENERATE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// In upper case, without spaces.
    pub name: String,
    /// As it is written, without quotes; none if there is no `=`.
    pub value: Option<String>,
    /// The word.
    pub place: Place,
}

/// A card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its name in upper case, without star and spaces: `NODEPRINT`.
    pub name: String,
    /// What follows it on its line.
    pub parameters: Vec<Parameter>,
    /// Its name, with the star.
    pub place: Place,
    /// Its lines of data.
    pub data: Place,
}

/// A deck.
#[derive(Debug, Clone)]
pub struct Deck {
    /// Its text.
    pub listing: Listing,
    /// In order.
    pub cards: Vec<Card>,
}

impl Deck {
    /// Reads a file and all that it includes.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, that is no text, or that is cut in a card's line; with as much of the text as was read.
    pub fn read(path: &Path) -> Result<Deck, (Listing, Box<Mistake>)> {
        listing::read(path).and_then(Deck::of)
    }

    /// Reads a text; `path` names it, and says where files are that it includes.
    ///
    /// # Errors
    ///
    /// As [`Deck::read`].
    pub fn parse(path: &Path, text: &[u8]) -> Result<Deck, (Listing, Box<Mistake>)> {
        listing::splice(path, text.to_vec()).and_then(Deck::of)
    }

    fn of(listing: Listing) -> Result<Deck, (Listing, Box<Mistake>)> {
        match lexer::cards(&listing.text) {
            Ok(cards) => Ok(Deck { listing, cards }),
            Err(mistake) => Err((listing, mistake)),
        }
    }

    /// The lines of a card's data, without comments and empty lines.
    pub fn lines(&self, card: &Card) -> impl Iterator<Item = Line<'_>> {
        fields::lines(&self.listing.text, card.data.clone())
    }

    /// A card's name as the deck has it.
    pub fn written(&self, card: &Card) -> &str {
        &self.listing.text[card.place.clone()]
    }
}

impl Card {
    /// A parameter.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether a parameter is there.
    pub fn has(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }

    /// The value of a parameter as it is written.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.parameter(name)?.value.as_deref()
    }

    /// The value of a parameter in upper case: a name, or a word.
    pub fn word(&self, name: &str) -> Option<String> {
        self.value(name).map(str::to_uppercase)
    }

    /// The name that a card must have under a parameter, in upper case, with its place.
    ///
    /// # Errors
    ///
    /// It is not there, or empty.
    pub fn required(&self, name: &str) -> Read<(String, Place)> {
        match self.parameter(name) {
            Some(Parameter { value: Some(value), place, .. }) if !value.is_empty() => {
                Ok((value.to_uppercase(), place.clone()))
            }
            _ => Err(Mistake::at(
                self.place.clone(),
                format!("*{} needs {name}=", self.name),
                format!("*{}, {name}=.. names it", self.name),
            )),
        }
    }
}
