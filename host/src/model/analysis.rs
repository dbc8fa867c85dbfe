//! What is solved: the one list of analyses, with all that depends on which it is.

use super::keys::{self, Keys};
use crate::result::Physics;
use crate::result::choices::choices;

choices! {
    /// What is solved.
    Analysis:
    /// Three-dimensional linear elasticity.
    Elasticity = "elasticity",
    /// Elasticity of a thin plate in its plane: no stress across it.
    PlaneStress = "plane_stress",
    /// Elasticity of a long prism's cross-section: no strain along it.
    PlaneStrain = "plane_strain",
    /// Elasticity of a body of revolution under loads that are the same all round: its section, with `r = x` and the axis
    /// along y.
    Axisymmetric = "axisymmetric",
    /// A potential in the plane or in space, `-div(k grad u) = s`: heat, seepage, electric fields.
    Laplace = "laplace",
    /// The same in a body of revolution.
    AxisymmetricLaplace = "axisymmetric_laplace",
    /// Conduction of heat in the plane or in space, `c rho dT/dt - div(k grad T) = s`.
    Heat = "heat",
    /// The same in a body of revolution.
    AxisymmetricHeat = "axisymmetric_heat",
}

impl Default for Analysis {
    /// What a case is of that does not say.
    fn default() -> Self {
        Analysis::Elasticity
    }
}

/// Which of the device code's forms integrates a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormKind {
    /// What is solved.
    pub physics: Physics,
    /// Whether the constants of an isotropic material are enough.
    pub is_isotropic: bool,
    /// Whether it is of a body of revolution.
    pub is_revolved: bool,
}

impl FormKind {
    /// Whether it is elasticity by Lame's constants.
    pub fn is_isotropic_elasticity(&self) -> bool {
        self.is_isotropic && self.physics == Physics::Elasticity
    }
}

/// What depends on the analysis alone.
struct Facts {
    /// What it is, in a few words.
    what: &'static str,
    /// What it is for, where a case file is begun.
    hint: &'static str,
    physics: Physics,
    keys: &'static Keys,
    /// The dimension of the meshes that it is for; none if the mesh decides between two and three.
    dim: Option<usize>,
    is_revolved: bool,
    /// Whether the thickness gives way: no stress across a plane body.
    is_thin: bool,
    /// Unknowns of a node.
    components: usize,
    /// Components of forces that add up to nothing in balance.
    balanced: &'static [usize],
    /// Motions that cost no energy, each 0 or 1: translations along x, y, z, rotations about x, y, z.
    free: [f64; 6],
}

