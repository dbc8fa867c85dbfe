#!/usr/bin/env python3
"""Compares frequencies, load factors of buckling, and shapes with those of CalculiX, on the same decks.

    modes.py BINARY [NAME ..]    a line per deck; exit 1 if one is beyond the bounds

Frequencies differ by 1e-6 of themselves at most, load factors by 1e-5, and the spans of the shapes of equal or nearly equal
eigenvalues by an angle of 1e-4. Of steady vibrations and of motions in time it compares the displacements that are printed, and
forces of supports. ccx leaves out what higher modes add: one shape for each amplitude, times what the loads are. What remains
beside these is 1e-6 of the largest at most. Decks of ccx are among them. Needs numpy, `ccx` and its decks (in Debian
calculix-ccx, calculix-ccx-test).
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import suite

BOUNDS = {"modal": 1e-6, "buckling": 1e-5}
ANGLE = 1e-4
BESIDE = 1e-6
# Where supports move, of U and of RF: ccx damps all motion, here it is that beside theirs; over time ccx has differences of the
# increments for the acceleration of supports.
OF_SUPPORTS = {
    "shaken": (1e-4, 2e-3, "damping of the motion beside the supports'"),
    "shaken_base": (1e-4, 1e-4, "damping of the motion beside the supports'"),
    "base_in_time": (1e-3, 1e-3, "the acceleration of supports from differences in ccx"),
}
# Eigenvalues that are nearer to each other than this are a cluster; below this part of the largest they are 0.
NEAR, ZERO = 1e-3, 1e-5

STEEL = "*MATERIAL, NAME=STEEL\n*ELASTIC\n210e9, 0.3\n*DENSITY\n7800.\n*SOLID SECTION, ELSET=body, MATERIAL=STEEL\n"
ORTHOTROPIC = STEEL.replace(
    "*ELASTIC\n210e9, 0.3",
    "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n140e9, 10e9, 9e9, 0.3, 0.25, 0.4, 5e9, 4e9,\n3e9",
)
CLAMP = "*BOUNDARY\nxmin, 1, 3\n"
SUPPORTED = "*BOUNDARY\nxmin, 3\nxmax, 3\nymin, 3\nymax, 3\n"
BEAM, COLUMN, PLATE, CUBE = [2, 0.3, 0.2], [1, 0.05, 0.03], [1, 1, 0.02], [1, 1, 1]


def frequency(n, supports, more="", material=STEEL):
    return material + more + f"*STEP\n*FREQUENCY\n{n}\n{supports}*NODE FILE\nU\n*END STEP\n"


def buckle(n, supports, loads, material=STEEL):
    # More vectors than ccx takes by itself: it then finds the factors to their last digit.
    return material + supports + f"*STEP\n*BUCKLE\n{n}, 1e-10, {4 * n + 20}, 5000\n{loads}*NODE FILE\nU\n*END STEP\n"


def stressed(n, supports, loads, material=STEEL):
    static = f"*STEP\n*STATIC\n{supports}{loads}*END STEP\n"
    return material + static + f"*STEP, PERTURBATION\n*FREQUENCY\n{n}\n*NODE FILE\nU\n*END STEP\n"


def press(value, side="xmax"):
    return f"*DSLOAD\n{side}, P, {value}\n"


def moving(kind, n, supports, loads, damping, step="*STEP, INC=1000\n"):
    """Modes, then the motion under loads."""
    modes = f"*STEP\n*FREQUENCY, STORAGE=YES\n{n}\n{supports}*END STEP\n"
    # ccx has RF in .dat only where the file of fields has it.
    prints = "*NODE PRINT, NSET=xmax\nU\n*NODE PRINT, NSET=xmin\nRF\n*NODE FILE\nU, RF\n"
    return STEEL + modes + f"{step}{kind}{damping}{loads}{prints}*END STEP\n"


RATIOS, RAYLEIGH = "*MODAL DAMPING\n1, 5, 0.02\n6, 20, 0.05\n", "*MODAL DAMPING, RAYLEIGH\n,, 8., 1e-5\n"
SWEEP = "*STEADY STATE DYNAMICS\n20., 700., 5, 2.\n"
SHAKEN = "*BOUNDARY\nxmin, 3, 3, 1e-3\n"
PULSE = "*AMPLITUDE, NAME=pulse\n0., 0., 2e-3, 1., 4e-3, 0.\n*AMPLITUDE, NAME=later\n0., 0., 5e-3, 0., 6e-3, 1.\n"
SPECTRUM = "*AMPLITUDE, NAME=spectrum\n0., 1., 300., 4., 500., 2.\n"
PULSES = "*CLOAD, AMPLITUDE=pulse\n{last}, 3, 100.\n*CLOAD\n{last}, 2, 50.\n" \
         "*DSLOAD, AMPLITUDE=later\nymax, P, 1e3\n"
BASES = "*BASE MOTION, DOF=3, AMPLITUDE=spectrum\n*BASE MOTION, DOF=2, AMPLITUDE=spectrum, TYPE=DISPLACEMENT\n"
BASE = "*BASE MOTION, DOF=3, AMPLITUDE=later, TYPE=DISPLACEMENT\n"
SPECTRA = "*CLOAD, AMPLITUDE=spectrum\n{last}, 3, 100.\n*CLOAD\n{last}, 2, 50.\n"
TIP = "*CLOAD\n{last}, 3, 100.\n"
MASSES = "*ELEMENT, TYPE=MASS, ELSET=lump\n900001, 1\n900002, {last}\n*MASS, ELSET=lump\n500.\n"
EQUATION = "*EQUATION\n2\n{last}, 2, 1., {other}, 2, -1.\n"
RIGID = "*NODE, NSET=ref\n900001, 2., 0.15, 0.1\n*RIGID BODY, NSET=xmax, REF NODE=900001\n"

# By name: the element, the cells and the size of a box, and what follows its mesh.
DECKS = {
    "hex20r": ("hex20r", [10, 2, 1], BEAM, frequency(10, CLAMP)),
    "hex20": ("hex20", [10, 2, 1], BEAM, frequency(10, CLAMP)),
    "tet10": ("tet10", [10, 2, 1], BEAM, frequency(10, CLAMP)),
    "hex8i": ("hex8i", [16, 3, 2], BEAM, frequency(10, CLAMP)),
    "tet4": ("tet4", [16, 3, 2], BEAM, frequency(10, CLAMP)),
    "square": ("hex20", [10, 2, 2], [2, 0.2, 0.2], frequency(12, CLAMP)),
    "free": ("hex20", [10, 2, 1], BEAM, frequency(12, "")),
    "free_cube": ("tet10", [3, 3, 3], CUBE, frequency(20, "")),
    "plate": ("hex20r", [8, 8, 1], PLATE, frequency(10, SUPPORTED + "xmin, 1\nymin, 2\n")),
    "fibres": ("hex20", [8, 2, 1], BEAM, frequency(10, CLAMP, material=ORTHOTROPIC)),
    "masses": ("hex20", [8, 2, 1], BEAM, frequency(10, CLAMP, MASSES)),
    "equation": ("hex20", [8, 2, 1], BEAM, frequency(8, CLAMP, EQUATION)),
    "rigid": ("hex20", [8, 2, 1], BEAM, frequency(8, CLAMP, RIGID)),
    "pulled": ("hex20", [8, 2, 1], BEAM, stressed(8, CLAMP, "*CLOAD\nxmax, 1, 1e5\n")),
    "pressed": ("hex20", [8, 2, 1], BEAM, stressed(8, CLAMP, "*CLOAD\nxmax, 1, -1e5\n")),
    "spinning": ("hex20", [8, 2, 1], BEAM, stressed(8, CLAMP, "*DLOAD\nbody, CENTRIF, 1e4, 0., 0.15, 0.1, 0., 0., 1.\n")),
    "column_hex20r": ("hex20r", [12, 2, 2], COLUMN, buckle(4, CLAMP, press(1e6))),
    "column_hex20": ("hex20", [12, 1, 1], COLUMN, buckle(4, CLAMP, press(1e6))),
    "column_tet10": ("tet10", [12, 1, 1], COLUMN, buckle(4, CLAMP, press(1e6))),
    "column_tet4": ("tet4", [24, 2, 2], COLUMN, buckle(2, CLAMP, press(1e6))),
    "square_column": ("hex20", [12, 1, 1], [1, 0.03, 0.03], buckle(4, CLAMP, press(1e6))),
    "flat": ("hex20r", [8, 8, 1], PLATE, buckle(3, SUPPORTED + "xmin, 1\nymin, 2\n", press(1e6))),
    "tipping": ("hex20r", [12, 4, 1], [1, 0.2, 0.01], buckle(3, CLAMP, "*CLOAD\nxmax, 2, 1e2\n")),
}
# The same, of motions under loads.
MOTIONS = {
    "sweep": ("hex20", [8, 2, 1], BEAM, moving(SWEEP, 12, CLAMP, TIP, RATIOS)),
    "sweep_rayleigh": ("hex20", [8, 2, 1], BEAM, moving(SWEEP, 12, CLAMP, press(1e3, "zmax"), RAYLEIGH)),
    "shaken": ("hex20", [8, 2, 1], BEAM, moving("*STEADY STATE DYNAMICS\n5., 30., 9, 1.\n", 12, CLAMP, SHAKEN, "*MODAL DAMPING\n1, 12, 0.02\n")),
    "shaken_base": ("hex20", [8, 2, 1], BEAM, SPECTRUM + moving("*STEADY STATE DYNAMICS\n5., 30., 9, 1.\n", 12, CLAMP, BASES, "*MODAL DAMPING\n1, 12, 0.02\n")),
    "base_in_time": ("hex20", [8, 2, 1], BEAM, PULSE + moving("*MODAL DYNAMIC\n1e-5, 1e-2\n", 12, CLAMP, BASE, "")),
    "step": ("hex20", [8, 2, 1], BEAM, moving("*MODAL DYNAMIC\n1e-4, 2e-2\n", 12, CLAMP, TIP, RATIOS)),
    "pulse": ("hex20", [8, 2, 1], BEAM, PULSE + moving("*MODAL DYNAMIC\n1e-4, 1e-2\n", 12, CLAMP,
                                                      TIP.replace("CLOAD", "CLOAD, AMPLITUDE=pulse"), RAYLEIGH)),
    # Loads of two amplitudes, and one of none.
    "pulses": ("hex20", [8, 2, 1], BEAM, PULSE + moving("*MODAL DYNAMIC\n1e-4, 1e-2\n", 12, CLAMP, PULSES, RAYLEIGH)),
    "sweep_spectrum": ("hex20", [8, 2, 1], BEAM, SPECTRUM + moving(SWEEP, 12, CLAMP, SPECTRA, RATIOS)),
}
# Loads that have an amplitude of their own, each with what higher modes add to it.
DRIVES = {"pulses": 3, "sweep_spectrum": 2, "shaken_base": 2}
# Of ccx's own.
OF_SUITE = ["beamf", "beam8f", "beamf2", "beamft", "beamb", "beam8b"]
# The same of motions: how far they may differ in all, and why.
MOTIONS_OF_SUITE = {
    "beamdy18": (3e-3, "modes beyond those found, at rest here"),
    "spring5": (5e-5, "modes beyond those found, at rest here"),
    "damper1": (3e-2, "Rayleigh's alpha, which damps rigid motion too here"),
}
# Elements whose mass ccx integrates at the points of their stiffness, which are too few for products of shape functions, or, of
# C3D8I, with the incompatible modes: frequencies of these coarse meshes differ by up to so much.
OTHER_MASS = {"C3D4": 0.05, "C3D8I": 0.04, "C3D10": 0.005, "C3D20R": 0.005}
# ccx takes the stress of the deformed shape.
OF_DEFORMED = 0.001


def write(binary, name, folder):
    element, cells, size, rest = (DECKS | MOTIONS)[name]
    of = lambda values: [str(value) for value in values]
    subprocess.run([binary, "mesh", "box", "--element", element, "--cells", *of(cells), "--size", *of(size), "-o", "box.msh"],
                   cwd=folder, check=True, capture_output=True)
    subprocess.run([binary, "convert", "box.msh", "box.inp"], cwd=folder, check=True, capture_output=True)
    mesh = (folder / "box.inp").read_text()
    if element.endswith(("r", "i")):
        mesh = re.sub(r"TYPE=(C3D\d+)\b", r"TYPE=\1" + element[-1].upper(), mesh)
    nodes = re.search(r"\*NODE\n(.*?)\n\*", mesh, re.S)[1].splitlines()
    last, other = (line.split(",")[0] for line in (nodes[-1], nodes[len(nodes) // 2]))
    (folder / f"{name}.inp").write_text(mesh + rest.replace("{last}", last).replace("{other}", other))


def unpack(name, folder):
    text = suite.text_of(name)
    if "*NODE FILE" not in text.upper():
        text = re.sub(r"(?im)^(\*END *STEP)", r"*NODE FILE\nU\n\1", text)
    # Bounds, which warpfem has none of, are outside of what these decks ask for.
    text = re.sub(r"(?im)^(\*FREQUENCY[^\n]*\n *\d+)[^\n]*", r"\1", text)
    (folder / f"{name}.inp").write_text(text)


def theirs(folder, name):
    """The study and its values: frequencies, or load factors."""
    text = (folder / f"{name}.dat").read_text(errors="replace")
    number = r"(-?\d\.\d+E[+-]\d+)"
    if "B U C K L I N G" in text:
        return "buckling", np.array([float(x) for x in re.findall(rf"^ +\d+ +{number} *$", text, re.M)])
    head = text.split("P A R T I C I P A T I O N")[0]
    rows = re.findall(rf"^ +\d+ +{number} +{number} +{number} +{number}", head, re.M)
    return "modal", np.array([float(row[2]) for row in rows])


def shapes(path, n, n_found):
    """The displacements of the first n of the modes that were found as columns, nodes in ascending order."""
    found = {int(step): rows for (kind, step, _), rows in suite.frd(path).items() if kind == "DISP"}
    columns = [np.concatenate([found[k][tag][:3] for tag in sorted(found[k], key=lambda tag: int(tag[0]))]) for k in sorted(found)]
    # ccx writes the displacements before buckling too, first.
    return np.array(columns[len(columns) - n_found :][:n]).T


def angle(one, other):
    """The largest between two spans."""
    (q, _), (p, _) = np.linalg.qr(one), np.linalg.qr(other)
    return np.arcsin(min(1.0, np.linalg.norm(p - q @ (q.T @ p), 2)))


def clusters(values):
    """Ranges of values that are near each other, but for the last, which may be cut."""
    values, ranges = np.where(np.abs(values) < ZERO * np.abs(values).max(), 0.0, values), []
    for k, value in enumerate(values):
        if ranges and abs(value - values[k - 1]) <= NEAR * abs(value):
            ranges[-1][1] = k + 1
        else:
            ranges.append([k, k + 1])
    return ranges[:-1]


def ours(binary, name, folder):
    """Solves a deck; what is wrong, if something is."""
    command = [binary, "solve", f"{name}.inp", "-o", "out", "--device", "cpu", "--tolerance", "1e-10", "--no-symbols"]
    result = suite.run(command, folder, 600)
    return f"exit {result.returncode}: {result.stderr.strip()[-300:]}" if result.returncode else None


def written(folder, name):
    """A file of ours, which lies beside the deck or with the results."""
    return next(path for path in (folder / name, folder / "out" / name) if path.exists())


def solve(binary, name, folder):
    if wrong := ours(binary, name, folder):
        return "DIFFERS", wrong
    steps = json.loads((folder / "out/summary.json").read_text())["steps"]
    own = written(folder, f"{name}.frd").rename(folder / "ours.frd")
    suite.run(["ccx", name], folder, 600)
    study, expected = theirs(folder, name)
    values = np.array([step["load_factor" if study == "buckling" else "frequency"] for step in steps])
    n_found = len(expected)
    expected = expected[expected > 0.0] if study == "buckling" else expected
    n = min(len(values), len(expected))
    if n == 0:
        return "DIFFERS", f"{len(values)} values, and ccx has {len(expected)}"
    values, found = values[:n], expected[:n]
    is_zero = values < ZERO * values.max()
    same_zeros = bool((found[is_zero] < 1e-2 * found.max()).all())
    difference = np.abs(values / np.where(is_zero, 1.0, found) - 1.0)[~is_zero].max()
    both = shapes(own, n, len(steps)), shapes(folder / f"{name}.frd", n, n_found)
    angles = [angle(*(of[:, low:high] for of in both)) for low, high in clusters(found)]
    widest = max(angles, default=0.0)
    shown = f"{study:8} {n:3} modes, {int(is_zero.sum())} of 0: differ by {difference:.1e}, angles of {len(angles)} spans {widest:.1e}"
    element = re.search(r"TYPE=(C3D\w+)", (folder / f"{name}.inp").read_text(), re.I)[1].upper()
    if study == "modal" and element in OTHER_MASS and difference > BOUNDS[study]:
        return ("DIFFERS" if difference > OTHER_MASS[element] else "explained"), f"{shown}; the mass of {element}"
    if "PERTURBATION" in (folder / f"{name}.inp").read_text() and BOUNDS[study] < difference <= OF_DEFORMED:
        return "explained", f"{shown}; the shape under the loads"
    return ("agrees" if same_zeros and difference <= BOUNDS[study] and widest <= ANGLE else "DIFFERS"), shown


def printed(path, what):
    """Frequencies or times with the values below: complex where a second table has the same one."""
    tables = re.split(rf"(?m)^ {what} .*time +(\S+)$", path.read_text(errors="replace"))
    values = {}
    for at, table in zip(tables[1::2], tables[2::2]):
        rows = [line.split()[1:] for line in table.split("\n\n")[1].splitlines() if line.strip()]
        u = np.array(rows, dtype=float)
        values[float(at)] = values[float(at)] + 1j * u if float(at) in values else u
    return values


def apart(name, own, theirs):
    """How far values differ, in all and beside what higher modes add, of the largest."""
    differences = np.array([own[one] - theirs[other] for one, other in zip(sorted(own), sorted(theirs))])
    largest = np.abs(np.array(list(theirs.values()))).max()
    values = differences.reshape(len(differences), -1)
    u, size, v = np.linalg.svd(values, full_matrices=False)
    n = DRIVES.get(name, 1)
    return np.array([np.abs(values).max(), np.abs(values - (u[:, :n] * size[:n]) @ v[:n]).max()]) / largest


def move(binary, name, folder):
    if wrong := ours(binary, name, folder):
        return "DIFFERS", wrong
    both = written(folder, f"{name}.dat"), folder / f"{name}.dat"
    own = {what: printed(both[0], what) for what in ("displacements", "forces")}
    suite.run(["ccx", name], folder, 600)
    theirs = {what: printed(both[1], what) for what in own}
    own_at, their_at = (sorted(of["displacements"]) for of in (own, theirs))
    if len(own_at) != len(their_at) or np.abs(np.subtract(own_at, their_at)).max() > 1e-5 * their_at[-1]:
        return "DIFFERS", f"{len(own_at)} and {len(their_at)} frequencies or times, or others"
    most, beside = apart(name, own["displacements"], theirs["displacements"])
    shown = f"{len(own_at):3} frequencies or times: differ by {most:.1e}, beside what higher modes add by {beside:.1e}"
    of_forces = 0.0
    if theirs["forces"] and name in MOTIONS:
        forces = [{at: of["forces"][at] for at in ats} for of, ats in ((own, own_at), (theirs, their_at))]
        most_of_forces, of_forces = apart(name, *forces)
        shown += f"; RF by {most_of_forces:.1e}, {of_forces:.1e}"
    agrees = max(beside, of_forces) <= BESIDE
    if name in MOTIONS_OF_SUITE:
        allowed, reason = MOTIONS_OF_SUITE[name]
        return ("explained" if agrees and most <= allowed else "DIFFERS"), f"{shown}; {reason}"
    if name in OF_SUPPORTS and not agrees:
        of_u, of_rf, reason = OF_SUPPORTS[name]
        return ("explained" if beside <= of_u and of_forces <= of_rf else "DIFFERS"), f"{shown}; {reason}"
    return ("agrees" if agrees else "DIFFERS"), shown


def main():
    binary, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    bad = False
    for name in names or [*DECKS, *MOTIONS, *OF_SUITE, *MOTIONS_OF_SUITE]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if name in DECKS | MOTIONS:
                write(binary, name, folder)
            else:
                unpack(name, folder)
            word, shown = (move if name in {**MOTIONS, **MOTIONS_OF_SUITE} else solve)(binary, name, folder)
            print(f"{name:14} {word:9} {shown}", flush=True)
            bad |= word == "DIFFERS"
    return bad


if __name__ == "__main__":
    sys.exit(main())
