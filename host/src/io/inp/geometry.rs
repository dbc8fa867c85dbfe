//! Nodes, elements, sets and surfaces of a deck, and the mesh that they make.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::codes::{self, Family};
use super::fields::{Field, each_line, number};
use super::scope::{Scope, Scoped};
use super::sets::{self, Repeated, Sets};
use super::{Card, Deck, Mistake, Parameter, Place, Read};
use crate::element::ElementKind;
use crate::parallel::{self, PART};

/// A node's tag and coordinates.
type Node = (u64, [f64; 3]);
/// Those of a card, piece by piece.
type Nodes = Vec<Vec<Node>>;

/// Elements of one card, by tags of nodes.
#[derive(Debug, Clone)]
pub struct Block {
    /// Their type: `C3D20`.
    pub code: String,
    /// What they are, if they are of a body.
    pub solid: Option<(Family, ElementKind)>,
    /// Of each.
    pub n_nodes: usize,
    /// `[n]`.
    pub tags: Vec<u64>,
    /// In the deck's order, `[n][n_nodes]`, flat.
    pub nodes: Vec<u64>,
    /// The card.
    pub place: Place,
}

/// A named surface.
#[derive(Debug, Clone)]
pub enum Surface {
    /// Of nodes, by tag.
    Nodes(Vec<u64>),
    /// Of faces: an element's tag and the face's number, from 0.
    Faces(Vec<(u64, usize)>),
}

/// What a deck says of places.
#[derive(Debug, Clone, Default)]
pub struct Geometry {
    /// Ascending, each once.
    pub node_tags: Vec<u64>,
    /// `[n_nodes]`.
    pub coords: Vec<[f64; 3]>,
    /// In the deck's order.
    pub blocks: Vec<Block>,
    /// By names in upper case.
    pub node_sets: Sets,
    /// By names in upper case.
    pub element_sets: Sets,
    repeated_nodes: Repeated,
    repeated_elements: Repeated,
    /// By names in upper case.
    pub surfaces: BTreeMap<String, Surface>,
    /// Tags of elements, ascending, with block and number.
    elements: Vec<(u64, u32, u32)>,
    /// Instances of parts.
    scopes: Vec<Scope>,
    /// That whose cards are read.
    scope: Option<usize>,
}

impl Geometry {
    /// Reads it from a deck's cards.
    ///
    /// # Errors
    ///
    /// The first mistake in nodes, elements, sets or surfaces.
    pub fn of(deck: &Deck, scoped: &Scoped) -> Read<Geometry> {
        let mut all = Geometry { scopes: scoped.scopes.clone(), ..Geometry::default() };
        let cards = || scoped.cards.iter().map(|(card, scope)| (&deck.cards[*card], *scope));
        let mut nodes = Vec::new();
        for (card, scope) in cards().filter(|(card, _)| defines_nodes(card)) {
            all.enter(scope);
            let more =
                if card.name == "NODE" { all.read_nodes(deck, card) } else { all.nodes_between(deck, card, &nodes) };
            nodes.push(more?);
        }
        all.take_nodes(&nodes);
        for (card, scope) in cards().filter(|(card, _)| card.name == "ELEMENT") {
            all.enter(scope);
            all.read_elements(deck, card)?;
        }
        all.index_elements()?;
        // Sets and surfaces may name those before them alone.
        let mut tables = nodes.iter();
        for (card, scope) in cards() {
            all.enter(scope);
            // A set of an assembly may be of one instance.
            if let Some(name) = card.word("INSTANCE").filter(|_| card.name != "INSTANCE") {
                all.scope = all.scopes.iter().position(|scope| scope.name == name);
            }
            match card.name.as_str() {
                _ if defines_nodes(card) => {
                    let tags = tables.next().into_iter().flatten().flatten().map(|(tag, _)| *tag);
                    if let Some(name) = card.word("NSET") {
                        let name = scoped_name(&all, scope, &name);
                        sets::extend(&mut all.node_sets, &mut all.repeated_nodes, &name, tags);
                    }
                }
                "NSET" => all.read_node_set(deck, card, scope)?,
                "ELSET" => {
                    let name = scoped_name(&all, scope, &card.required("ELSET")?.0);
                    let tags = sets::read(deck, card, "element", &|field| all.elements(field), &|a, b| {
                        all.between(&all.elements, |one| one.0, a, b)
                    })?;
                    sets::extend(&mut all.element_sets, &mut all.repeated_elements, &name, tags);
                }
                "SURFACE" => all.read_surface(deck, card, scope)?,
                _ => {}
            }
        }
        all.enter(None);
        Ok(all)
    }

