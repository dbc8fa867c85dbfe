#!/usr/bin/env python3
"""Compares warpfem with CalculiX on the same meshes and models, a feature at a time.

    ccx.py BINARY [NAME ..]    a line per feature: its differences and their bounds; exit 1 if one is beyond

Elements are C3D10 and C3D20, which both programs integrate alike. A difference is the largest over the largest value:
"nodes" of the displacements of all nodes, of which both programs write seven digits; "displacement" and "rotation" of a
remote point. Needs numpy and `ccx` (in Debian calculix-ccx).
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

BOUND = 1e-5
YOUNG, POISSON, DENSITY, EXPANSION, REFERENCE = 210e3, 0.3, 7.8e-9, 1.2e-5, 20.0

# By element, in CalculiX's order: edges with a node in the middle, nodes of the sides; Gmsh's order of the edges.
EDGES = {
    "C3D10": [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)],
    "C3D20": [(0, 1), (1, 2), (2, 3), (0, 3), (4, 5), (5, 6), (6, 7), (4, 7), (0, 4), (1, 5), (2, 6), (3, 7)],
}
SIDES = {
    "C3D10": [[0, 1, 2, 4, 5, 6], [0, 3, 1, 7, 8, 4], [1, 3, 2, 8, 9, 5], [2, 3, 0, 9, 7, 6]],
    "C3D20": [
        *([0, 1, 2, 3, 8, 9, 10, 11], [4, 7, 6, 5, 15, 14, 13, 12], [0, 4, 5, 1, 16, 12, 17, 8]),
        *([1, 5, 6, 2, 17, 13, 18, 9], [2, 6, 7, 3, 18, 14, 19, 10], [3, 7, 4, 0, 19, 15, 16, 11]),
    ],
}
GMSH_EDGES = {"C3D10": [0, 1, 2, 3, 5, 4], "C3D20": [0, 3, 8, 1, 9, 2, 10, 11, 4, 7, 5, 6]}
GMSH_TYPES = {10: 11, 20: 17, 6: 9, 8: 16, 1: 15}
CUBE = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
RING = [1, 2, 3, 7, 4, 5, 1]
CELLS = {"C3D10": CUBE[[[0, a, b, 6] for a, b in zip(RING, RING[1:])]], "C3D20": CUBE[None]}


class Mesh:
    """Points [n][3]; by name, from 0: `bodies` (kind, first element, nodes), `faces` (element, side, nodes), and
    groups of `nodes`."""

    def __init__(self):
        self.points, self.n_elements, self.bodies, self.faces, self.nodes = np.zeros((0, 3)), 0, {}, {}, {}

    def box(self, name, kind, cells, low, high):
        """Adds a body with nodes of its own; returns itself."""
        cells, low, high = np.array(cells), np.array(low, float), np.array(high, float)
        corners = 2 * (np.array(list(np.ndindex(*cells)))[:, None, None] + CELLS[kind])
        corners = corners.reshape(-1, *CELLS[kind].shape[1:])
        middles = corners[:, EDGES[kind]].sum(axis=2) // 2
        used, nodes = np.unique(np.hstack([corners, middles]).reshape(-1, 3), axis=0, return_inverse=True)
        nodes = len(self.points) + nodes.reshape(len(corners), -1)
        self.points = np.vstack([self.points, low + used / (2 * cells) * (high - low)])
        self.bodies[name] = (kind, self.n_elements, nodes)
        self.n_elements += len(nodes)
        return self

    def side(self, name, body, axis, value):
        """Names the faces of a body that lie across an axis, each once; returns itself."""
        (kind, first, nodes), found = self.bodies[body], {}
        for side, of_side in enumerate(SIDES[kind]):
            faces = nodes[:, of_side]
            for element in np.flatnonzero(np.isclose(self.points[faces, axis], value).all(axis=1)):
                found.setdefault(frozenset(faces[element]), (first + element, side, faces[element]))
        self.faces[name] = list(found.values())
        return self

    def on(self, name):
        """The nodes of a group, ascending."""
        return np.unique([face[2] for face in self.faces[name]]) if name in self.faces else self.nodes[name]

    def gmsh(self):
        """The mesh as a file of Gmsh's format 2.2."""
        cells = {(0, name): nodes.reshape(-1, 1) for name, nodes in self.nodes.items()}
        cells |= {(2, name): [face[2] for face in faces] for name, faces in self.faces.items()}
        for name, (kind, _, nodes) in self.bodies.items():
            n = len(CELLS[kind][0])
            cells[3, name] = nodes[:, [*range(n), *np.add(n, GMSH_EDGES[kind])]]
        tagged = [(tag, cell) for tag, group in enumerate(cells.values(), 1) for cell in group]
        elements = (f"{GMSH_TYPES[len(cell)]} 2 {tag} {tag} {joined(cell + 1, ' ')}" for tag, cell in tagged)
        sections = {
            "PhysicalNames": [f'{dim} {tag} "{name}"' for tag, (dim, name) in enumerate(cells, 1)],
            "Nodes": numbered((joined(x, " ") for x in self.points.tolist()), " "),
            "Elements": numbered(elements, " "),
        }
        head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
        return head + "".join(f"${s}\n{len(rows)}\n{lines(rows)}$End{s}\n" for s, rows in sections.items())

    def deck(self):
        """The mesh and the material as the first part of CalculiX's input, which reads 20 characters of a number."""
        text = "*NODE, NSET=nodes\n" + lines(numbered(joined(f"{c:.12g}" for c in x) for x in self.points))
        for name, (kind, first, nodes) in self.bodies.items():
            rows = [[first + k, *(cell + 1)] for k, cell in enumerate(nodes, 1)]
            text += f"*ELEMENT, TYPE={kind}, ELSET={name}\n"
            text += lines(",\n".join(joined(part) for part in (row[:11], row[11:]) if part) for row in rows)
        for name in [*self.faces, *self.nodes]:
            text += f"*NSET, NSET={name}\n{lines(self.on(name) + 1)}*SURFACE, NAME={name}_nodes, TYPE=NODE\n{name}\n"
        for name, faces in self.faces.items():
            text += f"*SURFACE, NAME={name}\n" + lines(f"{element + 1}, S{side + 1}" for element, side, _ in faces)
        text += f"*MATERIAL, NAME=m\n*ELASTIC\n{YOUNG}, {POISSON}\n*DENSITY\n{DENSITY}\n"
        text += f"*EXPANSION, ZERO={REFERENCE}\n{EXPANSION}\n"
        return text + "".join(f"*SOLID SECTION, ELSET={name}, MATERIAL=m\n" for name in self.bodies)


