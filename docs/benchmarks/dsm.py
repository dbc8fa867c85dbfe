"""DSM's figures made again: iterations per second against the size of a cube, and what it says of its formats."""

import statistics

from figures import PRECISIONS, main_products, rate, refused, row_of, stopped_iterations, title
from markdown import count, number, size, table

# A claim holds if the median of what was measured is in its range, give or take this share.
SLACK = 0.05
# From how many nodes a mesh is large: DSM's largest cube and those beyond.
LARGE = 200_000
ELLPACK = "ell", "ell_warp", "ebw"
CPU_DENSE = "dense", "dense_block"

# What it says, the lowest and the highest ratio, how it is measured here, and why: of what holds, of more, and of less.
CLAIMS = [
    (
        "dense on a GPU over dense on a CPU, 463 nodes", 10, 10, lambda run, p: dense_over_cpu(run, p, 463),
        "", "the matrix of 16 MB stays in the GPU's cache of 60 MB, and one thread of this CPU reads about as fast as it copies",
        "1,395 rows are 1,395 threads, less than a hundredth of what this GPU runs at once, and one thread of this CPU reads about as fast as it copies",
    ),
    (
        "the same, 3,419 nodes", 34, 34, lambda run, p: dense_over_cpu(run, p, 3419),
        "", "one thread reads no faster than it copies",
        "10,227 rows still are too few threads for the bandwidth of this GPU (`dense_block`, with a block of threads per row, reaches it at 27,783 rows)",
    ),
    (
        "CSR over dense, 463 nodes", 2, 2, lambda run, p: over(run, p, "csr", "dense", 463),
        "", "dense reads all 1,395 columns with few threads, and of CSR's time most is that of the launches", "",
    ),
    (
        "the same, 7,348 nodes", 42, 42, lambda run, p: over(run, p, "csr", "dense", 7348),
        "", "the sparse matrix stays in a cache of 60 MB here, and the dense one does not", "",
    ),
    (
        "ELL by columns over ELL by rows", 1.33, 1.33, lambda run, p: by_columns(run, p),
        "", "by rows a warp's load of 32 values is 32 sectors, by columns 8 (f64) or 4 (f32)", "",
    ),
    (
        "ELL-WARP over ELL, large unstructured meshes", 1.05, 1.10, lambda run, p: large(run, p, "ell_warp", ["ell"], True),
        "", "ELL pads every row to the longest of the mesh, and the bytes decide; on boxes, where rows are equally long, "
        "it gains nothing", "",
    ),
    (
        "EBW over ELL-WARP, large meshes", 1.05, 1.15, lambda run, p: large(run, p, "ebw", ["ell_warp"]),
        "bytes say 1.42 (f64, 108 B to 76 B a block) and 1.8 (f32, 72 B to 40 B) for the product alone",
        "bytes say so: 108 B to 76 B a block in f64, 72 B to 40 B in f32", "the vector steps take their share",
    ),
    (
        "ELL, ELL-WARP and EBW over CSR, large meshes", 5, 10, lambda run, p: large(run, p, ELLPACK, ["csr"]),
        "CSR's lanes read far apart, a sector of 32 B for 8 B of a value", "",
        "the rest of an iteration is the same for all, and takes a larger share the faster the product; ELL on unstructured "
        "meshes reads its padding",
    ),
]  # fmt: skip


def nearest(reports, nodes, precision):
    """The report of DSM's cube of so many nodes, within a twentieth."""
    same = [one for one in reports if one["precision"] == precision and abs(one["nodes"] - nodes) < nodes / 20]
    return min(same, key=lambda one: abs(one["nodes"] - nodes), default=None)


def quotient(fast, slow):
    return [fast / slow] if fast and slow else []


def dense_over_cpu(run, precision, nodes):
    gpu, cpu = (nearest(stopped_iterations(run, on), nodes, precision) for on in (True, False))
    return quotient(rate(gpu, *CPU_DENSE), rate(cpu, *CPU_DENSE))


def over(run, precision, fast, slow, nodes):
    one = nearest(stopped_iterations(run), nodes, precision)
    return quotient(rate(one, fast), rate(one, slow))


