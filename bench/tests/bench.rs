//! What it measures on, what it writes, and what it refuses.

use crate::{Folder, GOOD, has_gpu, repository};
use serde_json::Value;

/// As little work as there can be.
const QUICK: [&str; 4] = ["--device", "cpu", "--samples", "1"];

fn bench(folder: &Folder, arguments: &[&str]) -> (String, Value) {
    let run = folder.run(&[arguments, &QUICK, &["--json", "out.json"]].concat()).done();
    (run.out, folder.json("out.json"))
}

fn rows_of(report: &Value) -> &[Value] {
    report["rows"].as_array().unwrap()
}

fn number(figures: &Value, name: &str) -> f64 {
    figures[name].as_f64().unwrap_or_else(|| panic!("{name}: {figures}"))
}

fn positive(figures: &Value, names: &[&str]) {
    names.iter().for_each(|name| assert!(number(figures, name) > 0.0, "{name}: {figures}"));
}

#[test]
fn products_of_every_format() {
    let folder = Folder::new();
    for (element, elements) in [("tet4", 384), ("hex8", 64)] {
        let (out, report) = bench(&folder, &["spmv", "--element", element, "--cells", "4"]);
        assert!(out.starts_with(&format!("{element} cube 4: 125 nodes, {elements} elements, 375 unknowns, ")), "{out}");
        assert_eq!((&report["problem"], &report["precision"]), (&format!("{element} cube 4").into(), &"f64".into()));
        assert_eq!((&report["dofs"], &report["block_size"]), (&375.into(), &3.into()));
        positive(&report, &["blocks", "copy_gb_per_s", "setup_s", "min_bytes"]);
        let rows = rows_of(&report);
        let formats: Vec<&str> = rows.iter().map(|row| row["format"].as_str().unwrap()).collect();
        assert_eq!(formats, warpfem::result::choices::Format::names());
        for row in rows {
            positive(row, &["layout_s", "stored_bytes", "spmv_ms", "spmv_dot_ms", "own_bytes", "own_gb_per_s"]);
            positive(row, &["gflops", "gb_per_s", "of_copy", "own_of_copy"]);
            assert!(number(row, "padding") >= 1.0, "{row}");
            assert!(number(row, "difference") <= 1e-12 && row.get("needed_bytes").is_none(), "{row}");
        }
        let blocks = report["blocks"].as_u64().unwrap();
        assert_eq!(report["min_bytes"], blocks * (9 * 8 + 4) + 2 * 8 * 375);
    }
}

#[test]
fn products_on_plane_meshes_and_of_other_block_sizes() {
    let folder = Folder::new();
    for (element, size, dofs) in [("tri3", "2", 60), ("quad4", "1", 30), ("tri3", "3", 90)] {
        let flags = ["spmv", "--element", element, "--cells", "5x4", "--block-size", size];
        let (out, report) = bench(&folder, if size == "2" { &flags[..5] } else { &flags });
        let head = format!("{element} rectangle 5x4: 30 nodes, ");
        assert!(out.starts_with(&head) && out.contains(&format!("blocks of {size}x{size}")), "{out}");
        assert_eq!(report["dofs"], dofs);
        assert_eq!(rows_of(&report).len(), warpfem::result::choices::Format::names().len());
    }
}

#[test]
fn formats_that_do_not_fit_say_what_they_need() {
    let folder = Folder::new();
    let flags = ["spmv", "--element", "tri3", "--cells", "500", "--block-size", "3", "--format", "dense,csr"];
    let (out, report) = bench(&folder, &flags);
    assert!(out.contains("dense") && out.contains("needs 4.5 TB"), "{out}");
    let rows = rows_of(&report);
    assert!(number(&rows[0], "needed_bytes") > 4e12 && rows[0].get("spmv_ms").is_none(), "{}", rows[0]);
    positive(&rows[1], &["spmv_ms"]);
}

