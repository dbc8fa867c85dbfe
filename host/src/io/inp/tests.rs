use super::codes::{Family, faces, points, solid};
use super::*;
use crate::element::ElementKind;
use std::path::Path;

fn deck(text: &str) -> Deck {
    Deck::parse(Path::new("part.inp"), text.as_bytes()).unwrap()
}

fn geometry(text: &str) -> Read<Geometry> {
    let deck = deck(text);
    Geometry::of(&deck, &Scoped::of(&deck)?)
}

#[test]
fn cards_have_names_parameters_and_lines() {
    let deck =
        deck("** a comment\r\n*Node Print , nset = \"My, Set\",\r\n TOTALS=yes\r\nU, RF\r\n**\r\n\r\n*STEP,NLGEOM\r\n");
    let [print, step] = &deck.cards[..] else { panic!("{:?}", deck.cards) };
    let found = (print.name.as_str(), print.value("NSET"), print.value("TOTALS"));
    assert_eq!(found, ("NODEPRINT", Some("My, Set"), Some("yes")));
    assert_eq!(deck.written(print), "*Node Print");
    let lines: Vec<&str> = deck.lines(print).map(|line| line.text).collect();
    assert_eq!(lines, ["U, RF"]);
    assert!(step.has("NLGEOM") && step.value("NLGEOM").is_none());
}

#[test]
fn numbers_are_those_of_fortran() {
    for (text, value) in [("210.D3", 210e3), (".3", 0.3), ("1.", 1.0), ("-2.5E-3", -2.5e-3), ("7", 7.0), ("1d-2", 0.01)]
    {
        assert_eq!(fields::number(text), Some(value), "{text}");
    }
    for text in ["", "x", "1,5", "nan", "inf", "1e999", "D", "0x10"] {
        assert_eq!(fields::number(text), None, "{text}");
    }
}

#[test]
fn what_is_no_deck_is_said() {
    for (bytes, said) in [
        (&b"\x00\x01\x02"[..], "no text"),
        (b"hello\n", "it has no cards"),
        (b"1, 2, 3\n*NODE\n", "data before the first card"),
        (b"*INCLUDE\n", "*INCLUDE needs a file"),
        (b"*INCLUDE, INPUT=nowhere.inp\n", "cannot read nowhere.inp"),
    ] {
        let (_, mistake) = Deck::parse(Path::new("part.inp"), bytes).unwrap_err();
        assert!(mistake.message.contains(said), "{mistake:?}");
    }
    // Letters of comments in an older encoding do no harm.
    assert!(Deck::parse(Path::new("part.inp"), b"** Tr\xe4ger\n*NODE\n1, 0., 0., 0.\n").is_ok());
}

#[test]
fn included_files_keep_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("part.inp"), "*HEADING\n*INCLUDE, INPUT=nodes.inc\n*STEP\n").unwrap();
    std::fs::write(at("nodes.inc"), "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.").unwrap();
    let deck = Deck::read(&at("part.inp")).unwrap();
    let names: Vec<&str> = deck.cards.iter().map(|card| card.name.as_str()).collect();
    assert_eq!(names, ["HEADING", "INCLUDE", "NODE", "STEP"]);
    let line = |card: &Card| {
        let segment = deck.listing.segments.iter().rev().find(|segment| segment.start <= card.place.start).unwrap();
        let before = &deck.listing.text[segment.start..card.place.start];
        let name = Path::new(&segment.name).file_name().unwrap().to_string_lossy().into_owned();
        (name, segment.line + before.matches('\n').count())
    };
    let places: Vec<(String, usize)> = deck.cards.iter().map(line).collect();
    let expected = [("part.inp", 1), ("part.inp", 2), ("nodes.inc", 1), ("part.inp", 3)];
    assert_eq!(places, expected.map(|(name, line)| (name.to_string(), line)));
    std::fs::write(at("nodes.inc"), "*INCLUDE, INPUT=nodes.inc\n").unwrap();
    assert!(Deck::read(&at("part.inp")).unwrap_err().1.message.contains("includes itself"));
}

const HEX: &str = "*NODE, NSET=ALL\n1, 0., 0., 0.\n2, 1.\n3, 1., 1.\n4, , 1.\n5, 0., 0., 1.\n6, 1., 0., 1.\n7, 1., 1., 1.\n\
                   8, 0., 1., 1.\n*ELEMENT, TYPE=C3D8, ELSET=BODY\n10, 1, 2, 3, 4,\n5, 6, 7, 8\n";

