"""What each format's product does to the memory: counters of Nsight Compute, one product per format.

    python3 docs/benchmarks/counters.py WARPFEM-BENCH -o FILE.json -- PROBLEM..        # for example: -- --element tet4 --cells 60

PROBLEM is what `warpfem-bench spmv` takes. Needs ncu on the path and the right to read counters. The clocks are left as
they are, so times are not taken from here.
"""

import argparse
import csv
import io
import json
import pathlib
import subprocess
import sys

FORMATS = "dense dense_block csr csr_vector bcsr ell_row ell ell_warp sell bell ebw".split()
METRICS = {
    "dram_sectors_read": "dram__sectors_read.sum",
    "dram_sectors_written": "dram__sectors_write.sum",
    "l2_sectors_read": "lts__t_sectors_op_read.sum",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_percent": "lts__t_sector_hit_rate.pct",
    "dram_percent_of_peak": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "multiprocessor_percent_of_peak": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
}
# Products before the one that is counted: caches are as they are in an iteration.
SKIPPED = 4


def counters(binary, problem, name):
    """The counters of one product in the format of this name."""
    command = ["ncu", "--csv", "--clock-control", "none", "-k", "regex:^spmv_", "-s", str(SKIPPED), "-c", "1"]
    command += ["--cache-control", "none", "--metrics", ",".join(METRICS.values())]
    command += [binary, "spmv", *problem, "--device", "cuda", "--format", name, "--samples", "2"]
    out = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    lines = [line for line in out.stdout.splitlines() if line.startswith('"')]
    found = {row["Metric Name"]: row["Metric Value"] for row in csv.DictReader(io.StringIO("\n".join(lines)))}
    if not found:
        raise RuntimeError(out.stdout[-500:] + out.stderr[-500:])
    return {"format": name} | {key: float(found[metric].replace(",", "")) for key, metric in METRICS.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("problem", nargs="+")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.formats.split(","):
        try:
            rows.append(counters(arguments.binary, arguments.problem, name))
            print(rows[-1], flush=True)
        except (RuntimeError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
            print(f"{name}: {error}", file=sys.stderr)
    figures = {"counters": "Nsight Compute", "problem": " ".join(arguments.problem), "rows": rows}
    arguments.output.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
