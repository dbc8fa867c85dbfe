use super::super::distribution::Peak;
use super::super::summary::Results;
use super::super::tests::{elastic, hex_pair, model, of_hex_pair, summary, values, zero};
use super::*;
use crate::element::ElementKind::{Quad8, Tri6};
use crate::mesh::rectangle::generate_rectangle;
use crate::model::{AppliedLoad, Support};
use crate::result::{At, When};
use canvas::Font;
use shapes::Shape;
use sheet::Captions;

fn pair() -> Summary {
    let mut pair = summary();
    pair.solver.converged = true;
    pair
}

fn shown(mesh: &Mesh, results: &Step) -> Shown {
    Shown::new(mesh, results, &[], None)
}

fn draw(mesh: &Mesh, fields: &Step) -> Canvas {
    Shown::new(mesh, fields, &[], None).draw(fields, &Shot::default(), &pair())
}

/// Width, height and bytes of a picture.
fn decoded(file: Vec<u8>) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

fn picture(results: &Step) -> (u32, u32, Vec<u8>) {
    decoded(shown(&hex_pair(), results).png(results, &Shot::default(), &pair()).unwrap())
}

/// How many pixels have a colour, rather than a grey.
fn coloured(pixels: &[u8]) -> usize {
    pixels.chunks_exact(3).filter(|c| c.iter().max().unwrap() - c.iter().min().unwrap() > 40).count()
}

#[test]
fn the_picture_is_1600_wide_and_shows_the_part() {
    let (width, height, pixels) = picture(&elastic());
    assert_eq!(width, 1600);
    assert!((600..1200).contains(&height));
    assert!(coloured(&pixels) > 150_000, "{}", coloured(&pixels));
    assert_eq!(pixels[..3], [255; 3]);
}

#[test]
fn the_same_results_give_the_same_picture_on_any_number_of_threads() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let results = elastic();
    assert!(one.install(|| picture(&results)) == picture(&results));
}

#[test]
fn names_are_drawn_written_out() {
    let (mesh, results) = (hex_pair(), elastic());
    let shown = shown(&mesh, &results);
    let drawn = |case: &str| shown.png(&results, &Shot::default(), &Summary { case: case.into(), ..pair() }).unwrap();
    assert!(drawn("a\u{1b}\u{202e}b") == drawn("a\\u{1b}\\u{202e}b"));
    assert!(drawn("a\u{1b}b") != drawn("a?b"));
}

#[test]
fn results_without_size_are_drawn_all_the_same() {
    let mut results = elastic();
    values(&mut results, "displacement").fill(0.0);
    values(&mut results, "von_mises_nodal").fill(5.0);
    assert!(coloured(&picture(&results).2) > 150_000);
    values(&mut results, "von_mises_nodal").fill(0.0);
    assert!(coloured(&picture(&results).2) > 150_000);
}

#[test]
fn results_that_are_not_finite_are_drawn_all_the_same() {
    let mut results = elastic();
    values(&mut results, "displacement").fill(f64::NAN);
    values(&mut results, "von_mises_nodal").fill(f64::INFINITY);
    assert!(coloured(&picture(&results).2) > 100_000);
    *values(&mut results, "displacement") = [1e300, -1e300, 0.0].repeat(12);
    values(&mut results, "von_mises_nodal")[..2].copy_from_slice(&[1e300, f64::NAN]);
    assert_eq!(picture(&results).0, 1600);
}

#[test]
fn a_mesh_without_cells_gives_a_picture_without_a_part() {
    let mut mesh = hex_pair();
    mesh.cells.clear();
    let mut results = elastic();
    results.fields.retain(|field| field.info.at == At::Node);
    assert_eq!(draw(&mesh, &results).width, WIDTH);
}

#[test]
fn uniform_stress_has_one_colour_and_no_mark() {
    let mut results = elastic();
    *values(&mut results, "von_mises_nodal") = (0..12).map(|i| 5.0 + 1e-15 * f64::from(i)).collect();
    let shown = shown(&hex_pair(), &results);
    assert!(shown.colors.t.iter().all(|&t| t == 0.5) && shown.colors.peak(false).is_none());
}

