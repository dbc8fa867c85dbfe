#!/usr/bin/env python3
"""Runs CalculiX's own test decks with warpfem and with ccx, and compares what they print.

    suite.py BINARY [NAME ..]    a line per deck that is linear, then how many others are refused, by reason

A name with a slash is that of a deck elsewhere.

A deck is linear if all its steps are *STATIC without NLGEOM, or all of heat, and it has no card and no element of the lists
below. These decks are solved by both; all others must be refused. Differences are relative to the largest value of their
kind in the deck, of temperatures to their range. Heat is compared at the times that both print: where ccx chooses its
increments, the end. Exit 1 if a deck disagrees without a reason, if a program crashes, or if another deck is answered.
Needs numpy, `ccx` and its decks (in Debian calculix-ccx, calculix-ccx-test).
"""

import collections
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

DECKS = pathlib.Path("/usr/share/doc/calculix-ccx-test/examples/test")
BOUNDS = {"displacements": 1e-5, "forces": 1e-4, "total force": 1e-4, "stresses": 1e-4, "strains": 1e-4,
          "mechanical strains": 1e-4, "internal energy": 1e-4, "total internal energy": 1e-4,
          "internal energy density": 1e-4, "volume": 1e-4, "statistics": 1e-4, "total volume": 1e-4, "temperatures": 1e-5, "DISP": 1e-5, "NDTEMP": 1e-5, "heat flux": 1e-4, "heat generation": 1e-4, "total heat generation": 1e-4}
# Values that are this part of what the program computes with are rounding.
NOISE = 1e-9

OTHER_STEPS = {
    "FREQUENCY", "BUCKLE", "VISCO", "DYNAMIC", "MODALDYNAMIC", "STEADYSTATEDYNAMICS", "COMPLEXFREQUENCY",
    "GREEN", "SENSITIVITY", "ELECTROMAGNETICS", "SUBSTRUCTUREGENERATE", "CRACKPROPAGATION", "FEASIBLEDIRECTION", "ROBUSTDESIGN",
}
OF_HEAT = {"HEATTRANSFER", "UNCOUPLEDTEMPERATURE-DISPLACEMENT", "COUPLEDTEMPERATURE-DISPLACEMENT"}
OF_MODES = "modes, which modes.py compares"
OF_MOTION = "motion under loads, of which modes.py compares what is answered"
ANSWERED_MOTIONS = {"damper1", "beamdy18", "spring5"}
NONLINEAR = {
    "PLASTIC", "CYCLICHARDENING", "HYPERELASTIC", "HYPERFOAM", "CREEP", "USERMATERIAL", "DEFORMATIONPLASTICITY",
    "CONTACTPAIR", "GAP", "MODELCHANGE", "SUBMODEL", "CHANGESOLIDSECTION", "CHANGEMATERIAL", "REFINEMESH",
    "MOHRCOULOMB", "RADIATE", "FLUIDSECTION", "FLUIDSECTIONS",
}
ELEMENTS = re.compile(r"D?C3D(4|6|8|8I|10|15|20|20R)|D?C(PS|PE|AX|2D)(3|4|6|8|8R)|DCOUP3D|SPRING1|SPRINGA|SPRING2|MASS")
# Why a deck may differ: another formulation of its elements, an output that is defined otherwise, an error of ccx.
REASONS = {
    "axial": "CAX elements are solids of a few degrees in ccx",
    "ax6ht": "CAX elements are solids of a few degrees in ccx: along other radii",
    "beamth": "4e-5 is how far ccx is off the steady temperatures, which this deck has reached",
    "planestress3": "CPS4 is a C3D8 in ccx, whose thickness changes linearly",
}


def text_of(name):
    path = pathlib.Path(name)
    if path.is_file():
        return path.read_text(errors="replace")
    path = DECKS / f"{name}.inp"
    return path.read_text(errors="replace") if path.exists() else gzip.open(f"{path}.gz", "rt", errors="replace").read()


def cards(text):
    """The cards of a deck, as written, and their names without spaces in upper case."""
    for line in text.splitlines():
        if line.startswith("*") and not line.startswith("**"):
            yield line.upper().replace(" ", ""), line.split(",")[0].strip("* \t").upper().replace(" ", "")


