use super::super::tests::{PotentialResults, Results, hex_pair};
use super::*;
use crate::element::ElementKind::{Quad8, Tri6};
use crate::mesh::rectangle::generate_rectangle;

const PAIR: Heading = Heading { case: "pair", converged: true, warnings: 0 };

fn draw(mesh: &Mesh, fields: &Fields) -> Canvas {
    Shown::new(mesh, fields, None).draw(fields, &PAIR)
}

fn picture(results: &Results) -> (u32, u32, Vec<u8>) {
    let (mesh, fields) = (hex_pair(), results.fields());
    let file = Shown::new(&mesh, &fields, None).png(&fields, &PAIR).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

/// How many pixels have a colour, rather than a grey.
fn coloured(pixels: &[u8]) -> usize {
    pixels.chunks_exact(3).filter(|c| c.iter().max().unwrap() - c.iter().min().unwrap() > 40).count()
}

#[test]
fn the_picture_is_1600_wide_and_shows_the_part() {
    let (width, height, pixels) = picture(&Results::of_hex_pair());
    assert_eq!(width, 1600);
    assert!((600..1200).contains(&height));
    assert!(coloured(&pixels) > 150_000, "{}", coloured(&pixels));
    assert_eq!(pixels[..3], [255; 3]);
}

#[test]
fn the_same_results_give_the_same_picture_on_any_number_of_threads() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let results = Results::of_hex_pair();
    assert!(one.install(|| picture(&results)) == picture(&results));
}

#[test]
fn names_are_drawn_written_out() {
    let (mesh, results) = (hex_pair(), Results::of_hex_pair());
    let shown = Shown::new(&mesh, &results.fields(), None);
    let drawn = |case| shown.png(&results.fields(), &Heading { case, ..PAIR }).unwrap();
    assert!(drawn("a\u{1b}\u{202e}b") == drawn("a\\u{1b}\\u{202e}b"));
    assert!(drawn("a\u{1b}b") != drawn("a?b"));
}

#[test]
fn results_without_size_are_drawn_all_the_same() {
    let mut results = Results::of_hex_pair();
    results.displacement.fill([0.0; 3]);
    results.nodal.sizes.fill(5.0);
    assert!(coloured(&picture(&results).2) > 150_000);
    results.nodal.sizes.fill(0.0);
    assert!(coloured(&picture(&results).2) > 150_000);
}

#[test]
fn results_that_are_not_finite_are_drawn_all_the_same() {
    let mut results = Results::of_hex_pair();
    results.displacement.fill([f64::NAN; 3]);
    results.nodal.sizes.fill(f64::INFINITY);
    assert!(coloured(&picture(&results).2) > 100_000);
    results.displacement.fill([1e300, -1e300, 0.0]);
    (results.nodal.sizes[0], results.nodal.sizes[1]) = (1e300, f64::NAN);
    assert_eq!(picture(&results).0, 1600);
}

#[test]
fn a_mesh_without_cells_gives_a_picture_without_a_part() {
    let mut mesh = hex_pair();
    mesh.cells.clear();
    let mut results = Results::of_hex_pair();
    (results.von_mises, results.stress, results.material) = (vec![], vec![], vec![]);
    assert_eq!(draw(&mesh, &results.fields()).width, WIDTH);
}

#[test]
fn uniform_stress_has_one_colour_and_no_mark() {
    let mut results = Results::of_hex_pair();
    results.nodal.sizes = (0..12).map(|i| 5.0 + 1e-15 * f64::from(i)).collect();
    let shown = Shown::new(&hex_pair(), &results.fields(), None);
    assert!(shown.t.iter().all(|&t| t == 0.5) && shown.peak().is_none());
}

#[test]
fn plane_meshes_are_drawn_face_on() {
    for kind in [Tri6, Quad8] {
        let mesh = generate_rectangle(kind, [2.0, 1.0], [4, 2]).unwrap();
        let mut results = Results::zero(&mesh);
        results.nodal.sizes = (0..mesh.coords.len()).map(|i| i as f64).collect();
        results.displacement = mesh.coords.iter().map(|x| [0.0, x[0] * x[0], 0.0]).collect();
        let shown = Shown::new(&mesh, &results.fields(), None);
        assert_eq!(shown.view().axes, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "{kind:?}");
        let canvas = draw(&mesh, &results.fields());
        assert!(coloured(canvas.pixels.as_flattened()) > 150_000, "{kind:?}");
    }
}

