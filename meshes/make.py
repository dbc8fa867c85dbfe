#!/usr/bin/env python3
"""Makes the meshes of this folder with Gmsh: `python3 meshes/make.py [name ...]` (all of them without a name).

Coordinates are metres, millimetres for the hook. Options and seeds are fixed and Gmsh runs on one thread, so one version of Gmsh gives the same
files each time. The file formats differ on purpose, so that every reader is used by some example.
"""

import math
import pathlib
import sys

import gmsh
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TET4, TET10, TRI3, QUAD4 = 4, 11, 2, 3
LIMIT_BYTES = 2_000_000

# DSM's node count, the edge length that comes nearest to it (found by bisection, then a scan of the lengths within 3 %),
# the version of the format, whether binary.
CUBES = {
    "cube_463": (463, 0.1596, 2.2, False),
    "cube_1149": (1149, 0.10576, 4.1, False),
    "cube_3419": (3419, 0.06743, 4.1, True),
    "cube_7348": (7348, 0.04983, 4.1, True),
}


def start(name):
    """An empty Gmsh model with the fixed options."""
    gmsh.clear()
    gmsh.model.add(name)
    options = {
        "General.Terminal": 0,
        "General.NumThreads": 1,
        "Mesh.RandomSeed": 1,
        "Mesh.RandomFactor": 1e-9,
        "Mesh.RandomFactor3D": 1e-12,
        "Mesh.ElementOrder": 1,
        "Mesh.Algorithm": 6,
        "Mesh.Algorithm3D": 1,
        "Mesh.Optimize": 1,
        "Mesh.OptimizeNetgen": 0,
        "Mesh.SaveAll": 0,
        "Mesh.MeshSizeExtendFromBoundary": 1,
        "Mesh.MeshSizeFromPoints": 1,
        "Mesh.MeshSizeFromCurvature": 0,
    }
    for key, value in options.items():
        gmsh.option.setNumber(key, value)


def sizes(low, high):
    """Bounds of the edge length."""
    gmsh.option.setNumber("Mesh.MeshSizeMin", low)
    gmsh.option.setNumber("Mesh.MeshSizeMax", high)


def group(dim, tags, name):
    """A named group of the entities `tags` of dimension `dim`; none at all is a mistake in this script."""
    if not len(tags):
        raise SystemExit(f"{gmsh.model.getCurrent()}: nothing in group {name}")
    gmsh.model.addPhysicalGroup(dim, list(tags), name=name)


def faces(test):
    """The surfaces whose bounding box `(xmin, ymin, zmin, xmax, ymax, zmax)` passes `test`."""
    return [tag for dim, tag in gmsh.model.getEntities(2) if test(*gmsh.model.getBoundingBox(dim, tag))]


def cylinders(radius, axis, tolerance=1e-6):
    """The cylindrical surfaces of this radius that span two radii or fewer across `axis` (0, 1, 2)."""
    found = []
    for dim, tag in gmsh.model.getEntities(2):
        if gmsh.model.getType(dim, tag) != "Cylinder":
            continue
        (u0, v0), (u1, v1) = gmsh.model.getParametrizationBounds(dim, tag)
        curvature = gmsh.model.getCurvature(dim, tag, [0.5 * (u0 + u1), 0.5 * (v0 + v1)])[0]
        direction = gmsh.model.getDerivative(dim, tag, [0.5 * (u0 + u1), 0.5 * (v0 + v1)])[3:]
        if abs(abs(curvature) - 1.0 / radius) < tolerance / radius and abs(direction[axis]) > 0.99:
            found.append(tag)
    return found


def rounded_profile(corners):
    """A closed wire in the plane y = 0 through `corners = [(x, z, radius)]`, each corner rounded; returns its face."""
    occ, n, ends, centres = gmsh.model.occ, len(corners), [], []
    for i, (x, z, radius) in enumerate(corners):
        here = np.array([x, z])
        back = np.array(corners[i - 1][:2]) - here
        ahead = np.array(corners[(i + 1) % n][:2]) - here
        back, ahead = back / np.linalg.norm(back), ahead / np.linalg.norm(ahead)
        if radius == 0.0:
            point = occ.addPoint(x, 0.0, z)
            ends.append((point, point, None))
            continue
        half = 0.5 * math.acos(float(np.clip(back @ ahead, -1.0, 1.0)))
        reach = radius / math.tan(half)
        centre = here + (back + ahead) / np.linalg.norm(back + ahead) * radius / math.sin(half)
        a, b = here + reach * back, here + reach * ahead
        points = [occ.addPoint(p[0], 0.0, p[1]) for p in (a, centre, b)]
        ends.append((points[0], points[2], occ.addCircleArc(*points)))
        centres.append(points[1])
    curves = []
    for i in range(n):
        if ends[i][2] is not None:
            curves.append(ends[i][2])
        curves.append(occ.addLine(ends[i][1], ends[(i + 1) % n][0]))
    face = occ.addPlaneSurface([occ.addCurveLoop(curves)])
    occ.remove([(0, centre) for centre in centres])
    return face


