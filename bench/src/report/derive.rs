//! What the outline's expressions find in the JSON beside what was measured: names, and figures of other lists that are
//! of the same problem.

use super::lookup::{ELEMENTS, OURS, is_file, title};
use super::run::{is_gpu, threads};
use serde_json::{Map, Value, json};

/// From how many million cells the matrix is larger than caches: DSM's large mesh and beyond.
const LARGE: usize = 40;
/// Beginnings of the names of cuSPARSE's variants, of which each the fastest counts.
const VARIANTS: [&str; 6] = ["sell32", "csr", "csr_alg", "bsr", "cupy_csr", "torch_csr"];

/// Adds `machine`, and to every entry of the lists what is derived from it and from the others.
pub fn derive(file: &mut Value) {
    let device = file["device"].as_str().unwrap_or_default().to_owned();
    let on_gpu = is_gpu(&device);
    file["machine"] = json!({ "device": device, "gpu": on_gpu });
    let given = file.clone();
    let lists = file.as_object_mut().into_iter().flatten();
    for (list, entry) in
        lists.flat_map(|(list, found)| found.as_array_mut().into_iter().flatten().map(move |e| (list, e)))
    {
        let Value::Object(entry) = entry else { continue };
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (problem, precision, of) = (text("problem"), text("precision"), text("device"));
        let main = if on_gpu { is_gpu(&of) } else { of == device };
        let format = if text("format") == "auto" { OURS.to_owned() } else { text("format") };
        let element = problem.split(' ').next().unwrap_or_default();
        let rank = ELEMENTS.iter().position(|one| *one == element).unwrap_or(ELEMENTS.len());
        let named = if main { String::new() } else { format!(", {of}") };
        let more = json!({
            "title": title(&problem),
            "name": format!("{}, {precision}", title(&problem)),
            "named": format!("{}{named}", title(&problem)),
            "rank": rank,
            "main": main,
            "gpu": is_gpu(&of),
            "threads": threads(&of),
            "file": is_file(&problem),
            "layout": format,
            "several": entry.get("rows").and_then(Value::as_array).is_some_and(|rows| rows.len() > 1),
        });
        let joined = match list.as_str() {
            "spmv" => json!({ "library": library(&given, entry), "solution_ms": solution(&given, &problem, on_gpu) }),
            "cg" => json!({
                "serial": serial(&given, entry, on_gpu),
                "fused": given["peer"][&problem][&precision],
                "scipy": find(&given["host_cg"], |one| one["problem"] == problem),
                "alone": find(&given["cg"], |one| {
                    let of = one["device"].as_str().unwrap_or_default();
                    one["problem"] == problem && threads(of) == Some(1) && !is_gpu(of) && rows(one).len() == 1
                }),
            }),
            "counters" => counted(&given, &problem),
            "programs" => {
                let all = entry["programs"].as_array().cloned().unwrap_or_default();
                json!({ "rows": all, "first": all.first(), "last": all.last() })
            }
            "assembly" => json!({ "cupy": cupy(&given, &problem), "best": fastest(entry) }),
            _ => json!({}),
        };
        let fields = [more, joined].into_iter().filter_map(|found| found.as_object().cloned()).flatten();
        entry.extend(fields);
    }
}

/// The problem and precision of the arguments that counters.py was given.
fn problem(arguments: &str) -> (String, &'static str) {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let option = |name: &str| words.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
    let precision = if option("--precision") == Some("single") { "f32" } else { "f64" };
    let Some(cells) = option("--cells") else {
        let file = words.iter().find(|word| word.ends_with(".msh")).copied().unwrap_or(arguments);
        let name = file.rsplit('/').next().unwrap_or(file);
        return (name.trim_end_matches(".msh").into(), precision);
    };
    let element = option("--element").unwrap_or("tet4");
    let shape = if element.starts_with("tri") || element.starts_with("quad") { "square" } else { "cube" };
    (format!("{element} {shape} {cells}"), precision)
}

