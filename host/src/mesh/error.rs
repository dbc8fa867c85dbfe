//! What can be wrong with a mesh.

use std::path::{Path, PathBuf};

use warpfem_text::{count, point, some};

const SHOWN: &str = "Tools > Visibility > Numeric in Gmsh shows an element by its tag";
/// What Gmsh leaves out.
const SAVES_GROUPS: &str =
    "once a file has physical groups, Gmsh saves only elements in a group (or all, with Mesh.SaveAll = 1)";
/// How a surface becomes a body.
const OF_SURFACE: &str = "if there is nothing but a closed surface, as of an STL, these lines in a file body.geo make \
     a volume of it, and keep its groups (gmsh -3 body.geo -o body.msh):
  Merge \"surface.msh\"; // this mesh
  Surface Loop(1) = Surface{:};
  Volume(1) = {1};
  Physical Volume(\"body\") = {1};";
const TAGS_SHOWN: usize = 10;

/// What can be wrong with a mesh, with the place.
///
/// Elements and nodes are named by the file's tags.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum MeshError {
    /// Something is wrong in this file; [`MeshError::root`] says what.
    #[error("{}: {}", path.display(), in_file(path, source))]
    InFile { path: PathBuf, source: Box<MeshError> },
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// There is no such file, or it is none.
    #[error("{why}\nhelp: {instead}")]
    NoFile { why: String, instead: String },
    /// The file does not begin like a MSH file: what it seems to be instead, and what to do with that.
    #[error("{}", not_msh(*.0, Path::new("FILE")))]
    NotMsh(Option<(&'static str, &'static str)>),
    /// A version of the MSH format that is not read.
    #[error("MSH format {0} is not supported; save it as 4.1 or 2.2 (gmsh -format msh41)")]
    Version(String),
    /// The file ends, or a section ends, before all it announces has come.
    #[error(
        "the file is truncated: section ${section} ended early ({detail})\nhelp: writing or copying it \
         was cut short: save or copy it again"
    )]
    Truncated {
        /// The section, without the dollar.
        section: String,
        detail: String,
    },
    /// A section holds something that the format does not allow.
    #[error("section ${section} is malformed: {detail}")]
    Malformed {
        /// The section, without the dollar.
        section: String,
        detail: String,
    },
    /// There are no elements of two or three dimensions.
    #[error(
        "the mesh holds no elements to solve on (no triangles, quadrangles, tetrahedra or hexahedra)\nhelp: mesh the \
         volume of a body (gmsh -3), or a plate in the x-y plane (gmsh -2); {SAVES_GROUPS}"
    )]
    NoElements,
    /// A surface mesh of a body whose volume is missing.
    #[error("{}", no_volume(*.faces, [*.has_volume, *.grouped, *.is_closed]))]
    NoVolume {
        faces: usize,
        has_volume: bool,
        /// Whether the file has physical groups, so that Gmsh left out what is in none.
        grouped: bool,
        is_closed: bool,
    },
    /// A flat mesh in another plane than one of constant z.
    #[error(
        "the mesh is flat, but not in a plane z = constant, as plane problems are\nhelp: rotate the geometry before \
         meshing (in Gmsh: Rotate); for a body in space mesh its volume"
    )]
    Tilted,
    /// A surface in space that encloses nothing, of a file without volumes and groups.
    #[error(
        "the mesh is an open surface in space, without a volume: shells are not supported\nhelp: mesh the volume of a body (gmsh -3)"
    )]
    Shell,
    /// An element of a type that is not supported; `at` is the mean of its nodes, as far as they are known.
    #[error(
        "element {element} is of type {name} (Gmsh type {code}), which is not supported{}{}\nsupported are {}\nhelp: {}",
        also_of_such(*.more),
        whereabouts(.at, .group),
        supported(),
        instead(name)
    )]
    UnknownKind {
        element: u64,
        name: String,
        code: i64,
        at: Option<[f64; 3]>,
        group: Option<String>,
        /// How many more there are that are not supported, of any type.
        more: usize,
    },
    /// The node of this tag has a coordinate that is no number, or infinite.
    #[error("node {0} has a coordinate that is not a finite number")]
    NonFinite(u64),
    /// A mesh too large or too small to compute with.
    #[error(
        "the mesh is {size:e} long and reaches as far as {farthest:e}, which cannot be computed with\nhelp: choose another \
         unit of length, in which both lie between {:e} and {:e}",
        super::LENGTHS.start(), super::LENGTHS.end()
    )]
    Extent { size: f64, farthest: f64 },
    /// An element names a node that the file does not define.
    #[error("element {element} refers to node {node}, which the file does not define")]
    MissingNode { element: u64, node: u64 },
    /// A group of arrays names something that is not there.
    #[error("group `{group}` has number {member} of {n} {what}: numbers begin with 0")]
    NoMember { group: String, what: &'static str, member: u64, n: usize },
    /// Two nodes have this tag.
    #[error("node tag {0} is defined more than once")]
    DuplicateNode(u64),
    /// Two different elements have this tag.
    #[error("element tag {0} is used by more than one element")]
    DuplicateElement(u64),
    /// An element without volume (or area).
    #[error(
        "element {element} ({kind}) near {at} is degenerate: its {} beside the {} of its edges\nhelp: look there \
         for parts of the geometry that nearly touch, heal or remove them, and mesh again; {SHOWN}",
        if .at.dim == 2 { "area is zero" } else { "volume is zero" }, if .at.dim == 2 { "square" } else { "cube" }
    )]
    Degenerate { element: u64, kind: &'static str, at: Place },
    /// An element whose Jacobian changes its sign inside.
    #[error(
        "element {element} ({kind}) is tangled, that is folded or inside out, near {at}: its Jacobian is not positive \
         everywhere. Is a node misplaced?\nhelp: {}mesh again, finer there; `warpfem info MESH` lists all such elements; \
         {SHOWN}",
        untangle(kind)
    )]
    Distorted { element: u64, kind: &'static str, at: Place },
    /// Several things of one kind are wrong with elements.
    #[error("{first}\n{} bad too: {}", also(.more.len()), some(.more, TAGS_SHOWN))]
    Several { first: Box<MeshError>, more: Vec<u64> },
    /// Two elements on the same side of the face they share.
    #[error(
        "the mesh overlaps itself: elements {element} and {other} lie on the same side of the face they share \
         (is a node misplaced?)\nhelp: remove what overlaps in the geometry (in Gmsh: Coherence, or BooleanFragments), and \
         mesh again"
    )]
    Tangled {
        /// Tag of the element that is inverted, where one is.
        element: u64,
        other: u64,
    },
    /// Two elements, by their tags, with the same nodes.
    #[error(
        "elements {} and {} have the same nodes: one element is there twice\nhelp: remove one of them (in Gmsh: Mesh > \
         Delete > Duplicate nodes and elements), or save each volume once",
        .0[0], .0[1]
    )]
    Repeated([u64; 2]),
    /// Sides of elements that do not match: nodes on sides of elements that do not have them, or triangles against
    /// quadrilaterals.
    #[error(
        "{}\nhelp: let the elements on both sides share their nodes and sides: in Gmsh join the geometry \
         (BooleanFragments, or Coherence), and mesh it again, with elements of one order; `allow_hanging = true` in \
         [mesh] solves it as it is",
        hanging(*.nodes, *.sides, *.node, *.element, .at)
    )]
    Hanging {
        nodes: usize,
        /// How many sides have triangles against a quadrilateral, on either hand.
        sides: usize,
        /// Tag of the first node that hangs; of a node of such a side, if none hangs.
        node: u64,
        element: u64,
        at: Place,
    },
    /// Two elements, by their tags, that share the corners of a face, but not the nodes between them.
    #[error(
        "elements {} and {} share the corners of a face but not the nodes on its edges: the mesh has a gap there \
         (elements of first and of second order side by side?)",
        .0[0], .0[1]
    )]
    Unmatched([u64; 2]),
    /// A face that three or more elements share: the tags of three.
    #[error(
        "elements {}, {} and {} share one face: the mesh overlaps itself\nhelp: is a volume meshed or saved twice?",
        .0[0], .0[1], .0[2]
    )]
    OvershareFace([u64; 3]),
    /// More nodes or elements than 32-bit indices reach.
    #[error("the mesh has {count} {what}; at most {} are supported", u32::MAX - 1)]
    TooLarge { what: &'static str, count: u128 },
    /// A mesh that cannot be generated.
    #[error("cannot generate this mesh: {0}")]
    Generate(String),
}

