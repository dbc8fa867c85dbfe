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

**The problem**: the unit cube of n x n x n cells in steel (E = 200 GPa, nu = 0.3), hex8 or six tet4 per cell, clamped at
x = 0, under its own weight. **Copy** is the bandwidth of a copy within the device's memory, reads and writes both counted,
measured in the same run. A product's **least bytes** are nine values and one column index for each 3x3 block of the mesh,
and x and y once; an iteration's are those and ten words per unknown. A share of copy above 100 % is not a
mistake: a product reads far more than it writes, and reads are a little faster than copies.

**SELL-32** is cuSPARSE's sliced ELLPACK product, its best format for these matrices, and the **fused CG** is a CUDA program
written for the comparison: Jacobi-CG with that product, the vector steps fused, scalars on the device, in a CUDA
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


def tolerance(one):
    return f"{one['tolerance']:.0e}".replace("e-0", "e-") + ("" if one["converged"] else " (not reached)")


def table(heads, rows):
    """A Markdown table, its first column text and the others figures; nothing without rows."""
    if not rows:
        return ""
    rule = ["---"] + ["---:"] * (len(heads) - 1)
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [heads, rule, *rows])


def peer(run, one):
    """The peer's figures of the problem of `one`."""
    return run.get("peer", {}).get(one["element"], {}).get(str(one["cells"]), {}).get(one["precision"], {})


def cube(one):
    return f"{one['element']}, n = {one['cells']}, {one['precision']}"


def place(one):
    """Tetrahedra first, small cubes first."""
    return one["element"] != "tet4", one["cells"], one["precision"] != "f64"


def spmv_table(run):
    rows = []
    for one in sorted(run["spmv"], key=place):
        sell = peer(run, one).get("sell32_spmv_ms")
        for row in one["rows"]:
            rows.append([
                f"{cube(one)}, {row['format']}", count(one["dofs"]), number(row["spmv_ms"]), number(row["gb_per_s"], 4),
                percent(row["of_copy"]), number(row["gflops"]), number(sell), ratio(sell, row["spmv_ms"]),
            ])  # fmt: skip
    heads = ["cube", "unknowns", "ms", "GB/s of least bytes", "of copy", "GFLOP/s", "SELL-32 ms", "x"]
    return table(heads, rows)


def cg_table(run):
    rows = []
    for one in sorted(run["cg"], key=place):
        other = peer(run, one).get("cg", {})
        # Another tolerance is another number of iterations; the time of one remains comparable.
        same = other.get("tolerance") == one["tolerance"]
        rows.append([
            cube(one), tolerance(one), count(one["iterations"]),
            count(other.get("iterations") if same else None), number(one["solve_ms"], 4), number(one["iteration_ms"]),
            percent(one["of_copy"]), number(other.get("iteration_ms")),
            ratio(other.get("iteration_ms"), one["iteration_ms"]), f"{one['min_u_z']:.6e}",
        ])  # fmt: skip
    heads = [
        "cube", "tolerance", "iterations", "fused CG's", "solution ms", "ms per iteration", "of copy", "fused CG's ms", "x",
        "min u_z [m]",
    ]  # fmt: skip
    return table(heads, rows)


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
    for title, text in [
        ("Sparse product", spmv_table(run)),
        ("Conjugate gradients with Jacobi", cg_table(run)),
        ("From case to results, seconds", solve_table(run)),
    ]:
        if text:
            out += f"\n### {title}\n\n{text}"
    return out


def speed(run):
    """The table of the top README: products and iterations in double precision, side by side."""
    problems = {}
    for what in ("spmv", "cg"):
        for one in run[what]:
            if one["precision"] == "f64":
                problems.setdefault((one["element"], one["cells"]), {})[what] = one
    rows = []
    for (element, cells), found in sorted(problems.items(), key=lambda item: (item[0][0] != "tet4", item[0][1])):
        one, cg = found.get("spmv"), found.get("cg")
        any_one = one or cg
        other = peer(run, any_one)
        row = min(one["rows"], key=lambda row: row["spmv_ms"]) if one else {}
        cg = cg or {}
        rows.append([
            f"{element}, n = {cells}", count(any_one["dofs"]), number(row.get("spmv_ms")), percent(row.get("of_copy")),
            ratio(other.get("sell32_spmv_ms"), row.get("spmv_ms")), count(cg.get("iterations")),
            number(cg.get("iteration_ms")), percent(cg.get("of_copy")),
            ratio(other.get("cg", {}).get("iteration_ms"), cg.get("iteration_ms")),
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
    runs = {path.name: json.loads(path.read_text()) for path in files}
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
