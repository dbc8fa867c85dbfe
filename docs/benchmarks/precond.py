"""Preconditioners: iterations, products and times of every one and order; SBELL's tables 3 to 5 and its figure 10 made again."""

from figures import OURS, PRECISIONS, on_gpu, place, title
from markdown import count, number, ratio, table
from sbell import MATRICES

# Its polynomials, and the orders of its tables 3 and 4.
POLYNOMIALS = {"neumann": "Neumann", "chebyshev": "Chebyshev", "least_squares": "least squares"}
ORDERS = 2, 3, 4, 5, 6
# Its choice for table 5 and figure 10.
BEST = "least_squares", 6
# What Jacobi needs on its matrix "quad": iterations, and seconds in CSR on a Core 2 Duo E7400.
JACOBI = 1_938, 64.92
# Figure 10: how many times as fast as its CPU the GPU is on its four matrices, by format and mixed precision.
FASTER = {("csr", False): "1.2 to 3.8", ("csr", True): "1.8 to 4.5", (OURS, False): "5.5 to 6.9", (OURS, True): "7.2 to 9.1"}


def storage(one):
    """A report's format; `auto` is the one it stands for."""
    return OURS if one["format"] == "auto" else one["format"]


def reports(run, gpu=True):
    """The reports in order; of the same problem, precision and format the one of most rows."""
    best = {}
    for one in run.get("precond", []):
        key = one["problem"], one["precision"], storage(one)
        if on_gpu(one) == gpu and len(one["rows"]) > len(best.get(key, {"rows": []})["rows"]):
            best[key] = one
    return sorted(best.values(), key=lambda one: (place(one), storage(one)))


def find(one, name, order=None, storage="f64"):
    """A preconditioner's figures, if it has them and came to the tolerance."""
    wanted = name, order, storage
    rows = (one or {}).get("rows", [])
    return next((row for row in rows if (row["preconditioner"], row["order"], row["storage"]) == wanted and row["converged"]), {})


def time(row):
    """Milliseconds from the assembled matrix to the solution."""
    return row["setup_ms"] + row["solve_ms"] if row else None


def called(row):
    """`least_squares 6`, or the name alone."""
    return row["preconditioner"] if row["order"] is None else f"{row['preconditioner']} {row['order']}"


def every_table(one):
    """All rows of a report, in mixed precisions beside double."""
    jacobi, rows = time(find(one, "jacobi")), []
    kept = [storage for storage in ("f32", "f16") if any(row["mixed"] and row["storage"] == storage for row in one["rows"])]
    for row in one["rows"]:
        if row["mixed"]:
            continue
        reached = row if row["converged"] else None
        cells = [
            called(row), count(row["iterations"]) if reached else "not reached", count(row["spmvs"]), number(row["setup_ms"]),
            number(row["solve_ms"]), number(row["spmv_ms"]), ratio(jacobi, time(reached)),
        ]  # fmt: skip
        for storage in kept:
            mixed = find(one, row["preconditioner"], row["order"], storage)
            cells += [count(mixed.get("iterations")), number(time(mixed)), ratio(jacobi, time(mixed))]
        rows.append(cells)
    heads = ["preconditioner", "iterations", "products", "set-up, ms", "solve, ms", "ms per product", "x Jacobi"]
    return table([*heads, *(head for storage in kept for head in (f"{storage}: iterations", "ms", "x Jacobi"))], rows)


def precond(run):
    """Every preconditioner on every problem that all of them were measured on."""
    out = ""
    for one in reports(run) or reports(run, gpu=False):
        if {row["preconditioner"] for row in one["rows"]} >= {"jacobi", *POLYNOMIALS}:
            heading = f"{title(one)}, {one['precision']}, {storage(one)}, to {one['tolerance']:.0e}"
            out += f"\n#### {heading}\n\n{count(one['dofs'])} unknowns.\n\n{every_table(one)}"
    return out.lstrip("\n")


