#!/usr/bin/env python3
"""Has CalculiX's file of results read by programs that are not ours, and compares it with CalculiX's own.

    frd.py BINARY    a line per comparison; exit 1 if one fails

What ccx2paraview (needed, with pyvista) makes of the file must be the VTU's. Where there is `ccx`
(in Debian calculix-ccx), its file of a deck that `warpfem convert` made must have the same nodes, elements and displacements. Where there is
`cgx` (calculix-cgx), it must find the extremes of the VTU in the text and in the binary file.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pyvista
from ccx2paraview.common import Converter

import ccx

SINGLE = 1e-5  # six digits
# Our fields, in the order in which they are written, by ccx2paraview's names, with the factor of their shears.
FIELDS = {"U": ("displacement", 1), "S": ("stress_nodal", 1), "E": ("strain_nodal", 0.5), "RF": ("reaction_force", 1)}
CELLS = {
    **dict.fromkeys(["tet4", "tet10", "hex8", "hex20", "wedge6", "wedge15", "pyramid5", "pyramid13"], [3, 2, 2]),
    **dict.fromkeys(["tri3", "tri6", "quad4", "quad8"], [3, 2]),
}


def run(*command, cwd):
    """Runs a program; returns what it prints."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{command[0]} exits {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def near(found, expected):
    """The largest difference over the largest value."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def report(what, difference, bound=SINGLE):
    good = difference <= bound
    print(f"{'ok    ' if good else 'FAILED'} {what:34} {difference:.1e} of {bound:.0e}", flush=True)
    return good


def solve(binary, folder, element, form):
    """A bent box; the path of its files without ending, and the fields of its VTU as FRD has them."""
    stem, cells = f"{element}_{form}", CELLS[element]
    space = len(cells) == 3
    (folder / f"{stem}.toml").write_text(f"""[analysis]
kind = "{'elasticity' if space else 'plane_stress'}"
[mesh.generate]
kind = "{'box' if space else 'rectangle'}"
element = "{element}"
size = {[2.0, 1.0, 1.0][:len(cells)]}
cells = {cells}
[[material]]
name = "m"
young = 210e3
poisson = 0.3
[[support]]
on = "xmin"
fix = "{'xyz'[:len(cells)]}"
[[traction]]
on = "xmax"
vector = [1.0, 20.0, {5.0 if space else 0.0}]
[output]
fields = {[field for field, _ in FIELDS.values()]}
frd = "{form}"
""")
    run(binary, "solve", f"{stem}.toml", "-o", ".", "--device", "cpu", "--method", "direct", "--quiet", cwd=folder)
    mesh = pyvista.read(folder / f"{stem}.vtu")
    scale = lambda factor, values: values * ([1, 1, 1] + [factor] * (values.shape[1] - 3))
    return folder / stem, mesh, {key: scale(f, mesh.point_data[field]) for key, (field, f) in FIELDS.items()}


def size(mesh):
    """Volume, or area in the plane; VTK has wedges the other way round than ccx2paraview."""
    sizes = mesh.compute_cell_sizes()
    return np.abs(sizes["Volume"]).sum() or sizes["Area"].sum()


def by_ccx2paraview(binary, folder):
    """Every element's results as ccx2paraview reads them, beside those of the VTU."""
    good = True
    for element in CELLS:
        stem, ours, fields = solve(binary, folder, element, "ascii")
        (folder / "read").mkdir(exist_ok=True)
        copy = shutil.copy(f"{stem}.frd", folder / "read")
        Converter(copy, ["vtu"]).run()
        theirs = pyvista.read(pathlib.Path(copy).with_suffix(".vtu"))
        found = [near(theirs.point_data[key], expected) for key, expected in fields.items()]
        # Nodes in a wrong order would turn elements inside out.
        found += [near(theirs.points, ours.points), abs(size(theirs) / size(ours) - 1)]
        good &= report(f"ccx2paraview {element}", max(found))
    return good


