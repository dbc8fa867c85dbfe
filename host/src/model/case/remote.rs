//! Checks of `[[remote]]` that need no mesh.

use toml::Spanned;

use super::Case;
use super::tables::RemoteTable;
use crate::model::{Checked, Place};

/// What a motion consists of.
const MOTIONS: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];

impl Case {
    /// The motions of a body: all, or those in the plane.
    fn motions(&self) -> &'static [&'static str] {
        if self.dim() == Some(2) { &["x", "y", "rz"] } else { &MOTIONS }
    }

    /// The force and the moment that act on a remote point.
    pub(in crate::model) fn remote_load(&self, table: &Spanned<RemoteTable>) -> Checked<[[f64; 3]; 2]> {
        let RemoteTable { force, moment, .. } = table.get_ref();
        force.iter().try_for_each(|force| self.check_vector("force", force))?;
        let force = force.as_ref().map_or([0.0; 3], |force| force.get_ref().xyz());
        let moment = moment.as_ref().map_or(Ok([0.0; 3]), |moment| self.moment("moment", moment))?;
        Ok([force, moment])
    }

    /// What is prescribed of a remote point's motion: displacements along x, y, z, rotations about them.
    pub(in crate::model) fn remote_motion(&self, table: &Spanned<RemoteTable>) -> Checked<[Option<f64>; 6]> {
        let RemoteTable { fix, displacement, rotation, .. } = table.get_ref();
        let mut held = [None; 6];
        if let Some(fix) = fix {
            for word in fix.get_ref().split([' ', ',']).filter(|word| !word.is_empty()) {
                if word.starts_with('r') {
                    held[self.motion(word, word, fix.span())?] = Some(0.0);
                    continue;
                }
                for letter in word.chars() {
                    held[self.motion(&letter.to_string(), word, fix.span())?] = Some(0.0);
                }
            }
        }
        for (prefix, given) in [("", displacement), ("r", rotation)] {
            for (letter, value) in given.iter().flat_map(|map| map.get_ref()) {
                let motion = self.motion(&format!("{prefix}{}", letter.get_ref()), letter.get_ref(), letter.span())?;
                self.check_finite(letter.get_ref(), value.span(), &[*value.get_ref()])?;
                if held[motion].is_some() {
                    let message = format!("this remote point fixes `{}` and prescribes it too", MOTIONS[motion]);
                    return Err(self.error_at(value.span(), message, "take it out of `fix`"));
                }
                held[motion] = Some(*value.get_ref());
            }
        }
        let RemoteTable { name, on, kind, force, moment, .. } = table.get_ref();
        let (name, masses) = (on.get_ref().or_own(name.as_ref()), &self.tables.mass);
        let works = force.is_some() || moment.is_some() || kind.as_ref().is_some_and(|kind| kind.get_ref() == "rigid");
        if held == [None; 6] && !works && !masses.iter().any(|mass| mass.get_ref().on.get_ref().joined() == name) {
            let help = "give it a `force`, a `moment`, `fix`, `displacement`, `rotation` or a [[mass]]; kind = \"rigid\" stiffens the group";
            return Err(self.error_at(table.span(), "this remote point does nothing", help));
        }
        Ok(held)
    }

    fn motion(&self, name: &str, word: &str, place: Place) -> Checked<usize> {
        let known = self.motions().contains(&name).then(|| MOTIONS.iter().position(|motion| *motion == name)).flatten();
        known.ok_or_else(|| {
            let help = format!("there are: {}", self.motions().join(", "));
            self.error_at(place, format!("`{word}` is no motion of a remote point"), help)
        })
    }
}
