//! The file, line by line; `tests/peers/frd.py` has it read by other programs.

use super::elements::layout;
use super::*;
use crate::element::ElementKind;
use crate::output::tests::{hex_pair, of_hex_pair, values};
use crate::result::{Physics, Study, When};

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| name.to_string()).collect()
}

fn bytes(steps: &[Step], fields: &[&str], form: Form) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out, &hex_pair(), steps, &names(fields), form).unwrap();
    out
}

fn text(steps: &[Step], fields: &[&str]) -> String {
    String::from_utf8(bytes(steps, fields, Form::Ascii)).unwrap()
}

#[test]
fn nodes_elements_and_steps_have_calculix_s_lines() {
    let mut steps = [of_hex_pair(Physics::Elasticity, When::Usual), of_hex_pair(Physics::Elasticity, When::Usual)];
    (steps[1].value, steps[1].label) = (2.0, "wind from the left and above".into());
    let text = text(&steps, &["displacement", "von_mises", "von_mises_nodal"]);
    let lines: Vec<&str> = text.lines().collect();
    let version = concat!("    1UVERSION           Version ", env!("CARGO_PKG_VERSION"));
    assert_eq!(lines[..3], ["    1C", "    1UPGM               warpfem", version]);
    assert_eq!(lines[3], "    2C                            12                                     1");
    assert_eq!(lines[4], " -1         1 0.00000E+00 0.00000E+00 0.00000E+00");
    assert_eq!(lines[15], " -1        12 2.00000E+00 0.00000E+00 1.00000E+00");
    assert_eq!(lines[16..18], [" -3", "    3C                             2                                     1"]);
    assert_eq!(lines[18], " -1        41    1    0    1");
    assert_eq!(lines[19], " -2         1         5         6         2         4         8         7         3");
    assert_eq!(lines[22..24], [" -3", "    1PSTEP                         1           1           1"]);
    assert_eq!(lines[24], "  100CL  101 1.00000E+00          12                     0    1           1");
    let head = [
        " -4  DISP        4    1",
        " -5  D1          1    2    1    0",
        " -5  D2          1    2    2    0",
        " -5  D3          1    2    3    0",
        " -5  ALL         1    2    0    0    1ALL",
    ];
    assert_eq!(lines[25..30], head);
    assert_eq!(lines[30], " -1         1 1.00000E+02 1.00100E+02 1.00200E+02");
    assert_eq!(lines[42..44], [" -3", "    1PSTEP                         2           1           2"]);
    assert_eq!(lines[44], "  100CL  102 2.00000E+00          12wind from the left a 0    2           1");
    assert_eq!(lines[45..50], head);
    assert_eq!(lines[62..], [" -3", " 9999"]);
}

#[test]
fn modes_have_calculix_s_lines() {
    let of = |value: f64| Step {
        value,
        study: Study::Modal,
        label: "mode".into(),
        ..of_hex_pair(Physics::Elasticity, When::Usual)
    };
    let text = text(&[of(0.0), of(0.5)], &["displacement"]);
    let lines: Vec<&str> =
        text.lines().filter(|line| line.starts_with("    1P") || line.starts_with("  100")).collect();
    assert_eq!(
        lines,
        [
            "    1PSTEP                         1           1           1",
            "    1PGM                 1.00000E+00",
            "    1PGK                 0.00000E+00",
            "    1PMODE                         1",
            "  100CL  101 0.00000E+00          12mode                 2    1MODAL      1",
            "    1PSTEP                         2           1           2",
            "    1PGM                 1.00000E+00",
            "    1PGK                 9.86960E+00",
            "    1PMODE                         2",
            "  100CL  102 5.00000E-01          12mode                 2    2MODAL      1",
        ]
    );
}

#[test]
fn tensors_have_shears_of_the_tensor_and_others_their_own_names() {
    let step = of_hex_pair(Physics::Elasticity, When::Asked);
    let text =
        text(std::slice::from_ref(&step), &["stress_nodal", "strain_nodal", "safety_factor", "principal_stress_nodal"]);
    let after = |head: &str| text.split_once(head).unwrap().1.lines().skip(1).collect::<Vec<_>>();
    let stress = after(" -4  STRESS      6    1");
    assert_eq!(stress[0], " -5  SXX         1    4    1    1");
    assert_eq!(stress[3..6].iter().map(|line| &line[5..8]).collect::<Vec<_>>(), ["SXY", "SYZ", "SZX"]);
    assert_eq!(stress[5], " -5  SZX         1    4    3    1");
    assert_eq!(stress[6], " -1         1 2.00000E+01 2.10000E+01 2.20000E+01 2.30000E+01 2.40000E+01 2.50000E+01");
    let strain = after(" -4  TOSTRAIN    6    1");
    let number = |i: usize| strain[6][13 + 12 * i..25 + 12 * i].trim().parse::<f64>().unwrap();
    let expected = step.nodes("strain_nodal");
    let scale = |i: usize| if i < 3 { 1.0 } else { 0.5 };
    (0..6).for_each(|i| assert!((number(i) / (scale(i) * expected[i]) - 1.0).abs() < 5e-6, "{}", strain[6]));
    assert_eq!(after(" -4  SAFETYFA    1    1")[0], " -5  SAFETYFA    1    1    0    0");
    assert!(!text.contains("PRINCIPA"));
    let heat = super::tests::text(&[of_hex_pair(Physics::Potential, When::Usual)], &["potential", "gradient_nodal"]);
    assert!(heat.contains(" -4  NDTEMP      1    1\n -5  T           1    1    0    0\n -1         1 0.00000E+00\n"));
    assert!(heat.contains(" -4  GRADIENT    4    1\n -5  G1          1    2    1    0\n"));
}

