"""Applies each patch of docs/extending.md alone to a copy of the tree as it is in the index, counts the files that it touches, then
applies all of them to one copy and checks that it compiles with its tests.

    python3 tests/docs/patches.py [--apply | --test]

With `--apply` nothing is built; with `--test` the `cargo test` commands that stand beside the patches are run, which takes some ten
minutes. The copy is built in a target folder of its own (`CARGO_TARGET_DIR`, or target/patched): in the tree's, cargo would take
what is made of the copy for what is made of the tree. The PTX stays that of the tree. The library is not optimised: to compile it
takes longer than these tests.
Fails where a patch does not apply, touches more files besides tests and docs than it may, or a command fails.
"""
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = {
    "An element": 2, "A material law": 2, "An analysis": 2, "A storage format": 3, "A preconditioner": 2, "An output field": 2, "A table": 2,
}


def chapters():
    """The title of each chapter with a patch, the patch, and the commands that test it."""
    text = (ROOT / "docs/extending.md").read_text()
    for chapter in re.split(r"(?m)^## ", text)[1:]:
        patch = "".join(re.findall(r"(?ms)^```diff\n(.*?)^```", chapter))
        if patch:
            yield chapter.splitlines()[0], patch, re.findall(r"(?m)^cargo test .*$", chapter)


def apply(patch, folder):
    return subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=folder).returncode == 0


def check(title, patch, commands):
    """What is wrong with a patch, in words."""
    files = [name for name in re.findall(r"(?m)^\+\+\+ b/(\S+)", patch) if not name.startswith(("tests/", "docs/"))]
    if len(files) > MOST_FILES[title]:
        return f"touches {len(files)} files, more than {MOST_FILES[title]}: {', '.join(files)}"
    if not commands:
        return "has no command that tests it"
    with TemporaryDirectory() as copy:
        subprocess.run(["git", "checkout-index", "-a", f"--prefix={copy}/"], cwd=ROOT, check=True)
        return None if apply(patch, copy) else "does not apply"


def build(found, run_tests):
    """What is wrong with all patches together, in words."""
    tests = dict.fromkeys(command for *_, commands in found for command in commands)
    environment = {"CARGO_TARGET_DIR": str(ROOT / "target/patched"), **os.environ, "CUDA_BUILDER": "keep"}
    with TemporaryDirectory() as copy:
        subprocess.run(["git", "checkout-index", "-a", f"--prefix={copy}/"], cwd=ROOT, check=True)
        for title, patch, _ in found:
            if not apply(patch, copy):
                return [f"{title}: does not apply after those before it"]
        wrong = []
        for command in tests if run_tests else ["cargo check --workspace --tests"]:
            start = time.monotonic()
            words = command.split()
            words[1:1] = ["--config", "profile.dev.package.warpfem.opt-level=0"]
            done = subprocess.run(words, cwd=copy, env=environment, text=True, capture_output=True)
            passed = sum(map(int, re.findall(r"(\d+) passed", done.stdout)))
            print(f"{command}: {passed} passed, {time.monotonic() - start:.0f} s", flush=True)
            if done.returncode or (run_tests and not passed):
                wrong.append(f"`{command}` fails with the patches:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return wrong


def main():
    found = list(chapters())
    wrong = [f"{title}: {why}" for title, *rest in found if (why := check(title, *rest))]
    missing = MOST_FILES.keys() - {title for title, *_ in found}
    wrong += [f"{title}: has no patch" for title in sorted(missing)]
    if not wrong and sys.argv[1:] != ["--apply"]:
        wrong = build(found, sys.argv[1:] == ["--test"])
    sys.exit("\n".join(wrong) or None)


main()
