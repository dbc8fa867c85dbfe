//! Whether the numbers of a model fit together: lengths, moduli, densities and gravity in one system of units.
//!
//! A case file has no units, so a slip (moduli in MPa on a mesh in metres, densities in kg/m^3 on one in millimetres)
//! shows only in what the numbers would mean. They are tried in each [`System`] that engineers use; if all of them are
//! plausible in one, there is nothing to say. Otherwise the system with the fewest contradictions is taken to be meant,
//! and each contradiction is a warning, with the number that would do. A case that names its units has that system.
//!
//! | number | plausible |
//! | --- | --- |
//! | longest side of the mesh | 1 mm to 25 m |
//! | Young's modulus | 1 kPa (gels; 1 MPa, rubber, if units are named) to 1.3 TPa (diamond: 1.2 TPa); of a material known by name, within a factor of 3 |
//! | yield strength / Young's modulus | 1e-6 to 0.2 (steel: 1e-3); to 10 below 100 MPa (rubber: 5) |
//! | density | 5 kg/m^3 (foams) to 25,000 (osmium: 22,600); of a material known by name, within a factor of 2 |
//! | sqrt(E / density), the speed of sound | 5 m/s to 20 km/s (rubber: 30 m/s, diamond: 18 km/s) |
//! | gravity | 0.3 to 3,000 m/s^2 |

use super::{Material, Units};

/// A consistent system of units, by what its units are in SI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct System {
    /// Its units of length, force, stress and density.
    pub name: &'static str,
    /// The unit of length in m.
    pub length: f64,
    /// The unit of stress in Pa.
    pub stress: f64,
    /// The unit of density in kg/m^3.
    pub density: f64,
    /// How much must speak for it before it is believed.
    needs: Needs,
}

/// What has to be given before a system is believed that few use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// A material known by name.
    Name,
    /// A density or gravity.
    Density,
}

/// Metres and newtons.
pub const METRES: System =
    System { name: "m, N, Pa, kg/m^3", length: 1.0, stress: 1.0, density: 1.0, needs: Needs::Nothing };
/// Millimetres and newtons.
pub const MILLIMETRES: System =
    System { name: "mm, N, MPa, t/mm^3", length: 1e-3, stress: 1e6, density: 1e12, needs: Needs::Nothing };

/// Inches and pounds.
const INCHES: System = System {
    name: "in, lbf, psi, lbf s^2/in^4",
    length: 0.0254,
    stress: 6894.757,
    density: 1.068_69e7,
    needs: Needs::Name,
};

/// All systems; the first of several that are as good is taken.
const SYSTEMS: [System; 6] = [
    METRES,
    MILLIMETRES,
    System { name: "m, kN, kPa, t/m^3", length: 1.0, stress: 1e3, density: 1e3, needs: Needs::Density },
    System { name: "mm, kN, GPa, kg/mm^3", length: 1e-3, stress: 1e9, density: 1e9, needs: Needs::Density },
    INCHES,
    System {
        name: "ft, lbf, lbf/ft^2, slug/ft^3",
        length: 0.3048,
        stress: 47.880_26,
        density: 515.3788,
        needs: Needs::Name,
    },
];

impl System {
    fn of(units: Units) -> System {
        match units {
            Units::Si => METRES,
            Units::MmNS => MILLIMETRES,
            Units::InLbfS => INCHES,
        }
    }

    /// The unit of acceleration in m/s^2: force per mass.
    pub fn acceleration(&self) -> f64 {
        self.stress / (self.density * self.length)
    }
}

/// A material that is known by its name.
struct Known {
    /// Words of which a name has one, in small letters.
    words: &'static [&'static str],
    /// What it is called in warnings.
    name: &'static str,
    /// Young's modulus in Pa.
    young: f64,
    /// In kg/m^3.
    density: f64,
}

const STEEL: Known = Known { words: &["steel", "stahl", "acier"], name: "steel", young: 210e9, density: 7850.0 };

/// All that are known.
const KNOWN: [Known; 9] = [
    STEEL,
    Known { words: &["iron"], name: "iron", young: 170e9, density: 7300.0 },
    Known { words: &["alu", "alsi", "almg", "6061", "7075"], name: "aluminium", young: 70e9, density: 2700.0 },
    Known { words: &["titan"], name: "titanium", young: 110e9, density: 4500.0 },
    Known { words: &["copper"], name: "copper", young: 120e9, density: 8900.0 },
    Known { words: &["brass"], name: "brass", young: 100e9, density: 8500.0 },
    Known { words: &["bronze"], name: "bronze", young: 110e9, density: 8800.0 },
    Known { words: &["concrete", "beton"], name: "concrete", young: 30e9, density: 2400.0 },
    Known { words: &["glass"], name: "glass", young: 70e9, density: 2500.0 },
];