def extrude_y(face, y0, y1):
    """The volume swept by a face in y = 0 between two planes."""
    gmsh.model.occ.translate([(2, face)], 0.0, y0, 0.0)
    return [e for e in gmsh.model.occ.extrude([(2, face)], 0.0, y1 - y0, 0.0) if e[0] == 3][0]


def finer_near(surfaces, inside, outside, reach):
    """A background field: edge length `inside` on the surfaces, growing to `outside` at the distance `reach`."""
    field = gmsh.model.mesh.field
    distance, threshold = field.add("Distance"), field.add("Threshold")
    field.setNumbers(distance, "SurfacesList", surfaces)
    field.setNumber(distance, "Sampling", 40)
    bounds = {"SizeMin": inside, "SizeMax": outside, "DistMin": 0.0, "DistMax": reach}
    for key, value in {"InField": distance, **bounds}.items():
        field.setNumber(threshold, key, value)
    field.setAsBackgroundMesh(threshold)
    for option in ("Mesh.MeshSizeExtendFromBoundary", "Mesh.MeshSizeFromPoints"):
        gmsh.option.setNumber(option, 0)


def save(name, version, binary, cells, measure, least):
    """Saves the mesh and prints a line of its figures; too big a file, or a cell of less than the `least` quality, is a
    mistake.

    `cells` are what to call the mesh's cells and their type, `measure` is Gmsh's name of their quality."""
    mesh = gmsh.model.mesh
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", int(binary))
    path = HERE / f"{name}.msh"
    gmsh.write(str(path))
    found, corners = mesh.getElementsByType(cells[1])
    quality = np.array(mesh.getElementQualities(found, measure))
    form = f"{version} {'binary' if binary else 'ASCII'}"
    print(
        f"{name:10} {form:10} nodes {len(np.unique(corners)):6} {cells[0]} {len(found):6} triangles "
        f"{len(mesh.getElementsByType(TRI3)[0]):6} {measure} min {quality.min():.2f} mean {quality.mean():.2f} "
        f"{path.stat().st_size:8} bytes"
    )
    if path.stat().st_size > LIMIT_BYTES or quality.min() < least:
        raise SystemExit(f"{path}: too big or too poor")


def write_plane(name, version, binary):
    """Meshes the model in the plane with quadrangles and saves it."""
    for option, value in {"Mesh.RecombineAll": 1, "Mesh.Algorithm": 8, "Mesh.RecombinationAlgorithm": 3}.items():
        gmsh.option.setNumber(option, value)
    gmsh.model.mesh.generate(2)
    save(name, version, binary, ("quads", QUAD4), "minSICN", 0.3)


def write(name, version, binary, digits=None, order=1):
    """Meshes the model in 3D with elements of the first or second `order`, improves it and saves it.

    `digits` rounds the coordinates to so many decimals, which shortens an ASCII file by half of its node section."""
    mesh = gmsh.model.mesh
    mesh.generate(3)
    mesh.optimize("Netgen")
    mesh.optimize("")
    if order == 2:
        mesh.setOrder(2)
        mesh.optimize("HighOrderElastic")
    if digits is not None:
        tags, coords, _ = mesh.getNodes()
        for tag, x in zip(tags, np.round(coords.reshape(-1, 3), digits) + 0.0):
            mesh.setNode(tag, x, [])
    if order == 2:
        save(name, version, binary, ("quadratic tets", TET10), "minSICN", 0.3)
    else:
        save(name, version, binary, ("tets", TET4), "gamma", 0.1)


def cube_model(name, size):
    """The unit cube with its six faces named.

    The edge length varies by 10 % across the cube: with a constant one the edges' divisions all change at once, and most
    node counts cannot be had."""
    start(name)
    gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
    gmsh.model.occ.synchronize()
    group(3, [1], "body")
    for axis, letter in enumerate("xyz"):
        for end, value in (("min", 0.0), ("max", 1.0)):
            at = lambda *b: abs(b[axis] - value) < 1e-3 and abs(b[axis + 3] - value) < 1e-3
            group(2, faces(at), letter + end)
    field = gmsh.model.mesh.field
    slope = field.add("MathEval")
    field.setString(slope, "F", f"{size} * (0.9 + 0.2 * (x + 2 * y + 3 * z) / 6)")
    field.setAsBackgroundMesh(slope)
    for option in ("Mesh.MeshSizeExtendFromBoundary", "Mesh.MeshSizeFromPoints"):
        gmsh.option.setNumber(option, 0)


