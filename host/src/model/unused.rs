//! Groups of the mesh that a case does not name: often one was forgotten, or an extreme plane taken instead.

use super::case::Case;
use super::names::{nearest, planes};
use crate::mesh::{Group, Mesh};

/// A group that the case does not use.
#[derive(Debug, Clone, PartialEq)]
pub struct Unused<'a> {
    /// The group.
    pub group: &'a Group,
    /// A name in the case that is much like it, and means an extreme plane.
    pub like: Option<String>,
}

/// The groups of a mesh that no material, support or load of a case is on.
///
/// A material without `on` is on all bodies; groups of bodies are not listed if the only material leaves it out.
pub fn unused<'a>(case: &Case, mesh: &'a Mesh) -> Vec<Unused<'a>> {
    // A deck names nodes by sets of its own.
    if case.deck.is_some() {
        return Vec::new();
    }
    let used = used(case);
    let is_everything = case.tables.material.iter().any(|material| material.get_ref().on.is_none());
    let is_plane = |name: &&str| planes(mesh.dim()).contains(name) && mesh.group(name).is_none();
    let planes: Vec<&str> = used.iter().copied().filter(is_plane).collect();
    let of_bodies = |group: &Group| is_everything && group.dim == mesh.dim();
    let left = mesh.groups.iter().filter(|group| !used.contains(&group.name.as_str()) && !of_bodies(group));
    left.map(|group| {
        let like = nearest(&group.name, &planes).map(str::to_string);
        Unused { group, like }
    })
    .collect()
}

/// All names that the case has after `on`.
fn used(case: &Case) -> Vec<&str> {
    let tables = &case.tables;
    let materials = tables.material.iter().filter_map(|table| table.get_ref().on.as_ref());
    let supports = tables.support.iter().filter_map(|table| table.get_ref().on.as_ref());
    let loads = (tables.pressure.iter().map(|table| &table.get_ref().on))
        .chain(tables.traction.iter().map(|table| &table.on))
        .chain(tables.force.iter().map(|table| &table.on))
        .chain(tables.load.iter().map(|table| &table.get_ref().on))
        .chain(tables.flux.iter().map(|table| &table.on))
        .chain(tables.convection.iter().map(|table| &table.on))
        .chain(tables.source.iter().filter_map(|table| table.on.as_ref()))
        .chain(tables.point_force.iter().filter_map(|table| table.get_ref().on.as_ref()));
    let springs = tables.spring.iter().map(|table| &table.get_ref().on);
    let masses = tables.mass.iter().map(|table| &table.get_ref().on);
    let ties = tables.tie.iter().flat_map(|table| [&table.get_ref().slave, &table.get_ref().master]);
    let warm = tables.temperature.iter().flat_map(|table| &table.get_ref().on).map(|table| &table.on);
    let remotes = tables.remote.iter().map(|table| &table.get_ref().on);
    let bolts = tables.bolt.iter().map(|table| &table.get_ref().on);
    let sectors = tables.cyclic.iter().flat_map(|table| [&table.get_ref().from, &table.get_ref().to]);
    let held = supports.chain(springs).chain(masses).chain(ties).chain(remotes).chain(bolts).chain(sectors);
    let names = materials.chain(held).chain(loads).chain(warm);
    names.flat_map(|on| on.get_ref().with_places(0..0)).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing::clamped;
    use std::path::Path;

    #[test]
    fn groups_that_nothing_is_on_are_found() {
        let text = clamped("tet4", "[[pressure]]\non = [\"ymax\", \"zmax\"]\nvalue = 1.0\n");
        let case = Case::parse(Path::new("box.toml"), &text).unwrap();
        let mut mesh = case.mesh().unwrap();
        let names = |mesh: &Mesh| unused(&case, mesh).iter().map(|u| u.group.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&mesh), ["xmax", "ymin", "zmin"]);
        // Renamed, the group is not what `xmin` in the case is any more.
        mesh.groups.iter_mut().filter(|group| group.name == "xmin").for_each(|group| group.name = "x_min".into());
        let found = unused(&case, &mesh);
        let renamed = found.iter().find(|unused| unused.group.name == "x_min").unwrap();
        assert_eq!(renamed.like.as_deref(), Some("xmin"));
        // A misspelt name is no plane.
        let misspelt = Case::parse(Path::new("box.toml"), &text.replacen("xmin", "x_mn", 1)).unwrap();
        assert!(unused(&misspelt, &mesh).iter().all(|unused| unused.like.is_none()));
        let on_body = text.replacen("young", "on = \"body\"\nyoung", 1);
        let case = Case::parse(Path::new("box.toml"), &on_body).unwrap();
        assert!(!unused(&case, &mesh).iter().any(|unused| unused.group.name == "body"));
    }
}