/// Factors within which a known material has its own modulus and density.
const MODULUS_FACTOR: f64 = 2.0;
const DENSITY_FACTOR: f64 = 2.0;
/// What any solid has, in SI.
const LENGTHS: [f64; 2] = [1e-3, 25.0];
const MODULI: [f64; 2] = [1e3, 1.3e12];
/// The softest rubbers: below, a label of the wrong system is more likely than a gel.
const RUBBER: f64 = 1e6;
const YIELD_STRAINS: [f64; 2] = [1e-6, 0.2];
const YIELD_STRAIN_OF_RUBBER: f64 = 10.0;
/// Rubbers and gels have a modulus below this.
const SOFT: f64 = 1e8;
const DENSITIES: [f64; 2] = [5.0, 25e3];
const SPEEDS: [f64; 2] = [5.0, 2e4];
const ACCELERATIONS: [f64; 2] = [0.3, 3e3];
/// On earth in m/s^2.
const EARTH: f64 = 9.81;
/// Numbers at the end of a range are in it, whatever rounding does.
const ROUNDING: f64 = 1e-9;

/// The system that a mesh is likely to be in, by its longest side: few parts are longer than 4 m, few shorter than 4 mm.
pub fn likely(longest: f64) -> &'static System {
    if longest > 4.0 { &MILLIMETRES } else { &METRES }
}

/// What is suspicious about the units of an elastic model; `longest` is the longest side of the mesh's extent, `named`
/// what the case says its units are.
///
/// A modulus of 1 is taken for one without units, and nothing is said.
pub fn warnings(materials: &[Material], longest: f64, gravity: Option<[f64; 3]>, named: Option<Units>) -> Vec<String> {
    if materials.iter().any(|material| material.law.young() == 1.0) {
        return Vec::new();
    }
    let gravity = gravity.map(|g| g.iter().map(|c| c * c).sum::<f64>().sqrt()).filter(|&g| g > 0.0);
    let evidence = Evidence { materials, longest, gravity, is_named: named.is_some() };
    if let Some(units) = named {
        let said = format!("[analysis] units = \"{}\": ", units.name());
        return evidence
            .against(&System::of(units))
            .into_iter()
            .map(|warning| warning.replacen("units: ", &said, 1))
            .collect();
    }
    let believed = SYSTEMS.iter().filter(|system| evidence.is_enough_for(system));
    let tried = believed.map(|system| (system, evidence.against(system)));
    // One that few use is not meant if something speaks against it.
    let meant = tried.filter(|(system, against)| system.needs == Needs::Nothing || against.is_empty());
    meant.map(|(_, against)| against).min_by_key(Vec::len).unwrap_or_default()
}

/// The numbers of a model.
struct Evidence<'a> {
    materials: &'a [Material],
    longest: f64,
    gravity: Option<f64>,
    /// Whether the case names its units.
    is_named: bool,
}

impl Evidence<'_> {
    fn is_enough_for(&self, system: &System) -> bool {
        match system.needs {
            Needs::Nothing => true,
            Needs::Name => self.materials.iter().any(|material| known(&material.name).is_some()),
            Needs::Density => self.gravity.is_some() || self.materials.iter().any(|m| m.density.is_some()),
        }
    }

    /// What speaks against a system.
    fn against(&self, system: &System) -> Vec<String> {
        let mut warnings: Vec<String> =
            self.materials.iter().filter(|m| m.law.young() > 0.0).filter_map(|m| self.modulus(m, system)).collect();
        warnings.extend(self.materials.iter().filter_map(|material| density(material, system)));
        if warnings.is_empty() {
            warnings.extend(self.materials.iter().filter_map(|material| yield_strain(material, system)));
        }
        if warnings.is_empty() {
            warnings.extend(self.materials.iter().filter_map(|material| speed(material, system)));
        }
        warnings.extend(self.gravity.and_then(|g| acceleration(g, system)));
        warnings.extend(self.length(system));
        warnings
    }

    fn length(&self, system: &System) -> Option<String> {
        let (longest, means) = (self.longest, self.longest * system.length);
        let (other, meant) = if means > LENGTHS[1] { ("millimetres", MILLIMETRES) } else { ("metres", METRES) };
        (longest > 0.0 && !is_in(means, LENGTHS)).then(|| {
            let first = self.materials.first().map_or(&STEEL, |material| known(&material.name).unwrap_or(&STEEL));
            format!(
                "units: the longest side of the mesh, {}, is {} in {}; if it is meant in {other}, {}",
                number(longest),
                prefixed(means, "m"),
                system.name,
                first.in_units(&[meant])
            )
        })
    }

    fn modulus(&self, material: &Material, system: &System) -> Option<String> {
        let (young, name) = (material.law.young(), &material.name);
        let means = young * system.stress;
        let said = || {
            let (given, means) = (number(young), prefixed(means, "Pa"));
            format!("units: material `{name}`: young = {given} is {means} in {}", system.name)
        };
        if let Some(Known { name, young: own, .. }) = known(name) {
            let plausible = is_in(means, [own / MODULUS_FACTOR, own * MODULUS_FACTOR]);
            return (!plausible).then(|| {
                let own_there = number(own / system.stress);
                format!("{}; {name} has about {}, which is young = {own_there}", said(), prefixed(*own, "Pa"))
            });
        }
        let what = match means {
            _ if means < MODULI[0] => "softer than any solid",
            _ if self.is_named && means < RUBBER => "softer than rubber",
            _ if is_in(means, MODULI) => return None,
            _ => "stiffer than diamond",
        };
        Some(format!("{}, {what}; {}", said(), STEEL.in_units(&[METRES, MILLIMETRES])))
    }
}

