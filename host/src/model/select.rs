//! From the names in a case file to nodes and faces of the mesh.

use std::collections::HashMap;
use std::sync::OnceLock;

use toml::Spanned;

use super::case::tables::BoxTable;
use super::case::{Case, Names};
use super::names::{Words, list, nearest, planes, words};
use super::{CaseError, Checked, Place};
use crate::mesh::Mesh;
use crate::mesh::faces::Face;

/// Nodes this far outside a `box`, as a fraction of the mesh's longest edge, still count as inside.
const BOX_TOLERANCE: f64 = 1e-9;

/// A case file beside its mesh.
pub struct Selector<'a> {
    pub case: &'a Case,
    pub mesh: &'a Mesh,
    /// Whether a node belongs to a solid, `[n_nodes]`: the others have no stiffness.
    pub in_solid: Vec<bool>,
    /// Nodes by tag.
    by_tag: OnceLock<HashMap<u64, u32>>,
}

impl<'a> Selector<'a> {
    /// Marks the nodes of the solids.
    pub fn new(case: &'a Case, mesh: &'a Mesh) -> Selector<'a> {
        let mut in_solid = vec![false; mesh.coords.len()];
        mesh.solids().flat_map(|(_, block)| &block.nodes).for_each(|&node| in_solid[node as usize] = true);
        Selector { case, mesh, in_solid, by_tag: OnceLock::new() }
    }

    /// The node with a tag.
    pub fn node(&self, tag: u64) -> Option<u32> {
        let by_tag = self.by_tag.get_or_init(|| self.mesh.node_tags.iter().copied().zip(0..).collect());
        by_tag.get(&tag).copied()
    }

    /// Words for the pieces of the body in messages.
    fn words(&self) -> &'static Words {
        words(self.mesh.dim())
    }

    /// The nodes of the solids on some groups, ascending, each once.
    pub fn nodes(&self, names: &Spanned<Names>) -> Checked<Vec<u32>> {
        let mut all = Vec::new();
        for (name, place) in self.places(names)? {
            let nodes = self.mesh.nodes_on(name).ok_or_else(|| self.unknown_group(name, place.clone()))?;
            all.extend(self.keep_solid(nodes, place, &format!("`{name}`"))?);
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// The nodes on some groups if all of them are groups of points, ascending, each once.
    pub fn points(&self, names: &Spanned<Names>) -> Checked<Option<Vec<u32>>> {
        let is_of_points = |(name, _): &(&str, Place)| self.mesh.group(name).is_some_and(|group| group.dim == 0);
        self.places(names)?.iter().all(is_of_points).then(|| self.nodes(names)).transpose()
    }

    /// The error of a point force on something else.
    pub fn no_points(&self, names: &Spanned<Names>) -> Box<CaseError> {
        let places = names.get_ref().with_places(names.span());
        let other = places.iter().find(|(name, _)| self.mesh.group(name).is_none_or(|group| group.dim > 0));
        let Some((name, place)) = other else { unreachable!("one of the groups is not of points") };
        if self.mesh.group(name).is_none() && self.mesh.nodes_on(name).is_none() {
            return self.unknown_group(name, place.clone());
        }
        let what = match self.mesh.group(name).map(|group| group.dim) {
            Some(1) => "curves",
            Some(3) => "volumes",
            _ => "surfaces",
        };
        let help =
            "[[force]] spreads a total over faces; a point force is on a group of points, `at` a point or a `node`";
        self.case.error_at(place.clone(), format!("`{name}` is a group of {what}, not of points"), help)
    }

    /// The surface faces on some groups, turned outward, each once.
    pub fn faces(&self, names: &Spanned<Names>) -> Checked<Vec<Face>> {
        let places = self.places(names)?;
        let mut all = Vec::new();
        for (name, place) in &places {
            let faces = self.mesh.faces_on(name).ok_or_else(|| self.unknown_group(name, place.clone()))?;
            if faces.is_empty() {
                return Err(self.no_faces(name, place.clone()));
            }
            self.check_facets(name, place, faces.len())?;
            all.extend(faces);
        }
        if places.len() > 1 {
            drop_repeated(&mut all);
        }
        Ok(all)
    }

    /// The same for what is across a face, which one inside the body has no outer side for.
    pub fn outer_faces(&self, names: &Spanned<Names>) -> Checked<Vec<Face>> {
        for (name, place) in self.places(names)? {
            if self.mesh.faces_on(name).is_some_and(|faces| faces.is_empty()) {
                let message = format!("`{name}` has no {} and so no normal", self.words().face);
                return Err(self.case.error_at(place, message, self.known_groups()));
            }
        }
        let faces = self.faces(names)?;
        if faces.iter().any(|face| face.beyond.is_some()) {
            let help = format!("name a group of the body's {}", self.words().skin);
            return Err(self.case.error_at(names.span(), "these faces lie inside the body: which way is out?", help));
        }
        Ok(faces)
    }

    /// Refuses a group of facets some of which are no faces of solids: the load on them would be lost.
    fn check_facets(&self, name: &str, place: &Place, found: usize) -> Checked {
        let facets = match self.mesh.group(name).filter(|group| group.dim + 1 == self.mesh.dim()) {
            Some(group) => self.mesh.distinct_facets(group).len(),
            None => found,
        };
        if facets == found {
            return Ok(());
        }
        let Words { solid, bodies, sides, face, .. } = self.words();
        let message = format!("{} of the {facets} facets of `{name}` are not {face}s of a {solid}", facets - found);
        Err(self.case.error_at(
            place.clone(),
            message,
            format!("the meshes of {sides} and {bodies} do not match there"),
        ))
    }

    /// The error of a load that pushes on some groups from outside, where one of them has faces between two solids:
    /// there it would push on either.
    pub fn inside_the_body(&self, names: &Spanned<Names>) -> Box<CaseError> {
        let Words { face, skin, .. } = self.words();
        let inner = |name: &str| {
            let faces = self.mesh.faces_on(name).unwrap_or_default();
            let first = faces.iter().find_map(|face| Some([(face.block, face.cell), face.beyond?]));
            first.map(|pair| (pair, faces.iter().filter(|face| face.beyond.is_some()).count(), faces.len()))
        };
        let places = names.get_ref().with_places(names.span());
        let found = places.into_iter().find_map(|(name, place)| inner(name).map(|inner| (name, place, inner)));
        let Some((name, place, (pair, n, of))) = found else { unreachable!("one of the groups has such a {face}") };
        let [a, b] = pair.map(|(block, cell)| self.body_of(block, cell));
        let what = if n == of { format!("`{name}` lies") } else { format!("{n} of the {of} {face}s of `{name}` lie") };
        let between = if a == b { format!("within {a}") } else { format!("between {a} and {b}") };
        let message = format!("{what} inside the body, {between}: a pressure there has no side to push on");
        let help = format!(
            "name a group of the body's {skin}; a force on {face}s inside it is given by its direction: [[force]] or [[traction]]"
        );
        self.case.error_at(place, message, help)
    }

    /// The group of bodies that a solid is in, or else its tag.
    fn body_of(&self, block: usize, cell: u32) -> String {
        let has = |(at, cells): &(usize, Vec<u32>)| *at == block && cells.binary_search(&cell).is_ok();
        let mut bodies = self.mesh.groups.iter().filter(|group| group.dim == self.mesh.dim());
        match bodies.find(|group| group.members.iter().any(has)) {
            Some(group) => format!("`{}`", group.name),
            None => format!("element {}", self.mesh.cells[block].tags[cell as usize]),
        }
    }

    /// The nodes with given tags, ascending.
    pub fn tagged(&self, tags: &Spanned<Vec<Spanned<u64>>>) -> Checked<Vec<u32>> {
        if tags.get_ref().is_empty() {
            let help = "nodes = [17, 18] takes the mesh file's node tags; on = \"group\" takes a group's nodes";
            return Err(self.case.error_at(tags.span(), "the list of nodes is empty", help));
        }
        let mut wanted: Vec<(u64, Place)> = tags.get_ref().iter().map(|tag| (*tag.get_ref(), tag.span())).collect();
        wanted.sort_unstable_by_key(|(tag, _)| *tag);
        let mut found = vec![None; wanted.len()];
        for (node, tag) in self.mesh.node_tags.iter().enumerate() {
            let first = wanted.partition_point(|(want, _)| want < tag);
            for slot in (first..wanted.len()).take_while(|&i| wanted[i].0 == *tag) {
                found[slot] = Some(node as u32);
            }
        }
        let mut nodes = Vec::with_capacity(found.len());
        for (node, (tag, place)) in found.into_iter().zip(wanted) {
            let node = node.ok_or_else(|| self.unknown_node(tag, place.clone()))?;
            nodes.extend(self.keep_solid(vec![node], place, &format!("node {tag}"))?);
        }
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }

    /// The nodes of the solids inside a box, ascending.
    pub fn in_box(&self, table: &Spanned<BoxTable>) -> Checked<Vec<u32>> {
        let slack = BOX_TOLERANCE * self.mesh.longest_side();
        let (min, max) = (&table.get_ref().min.get_ref(), &table.get_ref().max.get_ref());
        let (min, max) = (min.with_z(f64::NEG_INFINITY), max.with_z(f64::INFINITY));
        let inside = |x: &[f64; 3]| (0..3).all(|c| x[c] >= min[c] - slack && x[c] <= max[c] + slack);
        let nodes: Vec<u32> =
            (0..self.mesh.coords.len()).filter(|&i| inside(&self.mesh.coords[i])).map(|i| i as u32).collect();
        if nodes.is_empty() {
            let (low, high) = self.mesh.extent();
            let help = format!("the mesh extends from {low:?} to {high:?}");
            return Err(self.case.error_at(table.span(), "no node lies in this box", help));
        }
        self.keep_solid(nodes, table.span(), "this box")
    }

    /// `name (place)` for each group named, none of them missing.
    fn places<'n>(&self, names: &'n Spanned<Names>) -> Checked<Vec<(&'n str, Place)>> {
        let places = names.get_ref().with_places(names.span());
        if places.is_empty() {
            return Err(self.case.error_at(names.span(), "the list of groups is empty", self.known_groups()));
        }
        let dim = self.mesh.dim();
        let across = |name: &str| planes(3)[2 * dim..].contains(&name) && self.mesh.group(name).is_none();
        match places.iter().find(|(name, _)| across(name)) {
            Some((name, place)) => {
                let message = format!("a plane problem has no side `{name}`");
                Err(self.case.error_at(place.clone(), message, format!("its sides: {}", planes(dim).join(", "))))
            }
            None => Ok(places),
        }
    }

    /// Drops nodes without stiffness; an error if none is left.
    fn keep_solid(&self, mut nodes: Vec<u32>, place: Place, what: &str) -> Checked<Vec<u32>> {
        if nodes.is_empty() {
            let help = format!("none of its elements is of the body; {}", self.known_groups());
            return Err(self.case.error_at(place, format!("{what} is empty"), help));
        }
        nodes.retain(|&node| self.in_solid[node as usize]);
        match nodes.is_empty() {
            true => {
                let message = format!("{what} has no {}", self.words().solid);
                let help = format!("its nodes belong to no element of the groups of {}", self.words().bodies);
                Err(self.case.error_at(place, message, help))
            }
            false => Ok(nodes),
        }
    }

    pub fn unknown_group(&self, name: &str, place: Place) -> Box<CaseError> {
        let known = self.mesh.groups.iter().map(|group| group.name.as_str());
        let with_planes: Vec<&str> = known.chain(planes(self.mesh.dim()).iter().copied()).collect();
        let several: Vec<&str> = name.split(',').map(str::trim).collect();
        let help = match nearest(name, &with_planes) {
            _ if several.len() > 1 && several.iter().all(|name| with_planes.contains(name)) => {
                format!("several groups make a list: on = [\"{}\"]", several.join("\", \""))
            }
            Some(near) => format!("did you mean `{near}`? {}", self.known_groups()),
            None => self.known_groups(),
        };
        self.case.error_at(place, format!("{} has no group `{name}`", self.case.mesh_name()), help)
    }

    /// The names that supports and loads may be on.
    fn known_groups(&self) -> String {
        let known: Vec<&str> = self.mesh.groups.iter().map(|group| group.name.as_str()).collect();
        let groups = match known.is_empty() {
            true => "the mesh has no groups: make Physical Groups in Gmsh of what is held and loaded".into(),
            false => format!("groups: {}", list(&known)),
        };
        let last = planes(self.mesh.dim()).last().copied().unwrap_or_default();
        format!("{groups}; extreme planes: xmin .. {last}")
    }

    pub fn unknown_node(&self, tag: u64, place: Place) -> Box<CaseError> {
        let tags = &self.mesh.node_tags;
        let help = match (tags.iter().min(), tags.iter().max()) {
            (Some(low), Some(high)) => format!("its node tags run from {low} to {high}"),
            _ => String::new(),
        };
        self.case.error_at(place, format!("{} has no node {tag}", self.case.mesh_name()), help)
    }

    fn no_faces(&self, name: &str, place: Place) -> Box<CaseError> {
        let dim = self.mesh.group(name).map(|group| group.dim);
        let Words { solid, face, skin, .. } = self.words();
        let instead = self.case.analysis().keys().on_points;
        let why = match dim {
            Some(0) => format!("is a group of points and encloses no {face} of the {skin}{instead}"),
            Some(dim) if dim + 2 == self.mesh.dim() => {
                format!("is a group of curves and encloses no {face} of the {skin}; load a surface beside it")
            }
            Some(dim) if dim + 1 == self.mesh.dim() => format!("holds no {face} of a {solid}"),
            Some(_) => format!("has no {face} on the {skin} of the body"),
            None => format!("holds no {face} of the {skin}"),
        };
        self.case.error_at(place, format!("nothing to load: `{name}` {why}"), self.known_groups())
    }
}

/// Drops faces that an earlier group already brought, so that groups that overlap are loaded once.
fn drop_repeated(faces: &mut Vec<Face>) {
    let key = |face: &Face| {
        let mut nodes = face.nodes().to_vec();
        nodes.sort_unstable();
        nodes
    };
    faces.sort_by_cached_key(key);
    faces.dedup_by_key(|face| key(face));
}
