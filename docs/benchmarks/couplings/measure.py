#!/usr/bin/env python3
"""Measures couplings on a GPU, or makes the table of what was measured.

    python3 docs/benchmarks/couplings/measure.py BINARY OUT.json      # some nine minutes; goes on with what is not in OUT
    python3 docs/benchmarks/couplings/measure.py --table FILE.json

Boxes of hex8: two tied halves and a remote load beside the part in one piece; a distributing remote point that holds
20,000 nodes and rigid ones of 20,000 and 100,000, beside the same body without; 16 load cases beside one. Times are
medians, after a run that does not count. An iteration is the difference of 500 and 100 with Jacobi's preconditioner.
Memory is the most that the driver reports in a run of its own.
"""

import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

STEEL = '[[material]]\nname = "steel"\nyoung = 200e3\npoisson = 0.3\n'
CLAMP = '[[support]]\non = "a_xmin"\nfix = "xyz"\n'
TIE = '[[tie]]\nslave = "b_xmin"\nmaster = "a_xmax"\n'
REMOTE = '[[remote]]\non = "{}"\nat = [2.5, 0.5, 0.5]\nforce = [3e3, 0.0, -1e3]\nmoment = [0.0, 500.0, 0.0]\n'
HELD = '[[remote]]\non = "a_xmin"\nfix = "xyz rx ry rz"\n'
RIGID = '[[remote]]\non = "a_xmax"\nkind = "rigid"\nforce = [3.0, 4.0, 5.0]\n'
PULLED = '[[traction]]\non = "a_xmax"\nvector = [1.0, 2.0, 3.0]\n'
AMG = '[solver]\nmethod = "cg"\npreconditioner = "amg"\nprecision = "double"\n'
JACOBI = AMG.replace("amg", "jacobi") + "residual_tolerance = 1e-14\nmax_iterations = {}\n"
RUNS = 3


def boxes(path, parts):
    """Boxes of hex8, each (prefix, origin, size, cells), with the groups PREFIXbody, PREFIXxmin and PREFIXxmax."""
    names, nodes, cells, first = [], [], [], 1
    for prefix, o, s, (nx, ny, nz) in parts:
        def at(i, j, k):
            return first + i + (nx + 1) * (j + (ny + 1) * k)

        nodes += [f"{at(i, j, k)} {o[0] + s[0] * i / nx!r} {o[1] + s[1] * j / ny!r} {o[2] + s[2] * k / nz!r}"
                  for k in range(nz + 1) for j in range(ny + 1) for i in range(nx + 1)]
        body = len(names) + 1
        names += [(3, prefix + "body"), (2, prefix + "xmin"), (2, prefix + "xmax")]
        for group, i in ((body + 1, 0), (body + 2, nx)):
            cells += [f"3 2 {group} {group} {at(i, j, k)} {at(i, j + 1, k)} {at(i, j + 1, k + 1)} {at(i, j, k + 1)}"
                      for k in range(nz) for j in range(ny)]
        for k in range(nz):
            for j in range(ny):
                for i in range(nx):
                    low = [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k)]
                    high = [node + (nx + 1) * (ny + 1) for node in low]
                    cells.append(f"5 2 {body} {body} " + " ".join(map(str, low + high)))
        first += (nx + 1) * (ny + 1) * (nz + 1)
    with open(path, "w") as f:
        f.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{len(names)}\n")
        f.writelines(f'{dim} {i + 1} "{name}"\n' for i, (dim, name) in enumerate(names))
        f.write(f"$EndPhysicalNames\n$Nodes\n{len(nodes)}\n" + "\n".join(nodes) + "\n$EndNodes\n")
        f.write(f"$Elements\n{len(cells)}\n" + "\n".join(f"{i + 1} {cell}" for i, cell in enumerate(cells)))
        f.write("\n$EndElements\n")


def gpu(what):
    query = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits"]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split("\n")[0].strip()


def run(command):
    """Runs a command that may end with warnings."""
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in (0, 5):
        sys.exit(f"{' '.join(command)}: {ended.stderr}")


def memory_of(command):
    """The most memory of the GPU while a command runs, in MiB. Asking for it slows the command down."""
    used, done = [], threading.Event()

    def watch():
        while not done.is_set():
            used.append(int(gpu("memory.used")))
            time.sleep(0.02)

    thread = threading.Thread(target=watch)
    thread.start()
    run(command)
    done.set()
    thread.join()
    return max(used)


