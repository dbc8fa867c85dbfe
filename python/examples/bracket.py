"""A bracket from its mesh to a file: `python bracket.py [DEVICE]`."""

import pathlib
import sys

import warpfem

model = warpfem.Model(pathlib.Path(__file__).parents[2] / "meshes" / "bracket.msh")
model.material(name="steel", young=210e9, poisson=0.3)
model.support(on="bolts", fix="xyz")
model.force(on="tip", total=[0.0, 0.0, -1500.0])
result = model.solve(device=sys.argv[1] if len(sys.argv) > 1 else "auto")
print(f"the tip sinks by {-1e3 * result['displacement'][:, 2].min():.3f} mm on {result.summary['device']}")
print(f"von Mises stress: {result['von_mises_nodal'].max() / 1e6:.1f} MPa; wall: {result.tables['reactions']['bolts']}")
result.save("bracket.vtu")
