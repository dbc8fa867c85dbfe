#!/usr/bin/env python3
"""Mutants of linear decks that ccx and warpfem agree on: what is still answered must still agree.

    mutants.py BINARY [N | FIRST-LAST] [NAME ..]    N mutants (default 200) of small decks of CalculiX's suite, or of those named

A mutant is a deck with one to three changes: a number, a name or a line. It is made of its number, so that it can be made
again. Each is refused, answered as ccx does, or told: answered where ccx refuses, or differently. Exit 1 if a mutant is
answered differently or crashes a program. Needs what suite.py needs.
"""

import collections
import pathlib
import random
import re
import sys
import tempfile

import suite

# Larger decks take long in ccx.
LARGEST = 60_000
# Elements of another formulation in ccx: distorted they differ, and so do films; increments that it chooses are others.
DIFFERENT = re.compile(r"TYPE *= *C(3D6|3D15|PS|PE|AX)|^\*FILM|^\*HEAT *TRANSFER *$", re.I | re.M)


def mutant(text, number):
    """A deck with changes."""
    draw = random.Random(number)
    lines = text.splitlines()
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(lines))
        words = list(re.finditer(r"[^,=\s*]+", lines[at]))
        change = draw.choice(["number", "number", "number", "number", "word", "drop", "twice", "swap", "character"])
        if change in ("number", "word") and words:
            word = draw.choice(words)
            other = draw.choice(lines)
            others = re.findall(r"[^,=\s*]+", other) or ["7"]
            new = draw.choice(others) if change == "word" else changed(word[0], draw)
            lines[at] = lines[at][: word.start()] + new + lines[at][word.end():]
        elif change == "drop":
            del lines[at]
        elif change == "twice":
            lines.insert(at, lines[at])
        elif change == "swap":
            with_ = draw.randrange(len(lines))
            lines[at], lines[with_] = lines[with_], lines[at]
        elif change == "character" and lines[at]:
            k = draw.randrange(len(lines[at]))
            lines[at] = lines[at][:k] + draw.choice("0123456789,.-E*= \tA") + lines[at][k + 1:]
    return "\n".join(lines) + "\n"


def changed(word, draw):
    """Another number, if it is one."""
    try:
        if re.fullmatch(r"\d+", word):
            return str(max(0, int(word) + draw.choice([-1, 1, 2, 7])))
        # ccx reads 20 characters of a number.
        return f"{float(word.replace('D', 'E')) * draw.choice([-1.0, 0.0, 0.9, 1.1, 2.0]):.9g}"
    except ValueError:
        return word


def main():
    binary, asked = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else "200"
    first, last = map(int, asked.split("-")) if "-" in asked else (0, int(asked) - 1)
    names = sys.argv[3:] or sorted(path.name.split(".inp")[0] for path in suite.DECKS.glob("*.inp*"))
    texts = {name: suite.text_of(name) for name in names}
    fits = lambda text: len(text) < LARGEST and not suite.why_not(text) and not DIFFERENT.search(text)  # noqa: E731
    texts = {name: text for name, text in texts.items() if fits(text)}
    tally, names = collections.Counter(), sorted(texts)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        suite.unpack(folder, names)
        for number in range(first, last + 1):
            name = names[number % len(names)]
            text = mutant(texts[name], number)
            (folder / "mutant.inp").write_text(text)
            for left in folder.glob("*/mutant.*"):
                left.unlink()
            word, shown = suite.solve(binary, "mutant", folder)
            tally[word] += 1
            if word not in ("refused", "agrees"):
                kept = pathlib.Path(tempfile.gettempdir()) / "mutants"
                kept.mkdir(exist_ok=True)
                (kept / f"{number}.inp").write_text(text)
                print(f"{number:6} {name:14} {word:8} {shown}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in tally.items()))
    return bool(tally["differs"] or tally["crashed"])


if __name__ == "__main__":
    sys.exit(main())