#[test]
fn plane_meshes_are_drawn_face_on() {
    for kind in [Tri6, Quad8] {
        let mesh = generate_rectangle(kind, [2.0, 1.0], [4, 2]).unwrap();
        let mut results = zero(&mesh);
        *values(&mut results, "von_mises_nodal") = (0..mesh.coords.len()).map(|i| i as f64).collect();
        *values(&mut results, "displacement") = mesh.coords.iter().flat_map(|x| [0.0, x[0] * x[0], 0.0]).collect();
        let shown = shown(&mesh, &results);
        assert_eq!(shown.view().axes, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "{kind:?}");
        let canvas = draw(&mesh, &results);
        assert!(coloured(canvas.pixels.as_flattened()) > 150_000, "{kind:?}");
    }
}

#[test]
fn a_potential_colours_the_body_where_it_is() {
    let mut fields = of_hex_pair(Physics::Potential, When::Usual);
    let shown = Shown::new(&hex_pair(), &fields, &[], None);
    assert_eq!(shown.colors.range, [0.0, 5.5]);
    assert_eq!(shown.scene.values(), fields.nodes("potential"), "the nodes' own values, not means of elements");
    assert_eq!((shown.largest, &shown.deformed), (0.0, &shown.scene.rest));
    let Captions { title, subtitle, foot } = Captions::new(&shown, &fields, &Shot::default(), &pair());
    assert_eq!((title, subtitle.as_str()), (["potential", ""].map(String::from), "potential from 0 to 5.500"));
    assert_eq!(foot, "steepest gradient 110.9");
    assert_eq!(shown.colors.peak(false), Some(11), "what is marked is the largest of what is shown");
    assert!(coloured(draw(&hex_pair(), &fields).pixels.as_flattened()) > 150_000);
    values(&mut fields, "potential")[3] = f64::NAN;
    assert!(coloured(draw(&hex_pair(), &fields).pixels.as_flattened()) > 100_000);
}

#[test]
fn one_maximum_is_said_at_the_end_of_the_bar_and_at_the_mark() {
    let results = elastic();
    let shown = shown(&hex_pair(), &results);
    assert_eq!((shown.colors.range, shown.colors.above, shown.colors.peak(false)), ([0.25, 11.25], None, Some(11)));
    let subtitle = Captions::new(&shown, &results, &Shot::default(), &pair()).subtitle;
    assert_eq!(subtitle, "largest von Mises stress 11.25 (nodal average; 2.500 at element centres)");
}

#[test]
fn a_hot_spot_does_not_darken_all_else() {
    let mesh = generate_rectangle(Tri6, [2.0, 1.0], [40, 20]).unwrap();
    let mut results = zero(&mesh);
    let n = mesh.coords.len();
    *values(&mut results, "displacement") = [1e-3, 0.0, 0.0].repeat(n);
    *values(&mut results, "von_mises_nodal") = (0..n).map(|i| 1e6 * i as f64 / n as f64).collect();
    let colors = shown(&mesh, &results).colors;
    assert!(colors.above.is_none() && colors.t.iter().all(|&t| t <= 1.0));
    values(&mut results, "von_mises_nodal")[7] = 5e6;
    let hot = shown(&mesh, &results);
    // The number of two digits above 99.5 % of them.
    assert_eq!((hot.colors.range, hot.colors.above), ([0.0, 1e6], Some(5e6)));
    assert_eq!(hot.colors.t.iter().filter(|&&t| t > 1.0).count(), 1);
    let canvas = hot.draw(&results, &Shot::default(), &pair());
    let red = canvas.pixels.iter().filter(|c| c[0] > 140 && c[1] < 60 && c[2] < 60).count();
    assert!(red > 400, "{red}");
    values(&mut results, "von_mises_nodal")[7] = 1.9e6;
    assert!(shown(&mesh, &results).colors.above.is_none());
}