def by_columns(run, precision):
    """From products, where both were measured, beyond the caches."""
    found = []
    for one in main_products(run):
        if one["precision"] == precision and one["block_size"] == 3 and one["nodes"] > LARGE:
            columns, rows = (row_of(one, name).get("spmv_ms") for name in ("ell", "ell_row"))
            found += quotient(rows, columns)
    return found


def large(run, precision, fast, slow, unstructured=False):
    found = []
    for one in stopped_iterations(run):
        box = " cube " in one["problem"]
        if one["precision"] == precision and one["nodes"] > LARGE and not (unstructured and box):
            for name in [fast] if isinstance(fast, str) else fast:
                found += quotient(rate(one, name), rate(one, *slow))
    return found


def verdict(found, low, high):
    """0 where the claim holds, 1 where more is measured, 2 where less."""
    middle = statistics.median(found)
    return 1 if middle > high * (1 + SLACK) else 2 if middle < low * (1 - SLACK) else 0


def span(low, high):
    texts = [f"{number(value)}x" for value in (low, high)]
    return texts[0] if texts[0] == texts[1] else f"{texts[0][:-1]} to {texts[1]}"


def claims_table(run):
    """Each claim against what was measured."""
    rows = []
    for what, low, high, measured, *why in CLAIMS:
        found = {precision: measured(run, precision) for precision in PRECISIONS}
        if not any(found.values()):
            continue
        verdicts = {precision: verdict(values, low, high) for precision, values in found.items() if values}
        words = ["confirmed", "refuted: more", "refuted: less"]
        said = list(dict.fromkeys(words[number] for number in verdicts.values()))
        if len(said) > 1:
            said = [f"{words[number]} ({precision})" for precision, number in verdicts.items()]
        reasons = [why[number] for number in dict.fromkeys(verdicts.values()) if why[number]]
        cells = [span(min(values), max(values)) if values else "-" for values in found.values()]
        rows.append([what, span(low, high), *cells, ", ".join(said), "; ".join(reasons) or "-"])
    return table(["claim", "DSM", *PRECISIONS, "verdict", "why"], rows, ("verdict", "why"))


def rate_tables(run):
    """Iterations per second of every format against the size of the problem."""
    out = ""
    for precision in PRECISIONS:
        ones = [one for one in stopped_iterations(run) if one["precision"] == precision and len(one["rows"]) > 1]
        names = list(dict.fromkeys(row["format"] for one in ones for row in one["rows"]))
        rows = []
        for one in ones:
            cpu = nearest(stopped_iterations(run, gpu=False), one["nodes"], precision)
            cells = [rate_cell(one, name) for name in names]
            rows.append([title(one), count(one["nodes"]), number(rate(cpu, *CPU_DENSE), 4), *cells])
        if rows:
            device = next((one["device"] for one in stopped_iterations(run, gpu=False)), "CPU")
            out += f"\n{precision}:\n\n" + table(["problem", "nodes", f"dense, {device}", *names], rows)
    return out.removeprefix("\n")


def rate_cell(one, name):
    row = next((row for row in one["rows"] if row["format"] == name), {})
    if "needed_bytes" in row and refused(row):
        return f"needs {size(row['needed_bytes'])}"
    return number(rate(one, name), 4)


def dsm(run):
    """The whole section."""
    rates = rate_tables(run)
    if not rates:
        return ""
    limit = next((one["max_iterations"] for one in stopped_iterations(run)), 0)
    return (
        f"Iterations of CG with Jacobi per second, from runs of at most {limit}, on unstructured cubes with DSM's numbers of nodes and on "
        "boxes (DSM: RTX 2080, f32). The CPU's is the faster of the two dense formats on one thread.\n\n"
        f"{rates}\nWhat DSM says of its formats. A claim is confirmed if the median of the ratios here is in its range, give or take "
        f"{SLACK:.0%}. Large is more than {count(LARGE)} nodes. Rows and columns of ELL are compared by their products, the others by "
        f"iterations.\n\n{claims_table(run)}"
    )
