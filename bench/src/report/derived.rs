//! What the outline's expressions find in the JSON beside what was measured: names, and figures of other lists that are
//! of the same problem.

use super::markdown::median;
use super::names::{ELEMENTS, OURS, is_file, is_gpu, threads, title};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Beginnings of the names of cuSPARSE's variants, of which each the fastest counts.
const VARIANTS: [&str; 6] = ["sell32", "csr", "csr_alg", "bsr", "cupy_csr", "torch_csr"];

/// Adds `machine`, and to every entry of the lists what is derived from it and from the others.
pub fn add_derived(file: &mut Value) {
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
        let more = json!({
            "title": title(&problem),
            "element": entry.get("element").cloned().unwrap_or_else(|| element.into()),
            "date": entry.get("run").and_then(|run| given["runs"][run.as_u64()? as usize]["date"].as_str()),
            "name": format!("{}, {precision}", title(&problem)),
            "rank": rank,
            "main": main,
            "gpu": is_gpu(&of),
            "threads": threads(&of),
            "file": is_file(&problem),
            "layout": format,
            "several": list_of(entry, "rows").len() > 1,
        });
        let joined = match list.as_str() {
            "spmv" => json!({
                "library": library(&given, entry),
                "solved": solved(&given, &problem, &precision, on_gpu),
                "fused": given["peer"][&problem][&precision],
                "single": find(&given["spmv"], |one| {
                    ["problem", "block_size"].iter().all(|key| one[*key] == entry[*key]) && one["precision"] == "f32"
                }),
            }),
            "cg" => json!({
                "serial": serial(&given, entry, on_gpu),
                "fused": given["peer"][&problem][&precision],
                "scipy": find(&given["host_cg"], |one| one["problem"] == problem),
                "launches": stepped(&given, entry, "launches"),
                "graph": stepped(&given, entry, "graph"),
            }),
            "precond" => preconditioners(entry),
            "amg" => json!({ "rows": entry.get("solutions") }),
            "femses" => json!({ "compares_blocks": blocks(&entry["rows"]).len() > 2 }),
            "trials" => json!({ "tried": tried(entry) }),
            "registers" => registers(entry),
            "programs" => {
                let all = list_of(entry, "programs");
                json!({ "rows": all, "first": all.first(), "last": all.last() })
            }
            "assembly" => json!({
                "cupy": items(&given["peer_assembly"]).iter().flat_map(rows).find(|row| {
                    row["problem"] == problem
                }),
                "best": fastest(entry),
            }),
            _ => json!({}),
        };
        let fields = [more, joined].into_iter().filter_map(|found| found.as_object().cloned()).flatten();
        entry.extend(fields);
    }
    file["potentials"] = potentials(file);
    file["block_sizes"] = block_sizes(file).into();
    add_same(file);
}

/// What converged by its name, the fastest multigrid and the fastest of what else is no plain Jacobi.
fn preconditioners(entry: &Map<String, Value>) -> Value {
    let all = list_of(entry, "rows");
    let fastest = |multigrid: bool| {
        let kind = all.iter().filter(|row| {
            let is_jacobi = row["preconditioner"] == "jacobi" && row["mixed"] == false;
            (row["preconditioner"] == "amg") == multigrid && row["converged"] == true && !is_jacobi
        });
        let timed = kind.filter_map(|row| Some((row["setup_ms"].as_f64()? + row["solve_ms"].as_f64()?, row)));
        timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|best| best.1)
    };
    json!({ "by": by_name(all), "best": fastest(true), "other": fastest(false) })
}

/// What converged by its preconditioner, its order if it has one, and what it keeps: with the time of both phases.
fn by_name(all: &[Value]) -> Value {
    let mut found = json!({});
    for row in all.iter().filter(|row| row["converged"] == true) {
        let [name, kept] = ["preconditioner", "storage"].map(|key| row[key].as_str().unwrap_or_default());
        let slot = match row["order"].as_u64() {
            Some(order) => &mut found[name][order.to_string()][kept],
            None => &mut found[name][kept],
        };
        if slot.is_null() {
            *slot = row.clone();
            slot["together"] =
                json!(row["setup_ms"].as_f64().zip(row["solve_ms"].as_f64()).map(|both| both.0 + both.1));
        }
    }
    found
}