def blocks(path):
    """Nodes, elements and displacements of an ASCII file."""
    text = pathlib.Path(path).read_text()
    part = lambda head: re.split(r"\n -3", text.split(head, 1)[1])[0].splitlines()[1:]
    nodes = {int(line[3:13]): [float(line[i : i + 12]) for i in (13, 25, 37)] for line in part("    2C")}
    elements, tag = {}, None
    for line in part("    3C"):
        if line[:3] == " -1":
            tag = int(line[3:13])
            elements[tag] = [int(line[13:18])]
        else:
            elements[tag] += map(int, line[3:].split())
    rows = [line for line in part(" -4  DISP") if line[:3] == " -1"]
    moved = {int(line[3:13]): [float(line[i : i + 12]) for i in (13, 25, 37)] for line in rows}
    return nodes, elements, moved


def by_calculix(binary, folder):
    """CalculiX's own files of a bar of two kinds of elements, whose deck `convert` writes."""
    good = True
    for kind in ("C3D10", "C3D20"):
        feature = ccx.bar(kind).press("top")
        (folder / "bar.msh").write_text(feature.mesh.gmsh())
        head = '[mesh]\nfile = "bar.msh"\n[solver]\nmethod = "direct"\n[output]\nfrd = "ascii"\n'
        material = f'[[material]]\nname = "m"\nyoung = {ccx.YOUNG}\npoisson = {ccx.POISSON}\n'
        (folder / "bar.toml").write_text(head + material + feature.case)
        run(binary, "solve", "bar.toml", "-o", ".", "--device", "cpu", "--quiet", cwd=folder)
        run(binary, "convert", "bar.msh", "mesh.inp", cwd=folder)
        material = f"*MATERIAL, NAME=m\n*ELASTIC\n{ccx.YOUNG}, {ccx.POISSON}\n*SOLID SECTION, ELSET=body, MATERIAL=m\n"
        step = f"*STEP\n*STATIC\n{feature.step}*NODE FILE\nU\n*END STEP\n"
        (folder / "deck.inp").write_text("*INCLUDE, INPUT=mesh.inp\n" + material + feature.model + step)
        run("ccx", "-i", "deck", cwd=folder)
        ours, theirs = blocks(folder / "bar.frd"), blocks(folder / "deck.frd")
        good &= report(f"ccx {kind}: nodes, elements", float(ours[:2] != theirs[:2]))
        moved = [np.array([u[tag] for tag in theirs[2]]) for u in (ours[2], theirs[2])]
        good &= report(f"ccx {kind}: displacements", near(*moved))
    return good


def by_cgx(binary, folder):
    """The extremes of every component that cgx finds in the text and in the binary file, beside those of the VTU."""
    good = True
    for element in ("tet10", "hex20", "wedge15", "pyramid13", "quad8"):
        for form in ("ascii", "binary"):
            stem, _, fields = solve(binary, folder, element, form)
            components = [(k, c + 1, v) for k, of in enumerate(fields.values(), 1) for c, v in enumerate(of.T)]
            shown = "".join(f"ds {k} e {c}\n" for k, c, _ in components)
            (folder / "look.fbd").write_text(f"read {stem.name}.frd\n{shown}quit\n")
            said = run("cgx", "-bg", "look.fbd", cwd=folder)
            found = re.findall(r"max:(\S+) at node:\d+\s+min:(\S+) at node", said)
            expected = np.array([(v.max(), v.min()) for *_, v in components])
            scale = np.array([np.abs(list(fields.values())[k - 1]).max() for k, *_ in components])
            if len(found) != len(expected):
                raise ValueError(f"cgx shows {len(found)} components of {len(expected)}: {said[-2000:]}")
            difference = np.abs(np.array(found, float) - expected).max(axis=1) / scale
            good &= report(f"cgx {element}, {form}", float(difference.max()))
    return good


def main(arguments):
    """Exit status."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    binary, good = str(pathlib.Path(arguments[0]).resolve()), True
    for check, program in ((by_ccx2paraview, None), (by_calculix, "ccx"), (by_cgx, "cgx")):
        if program and not shutil.which(program):
            print(f"skipped: no {program}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            good &= check(binary, pathlib.Path(folder))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