#[test]
fn what_did_not_converge_is_stamped_and_warnings_are_counted() {
    let (mesh, results) = (hex_pair(), elastic());
    let fields = &results;
    let inked = |summary: &Summary, is_it: fn(&&[u8; 3]) -> bool| {
        shown(&mesh, &results).draw(fields, &Shot::default(), summary).pixels.iter().filter(is_it).count()
    };
    let alarm = |c: &&[u8; 3]| c[0] > 150 && c[1] < 80 && c[2] < 80;
    // The x axis is of a like red.
    assert!(inked(&pair(), alarm) < 500);
    assert!(inked(&summary(), alarm) > 50_000);
    let doubt = |c: &&[u8; 3]| c[0].abs_diff(170) < 9 && c[1].abs_diff(90) < 9 && c[2] < 9;
    assert_eq!(inked(&pair(), doubt), 0);
    let warned = [1, 12].map(|n| inked(&Summary { warnings: vec![String::new(); n], ..pair() }, doubt));
    assert!(0 < warned[0] && warned[0] < warned[1], "{warned:?}");
}

/// [`model`] with two walls, a force and a pressure.
fn held_and_loaded() -> Model {
    let held = |nodes, displacement| Support { name: "wall".into(), nodes, displacement, ..Support::default() };
    let load = |name: &str, nodes, total| AppliedLoad { name: name.into(), total, nodes };
    let mut model = model();
    model.supports = vec![held(vec![0, 1, 2, 3], [Some(0.0); 3]), held(vec![4, 5], [None, None, Some(0.0)])];
    model.applied = vec![
        load("force on end", vec![8, 9, 10, 11], [0.0, 0.0, -7.0]),
        load("pressure on top", vec![2, 3, 6, 7], [0.0; 3]),
    ];
    model
}

/// Pixels within rounding of a hue: the shade of a symbol's faces changes its brightness only.
fn of_hue(canvas: &Canvas, hue: colormap::Rgb) -> usize {
    let is_it = |c: &&colormap::Rgb| {
        let share = f32::from(c[0]) / f32::from(hue[0]);
        share > 0.65 && (1..3).all(|i| (f32::from(c[i]) - share * f32::from(hue[i])).abs() < 3.0)
    };
    canvas.pixels.iter().filter(is_it).count()
}

#[test]
fn supports_and_loads_have_symbols_in_colours_of_their_own() {
    let (mesh, results) = (hex_pair(), elastic());
    let (fields, mut model) = (&results, held_and_loaded());
    model.nodal_forces = vec![[0.0; 3]; 12];
    [2, 3, 6, 7].iter().for_each(|&node: &usize| model.nodal_forces[node] = [0.0, 0.0, -1.0]);
    model.gravity = Some([0.0, 0.0, -9.81]);
    let shown = Shown::new(&mesh, fields, &[], Some((&model, 0)));
    let labels: Vec<&str> = shown.groups.iter().map(|group| group.label.as_str()).collect();
    assert_eq!(labels, ["support wall", "support wall", "force on end: (0, 0, -7.000)", "pressure on top: 0 in all"]);
    let shapes: Vec<Shape> = shown.groups.iter().map(|group| group.symbols[0].shape).collect();
    assert_eq!(shapes, [Shape::Cube, Shape::Cone, Shape::Pull, Shape::Push]);
    assert!(shown.groups[3].symbols.iter().all(|symbol| symbol.along[2] < -0.99), "{:?}", shown.groups[3]);
    let (with, without) = (shown.draw(fields, &Shot::default(), &pair()), draw(&mesh, fields));
    assert!(with.height > without.height, "there is room for a legend");
    let colors = shown.groups.iter().map(|group| group.color).chain([symbols::GRAVITY]);
    for color in colors {
        let [some, none] = [of_hue(&with, color), of_hue(&without, color)];
        assert!(some > 60 && none < 20, "{color:?} {some} {none}");
    }
}

