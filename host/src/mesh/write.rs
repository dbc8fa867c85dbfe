//! Writes MSH 4.1, ASCII or binary, with physical groups.
//!
//! Every set of groups that cells of one dimension share becomes an entity of that dimension, since in MSH 4.1 it is
//! entities that belong to groups.

use super::Mesh;
use std::collections::BTreeMap;

/// How the numbers of the file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As text that reads back to the same bits.
    Ascii,
    /// As little-endian bytes.
    Binary,
}

impl Form {
    /// What the case file and the command line call them.
    pub const NAMES: [&str; 2] = ["ascii", "binary"];

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Form::Ascii, Form::Binary].into_iter().zip(Self::NAMES).find(|(_, known)| *known == name).map(|(form, _)| form)
    }
}

/// Cells of one block that share their groups: (dimension, groups) -> (block, cells).
type Entities = BTreeMap<(usize, Vec<usize>), Vec<(usize, Vec<u32>)>>;

struct Out {
    bytes: Vec<u8>,
    form: Form,
}

impl Out {
    fn text(&mut self, text: &str) {
        self.bytes.extend(text.as_bytes());
    }

    fn number(&mut self, text: impl std::fmt::Display, bytes: &[u8]) {
        match self.form {
            Form::Ascii => self.text(&format!("{text} ")),
            Form::Binary => self.bytes.extend(bytes),
        }
    }

    fn int(&mut self, value: usize) {
        self.number(value, &(value as i32).to_le_bytes());
    }

    fn size(&mut self, value: u64) {
        self.number(value, &value.to_le_bytes());
    }

    fn point(&mut self, x: [f64; 3]) {
        x.iter().for_each(|c| self.number(format_args!("{c:?}"), &c.to_le_bytes()));
    }

    /// Ends a line of text; binary files have none.
    fn end(&mut self) {
        if self.form == Form::Ascii {
            self.text("\n");
        }
    }

    fn sizes(&mut self, values: &[u64]) {
        values.iter().for_each(|&value| self.size(value));
        self.end();
    }
}

/// The MSH 4.1 file of `mesh`, with its groups as physical groups.
pub fn to_bytes(mesh: &Mesh, form: Form) -> Vec<u8> {
    let mut out = Out { bytes: Vec::new(), form };
    out.text(&format!("$MeshFormat\n4.1 {} 8\n", u8::from(form == Form::Binary)));
    if form == Form::Binary {
        out.bytes.extend(1i32.to_le_bytes());
        out.text("\n");
    }
    out.text("$EndMeshFormat\n");
    let tags = physical_names(mesh, &mut out);
    let entities = entities(mesh);
    write_entities(mesh, &entities, &tags, &mut out);
    write_nodes(mesh, entities.len(), &mut out);
    write_elements(mesh, &entities, &mut out);
    out.bytes
}

/// Writes the names and returns each group's tag, counted within its dimension.
fn physical_names(mesh: &Mesh, out: &mut Out) -> Vec<usize> {
    let mut counts = [0; 4];
    let tags: Vec<usize> = mesh
        .groups
        .iter()
        .map(|group| {
            counts[group.dim] += 1;
            counts[group.dim]
        })
        .collect();
    out.text(&format!("$PhysicalNames\n{}\n", tags.len()));
    for (group, tag) in mesh.groups.iter().zip(&tags) {
        out.text(&format!("{} {tag} \"{}\"\n", group.dim, group.name));
    }
    out.text("$EndPhysicalNames\n");
    tags
}

fn entities(mesh: &Mesh) -> Entities {
    let mut entities = Entities::new();
    for (block, cells) in mesh.cells.iter().enumerate() {
        let mut of_cell = vec![0u32; cells.len()];
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        let mut ids: BTreeMap<(u32, usize), u32> = BTreeMap::new();
        for (g, group) in mesh.groups.iter().enumerate() {
            for &cell in group.members.iter().filter(|(b, _)| *b == block).flat_map(|(_, members)| members) {
                let set = &mut of_cell[cell as usize];
                *set = *ids.entry((*set, g)).or_insert_with(|| {
                    let wider = sets[*set as usize].iter().copied().chain([g]).collect();
                    sets.push(wider);
                    (sets.len() - 1) as u32
                });
            }
        }
        for (id, set) in sets.into_iter().enumerate() {
            let members: Vec<u32> = (0..cells.len() as u32).filter(|&c| of_cell[c as usize] == id as u32).collect();
            if !members.is_empty() {
                entities.entry((cells.kind.info().dim, set)).or_default().push((block, members));
            }
        }
    }
    entities
}

