"""Measures SciPy's conjugate gradients with Jacobi on a matrix that `warpfem-bench spmv --matrix FOLDER` has written.

    python3 docs/benchmarks/scipy_cg.py FOLDER [--json FILE] [--samples 5] [--iterations 20]

It is what scikit-fem solves with (`solver_iter_pcg`): `scipy.sparse.linalg.cg` on compressed rows, the inverse diagonal as a
sparse matrix, on one thread. The values are made up, so a fixed number of iterations is timed, each sample from zero; an
iteration's time does not depend on them. The figure is the median of the samples. Measure in turn with `warpfem-bench cg`.
"""

import argparse
import json
import pathlib
import statistics
import time

import numpy as np
import scipy
from scipy.sparse import csr_matrix, spdiags
from scipy.sparse.linalg import cg


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="what `warpfem-bench spmv --matrix` has written")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures to this file")
    parser.add_argument("--samples", type=int, default=5, help="samples whose median is reported")
    parser.add_argument("--iterations", type=int, default=20, help="iterations of a sample")
    arguments = parser.parse_args()
    meta = json.loads((arguments.folder / "matrix.json").read_text())
    row_start, columns, values = (np.load(arguments.folder / f"{name}.npy") for name in ("row_start", "columns", "values"))
    # 32-bit starts, as SciPy's own products have them.
    matrix = csr_matrix((values, columns, row_start.astype("i4")))
    n = matrix.shape[0]
    inverse = spdiags(1.0 / matrix.diagonal(), 0, n, n)
    b = np.random.default_rng(1).standard_normal(n)
    samples = []
    for _ in range(arguments.samples):
        start = time.perf_counter()
        cg(matrix, b, rtol=0.0, atol=0.0, maxiter=arguments.iterations, M=inverse)
        samples.append(1e3 * (time.perf_counter() - start) / arguments.iterations)
    result = {
        "host_cg": f"SciPy {scipy.__version__}",
        "problem": meta["problem"],
        "dofs": meta["dofs"],
        "samples_ms": samples,
        "iteration_ms": statistics.median(samples),
    }
    print(f"{result['host_cg']}, {result['problem']}: {result['iteration_ms']:.2f} ms an iteration")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
