"""SBELL's figures made again: speed of six formats on matrices of four elements, slice sizes, storage."""

from figures import PRECISIONS, library, main_products, row_of, title
from markdown import count, number, percent, ratio, table
from products import library_gflops

# The name and unknowns of its matrices, and what it reports: SBELL over cuSPARSE's CSR and over SELL, f64 of f32.
MATRICES = {
    "tri3": ("tri", 1_060_112, 2.98, 1.2472, 0.544),
    "quad4": ("quad", 321_602, 5.52, 1.2378, 0.573),
    "tet4": ("tet", 624_579, 1.94, 1.7222, 0.748),
    "hex8": ("hex", 499_125, 2.22, 1.2486, 0.511),
}
FORMATS = "csr", "csr_vector", "ell", "sell", "bell", "ebw"
SLICES = "ebw", "ebw64", "ebw128"
# Unstructured meshes of at least so many unknowns stand beside its four.
LARGE = 2_000_000
# How near its ratios must be met, as a share of them.
SLACK = 0.1


def compared(run, precision):
    """For each of its matrices the problem of the same element nearest in size; and large meshes from files."""
    found = []
    ones = [one for one in main_products(run) if one["precision"] == precision and row_of(one, "ebw") and row_of(one, "sell")]
    for element, (name, unknowns, *_) in MATRICES.items():
        same = [one for one in ones if one["problem"].startswith(f"{element} ")]
        if same:
            found.append((name, element, min(same, key=lambda one: abs(one["dofs"] - unknowns))))
    return found + [(None, None, one) for one in ones if " " not in one["problem"] and one["dofs"] > LARGE]


def sizes_table(run):
    rows = []
    for name, element, one in compared(run, "f64"):
        nonzeros = one["blocks"] * one["block_size"] ** 2
        theirs = count(MATRICES[element][1]) if element else "-"
        rows.append([name or "-", theirs, title(one), count(one["dofs"]), count(nonzeros), f"{nonzeros / one['dofs']:.1f}"])
    return table(["SBELL's matrix", "unknowns", "here", "unknowns", "entries", "per row"], rows)


def speed_tables(run):
    out = ""
    for precision in PRECISIONS:
        rows = [
            [
                title(one), number(library_gflops(run, one, "csr_alg")),
                *(number(row_of(one, name).get("gflops")) for name in FORMATS),
            ]
            for _, _, one in compared(run, precision)
        ]  # fmt: skip
        if rows:
            heads = ["GFLOP/s, " + precision, "cuSPARSE CSR", "CSR", "CSR-vector", "ELL", "SELL", "BELL", "SBELL (ebw)"]
            out += "\n" + table(heads, rows)
    return out


def met(found, claimed):
    if found is None:
        return "-"
    if abs(found / claimed - 1) <= SLACK:
        return "confirmed"
    return "refuted: more" if found > claimed else "refuted: less"


def ratios_table(run):
    """Its three ratios, each beside ours in double precision."""
    single = {one["problem"]: one for _, _, one in compared(run, "f32")}
    rows = []
    for _, element, one in compared(run, "f64"):
        ours = row_of(one, "ebw")["spmv_ms"]
        csr, sell = library(run, one, "csr_alg"), row_of(one, "sell")["spmv_ms"]
        half = row_of(single.get(one["problem"]), "ebw").get("spmv_ms")
        values = [csr / ours if csr else None, sell / ours, half / ours if half else None]
        claimed = MATRICES[element][2:] if element else [None] * 3
        for what, value, claim in zip(("over cuSPARSE's CSR", "over SELL", "of its speed in f32"), values, claimed, strict=True):
            rows.append([f"{title(one)}: {what}", number(claim), number(value), met(value, claim) if claim else "-"])
    return table(["SBELL's product in f64", "SBELL", "here", "verdict"], rows, ("verdict",))


def slices_table(run):
    heads, rows = ["slice of"], []
    for precision in PRECISIONS:
        heads += [f"{name.removeprefix('ebw') or '32'}, {precision}" for name in SLICES]
    both = [{one["problem"]: one for _, _, one in compared(run, precision)} for precision in PRECISIONS]
    for problem, one in both[0].items():
        rows.append([title(one), *(number(row_of(ones.get(problem), name).get("gflops")) for ones in both for name in SLICES)])
    return table(heads, rows)


def storage_table(run):
    """Entries stored over CSR's, and bytes over CSR's."""
    rows = []
    for _, _, one in compared(run, "f64"):
        csr = row_of(one, "csr").get("stored_bytes")
        cells = []
        for name in FORMATS[2:]:
            row = row_of(one, name)
            cells.append(f"{row['padding']:.3f} ({ratio(row['stored_bytes'], csr)})" if row else "-")
        rows.append([title(one), *cells])
    return table(["entries (bytes)", "ELL", "SELL", "BELL", "SBELL (ebw)"], rows)


def sbell(run):
    """The whole section."""
    if not compared(run, "f64"):
        return ""
    return (
        "SBELL's product is `ebw` here. Its matrices are not published; compared are generated meshes of the same elements, of all that were "
        "measured those nearest in unknowns, and large unstructured meshes. Generated meshes are regular, its triangles and "
        "tetrahedra are not (SBELL: GeForce GT430, f64).\n\n"
        f"{sizes_table(run)}{speed_tables(run)}\n"
        f"Confirmed is within {percent(SLACK)} of what it reports. cuSPARSE is that of today. On this GPU the bytes of an entry and its index "
        "decide: SBELL over SELL is 12 B to 8.4 B in space (1.42) and to 9 B in the plane (1.33), where both run at the "
        "bandwidth of the memory; f64 over f32 is 4.4 B to 8.4 B (0.53) and 5 B to 9 B (0.56).\n\n"
        f"{ratios_table(run)}\nGFLOP/s by slice (SBELL: 32 is best, 128 worst):\n\n{slices_table(run)}\n"
        "Storage over CSR's, as its table 2: entries stored, padding included, and in brackets all bytes stored, indices "
        f"included (f64).\n\n{storage_table(run)}"
    )
