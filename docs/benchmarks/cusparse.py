"""Measures cuSPARSE's sparse products on a matrix that `warpfem-bench spmv --matrix FOLDER` has written.

    python3 docs/benchmarks/cusparse.py FOLDER [--json FILE] [--samples 25]
    python3 docs/benchmarks/cusparse.py --self-test        # the layouts, with numpy alone

Every variant in double and single precision: compressed rows (CSR) by both algorithms with and without preprocessing, block
rows (BSR) by the generic and the older function, sliced ELLPACK with slices of 32 rows, and CSR as CuPy and PyTorch
offer it. Each is checked against CuPy's product in double precision. A time is the median of samples, each of as many
products back to back as take a millisecond, between two CUDA events, after a warm-up. The copy bandwidth is that of a
copy within the device's memory, reads and writes both counted. A variant that this version of the library does not have,
or that fails, is named with its error, and the others go on.

Needs numpy and CuPy, and the CUDA libraries: of CUDA's Python packages, or in /usr/local/cuda/lib64.
"""

import argparse
import ctypes
import glob
import json
import math
import os
import pathlib
import sys
import time

import numpy as np

SLICE = 32
COPY_BYTES = 4 << 30
WARM_UP = 5
SAMPLE_MS = 1.0
MAX_REPEATS = 200
# Relative differences above these are errors.
LIMITS = {"f64": 1e-12, "f32": 1e-4}

# cusparse.h, library_types.h and driver_types.h.
INDEX_32I, BASE_ZERO, NON_TRANSPOSE, ORDER_ROW, DIRECTION_ROW = 2, 0, 0, 2, 0
CSR_ALG1, CSR_ALG2, SELL_ALG1, BSR_ALG1 = 2, 3, 5, 6
VALUE_TYPES = {"f32": 0, "f64": 1}
DEVICE_TO_DEVICE = 3


# ------------------------------------------------------------------------------------------------ layouts


class TooLarge(ValueError):
    """A matrix that a layout cannot hold."""


def entry_rows(xp, row_start, n):
    """The row of each of the `n` entries of compressed rows."""
    return xp.searchsorted(row_start, xp.arange(n, dtype=row_start.dtype), side="right") - 1


