"""Tables of conjugate gradients on processors."""

import re

from figures import OURS, on_gpu, place, row_of, title
from markdown import count, number, percent, ratio, table


def threads(one):
    """`cpu (2 threads)`: 2."""
    return int(re.search(r"\d+", one["device"])[0])


def cg_table(run):
    """Iterations by numbers of threads, and SciPy's on the same matrix."""
    # Those of several formats compare formats.
    ours = [one for one in run["cg"] if not on_gpu(one) and len(one["rows"]) == 1 and row_of(one, OURS)]
    ours.sort(key=lambda one: (place(one), threads(one)))
    alone = {one["problem"]: row_of(one, OURS)["iteration_ms"] for one in ours if threads(one) == 1}
    others = {one["problem"]: one["iteration_ms"] for one in run.get("host_cg", [])}
    rows = []
    for one in ours:
        row, other = row_of(one, OURS), others.get(one["problem"])
        rows.append([
            f"{title(one)}, {one['precision']}", count(one["dofs"]), count(threads(one)), count(row["iterations"]),
            number(row["solve_ms"], 4), number(row["iteration_ms"]), percent(row["of_copy"]),
            ratio(alone.get(one["problem"]), row["iteration_ms"]), number(other), ratio(other, row["iteration_ms"]),
        ])  # fmt: skip
    heads = [
        "problem", "unknowns", "threads", "iterations", "solution ms", "ms each", "of copy", "x one thread", "SciPy, ms each",
        "x SciPy",
    ]  # fmt: skip
    return table(heads, rows)