#[test]
fn products_on_files_and_with_options() {
    let folder = Folder::new();
    let mesh = repository("meshes/cube_463.msh");
    let flags = ["--format", "ebw", "--precision", "single", "--ordering", "hilbert", "--degree-window", "64"];
    let (out, report) = bench(&folder, &[&["spmv", &mesh][..], &flags].concat());
    assert!(out.starts_with("cube_463: 463 nodes, 1,638 elements, 1,389 unknowns"), "{out}");
    assert_eq!((&report["ordering"], &report["degree_window"]), (&"hilbert".into(), &64.into()));
    assert_eq!((&report["precision"], rows_of(&report).len()), (&"f32".into(), 1));
    let difference = number(&report["rows"][0], "difference");
    assert!((0.0..1e-5).contains(&difference), "{difference}");
    folder.write("beam.toml", GOOD);
    let (out, _) = bench(&folder, &["spmv", "beam.toml", "--format", "ebw"]);
    assert!(out.starts_with("beam: 81 nodes, 192 elements, 243 unknowns"), "{out}");
    let (out, _) = bench(&folder, &["spmv", "--cells", "4x2x1", "--format", "ebw"]);
    assert!(out.starts_with("tet4 box 4x2x1: 30 nodes, 48 elements"), "{out}");
}

#[test]
fn iterations_per_format() {
    let folder = Folder::new();
    let (out, report) = bench(&folder, &["cg", "--cells", "4", "--format", "ebw"]);
    assert!(out.starts_with("tet4 cube 4: 125 nodes, 384 elements, 375 unknowns"), "{out}");
    // The CPU's floor: the blocks on the diagonal and below it with their indices, x and y; and 8.5 words of vectors.
    let of_half = (report["blocks"].as_u64().unwrap() + 125) / 2;
    assert_eq!(report["iteration_bytes"], of_half * (9 * 8 + 4) + (2 * 8 + 8 * 8 + 4) * 375);
    let (out, both) = bench(&folder, &["cg", "--element", "hex8", "--cells", "3x2x2", "--format", "csr,dense"]);
    assert!(out.starts_with("hex8 box 3x2x2: 36 nodes, 12 elements"), "{out}");
    assert_eq!(both["rows"][0]["iterations"], both["rows"][1]["iterations"]);
    let row = &report["rows"][0];
    assert_eq!((&row["format"], &row["converged"]), (&"ebw".into(), &true.into()));
    assert!(number(row, "relative_residual") <= 1e-8 && number(row, "min_u_z") < 0.0, "{row}");
    positive(row, &["iterations", "iteration_ms", "iterations_per_s", "of_copy", "setup_s", "assembly_s"]);
    let (out, plane) = bench(&folder, &["cg", "--element", "quad4", "--cells", "6x3", "--format", "ebw"]);
    assert!(out.starts_with("quad4 rectangle 6x3: 28 nodes, 18 elements, 56 unknowns"), "{out}");
    assert!(plane["rows"][0]["min_u_z"].as_f64().unwrap() < 0.0, "{plane}");
    folder.write("beam.toml", GOOD);
    let (out, report) = bench(&folder, &["cg", "beam.toml", "--max-iterations", "10"]);
    assert!(out.starts_with("beam: 81 nodes") && out.contains("10 (not reached)"), "{out}");
    assert_eq!((&report["rows"][0]["iterations"], &report["rows"][0]["converged"]), (&10.into(), &false.into()));
}

#[test]
fn multigrid_for_another_load_and_other_materials() {
    let folder = Folder::new();
    let (out, report) = bench(&folder, &["amg", "--cells", "6", "--mixed"]);
    let words =
        ["tet4 cube 6: ", "\nlevel  unknowns", "operator complexity 1.", "set-up: aggregation ", "\nnew load, f16"];
    assert!(words.iter().all(|words| out.contains(words)), "{out}");
    let solutions = report["solutions"].as_array().unwrap();
    let of = |what: &str| solutions.iter().filter(|one| one["what"] == what).collect::<Vec<_>>();
    assert_eq!(["first", "new load", "new materials"].map(|what| of(what).len()), [3; 3]);
    for one in solutions {
        assert_eq!(one["converged"], true, "{one}");
        positive(one, &["iterations", "spmvs", "solve_ms", "convergence_factor"]);
        // Another load leaves everything as it is.
        assert_eq!(one["what"] == "new load", one["multigrid"].is_null(), "{one}");
        if one["multigrid"].is_null() {
            continue;
        }
        positive(&one["multigrid"], &["bytes", "operator_complexity"]);
        let part = |name: &str| one["multigrid"]["setup_s"][name].as_f64().unwrap();
        assert!(part("numeric") > 0.0 && part("smoothing") > 0.0);
        // Other materials leave nodes and blocks as they are; that they do is found out in the time of aggregation.
        assert_eq!(one["what"] == "new materials", part("symbolic") == 0.0, "{one}");
    }
    let (first, other) = (of("first")[0]["history"][0].as_f64(), of("new load")[0]["history"][0].as_f64());
    assert_ne!(first, other);
    let (_, scalar) = bench(
        &folder,
        &["amg", "--element", "quad4", "--cells", "20x4", "--precision", "single", "--tolerance", "1e-3"],
    );
    assert_eq!(scalar["solutions"].as_array().unwrap().len(), 3);
}

