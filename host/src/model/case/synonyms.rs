//! Words that other programs and books have for the keys and names of a case file, and words for what this version has
//! not.
//!
//! They are offered where a key or a name is unknown, before one that is merely spelt alike.

use Meaning::{Is, Not};

/// What a word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning<'a> {
    /// This key or name.
    Is(&'a str),
    /// Nothing that there is: what to do instead.
    Not(&'static str),
}

/// What loads there are.
const LOADS: &str = "a load is [[force]] (a total on a group), [[pressure]], [[traction]], [[point_force]], [[push]] or \
                     [gravity]; of a potential [[flux]] or [source]";
const EXPANSION: &str = "there is no thermal expansion in this version: leave it out";
/// What to do about a node's rotations.
pub(super) const ROTATIONS: &str = "solids have no rotations: a face fixed in x, y, z cannot turn either; to turn a support, \
                                    prescribe displacements of its nodes";
const STATIC: &str = "this version solves what is at rest, in one step";
const LINEAR: &str =
    "materials are linear in this version; `yield_strength` of a [[material]] gives the safety factor against yielding";

/// A table (empty: the top level) or several, words for keys of it, what they mean.
pub(super) const KEYS: &[(&str, &str, Meaning<'static>)] = &[
    ("", "grid geometry", Is("mesh")),
    ("", "problem physics study", Is("analysis")),
    ("", "boundary bc bcs constraint constraints fixed fix fixture dirichlet encastre clamp", Is("support")),
    ("", "body_force weight acceleration", Is("gravity")),
    ("", "surface_traction", Is("traction")),
    ("", "nodal_force cload concentrated_force", Is("point_force")),
    ("", "heat_flux neumann", Is("flux")),
    ("", "heat_source", Is("source")),
    ("", "results outputs", Is("output")),
    ("", "probe probes", Not("probes are in [output]: probes = [{ name = \"tip\", at = [1.0, 0.0, 0.0] }]")),
    ("", "load loads bc_load", Not(LOADS)),
    (
        "",
        "moment moments torque",
        Not("there are no moments in this version: two opposite [[force]] on groups apart make one"),
    ),
    (
        "",
        "temperature thermal thermal_load",
        Not("there are no thermal loads in this version; a field of temperatures is [analysis] kind = \"laplace\""),
    ),
    (
        "",
        "displacement displacements prescribed",
        Not("a prescribed displacement is a [[support]] with displacement = { x = 1e-3 }"),
    ),
    ("", "spring springs", Not("there are no springs in this version")),
    ("", "convection film", Not("there is no convection in this version: [[flux]] takes a given flow")),
    (
        "",
        "mpc coupling tie rbe2 rbe3 contact_pair",
        Not("parts are joined by the nodes they share; this version has no other joints"),
    ),
    ("", "step steps time", Not(STATIC)),
    ("", "units unit", Not("units are a label, [analysis] units = \"SI\" for example; numbers are never converted")),
    ("mesh", "path filename name mesh msh", Is("file")),
    (
        "mesh",
        "scale unit units",
        Not("coordinates are taken as they are: choose the units of modulus and loads by them, or scale in Gmsh"),
    ),
    ("analysis", "type analysis", Is("kind")),
    ("analysis", "t h", Is("thickness")),
    ("analysis", "unit unit_system system", Is("units")),
    (
        "material",
        "E youngs_modulus young_modulus youngs_mod elastic_modulus elasticity_modulus modulus emod",
        Is("young"),
    ),
    ("material", "nu v poissons_ratio poisson_ratio pr \u{3bd}", Is("poisson")),
    ("material", "rho mass_density \u{3c1}", Is("density")),
    ("material", "k kappa thermal_conductivity permeability permittivity", Is("conductivity")),
    ("material", "group groups region volume elements", Is("on")),
    ("material", "id title", Is("name")),
    ("material", "alpha cte thermal_expansion expansion \u{3b1}", Not(EXPANSION)),
    ("material", "G mu shear shear_modulus", Not("an isotropic material has `young` = 2 G (1 + nu) and `poisson`")),
    ("material", "K bulk bulk_modulus lambda lame", Not("an isotropic material has `young` and `poisson`")),
    ("material", "yield yield_stress yield_limit sigma_y strength", Is("yield_strength")),
    ("material", "hardening plastic", Not(LINEAR)),
    ("material", "c cp specific_heat heat_capacity", Not(STATIC)),
    ("material", "thickness", Not("the thickness of a plane problem is [analysis] thickness")),
    ("support", "group groups where set region surface", Is("on")),
    ("support", "dof dofs components fixed constrain constrained", Is("fix")),
    ("support", "u disp prescribed displace", Is("displacement")),
    ("support", "T temperature potential head voltage", Is("value")),
    ("support", "node", Is("nodes")),
    ("support", "rotation rotations rot rx ry rz theta", Not(ROTATIONS)),
    ("pressure", "p pressure magnitude", Is("value")),
    (
        "pressure",
        "vector direction total",
        Not("a pressure is a number, `value`, along the normal; a force with a direction is [[force]] or [[traction]]"),
    ),
    ("traction", "value traction t", Is("vector")),
    (
        "traction",
        "total force",
        Not("a force on the whole group is [[force]] total = [x, y, z]; a traction is a `vector` per area"),
    ),
    ("force", "vector force forces F value f", Is("total")),
    ("force", "node nodes at", Not("a force on a node is [[point_force]]")),
    ("force", "direction magnitude", Not("the force is one vector: `total = [0.0, 0.0, -1500.0]`")),
    ("point_force", "total force value F f", Is("vector")),
    ("point_force", "position point location", Is("at")),
    ("point_force", "nodes", Is("node")),
    ("pressure|traction|force|point_force|flux", "group groups where set region surface", Is("on")),
    ("gravity", "g value vector", Is("acceleration")),
    ("push", "force value", Is("total")),
    ("push", "normal", Is("direction")),
    (
        "push",
        "on",
        Not("a push acts on what lies furthest along `direction`; a load on a group is [[force]] or [[pressure]]"),
    ),
    ("flux", "q flux", Is("value")),
    ("source", "q s source", Is("value")),
    ("generate", "shape type", Is("kind")),
    ("generate", "n divisions resolution", Is("cells")),
    ("generate", "lengths length dimensions", Is("size")),
    ("solver", "solver type", Is("method")),
    ("solver", "tol rtol eps", Is("tolerance")),
    ("solver", "maxiter maxit max_iter max_its iterations", Is("max_iterations")),
    ("solver", "pc precond", Is("preconditioner")),
    ("solver", "device backend", Not("the device is the flag `--device`")),
    ("solver", "threads", Not("threads are the flag `--threads`")),
    ("output", "field", Is("fields")),
    ("output", "probe points monitors sensors", Is("probes")),
    ("probes", "point position location coordinates", Is("at")),
    ("output", "folder dir directory path file", Not("the folder for results is the flag `-o`")),
];

/// What is to be named, words for names of it, what they mean.
const NAMES: &[(&str, &str, Meaning<'static>)] = &[
    ("analysis kind", "heat thermal conduction diffusion potential poisson seepage electrostatics", Is("laplace")),
    (
        "analysis kind",
        "static linear elastic linear_elasticity structural mechanical mechanics solid 3d",
        Is("elasticity"),
    ),
    (
        "analysis kind",
        "2d plane",
        Not("\"plane_stress\" is for thin plates, \"plane_strain\" for sections of long bodies"),
    ),
    ("analysis kind", "axisymmetric", Not("solve the body, or a sector of it, in space")),
    ("analysis kind", "modal modes frequency eigen buckling dynamic dynamics transient harmonic", Not(STATIC)),
    ("analysis kind", "nonlinear plastic plasticity hyperelastic", Not(LINEAR)),
    (
        "analysis kind",
        "shell plate beam truss",
        Not("bodies are solids here: \"elasticity\" with a few elements through the thickness"),
    ),
    ("method", "pcg conjugate_gradient conjugate_gradients iterative", Is("cg")),
    ("method", "cholesky lu ldl ldlt sparse mumps pardiso cholmod superlu umfpack", Is("direct")),
    ("method", "multigrid amg mg", Not("multigrid is a preconditioner: `preconditioner = \"amg\"`")),
    ("method", "gmres bicgstab bicg minres", Not("the matrix is symmetric and positive definite, which \"cg\" is for")),
    ("preconditioner", "diagonal diag", Is("jacobi")),
    ("preconditioner", "multigrid mg gamg boomeramg smoothed_aggregation", Is("amg")),
    ("precision", "f64 fp64 float64 64", Is("double")),
    ("precision", "f32 fp32 float32 float 32", Is("single")),
    ("generated mesh kind", "cube block brick cuboid", Is("box")),
    ("generated mesh kind", "square rect plate", Is("rectangle")),
    ("generated mesh kind", "ring disk disc", Is("annulus")),
    ("element", "tetra tetrahedron tetrahedra", Is("tet4")),
    ("element", "hexa hex brick hexahedron hexahedra", Is("hex8")),
    ("element", "tria triangle triangles", Is("tri3")),
    ("system of units", "si metric mks m_kg_s m_n_s", Is("SI")),
    ("system of units", "mm mm_n_s n_mm mm_n mpa mm_t_s", Is("mm-N-s")),
    ("system of units", "imperial us inch in in_lbf_s psi", Is("in-lbf-s")),
    ("field", "mises vonmises seqv s_mises", Is("von_mises")),
    ("field", "u disp", Is("displacement")),
    ("field", "s sigma", Is("stress")),
    ("field", "temperature temp", Is("potential")),
];

/// What a key means that its table does not have.
pub fn key(table: &str, word: &str) -> Option<Meaning<'static>> {
    meant(KEYS, table, word)
}

/// What a name means that there is none of.
pub fn name(what: &str, word: &str) -> Option<Meaning<'static>> {
    meant(NAMES, what, word)
}

/// As it is written, or else whatever its case and its hyphens are.
fn meant(table: &[(&str, &str, Meaning<'static>)], of: &str, word: &str) -> Option<Meaning<'static>> {
    let find = |word: &str| {
        let is_of = |tables: &str| tables.split('|').any(|table| table == of);
        let mut rows = table.iter().filter(|(tables, ..)| is_of(tables));
        rows.find(|(_, words, _)| words.split(' ').any(|known| known == word)).map(|(_, _, meant)| *meant)
    };
    find(word).or_else(|| find(&word.to_lowercase().replace(['-', ' '], "_")))
}

/// Words for all components.
const ALL: [&str; 5] = ["all", "fixed", "full", "clamped", "encastre"];

/// The letters of components that a word for them means: `123`, `XYZ`, `ux, uy`, `all`. Rotations, 4 to 6, mean none.
pub fn letters(word: &str, known: &[&str]) -> Option<String> {
    let word = word.to_lowercase();
    if ALL.contains(&word.as_str()) {
        return Some(known.concat());
    }
    let mut letters = String::new();
    for c in word.chars().filter(|c| !" ,;+u456".contains(*c)) {
        let letter = match c {
            '1' => "x",
            '2' => "y",
            '3' => "z",
            c => known.iter().find(|letter| letter.starts_with(c))?,
        };
        if known.contains(&letter) && !letters.contains(letter) {
            letters.push_str(letter);
        }
    }
    (!letters.is_empty()).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_their_table_alone() {
        assert_eq!(key("material", "E"), Some(Is("young")));
        assert_eq!(key("material", "Youngs-Modulus"), Some(Is("young")));
        assert_eq!(key("support", "E"), None);
        assert_eq!((key("flux", "group"), key("", "group")), (Some(Is("on")), None));
        assert!(matches!((key("material", "k"), key("material", "K")), (Some(Is("conductivity")), Some(Not(_)))));
        assert!(matches!(key("", "moment"), Some(Not(_))));
        assert_eq!(name("analysis kind", "Heat"), Some(Is("laplace")));
        assert_eq!(name("field", "heat"), None);
    }

    #[test]
    fn no_word_means_two_things() {
        for table in [KEYS, NAMES] {
            for (i, (of, words, _)) in table.iter().enumerate() {
                for word in words.split(' ') {
                    let again = table[i + 1..].iter().find(|(other, words, _)| {
                        let shared = other.split('|').any(|table| of.split('|').any(|name| name == table));
                        shared && words.split(' ').any(|other| other == word)
                    });
                    assert_eq!(again, None, "`{word}` of [{of}]");
                }
            }
        }
    }

    #[test]
    fn components_by_any_name() {
        let xyz = ["x", "y", "z"];
        for (word, letters_of_it) in [("123", "xyz"), ("XZ", "xz"), ("ux, uy", "xy"), ("all", "xyz"), ("123456", "xyz")]
        {
            assert_eq!(letters(word, &xyz).as_deref(), Some(letters_of_it), "{word}");
        }
        assert_eq!((letters("xw", &xyz), letters("", &xyz), letters("456", &xyz)), (None, None, None));
        assert_eq!(letters("all", &xyz[..2]).as_deref(), Some("xy"));
    }
}