def cube(name):
    """DSM's unstructured unit cube."""
    _, size, version, binary = CUBES[name]
    cube_model(name, size)
    write(name, version, binary)


def bracket(name):
    """An L-bracket: legs of 100 mm (up) and 80 mm (out), 60 mm wide, 10 mm thick; fillet of 8 mm, holes of 9 mm."""
    start(name)
    occ, t, width, hole, fillet = gmsh.model.occ, 0.010, 0.060, 0.0045, 0.008
    sharp = [(0.0, 0.0), (0.080, 0.0), (0.080, t), (t, t), (t, 0.100), (0.0, 0.100)]
    leg = extrude_y(rounded_profile([(x, z, fillet if (x, z) == (t, t) else 0.0) for x, z in sharp]), 0.0, width)
    holes = [(3, occ.addCylinder(-t, y, z, 3 * t, 0, 0, hole)) for y in (0.015, 0.045) for z in (0.045, 0.085)]
    occ.cut([leg], holes)
    occ.synchronize()
    bolts, curved = cylinders(hole, 0), cylinders(fillet, 1)
    group(3, [tag for _, tag in gmsh.model.getEntities(3)], "body")
    group(2, bolts, "bolts")
    group(2, curved, "fillet")
    group(2, faces(lambda *b: b[0] > 0.079), "tip")
    group(2, faces(lambda *b: abs(b[2] - t) < 1e-5 and abs(b[5] - t) < 1e-5), "flange")
    finer_near(bolts + curved, 0.0014, 0.0038, 0.020)
    sizes(0.001, 0.01)
    write(name, 4.1, True)


# The hook's sections from the shank to the nose, about 15 mm apart. Down to the bowl: centre (x, z), angle of the centre
# line, depth in the plane of the hook, width across. Round the bowl: angle from its centre, depth, width.
HOOK_SHANK = [
    (0.0, 150.0, -90, 30.0, 29.99), (0.0, 135.0, -90, 30.0, 29.99), (0.0, 120.0, -90, 30.0, 29.99),
    (0.0, 105.0, -90, 30.0, 29.99), (2.5, 90.0, -76, 30.5, 29.5), (8.5, 76.0, -63, 31.5, 29.0),
    (16.0, 62.5, -59, 33.0, 28.5), (24.0, 49.5, -58, 34.5, 28.0), (32.0, 35.5, -62, 36.0, 27.0),
]
HOOK_BOWL = [
    (25, 37.0, 26.5), (5, 38.0, 26.0), (-15, 39.0, 26.0), (-35, 38.5, 26.0), (-55, 37.0, 25.5), (-75, 35.0, 25.0),
    (-95, 33.0, 24.0), (-115, 30.5, 23.0), (-135, 28.0, 22.0), (-157, 25.0, 20.5), (-180, 22.0, 19.0), (-203, 20.0, 18.0),
]


def ellipse(x, z, degrees, depth, width):
    """A wire round (x, 0, z), across the direction `degrees` in the plane y = 0: four arcs, the first on the inside."""
    dx, dz = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    arcs = [
        gmsh.model.occ.addEllipse(x, 0, z, 0.5 * depth, 0.5 * width, angle1=middle - math.pi / 4,
                                  angle2=middle + math.pi / 4, zAxis=[dx, 0, dz], xAxis=[dz, 0, -dx])
        for middle in 0.5 * math.pi * np.arange(4)
    ]
    return gmsh.model.occ.addWire(arcs)


