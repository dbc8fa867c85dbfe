#!/usr/bin/env python3
"""Compares decks of heat, and of the stress that it causes, with CalculiX: a card or two at a time.

    heat.py BINARY [NAME ..]    a line per deck; exit 1 if one is beyond the bounds of suite.py

ccx's own linear decks of heat are among those of suite.py. Where increments have one length both go by backward Euler, and all
times are compared. Needs numpy and `ccx` (in Debian calculix-ccx).
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import suite

STEEL = "*MATERIAL, NAME=STEEL\n*CONDUCTIVITY\n50.\n*DENSITY\n7.8\n*SPECIFIC HEAT\n2.\n*ELASTIC\n210e3, 0.3\n*EXPANSION\n1.2e-5\n"
SECTION = "*SOLID SECTION, ELSET=body, MATERIAL=STEEL\n"
BODY = STEEL + SECTION
FIBRES = STEEL.replace("*CONDUCTIVITY\n50.", "*CONDUCTIVITY, TYPE=ORTHO\n50., 5., 1.") + (
    "*ORIENTATION, NAME=OR\n1., 1., 0., -1., 1., 0.\n" + SECTION.replace("STEEL", "STEEL, ORIENTATION=OR"))
COLD = "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nAll, 20.\n"
PRINT = "*NODE PRINT, NSET=All{every}\nNT, RFL\n*EL PRINT, ELSET=body{every}\nHFL\n"
STRESSED = "*NODE PRINT, NSET=All\nNT, U\n*EL PRINT, ELSET=body\nS\n"
CLAMP = "*BOUNDARY\nxmin, 1, 3\n"
HOT = "*BOUNDARY\nxmin, 11, 11, 120.\n"
RISE = "*AMPLITUDE, NAME=RISE\n0., 0.2, 1., 1., 3., 0.5\n"


def step(kind, *cards, times="", every=""):
    """A step: its card, its line, what holds and heats the body, and prints."""
    line = f"{times}\n" if times else ""
    prints = STRESSED if "COUPLED" in kind else PRINT.format(every=f", FREQUENCY={every}" if every else "")
    return f"*STEP, INC=1000\n*{kind}\n{line}{''.join(cards)}{prints}*END STEP\n"


STEADY, DIRECT = "HEAT TRANSFER, STEADY STATE", "HEAT TRANSFER, DIRECT"
FILM, FLUX = "*FILM{more}\n{xmax:F}, 20., 25.\n", "*DFLUX{more}\n{ymax:S}, 300.\n"
HEATER, POINT = "*DFLUX{more}\nbody, BF, 200.\n", "*CFLUX{more}\n{last}, 11, 40.\n"


def with_(card, more):
    return card.replace("{more}", more)


# By name: the element, the cells and the size of a box, and what follows its mesh.
BOX, SIZE, PLATE = [4, 2, 2], [2, 1, 1], [2, 1]
WITHOUT_FILM = "".join(with_(card, "") for card in (FLUX, HEATER, POINT))
LOADS = with_(FILM, "") + WITHOUT_FILM
CHANGING = [with_(card, ", AMPLITUDE=RISE") for card in (FILM, FLUX, HEATER, POINT)]
COUPLED, UNCOUPLED = (f"{of} TEMPERATURE-DISPLACEMENT, STEADY STATE" for of in ("COUPLED", "UNCOUPLED"))
PRESS = "*DLOAD\n{zmax:P}, 30.\n"
# So light that inertia, which ccx has in time, is none; as much heat as before.
LIGHT = BODY.replace("7.8", "7.8e-12").replace("HEAT\n2.", "HEAT\n2.e12")
DECKS = {
    "held": ("hex20r", BOX, SIZE, BODY + COLD + step(STEADY, HOT, "*BOUNDARY\nxmax, 11, 11, 20.\n")),
    "film": ("hex20", BOX, SIZE, BODY + COLD + step(STEADY, HOT, LOADS)),
    "film_alone": ("hex20", BOX, SIZE, BODY + COLD + step(STEADY, LOADS)),
    "film_hex20r": ("hex20r", BOX, SIZE, BODY + COLD + step(STEADY, HOT, LOADS)),
    "film_tet10": ("tet10", BOX, SIZE, BODY + COLD + step(STEADY, HOT, LOADS)),
    "film_tet4": ("tet4", BOX, SIZE, BODY + COLD + step(STEADY, HOT, LOADS)),
    "fibres": ("hex20", BOX, SIZE, FIBRES + COLD + step(STEADY, HOT, LOADS)),
    "hex8": ("hex8", BOX, SIZE, BODY + COLD + step(STEADY, HOT, LOADS)),
    "tet4": ("tet4", BOX, SIZE, BODY + COLD + step(STEADY, HOT, WITHOUT_FILM)),
    "tet10": ("tet10", BOX, SIZE, BODY + COLD + step(STEADY, HOT, WITHOUT_FILM)),
    "plate": ("quad8", BOX[:2], PLATE, BODY + COLD + step(STEADY, HOT, LOADS)),
    "amplitude": ("hex20", BOX, SIZE, RISE + BODY + COLD + step(
        STEADY, HOT, with_(FLUX, ", AMPLITUDE=RISE"), with_(FILM, ", AMPLITUDE=RISE, FILM AMPLITUDE=RISE"), times="1., 2.")),
    "steps": ("hex20", BOX, SIZE, BODY + COLD + step(STEADY, HOT, LOADS) + step(STEADY, with_(HEATER, ", OP=NEW"))
              + step(STEADY, "*BOUNDARY, OP=NEW\nxmin, 11, 11, 60.\n")),
    "warming": ("hex20", BOX, SIZE, BODY + COLD + step(DIRECT, HOT, LOADS, times="0.05, 1.")),
    "warming_hex8": ("hex8", BOX, SIZE, BODY + COLD + step(DIRECT, HOT, LOADS, times="0.05, 1.", every=4)),
    "warming_hex20r": ("hex20r", BOX, SIZE, BODY + COLD + step(DIRECT, HOT, WITHOUT_FILM, times="0.05, 1.", every=20)),
    "warming_tet10": ("tet10", BOX, SIZE, BODY + COLD + step(DIRECT, HOT, WITHOUT_FILM, times="0.05, 1.", every=20)),
    "changing": ("hex20", BOX, SIZE, RISE + BODY + COLD + step(DIRECT, HOT, *CHANGING, times="0.1, 3.", every=5)),
    "changing_held": ("hex20", BOX, SIZE, RISE + BODY + COLD + step(
        DIRECT, HOT.replace("BOUNDARY", "BOUNDARY, AMPLITUDE=RISE"), times="0.1, 3.", every=5)),
    "heated_then_cooled": ("hex20", BOX, SIZE, BODY + COLD + step(STEADY, HOT, LOADS) + step(
        DIRECT, "*BOUNDARY, OP=NEW\nxmin, 11, 11, 20.\n", times="0.1, 1.", every=5) + step(
        DIRECT, with_(HEATER, ", OP=NEW"), times="0.1, 0.5")),
    "chosen": ("hex20", BOX, SIZE, BODY + COLD + step("HEAT TRANSFER", HOT, LOADS, times="0.1, 200.")),
    "coupled": ("tet10", BOX, SIZE, BODY + COLD + step(COUPLED, CLAMP, HOT, WITHOUT_FILM, PRESS)),
    "coupled_steps": ("tet10", BOX, SIZE, BODY + COLD + step(COUPLED, CLAMP, HOT, WITHOUT_FILM) + step(
        COUPLED, "*BOUNDARY\nxmin, 11, 11, 60.\n*CLOAD\n{last}, 3, 50.\n")),
    "uncoupled": ("tet10", BOX, SIZE, BODY + COLD + step(UNCOUPLED, CLAMP, HOT, WITHOUT_FILM, PRESS)),
    "uncoupled_hex20": ("hex20", BOX, SIZE, BODY + COLD + step(UNCOUPLED, CLAMP, HOT, LOADS, PRESS)),
    "uncoupled_hex8": ("hex8", BOX, SIZE, BODY + COLD + step(UNCOUPLED, CLAMP, HOT, LOADS, PRESS)),
    "uncoupled_in_time": ("tet10", BOX, SIZE, LIGHT + COLD + step(
        "UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT", CLAMP, HOT, WITHOUT_FILM, times="0.1, 0.5")),
}
FEW, CAPACITY = "ccx integrates films with fewer points", "ccx integrates the capacity with fewer points"
EARLY = "ccx's iterations of coupled steps end early: its uncoupled ones agree"
# Why a deck differs, and by how much at most.
REASONS = {
    "film_hex20r": (2e-3, FEW),
    "film_tet10": (3e-3, FEW),
    "film_tet4": (5e-3, FEW),
    "warming_hex20r": (3e-3, CAPACITY),
    "warming_tet10": (3e-3, CAPACITY),
    "changing_held": (5e-2, "what nodes of given temperature take up is left out in ccx; a quarter of that on cells half as long"),
    "coupled": (1e-4, EARLY),
    "coupled_steps": (1e-3, EARLY),
    "uncoupled_hex20": (2e-2, "temperatures within a C3D20 are linear for stress in ccx"),
    "uncoupled_hex8": (0.1, "temperatures within a C3D8 are one for stress in ccx"),
    "uncoupled_in_time": (1e-2, CAPACITY),
}


def write(binary, name, folder):
    element, cells, size, rest = DECKS[name]
    of = lambda values: [str(value) for value in values]
    shape = "box" if len(size) == 3 else "rectangle"
    make = [binary, "mesh", shape, "--element", element, "--cells", *of(cells), "--size", *of(size), "-o", "box.msh"]
    subprocess.run(make, cwd=folder, check=True, capture_output=True)
    subprocess.run([binary, "convert", "box.msh", "box.inp"], cwd=folder, check=True, capture_output=True)
    mesh = (folder / "box.inp").read_text()
    if element.endswith("r"):
        mesh = re.sub(r"TYPE=(C3D\d+)\b", r"TYPE=\1R", mesh)
    nodes = re.search(r"\*NODE\n(.*?)\n\*", mesh, re.S)[1].splitlines()
    last = nodes[-1].split(",")[0]

    def faces(match):
        listed = re.search(rf"(?im)^\*SURFACE, NAME={match[1]}\b[^\n]*\n((?:[^*][^\n]*\n)+)", mesh)[1]
        return "\n".join(f"{line.strip().replace('S', match[2])}{match[3]}" for line in listed.splitlines())

    rest = re.sub(r"\{(\w+):(\w)\}([^\n]*)", faces, rest).replace("{last}", last)
    every = f"*NSET, NSET=All, GENERATE\n1, {last}\n"
    (folder / f"{name}.inp").write_text(mesh + every + rest)


def main():
    binary, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    bad = False
    for name in names or DECKS:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            write(binary, name, folder)
            word, shown = suite.solve(binary, name, folder)
            most, reason = REASONS.get(name, (0.0, ""))
            differences = [float(value) for value in re.findall(r"\d\.\de[-+]\d+", shown)]
            if word == "differs" and differences and "missing" not in shown and max(differences) <= most:
                word = "explained"
            print(f"{name:20} {word:9} {shown} {reason}", flush=True)
            bad |= word not in ("agrees", "explained")
    return bad


if __name__ == "__main__":
    sys.exit(main())