class Bench:
    def __init__(self, binary, out):
        self.binary, self.out, self.folder, self.parts = os.path.abspath(binary), out, tempfile.mkdtemp(), {}
        self.rows = []
        if os.path.exists(out):
            with open(out) as f:
                self.rows = json.load(f)["rows"]

    def mesh(self, name, parts):
        self.parts[name] = parts

    def solve(self, mesh, text):
        case = f"{self.folder}/case.toml"
        with open(case, "w") as f:
            f.write(f'[mesh]\nfile = "{mesh}.msh"\n{STEEL}{text}')
        command = [self.binary, "solve", case, "--device", "cuda", "-o", f"{self.folder}/out", "--quiet"]
        found = []
        for _ in range(RUNS + 1):
            run(command)
            with open(f"{self.folder}/out/summary.json") as f:
                summary = json.load(f)
            found.append(summary["timings_s"])
        times = {key: statistics.median(times[key] for times in found[1:]) for key in found[0]}
        return {"iterations": summary["solver"]["iterations"], "memory_mib": memory_of(command), "seconds": times}

    def add(self, name, mesh, text, iteration=True):
        if any((row["name"], row["mesh"]) == (name, mesh) for row in self.rows):
            return
        if mesh in self.parts:
            boxes(f"{self.folder}/{mesh}.msh", self.parts.pop(mesh))
        row = {"name": name, "mesh": mesh, **self.solve(mesh, text + (AMG if iteration else ""))}
        if iteration:
            few, many = (self.solve(mesh, text + JACOBI.format(n)) for n in (100, 500))
            row["iteration_ms"] = (many["seconds"]["solve"] - few["seconds"]["solve"]) / 400 * 1e3
            row["memory_jacobi_mib"] = many["memory_mib"]
        self.rows.append(row)
        print(json.dumps(row), flush=True)
        date = datetime.date.today().isoformat()
        with open(self.out, "w") as f:
            json.dump({"device": gpu("name"), "driver": gpu("driver_version"), "date": date, "rows": self.rows}, f, indent=1)


def measure(binary, out):
    bench, n = Bench(binary, out), 100
    bench.mesh("one", [("a_", (0, 0, 0), (2, 1, 1), (n, n, n))])
    bench.mesh("halves", [("a_", (0, 0, 0), (1, 1, 1), (50, n, n)), ("b_", (1, 0, 0), (1, 1, 1), (50, n, n))])
    bench.mesh("others", [("a_", (0, 0, 0), (1, 1, 1), (50, 97, 95)), ("b_", (1, 0, 0), (1, 1, 1), (50, n, n))])
    bench.add("in one piece", "one", CLAMP + REMOTE.format("a_xmax"))
    bench.add("two tied halves", "halves", CLAMP + REMOTE.format("b_xmax") + TIE)
    bench.add("two tied halves of other meshes", "others", CLAMP + REMOTE.format("b_xmax") + TIE)
    bench.mesh("face of 20,000", [("a_", (0, 0, 0), (1, 2, 2), (50, 141, 141))])
    bench.add("clamped", "face of 20,000", CLAMP + PULLED)
    bench.add("held by a distributing remote", "face of 20,000", HELD + PULLED)
    bench.add("pulled by a rigid remote", "face of 20,000", CLAMP + RIGID)
    bench.mesh("face of 100,000", [("a_", (0, 0, 0), (0.5, 3, 3), (10, 316, 316))])
    bench.add("clamped", "face of 100,000", CLAMP + PULLED)
    bench.add("pulled by a rigid remote", "face of 100,000", CLAMP + RIGID)
    bench.mesh("body", [("a_", (0, 0, 0), (2, 1, 1), (120, 60, 60))])
    vectors = ["[1.0, 0.0, 0.0]", "[0.0, 1.0, 0.5]", "[0.3, -0.2, 1.0]"]
    places = [(on, vector) for vector in vectors for on in ("ymin", "ymax", "zmin", "zmax", "a_xmax")]
    loads = [f'[[traction]]\nname = "l{i}"\non = "{on}"\nvector = {vector}\n' for i, (on, vector) in enumerate(places)]
    loads.append('[[pressure]]\nname = "l15"\non = "ymax"\nvalue = 2.0\n')
    cases = [f'[[load_case]]\nname = "c{i}"\nfactors = {{ l{i} = 1.0 }}\n' for i in range(16)]
    bench.add("one load case", "body", CLAMP + "".join(loads) + cases[0], iteration=False)
    bench.add("16 load cases", "body", CLAMP + "".join(loads + cases), iteration=False)


def table(path):
    with open(path) as f:
        found = json.load(f)
    print(f"**{found['device']}**, {found['date']}, medians of {RUNS}:\n")
    print("| body | mesh | multigrid iterations | solve, s | read, s | memory, MiB | Jacobi iteration, ms |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for row in found["rows"]:
        seconds, each = row["seconds"], row.get("iteration_ms")
        each = f"{each:.3f}" if each else ""
        print(f"| {row['name']} | {row['mesh']} | {row['iterations']} | {seconds['solve']:.3f} | {seconds['read']:.2f} "
              f"| {row['memory_mib']} | {each} |")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    table(sys.argv[2]) if sys.argv[1] == "--table" else measure(sys.argv[1], sys.argv[2])