/// Adds to every entry of preconditioners what converged on the `same` problem, by the kind of device and the format.
fn add_same(file: &mut Value) {
    let all = file["precond"].clone();
    let fullest = |problem: &Value, gpu: bool, layout: &str| {
        let all = items(&all).iter().filter(|one| one["problem"] == *problem && one["gpu"] == gpu);
        let same = all.filter(|one| one["layout"] == layout && one["precision"] == "f64");
        same.max_by_key(|one| rows(one).len())
            .map(|one| json!({ "by": one["by"], "copy": one["copy_gb_per_s"], "device": one["device"] }))
    };
    for one in file["precond"].as_array_mut().into_iter().flatten() {
        let of = |gpu| {
            let of = |layout| fullest(&one["problem"], gpu, layout);
            json!({ "csr": of("csr"), "ebw": of(OURS) })
        };
        one["same"] = json!({ "gpu": of(true), "cpu": of(false) });
    }
}

/// The iterations of the same problem, precision and tolerance that were stepped in another way.
fn stepped(file: &Value, entry: &Map<String, Value>, way: &str) -> Value {
    let keys = ["problem", "precision", "device", "tolerance", "max_iterations"];
    find(&file["cg"], |one| one["stepping"] == way && keys.iter().all(|key| one[*key] == entry[*key]))
}

/// The processor of the fewest threads that potentials were computed on, whose program stands for the serial one.
fn serial_processor(file: &Value) -> Option<&str> {
    let devices = items(&file["femses"]).iter().filter_map(|one| one["device"].as_str());
    devices.filter(|device| device.starts_with("cpu")).min_by_key(|device| threads(device).unwrap_or(usize::MAX))
}

/// Products that were tried beside EBW's: by precision the fastest of each kind, of its launch bounds and of how far its
/// loop is unrolled; but one thread a row as it was kept, in blocks of 256 threads.
fn tried(trial: &Map<String, Value>) -> Value {
    let mut found = json!({ "f64": {}, "f32": {} });
    for row in list_of(trial, "rows") {
        let [product, precision] = ["product", "precision"].map(|key| row[key].as_str().unwrap_or_default());
        let kind = match product.split_once(" by ").or_else(|| product.split_once(", bound ")) {
            Some((kind, _)) if kind != "1 a row" => kind,
            _ => product,
        };
        let slot = &mut found[precision.split(',').next().unwrap_or_default()][kind];
        let is_faster = slot.is_null() || row["ms"].as_f64() < slot["ms"].as_f64();
        if is_faster && (product != "1 a row, bound 2" || row["threads"] == 256) {
            *slot = row.clone();
        }
    }
    found
}

/// The sizes of blocks in some rows.
fn blocks(rows: &Value) -> BTreeSet<u64> {
    items(rows).iter().map(|row| row["block"].as_u64().unwrap_or(0)).collect()
}

/// Potentials between two sides in double precision by size: of the GPU and of one thread the figures of each method,
/// and as `own` those of the machine.
fn potentials(file: &Value) -> Value {
    let serial = serial_processor(file);
    let mut sizes: BTreeMap<u64, Map<String, Value>> = BTreeMap::new();
    for one in items(&file["femses"]) {
        let device = one["device"].as_str().unwrap_or_default();
        if one["sides"] != 2 || one["precision"] != "f64" || one["compares_blocks"] == true {
            continue;
        }
        for row in rows(one).iter().filter(|row| !row["total_ms"].is_null()) {
            let size = sizes.entry(row["unknowns"].as_u64().unwrap_or(0)).or_default();
            size.insert("unknowns".into(), row["unknowns"].clone());
            let method = row["method"].as_str().unwrap_or_default();
            let places = [("gpu", is_gpu(device)), ("serial", Some(device) == serial), ("own", one["main"] == true)];
            for (place, _) in places.iter().filter(|of| of.1) {
                let of = size.entry(*place).or_insert_with(|| json!({})).as_object_mut();
                of.map(|methods| methods.entry(method).or_insert_with(|| row.clone()));
            }
        }
    }
    sizes.into_values().map(Value::Object).collect::<Vec<_>>().into()
}