def sliced(xp, row_start, columns, values):
    """Sliced ELLPACK: where slices begin, columns (-1 in padding), values; a slice is stored column by column."""
    rows = row_start.size - 1
    n_slices = -(-rows // SLICE)
    lengths = xp.zeros(n_slices * SLICE, dtype="i8")
    lengths[:rows] = row_start[1:] - row_start[:-1]
    starts = xp.zeros(n_slices + 1, dtype="i8")
    starts[1:] = xp.cumsum(lengths.reshape(n_slices, SLICE).max(axis=1) * SLICE)
    size = int(starts[-1])
    if size >= 2**31:
        raise TooLarge(f"{size} stored entries do not fit 32-bit offsets")
    row = entry_rows(xp, row_start, columns.size)
    place = starts[row // SLICE] + row % SLICE
    place += (xp.arange(columns.size, dtype="i8") - row_start[row]) * SLICE
    sell_columns = xp.full(size, -1, dtype="i4")
    sell_columns[place] = columns
    sell_values = xp.zeros(size, dtype=values.dtype)
    sell_values[place] = values
    return starts.astype("i4"), sell_columns, sell_values


def blocked(xp, row_start, columns, values, b):
    """Compressed block rows: where they begin, block columns, values `[n_blocks][b][b]`, each block row by row."""
    starts = row_start[::b] // (b * b)
    n_blocks = columns.size // (b * b)
    block_row = entry_rows(xp, starts, n_blocks)
    # Position of the first entry of the block in the first of its rows, and how long each of its rows is.
    first = row_start[block_row * b] + (xp.arange(n_blocks, dtype="i8") - starts[block_row]) * b
    length = row_start[block_row * b + 1] - row_start[block_row * b]
    block_values = xp.empty((n_blocks, b, b), dtype=values.dtype)
    for i in range(b):
        for j in range(b):
            block_values[:, i, j] = values[first + i * length + j]
    return starts.astype("i4"), (columns[first] // b).astype("i4"), block_values


def self_test():
    """Multiplies by both layouts of a random matrix of blocks, with an empty row among them, as their definitions say."""
    random = np.random.default_rng(1)
    for b, n in ((1, 70), (2, 45), (3, 33)):
        pattern = random.random((n, n)) < 0.2
        pattern[5] = False
        dense = random.standard_normal((n * b, n * b)) * np.kron(pattern, np.ones((b, b)))
        mask = np.kron(pattern, np.ones((b, b))) > 0
        row_start = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
        columns, values = np.nonzero(mask)[1].astype("i4"), dense[mask]
        x = random.standard_normal(n * b)
        starts, sell_columns, sell_values = sliced(np, row_start, columns, values)
        y = np.zeros(n * b)
        for s in range(len(starts) - 1):
            for place in range(starts[s], starts[s + 1]):
                if sell_columns[place] >= 0:
                    y[s * SLICE + (place - starts[s]) % SLICE] += sell_values[place] * x[sell_columns[place]]
        np.testing.assert_allclose(y, dense @ x, rtol=0, atol=1e-12)
        starts, block_columns, block_values = blocked(np, row_start, columns, values, b)
        y = np.zeros((n, b))
        for row in range(n):
            for k in range(starts[row], starts[row + 1]):
                y[row] += block_values[k] @ x.reshape(n, b)[block_columns[k]]
        np.testing.assert_allclose(y.ravel(), dense @ x, rtol=0, atol=1e-12)
    print("the layouts are right")


# ------------------------------------------------------------------------------------------------ the library


class Failure(Exception):
    """A call of the library that failed."""


def library_folders():
    """Where CUDA's libraries may be."""
    for folder in sys.path:
        yield from glob.glob(os.path.join(folder, "nvidia", "cu13", "lib"))
        yield from sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib")))
    yield "/usr/local/cuda/lib64"
    yield from glob.glob("/usr/local/cuda/targets/*/lib")


def load(*names, required=True):
    """The first of some libraries that opens, for all to see."""
    tried = []
    folders = list(library_folders())
    for name in names:
        for path in [os.path.join(folder, name) for folder in folders] + [name]:
            if path != name and not os.path.exists(path):
                continue
            try:
                return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            except OSError as error:
                tried.append(str(error))
    if required:
        sys.exit(f"no {' or '.join(names)}: {'; '.join(tried)}")
    return None


class Library:
    """cuSPARSE through ctypes, one handle."""

    def __init__(self, dll):
        self.dll = dll
        self.dll.cusparseGetErrorString.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.call("cusparseCreate", ctypes.byref(self.handle))
        version = ctypes.c_int()
        self.call("cusparseGetVersion", self.handle, ctypes.byref(version))
        self.version = version.value

    def function(self, name):
        """A function, if this version has it."""
        try:
            return getattr(self.dll, name)
        except AttributeError:
            raise Failure(f"this version has no {name}") from None

    def check(self, name, status):
        if status:
            raise Failure(f"{name}: {self.dll.cusparseGetErrorString(status).decode()} ({status})")

    def call(self, name, *arguments):
        self.check(name, self.function(name)(*arguments))


def pointer(array):
    return ctypes.c_void_p(array.data.ptr)


def scalar(precision, value):
    return ctypes.byref((ctypes.c_double if precision == "f64" else ctypes.c_float)(value))


def i64(value):
    return ctypes.c_int64(int(value))


def kinds(precision):
    """The last arguments of every function that describes a matrix."""
    types = (INDEX_32I, INDEX_32I, BASE_ZERO, VALUE_TYPES[precision])
    return tuple(ctypes.c_int(value) for value in types)


def sliced_ell(n, entries, layout, precision):
    """The arguments of cusparseCreateSlicedEll for n rows in what `sliced` returns; they point into it."""
    starts, columns, values = layout
    arrays = pointer(starts), pointer(columns), pointer(values)
    return (i64(n), i64(n), i64(entries), i64(columns.size), i64(SLICE), *arrays, *kinds(precision))


class Product:
    """`y = A x` by cusparseSpMV, for a matrix that `create` describes; also a context that gives back what it holds."""

    def __init__(self, library, create, arguments, precision, algorithm, x, y, preprocess):
        self.library, self.arrays = library, (arguments, x, y)
        self.matrix, self.x, self.y = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        kind = ctypes.c_int(VALUE_TYPES[precision])
        library.call(create, ctypes.byref(self.matrix), *arguments)
        library.call("cusparseCreateDnVec", ctypes.byref(self.x), i64(x.size), pointer(x), kind)
        library.call("cusparseCreateDnVec", ctypes.byref(self.y), i64(y.size), pointer(y), kind)
        self.common = (
            library.handle, ctypes.c_int(NON_TRANSPOSE), scalar(precision, 1), self.matrix, self.x, scalar(precision, 0),
            self.y, kind, ctypes.c_int(algorithm),
        )  # fmt: skip
        size = ctypes.c_size_t()
        library.call("cusparseSpMV_bufferSize", *self.common, ctypes.byref(size))
        self.buffer = cupy.empty(size.value + 256, dtype="u1")
        self.preprocess_ms = None
        if preprocess:
            cupy.cuda.runtime.deviceSynchronize()
            start = time.perf_counter()
            library.call("cusparseSpMV_preprocess", *self.common, pointer(self.buffer))
            cupy.cuda.runtime.deviceSynchronize()
            self.preprocess_ms = 1e3 * (time.perf_counter() - start)
        self.function = library.function("cusparseSpMV")
        self.all = (*self.common, pointer(self.buffer))

    def __call__(self):
        if status := self.function(*self.all):
            self.library.check("cusparseSpMV", status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        cupy.cuda.runtime.deviceSynchronize()
        self.library.call("cusparseDestroySpMat", self.matrix)
        self.library.call("cusparseDestroyDnVec", self.x)
        self.library.call("cusparseDestroyDnVec", self.y)


class OldBlockProduct:
    """`y = A x` by cusparse?bsrmv."""

    preprocess_ms = None

    def __init__(self, library, starts, columns, values, precision, b, x, y):
        self.library, self.arrays = library, (starts, columns, values, x, y)
        self.name = "cusparseDbsrmv" if precision == "f64" else "cusparseSbsrmv"
        self.function = library.function(self.name)
        self.matrix = ctypes.c_void_p()
        library.call("cusparseCreateMatDescr", ctypes.byref(self.matrix))
        n = ctypes.c_int(starts.size - 1)
        self.all = (
            library.handle, ctypes.c_int(DIRECTION_ROW), ctypes.c_int(NON_TRANSPOSE), n, n, ctypes.c_int(columns.size),
            scalar(precision, 1), self.matrix, pointer(values), pointer(starts), pointer(columns), ctypes.c_int(b),
            pointer(x), scalar(precision, 0), pointer(y),
        )  # fmt: skip

    def __call__(self):
        if status := self.function(*self.all):
            self.library.check(self.name, status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        cupy.cuda.runtime.deviceSynchronize()
        self.library.call("cusparseDestroyMatDescr", self.matrix)


class Plain:
    """A function as a product."""

    preprocess_ms = None

    def __init__(self, function):
        self.function = function

    def __call__(self):
        self.function()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        cupy.cuda.runtime.deviceSynchronize()


# ------------------------------------------------------------------------------------------------ measuring


def milliseconds(run, samples):
    """The median time of one `run`, by CUDA events."""
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()

    def elapsed(repeats):
        begin.record()
        for _ in range(repeats):
            run()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end) / repeats

    elapsed(WARM_UP)
    repeats = min(MAX_REPEATS, max(1, math.ceil(SAMPLE_MS / max(elapsed(3), 1e-6))))
    return float(np.median([elapsed(repeats) for _ in range(samples)]))


def copy_bandwidth(samples):
    """Gigabytes per second of a copy within the device's memory."""
    free, _ = cupy.cuda.runtime.memGetInfo()
    size = min(COPY_BYTES, free // 4)
    source, target = cupy.ones(size, dtype="u1"), cupy.empty(size, dtype="u1")
    stream = cupy.cuda.get_current_stream().ptr
    copy = cupy.cuda.runtime.memcpyAsync
    ms = milliseconds(lambda: copy(target.data.ptr, source.data.ptr, size, DEVICE_TO_DEVICE, stream), samples)
    return 2 * size / ms / 1e6


class Bench:
    """One matrix on the device, and what has been measured of it."""

    def __init__(self, library, folder, meta, copy, samples):
        self.library, self.copy, self.samples = library, copy, samples
        self.b, self.rows = meta["block_size"], []
        self.row_start = cupy.asarray(np.load(folder / "row_start.npy"))
        self.columns = cupy.asarray(np.load(folder / "columns.npy"))
        self.values = cupy.asarray(np.load(folder / "values.npy"))
        if self.columns.size >= 2**31:
            sys.exit(f"{self.columns.size} entries do not fit the 32-bit offsets that are measured here")
        self.n = self.row_start.size - 1
        # Single precision holds the same vector.
        self.x = cupy.asarray(np.random.default_rng(7).standard_normal(self.n).astype("f4").astype("f8"))
        self.expected = self.cupy_csr(self.values) @ self.x

    def cupy_csr(self, values):
        matrix = cupyx.scipy.sparse.csr_matrix((values, self.columns, self.row_start.astype("i4")), shape=(self.n, self.n))
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix

    def measure(self, variant, precision, stored_bytes, make, y):
        """Adds the row of one variant: `make` makes the product into `y`, or into what it returns."""
        row = {"variant": variant, "precision": precision}
        try:
            y.fill(np.nan)
            with make() as product:
                product()
                cupy.cuda.runtime.deviceSynchronize()
                off = cupy.linalg.norm(y.astype("f8") - self.expected) / cupy.linalg.norm(self.expected)
                row["difference"] = float(off)
                if not row["difference"] <= LIMITS[precision]:
                    raise Failure(f"the product is wrong: its relative difference is {row['difference']:.1e}")
                row["ms"] = milliseconds(product, self.samples)
                row["preprocess_ms"] = product.preprocess_ms
            row["own_bytes"] = stored_bytes + 2 * y.nbytes
            row["own_gb_per_s"] = row["own_bytes"] / row["ms"] / 1e6
            row["own_of_copy"] = row["own_gb_per_s"] / self.copy
            row["gflops"] = 2 * self.columns.size / row["ms"] / 1e6
        except Exception as error:  # whatever a variant stumbles over, the others go on
            row["error"] = f"{type(error).__name__}: {error}"
        self.rows.append(row)
        print(f"  {variant:22} {precision}  {row['ms']:.4f} ms" if "ms" in row else f"  {variant:22} {row['error']}", flush=True)

    def spmv(self, name, create, arguments, precision, algorithm, stored_bytes):
        """A generic product, without and with preprocessing."""
        y = cupy.empty(self.n, dtype=precision.replace("f64", "f8").replace("f32", "f4"))
        x = self.x.astype(y.dtype)
        for preprocess in (False, True):
            self.measure(
                name + ("_preprocess" if preprocess else ""), precision, stored_bytes,
                lambda: Product(self.library, create, arguments, precision, algorithm, x, y, preprocess), y,
            )  # fmt: skip

    def all(self, precision):
        """Every variant in one precision."""
        values = self.values.astype("f8" if precision == "f64" else "f4")
        self.csr(precision, values)
        if self.b > 1:
            self.attempt("bsr", precision, lambda: self.bsr(precision, values))
        free()
        self.attempt("sell32", precision, lambda: self.sell(precision, values))
        free()
        self.attempt("torch_csr", precision, lambda: self.torch_csr(precision, values))
        free()

    def attempt(self, variant, precision, run):
        """Runs what measures some variants; an error before the first of them is its row."""
        before = len(self.rows)
        try:
            run()
        except Exception as error:
            if len(self.rows) == before:
                self.rows.append({"variant": variant, "precision": precision, "error": f"{type(error).__name__}: {error}"})
            print(f"  {variant}: {error}", flush=True)

    def csr(self, precision, values):
        starts, n, nnz = self.row_start.astype("i4"), i64(self.n), i64(self.columns.size)
        stored = starts.nbytes + self.columns.nbytes + values.nbytes
        arrays = pointer(starts), pointer(self.columns), pointer(values)
        arguments = (n, n, nnz, *arrays, *kinds(precision))
        for name, algorithm in (("csr_alg1", CSR_ALG1), ("csr_alg2", CSR_ALG2)):
            self.spmv(name, "cusparseCreateCsr", arguments, precision, algorithm, stored)
        matrix, x = self.cupy_csr(values), self.x.astype(values.dtype)
        y = cupy.empty_like(x)
        self.measure("cupy_csr", precision, stored, lambda: Plain(lambda: cupyx.cusparse.spmv(matrix, x, y)), y)

    def bsr(self, precision, values):
        starts, columns, blocks = blocked(cupy, self.row_start, self.columns, values, self.b)
        stored = starts.nbytes + columns.nbytes + blocks.nbytes
        n, b = i64(starts.size - 1), i64(self.b)
        arrays = pointer(starts), pointer(columns), pointer(blocks)
        arguments = (n, n, i64(columns.size), b, b, *arrays, *kinds(precision), ctypes.c_int(ORDER_ROW))
        self.spmv("bsr_alg1", "cusparseCreateBsr", arguments, precision, BSR_ALG1, stored)
        x = self.x.astype(values.dtype)
        y = cupy.empty_like(x)
        self.measure(
            "bsrmv", precision, stored,
            lambda: OldBlockProduct(self.library, starts, columns, blocks, precision, self.b, x, y), y,
        )  # fmt: skip

    def sell(self, precision, values):
        layout = sliced(cupy, self.row_start, self.columns, values)
        arguments = sliced_ell(self.n, self.columns.size, layout, precision)
        stored = sum(array.nbytes for array in layout)
        self.spmv("sell32", "cusparseCreateSlicedEll", arguments, precision, SELL_ALG1, stored)

    def torch_csr(self, precision, values):
        import torch

        starts, x = self.row_start.astype("i4"), self.x.astype(values.dtype)
        stored = starts.nbytes + self.columns.nbytes + values.nbytes
        parts = [torch.from_dlpack(array) for array in (starts, self.columns, values)]
        matrix, torch_x = torch.sparse_csr_tensor(*parts, size=(self.n, self.n)), torch.from_dlpack(x)
        y = cupy.empty_like(x)
        torch_y = torch.from_dlpack(y)

        def multiply():
            # On the default stream, as CuPy's events are.
            torch.addmv(torch_y, matrix, torch_x, beta=0, out=torch_y)

        self.measure("torch_csr", precision, stored, lambda: Plain(multiply), y)


def free():
    cupy.cuda.runtime.deviceSynchronize()
    cupy.get_default_memory_pool().free_all_blocks()


def start():
    """Loads the library and CuPy."""
    global cupy, cupyx
    # Before CuPy, which then takes the same ones.
    load("libnvJitLink.so.13", "libnvJitLink.so.12", required=False)
    dll = load("libcusparse.so.12", "libcusparse.so.13", "libcusparse.so")
    try:
        import cupy
        import cupyx.cusparse
        import cupyx.scipy.sparse
    except ImportError as error:
        sys.exit(f"CuPy is needed: {error}")
    cupy.cuda.runtime.setDevice(0)
    return Library(dll)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, nargs="?", help="what `warpfem-bench spmv --matrix` has written")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures to this file")
    parser.add_argument("--samples", type=int, default=25, help="samples whose median is reported")
    parser.add_argument("--self-test", action="store_true", help="check the layouts with numpy alone")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if arguments.folder is None:
        parser.error("FOLDER is missing")
    meta = json.loads((arguments.folder / "matrix.json").read_text())
    library = start()
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    copy = copy_bandwidth(arguments.samples)
    free()
    print(f"{meta['problem']}: {meta['dofs']:,} unknowns, copy {copy:.0f} GB/s", flush=True)
    bench = Bench(library, arguments.folder, meta, copy, arguments.samples)
    for precision in ("f64", "f32"):
        bench.all(precision)
    report = {
        "peer": "cusparse",
        "device": properties["name"].decode(),
        "cusparse": library.version,
        "runtime": cupy.cuda.runtime.runtimeGetVersion(),
        "cupy": cupy.__version__,
        **meta,
        "copy_gb_per_s": copy,
        "rows": bench.rows,
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