def why_not(text):
    """Why a deck is not of linear statics; nothing if it is."""
    found = list(cards(text))
    names = [name for _, name in found]
    is_of_heat = "HEATTRANSFER" in names
    if {"FREQUENCY", "BUCKLE"} & set(names) and set(names) & OTHER_STEPS <= {"FREQUENCY", "BUCKLE"} and names.count("STEP") <= 2:
        return OF_MODES
    if "FREQUENCY" in names and {"MODALDYNAMIC", "STEADYSTATEDYNAMICS"} & set(names):
        return OF_MOTION
    for line, name in found:
        if name in OTHER_STEPS:
            return f"*{name} step"
        if name == "HEATTRANSFER" and ("FREQUENCY" in line or "MODALDYNAMIC" in line):
            return "acoustics by way of heat"
        if name == "STEP" and not is_of_heat and re.search(r",NLGEOM(?!=NO)", line):
            return "NLGEOM"
        if name in NONLINEAR:
            return f"*{name}"
        if name == "ELEMENT":
            kind = re.search(r"TYPE=([^,]*)", line)
            if kind and not ELEMENTS.fullmatch(kind[1]):
                return f"elements {kind[1]}"
        if name == "INITIALCONDITIONS" and "TYPE=TEMPERATURE" not in line:
            return "*INITIAL CONDITIONS of " + re.search(r"TYPE=([^,]*)", line)[1].lower()
        if name == "BOUNDARY" and ",FIXED" in line:
            return "*BOUNDARY, FIXED"
        if name == "PRE-TENSIONSECTION" and "TYPE=CAX" in text.upper().replace(" ", ""):
            return "bolts of bodies of revolution"
        if name == "SUBMODEL":
            return f"*{name}"
        if name == "TIE" and "MULTISTAGE" in line:
            return "*TIE of stages"
    kinds = [kind for kind in re.findall(r"^\*MPC[^*]*?\n(\w+)", text, re.M | re.I) if kind.upper() != "MEANROT"]
    if kinds:
        return f"*MPC of type {kinds[0]}"
    thicknesses = set(re.findall(r"^\*SOLID *SECTION[^\n]*\n *([\d.E+-]+)", text, re.M | re.I))
    if len(thicknesses) > 1:
        return "plane elements of several thicknesses"
    if re.search(r"^[^*]*, *P\d?N[UP]", text, re.M | re.I):
        return "*DLOAD by a user's routine"
    if re.search(r"^\*ELASTIC[^*]*\n([^*\n,]*,){2}[^*\n]+\n[^*]", text, re.M | re.I) and "TEMPERATURE" in names:
        return "constants that change with the temperature"
    rows = re.search(r"^\*CONDUCTIVITY *\n((?:[^*\n]*\n)+)", text, re.M | re.I)
    if is_of_heat and rows and len({line.split(",")[0].strip() for line in rows[1].splitlines()}) > 1:
        return "conductivity that changes with the temperature"
    if len({"STATIC", *OF_HEAT} & set(names)) > 1:
        return "steps of heat beside others"
    return "" if {"STATIC", *OF_HEAT} & set(names) else "no *STATIC step"


def real(word):
    """A number as Fortran writes it: without an E where the exponent has three digits."""
    return float(re.sub(r"(?<=[\d.])([+-]\d{3})$", r"E\1", word))


def dat(path):
    """The tables of a .dat file: by heading a dictionary from tags to values."""
    tables, rows = collections.OrderedDict(), {}
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        head = re.match(r" (\D.*?) for (?:surface )?set ?(\S+) and time +(\S+)", line)
        if head:
            rows = tables.setdefault((re.sub(r" *\(.*", "", head[1]), head[2], float(head[3])), {})
        elif words := line.split():
            numbers = [word for word in words if "." in word or "NaN" in word]
            tags = words[: len(words) - len([w for w in words if w in numbers])] if "S" not in words else None
            if tags is not None and numbers:
                # The rows of a section have no tags, nor has a sum.
                tags = [word for word in tags if word.isdigit()] or [str(len(rows))]
                rows[tuple(tags)] = np.array([real(number) for number in numbers])
    return tables