    /// Makes plane elements beside solids no bodies unless they are among these: a mesher has left them of surfaces.
    pub fn drop_surfaces(&mut self, of_bodies: &HashSet<u64>) {
        let is_solid = |block: &Block| block.solid.is_some_and(|(family, _)| family == Family::Solid);
        if !self.blocks.iter().any(is_solid) {
            return;
        }
        let left = self
            .blocks
            .iter_mut()
            .filter(|block| !is_solid(block) && !block.tags.iter().any(|tag| of_bodies.contains(tag)));
        left.for_each(|block| block.solid = None);
    }

    /// Names and tags that follow are of an instance, or of the whole.
    pub fn enter(&mut self, scope: Option<usize>) {
        self.scope = scope;
    }

    /// A name as the sets of the scope are called.
    pub fn scoped(&self, name: &str) -> String {
        scoped_name(self, self.scope, name)
    }

    /// A tag of the scope as the mesh has it.
    fn of_scope(&self, tag: u64) -> u64 {
        tag.saturating_add(self.scope.map_or(0, |scope| self.scopes[scope].offset))
    }

    /// The offset of the scope, and which of these own tags there are from one tag of the scope to another.
    fn between<T>(&self, all: &[T], tag: impl Fn(&T) -> u64, first: u64, last: u64) -> (u64, Vec<u64>) {
        let offset = self.of_scope(0);
        let [from, to] = [first, last].map(|tag| tag.saturating_add(offset));
        let start = all.partition_point(|one| tag(one) < from);
        let end = all.partition_point(|one| tag(one) <= to);
        (offset, all[start..end].iter().map(tag).collect())
    }

    /// The tag that a field is, `17` or `instance.17`.
    fn tag_of(&self, field: &Field<'_>) -> Option<u64> {
        match field.text.rsplit_once('.') {
            Some((instance, tag)) if self.scope.is_none() => {
                let scope = self.scopes.iter().find(|scope| scope.name == instance.trim_matches('"').to_uppercase())?;
                Some(tag.parse::<u64>().ok()?.saturating_add(scope.offset))
            }
            _ => field.tag().map(|tag| self.of_scope(tag)),
        }
    }

