"""Makes the tables of measured speed from the JSON files beside this one.

    python3 docs/benchmarks/tables.py            # writes docs/benchmarks/README.md and the speed table of the top README
    python3 docs/benchmarks/tables.py --check    # exit 1 if they are not what the JSON files say

Each file is what collect.py makes of one run. The newest run on a GPU fills the table of the top README.
"""

import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent / "README.md"
MARKS = "<!-- speed -->", "<!-- /speed -->"
# The format that `auto` stands for, and those whose products are studied in several orders of nodes.
OURS = "ebw"
STUDIED = "csr", "sell", "ebw"
PHASES = "read", "setup", "assembly", "boundary", "solve", "stress", "write"

HEAD = """\
# Measured speed

Made by [`tables.py`](tables.py) from the JSON files in this folder; do not edit. To measure again on a machine with a GPU,
then gather the figures and make the tables:

```sh
cargo build --release
docs/benchmarks/run_gpu.sh target/release/warpfem /tmp/run
python3 docs/benchmarks/collect.py /tmp/run -o docs/benchmarks/NAME.json
python3 docs/benchmarks/tables.py
```

[`run_gpu.sh`](run_gpu.sh) says what else it can measure: meshes, squares of plane elements, orders of nodes, fewer parts.

**The problems**: cubes of n x n x n cells in steel (E = 200 GPa, nu = 0.3), hex8 or six tet4 per cell, clamped at x = 0,
under their own weight; and meshes by the names of their files. Products are measured on the pattern of the mesh with values
made up, the same in every format. **Copy** is the bandwidth of a copy within the device's memory, reads and writes both
counted, measured in the same run. A product's **least bytes** are the values and one column index for each block of the mesh
(3x3 in space, 2x2 in the plane), and x and y once; a format's **own bytes** are all that it stores, padding and indices
included, and x and y once; an iteration's are the product's least bytes and ten words per unknown. A share of copy above 100 %
is not a mistake: a product reads far more than it writes, and reads are a little faster than copies.

**SELL-32** is cuSPARSE's sliced ELLPACK product, its best format for these matrices, measured by
[`cusparse.py`](cusparse.py) on the same matrix, the best of its variants and of the orders of nodes measured. The **fused
CG** is a CUDA program written for the comparison: Jacobi-CG with that product, the vector steps fused, scalars on the device, in a CUDA
graph. Both were measured on the same device in the same session; "x" says how many times as fast as they warpfem is.
Both programs look at the residual every ten iterations; warpfem counts in tens, the peer reports where within the ten it was met.
"""


def number(value, digits=3):
    """`value` to some significant digits, without an exponent; a dash for nothing."""
    if value is None:
        return "-"
    text = f"{float(value):.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text else text if "e" not in text else f"{float(text):.9f}".rstrip("0")


def count(value):
    return "-" if value is None else f"{value:,}"


def percent(value):
    return "-" if value is None else f"{100 * value:.0f} %"


def ratio(peer, own):
    return f"{peer / own:.2f}" if peer and own else "-"


def tolerance(one, row):
    return f"{one['tolerance']:.0e}".replace("e-0", "e-") + ("" if row["converged"] else " (not reached)")


def table(heads, rows):
    """A Markdown table, its first column text and the others figures; nothing without rows."""
    if not rows:
        return ""
    rule = ["---"] + ["---:"] * (len(heads) - 1)
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [heads, rule, *rows])


def size(n):
    """A number of bytes in a decimal unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{number(n)} {unit}"
        n /= 1e3
    return f"{number(n)} TB"


def milliseconds(seconds):
    return number(None if seconds is None else 1e3 * seconds)


def title(one):
    """`tet4, n = 40` for a cube, else the problem's name."""
    element, _, cells = one["problem"].partition(" cube ")
    return f"{element}, n = {cells}" if cells else one["problem"]


def place(one):
    """Tetrahedra first, then other generated meshes, then files; small ones first; double precision first."""
    first = one["problem"].split()[0]
    elements = ["tet4", "hex8", "tri3", "quad4"]
    rank = elements.index(first) if first in elements else len(elements)
    return rank, one["dofs"], one["problem"], one["precision"] != "f64"


def row_of(one, name):
    """The figures of a format in a report, if it has them."""
    return next((row for row in (one or {}).get("rows", []) if row["format"] == name and "needed_bytes" not in row), {})


def main_products(run):
    """For each problem and precision the report of most formats: the others study orders of nodes."""
    best = {}
    for one in run["spmv"]:
        key = one["problem"], one["block_size"], one["precision"]
        if key not in best or len(one["rows"]) > len(best[key]["rows"]):
            best[key] = one
    return sorted(best.values(), key=place)


