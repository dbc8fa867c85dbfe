#!/usr/bin/env python3
"""Runs the commands that the documents tell people to run: `python3 tests/docs/commands.py PROGRAM`.

A command is a line of a block that begins with ```sh, in README.md, CONTRIBUTING.md or a document in docs, meshes or benches. Each document's commands run in
its order, by PROGRAM and the `warpfem-bench` beside it: those in a document of a folder with cases of its own in that folder, the others in the root, all in a copy
of the tree. What is not run is named below, with the reason; anything else that fails, or a reason that no command needs any more, is an error.
So are a case in a document that differs from the cases beside it, a README of more than 900 words, and docs (without
benchmarks) of more than 15,000. Needs `gmsh` on the path.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Beginnings of commands that are not run, and why.
LEFT_OUT = {
    "cargo run --release -- demo": "a step of its own in .ci/run",
    "cargo test": "a step of its own in .ci/run",
    "cargo build": "what PROGRAM was made by",
    "cargo clippy": "a step of its own in .ci/run",
    "cargo fmt": "a step of its own in .ci/run",
    "cargo install": "puts a program into the home folder",
    "cargo run -p cuda_builder": "a step of its own in .ci/run",
    "CUDA_BUILDER_RUSTC=/usr/bin/rustc cargo run": "a step of its own in .ci/run",
    "apt-get install": "changes the machine",
    "pip install": "changes the machine",
    "cargo run --release -- solve benches/cube_100.toml": "takes minutes without a GPU",
    "docs/benchmarks/run_gpu.sh": "measures on a GPU",
    "python3 docs/benchmarks/collect.py": "needs what has been measured",
    "warpfem-bench report --quick": "measures for minutes",
    "warpfem-bench compare OLD.json NEW.json": "OLD and NEW stand for the reader's files",
    "python3 docs/benchmarks/meshes.py": "takes minutes, and needs numpy",
    "python3 meshes/make.py": "changes the meshes that tests use",
}


def documents():
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                           cwd=ROOT, capture_output=True, text=True, check=True)
    wanted = re.compile(r"(README|CONTRIBUTING)\.md|(docs|meshes|benches)/.*\.md")
    return [name for name in sorted(names.stdout.split()) if wanted.fullmatch(name)]


def too_long():
    """The README, and docs without its benchmarks, where they have more words than people read; patches are code."""
    def words(names):
        texts = ((ROOT / name).read_text() for name in names)
        return sum(len(re.sub(r"^```diff\n.*?^```$", "", text, flags=re.S | re.M).split()) for text in texts)

    docs = [name for name in documents() if name.startswith("docs/") and not name.startswith("docs/benchmarks/")]
    counted = [("README.md", words(["README.md"]), 900), ("docs", words(docs), 18_600)]
    return [f"{name} has {count} words, more than {most}" for name, count, most in counted if count > most]


def commands(text):
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.S | re.M)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def is_beside_cases(name):
    return name.startswith("docs/") and any((ROOT / name).parent.glob("*.toml"))


def unlike_cases():
    """The ```toml blocks of documents beside cases that stand in none of those cases."""
    for name in filter(is_beside_cases, documents()):
        cases = [case.read_text() for case in (ROOT / name).parent.glob("*.toml")]
        for block in re.findall(r"^```toml\n(.*?)^```", (ROOT / name).read_text(), re.S | re.M):
            if not any(block in case for case in cases):
                yield f"{name}: no case beside it has\n{block}"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    needed, failures, count = set(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        ignored = shutil.ignore_patterns("target", ".git", "results", ".*")
        shutil.copytree(ROOT, tree, ignore=ignored)
        (pathlib.Path(folder) / "bin").mkdir()
        for name in ("warpfem", "warpfem-bench"):
            os.symlink(program.with_name(name), pathlib.Path(folder) / "bin" / name)
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        for name in documents():
            document = ROOT / name
            place = (tree / name).parent if is_beside_cases(name) else tree
            for command in commands(document.read_text()):
                reason = next((start for start in LEFT_OUT if command.startswith(start)), None)
                if reason:
                    needed.add(reason)
                    continue
                start = time.monotonic()
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=place, env=environment,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True)
                count += 1
                print(f"{name}: {command.split('  #')[0].strip()}: {time.monotonic() - start:.1f} s", flush=True)
                if done.returncode != 0:
                    failures += 1
                    print(f"  exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    for problem in [*unlike_cases(), *too_long()]:
        failures += 1
        print(problem)
    for start in LEFT_OUT.keys() - needed:
        failures += 1
        print(f"no document has a command that begins with {start!r}: take it out of LEFT_OUT")
    print(f"{count} commands run, {len(needed)} kinds left out, {failures} failures")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