    /// The set of a name: of the scope, or of the whole.
    pub fn set_of<'a>(&self, name: &str, sets: &'a Sets) -> Option<&'a Vec<u64>> {
        sets.get(&self.scoped(name)).or_else(|| sets.get(name))
    }

    /// Of nodes that are there twice the later one counts.
    fn take_nodes(&mut self, cards: &[Nodes]) {
        let mut all: Vec<Node> = cards.iter().flatten().flatten().copied().collect();
        if !all.is_sorted_by(|a, b| a.0 < b.0) {
            all.sort_by_key(|(tag, _)| *tag);
            all.reverse();
            all.dedup_by_key(|(tag, _)| *tag);
            all.reverse();
        }
        (self.node_tags, self.coords) = all.into_iter().unzip();
    }

    fn read_elements(&mut self, deck: &Deck, card: &Card) -> Read {
        let (code, place) = card.required("TYPE")?;
        let solid = codes::solid(&code);
        let Some(n_nodes) = solid.map(|(_, kind)| kind.info().n_nodes).or_else(|| codes::other(&code)) else {
            let (message, help) = codes::refusal(&code);
            return Err(Mistake::at(place, message, help));
        };
        let (mut tags, mut nodes) = rows(deck, card, &code, n_nodes)?;
        if self.scope.is_some() {
            tags.iter_mut().chain(&mut nodes).for_each(|tag| *tag = self.of_scope(*tag));
        }
        if let Some(name) = card.word("ELSET") {
            let name = self.scoped(&name);
            sets::extend(&mut self.element_sets, &mut self.repeated_elements, &name, tags.iter().copied());
        }
        self.blocks.push(Block { code, solid, n_nodes, tags, nodes, place: card.place.clone() });
        Ok(())
    }

    fn index_elements(&mut self) -> Read {
        let numbered = self.blocks.iter().zip(0..).flat_map(|(block, b)| {
            let tags = block.tags.iter().zip(0..);
            tags.map(move |(tag, i)| (*tag, b, i))
        });
        let mut elements: Vec<(u64, u32, u32)> = numbered.collect();
        elements.sort_unstable();
        if let Some(pair) = elements.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let (tag, block, _) = pair[1];
            let place = self.blocks[block as usize].place.clone();
            return Err(Mistake::at(place, format!("element {tag} is there twice"), "give every element its own tag"));
        }
        self.elements = elements;
        for block in &self.blocks {
            let missing = |at: usize| self.node(block.nodes[at]).is_none();
            let found = parallel::map_ranges(block.nodes.len(), PART, &|mut part| part.find(|at| missing(*at)));
            if let Some(at) = found.into_iter().flatten().next() {
                let (tag, element) = (block.nodes[at], block.tags[at / block.n_nodes]);
                let message = format!("element {element} has node {tag}, which is not there");
                return Err(Mistake::at(block.place.clone(), message, "define the node with *NODE"));
            }
        }
        Ok(())
    }

    fn read_node_set(&mut self, deck: &Deck, card: &Card, own: Option<usize>) -> Read {
        let name = scoped_name(self, own, &card.required("NSET")?.0);
        let tags = match card.parameter("ELSET") {
            // The nodes of elements.
            Some(Parameter { value, place, .. }) => {
                let text = value.as_deref().unwrap_or_default();
                self.nodes_of_elements(&self.elements(&Field { text, place: place.clone() })?)
            }
            None => sets::read(deck, card, "node", &|field| self.nodes(field), &|a, b| {
                self.between(&self.node_tags, |tag| *tag, a, b)
            })?,
        };
        sets::extend(&mut self.node_sets, &mut self.repeated_nodes, &name, tags);
        Ok(())
    }

    fn nodes_of_elements(&self, tags: &[u64]) -> Vec<u64> {
        let of = |tag: &u64| self.element(*tag).map_or(&[][..], |(block, i)| block.element(i));
        tags.iter().flat_map(of).copied().collect()
    }

    fn read_surface(&mut self, deck: &Deck, card: &Card, own: Option<usize>) -> Read {
        let name = scoped_name(self, own, &card.required("NAME")?.0);
        let of_nodes = card.word("TYPE").is_some_and(|kind| kind == "NODE");
        let (mut nodes, mut faces) = (Vec::new(), Vec::new());
        for line in deck.lines(card) {
            let fields = line.fields();
            match (of_nodes, fields.get(1)) {
                (true, _) => nodes.extend(self.nodes(&fields[0])?),
                (false, Some(side)) => {
                    for element in self.elements(&fields[0])? {
                        faces.push((element, self.face_of(element, side, 'S')?));
                    }
                }
                (false, None) => {
                    let help = "10, S3 is the third face of element 10; several elements are a set: SKIN, S3";
                    return Err(Mistake::at(line.place, "which faces are meant?", help));
                }
            }
        }
        let surface = if of_nodes { Surface::Nodes(nodes) } else { Surface::Faces(faces) };
        self.surfaces.insert(name, surface);
        Ok(())
    }

    /// The number, from 0, of the face that a word such as `S3` or `P3` names.
    ///
    /// # Errors
    ///
    /// The element has no such face.
    pub fn face_of(&self, element: u64, word: &Field<'_>, letter: char) -> Read<usize> {
        let kind = self.element(element).and_then(|(block, _)| block.solid);
        let n_faces = kind.map_or(0, |(_, kind)| codes::faces(kind.info().domain).len());
        let number = word.name().strip_prefix(letter).and_then(|number| number.parse::<usize>().ok());
        match number.filter(|number| (1..=n_faces).contains(number)) {
            Some(number) => Ok(number - 1),
            None => {
                let message = format!("element {element} has no face {}", word.text);
                Err(Mistake::at(word.place.clone(), message, format!("its faces are {letter}1 to {letter}{n_faces}")))
            }
        }
    }

    /// Whether elements of bodies have each node, `[n_nodes]`.
    pub fn in_bodies(&self) -> Vec<bool> {
        let mut found = vec![false; self.node_tags.len()];
        let of_bodies = self.blocks.iter().filter(|block| block.solid.is_some()).flat_map(|block| &block.nodes);
        of_bodies.filter_map(|tag| self.node(*tag)).for_each(|node| found[node] = true);
        found
    }

    /// The nodes of an element in the order that its kind has; decks have VTK's.
    pub fn ordered(&self, block: &Block, kind: ElementKind, i: usize) -> Vec<u64> {
        let listed = block.element(i);
        let mut nodes = listed.to_vec();
        kind.info().vtk_order.iter().zip(listed).for_each(|(place, node)| nodes[*place] = *node);
        nodes
    }

    /// The nodes of a surface, ascending.
    pub fn nodes_of(&self, surface: &Surface) -> Vec<u64> {
        let mut nodes = match surface {
            Surface::Nodes(nodes) => nodes.clone(),
            Surface::Faces(faces) => faces
                .iter()
                .filter_map(|(element, face)| self.side(*element, *face))
                .flat_map(|(_, nodes)| nodes)
                .collect(),
        };
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The kind of a face and its nodes, the normal out of the element.
    pub fn side(&self, element: u64, face: usize) -> Option<(ElementKind, Vec<u64>)> {
        let (block, i) = self.element(element)?;
        let (_, kind) = block.solid?;
        let (corners, nodes) = (codes::faces(kind.info().domain).get(face)?, self.ordered(block, kind, i));
        let is_it = |own: &[usize]| own.len() == corners.len() && own.iter().all(|k| corners.contains(k));
        let (side, own) = kind.faces().iter().find(|(side, own)| is_it(&own[..side.info().n_corners]))?;
        Some((*side, own.iter().map(|&k| nodes[k]).collect()))
    }

    /// Where a node is in the list.
    pub fn node(&self, tag: u64) -> Option<usize> {
        // Mostly they are numbered without gaps.
        let guess = tag.wrapping_sub(*self.node_tags.first()?) as usize;
        match self.node_tags.get(guess) == Some(&tag) {
            true => Some(guess),
            false => self.node_tags.binary_search(&tag).ok(),
        }
    }

    /// The block of an element, and its number there.
    pub fn element(&self, tag: u64) -> Option<(&Block, usize)> {
        self.place_of_element(tag).map(|(block, i)| (&self.blocks[block], i))
    }

    /// The number of an element's block, and its own there.
    pub fn place_of_element(&self, tag: u64) -> Option<(usize, usize)> {
        let at = self.elements.binary_search_by_key(&tag, |(tag, ..)| *tag).ok()?;
        let (_, block, i) = self.elements[at];
        Some((block as usize, i as usize))
    }

    /// The nodes that a field names: one by its tag, or a set.
    ///
    /// # Errors
    ///
    /// There are none.
    pub fn nodes(&self, field: &Field<'_>) -> Read<Vec<u64>> {
        match (self.tag_of(field), self.set_of(&field.name(), &self.node_sets)) {
            (Some(tag), _) if self.node(tag).is_some() => Ok(vec![tag]),
            (None, Some(set)) => Ok(set.clone()),
            (None, None) if self.set_of(&field.name(), &self.element_sets).is_some() => {
                let message = format!("{} is a set of elements, and nodes are meant here", field.text);
                Err(Mistake::at(field.place.clone(), message, "*NSET, NSET=.., ELSET=.. makes a set of their nodes"))
            }
            (tag, _) => Err(unknown(field, tag.map(|_| "node").unwrap_or("node set"), &self.node_sets)),
        }
    }

    /// The elements that a field names: one by its tag, or a set.
    ///
    /// # Errors
    ///
    /// There are none.
    pub fn elements(&self, field: &Field<'_>) -> Read<Vec<u64>> {
        match (self.tag_of(field), self.set_of(&field.name(), &self.element_sets)) {
            (Some(tag), _) if self.element(tag).is_some() => Ok(vec![tag]),
            (None, Some(set)) => Ok(set.clone()),
            (tag, _) => Err(unknown(field, tag.map(|_| "element").unwrap_or("element set"), &self.element_sets)),
        }
    }
}

