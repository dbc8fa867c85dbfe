//! What a case file has for one physics and not for another: keys, and the words of messages about them.

/// Keys and words of one physics.
#[derive(Debug)]
pub struct Keys {
    /// Whose they are.
    pub whose: &'static str,
    /// Those that mean nothing to another physics: table (empty: the top level), key. None is a material's, which may have
    /// more properties than an analysis asks for.
    pub own: &'static [(&'static str, &'static str)],
    /// What a material must have, the first in proportion to stiffnesses: key, value, what that is.
    pub material: &'static [[&'static str; 3]],
    /// A material, with lengths in mm and in other units.
    pub examples: [&'static str; 2],
    /// A support that holds something.
    pub support: &'static str,
    /// What supports hold.
    pub held: &'static str,
    /// What they prescribe, and of which component.
    pub prescribed: (&'static str, &'static [&'static str]),
    /// What there is for points instead of loads on sides.
    pub on_points: &'static str,
    /// What to do with a mesh of surfaces that is not flat.
    pub flatten: &'static str,
    /// Why bodies in space have no thickness, and what to do.
    pub thickness: [&'static str; 2],
}

pub(super) static ELASTICITY: Keys = Keys {
    whose: "elasticity",
    own: &[
        ("support", "fix"),
        ("support", "displacement"),
        ("support", "axes"),
        ("", "spring"),
        ("", "mass"),
        ("", "gravity"),
        ("", "rotation"),
        ("", "pressure"),
        ("", "traction"),
        ("", "force"),
        ("", "load"),
        ("", "point_force"),
        ("", "push"),
        ("", "temperature"),
        ("", "inertia_relief"),
        ("", "harmonic"),
    ],
    material: &[["young", "210e9", "steel, in Pa; in MPa if lengths are in mm: 210e3"], ["poisson", "0.3", "metals"]],
    examples: [
        "[[material]]\nname = \"steel\"\nyoung = 210e3      # N/mm^2\npoisson = 0.3",
        "[[material]]\nname = \"steel\"\nyoung = 210e9      # Pa; with lengths in mm: 210e3\npoisson = 0.3",
    ],
    support: "fix = \"xyz\" or displacement = { x = 1e-3 }",
    held: "components",
    prescribed: ("displacements", &[" x", " y", " z"]),
    on_points: "; use [[force]] on it alone",
    flatten: "turn the plate into the x-y plane, and mesh no volume",
    thickness: [
        "`thickness` belongs to plane problems; the bodies of `elasticity` have their own",
        "kind = \"plane_stress\" or \"plane_strain\"",
    ],
};

const OF_POTENTIALS: &[(&str, &str)] = &[("support", "value"), ("", "flux"), ("", "convection"), ("", "source")];

pub(super) static HEAT: Keys = Keys {
    whose: POTENTIAL.whose,
    own: OF_POTENTIALS,
    material: POTENTIAL.material,
    examples: POTENTIAL.examples,
    support: "value = 20.0",
    held: "nodes",
    prescribed: ("temperatures", &[""]),
    on_points: "",
    flatten: POTENTIAL.flatten,
    thickness: POTENTIAL.thickness,
};

pub(super) static POTENTIAL: Keys = Keys {
    whose: "heat and laplace problems",
    own: OF_POTENTIALS,
    material: &[["conductivity", "50.0", "steel, in W/(m K)"]],
    examples: ["[[material]]\nname = \"steel\"\nconductivity = 50.0"; 2],
    support: "value = 1.0",
    held: "nodes",
    prescribed: ("values", &[""]),
    on_points: "",
    flatten: "turn the surface into the x-y plane; for a body in space mesh its volume",
    thickness: ["`thickness` belongs to plane problems; solids have their own", "leave it out"],
};
