#!/usr/bin/env python3
"""Heat in time, and heat to stress, on cubes of hex8: whole runs of the program.

    measure.py run WARPFEM OUT.json [CELLS]    cubes of CELLS a side (default 100), on the GPU if there is one
    measure.py table OUT.json

A cube that is held at 20 on one side is heated by a flux on the opposite one, with convection around: 1,000 steps of BDF2. A step is
compared with a solution of the steady equations whose preconditioner is there: half the difference of four load cases, with
fluxes on different sides, and two. The stress of the same cube is that of the steady temperatures.
"""

import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

MATERIAL = """[[material]]
name = "steel"
conductivity = 50.0
density = 7850.0
specific_heat = 480.0
young = 210e9
poisson = 0.3
expansion = 12e-6
"""
HEAT = """[[support]]
on = "xmin"
value = 20.0
[[flux]]
name = "flux"
on = "xmax"
value = 1e4
[[convection]]
on = ["ymin", "ymax", "zmin", "zmax"]
coefficient = 25.0
ambient = 20.0
[output]
fields = ["temperature"]
probes = [{ name = "middle", at = [0.05, 0.05, 0.05] }, { name = "edge", at = [0.1, 0.1, 0.05] }]
"""
TIME = "[time]\nend = {end}\nstep = 1.0\ninitial = 20.0\noutputs = 1\n"
STRESS = """[temperature]
reference = 20.0
{temperature}[[support]]
on = "xmin"
fix = "xyz"
[output]
fields = ["displacement"]
"""
REPEATS = 3


def case(cells, kind, rest, study=""):
    mesh = f'[mesh]\ngenerate = {{ kind = "box", element = "hex8", size = [0.1, 0.1, 0.1], cells = [{cells}, {cells}, {cells}] }}\n'
    material = MATERIAL
    if kind == "heat":
        material = "\n".join(line for line in MATERIAL.splitlines() if line.split()[0] not in ("young", "poisson", "expansion")) + "\n"
    else:
        material = "\n".join(line for line in MATERIAL.splitlines() if line.split()[0] not in ("conductivity", "specific_heat")) + "\n"
    return f'{mesh}[analysis]\nkind = "{kind}"\n{study}{material}{rest}'


def run(warpfem, folder, name, text, repeats=REPEATS, *flags):
    """The summary of the median run by the whole time."""
    (folder / f"{name}.toml").write_text(text)
    found = []
    for _ in range(repeats):
        command = [warpfem, "solve", f"{name}.toml", "-o", f"out_{name}", "--quiet", "--no-symbols", "--preconditioner", "amg", *flags]
        subprocess.run(command, cwd=folder, check=True)
        found.append(json.loads((folder / f"out_{name}" / "summary.json").read_text()))
    found.sort(key=lambda summary: summary["timings_s"]["total"])
    return found[len(found) // 2]


def measure(warpfem, out, cells):
    sides = {"flux": "xmax", "left": "ymin", "right": "ymax", "below": "zmin"}
    others = "".join(f'[[flux]]\nname = "{name}"\non = "{side}"\nvalue = 1e4\n' for name, side in sides.items() if name != "flux")
    cases = [f'[[load_case]]\nname = "{name}"\nfactors = {{ {name} = 1.0 }}\n' for name in sides]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        of = lambda name, *rest: run(warpfem, folder, name, case(cells, *rest))
        solve = lambda summary: summary["timings_s"]["solve"]
        total = lambda summary: summary["timings_s"]["total"]
        one = of("one", "heat", HEAT)
        several = lambda n: HEAT.replace("[output]", others + "".join(cases[:n]) + "[output]")
        two, four = of("two", "heat", several(2)), of("four", "heat", several(4))
        study = 'study = "transient"\n'
        ten = of("ten", "heat", HEAT + TIME.format(end=10.0), study)
        thousand = of("thousand", "heat", HEAT + TIME.format(end=1000.0), study)
        exact = run(warpfem, folder, "exact", case(cells, "heat", HEAT + TIME.format(end=1000.0), study), 1, "--tolerance", "1e-12")
        both = of("both", "elasticity", STRESS.format(temperature='from = "one.toml"\n'))
        stress = of("stress", "elasticity", STRESS.format(temperature="value = 80.0\n"))
    final = lambda summary: summary["steps"][-1]["results"]
    probes = lambda summary: [probe["temperature"] for probe in summary["steps"][-1]["probes"]] + [final(summary)["max"]]
    off = max(abs(a - b) for a, b in zip(probes(thousand), probes(exact)))
    result = {
        "date": str(datetime.date.today()),
        "device": one["device"],
        "unknowns_of_heat": one["dofs"],
        "steady_solve_s": solve(one),
        "steady_iterations": one["solver"]["iterations"],
        "another_solution_s": (solve(four) - solve(two)) / 2,
        "step_s": (solve(thousand) - solve(ten)) / 990,
        "thousand_steps_total_s": total(thousand),
        "largest_temperature": thousand["steps"][-1]["results"]["max"] if "steps" in thousand else thousand["results"]["max"],
        "off_the_same_steps_at_1e-12": off / (final(exact)["max"] - final(exact)["min"]),
        "unknowns_of_stress": stress["dofs"],
        "heat_total_s": total(one),
        "stress_total_s": total(stress),
        "heat_to_stress_total_s": total(both),
        "heat_phases_s": one["timings_s"],
        "stress_phases_s": stress["timings_s"],
        "both_phases_s": both["timings_s"],
    }
    out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def table(path):
    r = json.loads(path.read_text())
    print(f"**{r['device']}**, {r['date']}:\n\n| | s |\n| --- | ---: |")
    print(f"| steady heat, {r['unknowns_of_heat']:,} unknowns: preconditioner and {r['steady_iterations']} iterations | {r['steady_solve_s']:.4f} |")
    print(f"| another solution with the same preconditioner | {r['another_solution_s']:.4f} |")
    print(f"| a time step of BDF2 | {r['step_s']:.4f} |")
    print(f"| 1,000 steps, from the command to the files | {r['thousand_steps_total_s']:.1f} |")
    if "off_the_same_steps_at_1e-12" in r:
        print(f"| their last temperatures off those of tolerance 1e-12, of the range | {r['off_the_same_steps_at_1e-12']:.1e} |")
    print(f"| heat alone, from the command to the files | {r['heat_total_s']:.2f} |")
    print(f"| stress alone, {r['unknowns_of_stress']:,} unknowns | {r['stress_total_s']:.2f} |")
    print(f"| heat to stress in one command | {r['heat_to_stress_total_s']:.2f} |")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", warpfem, out, *cells]:
            measure(pathlib.Path(warpfem).resolve(), pathlib.Path(out), int(cells[0]) if cells else 100)
        case ["table", out]:
            table(pathlib.Path(out))
        case _:
            raise SystemExit(__doc__)