def library(run, one, variant):
    """The best time of cuSPARSE's variants that begin so, on the problem and in the precision of `one`."""
    times = [
        row["ms"]
        for other in run.get("cusparse", [])
        if (other["problem"], other["block_size"]) == (one["problem"], one["block_size"])
        for row in other["rows"]
        if row["variant"].startswith(variant) and row["precision"] == one["precision"] and "ms" in row
    ]
    return min(times, default=None)


def peer(run, one):
    """The fused CG's figures of the problem of `one`."""
    return run.get("peer", {}).get(one["problem"], {}).get(one["precision"], {})


def spmv_table(run):
    rows = []
    for one in main_products(run):
        row = row_of(one, OURS)
        if row:
            sell = library(run, one, "sell32")
            rows.append([
                f"{title(one)}, {one['precision']}", count(one["dofs"]), number(row["spmv_ms"]), number(row["gb_per_s"], 4),
                percent(row["of_copy"]), number(row["gflops"]), number(sell), ratio(sell, row["spmv_ms"]),
            ])  # fmt: skip
    heads = ["problem", "unknowns", "ms", "GB/s of least bytes", "of copy", "GFLOP/s", "SELL-32 ms", "x"]
    return table(heads, rows)


def library_table(run):
    rows = []
    for one in main_products(run):
        times = [library(run, one, variant) for variant in ("csr_alg", "bsr", "sell32", "cupy_csr", "torch_csr")]
        ours = row_of(one, OURS).get("spmv_ms")
        best = min((ms for ms in times if ms), default=None)
        if len([ms for ms in times if ms]) > 1:
            cells = [number(ms) for ms in [*times, ours]]
            rows.append([f"{title(one)}, {one['precision']}", *cells, ratio(best, ours)])
    return table(["problem", "CSR", "BSR", "SELL-32", "CuPy CSR", "PyTorch CSR", OURS, "x best"], rows)


def formats_tables(run):
    """For each problem, every format in both precisions."""
    out = ""
    problems = {}
    for one in main_products(run):
        problems.setdefault((one["problem"], one["block_size"]), {})[one["precision"]] = one
    for found in problems.values():
        some = next(iter(found.values()))
        if len(some["rows"]) < 2:
            continue
        rows = []
        for name in [row["format"] for row in some["rows"]]:
            needs = [row["needed_bytes"] for one in found.values() for row in one["rows"] if row["format"] == name and "needed_bytes" in row]
            double, single = row_of(found.get("f64"), name), row_of(found.get("f32"), name)
            row = double or single
            if not row:
                rows.append([name, f"needs {size(max(needs))}", *["-"] * 10])
                continue
            rows.append([
                name, milliseconds(row.get("layout_s")), size(row["stored_bytes"]), f"{row['padding']:.3f}",
                *product_cells(double), *product_cells(single),
            ])  # fmt: skip
        both = ["ms", "own bytes, of copy", "least, of copy", "GFLOP/s"]
        heads = ["format", "layout ms", "f64 stored", "padding", *(f"f64 {head}" for head in both), *(f"f32 {head}" for head in both)]
        sizes = f"{count(some['dofs'])} unknowns, {count(some['blocks'])} blocks of {some['block_size']}x{some['block_size']}"
        out += f"\n#### {title(some)}\n\n{sizes}; order of nodes: {some['ordering']}.\n\n{table(heads, rows)}"
    return out.removeprefix("\n")


def product_cells(row):
    return [number(row.get("spmv_ms")), percent(row.get("own_of_copy")), percent(row.get("of_copy")), number(row.get("gflops"))]


def ordering_table(run):
    """Every order of nodes of the problems that were measured in several."""
    reports = {}
    for one in run["spmv"]:
        reports.setdefault((place(one), one["block_size"]), {})[one["ordering"], one["degree_window"], len(one["rows"])] = one
    names = [name for name in STUDIED if any(row_of(one, name) for one in run["spmv"])]
    rows = []
    for _, found in sorted(reports.items()):
        orders = {}
        for (ordering, window, _), one in sorted(found.items()):
            orders[ordering, window] = one
        for (ordering, window), one in orders.items() if len(orders) > 1 else ():
            cells = []
            for name in names:
                row = row_of(one, name)
                padding = f"{row['padding']:.3f}" if row else "-"
                cells += [padding, number(row.get("spmv_ms")), percent(row.get("of_copy"))]
            rows.append([f"{title(one)}, {one['precision']}", ordering, count(window), milliseconds(one["setup_s"]), *cells])
    figures = [f"{name} {figure}" for name in names for figure in ("padding", "ms", "of copy")]
    return table(["problem", "order", "degree window", "set-up ms", *figures], rows)


