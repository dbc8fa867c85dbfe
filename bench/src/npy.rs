//! Arrays as NumPy reads them: NPY files of version 1.0, one-dimensional.

use bytemuck::Pod;
use std::io::{self, Write};

/// A type of entries.
pub trait Entry: Pod {
    /// NumPy's name of it, without the byte order.
    const KIND: &'static str;
}

macro_rules! entries {
    ($($T:ty: $kind:literal),+) => { $(impl Entry for $T { const KIND: &'static str = $kind; })+ };
}
entries!(i32: "i4", i64: "i8", f32: "f4", f64: "f8");

/// Writes what comes before the `n` entries of an array. The header takes a multiple of 64 bytes, as NumPy's own does.
pub fn write_header<T: Entry>(out: &mut impl Write, n: u64) -> io::Result<()> {
    const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
    let order = if cfg!(target_endian = "little") { '<' } else { '>' };
    let text = format!("{{'descr': '{order}{}', 'fortran_order': False, 'shape': ({n},), }}", T::KIND);
    let length = (MAGIC.len() + 2 + text.len() + 1).next_multiple_of(64) - MAGIC.len() - 2;
    out.write_all(MAGIC)?;
    out.write_all(&(length as u16).to_le_bytes())?;
    out.write_all(format!("{text:<width$}\n", width = length - 1).as_bytes())
}

/// Writes entries after the header, or after others.
pub fn write_entries<T: Entry>(out: &mut impl Write, entries: &[T]) -> io::Result<()> {
    out.write_all(bytemuck::cast_slice(entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_what_numpy_writes() {
        let mut file = Vec::new();
        write_header::<i32>(&mut file, 3).unwrap();
        write_entries(&mut file, &[1i32, -2]).unwrap();
        write_entries(&mut file, &[3i32]).unwrap();
        // numpy.save(file, numpy.array([1, -2, 3], "i4")), numpy 2.4.
        let mut expected = b"\x93NUMPY\x01\x00v\x00{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }".to_vec();
        expected.resize(127, b' ');
        expected.extend(b"\n\x01\0\0\0\xfe\xff\xff\xff\x03\0\0\0");
        assert_eq!(file, expected);
    }

    #[test]
    fn headers_take_a_multiple_of_64_bytes() {
        for n in [0, 9, 10, 1 << 20, u64::MAX] {
            let mut file = Vec::new();
            write_header::<f64>(&mut file, n).unwrap();
            assert!(file.len().is_multiple_of(64) && file.ends_with(b"\n"), "{n}");
            assert_eq!(usize::from(file[8]) + 256 * usize::from(file[9]) + 10, file.len());
        }
    }
}
