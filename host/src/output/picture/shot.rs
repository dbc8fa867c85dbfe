//! Which pictures are drawn: of which field, from which side.

use crate::output::field::PointField;

/// A side to look from. `z` is up in the picture, except from above and below, where `y` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewpoint {
    /// From the front, the right and above, all three axes equally long.
    Iso,
    /// From the positive end of an axis: x, y, z are 0, 1, 2.
    Positive(usize),
    /// From the negative end.
    Negative(usize),
}

impl Viewpoint {
    /// All of them by name.
    pub const ALL: [(&'static str, Viewpoint); 7] = [
        ("iso", Viewpoint::Iso),
        ("x", Viewpoint::Positive(0)),
        ("-x", Viewpoint::Negative(0)),
        ("y", Viewpoint::Positive(1)),
        ("-y", Viewpoint::Negative(1)),
        ("z", Viewpoint::Positive(2)),
        ("-z", Viewpoint::Negative(2)),
    ];

    /// The side of this name.
    pub fn named(name: &str) -> Option<Viewpoint> {
        Self::ALL.iter().find(|(of, _)| *of == name.trim()).map(|(_, view)| *view)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, view)| *view == self).map_or("", |(name, _)| name)
    }

    /// The direction to the eye.
    pub(super) fn eye(self) -> [f64; 3] {
        let along = |axis: usize, sign: f64| std::array::from_fn(|i| if i == axis { sign } else { 0.0 });
        match self {
            Viewpoint::Iso => [1.0, -1.0, 1.0],
            Viewpoint::Positive(axis) => along(axis, 1.0),
            Viewpoint::Negative(axis) => along(axis, -1.0),
        }
    }
}

/// A picture to be drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shot {
    /// What it is coloured by: the von Mises stress or the potential, unless it is named.
    pub field: Option<PointField>,
    /// Where it is seen from: where most of the part and its stress shows, unless it is named.
    pub view: Option<Viewpoint>,
}

impl Shot {
    /// The usual picture, then every field from every side; what is not named is as usual.
    pub fn all(fields: &[PointField], views: &[Viewpoint]) -> Vec<Shot> {
        let fields: Vec<_> = if fields.is_empty() { vec![None] } else { fields.iter().cloned().map(Some).collect() };
        let views: Vec<_> = if views.is_empty() { vec![None] } else { views.iter().copied().map(Some).collect() };
        let mut shots = vec![Shot::default()];
        for field in fields {
            for &view in &views {
                let shot = Shot { field: field.clone(), view };
                if !shots.contains(&shot) {
                    shots.push(shot);
                }
            }
        }
        shots
    }

    /// `bracket.png`, `bracket_displacement_-y.png`.
    pub fn file_name(&self, case: &str) -> String {
        let field = self.field.as_ref().map_or(String::new(), |field| format!("_{}", field.name));
        let view = self.view.map_or(String::new(), |view| format!("_{}", view.name()));
        format!("{case}{field}{view}.png")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_what_is_asked_for() {
        let views = ["iso", "-y", "iso"].map(|name| Viewpoint::named(name).unwrap());
        let field = PointField::named("displacement", crate::result::Physics::Elasticity, |_| true).unwrap();
        let names = |fields: &[PointField], views: &[Viewpoint]| -> Vec<String> {
            Shot::all(fields, views).iter().map(|shot| shot.file_name("arm")).collect()
        };
        assert_eq!(names(&[], &[]), ["arm.png"]);
        assert_eq!(names(&[], &views), ["arm.png", "arm_iso.png", "arm_-y.png"]);
        assert_eq!(names(std::slice::from_ref(&field), &[]), ["arm.png", "arm_displacement.png"]);
        assert_eq!(names(&[field], &views), ["arm.png", "arm_displacement_iso.png", "arm_displacement_-y.png"]);
    }
}
