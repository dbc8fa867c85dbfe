//! Different along three axes at right angles: wood, rolled sheet, fibres in one direction. With the compliances
//! `1 / E_i`, `-nu_ij / E_i` and `1 / G_ij` (Lekhnitskii, "Theory of Elasticity of an Anisotropic Body", sec. 5).

use super::{Constants, Kind, Law, Quantity, Refusal};
use nalgebra::{Matrix3, Matrix6};
use std::sync::Arc;

/// `young = [Ex, Ey, Ez]`, `poisson = [xy, xz, yz]`, `shear = [xy, xz, yz]`; `nu_ij` is what a stress along i contracts along
/// j, over what it stretches along i.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Orthotropic {
    young: [f64; 3],
    poisson: [f64; 3],
    shear: [f64; 3],
}

/// The example is spruce.
pub(super) const KIND: Kind = Kind {
    constants: "orthotropic: `young`, `poisson` and `shear`, three each",
    example: Constants {
        young: &[12e9, 0.9e9, 0.6e9],
        poisson: &[0.4, 0.45, 0.3],
        shear: &[0.7e9, 0.6e9, 0.05e9],
        ..Constants::NONE
    },
    read,
};

fn read(constants: &Constants) -> Option<Result<Arc<dyn Law>, Refusal>> {
    let numbers = |of: &[f64]| <[f64; 3]>::try_from(of).ok();
    let (young, poisson, shear) = (numbers(constants.young)?, numbers(constants.poisson)?, numbers(constants.shear)?);
    let law = Orthotropic { young, poisson, shear };
    Some(law.check().map(|()| Arc::new(law) as Arc<dyn Law>))
}

impl Orthotropic {
    /// `[xx, yy, zz]`.
    fn normal_compliance(&self) -> Matrix3<f64> {
        let ([x, y, z], [xy, xz, yz]) = (self.young, self.poisson);
        let (xy, xz, yz) = (-xy / x, -xz / x, -yz / y);
        Matrix3::new(1.0 / x, xy, xz, xy, 1.0 / y, yz, xz, yz, 1.0 / z)
    }

    /// Refuses constants that give energy back: the compliance is not positive definite.
    fn check(&self) -> Result<(), Refusal> {
        let ([x, y, z], [xy, xz, yz]) = (self.young, self.poisson);
        let refuse = |what: String| {
            let help =
                "no material has that: such a body gives energy back. Is nu_xy meant to be nu_yx = nu_xy Ey / Ex?";
            Err(Refusal { key: "poisson", message: what, help: help.into() })
        };
        for (name, nu, first, second) in [("xy", xy, x, y), ("xz", xz, x, z), ("yz", yz, y, z)] {
            if nu * nu >= first / second {
                let [i, j] = [&name[..1], &name[1..]];
                let bound = (first / second).sqrt();
                return refuse(format!("`poisson` {name} = {nu} is not below sqrt(E{i} / E{j}) = {bound:.4}"));
            }
        }
        let [yx, zx, zy] = [xy * y / x, xz * z / x, yz * z / y];
        let left = 1.0 - xy * yx - yz * zy - xz * zx - 2.0 * yx * zy * xz;
        match left > 0.0 {
            true => Ok(()),
            false => refuse(format!(
                "1 - xy yx - yz zy - xz zx - 2 yx zy xz of `poisson` is {left:.4}, and must be greater than 0"
            )),
        }
    }
}

impl Law for Orthotropic {
    fn stiffness(&self) -> Matrix6<f64> {
        let mut d = Matrix6::zeros();
        let normal = self.normal_compliance().try_inverse().unwrap_or_default();
        d.fixed_view_mut::<3, 3>(0, 0).copy_from(&(0.5 * (normal + normal.transpose())));
        let [xy, xz, yz] = self.shear;
        (d[(3, 3)], d[(4, 4)], d[(5, 5)]) = (xy, yz, xz);
        d
    }

    fn constants(&self) -> Vec<(&'static str, Vec<f64>, Quantity)> {
        vec![
            ("young", self.young.to_vec(), Quantity::Stress),
            ("poisson", self.poisson.to_vec(), Quantity::Unlabelled),
            ("shear", self.shear.to_vec(), Quantity::Stress),
        ]
    }
}
