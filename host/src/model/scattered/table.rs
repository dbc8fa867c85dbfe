//! CSV files of points: lines of coordinates and values, with or without a header.

use std::array::from_fn;

/// Points and their values.
pub(super) type Rows<const N: usize> = (Vec<[f64; 3]>, Vec<[f64; N]>);

/// The columns that a file has, those of values as they are called.
pub(super) fn form<const N: usize>(words: [&[&str]; N]) -> String {
    format!("x, y, z, {}", words.map(|words| words[0]).join(", "))
}

/// Reads a text; in a plane of this z coordinates may be two. Columns of a file with a header are found by their names, each
/// of the values by one of some words.
pub(super) fn parse<const N: usize>(text: &str, words: [&[&str]; N], plane_z: Option<f64>) -> Result<Rows<N>, String> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#')).peekable();
    let Some((_, first)) = lines.peek() else { return Err("the file is empty".into()) };
    let fields = split(first);
    let has_header = fields.iter().any(|field| field.parse::<f64>().is_err());
    let columns = if has_header {
        lines.next();
        named(&fields, words, plane_z.is_some())?
    } else {
        match (fields.len(), plane_z) {
            (n, _) if n == 3 + N => ([Some(0), Some(1), Some(2)], from_fn(|k| 3 + k)),
            (n, Some(_)) if n == 2 + N => ([Some(0), Some(1), None], from_fn(|k| 2 + k)),
            (n, _) => return Err(format!("its lines have {n} numbers, and no header says what they are")),
        }
    };
    let (mut points, mut values) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let fields = split(line);
        let at = |column: Option<usize>| match column {
            None => Ok(plane_z.unwrap_or(0.0)),
            Some(column) => match fields.get(column).map(|field| field.parse::<f64>()) {
                Some(Ok(value)) if value.is_finite() => Ok(value),
                Some(_) => Err(format!("line {}: `{}` is no number", number + 1, fields[column])),
                None => Err(format!("line {} has {} numbers only", number + 1, fields.len())),
            },
        };
        let (of_point, of_values) = columns;
        points.push([at(of_point[0])?, at(of_point[1])?, at(of_point[2])?]);
        let mut row = [0.0; N];
        for (value, column) in row.iter_mut().zip(of_values) {
            *value = at(Some(column))?;
        }
        values.push(row);
    }
    if points.is_empty() { Err("there is no point in it".into()) } else { Ok((points, values)) }
}

/// The columns of x, y, z and of the values.
type Places<const N: usize> = ([Option<usize>; 3], [usize; N]);

/// These by a header; units in brackets do not count.
fn named<const N: usize>(header: &[&str], words: [&[&str]; N], is_plane: bool) -> Result<Places<N>, String> {
    let plain = |field: &&str| field.split(['[', '(']).next().unwrap_or("").trim_matches([' ', '"']).to_lowercase();
    let names: Vec<String> = header.iter().map(plain).collect();
    let find = |name: &str| names.iter().position(|known| known == name);
    let axes = ["x", "y", "z"].map(find);
    let missing = ["x", "y", "z"].into_iter().zip(axes).find(|(name, at)| at.is_none() && !(*name == "z" && is_plane));
    if let Some((name, _)) = missing {
        return Err(format!("its header has no column `{name}`"));
    }
    let mut values = [0; N];
    for (value, words) in values.iter_mut().zip(words) {
        let column = words.iter().find_map(|word| find(word));
        *value = column.ok_or_else(|| format!("its header has no column {}", words.join(", ")))?;
    }
    Ok((axes, values))
}

/// The fields of a line: between commas, semicolons or tabs, or else blanks.
fn split(line: &str) -> Vec<&str> {
    match line.contains([',', ';', '\t']) {
        true => line.trim().split([',', ';', '\t']).map(str::trim).collect(),
        false => line.split_whitespace().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&[&str]; 1] = [&["temperature", "potential"]];

    #[test]
    fn files_with_and_without_header_are_read() {
        let rows = (vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], vec![[20.0], [30.0]]);
        for text in [
            "1,2,3,20\n4,5,6,30\n",
            "# points\n1 2 3 20\n\n4 5 6 30",
            "x;y;z;Temperature [K]\n1;2;3;20\n4;5;6;30\n",
            "node,x [mm],y [mm],z [mm],potential\n7,1,2,3,20\n8,4,5,6,30\n",
        ] {
            assert_eq!(parse(text, WORDS, None).unwrap(), rows, "{text}");
        }
        assert_eq!(parse("1 2 20", WORDS, Some(0.5)).unwrap(), (vec![[1.0, 2.0, 0.5]], vec![[20.0]]));
        let pairs = parse("b,x,y,z,a\n5,1,2,3,4\n", [&["a"], &["b"]], None).unwrap();
        assert_eq!(pairs, (vec![[1.0, 2.0, 3.0]], vec![[4.0, 5.0]]));
        assert_eq!(parse("1 2 3 4 5", [&["a"], &["b"]], None).unwrap(), pairs);
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, words) in [
            ("", "empty"),
            ("x,y,z,temperature\n", "no point"),
            ("1,2,20", "3 numbers"),
            ("1,2,3,20\n1,2,3", "line 2 has 3"),
            ("1,2,3,20\n1,2,3,warm", "line 2: `warm`"),
            ("1,2,3,nan", "line 1: `nan`"),
            ("x,y,temperature\n1,2,3", "no column `z`"),
            ("x,y,z,stress\n1,2,3,4", "no column temperature"),
        ] {
            let said = parse(text, WORDS, None).unwrap_err();
            assert!(said.contains(words), "{said}");
        }
    }
}