def frd(path):
    """The result blocks of an .frd file: by name, step and node the values."""
    tables, name, step = {}, None, 0
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        if line.startswith("  100CL"):
            step += 1
        elif line.startswith(" -4"):
            name = line[5:13].strip()
        elif line.startswith(" -3"):
            name = None
        elif line.startswith(" -1") and name:
            values = [line[13 + 12 * k : 25 + 12 * k] for k in range((len(line.rstrip()) - 13 + 11) // 12)]
            tables.setdefault((name, str(step), 0.0), {})[(line[3:13].strip(),)] = np.array([real(v) for v in values])
    return tables


def compare(ours, theirs):
    """By kind of table the largest difference, relative to the largest value of the kind; "missing" if one is not there."""
    size, worst = collections.defaultdict(float), {}
    for (kind, *_), rows in theirs.items():
        size[kind] = max([size[kind], *(np.abs(values).max(initial=0.0) for values in rows.values())])
    for kind in {"temperatures", "NDTEMP"} & set(size):
        values = np.concatenate([value for (of, *_), rows in theirs.items() if of == kind for value in rows.values()])
        size[kind] = values.max() - values.min() or size[kind]
    for key, rows in theirs.items():
        kind, mine = key[0], ours.get(key)
        # Tags that the deck does not define move by nothing.
        rows = {tag: values for tag, values in rows.items() if np.any(values) or mine is None or tag in mine}
        if mine is None or set(rows) - set(mine):
            lost = "" if mine is None else f": {len(set(rows) - set(mine))} of {len(rows)} rows"
            worst[kind] = f"missing{lost}"
            continue
        difference = max([0.0, *(np.abs(mine[tag] - values).max(initial=0.0) for tag, values in rows.items())])
        if isinstance(worst.get(kind, 0.0), float):
            worst[kind] = max(worst.get(kind, 0.0), difference / (size[kind] or 1.0))
    return worst


def run(command, folder, seconds=120):
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", "it took too long")


def unpack(folder, names):
    """The decks and what they include."""
    folders = {pathlib.Path(name).parent for name in names if "/" in name} or {DECKS}
    for path in (path for folder in folders for path in folder.iterdir()):
        if path.name.endswith(".gz"):
            (folder / path.name[:-3]).write_bytes(gzip.open(path).read())
        elif path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())


def solve(binary, name, folder):
    """How a deck of linear statics compares: a word, and the differences."""
    ours, theirs = folder / "ours", folder / "theirs"
    for out in (ours, theirs):
        out.mkdir(exist_ok=True)
    result = run([binary, "solve", f"{name}.inp", "-o", ours, "--device", "cpu", "--residual-tolerance", "1e-10", "--no-symbols"], folder)
    if result.returncode:
        first = next((line for line in result.stderr.splitlines() if line.startswith("error")), result.stderr[-200:])
        crashed = result.returncode not in (2, 3, 4, 5)
        return ("crashed" if crashed else "refused"), first
    for ending in ("dat", "frd"):
        (folder / f"{name}.{ending}").unlink(missing_ok=True)
    # Its iterations stop early, and not all solvers are there: its own direct one is compared.
    deck = folder / f"{name}.inp"
    text = re.sub(r"(?i), *SOLVER *= *[\w ]+", "", deck.read_text(errors="replace"))
    if not re.search(r"(?i)^\*NODE *PRINT", text, re.M):
        text = re.sub(r"(?im)^(\*END *STEP)", r"*NODE FILE, OUTPUT=2D\nU, NT\n\1", text)
    deck.write_text(text)
    run(["ccx", name], folder)
    own, other = dat(ours / f"{name}.dat"), dat(folder / f"{name}.dat")
    if re.search(r"(?im)^\*(HEAT *TRANSFER|(UN)?COUPLED *TEMP)", text):
        other = {key: rows for key, rows in other.items() if key in own}
    worst = compare(own, other)
    if not worst:
        read = {kind: frd(of / f"{name}.frd") for kind, of in (("ours", ours), ("theirs", folder))}
        worst = compare(*({k: v for k, v in read[of].items() if k[0] in BOUNDS} for of in ("ours", "theirs")))
    shown = ", ".join(f"{kind} {value if isinstance(value, str) else format(value, '.1e')}" for kind, value in worst.items())
    beyond = [kind for kind, value in worst.items() if isinstance(value, str) or not value <= BOUNDS.get(kind, 0.0)]
    if not worst:
        return "nothing", "ccx prints nothing"
    return ("differs" if beyond else "agrees"), shown


def main():
    binary, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    every = sorted({path.name.split(".inp")[0] for path in DECKS.glob("*.inp*")})
    out, reasons = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        unpack(folder, names)
        for name in names or every:
            why, name = why_not(text_of(name)), pathlib.Path(name).name.removesuffix(".inp")
            if not why:
                word, shown = solve(binary, name, folder)
                word = "explained" if word == "differs" and name in REASONS else word
                print(f"{name:18} {word:9} {shown} {REASONS.get(name, '')}", flush=True)
                out[word] += 1
                continue
            result = run([binary, "check", f"{name}.inp"], folder)
            answered = why == OF_MODES or why == OF_MOTION and name in ANSWERED_MOTIONS
            refused = result.returncode in (2, 3, 4) or answered
            out["others refused" if refused else "OTHERS NOT REFUSED"] += 1
            reasons[why] += 1
            if not refused:
                print(f"{name:18} NOT REFUSED: {why}; exit {result.returncode} {result.stderr[-300:]}", flush=True)
    print("\nother decks, by what is not linear statics:")
    for why, count in reasons.most_common():
        print(f"  {count:4} {why}")
    print(", ".join(f"{count} {word}" for word, count in out.items()))
    return any(out[word] for word in ("differs", "refused", "crashed", "nothing", "OTHERS NOT REFUSED"))


if __name__ == "__main__":
    sys.exit(main())
