"""Ghost nodes of the parts that ranks have, beside those of METIS: `partition.py run WARPFEM FILE.json` counts them on meshes of `meshes/`
(needs meshio, numpy, scipy, pymetis), `partition.py table FILE.json` prints the table."""

import json
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

MESHES = Path(__file__).resolve().parents[3] / "meshes"
BODIES = ["bracket", "hook", "vase", "cube_7348"]
SOLIDS = ["tetra", "tetra10", "hexahedron", "hexahedron20"]
# Along a Hilbert curve, as the program parted meshes at bb40c8d3.
HILBERT = {"bracket": [937, 1917, 2917], "hook": [2794, 7429, 9762], "vase": [948, 1680, 2410], "cube_7348": [893, 1898, 3038]}
RANKS = [2, 4, 8]


def ghosts_of_metis(name, number):
    import meshio
    import numpy
    import pymetis
    from scipy.sparse import coo_matrix

    found = meshio.read(MESHES / f"{name}.msh")
    used, cells = numpy.unique(numpy.vstack([block.data for block in found.cells if block.type in SOLIDS]), return_inverse=True)
    cells = cells.reshape(-1, next(block.data for block in found.cells if block.type in SOLIDS).shape[1])
    rows = numpy.repeat(numpy.arange(len(cells)), cells.shape[1])
    of_cells = coo_matrix((numpy.ones(len(rows), dtype=numpy.int32), (rows, cells.ravel())), shape=(len(cells), len(used))).tocsr()
    graph = (of_cells.T @ of_cells).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    _, part = pymetis.part_graph(number, adjacency=[graph.indices[a:b] for a, b in zip(graph.indptr, graph.indptr[1:])])
    part = numpy.array(part)
    near = [numpy.unique(cells[(part[cells] == rank).any(axis=1)]) for rank in range(number)]
    return sum(int((part[nodes] != rank).sum()) for rank, nodes in enumerate(near))


def run(warpfem, file):
    rows = []
    for name in BODIES:
        for number, hilbert in zip(RANKS, HILBERT[name]):
            with tempfile.TemporaryDirectory() as folder:
                words = [warpfem, "solve", MESHES / f"{name}.toml", "--devices", str(number), "--device", "cpu", "-o", folder, "--quiet"]
                subprocess.run(words, check=True)
                ranks = json.loads((Path(folder) / "summary.json").read_text())["solver"]["ranks"]
            ghosts = {"halved": sum(rank["ghosts"] for rank in ranks), "metis": ghosts_of_metis(name, number), "hilbert": hilbert}
            rows.append({"mesh": name, "nodes": sum(rank["nodes"] for rank in ranks), "ranks": number, "ghosts": ghosts})
            print(rows[-1], flush=True)
    Path(file).write_text(json.dumps({"date": str(date.today()), "rows": rows}, indent=1) + "\n")


def table(file):
    print("| mesh | nodes | ranks | ghosts of all ranks | METIS | Hilbert curve |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for row in json.loads(Path(file).read_text())["rows"]:
        ghosts = row["ghosts"]
        print(f"| {row['mesh']} | {row['nodes']:,} | {row['ranks']} | {ghosts['halved']:,} | {ghosts['metis']:,} | {ghosts['hilbert']:,} |")


match sys.argv[1:]:
    case ["run", warpfem, file]:
        run(warpfem, file)
    case ["table", file]:
        table(file)
    case _:
        raise SystemExit(__doc__)
