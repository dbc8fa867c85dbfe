//! `[[support]]`: what it prescribes, and in which directions.

use toml::Spanned;

use super::tables::{AxesTable, SupportTable};
use super::{Case, synonyms};
use crate::model::{Axes, Checked, Place};

/// The word for the direction across a face.
const NORMAL: &str = "normal";

/// The directions that a support names, before there are nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum Named {
    /// Those of axes, mostly the mesh's.
    Axes(Axes),
    /// The normals of its faces.
    Normal,
}

impl Named {
    /// The letters of as many components.
    fn letters(&self, n: usize) -> Vec<&'static str> {
        match self {
            Named::Axes(axes) => axes.letters()[..n].to_vec(),
            Named::Normal => vec![NORMAL],
        }
    }
}

impl Case {
    /// The directions that a support's components are along.
    pub(in crate::model) fn directions(&self, table: &SupportTable) -> Checked<Named> {
        let displaced = table.displacement.iter().flat_map(|map| map.get_ref().keys());
        let is_normal = table.fix.as_ref().is_some_and(|fix| fix.get_ref() == NORMAL)
            || displaced.map(Spanned::get_ref).any(|key| key == NORMAL);
        match &table.axes {
            Some(axes) if is_normal => {
                let message = "`normal` is across the faces, whatever the axes are";
                Err(self.error_at(axes.span(), message, "leave `axes` out"))
            }
            None if is_normal && table.on.is_none() => {
                let place = table.fix.as_ref().map(Spanned::span);
                let place = place.or(table.displacement.as_ref().map(Spanned::span)).unwrap_or_default();
                let help = "name a group of faces: on = \"group\"";
                Err(self.error_at(place, "`normal` needs faces, and these are nodes", help))
            }
            None if is_normal => Ok(Named::Normal),
            axes => {
                axes.as_ref().map_or(Ok(()), |axes| self.check_in_plane(axes))?;
                self.axes(axes.as_ref()).map(Named::Axes)
            }
        }
    }

    /// Refuses axes of a support that do not go with a plane, or with a body of revolution.
    fn check_in_plane(&self, axes: &Spanned<AxesTable>) -> Checked {
        if self.analysis().components() > 2 {
            return Ok(());
        }
        let AxesTable { x, y, axis, .. } = axes.get_ref();
        let revolved = self.analysis().is_revolved();
        let is_out = |v: &Spanned<super::Vector>| v.get_ref().xyz()[2] != 0.0;
        if let Some(out) = [x, y].into_iter().flatten().find(|v| is_out(v)) {
            return Err(self.error_at(out.span(), "these axes leave the plane", "make the third component 0"));
        }
        match axis {
            Some(axis) if revolved => {
                let message = "a body of revolution has its own axis: x is the radius, y is along the axis";
                Err(self.error_at(axis.span(), message, "leave `axes` out"))
            }
            Some(axis) if axis.get_ref().xyz()[..2] != [0.0; 2] => {
                let help = "axis = [0.0, 0.0, 1.0]";
                Err(self.error_at(axis.span(), "the axis of a cylinder is across the plane", help))
            }
            _ => Ok(()),
        }
    }

    /// What a support prescribes along its directions, from `fix` and `displacement` together; for a potential its
    /// `value`.
    pub(in crate::model) fn prescribed(&self, support: &Spanned<SupportTable>) -> Checked<[Option<f64>; 3]> {
        let table = support.get_ref();
        let known = self.directions(table)?.letters(self.analysis().components());
        let mut held = [None; 3];
        if let Some(value) = &table.value {
            self.check_number("value", value)?;
            held[0] = Some(*value.get_ref());
        }
        if let Some(fix) = &table.fix {
            let letters = fix.get_ref().chars().map(String::from);
            let words = if known == [NORMAL] { vec![fix.get_ref().clone()] } else { letters.collect() };
            for letter in words {
                held[self.component(&known, &letter, fix.get_ref(), fix.span())?] = Some(0.0);
            }
        }
        for (letter, value) in table.displacement.iter().flat_map(|map| map.get_ref()) {
            let c = self.component(&known, letter.get_ref(), letter.get_ref(), letter.span())?;
            self.check_number(letter.get_ref(), value)?;
            if held[c].is_some() && *value.get_ref() != 0.0 {
                let message = format!("this support fixes `{}` and displaces it too", letter.get_ref());
                let help = if known == [NORMAL] { "leave `fix` out" } else { "take the letter out of `fix`" };
                return Err(self.error_at(value.span(), message, help));
            }
            held[c] = Some(*value.get_ref());
        }
        if held == [None; 3] {
            let help = self.analysis().keys().support;
            return Err(self.error_at(support.span(), "this support holds nothing", help));
        }
        Ok(held)
    }

    /// The component, among those known, that a letter of a word stands for.
    fn component(&self, components: &[&str], letter: &str, word: &str, place: Place) -> Checked<usize> {
        match components.iter().position(|&known| known == letter) {
            Some(c) => Ok(c),
            None if letter == "z" && components == ["x", "y"] => {
                let message = format!("`z` is no component of a {} problem", self.analysis().name());
                Err(self.error_at(place, message, "components: x, y; out of its plane nothing needs to be held"))
            }
            None => {
                let mut help = format!("components: {}", components.join(", "));
                if let Some(meant) = synonyms::letters(word, components) {
                    help = format!("did you mean `{meant}`? {help}");
                }
                if word.contains(['4', '5', '6']) || ["rx", "ry", "rz"].iter().any(|turn| word.contains(turn)) {
                    help = format!("{help}; {}", synonyms::rotations());
                }
                // A word of none is not one of many.
                let is_any = word.chars().any(|letter| components.contains(&&*letter.to_string()));
                let what = if is_any { letter } else { word };
                Err(self.error_at(place, format!("`{what}` is no component"), help))
            }
        }
    }
}
