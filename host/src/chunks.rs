//! Splitting an array at given places, so that threads can fill the parts.

/// The parts of `array` between consecutive `bounds`, which ascend from 0 to its length.
pub fn split_at_bounds<T>(array: &mut [T], bounds: impl IntoIterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = array;
    let mut parts = Vec::new();
    let mut start = 0;
    for bound in bounds.into_iter().skip(1) {
        let (head, tail) = rest.split_at_mut(bound - start);
        parts.push(head);
        rest = tail;
        start = bound;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_array() {
        let mut array = [1, 2, 3, 4, 5];
        let parts = split_at_bounds(&mut array, [0, 2, 2, 5]);
        assert_eq!(parts, [&mut [1, 2][..], &mut [], &mut [3, 4, 5]]);
    }
}