impl MeshError {
    /// The error itself, without the file it is in.
    pub fn root(&self) -> &MeshError {
        match self {
            MeshError::InFile { source, .. } => source.root(),
            MeshError::Several { first, .. } => first.root(),
            other => other,
        }
    }

    /// The first of what is wrong with elements, with the tags of the others; nothing if nothing is.
    pub fn of_elements(bad: Vec<MeshError>) -> Result<(), MeshError> {
        let mut bad = bad.into_iter();
        let Some(first) = bad.next() else { return Ok(()) };
        // An element may be bad at several of its faces.
        let others = bad.filter_map(|error| error.element());
        let mut more: Vec<u64> = others.filter(|other| Some(*other) != first.element()).collect();
        more.sort_unstable();
        more.dedup();
        match more.is_empty() {
            true => Err(first),
            false => Err(MeshError::Several { first: Box::new(first), more }),
        }
    }

    /// What is wrong with an element in a word, with its tag and where it is, if this is about one by itself.
    pub fn of_element(&self) -> Option<(u64, &'static str, Place)> {
        match *self {
            MeshError::Degenerate { element, at, .. } => Some((element, "flat", at)),
            MeshError::Distorted { element, at, .. } => Some((element, "tangled", at)),
            _ => None,
        }
    }

    /// The tag of the element, or of the first of several, that this is about.
    fn element(&self) -> Option<u64> {
        match self {
            MeshError::Degenerate { element, .. }
            | MeshError::Distorted { element, .. }
            | MeshError::Tangled { element, .. } => Some(*element),
            MeshError::Unmatched(elements) | MeshError::Repeated(elements) => Some(elements[0]),
            MeshError::OvershareFace(elements) => Some(elements[0]),
            _ => None,
        }
    }
}

