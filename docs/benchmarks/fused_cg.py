"""Measures Jacobi-CG as one builds the fastest from libraries: cuSPARSE's SELL-32, fused vector steps, a CUDA graph.

    python3 docs/benchmarks/fused_cg.py [--cells 20,40] [--element hex8,tet4] [--precision f64,f32] [--json FILE]
    python3 docs/benchmarks/fused_cg.py --self-test        # the cubes, and the method by its kernels, with numpy alone

The cubes are those of `warpfem-bench cg`: n x n x n cells, a hex8 or six tet4 each, clamped at x = 0 under their own
weight; from zero to 1e-8 of the load in double precision, to 1e-5 in single (which the recurrence reaches, the true
residual does not). An iteration is cuSPARSE's product on sliced ELLPACK, 32 rows a slice, and three kernels written
with `cupyx.jit`, which move twelve words an unknown:

    q = A p                           cusparseSpMV
    p.q                               `dot`
    r -= alpha q;  r.z, r.r           `update`, z = r / diagonal
    x += alpha p;  p = z + beta p     `turn`

Sums have two levels: each block leaves its part, and every block of the next kernel adds all parts up in one fixed
order, which costs no further kernel. They are in double precision, and so are alpha and beta until they are used. BATCH
iterations are one CUDA graph. The host looks at the residual of a batch while the next one runs, so that looking costs
nothing; what runs after the batch that came to the tolerance is not counted. Of SHAPES, threads of a block and blocks
of a multiprocessor, the fastest is taken.

`solve_ms` is the median of samples, each from the first launch to the end of the batch that came to the tolerance
(without set-up, assembly and the vectors' first values), `iteration_ms` that divided by all the iterations in it,
`iterations` the count that the tolerance took, and `true_residual` of the solution then, in double precision. A cube
that does not fit is named and left out; a failure is traced on stderr, and the others go on.

Needs what cusparse.py needs.
"""

import argparse
import contextlib
import ctypes
import functools
import itertools
import json
import pathlib
import sys
import time
import traceback
import types

import cubes
import cusparse
import numpy as np

TOLERANCES = {"f64": 1e-8, "f32": 1e-5}
REALS = {"f64": np.float64, "f32": np.float32}
# Iterations of a graph; even, as what an iteration leaves for the next alternates between two places.
BATCH = 50
MAX_BATCHES = 400
# Threads of a block, and blocks of a multiprocessor.
SHAPES = (256, 4), (256, 6), (256, 8), (512, 2), (512, 4)
# Vectors are as long as whole tiles: every thread works on two entries at once.
PADDING = 2 * max(threads for threads, _ in SHAPES)
WARP, ALL_LANES = 32, 0xFFFFFFFF


# ------------------------------------------------------------------------------------------------ the method