def joined(values, separator=", "):
    return separator.join(map(str, values))


def lines(rows):
    return "".join(f"{row}\n" for row in rows)


def numbered(rows, separator=", "):
    return [f"{k}{separator}{row}" for k, row in enumerate(rows, 1)]


@dataclass
class Feature:
    """A model: the mesh, the rest of the case, and that of the deck, before the step and in it.

    `skipped`: a group whose nodes are not compared; `files`: what the case reads, by name; `check`: what else is
    compared, from the summary and CalculiX's displacements by node: by its name the difference and the bound."""

    mesh: Mesh
    bound: float = BOUND
    case: str = ""
    model: str = ""
    step: str = ""
    skipped: str = ""
    files: dict = field(default_factory=dict)
    check: Callable = lambda summary, u: {}

    def hold(self, *groups):
        self.case += "".join(f'[[support]]\non = "{group}"\nfix = "xyz"\n' for group in groups)
        self.model += "*BOUNDARY\n" + lines(f"{group}, 1, 3" for group in groups)
        return self

    def press(self, side):
        self.case += f'[[pressure]]\non = "{side}"\nvalue = 10.0\n'
        self.step += f"*DSLOAD\n{side}, P, 10.0\n"
        return self

    def spin(self, axis, place, speed=2e5):
        self.case += f"[rotation]\nspeed = {speed}\naxis = {list(axis)}\nat = {list(place)}\n"
        self.step += f"*DLOAD\nbody, CENTRIF, {joined([speed**2, *place, *axis])}\n"
        return self

    def node(self, place=(0.0, 0.0, 0.0)):
        """Adds a node to the deck alone; returns its number."""
        number = len(self.mesh.points) + 1 + self.model.count("*NODE,")
        self.model += f"*NODE, NSET=nodes\n{number}, {joined(place)}\n"
        return number