fn is_in(value: f64, [low, high]: [f64; 2]) -> bool {
    value >= low * (1.0 - ROUNDING) && value <= high * (1.0 + ROUNDING)
}

impl Known {
    /// Modulus and density in some systems.
    fn in_units(&self, systems: &[System]) -> String {
        let Known { name, young, density, .. } = self;
        let of = |s: &System| {
            format!("young = {} and density = {} in {}", number(young / s.stress), number(density / s.density), s.name)
        };
        format!("{name} has {}", systems.iter().map(of).collect::<Vec<_>>().join(", or "))
    }
}

/// The known material that a name is of.
fn known(name: &str) -> Option<&'static Known> {
    let name = name.to_lowercase();
    if name.contains("foam") {
        return None;
    }
    if is_steel_grade(&name) {
        return Some(&STEEL);
    }
    KNOWN.iter().find(|known| known.words.iter().any(|word| name.contains(word)))
}

/// Whether a name in small letters is that of a structural steel (EN 10027): S and a yield strength in MPa.
fn is_steel_grade(name: &str) -> bool {
    let digits = name.strip_prefix('s').unwrap_or_default().trim_start_matches(' ');
    let n = digits.chars().take_while(char::is_ascii_digit).count();
    n == 3 && digits[..n].parse().is_ok_and(|strength: u32| (100..=960).contains(&strength))
}

/// A yield strength that no material with this modulus has.
fn yield_strain(material: &Material, system: &System) -> Option<String> {
    let strength = material.yield_strength.filter(|_| material.law.young() > 0.0)?;
    let most = if material.law.young() * system.stress > SOFT { YIELD_STRAINS[1] } else { YIELD_STRAIN_OF_RUBBER };
    (!is_in(strength / material.law.young(), [YIELD_STRAINS[0], most])).then(|| {
        let (name, strength, young) = (&material.name, number(strength), number(material.law.young()));
        format!(
            "units: material `{name}`: yield_strength = {strength} and young = {young} are in different units: metals \
             yield at a thousandth of their modulus, or a few"
        )
    })
}

fn density(material: &Material, system: &System) -> Option<String> {
    let (rho, name) = (sound_density(material)?, &material.name);
    let means = rho * system.density;
    let said = || {
        format!("units: material `{name}`: density = {} is {} kg/m^3 in {}", number(rho), number(means), system.name)
    };
    if let Some(Known { name, density: own, .. }) = known(name) {
        let plausible = is_in(means, [own / DENSITY_FACTOR, own * DENSITY_FACTOR]);
        return (!plausible).then(|| {
            let own_there = number(own / system.density);
            format!("{}; {name} has about {} kg/m^3, which is density = {own_there}", said(), number(*own))
        });
    }
    let what = if means < DENSITIES[0] { "lighter than any foam" } else { "heavier than any metal" };
    (!is_in(means, DENSITIES)).then(|| format!("{}, {what}; {}", said(), STEEL.in_units(&[METRES, MILLIMETRES])))
}

/// A density that is no error by itself.
fn sound_density(material: &Material) -> Option<f64> {
    material.density.filter(|&rho| rho > 0.0)
}

