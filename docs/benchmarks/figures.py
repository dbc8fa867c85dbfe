"""Looks up figures in what collect.py has gathered of a run."""

# The format that `auto` stands for.
OURS = "ebw"
ELEMENTS = ["tet4", "hex8", "tet10", "hex20", "tri3", "quad4", "tri6", "quad8"]
PRECISIONS = ("f64", "f32")


def title(one):
    """`tet4, n = 40` for a cube or square, else the problem's name."""
    parts = one["problem"].split()
    return f"{parts[0]}, n = {parts[2]}" if len(parts) == 3 else one["problem"]


def place(one):
    """Tetrahedra first, then other generated meshes, then files; small ones first; double precision first."""
    first = one["problem"].split()[0]
    rank = ELEMENTS.index(first) if first in ELEMENTS else len(ELEMENTS)
    return rank, one["dofs"], one["problem"], one["precision"] != "f64"


def row_of(one, name):
    """The figures of a format in a report, if it has them."""
    return next((row for row in (one or {}).get("rows", []) if row["format"] == name and not refused(row)), {})


def refused(row):
    """Whether a format could not hold the matrix."""
    return "spmv_ms" not in row and "iteration_ms" not in row


def main_products(run):
    """For each problem and precision the report of most formats: the others study orders of nodes."""
    best = {}
    for one in run["spmv"]:
        key = one["problem"], one["block_size"], one["precision"]
        if key not in best or len(one["rows"]) > len(best[key]["rows"]):
            best[key] = one
    return sorted(best.values(), key=place)


def product(run, problem, precision="f64"):
    """The report of most formats on a problem."""
    return next((one for one in main_products(run) if (one["problem"], one["precision"]) == (problem, precision)), None)


def library(run, one, variant, ordering=None):
    """The best time of cuSPARSE's variants that begin so, on the problem and in the precision of `one`."""
    times = [
        row["ms"]
        for other in run["cusparse"]
        if (other["problem"], other["block_size"]) == (one["problem"], one["block_size"])
        and ordering in (None, other["ordering"])
        for row in other["rows"]
        if row["variant"].startswith(variant) and row["precision"] == one["precision"] and "ms" in row
    ]
    return min(times, default=None)


def peer(run, one):
    """The fused CG's figures of the problem of `one`."""
    return run["peer"].get(one["problem"], {}).get(one["precision"], {})


def on_gpu(one):
    return not one["device"].startswith("cpu")


def main_iterations(run):
    """The runs to a tolerance, as `auto` steps; the others were stopped early, to compare formats, or stepped otherwise."""
    return [one for one in whole_iterations(run) if one.get("stepping", "auto") == "auto"]


def whole_iterations(run):
    """The runs to a tolerance, whatever they stepped by."""
    return sorted((one for one in run["cg"] if not one.get("max_iterations") and on_gpu(one)), key=place)


def stopped_iterations(run, gpu=True):
    """The runs that compare the formats' iterations, small ones first."""
    several = [one for one in run["cg"] if one.get("max_iterations") and on_gpu(one) == gpu]
    return sorted(several, key=lambda one: (one["dofs"], one["precision"] != "f64"))


def rate(one, *names):
    """Iterations per second of the fastest of some formats, if any was measured."""
    return max((row_of(one, name)["iterations_per_s"] for name in names if row_of(one, name)), default=None)