#[test]
fn sets_are_tags_ranges_and_other_sets() {
    let sets = "*NSET, NSET=ODD, GENERATE\n1, 9, 2\n*NSET, NSET=MORE\nODD, 2,\n1\n*NSET, NSET=OF, ELSET=BODY\n";
    let found = geometry(&format!("{HEX}{sets}")).unwrap();
    let set = |name: &str| &found.node_sets[name][..];
    assert_eq!((set("ODD"), set("MORE")), (&[1, 3, 5, 7][..], &[1, 3, 5, 7, 2][..]));
    assert_eq!((set("OF").len(), set("ALL").len(), &found.element_sets["BODY"][..]), (8, 8, &[10][..]));
    for (wrong, said) in [
        ("*NSET, NSET=A\n1, 9\n", "there is no node 9"),
        ("*NSET, NSET=A\nB\n", "there is no node set B"),
        ("*NSET, NSET=A, GENERATE\n1, 4, 0\n", "no range of tags"),
        ("*NSET\n1\n", "*NSET needs NSET="),
        ("*NGEN\n1, 4, 2\n", "no range of nodes"),
        ("*NGEN\n1, 9\n", "there is no node 9"),
        ("*NGEN, LINE=C\n1, 4\n", "nodes on curves"),
        ("*SURFACE, NAME=S\nBODY\n", "which faces are meant?"),
        ("*SURFACE, NAME=S\nBODY, P1\n", "element 10 has no face P1"),
    ] {
        let mistake = geometry(&format!("{HEX}{wrong}")).unwrap_err();
        assert!(mistake.message.contains(said), "{wrong}: {mistake:?}");
    }
}

#[test]
fn nodes_are_generated_between_two() {
    let found = geometry(&format!("{HEX}*NODE\n11, 0., 2.\n17, 3., 8.\n*NGEN, NSET=LINE\n11, 17, 2\n")).unwrap();
    assert_eq!(found.node_sets["LINE"], [11, 13, 15, 17]);
    let at = |tag: u64| found.coords[found.node(tag).unwrap()];
    assert_eq!([at(13), at(15), at(17)], [[1.0, 4.0, 0.0], [2.0, 6.0, 0.0], [3.0, 8.0, 0.0]]);
}

/// A surface's faces lie where their numbers say, and a node that no element has is no part of the mesh.
#[test]
fn sets_and_surfaces_become_groups() {
    let text = format!("{HEX}*NODE\n99, 5., 5., 5.\n*SURFACE, NAME=TOP\nBODY, S2\n*NSET, NSET=FAR\n99, 7\n");
    let mesh = geometry(&text).unwrap().mesh(&[("LOADED".into(), vec![(10, 3)])]).unwrap();
    assert_eq!(mesh.node_tags, [1, 2, 3, 4, 5, 6, 7, 8]);
    let on = |name: &str, axis: usize| {
        let nodes = mesh.nodes_on(name).unwrap();
        (nodes.len(), nodes.iter().all(|node| mesh.coords[*node as usize][axis] == 1.0))
    };
    assert_eq!([on("TOP", 2), on("LOADED", 0)], [(4, true); 2]);
    assert_eq!(mesh.nodes_on("FAR").unwrap(), [6]);
    assert_eq!(mesh.body("BODY").unwrap().dim, 3);
}

#[test]
fn codes_are_those_of_the_elements() {
    for (code, family, kind) in [
        ("C3D4", Family::Solid, ElementKind::Tet4),
        ("C3D20R", Family::Solid, ElementKind::Hex20R),
        ("CPS8R", Family::PlaneStress, ElementKind::Quad8R),
        ("CPE3", Family::PlaneStrain, ElementKind::Tri3),
        ("CAX6", Family::Revolved, ElementKind::Tri6),
    ] {
        assert_eq!(solid(code), Some((family, kind)), "{code}");
    }
    for code in ["C3D", "C3D9", "CPS20", "S4", "C3D8R", ""] {
        assert_eq!(solid(code), None, "{code}");
    }
    for kind in ElementKind::ALL.iter().filter(|kind| !kind.info().abaqus.is_empty()) {
        assert_eq!(faces(kind.info().domain).len(), kind.faces().len(), "{kind:?}");
        let layers = if kind.info().dim == 2 { 2.. } else { 1.. };
        assert!(layers.take(2).any(|n| points(*kind).len() == n * kind.info().shape.quadrature.len()), "{kind:?}");
    }
}
