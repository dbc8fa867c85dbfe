"""Times whole solutions by CalculiX (`ccx`), scikit-fem and warpfem in turn: from the command to the results on disk.

    python3 docs/benchmarks/peers.py [--cells 60] [--elements hex8,tet4] [--programs ITERATIVE,jacobi,amg] [--samples 3]
                                     [--warpfem PROGRAM] [--ccx PROGRAM] [--json FOLDER]

The problem is the unit cube, E = 210 GPa, nu = 0.3, held at z = 0, under a pressure of 1 MPa on z = 1, in cells^3 hex8 or six
tet4 each. The programs:

- `SPOOLES`: CalculiX's default, a direct solver (4.5 GB for 40 cells); `ITERATIVE`: its conjugate gradients (`ITERATIVE
  SCALING`, a diagonal preconditioner), to its own tolerance. CalculiX reads its deck, which is written beforehand and not
  counted, and writes displacements.
- `direct`, `pyamg`: scikit-fem, solved by SciPy's SuperLU, or by conjugate gradients with PyAMG's smoothed aggregation with
  rigid-body modes to a relative residual of 1e-8; makes the mesh, writes displacements.
- `auto`, `jacobi`, `amg`: warpfem with this preconditioner, to a relative residual of 1e-8; makes the mesh, writes
  displacements, stresses, tables, a picture and a report.

All may use all processors, or as many as OMP_NUM_THREADS says. Figures are medians; memory is the largest resident set. A
program whose first run takes over a minute runs once. Linux.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

# Corners of a cell as (x, y, z), and six tetrahedra of it around the diagonal 0-6, in the order of Gmsh and VTK.
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
KUHN = [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]
# What of a cell's upper side each corner of it carries.
SHARES = {"hex8": {4: 1 / 4, 5: 1 / 4, 6: 1 / 4, 7: 1 / 4}, "tet4": {4: 1 / 3, 5: 1 / 6, 6: 1 / 3, 7: 1 / 6}}
YOUNG, POISSON, PRESSURE, TOLERANCE = 210e9, 0.3, 1e6, 1e-8

CASE = """[mesh]
generate = {{ kind = "box", element = "{element}", size = [1.0, 1.0, 1.0], cells = [{n}, {n}, {n}] }}
[[material]]
name = "steel"
young = {young}
poisson = {poisson}
[[support]]
on = "zmin"
fix = "xyz"
[[pressure]]
on = "zmax"
value = {pressure}
[solver]
residual_tolerance = {tolerance}
preconditioner = "{preconditioner}"
"""


def cube(element, n):
    """Nodes (x, y, z as integers up to n), elements [][8 or 4] from 0, and each node's force along z."""
    x, y, z = (axis.ravel(order="F") for axis in np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij"))
    origins = np.flatnonzero((x < n) & (y < n) & (z < n))
    cells = origins[:, None] + CORNERS @ [1, n + 1, (n + 1) ** 2]
    elements = cells if element == "hex8" else cells[:, KUHN].reshape(-1, 4)
    force = np.zeros(x.size)
    for corner, share in SHARES[element].items():
        np.add.at(force, cells[z[origins] == n - 1, corner], -PRESSURE * share / n**2)
    return x, y, z, elements, force


def write_deck(path, element, n, solver):
    """CalculiX's input for the cube."""
    x, y, z, elements, force = cube(element, n)
    with open(path, "w") as deck:
        deck.write("*NODE, NSET=NALL\n")
        np.savetxt(deck, np.column_stack([np.arange(x.size) + 1, x / n, y / n, z / n]), "%d,%.15g,%.15g,%.15g")
        deck.write(f"*ELEMENT, TYPE={'C3D8' if element == 'hex8' else 'C3D4'}, ELSET=EALL\n")
        np.savetxt(deck, np.column_stack([np.arange(len(elements)) + 1, elements + 1]), "%d", ",")
        deck.write("*NSET, NSET=HELD\n")
        np.savetxt(deck, np.flatnonzero(z == 0) + 1, "%d,")
        deck.write(f"*MATERIAL, NAME=STEEL\n*ELASTIC\n{YOUNG}, {POISSON}\n*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n")
        deck.write(f"*BOUNDARY\nHELD, 1, 3\n*STEP\n*STATIC, SOLVER={solver}\n*CLOAD\n")
        loaded = np.flatnonzero(force)
        np.savetxt(deck, np.column_stack([loaded + 1, np.full(loaded.size, 3), force[loaded]]), "%d,%d,%.15g")
        deck.write("*NODE FILE\nU\n*END STEP\n")


def timed(command, folder):
    """Seconds, MiB at most, and the output of a program."""
    with open(folder / "out.txt", "w+") as out:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        out.seek(0)
        text = out.read()
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{text[-2000:]}")
    return seconds, usage.ru_maxrss / 1024, text


def largest_displacement(path):
    """The largest displacement in CalculiX's results."""
    largest, block = 0.0, ""
    for line in open(path):
        if line.startswith(" -4"):
            block = line.split()[1]
        elif block == "DISP" and line.startswith(" -1"):
            largest = max(largest, sum(float(line[13 + 12 * i : 25 + 12 * i]) ** 2 for i in range(3)))
    return largest**0.5


def by_calculix(program, folder, deck):
    """A run of the deck there: seconds, MiB, iterations (none of a direct solver), the largest displacement."""
    result = folder / f"{deck}.frd"
    result.unlink(missing_ok=True)
    seconds, memory, text = timed([program, deck], folder)
    largest = largest_displacement(result)
    # It counts aloud, a line or a part of one per iteration.
    counts = re.findall(r"iteration[= :]+(\d+)", text, re.IGNORECASE)
    if largest == 0.0:
        raise SystemExit(f"CalculiX has no result:\n{text[-2000:]}")
    return seconds, memory, max(map(int, counts), default=None), largest


def by_scikit_fem(solver, folder, problem):
    """As by_calculix: this script, run again with `--scikit-fem`."""
    element, n = problem
    seconds, memory, text = timed([sys.executable, __file__, "--scikit-fem", f"{solver},{element},{n}"], folder)
    iterations, displacement = text.split()[-2:]
    return seconds, memory, None if iterations == "None" else int(iterations), float(displacement)


def scikit_fem(solver, element, n):
    """Solves the cube by scikit-fem; prints the iterations and the largest displacement, and writes the displacements."""
    import scipy.sparse.linalg
    import skfem
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    x, y, z, elements, force = cube(element, n)
    points, kind = np.array([x, y, z]) / n, (skfem.MeshHex, skfem.ElementHex1, 2)
    if element == "tet4":
        kind = (skfem.MeshTet, skfem.ElementTetP1, 1)
    else:
        # scikit-fem's order of a hexahedron's corners.
        elements = elements[:, [0, 1, 3, 4, 2, 5, 7, 6]]
    mesh = kind[0](points, np.ascontiguousarray(elements.T))
    basis = skfem.Basis(mesh, skfem.ElementVector(kind[1]()), intorder=kind[2])
    matrix = skfem.asm(linear_elasticity(*lame_parameters(YOUNG, POISSON)), basis)
    right, held = np.zeros(basis.N), np.zeros(basis.N, bool)
    right[basis.nodal_dofs[2]] = force
    held[basis.nodal_dofs[:, z == 0]] = True
    free, counted = np.flatnonzero(~held), []
    matrix = matrix[free][:, free].tocsr()
    if solver == "direct":
        solution = scipy.sparse.linalg.spsolve(matrix.tocsc(), right[free], permc_spec="MMD_AT_PLUS_A")
    else:
        import pyamg

        modes = np.zeros((basis.N, 6))
        for c in range(3):
            modes[basis.nodal_dofs[c], c] = 1.0
            a, b = (c + 1) % 3, (c + 2) % 3
            modes[basis.nodal_dofs[b], 3 + c], modes[basis.nodal_dofs[a], 3 + c] = points[a], -points[b]
        blocks = matrix.tobsr(blocksize=(3, 3))
        hierarchy = pyamg.smoothed_aggregation_solver(blocks, B=modes[free], smooth="energy", max_coarse=500)
        solution, status = scipy.sparse.linalg.cg(
            blocks, right[free], rtol=TOLERANCE, M=hierarchy.aspreconditioner(), callback=counted.append
        )
        if status != 0:
            raise SystemExit("conjugate gradients did not converge")
    u = np.zeros(basis.N)
    u[free] = solution
    u = u[basis.nodal_dofs]
    np.save("displacement.npy", u)
    print(len(counted) or None, f"{np.linalg.norm(u, axis=0).max():.9e}")


def by_warpfem(program, folder, case):
    """As by_calculix, of a case there."""
    seconds, memory, _ = timed([program, "solve", case, "--device", "cpu", "-o", case.stem], folder)
    summary = json.loads((folder / case.stem / "summary.json").read_text())
    if not summary["solver"]["converged"]:
        raise SystemExit("warpfem did not come to the tolerance")
    return seconds, memory, summary["solver"]["iterations"], summary["results"]["max_displacement"]


def programs(arguments, element, folder):
    """Name, function and its two arguments of each program to run; writes their inputs into the folder."""
    version = subprocess.run([arguments.ccx, "-v"], capture_output=True, text=True).stdout
    version = re.search(r"Version\s+(\S+)", version, re.IGNORECASE)
    calculix, n = f"CalculiX {version[1] if version else ''}".strip(), arguments.cells
    found = []
    for name in arguments.programs.split(","):
        if name in ("SPOOLES", "ITERATIVE"):
            solver = {"SPOOLES": "SPOOLES", "ITERATIVE": "ITERATIVE SCALING"}[name]
            write_deck(folder / f"{name}.inp", element, n, solver)
            found.append((f"{calculix}, {solver}", by_calculix, arguments.ccx, name))
        elif name in ("direct", "pyamg"):
            found.append((f"scikit-fem, {'SuperLU' if name == 'direct' else 'PyAMG'}", by_scikit_fem, name, (element, n)))
        else:
            case = folder / f"pressed_cube_{element}_{n}_{name}.toml"
            values = dict(element=element, n=n, young=YOUNG, poisson=POISSON, pressure=PRESSURE, tolerance=TOLERANCE)
            case.write_text(CASE.format(**values, preconditioner=name))
            found.append((f"warpfem, {name}", by_warpfem, arguments.warpfem.resolve(), case))
    return found


def measure(arguments, element):
    """The rows of an element's cube, one per program."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        runs = programs(arguments, element, folder)
        samples = {name: [] for name, *_ in runs}
        for _ in range(arguments.samples):
            for name, run, program, problem in runs:
                if not samples[name] or samples[name][0][0] < 60.0:
                    samples[name].append(run(program, folder, problem))
        if arguments.json:
            for case in folder.glob("pressed_cube_*.toml"):
                shutil.copy(folder / case.stem / "summary.json", arguments.json / f"{case.stem}.json")
    for name, found in samples.items():
        seconds, memory, iterations, displacement = zip(*found)
        row = {
            "program": name,
            "samples_s": seconds,
            "seconds": statistics.median(seconds),
            "peak_mib": statistics.median(memory),
            "iterations": iterations[0],
            "max_displacement": displacement[0],
        }
        print(
            f"{element} {arguments.cells}, {name}: {row['seconds']:.2f} s, {row['peak_mib']:.0f} MiB, "
            f"{row['iterations']} iterations, max |u| {row['max_displacement']:.9e} m",
            flush=True,
        )
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpfem", default="target/release/warpfem", type=pathlib.Path, help="our program")
    parser.add_argument("--ccx", default="ccx", help="CalculiX")
    parser.add_argument("--cells", default=60, type=int, help="cells along an edge")
    parser.add_argument("--elements", default="hex8,tet4", help="the cubes to solve")
    parser.add_argument("--programs", default="ITERATIVE,jacobi,amg", help="what to run, see above")
    parser.add_argument("--samples", default=3, type=int, help="runs of each, whose medians are reported")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures, and the summaries of our last runs, into this folder")
    parser.add_argument("--scikit-fem", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.scikit_fem:
        solver, element, n = arguments.scikit_fem.split(",")
        return scikit_fem(solver, element, int(n))
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"]
    threads, n = int(os.environ["OMP_NUM_THREADS"]), arguments.cells
    for element in arguments.elements.split(","):
        result = {
            "problem": f"{element} cube {n}",
            "device": f"cpu ({threads} thread{'s' if threads > 1 else ''})",
            "dofs": 3 * (n + 1) ** 3,
            "programs": list(measure(arguments, element)),
        }
        if arguments.json:
            (arguments.json / f"peers_{element}_{n}.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
