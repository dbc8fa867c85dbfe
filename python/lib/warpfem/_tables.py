"""The tables of a case: what each is for, and its keys. docs/case-file.md says what they mean."""

# Those that a case has once.
SINGLE = {
    "analysis": ("What is solved.", "kind study modes shift prestress thickness units"),
    "gravity": ("The acceleration of gravity.", "name acceleration"),
    "rotation": ("A spin, whose centrifugal forces load the body.", "name axis at speed"),
    "temperature": ("Temperatures, which strain the body.", "reference value file from on"),
    "inertia_relief": ("Nothing holds the body; its own acceleration balances the loads.", ""),
    "harmonic": ("Loads that vibrate, in a modal study.", "frequencies from to points damping rayleigh fields"),
    "time": ("Temperatures over time, of a transient study.", "end step tolerance scheme outputs times initial on"),
    "solver": (
        "How to solve.",
        "method acceleration operator format ordering preconditioner order precision tolerance residual_tolerance "
        "check_count max_iterations assembly",
    ),
    "output": ("What is computed and written.", "fields frd probes"),
}

# Those that it may have several times.
SEVERAL = {
    "material": (
        "A material.",
        "name on young poisson shear stiffness axes density expansion yield_strength conductivity "
        "specific_heat by_temperature",
    ),
    "support": ("What holds the body.", "on nodes box name fix axes displacement value amplitude"),
    "spring": ("Springs to the ground.", "name on stiffness foundation"),
    "mass": ("A point mass.", "name on mass inertia"),
    "tie": ("Parts of different meshes, glued.", "name slave master tolerance kind conductance"),
    "remote": ("A point that moves with a group.", "name on at kind force moment fix displacement rotation"),
    "cyclic": ("The sides of a sector.", "name from to axis at"),
    "bolt": ("The preload of a cut section.", "name on preload shortening"),
    "equation": ("An equation between displacements.", "terms value"),
    "pressure": ("A pressure on faces.", "name on value gradient level direction file"),
    "traction": ("A force per area.", "name on vector"),
    "force": ("A force on a group, spread over it.", "name on total"),
    "load": ("A force and a moment on faces.", "name on force moment at"),
    "point_force": ("A force at a point.", "name on at node vector"),
    "push": ("Another body pushes.", "name direction total"),
    "flux": ("A flow into the body, of heat or a potential.", "name on value amplitude"),
    "convection": ("Heat to what flows past.", "name on coefficient ambient amplitude"),
    "source": ("What a body produces per volume, of heat or a potential.", "name on value amplitude"),
    "load_case": ("A combination of loads, solved on its own.", "name factors"),
}