#[test]
fn a_large_group_has_some_forty_symbols_far_apart() {
    let mesh = generate_rectangle(Tri6, [2.0, 1.0], [200, 100]).unwrap();
    let results = zero(&mesh);
    let mut model = model();
    let nodes = (0..mesh.coords.len() as u32).collect();
    model.supports = vec![Support { name: "all".into(), nodes, displacement: [Some(0.0); 3], ..Support::default() }];
    model.mesh = mesh.into();
    let shown = Shown::new(&model.mesh, &results, &[], Some((&model, 0)));
    let places: Vec<[f64; 3]> = shown.groups[0].symbols.iter().map(|s| shown.scene.rest[s.node as usize]).collect();
    assert!((20..=40).contains(&places.len()), "{}", places.len());
    for (i, &a) in places.iter().enumerate() {
        assert!(places[..i].iter().all(|&b| dot(sub(a, b), sub(a, b)).sqrt() > 0.04));
    }
}

#[test]
fn every_side_and_field_gives_another_picture() {
    let (mesh, results) = (hex_pair(), elastic());
    let fields = &results;
    let views = Viewpoint::ALL.map(|(_, view)| view);
    let displacement = PointField::named("displacement_x", Physics::Elasticity, |_| true).unwrap();
    let shots = [Shot::all(&[], &views), Shot::all(std::slice::from_ref(&displacement), &[])[1..].to_vec()].concat();
    let shown = Shown::new(&mesh, fields, &shots, None);
    let drawn: Vec<Canvas> = shots.iter().map(|shot| shown.draw(fields, shot, &pair())).collect();
    for (i, canvas) in drawn.iter().enumerate() {
        assert!(coloured(canvas.pixels.as_flattened()) > 50_000, "{:?}", shots[i]);
        assert!(drawn[..i].iter().all(|other| other.pixels != canvas.pixels), "{:?}", shots[i]);
    }
    let captions = Captions::new(&shown, fields, &shots[8], &pair());
    assert_eq!(
        (captions.title[0].as_str(), captions.subtitle.as_str()),
        ("displacement x", "displacement x from 100.0 to 111.0")
    );
}

#[test]
fn units_and_the_largest_value_away_are_said() {
    let results = elastic();
    let (shown, fields) = (shown(&hex_pair(), &results), &results);
    let away = |rises| {
        let max_away = Some(Peak { max: 3.0, ..Peak::default() });
        let results = Results { max_away, max_away_rises: Some(rises), ..Results::default() };
        let summary = Summary { units: Some(Units::MmNS), results, ..pair() };
        Captions::new(&shown, fields, &Shot::default(), &summary)
    };
    let captions = away(true);
    assert_eq!(captions.title[1], "in MPa");
    assert_eq!(
        captions.subtitle,
        "largest von Mises stress 11.25 MPa; away from supports, point loads and inner corners 3.000 MPa, still rising \
         towards them: do not rely on it"
    );
    assert!(Font::Plain.width(&captions.subtitle) < WIDTH as f32 - 80.0);
    let settled = away(false).subtitle;
    assert!(
        settled.starts_with("largest von Mises stress 11.25 MPa (") && settled.ends_with(" 3.000 MPa"),
        "{settled}"
    );
    assert!(captions.foot.contains("displacement 192.4 mm"), "{}", captions.foot);
}

#[test]
fn a_model_is_drawn_in_grey_with_its_symbols() {
    let mut model = held_and_loaded();
    model.units = Some(Units::MmNS);
    let shown = Shown::new(&model.mesh, &elastic(), &[], Some((&model, 0)));
    assert_eq!(shown.groups[2].label, "force on end: (0, 0, -7.000) N");
    let (_, _, pixels) = decoded(model_png(&model, None).unwrap());
    let grey = pixels.chunks_exact(3).filter(|c| c[0] < 215 && c[0] > 120 && c[0].abs_diff(c[2]) < 9).count();
    assert!(grey > 100_000 && coloured(&pixels) > 500, "{grey} {}", coloured(&pixels));
}
