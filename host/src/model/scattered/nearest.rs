//! The points nearest to a place, by a k-d tree (Bentley 1975).

/// Points, halved again and again along the longest side of their box.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Tree {
    points: Vec<[f64; 3]>,
    /// Their numbers; the middle one of a range parts the others.
    order: Vec<u32>,
    /// The direction across which that one parts its range.
    axis: Vec<u8>,
}

fn extent(points: impl Iterator<Item = [f64; 3]>) -> ([f64; 3], [f64; 3]) {
    let none = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    points.fold(none, |(low, high), x| ([0, 1, 2].map(|c| low[c].min(x[c])), [0, 1, 2].map(|c| high[c].max(x[c]))))
}

impl Tree {
    /// Of points, of which there is at least one.
    pub fn new(points: Vec<[f64; 3]>) -> Tree {
        let n = points.len();
        let mut tree = Tree { points, order: (0..n as u32).collect(), axis: vec![0; n] };
        tree.part(0, n);
        tree
    }

    fn part(&mut self, start: usize, end: usize) {
        if end - start < 2 {
            return;
        }
        let points = &self.points;
        let (low, high) = extent(self.order[start..end].iter().map(|&i| points[i as usize]));
        let axis = (0..3).fold(0, |most, c| if high[c] - low[c] > high[most] - low[most] { c } else { most });
        let middle = start + (end - start) / 2;
        let along = |i: &u32| points[*i as usize][axis];
        self.order[start..end].select_nth_unstable_by(middle - start, |a, b| along(a).total_cmp(&along(b)));
        self.axis[middle] = axis as u8;
        self.part(start, middle);
        self.part(middle + 1, end);
    }

    /// The points as they came.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// The corners of the box round them.
    pub fn extent(&self) -> ([f64; 3], [f64; 3]) {
        extent(self.points.iter().copied())
    }

    /// The distances and numbers of the nearest `count` points, or of all, the nearest first.
    pub fn nearest(&self, place: [f64; 3], count: usize) -> Vec<(f64, usize)> {
        let mut found = Vec::with_capacity(count + 1);
        self.search((0, self.order.len()), place, count, &mut found);
        found.into_iter().map(|(square, point)| (f64::sqrt(square), point)).collect()
    }

    /// Takes the points of a range that are nearer than those found; distances are squared.
    fn search(&self, (start, end): (usize, usize), place: [f64; 3], count: usize, found: &mut Vec<(f64, usize)>) {
        if start == end {
            return;
        }
        let middle = start + (end - start) / 2;
        let (point, axis) = (self.order[middle] as usize, self.axis[middle] as usize);
        let from = [0, 1, 2].map(|c| self.points[point][c] - place[c]);
        let square = from.iter().map(|c| c * c).sum();
        let behind = found.partition_point(|known| *known < (square, point));
        found.insert(behind, (square, point));
        found.truncate(count);
        let halves = [(start, middle), (middle + 1, end)];
        let (near, far) = if from[axis] > 0.0 { (halves[0], halves[1]) } else { (halves[1], halves[0]) };
        self.search(near, place, count, found);
        if found.len() < count || from[axis] * from[axis] <= found[found.len() - 1].0 {
            self.search(far, place, count, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_those_of_a_search_through_all() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / f64::from(1 << 24)
        };
        let points: Vec<[f64; 3]> = (0..500).map(|_| [random(), 3.0 * random(), random().round()]).collect();
        let tree = Tree::new(points.clone());
        for _ in 0..50 {
            let place = [random(), 3.0 * random(), random()];
            let mut all: Vec<(f64, usize)> = (points.iter().enumerate())
                .map(|(i, x)| ((0..3).map(|c| (x[c] - place[c]).powi(2)).sum::<f64>().sqrt(), i))
                .collect();
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            assert_eq!(tree.nearest(place, 7), all[..7]);
        }
        assert_eq!(tree.nearest([0.0; 3], 900).len(), 500);
    }
}
