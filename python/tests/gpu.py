"""What needs a GPU: `python python/tests/gpu.py`, with the wheel installed. CuPy, PyTorch and JAX are tested where they
are.

It is no test of pytest's, which would skip it without a GPU and look green.
"""

import importlib.util
import pathlib
import sys
import threading
import time

import numpy as np

import warpfem

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from conftest import MESHES, beam  # noqa: E402


def has(package):
    return importlib.util.find_spec(package) is not None


def the_bracket_as_on_the_cpu():
    model = warpfem.Model.read(MESHES / "bracket.toml")
    on_gpu, on_cpu = model.solve("cuda"), model.solve("cpu")
    u = on_cpu["displacement"]
    np.testing.assert_allclose(on_gpu["displacement"], u, atol=1e-4 * abs(u).max())
    assert "cpu" not in on_gpu.summary["device"], on_gpu.summary["device"]
    assert model.solve("auto").summary["device"] == on_gpu.summary["device"]
    return on_gpu


def arrays_on_the_gpu(result):
    values = result.on_device("displacement")
    interface = values.__cuda_array_interface__
    assert interface["shape"] == result["displacement"].shape and interface["typestr"] == "<f8"
    if has("torch"):
        import torch

        there = torch.as_tensor(values, device="cuda")
        assert there.data_ptr() == interface["data"][0]
        np.testing.assert_array_equal(there.cpu().numpy(), result["displacement"])
        assert (
            torch.as_tensor(result.on_device("von_mises_nodal"), device="cuda").max().item()
            == result["von_mises_nodal"].max()
        )
        print("  torch reads it where it is")
    if has("cupy"):
        import cupy

        there = cupy.asarray(values)
        assert there.data.ptr == interface["data"][0]
        np.testing.assert_array_equal(there.get(), result["displacement"])
        print("  cupy reads it where it is")
    if has("jax"):
        import jax

        np.testing.assert_allclose(np.asarray(jax.numpy.asarray(values)), result["displacement"], rtol=1e-6)
        print("  jax reads it")
    # Memory goes back, from whatever thread.
    kept = [result.on_device("displacement") for _ in range(50)]
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()


def two_at_once():
    models = [beam((20, 6, 6)), beam((16, 5, 5))]
    alone = [model.solve("cuda")["displacement"] for model in models]
    found = [None] * 2

    def solve(i):
        found[i] = models[i].solve("cuda")["displacement"]

    threads = [threading.Thread(target=solve, args=(i,)) for i in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for one, other in zip(alone, found):
        np.testing.assert_allclose(one, other, atol=1e-5 * abs(one).max())


def operators():
    model = beam((20, 6, 6))
    K, on_cpu = model.stiffness("cuda"), model.stiffness("cpu")
    x = np.random.default_rng(0).normal(size=K.shape[0])
    np.testing.assert_allclose(K @ x, on_cpu @ x, atol=1e-10 * abs(on_cpu @ x).max())
    np.testing.assert_allclose(K.solve(), on_cpu.solve(), atol=1e-5 * abs(on_cpu.solve()).max())
    for each in (K, on_cpu):
        each.scale(np.linspace(0.1, 1.0, each.n_elements))
    u = K.solve()
    np.testing.assert_allclose(K.energies(u), on_cpu.energies(u), rtol=1e-9)
    M = warpfem.amg(on_cpu.tobsr(), points=model.mesh.points, device="cuda")
    b = on_cpu.load
    np.testing.assert_allclose(on_cpu @ M.solve(b), b, atol=1e-6 * abs(b).max())


def a_million_elements(steps=5):
    spec = importlib.util.spec_from_file_location("simp", pathlib.Path(__file__).parents[1] / "examples" / "simp.py")
    simp = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(simp)
    start = time.monotonic()
    _, compliances = simp.optimise((200, 50, 100), "cuda", steps=steps)
    print(f"  topology optimisation, 1,000,000 elements: {(time.monotonic() - start) / steps:.2f} s a step")
    assert compliances[-1] < compliances[0]


def main():
    print("the bracket")
    result = the_bracket_as_on_the_cpu()
    print("arrays")
    arrays_on_the_gpu(result)
    print("two at once")
    two_at_once()
    print("operators")
    operators()
    print("a million elements")
    a_million_elements()
    print("all is well")


if __name__ == "__main__":
    main()
