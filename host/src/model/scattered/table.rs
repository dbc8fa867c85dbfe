//! CSV files of points: lines of coordinates and a value, with or without a header.

/// Points and their values.
pub(super) type Rows = (Vec<[f64; 3]>, Vec<f64>);

/// The columns that a file has, the value's as it is called.
pub(super) fn form(words: &[&str]) -> String {
    format!("x, y, z, {}", words[0])
}

/// Reads a text; in a plane of this z coordinates may be two. Columns of a file with a header are found by their names, the
/// value's by one of some words.
pub(super) fn parse(text: &str, words: &[&str], plane_z: Option<f64>) -> Result<Rows, String> {
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
            (4, _) => [Some(0), Some(1), Some(2), Some(3)],
            (3, Some(_)) => [Some(0), Some(1), None, Some(2)],
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
        points.push([at(columns[0])?, at(columns[1])?, at(columns[2])?]);
        values.push(at(columns[3])?);
    }
    if points.is_empty() { Err("there is no point in it".into()) } else { Ok((points, values)) }
}

/// The columns of x, y, z and the value by a header; units in brackets do not count.
fn named(header: &[&str], words: &[&str], is_plane: bool) -> Result<[Option<usize>; 4], String> {
    let plain = |field: &&str| field.split(['[', '(']).next().unwrap_or("").trim_matches([' ', '"']).to_lowercase();
    let names: Vec<String> = header.iter().map(plain).collect();
    let find = |name: &str| names.iter().position(|known| known == name);
    let value = words.iter().find_map(|word| find(word));
    let axes = ["x", "y", "z"].map(find);
    let missing = ["x", "y", "z"].into_iter().zip(axes).find(|(name, at)| at.is_none() && !(*name == "z" && is_plane));
    match (missing, value) {
        (None, Some(value)) => Ok([axes[0], axes[1], axes[2], Some(value)]),
        (Some((name, _)), _) => Err(format!("its header has no column `{name}`")),
        (None, None) => Err(format!("its header has no column {}", words.join(", "))),
    }
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

    const WORDS: &[&str] = &["temperature", "potential"];

    #[test]
    fn files_with_and_without_header_are_read() {
        let rows = (vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], vec![20.0, 30.0]);
        for text in [
            "1,2,3,20\n4,5,6,30\n",
            "# points\n1 2 3 20\n\n4 5 6 30",
            "x;y;z;Temperature [K]\n1;2;3;20\n4;5;6;30\n",
            "node,x [mm],y [mm],z [mm],potential\n7,1,2,3,20\n8,4,5,6,30\n",
        ] {
            assert_eq!(parse(text, WORDS, None).unwrap(), rows, "{text}");
        }
        assert_eq!(parse("1 2 20", WORDS, Some(0.5)).unwrap(), (vec![[1.0, 2.0, 0.5]], vec![20.0]));
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
