//! Decks: solved by their name, with CalculiX's files beside them; described, converted, refused.

use crate::Folder;

const DECK: &str = include_str!("../data/decks/prepomax.inp");

fn with_deck(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("part.inp", text);
    folder
}

#[test]
fn a_deck_is_solved_with_files_beside_it() {
    let folder = with_deck(DECK);
    let run = folder.run(&["solve", "part", "--device", "cpu"]).done();
    assert!(run.out.contains("reaction of INTERNAL-1_FIXED (0, 0, 20.00)"), "{}", run.out);
    assert!(run.out.contains("FRD") && run.out.contains("DAT"), "{}", run.out);
    assert_eq!(folder.names("."), ["part.dat", "part.frd", "part.inp", "results"]);
    let (dat, frd) = (folder.text("part.dat"), folder.text("part.frd"));
    assert!(dat.contains(" total force (fx,fy,fz) for set INTERNAL-1_FIXED and time  0.1000000E+01\n"), "{dat}");
    for block in ["DISP", "STRESS", "FORC", "TOSTRAIN"] {
        assert!(frd.contains(&format!(" -4  {block}")), "{block}");
    }
    // With a folder all is there.
    folder.run(&["solve", "part.inp", "-o", "out", "--device", "cpu", "--quiet"]).done();
    assert_eq!([folder.text("out/part.dat"), folder.text("out/part.frd")], [dat, frd]);
    let page = folder.text("out/part.html");
    assert!(
        page.contains("more lines") && page.contains("Solid section"),
        "the deck is in the report, without its mesh"
    );
}

#[test]
fn a_deck_is_a_mesh_too() {
    let folder = with_deck(DECK);
    let out = folder.run(&["info", "part.inp"]).done().out;
    assert!(out.contains("SURFACE-1") && out.contains("tet10     6"), "{out}");
    folder.run(&["convert", "part.inp", "part.msh"]).done();
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort();
        lines
    };
    let of_mesh = folder.run(&["info", "part.msh"]).done().out;
    assert_eq!(sorted(&out.replace("part.inp", "part.msh")), sorted(&of_mesh));
    let out = folder.run(&["check", "part.inp"]).done().out;
    assert!(out.contains("ready: warpfem solve part.inp"), "{out}");
}

#[test]
fn other_steps_than_those_of_statics_and_modes_are_refused() {
    let folder = with_deck(&DECK.replace("*Static, Solver=Pastix", "*Dynamic\n0.1, 1."));
    for command in ["solve", "check"] {
        folder.run(&[command, "part.inp"]).refused(
            2,
            &[
                "part.inp:70:1: *Dynamic: motion in time is solved of modes alone",
                "*MODAL DYNAMIC in a step of its own",
            ],
        );
    }
    assert_eq!(folder.names("."), ["part.inp"]);
    folder.write("part.inp", &DECK[..DECK.len() / 2]);
    folder.run(&["solve", "part.inp"]).refused(2, &["part.inp"]);
}

/// Tables of all modes stand in CalculiX's words before what the deck prints of each.
#[test]
fn modes_have_their_tables() {
    let folder = Folder::new();
    for (step, title, key) in [
        ("*FREQUENCY\n3\n", "E I G E N V A L U E   O U T P U T", "frequency"),
        ("*BUCKLE\n3\n", "B U C K L I N G   F A C T O R", "load_factor"),
    ] {
        let deck = DECK.replace("*Static, Solver=Pastix\n", step);
        assert!(deck != DECK, "the deck has another *Static");
        folder.write("part.inp", &deck);
        folder.run(&["solve", "part.inp", "--device", "cpu"]).done();
        let dat = folder.text("part.dat");
        assert!(dat.trim_start().starts_with(title), "{dat}");
        let rows: Vec<Vec<f64>> =
            dat.lines().skip_while(|line| !line.starts_with("      1 ")).take(3).map(numbers).collect();
        let steps = folder.summary("results/part")["steps"].clone();
        for (k, row) in rows.iter().enumerate() {
            let expected = steps[k][key].as_f64().unwrap();
            let found = if key == "frequency" { row[3] } else { row[1] };
            assert!(row[0] == (k + 1) as f64 && (found / expected - 1.0).abs() < 1e-6, "{dat}");
        }
        assert_eq!(dat.contains("E F F E C T I V E   M O D A L   M A S S"), key == "frequency", "{dat}");
    }
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().map(|word| word.parse().unwrap()).collect()
}