const ELASTICITY: Facts = Facts {
    what: "linear elasticity",
    hint: "displacements and stresses, linear",
    physics: Physics::Elasticity,
    keys: &keys::ELASTICITY,
    dim: Some(3),
    is_revolved: false,
    is_thin: false,
    components: 3,
    balanced: &[0, 1, 2],
    free: [1.0; 6],
};
const PLANE: Facts = Facts {
    what: "plane strain",
    hint: "a long prism's section; a thin plate: \"plane_stress\"",
    dim: Some(2),
    components: 2,
    balanced: &[0, 1],
    free: [1.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    ..ELASTICITY
};
const LAPLACE: Facts = Facts {
    what: "a potential",
    hint: "a potential: head of water, voltage",
    physics: Physics::Potential,
    keys: &keys::POTENTIAL,
    dim: None,
    components: 1,
    balanced: &[0],
    free: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ..ELASTICITY
};
const HEAT: Facts = Facts {
    what: "heat conduction",
    hint: "temperatures and heat flux, steady or in time",
    physics: Physics::Heat,
    keys: &keys::HEAT,
    ..LAPLACE
};

impl Analysis {
    const fn facts(self) -> Facts {
        match self {
            Analysis::Elasticity => ELASTICITY,
            Analysis::PlaneStress => Facts {
                what: "plane stress",
                hint: "a thin plate; a long prism's section: \"plane_strain\"",
                is_thin: true,
                ..PLANE
            },
            Analysis::PlaneStrain => PLANE,
            Analysis::Axisymmetric => Facts {
                what: "a body of revolution",
                hint: "a body of revolution: r is x, the axis is along y",
                is_revolved: true,
                balanced: &[1],
                free: [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
                ..PLANE
            },
            Analysis::Laplace => LAPLACE,
            Analysis::AxisymmetricLaplace => Facts {
                what: "a potential in a body of revolution",
                hint: "a potential in a body of revolution: r is x, the axis is along y",
                dim: Some(2),
                is_revolved: true,
                ..LAPLACE
            },
            Analysis::Heat => HEAT,
            Analysis::AxisymmetricHeat => Facts {
                what: "heat conduction in a body of revolution",
                hint: "heat in a body of revolution: r is x, the axis is along y",
                dim: Some(2),
                is_revolved: true,
                ..HEAT
            },
        }
    }

    /// What is solved for a mesh of a dimension if nothing is said.
    pub fn usual(dim: usize) -> Analysis {
        if dim == 2 { Analysis::PlaneStress } else { Analysis::default() }
    }

    /// What it is, in a few words.
    pub const fn what(self) -> &'static str {
        self.facts().what
    }

    /// What it is for, where a case file is begun.
    pub const fn hint(self) -> &'static str {
        self.facts().hint
    }

    /// Whether the thickness gives way: no stress across a plane body.
    pub const fn is_thin(self) -> bool {
        self.facts().is_thin
    }

    /// Unknowns of a node.
    pub const fn components(self) -> usize {
        self.facts().components
    }

    /// The dimension of the meshes that it is for; none if the mesh decides between two and three.
    pub const fn dim(self) -> Option<usize> {
        self.facts().dim
    }

    /// Whether it is for meshes of a dimension.
    pub fn fits(self, dim: usize) -> bool {
        self.dim().map_or(dim >= 2, |of| of == dim)
    }

    /// Whether it is elasticity in space.
    pub fn is_solid(self) -> bool {
        self.physics() == Physics::Elasticity && self.dim() == Some(3)
    }

    /// What is in balance.
    pub const fn physics(self) -> Physics {
        self.facts().physics
    }

    /// What its case files have, and others have not.
    pub const fn keys(self) -> &'static Keys {
        self.facts().keys
    }

    /// Whether it is of a body of revolution.
    pub const fn is_revolved(self) -> bool {
        self.facts().is_revolved
    }

    /// Components of forces that add up to nothing in balance: those of a body of revolution along its axis alone.
    pub const fn balanced(self) -> &'static [usize] {
        self.facts().balanced
    }

    /// Motions that cost no energy, each 0 or 1: translations along x, y, z, rotations about x, y, z.
    pub const fn free_motions(self) -> [f64; 6] {
        self.facts().free
    }

    /// The same in the order of [`kernels_rs::parts::rigid_motion`], which knows those of as many components.
    pub fn rigid_motions(self) -> [f64; 6] {
        let free = self.free_motions();
        match self.components() {
            2 => [free[0], free[1], free[5], 0.0, 0.0, 0.0],
            _ => free,
        }
    }

    /// What a unit of length or area in the section of a body of revolution stands for, once round the axis; 1 of others.
    pub fn around(self, place: [f64; 3]) -> f64 {
        if self.is_revolved() { std::f64::consts::TAU * place[0] } else { 1.0 }
    }

    /// Whether points on the axis of a body of revolution stay there: a displacement has a direction, a potential has none.
    pub fn holds_axis(self) -> bool {
        self.is_revolved() && self.components() == 2
    }

    /// The form that integrates it, of such materials.
    pub const fn form(self, is_isotropic: bool) -> FormKind {
        let Facts { physics, is_revolved, .. } = self.facts();
        FormKind { physics, is_isotropic: is_isotropic && !is_revolved, is_revolved }
    }
}