def setup_table(run):
    """What comes before the first iteration, against a solution in double precision."""
    rows = []
    for one in main_products(run):
        if one["precision"] != "f64":
            continue
        layout = row_of(one, OURS).get("layout_s")
        solves = [
            row["solve_ms"] / 1e3
            for cg in main_iterations(run)
            if (cg["problem"], cg["precision"]) == (one["problem"], one["precision"])
            for row in cg["rows"]
            if row["format"] == OURS and row.get("converged")
        ]
        together = None if layout is None else one["setup_s"] + layout
        share = percent(together / solves[0]) if together and solves else "-"
        rows.append([
            title(one), count(one["elements"]), count(one["dofs"]), milliseconds(one["setup_s"]), milliseconds(layout),
            milliseconds(solves[0] if solves else None), share,
        ])  # fmt: skip
    heads = ["problem", "elements", "unknowns", "pattern ms", f"{OURS} layout ms", "solution ms", "set-up of solution"]
    return table(heads, rows)


def main_iterations(run):
    """The runs to a tolerance; the others were stopped early, to compare formats."""
    return sorted((one for one in run["cg"] if not one.get("max_iterations")), key=place)


def cg_table(run):
    rows = []
    for one in main_iterations(run):
        other = peer(run, one)
        # Another tolerance is another number of iterations; the time of one remains comparable.
        same = other.get("tolerance") == one["tolerance"]
        for row in [row for row in one["rows"] if "needed_bytes" not in row]:
            name = title(one) if len(one["rows"]) == 1 else f"{title(one)}, {row['format']}"
            rows.append([
                f"{name}, {one['precision']}", tolerance(one, row), count(row["iterations"]),
                count(other.get("iterations") if same else None), number(row["solve_ms"], 4), number(row["iteration_ms"]),
                percent(row["of_copy"]), number(other.get("iteration_ms")),
                ratio(other.get("iteration_ms"), row["iteration_ms"]), f"{row['min_u_z']:.6e}",
            ])  # fmt: skip
    heads = [
        "problem", "tolerance", "iterations", "fused CG's", "solution ms", "ms per iteration", "of copy", "fused CG's ms",
        "x", "min u_z [m]",
    ]  # fmt: skip
    return table(heads, rows)


def rate_table(run):
    """Iterations per second of every format against the size of the problem (DSM's figure)."""
    several = sorted((one for one in run["cg"] if len(one["rows"]) > 1), key=place)
    names = list(dict.fromkeys(row["format"] for one in several for row in one["rows"]))
    rows = []
    for one in several:
        cells = []
        for name in names:
            needs = [row["needed_bytes"] for row in one["rows"] if row["format"] == name and "needed_bytes" in row]
            rate = row_of(one, name).get("iterations_per_s")
            cells.append(f"needs {size(needs[0])}" if needs else number(rate, 4))
        rows.append([f"{title(one)}, {one['precision']}", count(one["nodes"]), *cells])
    return table(["problem", "nodes", *names], rows)


def solve_table(run):
    rows = []
    for one in run["solve"]:
        t = one["timings_s"]
        phases = [number(t.get(phase)) for phase in PHASES]
        sizes = [count(one["elements"]), count(one["dofs"]), count(one["solver"]["iterations"])]
        rows.append([one["case"], *sizes, *phases, number(t.get("total"))])
    return table(["case", "elements", "unknowns", "iterations", *PHASES, "total"], rows)


def section(name, run):
    """One run's tables under its heading."""
    out = f"\n## {run['device']}, {run['date']}\n\nDriver {run['driver']}; [`{name}`]({name}) by `{run['command']}`.\n"
    if "note" in run:
        out += f"{run['note']}\n"
    for head, text in [
        ("Sparse product", spmv_table(run)),
        ("cuSPARSE, ms", library_table(run)),
        ("Formats", formats_tables(run)),
        ("Ordering", ordering_table(run)),
        ("Set-up", setup_table(run)),
        ("Conjugate gradients with Jacobi", cg_table(run)),
        ("Iterations per second", rate_table(run)),
        ("From case to results, seconds", solve_table(run)),
    ]:
        if text:
            out += f"\n### {head}\n\n{text}"
    return out