def bar(kind="C3D10"):
    """Four long, one across, held at its root."""
    mesh = Mesh().box("body", kind, (4, 2, 2), (0, 0, 0), (4, 1, 1)).side("root", "body", 0, 0)
    return Feature(mesh.side("end", "body", 0, 4).side("top", "body", 2, 1)).hold("root")


def halves(cells):
    """The bar in two parts without common nodes, pressed from above; the sides between them are master and slave."""
    mesh = Mesh().box("near", "C3D10", (2, 2, 2), (0, 0, 0), (2, 1, 1)).box("far", "C3D10", cells, (2, 0, 0), (4, 1, 1))
    mesh.side("root", "near", 0, 0).side("master", "near", 0, 2).side("slave", "far", 0, 2).side("top", "far", 2, 1)
    return Feature(mesh).hold("root").press("top")


def sector(swept=0.0):
    """A sixth of a ring, radii 1 and 2; its sides, 60 degrees apart, are radial or swept."""
    mesh = Mesh().box("body", "C3D20", (3, 4, 2), (1, 0, 0), (2, np.pi / 3, 0.5))
    mesh.side("bore", "body", 0, 1).side("rim", "body", 0, 2).side("bottom", "body", 2, 0)
    r, angle, z = mesh.side("start", "body", 1, 0).side("stop", "body", 1, np.pi / 3).points.T
    angle += swept * (r - 1)
    mesh.points = np.column_stack([r * np.cos(angle), r * np.sin(angle), z])
    return Feature(mesh)


def tie(cells):
    f = halves(cells)
    f.case += '[[tie]]\nslave = "slave"\nmaster = "master"\n'
    f.model += "*TIE, NAME=t, POSITION TOLERANCE=0.01\nslave, master\n"
    return f


def equation():
    """The slave side moves 0.8 times as the master side does, and a jump more."""
    f, factor, jump = halves((2, 2, 2)), -0.8, (0.0, 2e-3, 0.0)
    extra = f.node()
    f.model += "*BOUNDARY\n" + lines(f"{extra}, {k}, {k}, {value}" for k, value in enumerate(jump, 1)) + "*EQUATION\n"
    for slave, master in zip(f.mesh.on("slave") + 1, f.mesh.on("master") + 1):  # the same place
        for k, value in enumerate(jump):
            term = f'dof = "{"xyz"[k]}", factor'
            terms = f"{{ node = {slave}, {term} = 1.0 }}, {{ node = {master}, {term} = {factor} }}"
            f.case += f"[[equation]]\nvalue = {value}\nterms = [{terms}]\n"
            f.model += f"3\n{slave}, {k + 1}, 1, {master}, {k + 1}, {factor}, {extra}, {k + 1}, -1\n"
    return f


def transform_r():
    """One side of a sector is pushed along its normal."""
    f, c, s = sector().press("rim"), np.cos(np.pi / 3), np.sin(np.pi / 3)
    f.case += '[[support]]\non = "start"\nfix = "y"\n[[support]]\non = "bottom"\nfix = "z"\n'
    f.case += '[[support]]\non = "stop"\ndisplacement = { x = 1e-4 }\n'
    f.case += f"axes = {{ x = [{-s}, {c}, 0.0], y = [{c}, {s}, 0.0] }}\n"
    f.model += f"*TRANSFORM, NSET=stop, TYPE=R\n{-s}, {c}, 0, {c}, {s}, 0\n"
    f.model += "*BOUNDARY\nstart, 2\nbottom, 3\nstop, 1, 1, 1e-4\n"
    return f