/// What was counted, by the arguments that counters.py was given: the product of the same problem beside it, and
/// whether the matrix is larger than caches.
fn counted(file: &Value, arguments: &str) -> Value {
    let (problem, precision) = problem(arguments);
    let cells = problem.rsplit(' ').next().and_then(|cells| cells.parse().ok());
    let same = |one: &&Value| one["problem"] == problem && one["precision"] == precision;
    let all = file["spmv"].as_array().into_iter().flatten().filter(same);
    let fullest = all.fold(None, |best: Option<&Value>, one| match best {
        Some(best) if rows(one).len() <= rows(best).len() => Some(best),
        _ => Some(one),
    });
    let large = cells.is_none_or(|cells: usize| cells >= LARGE);
    json!({ "title": title(&problem), "precision": precision, "large": large, "product": fullest })
}

fn rows(entry: &Value) -> &[Value] {
    entry["rows"].as_array().map_or(&[], Vec::as_slice)
}

/// Iterations that were stopped early on another device than the machine's, in the same precision and of nearly as many
/// nodes.
fn serial<'a>(file: &'a Value, entry: &Map<String, Value>, on_gpu: bool) -> Option<&'a Value> {
    let nodes = |one: &Value| one["nodes"].as_f64().unwrap_or_default();
    let own = entry["nodes"].as_f64().unwrap_or_default();
    let all = file["cg"].as_array()?.iter().filter(|one| {
        let of = one["device"].as_str().unwrap_or_default();
        let main = if on_gpu { is_gpu(of) } else { one["device"] == file["device"] };
        let stopped = !one["max_iterations"].is_null() && rows(one).len() > 1 && one["precision"] == entry["precision"];
        stopped && !main && 20.0 * (nodes(one) - own).abs() < own
    });
    all.min_by(|a, b| (nodes(a) - own).abs().total_cmp(&(nodes(b) - own).abs()))
}

fn find(list: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
    list.as_array().into_iter().flatten().find(|one| wanted(one)).cloned().unwrap_or_default()
}

/// Milliseconds of the solution of a problem in double precision on the machine's own device.
fn solution(file: &Value, problem: &str, on_gpu: bool) -> Value {
    let one = find(&file["cg"], |one| {
        let of = one["device"].as_str().unwrap_or_default();
        let main = if on_gpu { is_gpu(of) } else { one["device"] == file["device"] };
        let automatic = one.get("stepping").is_none_or(|stepping| stepping == "auto");
        main && automatic && one["max_iterations"].is_null() && one["problem"] == problem && one["precision"] == "f64"
    });
    let found = rows(&one).iter().find(|row| row["format"] == OURS && row["converged"] == true);
    found.map_or(Value::Null, |row| row["solve_ms"].clone())
}

/// Milliseconds of the fastest of each kind of variants, of all orders of nodes.
fn library(file: &Value, entry: &Map<String, Value>) -> Value {
    let others = file["cusparse"].as_array().into_iter().flatten();
    let same = others.filter(|other| ["problem", "block_size"].iter().all(|key| other[*key] == entry[*key]));
    let rows: Vec<&Value> = same.filter_map(|other| other["rows"].as_array()).flatten().collect();
    let least = |variant: &str| {
        let of = rows.iter().filter(|row| row["precision"] == entry["precision"]);
        let of = of.filter(|row| row["variant"].as_str().is_some_and(|name| name.starts_with(variant)));
        of.filter_map(|row| row["ms"].as_f64()).min_by(f64::total_cmp)
    };
    VARIANTS.iter().map(|variant| ((*variant).to_owned(), json!(least(variant)))).collect::<Map<_, _>>().into()
}

/// CuPy's figures on a problem.
fn cupy(file: &Value, problem: &str) -> Value {
    let all = file["peer_assembly"].as_array().into_iter().flatten();
    let mut found = all.flat_map(rows).find(|row| row["problem"] == problem).cloned().unwrap_or_default();
    if let Some(row) = found.as_object_mut() {
        row.insert("by".into(), file["peer_assembly"][0]["peer_assembly"].clone());
    }
    found
}

/// The fastest strategy.
fn fastest(entry: &Map<String, Value>) -> Value {
    let rows = entry.get("rows").and_then(Value::as_array).into_iter().flatten();
    let timed = rows.filter_map(|row| Some((row["assembly_ms"].as_f64()?, row)));
    timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|best| best.1.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_name_the_problem() {
        assert_eq!(problem("--element tet4 --cells 19"), ("tet4 cube 19".into(), "f64"));
        assert_eq!(problem("--element quad4 --cells 9 --precision single"), ("quad4 square 9".into(), "f32"));
        assert_eq!(problem("meshes/car.msh --block-size 3"), ("car".into(), "f64"));
    }
}