def speed(run):
    """The table of the top README: products and iterations in double precision, side by side."""
    problems = {}
    for what, reports in (("spmv", main_products(run)), ("cg", main_iterations(run))):
        for one in reports:
            if one["precision"] == "f64" and one["block_size"] == 3:
                problems.setdefault(one["problem"], {})[what] = one
    rows = []
    for found in sorted(problems.values(), key=lambda found: place(found.get("spmv") or found["cg"])):
        one = found.get("spmv") or found["cg"]
        row, cg, other = row_of(found.get("spmv"), OURS), row_of(found.get("cg"), OURS), peer(run, one)
        rows.append([
            title(one), count(one["dofs"]), number(row.get("spmv_ms")), percent(row.get("of_copy")),
            ratio(library(run, one, "sell32"), row.get("spmv_ms")), count(cg.get("iterations")),
            number(cg.get("iteration_ms")), percent(cg.get("of_copy")),
            ratio(other.get("iteration_ms"), cg.get("iteration_ms")),
        ])  # fmt: skip
    heads = ["cube", "unknowns", "K u, ms", "of copy", "x SELL-32", "CG iterations", "ms each", "of copy", "x fused CG"]
    copies = [one["copy_gb_per_s"] for one in run["spmv"] + run["cg"]]
    out = f"{run['device']}, double precision, {run['date']}; copy: {max(copies):,.0f} GB/s.\n\n" if copies else ""
    out += table(heads, rows)
    for one in run["solve"]:
        t = one["timings_s"]
        parts = ", ".join(f"{phase} {number(t.get(phase), 2)}" for phase in PHASES)
        elements, total = count(one["elements"]), number(t["total"])
        out += f"\n`warpfem solve` of {one['case']}, {elements} elements, from case to files: {total} s ({parts}).\n"
    return out


def upgraded(run):
    """A run as it is written now. Until 2026-11-21 reports named `element` and `cells`, and had one format."""
    if not any("element" in one for one in run["spmv"] + run["cg"]):
        return run

    def header(one, rows):
        cells, per_cell = one["cells"], 6 if one["element"] == "tet4" else 1
        name = f"{one['element']} cube {cells}"
        sizes = {"nodes": (cells + 1) ** 3, "elements": per_cell * cells**3, "block_size": 3}
        return {**one, **sizes, "problem": name, "ordering": "mesh", "degree_window": 1024, "rows": rows}

    spmv = [{**header(one, one["rows"]), "setup_s": one["rows"][0]["setup_s"]} for one in run["spmv"]]
    cg = [header(one, [{**one, "format": OURS}]) for one in run["cg"]]
    library, fused = [], {}
    for element, by_cells in run.get("peer", {}).items():
        for cells, figures in by_cells.items():
            rows = [
                {"variant": "sell32", "precision": precision, "ms": found["sell32_spmv_ms"]}
                for precision, found in figures.items()
            ]
            library.append({"problem": f"{element} cube {cells}", "block_size": 3, "rows": rows})
            fused[f"{element} cube {cells}"] = {precision: found["cg"] for precision, found in figures.items()}
    note = "SELL-32 of this run was measured by the fused CG's program, on a matrix of the same pattern."
    return {**run, "spmv": spmv, "cg": cg, "cusparse": library, "peer": fused, "note": note}


def fill(text, table_text):
    """`text` with `table_text` between its marks."""
    pattern = re.compile(f"({re.escape(MARKS[0])}\n).*?({re.escape(MARKS[1])})", re.DOTALL)
    if not pattern.search(text):
        sys.exit(f"{TOP} lacks the marks {MARKS[0]} and {MARKS[1]}")
    return pattern.sub(lambda found: f"{found[1]}\n{table_text}\n{found[2]}", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where something would change")
    check = parser.parse_args().check
    files = sorted(HERE.glob("*.json"))
    runs = {path.name: upgraded(json.loads(path.read_text())) for path in files}
    # Newest first; a GPU's before a CPU's of the same day.
    newest = sorted(runs.items(), key=lambda item: (item[1]["date"], not item[1]["device"].startswith("cpu")), reverse=True)
    gpus = [run for _, run in newest if not run["device"].startswith("cpu")]
    wanted = {HERE / "README.md": HEAD + "".join(section(name, run) for name, run in newest)}
    if gpus:
        wanted[TOP] = fill(TOP.read_text(), speed(gpus[0]))
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"{path.relative_to(TOP.parent)} is not what docs/benchmarks/tables.py makes")
        else:
            path.write_text(wanted[path])
            print(f"wrote {path.relative_to(TOP.parent)}")
    if check and stale:
        sys.exit(1)


if __name__ == "__main__":
    main()