def transform_c():
    """A bore that may widen; the sector is pressed round the axis."""
    f = sector().press("stop")
    f.case += '[[support]]\non = "bore"\nfix = "tz"\naxes = { axis = [0.0, 0.0, 1.0], at = [0.0, 0.0, 0.0] }\n'
    f.model += "*TRANSFORM, NSET=bore, TYPE=C\n0, 0, 0, 0, 0, 1\n*BOUNDARY\nbore, 2, 3\n"
    return f


def spring():
    """Springs between points and the ground hold the bar."""
    f, stiffness = Feature(bar().mesh).press("top"), (3e4, 2e4, 1e4)
    feet = f.mesh.nodes["feet"] = f.mesh.on("root")
    f.case += f'[[spring]]\non = "feet"\nstiffness = {list(stiffness)}\n'
    for k, of_all in enumerate(stiffness):
        first = f.mesh.n_elements + 1 + k * len(feet)
        f.model += f"*ELEMENT, TYPE=SPRING1, ELSET=s{k}\n" + lines(f"{e}, {n + 1}" for e, n in enumerate(feet, first))
        f.model += f"*SPRING, ELSET=s{k}\n{k + 1}\n{of_all / len(feet)}\n"
    return f


FORCE, MOMENT, POINT = (20.0, -5.0, 10.0), (8.0, 10.0, -6.0), (4.5, 0.7, 0.2)


def remote(kind, on):
    """A bar with a loaded point beside its end, and CalculiX's node for it."""
    f = bar()
    f.case += f'[[remote]]\nname = "point"\non = "{on}"\nkind = "{kind}"\nat = {list(POINT)}\n'
    f.case += f"force = {list(FORCE)}\nmoment = {list(MOMENT)}\n"
    return f, f.node(POINT)


def compare_motion(f, summary, **theirs):
    """Compares the displacement and the rotation of warpfem's remote point with others."""
    ours = {name: np.array(summary["results"][f"remote_{name}s"]["point"]) for name in theirs}
    return {name: (np.abs(ours[name] - u).max() / np.abs(u).max(), f.bound) for name, u in theirs.items()}


def rigid():
    f, node = remote("rigid", "end")
    turn = f.node()
    f.model += f"*RIGID BODY, NSET=end, REF NODE={node}, ROT NODE={turn}\n"
    f.step += "*CLOAD\n" + lines(f"{n}, {v}" for n, load in ((node, FORCE), (turn, MOMENT)) for v in numbered(load))
    f.check = lambda summary, u: compare_motion(f, summary, displacement=u[node], rotation=u[turn])
    return f