#[test]
fn whole_solutions_by_phase() {
    let folder = Folder::new();
    let (out, report) = bench(&folder, &["solve", "--cells", "6", "--mixed", "--preconditioner", "amg"]);
    assert!(
        out.contains("\nebw, amg, mixed, to 1e-8: ") && out.contains("\nfirst ") && out.contains("\nagain "),
        "{out}"
    );
    assert_eq!((&report["converged"], &report["arithmetic"]), (&true.into(), &"mixed".into()));
    for times in [&report["first"], &report["again"]] {
        positive(times, &["setup", "assembly", "solve", "stress", "total"]);
        let parts: f64 =
            ["setup", "assembly", "boundary", "solve", "stress"].iter().map(|part| number(times, part)).sum();
        assert!(parts <= number(times, "total"), "{times}");
    }
    folder.write("beam.toml", GOOD);
    let (out, _) = bench(&folder, &["solve", "beam.toml", "--tolerance", "1e-4"]);
    assert!(out.contains("jacobi, double, to 1e-4"), "{out}");
}

#[test]
fn iterations_per_preconditioner() {
    let folder = Folder::new();
    let (out, report) = bench(&folder, &["precond", "--cells", "4", "--order", "2,5", "--mixed"]);
    assert!(out.starts_with("tet4 cube 4: 125 nodes, 384 elements, 375 unknowns"), "{out}");
    let words = ["\nchebyshev 5, f32 ", "\nchebyshev 5, f16 ", "\nblock_jacobi ", "\njacobi, f32 "];
    assert!(words.iter().all(|words| out.contains(words)), "{out}");
    let rows = rows_of(&report);
    // Two without an order, in double and refined; three with two orders in three precisions, and multigrid in these.
    assert_eq!(rows.len(), 2 * 2 + 3 * 2 * 3 + 3);
    assert_eq!(rows[0]["preconditioner"], "jacobi");
    for row in rows {
        assert_eq!(row["converged"], true);
        assert!(number(row, "relative_residual") <= 1e-8, "{row}");
        positive(row, &["iterations", "spmvs", "setup_ms", "solve_ms", "spmv_ms", "speedup"]);
        let [iterations, spmvs] = ["iterations", "spmvs"].map(|key| row[key].as_u64().unwrap());
        assert_eq!(row["history"].as_array().unwrap().len() as u64, iterations);
        let is_multigrid = row["preconditioner"] == "amg";
        assert_eq!(row["multigrid"]["operator_complexity"].as_f64().is_some_and(|entries| entries > 1.0), is_multigrid);
        let products = 1 + if is_multigrid { 4 } else { row["order"].as_u64().unwrap_or(0) };
        assert!(spmvs >= (iterations + 2) * products && spmvs.is_multiple_of(products), "{row}");
        let is_refined = row["order"].is_null() && row["mixed"] == true && !is_multigrid;
        assert!(is_refined || iterations <= rows[0]["iterations"].as_u64().unwrap(), "{row}");
        assert_eq!(row["mixed"], row["storage"] != "f64", "{row}");
    }
    let flags =
        ["precond", "--element", "quad4", "--cells", "6x3", "--preconditioner", "least_squares", "--order", "3"];
    let (_, report) =
        bench(&folder, &[&flags[..], &["--format", "csr", "--precision", "single", "--tolerance", "1e-4"]].concat());
    assert_eq!((&report["format"], &report["precision"]), (&"csr".into(), &"f32".into()));
    assert_eq!(rows_of(&report).len(), 1);
}

