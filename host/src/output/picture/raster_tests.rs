use super::super::colormap::{self, identity};
use super::super::scene::NONE;
use super::*;

const LINE_COLOR: Rgb = [150, 150, 155];

fn render(points: &[[f32; 3]], t: &[f32], faces: &[[u32; 4]], size: usize) -> Frame {
    Drawing::plain(points.to_vec(), t, faces, &identity()).render(size, size)
}

fn covered(frame: &Frame) -> usize {
    frame.depth.iter().filter(|depth| depth.is_finite()).count()
}

#[test]
fn a_square_covers_its_samples_across_bands_in_either_orientation() {
    let points = [[10.0, 10.0, 0.0], [90.0, 10.0, 0.0], [90.0, 90.0, 0.0], [10.0, 90.0, 0.0]];
    for face in [[0, 1, 2, 3], [3, 2, 1, 0]] {
        assert_eq!(covered(&render(&points, &[0.5; 4], &[face], 100)), 80 * 80);
    }
}

#[test]
fn neighbours_leave_no_gap() {
    // A fan around an odd centre.
    let rim: Vec<[f32; 3]> = (0..17).map(|i| i as f32 * 0.3696).map(|a| [a.cos(), a.sin(), 0.0]).collect();
    let mut points: Vec<_> = rim.iter().map(|p| [50.3 + 40.0 * p[0], 49.7 + 40.0 * p[1], 0.0]).collect();
    points.push([47.1, 52.9, 0.0]);
    let faces: Vec<[u32; 4]> = (0..17).map(|i| [i, (i + 1) % 17, 17, NONE]).collect();
    let frame = render(&points, &[0.5; 18], &faces, 100);
    for y in 20..80 {
        for x in 0..100 {
            let inside = (x as f32 + 0.5 - 50.3).hypot(y as f32 + 0.5 - 49.7) < 38.0;
            assert!(!inside || frame.depth[y * 100 + x].is_finite(), "{x} {y}");
        }
    }
}

#[test]
fn the_nearer_face_is_seen_in_either_order() {
    let square = |z: f32| [[0.0, 0.0, z], [64.0, 0.0, z], [64.0, 64.0, z], [0.0, 64.0, z]];
    let points = [square(1.0), square(2.0)].concat();
    let t = [[0.0; 4], [1.0; 4]].concat();
    for faces in [[[0, 1, 2, 3], [4, 5, 6, 7]], [[4, 5, 6, 7], [0, 1, 2, 3]]] {
        assert!(render(&points, &t, &faces, 64).color.iter().all(|color| color[0] == 255));
    }
}

#[test]
fn values_are_interpolated() {
    let points = [[0.0, 0.0, 0.0], [256.0, 0.0, 0.0], [256.0, 256.0, 0.0], [0.0, 256.0, 0.0]];
    let frame = render(&points, &[0.0, 1.0, 1.0, 0.0], &[[0, 1, 2, 3]], 256);
    for x in 0..256 {
        assert!(frame.color[100 * 256 + x][0].abs_diff(x as u8) <= 1);
    }
}

#[test]
fn lines_are_hidden_by_nearer_faces_only() {
    let map = identity();
    let points = vec![[0.0, 0.0, 0.0], [32.0, 0.0, 0.0], [32.0, 64.0, 0.0], [0.0, 64.0, 0.0]];
    let line = |y: f32, z: f32| Line { ends: [[-10.0, y, z], [70.0, y, z]], color: LINE_COLOR };
    let upright = Line { ends: [[48.5, 0.0, 0.0], [48.5, 64.0, 0.0]], color: LINE_COLOR };
    let lines = vec![line(20.5, -50.0), line(40.5, 50.0), upright];
    let drawing = Drawing { lines, ..Drawing::plain(points, &[0.0; 4], &[[0, 1, 2, 3]], &map) };
    let frame = drawing.render(64, 64);
    let at = |x: usize, y: usize| frame.color[y * 64 + x];
    assert_eq!([at(10, 20), at(10, 40)], [[0; 3], LINE_COLOR]);
    assert_eq!([at(40, 20), at(40, 40), at(48, 5), at(48, 60)], [LINE_COLOR; 4]);
    assert_eq!(at(40, 30), BACKGROUND);
}

#[test]
fn edges_darken_their_own_face_but_not_the_diagonal() {
    let map = colormap::Map { colors: [[200; 3]; colormap::SIZE], above: [0; 3] };
    let points = vec![[8.0, 8.0, 0.0], [56.0, 8.0, 0.0], [56.0, 56.0, 0.0], [8.0, 56.0, 0.0]];
    let drawing = Drawing {
        edges: &[[Edge::Smooth, Edge::Feature, Edge::Smooth, Edge::Feature]],
        smooth_edges: true,
        shades: &[0.5],
        ..Drawing::plain(points, &[0.0; 4], &[[0, 1, 2, 3]], &map)
    };
    let frame = drawing.render(64, 64);
    let at = |x: usize, y: usize| frame.color[y * 64 + x][0];
    assert_eq!([at(32, 32), at(20, 20), at(40, 20)], [100; 3]);
    assert!(at(55, 32) < at(32, 8) && at(32, 8) < 100, "{} {}", at(55, 32), at(32, 8));
}

#[test]
fn degenerate_and_distant_faces_draw_nothing() {
    let points =
        [[5.0, 5.0, 0.0], [5.0, 5.0, 0.0], [9.0, 9.0, 0.0], [1e9, 1e9, 0.0], [1e9, -1e9, 0.0], [2e9, 0.0, 0.0]];
    let faces = [[0, 1, 2, NONE], [0, 0, 0, 0], [3, 4, 5, NONE]];
    assert_eq!(covered(&render(&points, &[0.0; 6], &faces, 32)), 0);
}