#[test]
fn a_potential_colours_the_body_where_it_is() {
    let mut results = PotentialResults::of_hex_pair();
    let shown = Shown::new(&hex_pair(), &results.fields(), None);
    assert_eq!(shown.range, [0.0, 5.5]);
    assert_eq!(shown.scene.value, results.potential, "the nodes' own values, not means of elements");
    assert_eq!((shown.largest, &shown.deformed), (0.0, &shown.scene.rest));
    let (title, subtitle, foot) = captions(&shown, &results.fields());
    assert_eq!((title, subtitle.as_str()), (["potential", ""], "potential from 0 to 5.500"));
    assert_eq!(foot, "steepest gradient 11.25");
    assert_eq!(shown.peak(), Some(11), "what is marked is the largest of what is shown");
    assert!(coloured(draw(&hex_pair(), &results.fields()).pixels.as_flattened()) > 150_000);
    results.potential[3] = f64::NAN;
    assert!(coloured(draw(&hex_pair(), &results.fields()).pixels.as_flattened()) > 100_000);
}

#[test]
fn one_maximum_is_said_at_the_end_of_the_bar_and_at_the_mark() {
    let results = Results::of_hex_pair();
    let shown = Shown::new(&hex_pair(), &results.fields(), None);
    assert_eq!((shown.range, shown.above, shown.peak()), ([0.25, 11.25], None, Some(11)));
    let subtitle = captions(&shown, &results.fields()).1;
    assert_eq!(subtitle, "largest von Mises stress 11.25 (mean at the node; 2.500 at element centres)");
}

#[test]
fn a_hot_spot_does_not_darken_all_else() {
    let mesh = generate_rectangle(Tri6, [2.0, 1.0], [40, 20]).unwrap();
    let mut results = Results::zero(&mesh);
    results.displacement.fill([1e-3, 0.0, 0.0]);
    let n = mesh.coords.len();
    results.nodal.sizes = (0..n).map(|i| 1e6 * i as f64 / n as f64).collect();
    let shown = Shown::new(&mesh, &results.fields(), None);
    assert!(shown.above.is_none() && shown.t.iter().all(|&t| t <= 1.0));
    results.nodal.sizes[7] = 5e6;
    let shown = Shown::new(&mesh, &results.fields(), None);
    // The number of two digits above 99.5 % of them.
    assert_eq!((shown.range, shown.above), ([0.0, 1e6], Some(5e6)));
    assert_eq!(shown.t.iter().filter(|&&t| t > 1.0).count(), 1);
    let canvas = shown.draw(&results.fields(), &PAIR);
    let red = canvas.pixels.iter().filter(|c| c[0] > 140 && c[1] < 60 && c[2] < 60).count();
    assert!(red > 400, "{red}");
    results.nodal.sizes[7] = 1.9e6;
    assert!(Shown::new(&mesh, &results.fields(), None).above.is_none());
}

#[test]
fn what_did_not_converge_is_stamped_and_warnings_are_counted() {
    let (mesh, results) = (hex_pair(), Results::of_hex_pair());
    let fields = results.fields();
    let inked = |heading: &Heading, is_it: fn(&&[u8; 3]) -> bool| {
        Shown::new(&mesh, &fields, None).draw(&fields, heading).pixels.iter().filter(is_it).count()
    };
    let alarm = |c: &&[u8; 3]| c[0] > 150 && c[1] < 80 && c[2] < 80;
    // The x axis is of a like red.
    assert!(inked(&PAIR, alarm) < 500);
    assert!(inked(&Heading { converged: false, ..PAIR }, alarm) > 50_000);
    let doubt = |c: &&[u8; 3]| c[0].abs_diff(170) < 9 && c[1].abs_diff(90) < 9 && c[2] < 9;
    assert_eq!(inked(&PAIR, doubt), 0);
    let warned = [1, 12].map(|warnings| inked(&Heading { warnings, ..PAIR }, doubt));
    assert!(0 < warned[0] && warned[0] < warned[1], "{warned:?}");
}
