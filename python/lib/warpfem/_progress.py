"""How far a solution is."""

from contextlib import contextmanager
from typing import NamedTuple


class Progress(NamedTuple):
    """How far a solution is.

    Attributes
    ----------
    phase : str
        ``"setup"``, ``"assembly"``, ``"solve"``, ..
    share : float
        The part that is done, from 0 to 1.
    iteration : int
        Iterations of this phase.
    error, tolerance : float
        Where the iteration stands, and where it ends; nan outside of iterations.
    case : tuple of int
        The number of the load case, from 1, and of how many.
    """

    phase: str
    share: float
    iteration: int
    error: float
    tolerance: float
    case: tuple[int, int]


@contextmanager
def reporter(progress):
    """What the native solution calls, if anything."""
    if not progress:
        yield None
    elif progress is True:
        from tqdm.auto import tqdm

        with tqdm(total=100, unit="%", bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}") as bar:

            def draw(*stage):
                now = Progress(*stage)
                error = f", error {now.error:.1e}" if now.iteration else ""
                bar.set_description_str(f"{now.phase}{error}", refresh=False)
                bar.update(max(0.0, 100 * now.share - bar.n))

            yield draw
            bar.update(100 - bar.n)
    else:
        yield lambda *stage: progress(Progress(*stage))