@functools.cache
def kernels(jit, real, threads):
    """The vector steps of an iteration for `cupyx.jit`, in the precision `real`, by blocks of so many threads.

    All threads of a block do the same: where they write to one place, they write the same value.
    """
    warps = threads // WARP
    # Signed, so that the compiler knows that i + threads is not beyond the last number there is.
    double, index = np.float64, np.int32

    @jit.rawkernel(device=True)
    def warp_sum(value):
        for k in range(5):
            value += jit.shfl_xor_sync(ALL_LANES, value, 1 << k)
        return value

    @jit.rawkernel(device=True)
    def added(of_warps):
        total = of_warps[0]
        for k in range(1, warps):
            total += of_warps[k]
        return total

    @jit.rawkernel(device=True)
    def total_of(parts, n_parts, of_warps):
        mine = double(0)
        for first in range(0, n_parts, threads):
            mine += parts[first + index(jit.threadIdx.x)]
        of_warps[jit.threadIdx.x >> 5] = warp_sum(mine)
        jit.syncthreads()
        return added(of_warps)

    @jit.rawkernel()
    def dot(p, q, pq, tiles):
        of_warps = jit.shared_memory(double, warps)
        mine = double(0)
        for tile in range(jit.blockIdx.x, tiles, jit.gridDim.x):
            i = 2 * threads * tile + index(jit.threadIdx.x)
            j = i + threads
            mine += double(p[i]) * q[i] + double(p[j]) * q[j]
        of_warps[jit.threadIdx.x >> 5] = warp_sum(mine)
        jit.syncthreads()
        pq[jit.blockIdx.x] = added(of_warps)

    @jit.rawkernel()
    def update(r, q, inverse, pq, rho, alpha, rz, rr, now, tiles, n_parts):
        of_warps = jit.shared_memory(double, warps)
        z_of_warps = jit.shared_memory(double, warps)
        r_of_warps = jit.shared_memory(double, warps)
        step = rho[now] / total_of(pq, n_parts, of_warps)
        if jit.blockIdx.x == 0:
            alpha[0] = step
        a = real(step)
        mine_z = double(0)
        mine_r = double(0)
        for tile in range(jit.blockIdx.x, tiles, jit.gridDim.x):
            i = 2 * threads * tile + index(jit.threadIdx.x)
            j = i + threads
            # All loads before the first store, which they might depend on for all that the compiler knows.
            r_i = r[i] - a * q[i]
            r_j = r[j] - a * q[j]
            z_i = inverse[i] * r_i
            z_j = inverse[j] * r_j
            r[i] = r_i
            r[j] = r_j
            mine_z += double(r_i) * z_i + double(r_j) * z_j
            mine_r += double(r_i) * r_i + double(r_j) * r_j
        z_of_warps[jit.threadIdx.x >> 5] = warp_sum(mine_z)
        r_of_warps[jit.threadIdx.x >> 5] = warp_sum(mine_r)
        jit.syncthreads()
        rz[jit.blockIdx.x] = added(z_of_warps)
        rr[jit.blockIdx.x] = added(r_of_warps)

    @jit.rawkernel()
    def turn(x, p, r, inverse, rz, rr, rho, alpha, count, history, now, tiles, n_parts):
        of_warps = jit.shared_memory(double, warps)
        r_of_warps = jit.shared_memory(double, warps)
        rho_next = total_of(rz, n_parts, of_warps)
        b = real(rho_next / rho[now])
        a = real(alpha[0])
        if jit.blockIdx.x == 0:
            history[count[now]] = total_of(rr, n_parts, r_of_warps)
            count[1 - now] = count[now] + 1
            rho[1 - now] = rho_next
        for tile in range(jit.blockIdx.x, tiles, jit.gridDim.x):
            i = 2 * threads * tile + index(jit.threadIdx.x)
            j = i + threads
            p_i = p[i]
            p_j = p[j]
            x_i = x[i] + a * p_i
            x_j = x[j] + a * p_j
            p_i = inverse[i] * r[i] + b * p_i
            p_j = inverse[j] * r[j] + b * p_j
            x[i] = x_i
            x[j] = x_j
            p[i] = p_i
            p[j] = p_j

    return dot, update, turn