fn write_entities(mesh: &Mesh, entities: &Entities, tags: &[usize], out: &mut Out) {
    let (low, high) = mesh.extent();
    out.text("$Entities\n");
    let counts = [0, 1, 2, 3].map(|dim| entities.keys().filter(|(d, _)| *d == dim).count() as u64);
    out.sizes(&counts);
    for (entity, (dim, groups)) in entities.keys().enumerate() {
        out.int(entity + 1);
        out.point(low);
        if *dim > 0 {
            out.point(high);
        }
        out.size(groups.len() as u64);
        groups.iter().for_each(|&group| out.int(tags[group]));
        if *dim > 0 {
            out.size(0);
        }
        out.end();
    }
    out.text(if out.form == Form::Binary { "\n$EndEntities\n" } else { "$EndEntities\n" });
}

/// All nodes stand on the last entity, which is one of the solids.
fn write_nodes(mesh: &Mesh, last_entity: usize, out: &mut Out) {
    let n = mesh.coords.len() as u64;
    let tags = || mesh.node_tags.iter().copied();
    out.text("$Nodes\n");
    out.sizes(&[1, n, tags().min().unwrap_or(1), tags().max().unwrap_or(1)]);
    [mesh.dim(), last_entity, 0].into_iter().for_each(|value| out.int(value));
    out.sizes(&[n]);
    for &tag in &mesh.node_tags {
        out.sizes(&[tag]);
    }
    for &x in &mesh.coords {
        out.point(x);
        out.end();
    }
    out.text(if out.form == Form::Binary { "\n$EndNodes\n" } else { "$EndNodes\n" });
}

fn write_elements(mesh: &Mesh, entities: &Entities, out: &mut Out) {
    let tags = || mesh.cells.iter().flat_map(|cells| cells.tags.iter().copied());
    let blocks = entities.values().map(Vec::len).sum::<usize>() as u64;
    out.text("$Elements\n");
    out.sizes(&[blocks, tags().count() as u64, tags().min().unwrap_or(1), tags().max().unwrap_or(1)]);
    for (entity, ((dim, _), parts)) in entities.iter().enumerate() {
        for (block, members) in parts {
            let cells = &mesh.cells[*block];
            [*dim, entity + 1, cells.kind.info().gmsh as usize].into_iter().for_each(|value| out.int(value));
            out.sizes(&[members.len() as u64]);
            for &cell in members {
                out.size(cells.tags[cell as usize]);
                cells.cell(cell as usize).iter().for_each(|&node| out.size(mesh.node_tags[node as usize]));
                out.end();
            }
        }
    }
    out.text(if out.form == Form::Binary { "\n$EndElements\n" } else { "$EndElements\n" });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;

    #[test]
    fn what_is_written_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        for kind in [Hex8, Tet4] {
            let mut mesh = generate_box(kind, [1.0, 0.3, 1e-7], [3, 2, 2]).unwrap();
            mesh.groups.push(Group { name: "some of both".into(), dim: 2, members: vec![(1, vec![0, 3, 5, 9])] });
            for form in [Form::Ascii, Form::Binary] {
                let path = folder.path().join("box.msh");
                std::fs::write(&path, to_bytes(&mesh, form)).unwrap();
                let back = Mesh::read(&path).unwrap();
                assert_eq!((&back.coords, &back.node_tags), (&mesh.coords, &mesh.node_tags));
                assert_eq!(back.dim(), 3);
                for group in &mesh.groups {
                    assert_eq!(named(&back, &group.name), named(&mesh, &group.name), "{} {form:?}", group.name);
                }
                assert!(back.warnings.is_empty(), "{:?}", back.warnings);
            }
        }
    }

    fn named(mesh: &Mesh, name: &str) -> Vec<(u64, Vec<u32>)> {
        let members = &mesh.group(name).unwrap().members;
        let all = members.iter().flat_map(|(b, list)| list.iter().map(|&c| (&mesh.cells[*b], c as usize)));
        let mut cells: Vec<_> = all.map(|(cells, c)| (cells.tags[c], cells.cell(c).to_vec())).collect();
        cells.sort();
        cells
    }
}
