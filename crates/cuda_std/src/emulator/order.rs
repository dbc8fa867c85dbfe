//! The order in which the lanes of a block and the blocks of a grid run.

/// An order of lanes or blocks. A correct kernel gives the same result in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From the first to the last.
    Forward,
    /// From the last to the first.
    Reverse,
    /// A permutation drawn from this seed.
    Shuffled(u64),
}

impl Order {
    /// The permutation of `0..n` as a list.
    pub(super) fn list(self, n: u32) -> Vec<u32> {
        let mut list: Vec<u32> = (0..n).collect();
        match self {
            Order::Forward => {}
            Order::Reverse => list.reverse(),
            Order::Shuffled(seed) => {
                let mut state = seed;
                for i in (1..list.len()).rev() {
                    let j = split_mix(&mut state) % (i as u64 + 1);
                    list.swap(i, j as usize);
                }
            }
        }
        list
    }

    /// The permutation of `0..n` as a function, for numbers of blocks too large to list.
    pub(super) fn permutation(self, n: u64) -> Permutation {
        match self {
            Order::Forward => Permutation { n, stride: 1, offset: 0 },
            Order::Reverse => Permutation { n, stride: n.saturating_sub(1).max(1), offset: n.saturating_sub(1) },
            Order::Shuffled(seed) => {
                let mut state = seed;
                let offset = split_mix(&mut state) % n.max(1);
                let mut stride = split_mix(&mut state) % n.max(1);
                while gcd(stride, n) > 1 {
                    stride += 1;
                }
                Permutation { n, stride: stride.max(1), offset }
            }
        }
    }
}

/// `k -> (offset + k stride) mod n` with a stride that has no factor in common with n.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    n: u64,
    stride: u64,
    offset: u64,
}

impl Permutation {
    /// Where position `k` goes.
    pub(super) fn at(self, k: u64) -> u64 {
        let (n, k) = (self.n as u128, k as u128);
        ((self.offset as u128 + k * self.stride as u128) % n) as u64
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn every_order_is_a_permutation() {
        for order in [Order::Forward, Order::Reverse, Order::Shuffled(1), Order::Shuffled(9)] {
            for n in [1, 2, 3, 32, 97, 100] {
                let mut list = order.list(n);
                list.sort_unstable();
                assert!(list.iter().copied().eq(0..n), "{order:?} of {n}");
                let map = order.permutation(n as u64);
                let mut image: Vec<u64> = (0..n as u64).map(|k| map.at(k)).collect();
                image.sort_unstable();
                assert!(image.iter().copied().eq(0..n as u64), "{order:?} of {n}");
            }
        }
    }

    #[test]
    fn reverse_runs_backwards() {
        assert_eq!(Order::Reverse.list(3), [2, 1, 0]);
        let map = Order::Reverse.permutation(3);
        assert_eq!([map.at(0), map.at(1), map.at(2)], [2, 1, 0]);
    }
}
