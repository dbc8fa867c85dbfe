"""WARP's figures made again, and assembly of every element: strategies, times, registers, colours."""

from figures import OURS, PRECISIONS, place, title
from markdown import count, number, percent, ratio, table

# Elements of its four cantilever meshes.
MESHES = 110_592, 262_144, 1_000_000, 2_097_152
# How many times as fast as by_element, on the second and the last of its meshes, and table 1: seconds on the last.
PAPER = {
    "by_element": (1.0, 1.0), "by_warp4": (None, 5.82), "by_warp8": (None, 5.17), "ppni4": (8.2, 7.09),
    "two_kernels": (None, "5.17 to 6.05"),
}  # fmt: skip
JACOBIANS = {"by_warp4_atomic": ("atomic additions", 1.39), "by_warp4_shared": ("shared memory", 1.09), "by_warp4": ("shuffles", 1.03)}


def measured(run, precision, storage=OURS):
    """The reports of one precision and storage format: of each problem the one of most strategies."""
    best = {}
    for one in run.get("assembly", []):
        if (one["precision"], one["format"]) == (precision, storage) and len(one["rows"]) > len(best.get(one["problem"], {"rows": []})["rows"]):
            best[one["problem"]] = one
    return sorted(best.values(), key=place)


def row(one, strategy):
    """A strategy's figures, if it has them."""
    return next((row for row in one["rows"] if row["strategy"] == strategy and "assembly_ms" in row), {})


def cantilevers(run, precision, storage="csr"):
    """Its four meshes."""
    return [one for one in measured(run, precision, storage) if one["problem"].startswith("hex8 ") and one["elements"] in MESHES
            and one["problem"].endswith(" 16x2x2")]  # fmt: skip


def strategies_table(run, precision, storage):
    """Milliseconds and speed-ups over by_element."""
    ones = cantilevers(run, precision, storage)
    if not ones:
        return ""
    heads = ["strategy", *(f"{count(one['elements'])}, ms" for one in ones), *("x by_element" for _ in ones), "WARP's, 262,144", "WARP's, 2,097,152"]
    rows = []
    for name in [found["strategy"] for found in ones[-1]["rows"]]:
        times = [row(one, name).get("assembly_ms") for one in ones]
        base = [row(one, "by_element").get("assembly_ms") for one in ones]
        paper = [f"{value:g}" if isinstance(value, float) else value or "-" for value in PAPER.get(name, (None, None))]
        rows.append([name, *map(number, times), *(ratio(slow, fast) for slow, fast in zip(base, times)), *paper])
    return f"\n#### WARP's cantilever into {storage}, {precision}\n\n" + table(heads, rows)


def jacobians_table(run):
    """Its table 1: three ways to sum a Jacobian in a warp."""
    rows = []
    for name, (way, seconds) in JACOBIANS.items():
        cells = [name, way, number(seconds), ratio(seconds, JACOBIANS["by_warp4"][1])]
        for precision in PRECISIONS:
            last = next((one for one in cantilevers(run, precision) if one["elements"] == MESHES[-1]), {"rows": []})
            ms = row(last, name).get("assembly_ms")
            cells += [number(ms), ratio(ms, row(last, "by_warp4").get("assembly_ms"))]
        rows.append(cells)
    if all(cells[4] == "-" for cells in rows):
        return ""
    heads = ["strategy", "Jacobian by", "WARP, s", "of shuffles", "f64, ms", "of shuffles", "f32, ms", "of shuffles"]
    return "\n#### WARP's table 1: the Jacobian, 2,097,152 elements\n\n" + table(heads, rows, words=["Jacobian by"])


def colors_table(run):
    """Colours of every problem that a coloured strategy was measured on."""
    rows = []
    for one in measured(run, "f64"):
        colored = next((found for found in one["rows"] if found.get("colors")), None)
        if colored:
            prepare = number(1e3 * colored["prepare_s"])
            rows.append([problem(one), count(one["elements"]), count(colored["colors"]), count(colored["largest_color"]), prepare])
    heads = ["problem", "elements", "colours", "cells of the largest", "coloured in, ms"]
    return "\n#### Colours\n\n" + table(heads, rows) if rows else ""


