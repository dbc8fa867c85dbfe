//! Base64 (RFC 4648, section 4): three bytes as four characters.

use crate::parallel;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Bytes per task; a multiple of three, so that no padding comes within.
const CHUNK: usize = 3 << 16;

/// `bytes` as text, padded by `=` to a multiple of four characters.
pub(super) fn encode(bytes: &[u8]) -> String {
    parallel::map(bytes.chunks(CHUNK), &encode_chunk).concat()
}

fn encode_chunk(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, i| bits << 8 | u32::from(*three.get(i).unwrap_or(&0)));
        for i in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= three.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_standard() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        cases.iter().for_each(|(bytes, text)| assert_eq!(encode(bytes.as_bytes()), *text));
        assert_eq!(encode(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn tasks_join_without_padding_between_them() {
        let text = encode(&vec![0; CHUNK + 1]);
        assert_eq!(text.len(), (CHUNK + 3) / 3 * 4);
        assert_eq!(text.find('='), Some(text.len() - 2));
    }
}
