"""The table of products that were tried beside EBW's."""

from markdown import number, ratio, table

# The products and how they are called here; the first is what the others are compared with.
TRIED = {
    "as EBW was": ["ebw"],
    "launch bound: 2 blocks of 256 (kept)": ["1 a row, bound 2"],
    "launch bound: 4 blocks": ["1 a row, bound 4"],
    "2 threads a row": ["2 a row, bound 0", "2 a row, bound 2", "2 a row, bound 4"],
    "4 threads a row": ["4 a row, bound 0", "4 a row, bound 2", "4 a row, bound 4"],
    "8 threads a row": ["8 a row, bound 0", "8 a row, bound 2", "8 a row, bound 4"],
    "loop unrolled": ["unrolled by 2", "unrolled by 4"],
    "half the blocks, atomics": ["half, atomics"],
    "f64 sums; x, y f32": ["f64 sums, x, y f32"],
    "f64 sums; x, y f64": ["f64 sums, x, y f64"],
}
# What warpfem does now, in blocks of so many threads.
KEPT = TRIED["launch bound: 2 blocks of 256 (kept)"]
THREADS = 256
NOTE = """\
How many times as fast as EBW's product was without launch bounds, on the same matrix in the same run, in the same precision of
values: each the best of its sizes of thread blocks (and of launch bounds, where there are several), but what was kept as it was
kept. `bytes` is what is moved in total, against EBW. "Half" keeps each pair of blocks K_ab, K_ba once, and adds the second product to y with atomics.
"""


def best(one, names, precision):
    """The fastest row of some products, if any was measured."""
    found = [row for row in one["rows"] if row["product"] in names and row["precision"].split(",")[0] == precision]
    if names == KEPT:
        found = [row for row in found if row["threads"] == THREADS]
    return min(found, key=lambda row: row["ms"], default={})


def trials_tables(run):
    """One table for each precision of the matrix."""
    problems = sorted(run["trials"], key=lambda one: (one["element"] != "tet4", one["cells"]))
    if not problems:
        return ""
    out = NOTE
    for precision in ("f64", "f32"):
        rows = []
        for name, products in TRIED.items():
            found = [(best(one, TRIED["as EBW was"], precision), best(one, products, precision)) for one in problems]
            if not any(row for _, row in found):
                continue
            own = [row["own_bytes"] / ebw["own_bytes"] for ebw, row in found if row]
            rows.append([name, number(own[-1], 2), *(ratio(ebw.get("ms"), row.get("ms")) for ebw, row in found)])
        heads = ["product", "bytes", *(f"{one['element']}, n = {one['cells']}" for one in problems)]
        out += f"\n{precision}, times in ms of the first row: {baseline(problems, precision)}.\n\n{table(heads, rows)}"
    return out


def baseline(problems, precision):
    times = [number(best(one, TRIED["as EBW was"], precision).get("ms")) for one in problems]
    return ", ".join(times)