/// Milliseconds of an iteration on the GPU by sizes of blocks: of each precision and number of unknowns the least, the
/// most, and the median distance from the median.
fn block_sizes(file: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let wanted = |one: &&Value| one["compares_blocks"] == true && one["gpu"] == true;
    for one in items(&file["femses"]).iter().filter(wanted) {
        let mut sizes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in rows(one) {
            let each = row["solve_ms"].as_f64().zip(row["iterations"].as_f64()).map(|(ms, n)| ms / n.max(1.0));
            sizes.entry(row["unknowns"].as_u64().unwrap_or(0)).or_default().extend(each);
        }
        found.extend(sizes.into_iter().filter_map(|(unknowns, times)| {
            let middle = median(&times)?;
            let off = median(&times.iter().map(|ms| (ms / middle - 1.0).abs()).collect::<Vec<_>>());
            let [least, most] = [f64::min, f64::max].map(|of| times.iter().copied().reduce(of));
            Some(json!({ "precision": one["precision"], "unknowns": unknowns, "least": least, "most": most, "off": off }))
        }));
    }
    found
}

/// What ptxas says of kernels, a row for each.
fn registers(entry: &Map<String, Value>) -> Value {
    let kernels = entry.get("kernels").and_then(Value::as_object).into_iter().flatten();
    let row = |(name, kernel): (&String, &Value)| {
        let [registers, bytes] = ["registers", "spilled_bytes"].map(|key| &kernel[key]);
        json!({ "kernel": name, "registers": registers, "spilled_bytes": bytes })
    };
    json!({ "rows": kernels.map(row).collect::<Vec<_>>() })
}

/// What a list holds; nothing of what is no list.
pub fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn list_of<'a>(entry: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    entry.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn rows(entry: &Value) -> &[Value] {
    items(&entry["rows"])
}

/// Iterations that were stopped early on another device than the machine's, in the same precision and of nearly as many
/// nodes.
fn serial<'a>(file: &'a Value, entry: &Map<String, Value>, on_gpu: bool) -> Option<&'a Value> {
    let nodes = |one: &Value| one["nodes"].as_f64().unwrap_or_default();
    let own = entry["nodes"].as_f64().unwrap_or_default();
    let all = items(&file["cg"]).iter().filter(|one| {
        let of = one["device"].as_str().unwrap_or_default();
        let main = if on_gpu { is_gpu(of) } else { one["device"] == file["device"] };
        let stopped = !one["max_iterations"].is_null() && rows(one).len() > 1 && one["precision"] == entry["precision"];
        stopped && !main && 20.0 * (nodes(one) - own).abs() < own
    });
    all.min_by(|a, b| (nodes(a) - own).abs().total_cmp(&(nodes(b) - own).abs()))
}

fn find(list: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
    items(list).iter().find(|one| wanted(one)).cloned().unwrap_or_default()
}

/// The iterations to a tolerance on a problem, on the machine's own device.
fn solved(file: &Value, problem: &str, precision: &str, on_gpu: bool) -> Value {
    find(&file["cg"], |one| {
        let of = one["device"].as_str().unwrap_or_default();
        let main = if on_gpu { is_gpu(of) } else { one["device"] == file["device"] };
        let automatic = one.get("stepping").is_none_or(|stepping| stepping == "auto");
        main && automatic
            && one["max_iterations"].is_null()
            && one["problem"] == problem
            && one["precision"] == precision
    })
}

/// Milliseconds of the fastest of each kind of variants, of all orders of nodes.
fn library(file: &Value, entry: &Map<String, Value>) -> Value {
    let same = |other: &&Value| ["problem", "block_size"].iter().all(|key| other[*key] == entry[*key]);
    let rows: Vec<&Value> = items(&file["cusparse"]).iter().filter(same).flat_map(rows).collect();
    let least = |variant: &str| {
        let of = rows.iter().filter(|row| row["precision"] == entry["precision"]);
        let of = of.filter(|row| row["variant"].as_str().is_some_and(|name| name.starts_with(variant)));
        of.filter_map(|row| row["ms"].as_f64()).min_by(f64::total_cmp)
    };
    VARIANTS.iter().map(|variant| ((*variant).to_owned(), json!(least(variant)))).collect::<Map<_, _>>().into()
}

/// The fastest strategy.
fn fastest(entry: &Map<String, Value>) -> Value {
    let timed = list_of(entry, "rows").iter().filter_map(|row| Some((row["assembly_ms"].as_f64()?, row)));
    timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|best| best.1.clone()).unwrap_or_default()
}