def hook(name):
    """A crane hook in millimetres, of quadratic tetrahedra: a shank of 30 mm, a bowl of radius 25 mm round the origin."""
    start(name)
    occ, bowl = gmsh.model.occ, 25.0
    sections = list(HOOK_SHANK)
    for degrees, depth, width in HOOK_BOWL:
        radius, angle = bowl + 0.5 * depth, math.radians(degrees)
        sections.append((radius * math.cos(angle), radius * math.sin(angle), degrees - 90, depth, width))
    wires = [ellipse(*section) for section in sections]
    occ.addThruSections(wires, makeSolid=True, maxDegree=8, continuity="C2", parametrization="ChordLength", smoothing=True)
    occ.synchronize()
    nose = faces(lambda *b: b[5] - b[2] < 12.0 and b[2] < 100.0)
    rim = [tag for _, tag in gmsh.model.getBoundary([(2, tag) for tag in nose], oriented=False)]
    body = occ.fillet([1], rim, [6.0])
    # The rope lies on the inside of the bowl, 25 degrees to each side of its lowest point.
    cuts = []
    for degrees in (-65, -115):
        cut = occ.addRectangle(15, -30, 0, 60, 60)
        occ.rotate([(2, cut)], 0, 0, 0, 0, 1, 0, -math.radians(degrees))
        cuts.append((2, cut))
    pieces, _ = occ.fragment(body, cuts)
    occ.remove([(dim, tag) for dim, tag in pieces if dim == 2], recursive=True)
    occ.synchronize()
    volumes = gmsh.model.getEntities(3)
    skin = [tag for _, tag in gmsh.model.getBoundary(volumes, oriented=False)]
    group(3, [tag for _, tag in volumes], "body")
    group(2, faces(lambda *b: b[2] > 149.9), "shank")
    group(2, [tag for tag in skin if np.linalg.norm(np.subtract(occ.getCenterOfMass(2, tag), (0, 0, -bowl))) < 2.0], "saddle")
    sizes(4.2, 4.2)
    write(name, 4.1, True, order=2)


def vase(name):
    """A vase 250 mm high with a wall of 2 mm and a bottom of 5 mm, turned about the z axis."""
    start(name)
    occ, wall, bottom = gmsh.model.occ, 0.002, 0.005
    outline = [(0.040, 0.0), (0.062, 0.045), (0.070, 0.095), (0.052, 0.155), (0.030, 0.205), (0.044, 0.250)]
    outer = [occ.addPoint(r, 0, z) for r, z in outline]
    inner = [occ.addPoint(r - wall, 0, max(z, bottom)) for r, z in outline]
    axis = [occ.addPoint(0, 0, 0), occ.addPoint(0, 0, bottom)]
    curves = [
        occ.addLine(axis[0], outer[0]),
        occ.addSpline(outer),
        occ.addLine(outer[-1], inner[-1]),
        occ.addSpline(inner[::-1]),
        occ.addLine(inner[0], axis[1]),
        occ.addLine(axis[1], axis[0]),
    ]
    profile = occ.addPlaneSurface([occ.addCurveLoop(curves)])
    occ.revolve([(2, profile)], 0, 0, 0, 0, 0, 1, 2 * math.pi)
    occ.remove([(2, profile)])
    occ.synchronize()
    group(3, [tag for _, tag in gmsh.model.getEntities(3)], "body")
    group(2, faces(lambda *b: b[5] < 1e-4), "base")
    group(2, faces(lambda *b: b[2] > 0.2499), "rim")
    floor = faces(lambda *b: abs(b[2] - bottom) < 1e-4 and abs(b[5] - bottom) < 1e-4)
    walls = faces(lambda *b: b[2] > bottom - 1e-3 and b[5] - b[2] > 0.2)
    group(2, floor + walls, "inside")
    sizes(0.0047, 0.0047)
    write(name, 4.1, True)


def car(name):
    """A car-like body of 4.2 x 1.7 x 1.3 m: hollow cabin with windows, four wheel arches, rounded edges."""
    start(name)
    occ, width, arch = gmsh.model.occ, 1.7, 0.36
    side = [
        (0.0, 0.20, 0.06), (4.2, 0.20, 0.06), (4.2, 0.85, 0.10), (3.75, 0.95, 0.10), (3.05, 1.48, 0.15),
        (1.75, 1.50, 0.15), (1.05, 0.98, 0.10), (0.0, 0.75, 0.12),
    ]
    cabin = [
        (1.30, 0.45, 0.08), (3.40, 0.45, 0.08), (3.45, 0.95, 0.05), (2.97, 1.36, 0.10), (1.83, 1.38, 0.10),
        (1.32, 0.98, 0.05),
    ]
    pane = [(1.42, 0.98, 0.04), (2.28, 0.98, 0.04), (2.28, 1.31, 0.04), (1.86, 1.31, 0.06)]
    rear_pane = [(2.46, 0.98, 0.04), (3.30, 0.98, 0.04), (2.93, 1.31, 0.06), (2.46, 1.31, 0.04)]
    body = extrude_y(rounded_profile(side), 0.0, width)
    tools = [extrude_y(rounded_profile(cabin), 0.14, width - 0.14)]
    tools += [extrude_y(rounded_profile(p), -0.1, width + 0.1) for p in (pane, rear_pane)]
    for x in (0.80, 3.45):
        tools += [(3, occ.addCylinder(x, y, 0.20, 0, 0.35, 0, arch)) for y in (-0.1, width - 0.25)]
    occ.synchronize()
    # The side edges above the sills, rounded before anything is cut.
    edges = [tag for dim, tag in gmsh.model.getBoundary([body], combined=False, oriented=False, recursive=False)
             for dim, tag in gmsh.model.getBoundary([(dim, tag)], oriented=False) if side_edge(tag, width)]
    body = occ.fillet([body[1]], sorted(set(edges)), [0.05])[0]
    occ.cut([body], tools)
    occ.synchronize()
    group(3, [tag for _, tag in gmsh.model.getEntities(3)], "body")
    group(2, cylinders(arch, 1), "wheels")
    group(2, faces(lambda *b: b[2] > 1.42 and b[3] - b[0] > 0.8), "roof")
    group(2, faces(lambda *b: b[3] < 1e-3), "front")
    sizes(0.04, 0.0801)
    write(name, 4.1, False, digits=5)