/// Modulus and density that are plausible one by one and not together.
fn speed(material: &Material, system: &System) -> Option<String> {
    if material.law.young() <= 0.0 {
        return None;
    }
    let speed = (material.law.young() * system.stress / (sound_density(material)? * system.density)).sqrt();
    (!is_in(speed, SPEEDS)).then(|| {
        let (name, speed, units) = (&material.name, prefixed(speed, "m/s"), system.name);
        format!(
            "units: material `{name}`: sound would travel at {speed} in it in {units}, so young and density do not fit \
             together; {}",
            known(name).unwrap_or(&STEEL).in_units(&[METRES, MILLIMETRES])
        )
    })
}

fn acceleration(gravity: f64, system: &System) -> Option<String> {
    let unit = system.acceleration();
    (!is_in(gravity * unit, ACCELERATIONS)).then(|| {
        let (given, means, earth) = (number(gravity), number(gravity * unit), number(EARTH / unit));
        format!("units: gravity of {given} is {means} m/s^2 in {}; the earth's is {earth} there", system.name)
    })
}

/// With three significant digits.
fn number(value: f64) -> String {
    warpfem_text::number(value, 3)
}

/// With an SI prefix: 210 GPa, 80 um.
fn prefixed(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 7] =
        [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u")];
    // Nobody says megametres.
    let largest = if unit.starts_with('m') { 1e3 } else { f64::INFINITY };
    let fits = |(scale, _): &&(f64, &str)| *scale <= largest && value >= 0.9995 * scale;
    match PREFIXES.iter().find(fits) {
        Some((scale, prefix)) if value < 1e4 * scale => format!("{} {prefix}{unit}", number(value / scale)),
        _ => format!("{} {unit}", number(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material(name: &str, young: f64, density: Option<f64>) -> Material {
        Material { density, ..Material::isotropic(name, young, 0.3) }
    }

    fn of(name: &str, young: f64, density: Option<f64>, longest: f64) -> Vec<String> {
        warnings(&[material(name, young, density)], longest, None, None)
    }

    /// One warning, with these words.
    #[track_caller]
    fn one(found: &[String], words: &[&str]) {
        assert_eq!(found.len(), 1, "{found:#?}");
        for word in words {
            assert!(found[0].contains(word), "{found:?}\ndoes not hold {word}");
        }
    }

    #[test]
    fn consistent_systems_raise_no_suspicion() {
        for (young, density, longest) in [
            (210e9, 7850.0, 0.3),
            (210e9, 7850.0, 16.0),
            (210e3, 7.85e-9, 300.0),
            (210e3, 7.85e-9, 16_000.0),
            (210e6, 7.85, 20.0),
            (210.0, 7.85e-6, 80.0),
            (29e6, 7.3e-4, 12.0),
        ] {
            assert_eq!(of("steel", young, Some(density), longest), Vec::<String>::new(), "{young}");
        }
        one(&of("S355J2", 210.0, None, 0.08), &["steel has about 210 GPa"]);
        assert!(of("s 235", 210e9, None, 0.3).is_empty() && of("s1", 210.0, None, 0.08).len() == 1);
        assert!(of("steel", 210e9, None, 0.3).is_empty() && of("steel", 210e3, None, 80.0).is_empty());
        assert!(of("steel", 29e6, None, 12.0).is_empty(), "psi");
        assert!(of("rubber", 5e6, Some(1100.0), 0.1).is_empty() && of("soft", 1e6, None, 2.0).is_empty());
        assert!(of("foam", 70e6, Some(60.0), 1.0).is_empty() && of("x", 1.0, None, 0.01).is_empty());
    }

    #[test]
    fn a_steel_of_the_wrong_unit_is_named_with_the_right_number() {
        one(&of("Steel S235", 210e3, None, 0.3), &["210000 is 210 kPa in m, N", "about 210 GPa", "young = 2.1e11"]);
        one(&of("steel", 210.0, None, 0.08), &["young = 210 is 210 Pa in m, N", "young = 2.1e11"]);
        one(&of("steel", 210.0, None, 80.0), &["young = 210 is 210 MPa in mm, N", "young = 210000"]);
        one(&of("m1", 70.0, None, 0.5), &["70 Pa", "softer than any solid", "2.1e11", "210000"]);
        one(&of("m1", 210e13, None, 0.5), &["stiffer than diamond"]);
    }

    #[test]
    fn other_metals_are_compared_with_themselves() {
        one(
            &of("AlSi10Mg", 210e3, None, 80.0),
            &["is 210 GPa in mm, N", "aluminium has about 70 GPa", "young = 70000"],
        );
        one(&of("Al 6061", 70e9, None, 80.0), &["80 m", "aluminium has young = 70000 and density = 2.7e-9"]);
        one(&of("brass", 100e3, Some(8500.0), 80.0), &["brass has about 8500 kg/m^3, which is density = 8.5e-9"]);
        assert!(of("aluminium foam", 5e9, Some(500.0), 2.0).is_empty());
        assert!(of("cast iron", 110e3, None, 80.0).is_empty() && of("titanium", 115e3, None, 80.0).is_empty());
    }

    #[test]
    fn lengths_that_no_part_has() {
        one(
            &of("steel", 210e9, None, 80.0),
            &["longest side of the mesh, 80, is 80 m in m, N", "millimetres", "210000"],
        );
        one(&of("steel", 210e9, Some(7850.0), 80e-6), &["is 80 um in m, N", "metres"]);
        assert!(of("steel", 210e9, None, 25.0).is_empty() && of("steel", 210e3, None, 1.0).is_empty());
        assert_eq!((likely(20.0).length, likely(3.0).length), (1e-3, 1.0));
    }

    #[test]
    fn densities_that_do_not_fit_the_modulus() {
        one(&of("steel", 210e9, Some(7.85), 0.3), &["density = 7.85 is 7.85 kg/m^3", "density = 7850"]);
        one(&of("steel", 210e3, Some(7850.0), 300.0), &["7850 is 7.85e15 kg/m^3 in mm", "density = 7.85e-9"]);
        one(&of("steel", 210e3, Some(7.85e-6), 300.0), &["is 7.85e6 kg/m^3 in mm", "density = 7.85e-9"]);
        one(&of("m1", 2e3, Some(20e3), 0.3), &["young and density do not fit together"]);
        one(&of("m1", 70e9, Some(2.7e-9), 0.3), &["lighter than any foam"]);
        // That one is an error.
        assert!(of("steel", 210e9, Some(-7850.0), 0.3).is_empty());
    }

    #[test]
    fn gravity_tells_metres_from_millimetres() {
        let steel = [material("steel", 210e3, Some(7.85e-9))];
        one(&warnings(&steel, 300.0, Some([0.0, 0.0, -9.81]), None), &["9.81 is 0.00981 m/s^2 in mm", "9810 there"]);
        assert!(warnings(&steel, 300.0, Some([0.0, -9810.0, 0.0]), None).is_empty());
        let steel = [material("steel", 210e9, Some(7850.0))];
        one(&warnings(&steel, 0.3, Some([0.0, 0.0, -9810.0]), None), &["9810 is 9810 m/s^2 in m, N", "9.81 there"]);
        assert!(warnings(&steel, 0.3, Some([0.0; 3]), None).is_empty());
    }

    #[test]
    fn a_case_that_names_its_units_is_held_to_them() {
        let of =
            |name: &str, young, longest, units| warnings(&[material(name, young, None)], longest, None, Some(units));
        one(
            &of("m1", 210e3, 0.3, Units::Si),
            &[
                "[analysis] units = \"SI\": material `m1`: young = 210000 is 210 kPa in m, N",
                "softer than rubber",
                "2.1e11",
            ],
        );
        one(&of("m1", 210e9, 300.0, Units::MmNS), &["stiffer than diamond"]);
        one(&of("steel", 210e9, 300.0, Units::InLbfS), &["which is young = 3.05e7"]);
        one(&of("steel", 210e9, 300.0, Units::Si), &["longest side of the mesh, 300, is 300 m"]);
        assert!(of("rubber", 1.0001e6, 0.3, Units::Si).is_empty() && of("", 210e3, 300.0, Units::MmNS).is_empty());
    }

    #[test]
    fn a_yield_strength_in_other_units_than_the_modulus() {
        let of = |young, strength| {
            let material = Material { yield_strength: Some(strength), ..material("m1", young, None) };
            warnings(&[material], 100.0, None, Some(Units::MmNS))
        };
        one(&of(210e3, 235e6), &["yield_strength = 2.35e8 and young = 210000"]);
        one(&of(210.0, 355.0), &["yield_strength = 355 and young = 210"]);
        assert!(of(210e3, 235.0).is_empty() && of(5.0, 20.0).is_empty());
    }

    #[test]
    fn prefixes_of_units() {
        assert_eq!(prefixed(0.3, "m"), "300 mm");
        assert_eq!(prefixed(2.1e15, "Pa"), "2100 TPa");
        assert_eq!(prefixed(1e-9, "m"), "1e-9 m");
        assert_eq!(prefixed(16e6, "m"), "1.6e7 m");
    }
}