#[test]
fn femses_beside_what_assembles_a_matrix() {
    let folder = Folder::new();
    let (out, report) = bench(&folder, &["femses", "--nodes", "6,9", "--block", "32,64", "--tolerance", "1e-9"]);
    assert!(out.starts_with("the potential on the unit square, fixed on 2 sides, f64 on cpu"), "{out}");
    let rows = rows_of(&report);
    // Eight methods, one of them in blocks of two sizes.
    assert_eq!((rows.len(), &report["sides"]), (2 * 9, &2.into()));
    for row in rows {
        let nodes = row["nodes"].as_u64().unwrap();
        assert_eq!((&row["unknowns"], &row["elements"]), (&nodes.pow(2).into(), &(2 * (nodes - 1).pow(2)).into()));
        assert_eq!(row["block"].is_u64(), row["method"] == "femses_atomic", "{row}");
        if row.get("left_out").is_some() {
            assert!(row["method"] == "sparse" && !cfg!(feature = "direct"), "{row}");
            continue;
        }
        assert_eq!(row["converged"], true, "{row}");
        assert!(number(row, "relative_residual") <= 1e-9, "{row}");
        // The potential is x.
        assert!(number(row, "error") <= 1e-8, "{row}");
        positive(row, &["iterations", "setup_ms", "assembly_ms", "solve_ms", "total_ms"]);
        let phases = ["transfer_ms", "setup_ms", "allocate_ms", "assembly_ms", "solve_ms"];
        let sum: f64 = phases.iter().map(|phase| number(row, phase)).sum();
        assert!((sum / number(row, "total_ms") - 1.0).abs() < 1e-12, "{row}");
    }
    let iterations = |method: &str| rows.iter().rfind(|row| row["method"] == method).unwrap()["iterations"].as_u64();
    assert!(iterations("femses") > iterations("femses_chebyshev"), "{out}");
    assert!(iterations("femses_chebyshev") > iterations("femses_cg"), "{out}");

    let (out, report) = bench(&folder, &["femses", "--nodes", "6", "--four-sided", "--method", "femses,cg"]);
    let rows = rows_of(&report);
    assert!(out.contains("fixed on 4 sides") && report["sides"] == 4, "{out}");
    assert!(rows.len() == 2 && rows.iter().all(|row| row["converged"] == true && row["error"].is_null()), "{report}");
}

#[test]
fn inputs_that_make_no_sense() {
    let folder = Folder::new();
    folder.write("part.txt", "");
    let mesh = repository("meshes/cube_463.msh");
    let refused: [(&[&str], &str); 23] = [
        (&["spmv", "part.txt"], "expected a case (.toml) or a mesh (.msh)"),
        (&["cg", "part"], "expected a case (.toml) or a mesh (.msh)"),
        (&["cg", &mesh], "is a mesh without supports and loads: name a case (.toml)"),
        (&["spmv", &mesh, "--cells", "4"], "cannot be used with"),
        (&["spmv", &mesh, "--element", "hex8"], "cannot be used with"),
        (
            &["spmv", "--element", "wedge9"],
            "wedge6, pyramid5, wedge15, pyramid13, hex20r, hex8i, tri3, quad4, tri6, quad8, quad8r",
        ),
        (&["spmv", "--cells", "0"], "expected N, NxM or NxMxK, each from 1"),
        (&["spmv", "--cells", "4x4x"], "expected N, NxM or NxMxK, each from 1"),
        (&["spmv", "--cells", "4x4"], "`--cells` has 2 numbers, and a mesh of tet4 has cells along 3 edges"),
        (&["cg", "--cells", "-4"], "expected N, NxM or NxMxK, each from 1"),
        (&["spmv", "--format", "ebw,hyb"], "[possible values: "),
        (&["cg", "--format", ""], "[possible values: "),
        (&["spmv", "--block-size", "4"], "1..=3"),
        (&["spmv", "--slice", "24"], "a power of two"),
        (&["spmv", "--slice", "9223372036854775808"], "a power of two, at most 1048576"),
        (&["spmv", "--ordering", "random"], "auto, mesh, hilbert"),
        (&["spmv", "--degree-window", "0"], "at least 1"),
        (&["cg", "--max-iterations", "0"], "--max-iterations"),
        (&["cg", "--tolerance", "nan"], "between 0 and 1"),
        (&["precond", "--order", "3,17"], "1..=16"),
        (&["precond", "--preconditioner", "ilu"], "block_jacobi"),
        (&["precond", "--mixed", "--precision", "single"], "leave out `--precision single`"),
        (&["spmv", "--precision", "mixed"], "double, single"),
    ];
    for (arguments, words) in refused {
        folder.run(&[arguments, &["--device", "cpu"]].concat()).refused(2, &[words]);
    }
    let small = ["spmv", "--cells", "2", "--samples", "1"];
    folder.run(&[&small[..], &["--device", "cpu", "--json", "no/a.json"]].concat()).refused(8, &["no/a.json"]);
    if !has_gpu() {
        folder.run(&[&small[..], &["--device", "cuda:3"]].concat()).refused(7, &["`warpfem devices`"]);
    }
    assert_eq!(folder.names("."), ["part.txt"]);
}

