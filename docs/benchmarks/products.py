"""Tables of products, orders of nodes, set-up and solutions."""

from figures import (
    OURS, PRECISIONS, library, main_iterations, main_products, peer, place, product, refused, row_of, title,
    whole_iterations,
)  # fmt: skip
from markdown import count, milliseconds, number, percent, ratio, size, table

PHASES = "read", "setup", "assembly", "boundary", "solve", "stress", "write"
# The cubes whose formats are compared; squares and files always are.
COMPARED = ("20", "100")


def spmv_table(run):
    rows = []
    for one in main_products(run):
        row = row_of(one, OURS)
        if row:
            ms = row["spmv_ms"]
            rows.append([
                f"{title(one)}, {one['precision']}", count(one["dofs"]), number(ms), number(row["gb_per_s"], 4),
                percent(row["of_copy"]), number(row["gflops"]), ratio(library(run, one, "sell32"), ms),
                ratio(library(run, one, "csr"), ms),
            ])  # fmt: skip
    heads = ["problem", "unknowns", "ms", "GB/s of least bytes", "of copy", "GFLOP/s", "x SELL-32", "x CSR"]
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


def is_compared(one):
    _, _, cells = one["problem"].partition(" cube ")
    return len(one["rows"]) > 1 and (not cells or cells in COMPARED)


def comparison_table(run):
    """GFLOP/s of every format, one table for each precision."""
    out = ""
    for precision in PRECISIONS:
        ones = [one for one in main_products(run) if one["precision"] == precision and is_compared(one)]
        names = list(dict.fromkeys(row["format"] for one in ones for row in one["rows"]))
        rows = [[name, *(number(row_of(one, name).get("gflops")) for one in ones)] for name in names]
        for name, variant in (("cuSPARSE's SELL-32", "sell32"), ("cuSPARSE's CSR", "csr_alg")):
            rows.append([name, *(number(library_gflops(run, one, variant)) for one in ones)])
        if ones:
            out += f"\nGFLOP/s, {precision}:\n\n" + table(["format", *map(title, ones)], rows)
    return out.removeprefix("\n")


def library_gflops(run, one, variant):
    ms = library(run, one, variant)
    return 2e-6 * one["blocks"] * one["block_size"] ** 2 / ms if ms else None


def formats_tables(run, wanted):
    """Every format on the problems that `wanted` says, in both precisions."""
    out = ""
    for one in [one for one in main_products(run) if len(one["rows"]) > 1 and wanted(one)]:
        times = [library(run, one, variant) for variant in ("sell32", "csr_alg")]
        rows = []
        for row in one["rows"]:
            if refused(row):
                needs = f"needs {size(row['needed_bytes'])}" if "needed_bytes" in row else "refused"
                rows.append([row["format"], needs, *["-"] * 6])
                continue
            rows.append([
                row["format"], f"{size(row['stored_bytes'])} ({row['padding']:.3f})", milliseconds(row.get("layout_s")),
                number(row["spmv_ms"]), percent(row["own_of_copy"]), number(row["gflops"]),
                *(ratio(ms, row["spmv_ms"]) for ms in times),
            ])  # fmt: skip
        heads = ["format", "stored (padding)", "layout ms", "ms", "own bytes, of copy", "GFLOP/s", "x SELL-32", "x CSR"]
        sizes = f"{count(one['dofs'])} unknowns, {count(one['blocks'])} blocks of {one['block_size']}x{one['block_size']}"
        out += f"\n#### {title(one)}, {one['precision']}\n\n{sizes}; order of nodes: {one['ordering']}.\n\n{table(heads, rows)}"
    return out.removeprefix("\n")


def ordering_tables(run):
    """Every order of nodes of the problems that were measured in several."""
    problems = {}
    for one in run["spmv"]:
        reports = problems.setdefault((place(one), one["block_size"]), {})
        reports[one["ordering"], one["degree_window"], len(one["rows"])] = one
    out = ""
    for _, found in sorted(problems.items()):
        orders = {(ordering, window): one for (ordering, window, _), one in sorted(found.items())}
        some = next(iter(orders.values()))
        rows = []
        for (ordering, window), one in orders.items() if len(orders) > 1 else ():
            ours = row_of(one, OURS)
            rows.append([
                ordering, count(window), milliseconds(one["setup_s"]), number(row_of(one, "csr").get("spmv_ms")),
                number(row_of(one, "sell").get("spmv_ms")), f"{ours['padding']:.3f}", number(ours["spmv_ms"]),
                percent(ours["of_copy"]),
            ])  # fmt: skip
        heads = ["order", "degree window", "pattern ms", "csr ms", "sell ms", "ebw padding", "ebw ms", "ebw, of copy"]
        if rows:
            out += f"\n#### {title(some)}, {some['precision']}\n\n{table(heads, rows)}"
            sell = {name: library(run, some, "sell32", name) for name in sorted({name for name, _ in orders})}
            if any(sell.values()):
                out += f"\ncuSPARSE's SELL-32, ms: {', '.join(f'{name} {number(ms)}' for name, ms in sell.items() if ms)}.\n"
    return out.removeprefix("\n")