class Method:
    """Jacobi-CG with a matrix's load and diagonal: vectors, and the steps of an iteration once `use` said by what."""

    def __init__(self, xp, precision, force, diagonal):
        real = self.real = REALS[precision]
        self.xp, self.n = xp, force.size
        self.length = -(-self.n // PADDING) * PADDING
        self.x, self.r, self.p, self.q, self.force, self.inverse = (xp.zeros(self.length, real) for _ in range(6))
        self.force[: self.n] = force
        self.inverse[: self.n] = 1 / diagonal
        self.first = self.inverse * self.force
        wide = self.force.astype("f8")
        self.norm = float((wide * wide).sum()) ** 0.5
        self.first_rho = (wide * self.first).sum().reshape(1)
        # What an iteration leaves for the next: r.z and the count of iterations.
        self.rho, self.count = xp.zeros(2), xp.zeros(2, dtype="i4")
        self.alpha, self.history = xp.zeros(1), xp.zeros((MAX_BATCHES + 1) * BATCH)

    def use(self, jit, product, threads, blocks):
        """Iterates by `product`, from p to q, and kernels of at most so many blocks of so many threads."""
        self.product, self.threads = product, threads
        self.dot, self.update, self.turn = kernels(jit, self.real, threads)
        self.tiles = np.int32(-(-self.n // (2 * threads)))
        self.blocks = int(min(blocks, self.tiles))
        # Whole rounds of a block's threads, zero where there is no block.
        self.n_parts = np.int32(-(-self.blocks // threads) * threads)
        self.pq, self.rz, self.rr = (self.xp.zeros(int(self.n_parts)) for _ in range(3))

    def start(self):
        """The vectors' values before the first iteration."""
        self.x.fill(0)
        self.r[:] = self.force
        self.p[:] = self.first
        self.rho[:1] = self.first_rho
        self.count.fill(0)

    def iterate(self, k):
        """Iteration k, of which only matters whether it is even."""
        now = np.int32(k % 2)
        shape = self.blocks, self.threads
        self.product()
        self.dot[shape](self.p, self.q, self.pq, self.tiles)
        self.update[shape](
            self.r, self.q, self.inverse, self.pq, self.rho, self.alpha, self.rz, self.rr, now, self.tiles, self.n_parts
        )  # fmt: skip
        self.turn[shape](
            self.x, self.p, self.r, self.inverse, self.rz, self.rr, self.rho, self.alpha, self.count, self.history, now,
            self.tiles, self.n_parts,
        )  # fmt: skip


# ------------------------------------------------------------------------------------------------ measuring


class Replay:
    """Batches of a method's iterations on a stream, as a CUDA graph if they can be captured."""

    def __init__(self, method, stream):
        self.method, self.stream, self.graph, self.shape = method, stream, None, None
        # The squared residual after each batch, as the host sees it, copied beside the batches, which do not wait.
        self.seen, self.beside = cupyx.empty_pinned(MAX_BATCHES), cupy.cuda.Stream(non_blocking=True)

    def choose(self, product, multiprocessors):
        """Takes the fastest of SHAPES."""
        found = []
        for threads, blocks in SHAPES:
            self.method.use(jit, product, threads, blocks * multiprocessors)
            self.method.start()
            # The kernels are compiled and loaded before they are captured.
            for k in range(2):
                self.method.iterate(k)
            self.stream.synchronize()
            self.graph = self.captured()
            found.append((min(self.batch_ms() for _ in range(3)), (threads, blocks)))
        print("    us an iteration:", {shape: round(1e3 * ms / BATCH, 2) for ms, shape in found}, flush=True)
        self.shape = min(found)[1]
        # Captured again, as a graph writes to the sums that its kernels were given, which are no more.
        self.method.use(jit, product, self.shape[0], self.shape[1] * multiprocessors)
        self.graph = self.captured()

    def captured(self):
        """A batch as a graph; None, and why on stderr, where that fails."""
        try:
            self.stream.begin_capture()
            try:
                for k in range(BATCH):
                    self.method.iterate(k)
            except BaseException:
                with contextlib.suppress(Exception):
                    self.stream.end_capture()
                raise
            graph = self.stream.end_capture()
            graph.upload(self.stream)
            return graph
        except Exception:
            traceback.print_exc()
            print("plain launches instead of a graph", file=sys.stderr, flush=True)
            return None

    def batch(self):
        """Puts a batch on the stream."""
        if self.graph:
            self.graph.launch(self.stream)
        else:
            for k in range(BATCH):
                self.method.iterate(k)

    def batch_ms(self):
        """The time of the first batch of a solution."""
        self.method.start()
        self.stream.synchronize()
        begin = self.stream.record()
        self.batch()
        end = self.stream.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end)

    def look(self, k, end):
        """Has the residual after batch k, which the event `end` ends, copied to the host; the event of that."""
        place = self.method.history.data.ptr + 8 * ((k + 1) * BATCH - 1)
        self.beside.wait_event(end)
        cupy.cuda.runtime.memcpyAsync(
            self.seen.ctypes.data + 8 * k, place, 8, cupy.cuda.runtime.memcpyDeviceToHost, self.beside.ptr
        )
        return self.beside.record()

    def solve(self, tolerance):
        """Milliseconds and iterations of the batches that the tolerance takes, and which iteration met it."""
        limit = (tolerance * self.method.norm) ** 2
        ends, looks = [], []
        self.method.start()
        self.stream.synchronize()
        begin = self.stream.record()
        for k in range(MAX_BATCHES):
            self.batch()
            ends.append(self.stream.record())
            looks.append(self.look(k, ends[k]))
            if k == 0:
                continue
            # The batch before, while this one runs.
            looks[k - 1].synchronize()
            if not np.isfinite(self.seen[k - 1]):
                raise ArithmeticError(f"the residual is {self.seen[k - 1]} after {k * BATCH} iterations")
            if self.seen[k - 1] <= limit:
                ms = cupy.cuda.get_elapsed_time(begin, ends[k - 1])
                squares = self.method.history[: k * BATCH].get()
                return ms, k * BATCH, 1 + int(np.flatnonzero(squares <= limit)[0])
        raise ArithmeticError(f"{self.seen[k - 1] ** 0.5 / self.method.norm:.1e} after {k * BATCH} iterations")

    def solution(self, iterations):
        """x after exactly so many iterations."""
        self.method.start()
        for _ in range(iterations // BATCH):
            self.batch()
        for k in range(iterations % BATCH):
            self.method.iterate(k)
        return self.method.x[: self.method.n].astype("f8")


class Cube:
    """A problem on the device."""

    def __init__(self, library, element, n):
        self.library = library
        start = time.perf_counter()
        row_start, columns, values, self.diagonal = cubes.compressed(cupy, element, n)
        self.force, self.entries = cubes.load(cupy, element, n), columns.size
        cusparse.free()
        self.layout = cusparse.sliced(cupy, row_start, columns, values)
        del row_start, columns, values
        cusparse.free()
        norm = float(cupy.linalg.norm(self.force))
        print(
            f"{element} cube {n}: {self.force.size:,} unknowns, {self.entries:,} entries, load {norm:.9g}, "
            f"made in {time.perf_counter() - start:.1f} s",
            flush=True,
        )

    def product(self, precision, x, y):
        """cuSPARSE's product of x into y."""
        starts, columns, values = self.layout
        layout = starts, columns, values.astype(REALS[precision], copy=False)
        arguments = cusparse.sliced_ell(self.force.size, self.entries, layout, precision)
        # It keeps its arguments, pointers; the values are kept beside it.
        product = cusparse.Product(
            self.library, "cusparseCreateSlicedEll", arguments, precision, cusparse.SELL_ALG1, x, y, True
        )
        product.layout = layout
        return product

    def true_residual(self, x):
        """The residual of x over the load, in double precision."""
        y = cupy.empty_like(x)
        with self.product("f64", x, y) as product:
            product()
        return float(cupy.linalg.norm(self.force - y) / cupy.linalg.norm(self.force))

    def measure(self, precision, samples, stream, multiprocessors):
        """The figures of one precision."""
        method, tolerance = Method(cupy, precision, self.force, self.diagonal), TOLERANCES[precision]
        with self.product(precision, method.p[: method.n], method.q[: method.n]) as product:
            replay = Replay(method, stream)
            replay.choose(product, multiprocessors)
            _, ran, iterations = replay.solve(tolerance)
            solve_ms = float(np.median([replay.solve(tolerance)[0] for _ in range(samples)]))
            x = replay.solution(iterations)
        return {
            "tolerance": tolerance,
            "iterations": iterations,
            "iterations_run": ran,
            "solve_ms": solve_ms,
            "iteration_ms": solve_ms / ran,
            "true_residual": self.true_residual(x),
            "min_u_z": float(x[2::3].min()),
            "graph": replay.graph is not None,
            "threads": replay.shape[0],
            "blocks_per_multiprocessor": replay.shape[1],
        }


# ------------------------------------------------------------------------------------------------ without a GPU


class Lockstep:
    """What the kernels use of `cupyx.jit`, on the host: a block's threads are the entries of arrays."""

    def __init__(self, threads):
        self.threadIdx = types.SimpleNamespace(x=np.arange(threads))
        self.blockIdx, self.gridDim = types.SimpleNamespace(x=0), types.SimpleNamespace(x=0)

    def rawkernel(self, device=False):
        return (lambda function: function) if device else (lambda function: Blocks(self, function))

    def shared_memory(self, kind, size):
        return np.full(size, np.nan, dtype=kind)

    def syncthreads(self):
        pass

    def shfl_xor_sync(self, _, value, distance):
        # A number is the same in all threads.
        return (value + np.zeros(self.threadIdx.x.size))[self.threadIdx.x ^ distance]


class Blocks:
    """A kernel of Lockstep's, launched as `cupyx.jit` has it; one block after the other."""

    def __init__(self, jit, function):
        self.jit, self.function = jit, function

    def __getitem__(self, shape):
        return functools.partial(self.launch, *shape)

    def launch(self, blocks, threads, *arguments):
        assert threads == self.jit.threadIdx.x.size
        self.jit.gridDim.x = blocks
        for self.jit.blockIdx.x in range(blocks):
            self.function(*arguments)


def on_host(element, n, precision, threads, blocks):
    """Iterations to the tolerance on a cube, its true residual and min u_z, by the same kernels on the same layout."""
    row_start, columns, values, diagonal = cubes.compressed(np, element, n)
    force = cubes.load(np, element, n)
    starts, sell_columns, sell_values = cusparse.sliced(np, row_start, columns, values)
    # Entries of a slice's row are SLICE apart.
    slices = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    rows = slices * cusparse.SLICE + (np.arange(sell_columns.size) - starts[slices]) % cusparse.SLICE
    real = sell_columns >= 0
    by_rows = np.flatnonzero(real)[np.argsort(rows[real], kind="stable")]
    sell_columns, sell_values = sell_columns[by_rows], sell_values[by_rows]
    first = np.searchsorted(rows[by_rows], np.arange(force.size))

    def times(entries, x):
        return np.add.reduceat(entries * x[sell_columns], first)

    method = Method(np, precision, force, diagonal)
    narrow = sell_values.astype(method.real)

    def product():
        method.q[: method.n] = times(narrow, method.p)

    method.use(Lockstep(threads), product, threads, blocks)
    method.start()
    for k in itertools.count():
        method.iterate(k)
        if method.history[k] <= (TOLERANCES[precision] * method.norm) ** 2:
            x = method.x[: method.n].astype("f8")
            residual = np.linalg.norm(force - times(sell_values, x)) / np.linalg.norm(force)
            return k + 1, residual, x[2::3].min()


def self_test():
    """The cubes; and the method by its kernels, in step, against known iterations and solutions."""
    cubes.self_test()
    # A few blocks of several tiles, the last of which is cut short; parts of more blocks than a block has threads.
    for element in "hex8", "tet4":
        few, many = (on_host(element, 6, "f64", *shape) for shape in ((128, 5), (32, 1000)))
        assert few[0] == many[0] and abs(few[2] / many[2] - 1) < 1e-8, (element, few, many)
    for element, n, precision, expected, min_u_z in (
        ("hex8", 20, "f64", 176, -1.126458e-6),
        ("tet4", 20, "f64", 441, -1.117119e-6),
        ("hex8", 10, "f32", 67, -1.114091e-6),
    ):
        iterations, residual, found = on_host(element, n, precision, 512, 9)
        # In single precision the true residual stays above the recurrence's.
        limit = {"f64": 1.001e-8, "f32": 1e-3}[precision]
        assert abs(iterations - expected) <= 3, (element, n, precision, iterations)
        assert residual <= limit, (element, n, precision, residual)
        assert abs(found / min_u_z - 1) < max(1e-6, limit / 10), (element, n, precision, found)
    print("the cubes and the method are right")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default="20,40,60,100,150", help="cells along an edge of each cube")
    parser.add_argument("--element", default="hex8,tet4")
    parser.add_argument("--precision", default="f64,f32")
    parser.add_argument("--samples", type=int, default=5, help="solutions whose median is reported")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures to this file")
    parser.add_argument("--self-test", action="store_true", help="check the cubes and the method with numpy alone")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    global cupy, cupyx, jit
    library = cusparse.start()
    cupy, cupyx = cusparse.cupy, cusparse.cupyx
    from cupyx import jit

    with cupy.cuda.Stream(non_blocking=True) as stream:
        library.call("cusparseSetStream", library.handle, ctypes.c_void_p(stream.ptr))
        return 1 if measure(library, stream, arguments) else 0


def measure(library, stream, arguments):
    """Measures everything that was asked for; the number of failures."""
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    report = {
        "fused_cg": "cuSPARSE SELL-32, fused, graph",
        "device": properties["name"].decode(),
        "cusparse": library.version,
        "runtime": cupy.cuda.runtime.runtimeGetVersion(),
        "cupy": cupy.__version__,
        "copy_gb_per_s": cusparse.copy_bandwidth(arguments.samples),
        "rows": [],
    }
    cusparse.free()
    print({name: value for name, value in report.items() if name != "rows"}, flush=True)
    failures = 0
    for n, element in itertools.product(map(int, arguments.cells.split(",")), arguments.element.split(",")):
        cube = None
        for precision in arguments.precision.split(","):
            row = {"problem": f"{element} cube {n}", "precision": precision}
            try:
                cube = cube or Cube(library, element, n)
                figures = cube.measure(precision, arguments.samples, stream, properties["multiProcessorCount"])
                report["rows"].append(row | {"dofs": cube.force.size, "entries": cube.entries} | figures)
                print("   ", report["rows"][-1], flush=True)
            except (cupy.cuda.memory.OutOfMemoryError, cusparse.TooLarge) as error:
                print(f"left out {element} cube {n}, {precision}: {error}", file=sys.stderr, flush=True)
            except Exception:  # whatever one stumbles over, the others go on
                failures += 1
                print(f"failed at {element} cube {n}, {precision}:", file=sys.stderr)
                traceback.print_exc()
            cusparse.free()
        del cube
        cusparse.free()
        if arguments.json:
            arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    return failures


if __name__ == "__main__":
    sys.exit(main())
