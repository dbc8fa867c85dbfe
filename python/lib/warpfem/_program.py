"""The program `warpfem`."""

import sys

from ._warpfem import main as _main


def main():
    """Run the program on the words of the command line."""
    sys.exit(_main(sys.argv))