#[test]
fn binary_files_have_the_same_lines_round_blocks_of_bytes() {
    let step = [of_hex_pair(Physics::Elasticity, When::Usual)];
    let file = bytes(&step, &["displacement"], Form::Binary);
    let mut rest = &file[..];
    let mut take = |n: usize| {
        let (taken, after) = rest.split_at(n);
        rest = after;
        taken
    };
    let head = text(&step, &["displacement"]);
    let length = head.find("    2C").unwrap();
    assert_eq!(take(length), &head.as_bytes()[..length]);
    assert!(take(75).ends_with(b"12                                     3\n"));
    for node in 0..12 {
        assert_eq!(take(4), i32::to_le_bytes(node + 1));
        let x = hex_pair().coords[node as usize];
        assert_eq!(take(24), x.map(f64::to_le_bytes).concat());
    }
    assert!(take(75).ends_with(b"2                                     2\n"));
    let element: Vec<u8> = [41, 1, 0, 1, 1, 5, 6, 2, 4, 8, 7, 3].into_iter().flat_map(i32::to_le_bytes).collect();
    assert_eq!(take(48), element);
    take(48);
    let lines = 61 + 76 + 24 + 3 * 34 + 42;
    assert!(take(lines).ends_with(b" -5  ALL         1    2    0    0    1ALL\n"));
    assert_eq!(take(4), 1_i32.to_le_bytes());
    assert_eq!(take(12), [100.0_f32, 100.1, 100.2].map(f32::to_le_bytes).concat());
    assert_eq!(take(11 * 16 + 6)[11 * 16..], *b" 9999\n");
    assert!(take(0).is_empty() && rest.is_empty());
}

/// FRD's nodes lie where those of its manual do: the corners, then between the two that it names.
#[test]
fn every_solid_has_a_type_and_its_nodes_lie_between_corners() {
    for kind in ElementKind::ALL.iter().filter(|kind| kind.is_solvable()) {
        let (code, order) = layout(*kind).unwrap();
        let n = [0, 8, 6, 4, 20, 15, 10, 3, 6, 4, 8][code as usize];
        assert_eq!(order.len(), n, "{kind:?}");
        let order_of = |kind| layout(kind).unwrap().1;
        assert!(order.iter().all(|node| *node < kind.info().n_nodes));
        // The order of the deck, as VTK has it, with the nodes of the upper side last.
        let vtk =
            |kind: ElementKind, places: &[usize]| places.iter().map(|&k| kind.info().vtk_order[k]).collect::<Vec<_>>();
        let hex: Vec<usize> = (0..12).chain(16..20).chain(12..16).collect();
        let wedge: Vec<usize> = (0..9).chain(12..15).chain(9..12).collect();
        assert_eq!(order_of(ElementKind::Hex20), vtk(ElementKind::Hex20, &hex));
        assert_eq!(order_of(ElementKind::Wedge15), vtk(ElementKind::Wedge15, &wedge));
        assert_eq!(order_of(ElementKind::Tet10), vtk(ElementKind::Tet10, &(0..10).collect::<Vec<_>>()));
    }
    let pyramid = layout(ElementKind::Pyramid13).unwrap().1;
    assert_eq!(pyramid, [0, 1, 2, 3, 4, 4, 4, 4, 5, 8, 10, 6, 7, 9, 11, 12, 4, 4, 4, 4]);
}

#[test]
fn tags_too_long_are_numbers_and_what_does_not_fit_is_refused() {
    assert_eq!(elements::tags([5, 1 << 31].iter()), [1, 2]);
    assert_eq!(elements::tags([5, (1 << 31) - 1].iter()), [5, (1 << 31) - 1]);
    let mut step = of_hex_pair(Physics::Elasticity, When::Usual);
    values(&mut step, "displacement").pop();
    let error = write(&mut Vec::new(), &hex_pair(), [&step], &[], Form::Ascii).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}
