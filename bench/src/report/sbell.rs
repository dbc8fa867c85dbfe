//! SBELL's four matrices, and the products that stand for them here. Its product is `ebw`.

use super::names::OURS;
use serde_json::{Value, json};

/// One of its matrices.
#[derive(serde::Serialize)]
pub struct Matrix {
    pub element: &'static str,
    /// Its name.
    pub name: &'static str,
    pub unknowns: usize,
    /// Non-zero entries (table 1).
    entries: usize,
    /// GFLOP/s of its product (figure 8).
    gflops: f64,
    /// How many times as fast as cuSPARSE's CSR, and as SELL, it is (section 5.2).
    over_csr: f64,
    over_sell: f64,
    /// Its speed in double over that in single precision (figure 9).
    of_single: f64,
}

/// Its matrices (table 1).
pub const MATRICES: [Matrix; 4] = [
    Matrix {
        element: "tri3",
        name: "tri",
        unknowns: 1_060_112,
        entries: 14_813_544,
        gflops: 3.33,
        over_csr: 2.98,
        over_sell: 1.2472,
        of_single: 0.544,
    },
    Matrix {
        element: "quad4",
        name: "quad",
        unknowns: 321_602,
        entries: 5_769_604,
        gflops: 3.52,
        over_csr: 5.52,
        over_sell: 1.2378,
        of_single: 0.573,
    },
    Matrix {
        element: "tet4",
        name: "tet",
        unknowns: 624_579,
        entries: 27_482_265,
        gflops: 2.44,
        over_csr: 1.94,
        over_sell: 1.7222,
        of_single: 0.748,
    },
    Matrix {
        element: "hex8",
        name: "hex",
        unknowns: 499_125,
        entries: 38_976_723,
        gflops: 3.64,
        over_csr: 2.22,
        over_sell: 1.2486,
        of_single: 0.511,
    },
];
/// Unstructured meshes of at least so many unknowns stand beside its four.
const LARGE: u64 = 2_000_000;
/// What it compares its product with: how it is called, the field of the claim, and the format.
const OTHERS: [(&str, &str, &str); 2] = [("cuSPARSE's CSR", "over_csr", "csr"), ("SELL", "over_sell", "sell")];

/// For each of its matrices the product, of those by problem and precision, on the problem of the same element nearest in
/// size; and on large meshes from files. With the `matrix`, what it is `over`, and the product in `single` precision.
pub fn compared(products: &[Value]) -> Vec<Value> {
    ["f64", "f32"].iter().flat_map(|precision| in_precision(products, precision)).collect()
}

fn of<'a>(one: &'a Value, format: &str) -> Option<&'a Value> {
    one["rows"].as_array()?.iter().find(|row| row["format"] == format && !row["spmv_ms"].is_null())
}

fn in_precision(products: &[Value], precision: &str) -> Vec<Value> {
    let has = |one: &&Value| of(one, OURS).is_some() && of(one, "sell").is_some();
    let ones: Vec<&Value> = products.iter().filter(|one| one["precision"] == precision).filter(has).collect();
    let dofs = |one: &Value| one["dofs"].as_u64().unwrap_or(0);
    let nearest = |matrix: &'static Matrix| {
        let element = format!("{} ", matrix.element);
        let same = ones.iter().filter(|one| one["problem"].as_str().is_some_and(|name| name.starts_with(&element)));
        Some((Some(matrix), *same.min_by_key(|one| dofs(one).abs_diff(matrix.unknowns as u64))?))
    };
    let files = ones.iter().filter(|one| one["file"] == true && dofs(one) > LARGE).map(|one| (None, *one));
    let found = MATRICES.iter().filter_map(nearest).chain(files);
    let entry = |(matrix, one): (Option<&Matrix>, &Value)| {
        let mut entry = one.clone();
        let matrix = json!(matrix);
        let times = |format: &str| match format {
            "csr" => one["library"]["csr_alg"].as_f64(),
            _ => of(one, format)?["spmv_ms"].as_f64(),
        };
        let [ours, own] = ["spmv_ms", "own_bytes"].map(|key| of(one, OURS).and_then(|row| row[key].as_f64()));
        let over = OTHERS.map(|(what, claim, format)| {
            let bytes = of(one, format).and_then(|row| Some(row["own_bytes"].as_f64()? / own?));
            let found = times(format).and_then(|ms| Some(ms / ours?));
            json!({ "what": what, "claimed": matrix[claim], "found": found, "bytes": bytes })
        });
        let same = |other: &&Value| other["problem"] == one["problem"] && other["precision"] == "f32" && has(other);
        let single = products.iter().find(same).and_then(|other| of(other, OURS));
        entry["matrix"] = matrix;
        entry["over"] = json!(over);
        entry["single"] = json!(single);
        entry
    };
    found.map(entry).collect()
}

/// Preconditioners on the problem of the same element nearest in size to each of its matrices, in double precision: all
/// as `rows`, and by device and format, of each that of most rows.
pub fn solvers(file: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for matrix in &MATRICES {
        let mut entry = json!({ "matrix": matrix, "rows": [] });
        for (place, gpu) in [("gpu", true), ("cpu", false)] {
            for one in nearest_solvers(file, matrix, gpu) {
                let slot = &mut entry[place][one["layout"].as_str().unwrap_or_default()];
                if slot.is_null() || rows_of(one) > rows_of(slot) {
                    *slot = one.clone();
                }
            }
            let own: Vec<Value> = entry[place].as_object().into_iter().flat_map(|of| of.values().cloned()).collect();
            entry["rows"].as_array_mut().into_iter().for_each(|rows| rows.extend(own.clone()));
        }
        // SBELL's own table is of a GPU here where one was measured.
        let all = [&entry["gpu"], &entry["cpu"]].into_iter().find_map(Value::as_object);
        entry["most"] = json!(all.and_then(|of| of.values().max_by_key(|one| rows_of(one)).cloned()));
        found.push(entry);
    }
    found
}

fn rows_of(one: &Value) -> usize {
    one["rows"].as_array().map_or(0, Vec::len)
}

fn nearest_solvers<'a>(file: &'a Value, matrix: &Matrix, gpu: bool) -> Vec<&'a Value> {
    let all = file["precond"].as_array().into_iter().flatten();
    let mut same: Vec<&Value> = all
        .filter(|one| one["precision"] == "f64" && one["gpu"] == gpu && one["element"] == matrix.element)
        .filter(|one| one["file"] == false)
        .collect();
    let off = |one: &&&Value| one["dofs"].as_u64().unwrap_or(0).abs_diff(matrix.unknowns as u64);
    let problem = same.iter().min_by_key(off).map(|one| one["problem"].clone());
    same.retain(|one| Some(&one["problem"]) == problem.as_ref());
    same
}