def nearest(run, element, **which):
    """`{format: report}` of the problem of an element that is nearest in unknowns to SBELL's matrix, in double precision."""
    ones = [one for one in reports(run, **which) if one["problem"].startswith(f"{element} ") and one["precision"] == PRECISIONS[0]]
    if not ones:
        return {}
    unknowns = MATRICES[element][1]
    problem = min(ones, key=lambda one: abs(one["dofs"] - unknowns))["problem"]
    return {storage(one): one for one in ones if one["problem"] == problem}


def orders_tables(run):
    """Its tables 3 and 4: iterations and time of each polynomial by order, on quad."""
    found = nearest(run, "quad4")
    one = max(found.values(), key=lambda one: len(one["rows"]), default=None)
    jacobi = find(one, "jacobi")
    if not jacobi:
        return ""
    orders = sorted({*ORDERS, *(row["order"] for row in one["rows"] if row["order"])})
    out = ""
    for what, ours, theirs, cell in (
        ("Table 3: iterations", count(jacobi["iterations"]), count(JACOBI[0]), lambda row: count(row.get("iterations"))),
        ("Table 4: milliseconds", number(time(jacobi)), f"{JACOBI[1]} s on its CPU in CSR", lambda row: number(time(row))),
        ("Table 4 in Jacobi's time", "1", "least squares of order 6 about 1, the others much more, on its CPU",
         lambda row: ratio(time(row), time(jacobi))),
    ):  # fmt: skip
        rows = [[text, *(cell(find(one, name, order)) for order in orders)] for name, text in POLYNOMIALS.items()]
        if all(cell == "-" for row in rows for cell in row[1:]):
            return ""
        out += f"\n{what}, {title(one)} in {storage(one)}; Jacobi: {ours} (SBELL: {theirs}).\n\n"
        out += table(["polynomial", *(f"order {order}" for order in orders)], rows)
    return out


def meshes_table(run):
    """Its table 5: Jacobi against least squares of order 6 on the four meshes."""
    rows = []
    for element, (name, *_) in MATRICES.items():
        for gpu in (True, False):
            for form, one in sorted(nearest(run, element, gpu=gpu).items()):
                jacobi, *best = find(one, "jacobi"), find(one, *BEST), find(one, *BEST, "f32"), find(one, *BEST, "f16")
                if not jacobi or not any(best):
                    continue
                device = "GPU" if gpu else one["device"]
                cells = [cell for row in best for cell in (count(row.get("iterations")), number(time(row)), ratio(time(jacobi), time(row)))]
                rows.append([name, title(one), device, form, count(jacobi["iterations"]), number(time(jacobi)), *cells])
    heads = ["SBELL's", "here", "device", "format", "Jacobi: iterations", "ms", "least squares 6: iterations", "ms", "x Jacobi",
             "f32: iterations", "ms", "x Jacobi", "f16: iterations", "ms", "x Jacobi"]  # fmt: skip
    text = "\nTable 5: Jacobi and least squares of order 6 (SBELL: about the same time on its CPU).\n\n"
    return text + table(heads, rows, words=["here", "device", "format"]) if rows else ""


def devices_table(run):
    """Its figure 10: how many times as fast as the CPU the GPU solves, with least squares of order 6."""
    rows = []
    for element, (name, *_) in MATRICES.items():
        here, there = nearest(run, element), nearest(run, element, gpu=False)
        if {one["problem"] for one in here.values()} != {one["problem"] for one in there.values()}:
            continue
        for base in sorted(there):
            slow = time(find(there[base], *BEST))
            cells = [ratio(slow, time(find(here.get(form), *BEST, "f32" if mixed else "f64"))) for form, mixed in FASTER]
            if any(cell != "-" for cell in cells):
                rows.append([name, base, number(slow), *cells])
    heads = ["SBELL's", "on the CPU", "ms", *(f"GPU: {form}{', mixed' if mixed else ''}" for form, mixed in FASTER)]
    text = "\nFigure 10: how many times as fast as in f64 on the CPU, least squares of order 6.\n\n"
    return text + table(heads, [*rows, ["SBELL", "csr", "-", *FASTER.values()]], words=["on the CPU"]) if rows else ""


def sbell_solver(run):
    """Its tables 3 to 5 and figure 10, those that were measured."""
    return (orders_tables(run) + meshes_table(run) + devices_table(run)).lstrip("\n")