def side_edge(tag, width):
    """Whether a curve lies in one of the planes y = 0 and y = width."""
    box = gmsh.model.getBoundingBox(1, tag)
    return any(abs(box[1] - y) < 1e-5 and abs(box[4] - y) < 1e-5 for y in (0.0, width))


def hole(name):
    """A quarter of a plate of 200 x 200 mm with a hole of radius 10 mm in its middle, in the plane z = 0."""
    start(name)
    occ, half, radius = gmsh.model.occ, 0.100, 0.010
    plate = occ.addRectangle(0, 0, 0, half, half)
    occ.cut([(2, plate)], [(2, occ.addDisk(0, 0, 0, radius, radius))])
    occ.synchronize()
    curves = {tag: gmsh.model.getBoundingBox(1, tag) for _, tag in gmsh.model.getEntities(1)}
    along = lambda test: [tag for tag, box in curves.items() if test(*box)]
    rim = along(lambda *b: b[3] < 1.1 * radius and b[4] < 1.1 * radius)
    group(2, [tag for _, tag in gmsh.model.getEntities(2)], "plate")
    group(1, along(lambda *b: b[3] < 1e-5), "symmetry_x")
    group(1, along(lambda *b: b[4] < 1e-5), "symmetry_y")
    group(1, along(lambda *b: b[0] > half - 1e-5), "pulled")
    group(1, rim, "rim")
    field = gmsh.model.mesh.field
    size = field.add("MathEval")
    field.setString(size, "F", f"0.0007 + 0.05 * (Sqrt(x * x + y * y) - {radius})")
    field.setAsBackgroundMesh(size)
    for option in ("Mesh.MeshSizeExtendFromBoundary", "Mesh.MeshSizeFromPoints"):
        gmsh.option.setNumber(option, 0)
    write_plane(name, 4.1, False)


def ring(name):
    """Triangles between circles of radius 1 and 2 m round the origin, in the plane z = 0; coarse ones of twice the size."""
    size = 0.24 if name == "ring_coarse" else 0.12
    start(name)
    occ = gmsh.model.occ
    occ.cut([(2, occ.addDisk(0, 0, 0, 2, 2))], [(2, occ.addDisk(0, 0, 0, 1, 1))])
    occ.synchronize()
    sizes(size, size)
    curves = [tag for _, tag in gmsh.model.getEntities(1)]
    is_inner = lambda tag: gmsh.model.getBoundingBox(1, tag)[3] < 1.5
    group(2, [tag for _, tag in gmsh.model.getEntities(2)], "body")
    group(1, [tag for tag in curves if is_inner(tag)], "inner")
    group(1, [tag for tag in curves if not is_inner(tag)], "outer")
    gmsh.model.mesh.generate(2)
    save(name, 4.1, True, ("triangles", TRI3), "gamma", 0.5)


MAKERS = {**dict.fromkeys(CUBES, cube), "bracket": bracket, "hook": hook, "vase": vase, "car": car, "hole": hole}
MAKERS |= dict.fromkeys(("ring", "ring_coarse"), ring)


def main(names):
    """Makes the named meshes."""
    unknown = [n for n in names if n not in MAKERS]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join(MAKERS)}")
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    for name in names or MAKERS:
        MAKERS[name](name)
    gmsh.finalize()


if __name__ == "__main__":
    main(sys.argv[1:])