/// Where an element is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The mean of its nodes.
    pub middle: [f64; 3],
    /// Its dimension.
    pub dim: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&point(self.middle, self.dim))
    }
}

fn hanging(nodes: usize, sides: usize, node: u64, element: u64, at: &Place) -> String {
    match nodes {
        0 => format!(
            "{} sides of elements do not match, quadrilaterals against triangles, so the mesh has gaps there; the first \
             is of element {element}, near {at}",
            count(sides)
        ),
        1 => format!(
            "1 node hangs: node {node} at {at} lies on a side of element {element}, which does not have it, so the mesh \
             has a gap there"
        ),
        n => format!(
            "{} nodes hang: they lie on sides of elements that do not have them, so the mesh has gaps there; the first \
             is node {node} at {at}, on a side of element {element}",
            count(n)
        ),
    }
}

fn also(count: usize) -> String {
    if count == 1 { "1 more element is".to_string() } else { format!("{count} more elements are") }
}

/// What Gmsh does about elements whose sides it has bent through each other; those of first order have none.
fn untangle(kind: &str) -> &'static str {
    let kind = crate::element::ElementKind::ALL.iter().find(|known| known.info().name == kind);
    match kind.is_none_or(|kind| !kind.info().is_quadratic()) {
        true => "let Gmsh optimise the mesh (option Mesh.Optimize, 1), or ",
        false => {
            "set one of Gmsh's options, Mesh.SecondOrderLinear to 1 (straight sides) or Mesh.HighOrderOptimize to 1 (curved \
             ones, mended), and mesh again; or "
        }
    }
}

fn in_file(path: &Path, source: &MeshError) -> String {
    match source {
        MeshError::NotMsh(looks_like) => not_msh(*looks_like, path),
        other => other.to_string(),
    }
}

fn not_msh(looks_like: Option<(&str, &str)>, path: &Path) -> String {
    let (seems, next) = match looks_like {
        Some((what, next)) => (format!(" (it looks like {what})"), next),
        None => (String::new(), "in Gmsh: File > Export, with the ending .msh"),
    };
    format!(
        "this is not a Gmsh mesh (MSH) file: it does not begin with $MeshFormat{seems}\nhelp: {}",
        super::gmsh::foreign::named(next, path)
    )
}

fn no_volume(faces: usize, [has_volume, grouped, is_closed]: [bool; 3]) -> String {
    let what = match faces {
        0 => "no elements of the body".to_string(),
        n if is_closed => format!("only the surface of a body, {} faces", count(n)),
        n => format!("only an open surface, {} faces (shells are not supported)", count(n)),
    };
    let group = format!("`Physical Volume(\"body\") = {{1}};`, as {SAVES_GROUPS}");
    let help = match (has_volume, grouped) {
        (true, true) => format!("put the volume in a group too, {group}; then mesh again (gmsh -3)"),
        (true, false) => "mesh the volume too (gmsh -3)".to_string(),
        (false, true) => format!("if the geometry has a volume, put it in a group too, {group};\n{OF_SURFACE}"),
        (false, false) => format!("if the geometry has a volume, mesh it too (gmsh -3);\n{OF_SURFACE}"),
    };
    format!("there is no volume to solve: the mesh holds {what}\nhelp: {help}")
}

fn whereabouts(at: &Option<[f64; 3]>, group: &Option<String>) -> String {
    let at = at.map_or(String::new(), |at| format!("; it is near {}", point(at, 3)));
    let group = group.as_ref().map_or(String::new(), |group| format!(" in group `{group}`"));
    if at.is_empty() && !group.is_empty() { format!("; it is{group}") } else { at + &group }
}

fn also_of_such(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => ", as 1 more element is".into(),
        more => format!(", as {} more elements are", count(more)),
    }
}

/// How to get a mesh of supported elements instead.
fn instead(name: &str) -> &'static str {
    match name {
        "quad9" | "hex27" => "Mesh.SecondOrderIncomplete = 1 in Gmsh gives quad8 and hex20 instead",
        "wedge18" | "pyramid14" => "Mesh.SecondOrderIncomplete = 1 in Gmsh gives wedge15 and pyramid13 instead",
        _ => "elements of order 3 and above: save the mesh with gmsh -order 2",
    }
}

fn supported() -> String {
    let names: Vec<_> = crate::element::ElementKind::ALL.iter().map(|kind| kind.info().name).collect();
    names.join(", ")
}