#[test]
fn meshes_without_cells() {
    let folder = Folder::new();
    folder.run(&["spmv", "no.msh"]).refused(3, &["no.msh: there is no such file"]);
    folder.run(&["spmv", "no.toml"]).refused(2, &["no.toml", "there is no such file"]);
    let edges = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n2 1 0 0\n$EndNodes\n\
                 $Elements\n1\n1 1 2 1 1 1 2\n$EndElements\n";
    folder.write("edges.msh", edges);
    folder.run(&["spmv", "edges.msh"]).refused(3, &["edges.msh: the mesh holds no elements to solve on"]);
    folder.run(&["spmv", "--cells", "90000"]).refused(6, &["GiB are needed"]);
    folder.run(&["spmv", "--element", "quad4", "--cells", "90000"]).refused(6, &["GiB are needed"]);
}

/// The entries of an NPY file of version 1.0, and the type its header names.
fn npy<const N: usize>(bytes: &[u8]) -> (String, Vec<[u8; N]>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..end]).unwrap();
    let entries: Vec<[u8; N]> = bytes[end..].chunks(N).map(|entry| entry.try_into().unwrap()).collect();
    assert!(header.contains(&format!("'fortran_order': False, 'shape': ({},)", entries.len())), "{header}");
    (header.split('\'').nth(3).unwrap().to_owned(), entries)
}

#[test]
fn the_matrix_as_files() {
    let folder = Folder::new();
    let (_, report) =
        bench(&folder, &["spmv", "--element", "hex8", "--cells", "2", "--matrix", "a/b", "--format", "ebw"]);
    assert_eq!(folder.names("a/b"), ["columns.npy", "matrix.json", "row_start.npy", "values.npy"]);
    let meta = folder.json("a/b/matrix.json");
    assert_eq!((&meta["problem"], &meta["block_size"]), (&"hex8 cube 2".into(), &3.into()));
    assert_eq!((&meta["dofs"], &meta["blocks"]), (&81.into(), &report["blocks"]));
    let (kind, row_start) = npy::<8>(&folder.read("a/b/row_start.npy"));
    let row_start: Vec<usize> = row_start.into_iter().map(|entry| i64::from_le_bytes(entry) as usize).collect();
    assert_eq!((kind.as_str(), row_start.len(), row_start[0]), ("<i8", 82, 0));
    let (kind, columns) = npy::<4>(&folder.read("a/b/columns.npy"));
    let columns: Vec<usize> = columns.into_iter().map(|entry| i32::from_le_bytes(entry) as usize).collect();
    assert_eq!((kind.as_str(), columns.len()), ("<i4", row_start[81]));
    let (kind, values) = npy::<8>(&folder.read("a/b/values.npy"));
    let values: Vec<f64> = values.into_iter().map(f64::from_le_bytes).collect();
    assert_eq!((kind.as_str(), values.len()), ("<f8", columns.len()));
    // 8 corners, 12 edges, 6 faces and one inner node, with 8, 12, 18 and 27 nodes around them.
    assert_eq!(values.len(), 9 * (8 * 8 + 12 * 12 + 6 * 18 + 27));
    let mut dense = vec![[0.0; 81]; 81];
    for row in 0..81 {
        let own = row_start[row]..row_start[row + 1];
        assert!(columns[own.clone()].is_sorted_by(|a, b| a < b), "row {row}");
        own.for_each(|k| dense[row][columns[k]] = values[k]);
    }
    for (row, column) in (0..81).flat_map(|row| (0..row).map(move |column| (row, column))) {
        assert_eq!(dense[row][column], dense[column][row], "{row}, {column}");
    }
}
