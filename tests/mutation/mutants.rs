//! Files made wrong: a few mistakes each, of the kinds that transfers, editors and scripts make.

use warpfem::verify::meshes::Random;

/// Numbers that programs stumble over.
#[rustfmt::skip]
const NUMBERS: [&[u8]; 18] = [
    b"0", b"-1", b"1", b"2", b"4", b"11", b"1e308", b"-1e308", b"1e-320", b"nan", b"inf", b"0.5", b"65536", b"2147483648",
    b"4294967295", b"18446744073709551615", b"99999999999999999999999", b"-9223372036854775808",
];

/// Files and what can be made of them.
pub struct Mutants {
    sound: Vec<Vec<u8>>,
}

impl Mutants {
    /// Of these files.
    pub fn new(sound: Vec<Vec<u8>>) -> Self {
        Mutants { sound }
    }

    /// The mutant of this number: one of the files in turn, with one mistake, or up to four.
    pub fn mutant(&self, number: usize) -> Vec<u8> {
        let mut random = Random((number as u64 ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9));
        // The first numbers of near seeds are near.
        for _ in 0..4 {
            random.next();
        }
        let mut bytes = self.sound[number % self.sound.len()].clone();
        let mistakes = if random.below(2) == 0 { 1 } else { 1 + random.below(4) };
        for _ in 0..mistakes {
            self.spoil(&mut bytes, &mut random);
        }
        bytes
    }

    fn spoil(&self, bytes: &mut Vec<u8>, random: &mut Random) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        let run = at..bytes.len().min(at + 1 + random.below(16));
        match random.below(20) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => drop(bytes.drain(run)),
            3 => {
                let copy = bytes[run].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => bytes[run].fill([0, 0xff, 0x7f, b' '][random.below(4)]),
            5 => bytes.truncate(at),
            6 => {
                let other = &self.sound[random.below(self.sound.len())];
                let from = random.below(other.len());
                let piece = other[from..other.len().min(from + 1 + random.below(200))].to_vec();
                bytes.splice(at..at, piece);
            }
            7 => drop(bytes.drain(line(bytes, at))),
            8 => {
                let copy = bytes[line(bytes, at)].to_vec();
                bytes.splice(line(bytes, at), [&copy[..], &copy].concat());
            }
            9 => {
                let (one, other) = (line(bytes, at), line(bytes, random.below(bytes.len())));
                let [copy, moved] = [&one, &other].map(|range| bytes[range.clone()].to_vec());
                if one.end <= other.start {
                    bytes.splice(other, copy);
                    bytes.splice(one, moved);
                }
            }
            10..15 => {
                if let Some(digit) = word(bytes, at, |c| c.is_ascii_digit()) {
                    bytes[digit.start] = b'0' + random.below(10) as u8;
                }
            }
            _ => {
                let number = NUMBERS[random.below(NUMBERS.len())];
                if let Some(place) = word(bytes, at, |c| c.is_ascii_digit() || b".-+eE".contains(&c)) {
                    bytes.splice(place, number.iter().copied());
                }
            }
        }
    }
}

/// The line round a place, its end included.
fn line(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = bytes[..at].iter().rposition(|c| *c == b'\n').map_or(0, |end| end + 1);
    let end = bytes[at..].iter().position(|c| *c == b'\n').map_or(bytes.len(), |end| at + end + 1);
    start..end
}

/// The first run of such bytes from a place on.
fn word(bytes: &[u8], at: usize, is_in: impl Fn(u8) -> bool) -> Option<std::ops::Range<usize>> {
    let start = at + bytes[at..].iter().position(|c| is_in(*c))?;
    let end = bytes[start..].iter().position(|c| !is_in(*c)).map_or(bytes.len(), |n| start + n);
    Some(start..end)
}

#[test]
fn a_number_makes_the_same_mutant_every_time_and_another_number_another() {
    let mutants = Mutants::new(vec![b"one 1\ntwo 2\nthree 3\n".repeat(20)]);
    let made: Vec<Vec<u8>> = (0..100).map(|i| mutants.mutant(i)).collect();
    assert!((0..100).all(|i| made[i] == mutants.mutant(i)));
    let distinct: std::collections::BTreeSet<&Vec<u8>> = made.iter().collect();
    assert!(distinct.len() > 90, "{} of 100", distinct.len());
}
