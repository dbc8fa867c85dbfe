//! Every law: symmetric, positive definite, unchanged by turning there and back; what no material has is refused.

use super::*;
use crate::model::Material;
use approx::assert_relative_eq;
use nalgebra::Rotation3;

/// Of each law one.
fn laws() -> Vec<Arc<dyn Law>> {
    LAWS.iter().map(|law| read(&law.example).unwrap()).collect()
}

#[test]
fn laws_are_symmetric_and_positive() {
    for law in laws() {
        let d = law.stiffness();
        assert_eq!(d, d.transpose());
        assert!(d.symmetric_eigenvalues().min() > 0.0, "{law:?}");
        assert!(law.young() > 0.0 && law.poisson() < 0.5, "{law:?}");
    }
}

#[test]
fn a_law_is_what_its_own_constants_read() {
    for law in laws() {
        let constants = law.constants();
        let of =
            |key: &str| constants.iter().find(|(name, ..)| *name == key).map_or(&[][..], |(_, numbers, _)| numbers);
        let again =
            Constants { young: of("young"), poisson: of("poisson"), shear: of("shear"), stiffness: of("stiffness") };
        assert_eq!(read(&again).unwrap().stiffness(), law.stiffness());
    }
}

/// The energy of a strain does not depend on the axes that it is written in.
#[test]
fn turned_axes_keep_the_energy() {
    let eps = nalgebra::Matrix3::new(1.0, 0.3, -0.2, 0.3, -0.5, 0.7, -0.2, 0.7, 0.4);
    let voigt = |e: &nalgebra::Matrix3<f64>| {
        nalgebra::Vector6::new(e[(0, 0)], e[(1, 1)], e[(2, 2)], 2.0 * e[(0, 1)], 2.0 * e[(1, 2)], 2.0 * e[(0, 2)])
    };
    let cylinder = Axes::Cylinder { at: [1.0, 0.0, 2.0], along: [0.6, 0.0, 0.8] };
    let fixed = Axes::Fixed(Rotation3::from_euler_angles(0.4, -1.1, 2.0).into_inner());
    for (law, axes) in laws().iter().flat_map(|law| [(law, &cylinder), (law, &fixed)]) {
        let place = [0.3, 0.8, -0.2];
        let r = axes.at(place);
        assert_relative_eq!(r * r.transpose(), nalgebra::Matrix3::identity(), epsilon = 1e-14);
        assert_relative_eq!(r.determinant(), 1.0, epsilon = 1e-14);
        let (global, local) = (voigt(&eps), voigt(&(r * eps * r.transpose())));
        let d = axes.to_global(&law.stiffness(), place);
        let energy = local.dot(&(law.stiffness() * local));
        assert_relative_eq!(global.dot(&(d * global)), energy, max_relative = 1e-13);
    }
}

#[test]
fn a_plate_has_no_stress_across() {
    for law in laws() {
        let (d, eps) = (law.stiffness(), nalgebra::Vector6::new(1.0, -0.4, 0.0, 0.6, 0.0, 0.0));
        let plane = in_the_plane(&d) * eps;
        let mut body = Material::isotropic("body", 1.0, 0.0);
        body.law = law;
        let zz = body.strain()(plane.into(), [0.0; 3])[2];
        // The full law, with the strains across that make its stresses there 0.
        let a = nalgebra::Matrix3::from_fn(|i, j| d[([2, 4, 5][i], [2, 4, 5][j])]);
        let b = nalgebra::Vector3::from_fn(|i, _| (d.row([2, 4, 5][i]) * eps)[0]);
        let across = -a.try_inverse().unwrap() * b;
        let full = d * nalgebra::Vector6::new(1.0, -0.4, across[0], 0.6, across[1], across[2]);
        assert_relative_eq!(plane, full, epsilon = 1e-12 * d.amax());
        assert_relative_eq!(zz, across[0], epsilon = 1e-14);
    }
    let steel = Isotropic { young: 210e9, poisson: 0.3 };
    let [lambda, mu] = steel.lame().unwrap();
    assert_relative_eq!(lambda, 121.153_846_153_846_16e9, max_relative = 1e-14);
    assert_relative_eq!(mu, 80.769_230_769_230_77e9, max_relative = 1e-14);
    let plane = in_the_plane(&steel.stiffness());
    assert_relative_eq!(plane[(0, 0)], 210e9 / (1.0 - 0.09), max_relative = 1e-14);
}

#[test]
fn what_no_material_has_is_refused() {
    let said = |constants: &Constants| read(constants).unwrap_err().message;
    let of = |young: &'static [f64], poisson: &'static [f64], shear: &'static [f64]| {
        said(&Constants { young, poisson, shear, ..Constants::NONE })
    };
    assert!(of(&[1.0], &[0.5], &[]).contains("between -1 and 0.5"));
    assert!(of(&[10.0, 1.0, 1.0], &[4.0, 0.1, 0.1], &[1.0; 3]).contains("`poisson` xy = 4 is not below sqrt(Ex / Ey)"));
    assert!(of(&[1.0; 3], &[0.9; 3], &[1.0; 3]).contains("must be greater than 0"));
    assert!(of(&[1.0, 2.0], &[0.3], &[]).contains("no material law"));
    let mut triangle = packed::<6, 21>(&laws()[0].stiffness());
    triangle[6] = -1.0;
    assert!(said(&Constants { stiffness: &triangle, ..Constants::NONE }).contains("first 2 rows"));
}
