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

from dsm import dsm
from experiments import trials_tables
from femses import blocks_table, femses_table, ratios_table
from figures import OURS, library, main_iterations, main_products, on_gpu, peer, place, row_of, title
from markdown import count, number, percent, ratio, table
from precond import precond, sbell_solver
from processors import cg_table as processor_cg_table
from products import (
    PHASES, cg_table, comparison_table, counters_tables, formats_tables, library_table, ordering_tables, setup_table,
    solve_table, spmv_table, stepping_table,
)  # fmt: skip
from sbell import sbell
from warp import elements_table, strategies_by_element, warp

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent / "README.md"
MARKS = "<!-- speed -->", "<!-- /speed -->"

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

[`run_gpu.sh`](run_gpu.sh) says what else it can measure: meshes (made by [`meshes.py`](meshes.py)), squares of plane elements,
orders of nodes, fewer parts. [`counters.py`](counters.py) adds the counters of the memory. What the formats are and when to
choose which: [formats.md](../formats.md).

**The problems**: cubes of n x n x n cells in steel (E = 200 GPa, nu = 0.3), hex8 or six tet4 per cell, clamped at x = 0,
under their own weight; squares of n x n cells, quad4 or two tri3 each; and meshes by the names of their files. Products are
measured on the pattern of the mesh with values made up, the same in every format. **Copy** is the bandwidth of a copy within
the device's memory, reads and writes both counted, measured in the same run. A product's **least bytes** are the values and one
column index for each block of the mesh (3x3 in space, 2x2 in the plane), and x and y once; a format's **own bytes** are all that it
stores, padding and indices included, and x and y once; an iteration's are the product's least bytes and ten words per unknown.
"Of copy" without more is the share of the least bytes. A share above 100 % is not a mistake: a product reads far more than it
writes, and reads are a little faster than copies; and matrices of less than some 50 MB stay in the cache from one product to the next.

**SELL-32** and **CSR** as peers are cuSPARSE's sliced ELLPACK product, its best format for these matrices, and its compressed rows,
measured by [`cusparse.py`](cusparse.py) on the same matrix, each the best of its variants and of the orders of nodes measured. The
**fused CG** is a CUDA program written for the comparison: Jacobi-CG with that product, the vector steps fused, scalars on the device, in
a CUDA graph. All were measured on the same device in the same session; "x" says how many times as fast as they warpfem is.
Both programs look at the residual every ten iterations; the peer reports where within the ten it was met, warpfem counts in tens,
but for small systems, whose many iterations in one launch end at once.
**SciPy**, on processors, is `scipy.sparse.linalg.cg` with Jacobi as scikit-fem calls it, on one thread and a matrix of the same
pattern, measured by [`scipy_cg.py`](scipy_cg.py) in turn with ours.

**Preconditioners** are measured by whole solutions from an assembled matrix: **products** are all with the matrix, those of the
preconditioner, of its bounds and of the residual at the end among them; **set-up** is what the preconditioner takes to be made;
"x Jacobi" says how many times as fast as Jacobi in double, set-up included; **f32** and **f16** are polynomials of a copy of the matrix
in so many bits under an iteration in double; Jacobi there is iterative refinement.

**FEMSES** and its peers solve the potential on the unit square, triangles of n x n nodes, between two sides at 0 and 1 (or, on four sides,
of a source). **Set-up** is numbering, which cells are around a node and, for matrices, the sparsity; **assembly** is of element matrices, and
for matrices of those too, with supports; **error** is that of the potential, whose exact values the elements hold. `dense` is Cholesky's
method, on a GPU by our kernels, on a processor by nalgebra on one thread; `dense_to_csr` assembles a dense matrix, makes it sparse and
iterates as `cg` does; `sparse` is faer's Cholesky; `femses_atomic` is the thesis's form.

**Assembly** is of the whole stiffness matrix in place of the one that was there, before supports, with all that depends on the topology
made before: the **symbolic** phase, and colours. Its **least bytes** are the matrix's values once, nodes, slots and material of every
element, and every node's coordinates; the **write floor** is the time to write the values once at the copy bandwidth. GFLOP/s count every
element's matrix once, whatever a strategy computes. **CuPy** is [`cupy_assembly.py`](cupy_assembly.py), element matrices and their addition to
known places, on a machine of the same kind. WARP's cantilever is 16 x 2 x 2 m; its own figures are of a Tesla K40 in single precision.
"""


def sections(run):
    """The headings of a run and what is under them."""
    yield "Sparse product", spmv_table(run)
    yield "Sparse product by format", comparison_table(run)
    yield "Formats on boxes", formats_tables(run, lambda one: one["problem"].endswith(" cube 100"))
    yield "Formats on unstructured meshes", formats_tables(run, lambda one: " " not in one["problem"])
    yield "cuSPARSE, ms", library_table(run)
    yield "Orders of nodes", ordering_tables(run)
    yield "Set-up", setup_table(run)
    yield "Conjugate gradients with Jacobi", cg_table(run)
    yield "Conjugate gradients with Jacobi, by threads", processor_cg_table(run)
    yield "An iteration, by how the device is told what to do", stepping_table(run)
    yield "Preconditioners", precond(run)
    yield "Assembly", elements_table(run)
    yield "Assembly by strategy", strategies_by_element(run)
    yield "WARP's figures", warp(run)
    yield "DSM's figures", dsm(run)
    yield "SBELL's figures", sbell(run)
    yield "SBELL's tables 3 to 5", sbell_solver(run)
    yield "FEMSES and what assembles a matrix", femses_table(run)
    yield "FEMSES by threads of a block", blocks_table(run)
    yield "FEMSES's ratios", ratios_table(run)
    yield "Memory counters", counters_tables(run)
    yield "What was tried", trials_tables(run)
    yield "From case to results, seconds", solve_table(run)


def section(name, run):
    """One run's tables under its heading."""
    commands = "; ".join(f"`{command}`" for command in run["commands"])
    out = f"\n## {run['device']}, {run['date']}\n\nDriver {run['driver']}; [`{name}`]({name}) by {commands}.\n"
    if "note" in run:
        out += f"\n{run['note']}\n"
    for head, text in sections(run):
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
    # Boxes that were only multiplied or only iterated on stand in the larger tables alone.
    shown = [
        found for found in problems.values() if "spmv" in found and ("cg" in found or " cube " not in found["spmv"]["problem"])
    ]
    for found in sorted(shown, key=lambda found: place(found["spmv"])):
        one = found["spmv"]
        row, cg, other = row_of(one, OURS), row_of(found.get("cg"), OURS), peer(run, one)
        rows.append([
            title(one), count(one["dofs"]), number(row.get("spmv_ms")), percent(row.get("of_copy")),
            ratio(library(run, one, "sell32"), row.get("spmv_ms")), count(cg.get("iterations")),
            number(cg.get("iteration_ms")), percent(cg.get("of_copy")),
            ratio(other.get("iteration_ms"), cg.get("iteration_ms")),
        ])  # fmt: skip
    heads = ["cube", "unknowns", "K u, ms", "of copy", "x SELL-32", "CG iterations", "ms each", "of copy", "x fused CG"]
    copies = [one["copy_gb_per_s"] for one in run["spmv"] + run["cg"] if on_gpu(one)]
    out = f"{run['device']}, double precision, {run['date']}; copy: {max(copies):,.0f} GB/s.\n\n" if copies else ""
    out += table(heads, rows)
    for one in run["solve"]:
        if not one["case"].startswith("cube"):
            continue
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