impl Geometry {
    /// As [`Geometry::nodes`], for loads: on a node that a set lists twice CalculiX puts them twice.
    ///
    /// # Errors
    ///
    /// A set lists a node twice.
    pub fn nodes_once(&self, field: &Field<'_>) -> Read<Vec<u64>> {
        self.once(field, "node", &self.repeated_nodes)?;
        self.nodes(field)
    }

    /// As [`Geometry::elements`], for loads.
    ///
    /// # Errors
    ///
    /// A set lists an element twice.
    pub fn elements_once(&self, field: &Field<'_>) -> Read<Vec<u64>> {
        self.once(field, "element", &self.repeated_elements)?;
        self.elements(field)
    }

    fn once(&self, field: &Field<'_>, what: &str, repeated: &Repeated) -> Read {
        let name = field.name();
        match repeated.get(&self.scoped(&name)).or_else(|| repeated.get(&name)) {
            Some(tag) if self.tag_of(field).is_none() => {
                let message = format!("the set {} lists {what} {tag} twice: is it loaded twice?", field.text);
                Err(Mistake::at(field.place.clone(), message, format!("list each {what} once")))
            }
            _ => Ok(()),
        }
    }
}

impl Block {
    /// The nodes of an element.
    pub fn element(&self, i: usize) -> &[u64] {
        &self.nodes[i * self.n_nodes..(i + 1) * self.n_nodes]
    }
}