def problem(one):
    """The problem's name; WARP's meshes by what they are."""
    return "WARP's cantilever" if one["problem"].endswith(" 16x2x2") else title(one)


def elements_table(run):
    """The fastest strategies on every problem, against the floor and CuPy."""
    cupy = {found["problem"]: found for one in run.get("peer_assembly", []) for found in one["rows"]}
    rows = []
    for precision in PRECISIONS:
        for one in measured(run, precision):
            best = min((found for found in one["rows"] if "assembly_ms" in found), key=lambda found: found["assembly_ms"])
            theirs = cupy.get(one["problem"], {}).get("assembly_ms") if precision == "f64" else None
            rows.append([
                problem(one), count(one["elements"]), precision, best["strategy"], number(best["assembly_ms"]),
                number(best["elements_per_s"] / 1e6), number(best["gflops"]), percent(best["of_copy"]),
                percent(best["of_write_floor"]), number(1e3 * one["symbolic_s"]), number(theirs), ratio(theirs, best["assembly_ms"]),
            ])  # fmt: skip
    heads = ["problem", "elements", "", "fastest strategy", "ms", "M elements/s", "GFLOP/s", "least bytes, of copy", "of write floor", "symbolic, ms", "CuPy, ms", "x CuPy"]
    return table(heads, rows, words=["", "fastest strategy"])


def registers_table(run):
    """What ptxas says of the kernels of assembly."""
    found = {name: figures for one in run.get("registers", []) for name, figures in one["kernels"].items()}
    wanted = [name for name in found if "_hex8_" in name and name.startswith(("by_", "ppni", "geometry", "atomic", "stiffness"))]
    rows = [[name, count(found[name]["registers"]), count(found[name]["spilled_bytes"])] for name in sorted(wanted)]
    return "\n#### Registers and spills by ptxas, hex8\n\n" + table(["kernel", "registers a thread", "bytes spilled"], rows) if rows else ""


# Its cantilever as benches/cantilever_N.toml have it: lengths, E, nu, and the force at its end.
LENGTH, HEIGHT, YOUNG, POISSON, FORCE = 16.0, 2.0, 200e9, 0.333, 1e6


def timoshenko():
    """Deflection of the loaded end: bending and shear, with Cowper's coefficient for a rectangle (1966)."""
    inertia, area = HEIGHT**4 / 12, HEIGHT**2
    shear = YOUNG / (2 * (1 + POISSON)) * area * 10 * (1 + POISSON) / (12 + 11 * POISSON)
    return FORCE * LENGTH**3 / (3 * YOUNG * inertia) + FORCE * LENGTH / shear


def deflections_table(run):
    """The cantilever solved; the force does twice the strain energy's work, on the mean deflection of the end."""
    rows = []
    ones = [one for one in run["solve"] if one["case"].startswith("cantilever_") and one["device"] == run["device"]]
    for one in sorted(ones, key=lambda one: one["elements"]):
        deflection = 2 * one["results"]["strain_energy"] / FORCE
        rows.append([
            count(one["elements"]), count(one["dofs"]), f"{1e3 * deflection:.5f}", f"{100 * (deflection / timoshenko() - 1):+.3f} %",
            count(one["solver"]["iterations"]), number(one["timings_s"]["solve"]), number(one["timings_s"]["total"]),
        ])  # fmt: skip
    heads = ["elements", "unknowns", "deflection of the end, mm", "of Timoshenko's", "iterations", "solve, s", "total, s"]
    text = f"\n#### WARP's cantilever solved\n\nTimoshenko's deflection: {1e3 * timoshenko():.5f} mm. Full clamping at one end makes a beam a little stiffer.\n\n"
    return text + table(heads, rows) if rows else ""


def warp(run):
    """All of it."""
    tables = [strategies_table(run, precision, storage) for storage in ("csr", OURS) for precision in ("f32", "f64")]
    return "".join([*tables, jacobians_table(run), colors_table(run), registers_table(run), deflections_table(run)])