def distributing(on, takes):
    """A point that moves with those faces of the end that a function of their points takes.

    CalculiX gives node a the force w_a (F / A + t x r_a), w_a = int N_a dA, which is 0 at corners of six-noded faces.
    warpfem integrates the traction F / A + t x r with N_a, so it spreads a moment in another way; over points it has
    CalculiX's forces if w_a is the same for all."""
    f, node = remote("distributing", on)
    mesh = f.mesh
    faces = mesh.faces["end"] = [face for face in mesh.faces["end"] if takes(mesh.points[face[2]])]
    middles = np.concatenate([face[2][3:] for face in faces])
    if on == "points":
        mesh.nodes["points"] = np.unique(middles)
    f.bound = BOUND if on == "points" else 0.02
    f.model += f"*COUPLING, REF NODE={node}, SURFACE=end, CONSTRAINT NAME=c\n*DISTRIBUTING\n4, 6\n"
    f.step += "*CLOAD\n" + lines(f"{node}, {v}" for v in numbered(FORCE + MOMENT))

    def check(summary, u):
        # CalculiX does not say how the point moves: with the rigid motion nearest to the middles, of equal area.
        arms = mesh.points[middles] - POINT
        rows = np.vstack([np.hstack([np.eye(3), np.cross(np.eye(3), arm).T]) for arm in arms])
        motion = np.linalg.lstsq(rows, np.concatenate([u[n + 1] for n in middles]))[0]
        force, moment = (summary["results"][name]["root"] for name in ("reactions", "reaction_moments"))
        # The moment of the support is about the middle of its nodes.
        moment = moment + np.cross(np.subtract(POINT, (0.0, 0.5, 0.5)), FORCE) + MOMENT
        balance = max(np.abs(np.add(force, FORCE)).max() / max(FORCE), np.abs(moment).max() / max(MOMENT))
        return compare_motion(f, summary, displacement=motion[:3], rotation=motion[3:]) | {"balance": (balance, 1e-10)}

    f.check = check
    return f


def expansion(kind, slope):
    """A bar is warmer by a linear function of the place."""
    f = bar(kind)
    values = 80.0 + f.mesh.points @ slope
    rows = np.column_stack([f.mesh.points, values]).tolist()
    f.files["temperature.csv"] = "x,y,z,temperature\n" + lines(map(joined, rows))
    f.case += f'[temperature]\nreference = {REFERENCE}\nfile = "temperature.csv"\n'
    f.model += f"*INITIAL CONDITIONS, TYPE=TEMPERATURE\nnodes, {REFERENCE}\n"
    f.step += "*TEMPERATURE\n" + lines(numbered(values))
    return f


def centrif(kind):
    """A bar spins about an axis across it, which does not meet it."""
    return bar(kind).spin((1 / 3, 2 / 3, 2 / 3), (-1.0, 0.5, 2.0))


def cyclic(swept):
    """A ring spins and is lifted, held at points of the bore."""
    f = sector(swept).spin((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)).press("bottom")
    f.mesh.nodes["hub"] = np.setdiff1d(f.mesh.on("bore"), [*f.mesh.on("start"), *f.mesh.on("stop")])
    f.case += '[[cyclic]]\nfrom = "start"\nto = "stop"\naxis = [0.0, 0.0, 1.0]\nat = [0.0, 0.0, 0.0]\n'
    f.model += "*TIE, NAME=t, CYCLIC SYMMETRY\nstop_nodes, start_nodes\n"
    f.model += "*CYCLIC SYMMETRY MODEL, N=6, TIE=t\n0, 0, 0, 0, 0, 1\n"
    return f.hold("hub")


def pre_tension():
    """A bar between walls, pressed from above, is cut in the middle and pulled together."""
    f, force = bar("C3D20").hold("end").press("top"), 5e3
    f.mesh.side("cut", "body", 0, 2)
    f.skipped, node = "cut", f.node()
    f.case += f'[[bolt]]\non = "cut"\npreload = {force}\n'
    f.model += f"*PRE-TENSION SECTION, SURFACE=cut, NODE={node}\n1, 0, 0\n"
    f.step += f"*CLOAD\n{node}, 1, {force}\n"
    ours = lambda summary: summary["results"]["bolt_shortenings"]["cut"]
    f.check = lambda summary, u: {"shortening": (abs(ours(summary) / u[node][0] - 1), f.bound)}
    return f


