"""Tables of FEMSES beside what assembles a matrix."""

from figures import on_gpu
from markdown import count, number, percent, ratio, table

# The thesis's headline ratios over its serial code (a Tesla K40 and a Core i5), by what they are of.
THESIS = {"element matrices": 5_000, "sparse assembly": 20_000, "dense assembly": 120_000}


def reports(run):
    """Those on a GPU first, double precision before single."""
    return sorted(run.get("femses", []), key=lambda one: (not on_gpu(one), one["device"], one["precision"] != "f64", one["sides"]))


def measured(one):
    """The rows that have figures and are no comparison of blocks."""
    return [row for row in one["rows"] if "total_ms" in row and row.get("block", 256) == 256]


def femses_table(run):
    """Phase by phase, every method and size once."""
    all_rows = [(one, row) for one in reports(run) if not is_of_blocks(one) for row in measured(one)]
    # Those of one machine and precision are together, whatever run they are from.
    places = {(one["device"], one["precision"], one["sides"]): place for place, (one, _) in enumerate(all_rows)}
    all_rows.sort(key=lambda pair: (places[pair[0]["device"], pair[0]["precision"], pair[0]["sides"]], pair[1]["nodes"]))
    rows = []
    for one, row in all_rows:
        reached = "" if row["converged"] else " (not reached)"
        phases = [row[f"{phase}_ms"] for phase in ("transfer", "setup", "allocate", "assembly", "solve")]
        rows.append([
            f"{one['device']}, {one['precision']}, {one['sides']} sides", row["method"], count(row["unknowns"]),
            count(row["iterations"]) + reached, f"{row['relative_residual']:.0e}",
            "-" if row["error"] is None else f"{row['error']:.0e}", *map(number, phases), number(row["total_ms"]),
            percent(row["solve_ms"] / row["total_ms"]),
        ])  # fmt: skip
    heads = [
        "device", "method", "unknowns", "iterations", "residual", "error", "transfer ms", "set-up ms", "allocation ms",
        "assembly ms", "solution ms", "total ms", "solution, of total",
    ]  # fmt: skip
    return table(heads, rows)


def is_of_blocks(one):
    """Whether a report compares sizes of blocks."""
    return len({row.get("block") for row in one["rows"]}) > 2


def blocks_table(run):
    """Milliseconds of an iteration by atomics, by the threads of a block."""
    rows = []
    for one in filter(is_of_blocks, reports(run)):
        for row in one["rows"]:
            each = row["solve_ms"] / row["iterations"]
            rows.append([f"{one['device']}, {one['precision']}", count(row["unknowns"]), count(row["block"]), number(1e3 * each)])
    return table(["device", "unknowns", "threads", "microseconds an iteration"], rows)


def by_method(some):
    """Rows of some reports by method and nodes along an edge."""
    return {(row["method"], row["nodes"]): row for one in some for row in measured(one)}


def ratios_table(run):
    """How many times as fast as one thread of its host the GPU is, at the sizes that both were measured at."""
    doubles = [one for one in reports(run) if (one["precision"], one["sides"]) == ("f64", 2) and not is_of_blocks(one)]
    gpu = by_method(filter(on_gpu, doubles))
    host = by_method(one for one in doubles if one["device"] == "cpu (1 thread)")
    phases = [
        ("element matrices", "femses", "assembly_ms"), ("sparse assembly", "cg", "assembly_ms"),
        ("dense assembly", "dense", "assembly_ms"), ("dense Cholesky", "dense", "solve_ms"), ("CG", "cg", "solve_ms"),
        ("FEMSES", "femses", "solve_ms"), ("FEMSES, all phases", "femses", "total_ms"), ("CG, all phases", "cg", "total_ms"),
    ]  # fmt: skip
    sizes = sorted({nodes for _, nodes in host} & {nodes for _, nodes in gpu})
    rows = []
    for name, method, phase in phases if sizes else []:
        pairs = [(host.get((method, nodes)), gpu.get((method, nodes))) for nodes in sizes]
        ours = [ratio(slow[phase], fast[phase]) if slow and fast else "-" for slow, fast in pairs]
        rows.append([name, *ours, count(THESIS.get(name))])
    heads = ["GPU over one thread", *[f"{count(nodes * nodes)} unknowns" for nodes in sizes], "thesis, up to"]
    return table(heads, rows)
