//! `*TRANSFORM`, `*ORIENTATION`: axes of nodes and of materials.

use toml::Spanned;

use super::super::Vector;
use super::super::tables::AxesTable;
use super::Reader;
use crate::io::inp::{Card, Mistake, Place, Read};
use crate::mesh::vector::{sub, unit};
use crate::model::Axes;

/// Axes from two points.
#[derive(Debug, Clone)]
pub struct Frame {
    a: [f64; 3],
    b: [f64; 3],
    is_cylinder: bool,
    place: Place,
}

impl Frame {
    fn read(reader: &Reader<'_>, card: &Card, is_cylinder: bool) -> Read<Frame> {
        let wrong = || Mistake::at(card.place.clone(), "these axes need two points", "1., 0., 0., 0., 1., 0.");
        let line = reader.deck.lines(card).next().ok_or_else(wrong)?;
        let numbers = line.fields().iter().map(|field| field.number_or_zero()).collect::<Read<Vec<f64>>>()?;
        let [ax, ay, az, bx, by, bz, rest @ ..] = &numbers[..] else { return Err(wrong()) };
        let (a, b) = ([*ax, *ay, *az], [*bx, *by, *bz]);
        // A third point is the origin.
        let [a, b] = match (rest, is_cylinder) {
            ([x, y, z], false) => [sub(a, [*x, *y, *z]), sub(b, [*x, *y, *z])],
            _ => [a, b],
        };
        let frame = Frame { a, b, is_cylinder, place: line.place };
        frame.axes()?;
        Ok(frame)
    }

    /// The axes.
    pub fn axes(&self) -> Read<Axes> {
        let parallel =
            || Mistake::at(self.place.clone(), "these two points make no axes", "they must differ in direction");
        if !self.is_cylinder {
            return Axes::fixed(self.a, self.b).ok_or_else(parallel);
        }
        let along = unit(sub(self.b, self.a));
        if along == [0.0; 3] { Err(parallel()) } else { Ok(Axes::Cylinder { at: self.a, along }) }
    }

    /// The same as a table.
    pub fn table(&self) -> Spanned<AxesTable> {
        let spanned = |v: [f64; 3]| Some(Spanned::new(self.place.clone(), Vector::from(v)));
        let none = AxesTable { x: None, y: None, axis: None, at: None, file: None };
        let table = match self.is_cylinder {
            true => AxesTable { axis: spanned(sub(self.b, self.a)), at: spanned(self.a), ..none },
            false => AxesTable { x: spanned(self.a), y: spanned(self.b), ..none },
        };
        Spanned::new(self.place.clone(), table)
    }
}

impl Reader<'_> {
    pub(super) fn transform(&mut self, card: &Card) -> Read {
        let is_cylinder = card.word("TYPE").is_some_and(|kind| kind == "C");
        let frame = Frame::read(self, card, is_cylinder)?;
        let (name, place) = card.required("NSET")?;
        let Some(nodes) = self.geometry.node_sets.get(&name) else {
            return Err(Mistake::at(place, format!("there is no node set {name}"), "define it with *NSET"));
        };
        nodes.iter().for_each(|node| {
            self.frame_of.insert(*node, self.frames.len());
        });
        self.frames.push(frame.axes()?);
        self.frame_tables.push(frame.table());
        Ok(())
    }

    /// The axes that `*ORIENTATION` gives a name.
    pub(super) fn orientation_named(&self, name: &str, place: &Place) -> Read<&Frame> {
        self.orientations.get(name).ok_or_else(|| {
            let message = format!("there is no orientation {name}");
            Mistake::at(place.clone(), message, "define it with *ORIENTATION")
        })
    }

    pub(super) fn orientation(&mut self, card: &Card) -> Read {
        let (name, _) = card.required("NAME")?;
        let is_cylinder = card.word("SYSTEM").is_some_and(|system| system.starts_with('C'));
        let frame = Frame::read(self, card, is_cylinder)?;
        if let Some(turned) = self.deck.lines(card).nth(1) {
            let angle = turned.fields().get(1).map_or(Ok(0.0), |angle| angle.number_or_zero())?;
            if angle != 0.0 {
                let help = "give the turned axes themselves by two points";
                return Err(Mistake::at(turned.place, "an orientation that is turned once more is not read", help));
            }
        }
        self.orientations.insert(name, frame);
        Ok(())
    }
}