/// The mistake of a name or a tag that there is not.
pub fn unknown<T>(field: &Field<'_>, what: &str, known: &BTreeMap<String, T>) -> Box<Mistake> {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let help = match names.is_empty() || field.tag().is_some() {
        true => String::new(),
        false => format!("there are: {}", names.join(", ")),
    };
    Mistake::at(field.place.clone(), format!("there is no {what} {}", field.text), help)
}

/// A name as the sets of a scope are called.
fn scoped_name(geometry: &Geometry, scope: Option<usize>, name: &str) -> String {
    scope.map_or_else(|| name.to_string(), |scope| format!("{}.{name}", geometry.scopes[scope].name))
}

impl Geometry {
    fn read_nodes(&self, deck: &Deck, card: &Card) -> Read<Nodes> {
        let scope = self.scope.map(|scope| &self.scopes[scope]);
        each_line(&deck.listing.text, card.data.clone(), |line, found| {
            let mut fields = line.text.split(',').map(str::trim);
            let tag = fields.next().and_then(|tag| tag.parse().ok());
            let mut at = || match fields.next() {
                None | Some("") => Some(0.0),
                Some(text) => number(text),
            };
            match (tag, [at(), at(), at()]) {
                (Some(tag), [Some(x), Some(y), Some(z)]) => found.push(match scope {
                    Some(scope) => (u64::saturating_add(tag, scope.offset), scope.place([x, y, z])),
                    None => (tag, [x, y, z]),
                }),
                _ => {
                    let help = "a line of *NODE is: 17, 0.5, 0.0, 2.0";
                    return Err(Mistake::at(line.place, "this is no tag with three coordinates", help));
                }
            }
            Ok(())
        })
    }
}