def setup_table(run):
    """What comes before the first iteration, against a solution in double precision."""
    solves = {
        one["problem"]: row_of(one, OURS)["solve_ms"] / 1e3
        for one in main_iterations(run)
        if one["precision"] == "f64" and row_of(one, OURS).get("converged")
    }
    rows = []
    for one in [one for one in main_products(run) if one["precision"] == "f64"]:
        layout, solve = row_of(one, OURS).get("layout_s"), solves.get(one["problem"])
        together = None if layout is None else one["setup_s"] + layout
        share = together / solve if together and solve else None
        rows.append([
            title(one), count(one["elements"]), count(one["dofs"]), milliseconds(one["setup_s"]), milliseconds(layout),
            milliseconds(together), milliseconds(solve), percent(share),
        ])  # fmt: skip
    heads = ["problem", "elements", "unknowns", "pattern ms", f"{OURS} layout ms", "together ms", "solution ms", "of solution"]
    return table(heads, rows)


def tolerance(one, row):
    return f"{one['tolerance']:.0e}".replace("e-0", "e-") + ("" if row["converged"] else " (not reached)")


def cg_table(run):
    rows = []
    for one in main_iterations(run):
        other = peer(run, one)
        # Another tolerance is another number of iterations; the time of one remains comparable.
        same = other.get("tolerance") == one["tolerance"]
        for row in [row for row in one["rows"] if not refused(row)]:
            name = title(one) if len(one["rows"]) == 1 else f"{title(one)}, {row['format']}"
            rows.append([
                f"{name}, {one['precision']}", tolerance(one, row), count(row["iterations"]),
                count(other.get("iterations") if same else None), number(row["solve_ms"], 4), number(row["iteration_ms"]),
                percent(row["of_copy"]), ratio(other.get("iteration_ms"), row["iteration_ms"]), f"{row['min_u_z']:.6e}",
            ])  # fmt: skip
    heads = [
        "problem", "tolerance", "iterations", "fused CG's", "solution ms", "ms each", "of copy", "x fused CG", "min u_z [m]",
    ]  # fmt: skip
    return table(heads, rows)


def stepping_table(run):
    """What the host's part in an iteration costs: a launch per step, ten iterations recorded, or `auto`."""
    ways, problems = {}, {}
    for one in whole_iterations(run):
        row = row_of(one, OURS)
        if row and one["precision"] == "f64":
            problems[one["problem"]] = one
            ways.setdefault(one["problem"], {})[one.get("stepping", "auto")] = row
    rows = []
    for problem, one in problems.items():
        if len(ways[problem]) > 1:
            times = [ways[problem].get(way, {}).get("iteration_ms") for way in ("launches", "graph", "auto")]
            other = peer(run, one)
            cells = [number(time and 1e3 * time) for time in times]
            rows.append([title(one), count(one["dofs"]), *cells, number(1e3 * one["iteration_bytes"] / 1e6 / one["copy_gb_per_s"]),
                         ratio(other.get("iteration_ms"), times[2])])  # fmt: skip
    heads = ["problem", "unknowns", "launches, us", "graph, us", "auto, us", "bytes at the copy bandwidth, us", "auto x fused CG"]
    return table(heads, rows) if rows else ""


def solve_table(run):
    rows = []
    for one in run["solve"]:
        t = one["timings_s"]
        phases = [number(t.get(phase)) for phase in PHASES]
        sizes = [count(one["elements"]), count(one["dofs"]), count(one["solver"]["iterations"])]
        rows.append([one["case"], *sizes, *phases, number(t.get("total"))])
    return table(["case", "elements", "unknowns", "iterations", *PHASES, "total"], rows)


def counters_tables(run):
    """What one product of each format does to the memory."""
    out = ""
    for one in run["counters"]:
        problem, precision = counted_problem(one["problem"])
        report = product(run, problem, precision)
        rows = []
        for row in one["rows"]:
            own = row_of(report, row["format"]).get("own_bytes")
            rows.append([
                row["format"], number(own and own / 32e6), number(row["dram_sectors_read"] / 1e6),
                number(row["dram_sectors_written"] / 1e6), number(row["l2_sectors_read"] / 1e6),
                f"{row['l1_hit_percent']:.0f} %", f"{row['l2_hit_percent']:.0f} %", f"{row['dram_percent_of_peak']:.0f} %",
            ])  # fmt: skip
        heads = [
            "format", "own bytes", "DRAM read", "DRAM written", "L2 read", "L1 hits", "L2 hits", "DRAM, of peak",
        ]  # fmt: skip
        out += f"\n#### {title({'problem': problem})}, {precision}\n\nSectors of 32 bytes, in millions.\n\n{table(heads, rows)}"
    return out.removeprefix("\n")


def counted_problem(text):
    """The problem and precision of the arguments that counters.py was given."""
    words = text.split()
    options = {words[i]: words[i + 1] for i in range(len(words) - 1) if words[i].startswith("--")}
    precision = "f32" if options.get("--precision") == "single" else "f64"
    if "--cells" not in options:
        file = next((word for word in words if word.endswith(".msh")), text)
        return file.rpartition("/")[2].removesuffix(".msh"), precision
    element = options.get("--element", "tet4")
    shape = "square" if element in ("tri3", "quad4") else "cube"
    return f"{element} {shape} {options['--cells']}", precision