FEATURES = {
    "tie": lambda: tie((2, 2, 2)),
    "tie_finer": lambda: tie((3, 3, 3)),
    "equation": equation,
    "transform_r": transform_r,
    "transform_c": transform_c,
    "spring": spring,
    "rigid": rigid,
    "distributing": lambda: distributing("end", lambda x: True),
    # Of each square the triangle on one side of the diagonal: a middle belongs to one face.
    "distributing_points": lambda: distributing("points", lambda x: np.median(x[:3, 1]) > x[:3, 1].mean()),
    "expansion": lambda: expansion("C3D10", (0.0, 0.0, 0.0)),
    "expansion_linear": lambda: expansion("C3D10", (40.0, -30.0, 20.0)),
    "expansion_hex": lambda: expansion("C3D20", (40.0, -30.0, 20.0)),
    "centrif": lambda: centrif("C3D10"),
    "centrif_hex": lambda: centrif("C3D20"),
    "cyclic": lambda: cyclic(0.0),
    "cyclic_swept": lambda: cyclic(0.3),
    "pre_tension": pre_tension,
}


def run(command, folder, answer):
    """What a program writes into the file `answer`."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode or not (folder / answer).exists():
        raise ValueError(f"{command[0]} exits {done.returncode}: {(done.stdout + done.stderr).strip()[-2000:]}")
    return (folder / answer).read_text().splitlines()


def by_warpfem(binary, folder, feature):
    """The summary, and displacements by node tag."""
    material = f"young = {YOUNG}\npoisson = {POISSON}\ndensity = {DENSITY}\nexpansion = {EXPANSION}\n"
    head = f'[mesh]\nfile = "case.msh"\n[solver]\nmethod = "direct"\n[[material]]\nname = "m"\n{material}'
    for name, text in {"case.msh": feature.mesh.gmsh(), "case.toml": head + feature.case, **feature.files}.items():
        (folder / name).write_text(text)
    rows = csv.DictReader(run([binary, "solve", "case.toml", "-o", ".", "--device", "cpu"], folder, "case_nodes.csv"))
    u = {int(row["node"]): np.array([float(row[f"displacement_{c}"]) for c in "xyz"]) for row in rows}
    return json.loads((folder / "summary.json").read_text()), u


def by_calculix(folder, feature):
    """Displacements by node number."""
    step = f"*STEP\n*STATIC\n{feature.step}*NODE PRINT, NSET=nodes, GLOBAL=YES\nU\n*END STEP\n"
    (folder / "deck.inp").write_text(feature.mesh.deck() + feature.model + step)
    rows = [line.split() for line in run(["ccx", "-i", "deck"], folder, "deck.dat")]
    return {int(row[0]): np.array(row[1:], float) for row in rows if len(row) == 4 and row[0].isdigit()}


def compare(binary, name):
    """Prints a feature's line; returns whether all is within the bounds."""
    feature = FEATURES[name]()
    with tempfile.TemporaryDirectory() as folder:
        summary, ours = by_warpfem(binary, pathlib.Path(folder), feature)
        theirs = by_calculix(pathlib.Path(folder), feature)
    skipped = feature.mesh.on(feature.skipped) if feature.skipped else []
    nodes = 1 + np.setdiff1d(np.arange(len(feature.mesh.points)), skipped)
    ours, expected = (np.array([u[n] for n in nodes]) for u in (ours, theirs))
    difference = np.linalg.norm(ours - expected, axis=1).max() / np.linalg.norm(expected, axis=1).max()
    found = {"nodes": (difference, feature.bound)} | feature.check(summary, theirs)
    good = all(error <= bound for error, bound in found.values())
    figures = "  ".join(f"{what} {error:.1e} of {bound:.0e}" for what, (error, bound) in found.items())
    print(f"{'ok    ' if good else 'FAILED'} {name:19} {figures}", flush=True)
    return good


def main(arguments):
    """Exit status."""
    if not arguments or not set(arguments[1:]) <= set(FEATURES):
        print(f"{__doc__}\nfeatures: {' '.join(FEATURES)}", file=sys.stderr)
        return 2
    good = True
    for name in arguments[1:] or FEATURES:
        try:
            good &= compare(str(pathlib.Path(arguments[0]).resolve()), name)
        except (ValueError, KeyError, OSError) as error:
            print(f"FAILED {name}: {error}", flush=True)
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