/// Most nodes that a line of `*NGEN` makes: more are a slip.
const MOST_BETWEEN: u64 = 1 << 24;

impl Geometry {
    /// The nodes of `*NGEN`: on straight lines between two of those before it, `first, last, step`.
    fn nodes_between(&self, deck: &Deck, card: &Card, before: &[Nodes]) -> Read<Nodes> {
        if let Some(line) = card.parameter("LINE") {
            let message = "nodes on curves are not generated";
            return Err(Mistake::at(line.place.clone(), message, "*NGEN without LINE, or *NODE"));
        }
        let known: HashMap<u64, [f64; 3]> = before.iter().flatten().flatten().copied().collect();
        let mut found = Vec::new();
        for line in deck.lines(card) {
            let fields = line.fields();
            let [Some(first), Some(last)] = [0, 1].map(|i| fields.get(i)) else {
                return Err(Mistake::at(line.place, "*NGEN needs a first and a last node", "1, 261, 10"));
            };
            let end = |field: &Field<'_>| {
                let tag = self.of_scope(field.integer()?);
                let x = known.get(&tag).ok_or_else(|| unknown(field, "node", &self.node_sets))?;
                Ok::<_, Box<Mistake>>((tag, *x))
            };
            let ((first, from), (last, to)) = (end(first)?, end(last)?);
            let step = fields.get(2).map_or(Ok(1), |step| step.integer())?;
            if first >= last || step == 0 || (last - first) % step != 0 || (last - first) / step > MOST_BETWEEN {
                let message = "this is no range of nodes";
                return Err(Mistake::at(
                    line.place,
                    message,
                    "first, last, step; the last is the first and some steps",
                ));
            }
            let n = (last - first) / step;
            // With both ends: they are of the card's set too.
            found.extend((0..=n).map(|i| {
                let share = i as f64 / n as f64;
                (first + i * step, [0, 1, 2].map(|c| (1.0 - share) * from[c] + share * to[c]))
            }));
        }
        Ok(vec![found])
    }
}

/// Whether a card defines nodes.
fn defines_nodes(card: &Card) -> bool {
    card.name == "NODE" || card.name == "NGEN"
}

/// Behind the numbers of a line.
const LINE_END: u64 = u64::MAX;

/// The tags of a card's elements, and their nodes.
fn rows(deck: &Deck, card: &Card, code: &str, n_nodes: usize) -> Read<(Vec<u64>, Vec<u64>)> {
    let numbers = each_line(&deck.listing.text, card.data.clone(), |line, found| {
        for text in line.text.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            match text.parse() {
                Ok(LINE_END) | Err(_) => {
                    return Err(Mistake::at(line.place, format!("`{text}` is no tag"), "tags are written 17"));
                }
                Ok(tag) => found.push(tag),
            }
        }
        found.push(LINE_END);
        Ok(())
    })?;
    let total: usize = numbers.iter().map(Vec::len).sum();
    let (mut tags, mut nodes) = (Vec::with_capacity(total / (n_nodes + 1)), Vec::with_capacity(total));
    let (mut count, mut n_lines) = (0, 0);
    let wrong = |line: usize, count: usize| {
        let place = deck.lines(card).nth(line).map_or(card.place.clone(), |line| line.place);
        let message = format!("an element {code} has {n_nodes} nodes, and this one {}", count.saturating_sub(1));
        Mistake::at(place, message, "the element's tag comes first; it may go on on the next line")
    };
    // What is read of a piece of the text is let go with it.
    for number in numbers.into_iter().flatten() {
        match number {
            LINE_END if count > n_nodes + 1 => return Err(wrong(n_lines, count)),
            LINE_END => {
                n_lines += 1;
                count = if count == n_nodes + 1 { 0 } else { count };
            }
            tag => {
                count += 1;
                if count == 1 { tags.push(tag) } else { nodes.push(tag) }
            }
        }
    }
    if count != 0 { Err(wrong(n_lines.saturating_sub(1), count)) } else { Ok((tags, nodes)) }
}
