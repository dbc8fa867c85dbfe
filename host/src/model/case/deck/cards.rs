//! What each card does here.

use super::Reader;
use crate::io::inp::{Card, Mistake, Read};
use crate::result::Study;

/// Cards that have no effect on the answer of linear statics or on natural frequencies, or that only say what is written.
const PASSED: &[&str] = &[
    "HEADING",
    "PREPRINT",
    "RESTART",
    "ELOUTPUT",
    "OUTPUT",
    "PRINT",
    "CONTACTFILE",
    "CONTACTPRINT",
    "CONTACTOUTPUT",
    "SECTIONFILE",
    "FACEPRINT",
    "FILEFORMAT",
    "FILEOUTPUT",
    "MONITOR",
    "PHYSICALCONSTANTS",
    "CONTROLS",
    "DAMPING",
    "TIMEPOINTS",
    "SYSTEM",
    "EXIT",
    "FILTER",
    "ENERGYFILE",
    "ENERGYOUTPUT",
];

/// Cards that are refused: why, and what there is instead.
const REFUSED: &[(&str, &str, &str)] = &[
    ("PLASTIC", PLASTIC, LINEAR),
    ("CYCLICHARDENING", PLASTIC, LINEAR),
    ("CREEP", PLASTIC, LINEAR),
    ("DEFORMATIONPLASTICITY", PLASTIC, LINEAR),
    ("MOHRCOULOMB", PLASTIC, LINEAR),
    ("HYPERELASTIC", "large strains are not solved", LINEAR),
    ("HYPERFOAM", "large strains are not solved", LINEAR),
    ("USERMATERIAL", "materials of a user's code are not run", LINEAR),
    ("DEPVAR", "materials of a user's code are not run", LINEAR),
    ("DAMAGEINITIATION", PLASTIC, LINEAR),
    ("SHELLSECTION", "shells are not solved", SOLIDS),
    ("BEAMSECTION", "beams are not solved", SOLIDS),
    ("BEAMGENERALSECTION", "beams are not solved", SOLIDS),
    ("MEMBRANESECTION", "membranes are not solved", SOLIDS),
    ("MEMBRANE", "membranes are not solved", SOLIDS),
    ("FLUIDSECTION", "fluids are not solved", "bodies are of C3D.., CPS.., CPE.., CAX.."),
    ("CONTACTPAIR", CONTACT, TIES),
    ("CONTACT", CONTACT, TIES),
    ("CLEARANCE", CONTACT, TIES),
    ("GAP", CONTACT, TIES),
    ("DASHPOT", "dashpots are not solved", STATIC),
    ("COMPLEXFREQUENCY", "vibration with damping is not solved", STATIC),
    ("DYNAMIC", "motion in time is solved of modes alone", "*FREQUENCY, then *MODAL DYNAMIC in a step of its own"),
    ("RADIATE", "radiation goes with the fourth power of the temperature, and is not solved", FILMS),
    ("GAPCONDUCTANCE", "heat through contact is not solved", TIES),
    ("GAPHEATGENERATION", "heat through contact is not solved", TIES),
    ("VISCO", PLASTIC, STATIC),
    ("GREEN", "steps of this kind are not solved", STATIC),
    ("SENSITIVITY", "steps of this kind are not solved", STATIC),
    ("ELECTROMAGNETICS", "steps of this kind are not solved", STATIC),
    ("SUBSTRUCTUREGENERATE", "steps of this kind are not solved", STATIC),
    ("CFD", "fluids are not solved", STATIC),
    ("SUBMODEL", "values of another model's results are not read", "*BOUNDARY with values is"),
    ("MODELCHANGE", "parts that come and go are not solved", "a deck for each state"),
    ("CHANGEMATERIAL", "materials that change between steps are not solved", "a deck for each state"),
    ("CHANGESOLIDSECTION", "materials that change between steps are not solved", "a deck for each state"),
    (
        "SELECTCYCLICSYMMETRYMODES",
        "modes that differ from sector to sector are not solved",
        "a model of the whole ring",
    ),
    (
        "DISTRIBUTION",
        "axes from element to element are not read",
        "*ORIENTATION is, of rectangular and cylindrical axes",
    ),
    ("INITIALSTRAININCREASE", "initial strains are not solved", "*TEMPERATURE with *EXPANSION strains a body"),
];

const PLASTIC: &str = "materials that yield or creep are not solved";
const LINEAR: &str = "*ELASTIC is; a linear answer shows where the part would yield";
const SOLIDS: &str = "mesh the part with solids: C3D20, C3D10";
const CONTACT: &str = "contact is not solved";
const TIES: &str = "*TIE joins two surfaces";
const FILMS: &str = "*FILM is; near one temperature its coefficient may stand for radiation";
const STATIC: &str = "steps of *STATIC, *FREQUENCY, *BUCKLE, *HEAT TRANSFER, and *STEADY STATE DYNAMICS, *MODAL DYNAMIC behind \
                      *FREQUENCY are solved";

/// The parameters of cards that stand most often, or change the answer.
const PARAMETERS: &[(&str, &[&str])] = &[
    ("BOUNDARY", &["OP", "AMPLITUDE", "FIXED", "TIMEDELAY", "USER", "SUBMODEL", "STEP", "DATASET", "LOADCASE", "TYPE"]),
    ("CLOAD", &["OP", "AMPLITUDE", "TIMEDELAY", "USER", "SUBMODEL", "STEP", "DATASET", "LOADCASE", "SECTOR", "OMEGA0"]),
    ("DLOAD", &["OP", "AMPLITUDE", "TIMEDELAY", "LOADCASE", "SECTOR", "CONSTRAINTNAME"]),
    ("DSLOAD", &["OP", "AMPLITUDE", "TIMEDELAY", "SUBMODEL", "STEP", "DATASET", "LOADCASE"]),
    ("TEMPERATURE", &["OP", "AMPLITUDE", "TIMEDELAY", "USER", "SUBMODEL", "STEP", "DATASET", "FILE", "BSTEP"]),
    ("SOLIDSECTION", &["ELSET", "MATERIAL", "ORIENTATION", "OFFSET", "NODALTHICKNESS", "CONTROLS", "COMPOSITE"]),
    ("ELASTIC", &["TYPE", "DEPENDENCIES", "MODULI"]),
    ("EXPANSION", &["TYPE", "ZERO", "DEPENDENCIES"]),
    ("DENSITY", &["DEPENDENCIES"]),
    ("TIE", &["NAME", "POSITIONTOLERANCE", "ADJUST", "CYCLICSYMMETRY", "TYPE", "NOROTATION", "TIENSET"]),
    ("CYCLICSYMMETRYMODEL", &["N", "NGRAPH", "TIE", "ELSET", "CHECK"]),
    ("TRANSFORM", &["NSET", "TYPE"]),
    ("ORIENTATION", &["NAME", "SYSTEM", "DEFINITION", "LOCALDIRECTIONS"]),
    ("BUCKLE", &["SOLVER"]),
    ("FREQUENCY", &["SOLVER", "STORAGE", "GLOBAL", "CYCMPC"]),
    ("STEADYSTATEDYNAMICS", &["SOLVER", "HARMONIC", "CYCMPC"]),
    ("MODALDYNAMIC", &["SOLVER", "DIRECT", "STEADYSTATE", "DELTMX"]),
    ("MODALDAMPING", &["RAYLEIGH"]),
    ("BASEMOTION", &["DOF", "AMPLITUDE", "TYPE", "SCALE", "LOADCASE", "NSET", "BASENAME"]),
    (
        "HEATTRANSFER",
        &[
            "STEADYSTATE",
            "DIRECT",
            "DELTMX",
            "SOLVER",
            "TIMERESET",
            "TOTALTIMEATSTART",
            "FREQUENCY",
            "MODALDYNAMIC",
            "STORAGE",
        ],
    ),
    ("CFLUX", &["OP", "AMPLITUDE", "TIMEDELAY", "USER", "ADD"]),
    ("DFLUX", &["OP", "AMPLITUDE", "TIMEDELAY"]),
    ("FILM", &["OP", "AMPLITUDE", "FILMAMPLITUDE", "TIMEDELAY", "FILMTIMEDELAY"]),
    ("CONDUCTIVITY", &["TYPE", "DEPENDENCIES"]),
    ("SPECIFICHEAT", &["DEPENDENCIES"]),
    ("SPRING", &["ELSET", "NONLINEAR", "ORIENTATION"]),
    ("RIGIDBODY", &["NSET", "ELSET", "REFNODE", "ROTNODE"]),
    ("COUPLING", &["REFNODE", "SURFACE", "CONSTRAINTNAME", "ORIENTATION", "INFLUENCERADIUS"]),
];

impl Reader<'_> {
    /// Warns of parameters that a card does not have: mostly they are misspelt.
    fn check_parameters(&mut self, card: &Card) {
        let Some((_, known)) = PARAMETERS.iter().find(|(name, _)| *name == card.name) else { return };
        let unknown = card.parameters.iter().filter(|parameter| !known.contains(&parameter.name.as_str()));
        let written = self.deck.written(card);
        let said = unknown.map(|of| format!("{written}: the parameter {} is not known, and without effect", of.name));
        self.warnings.extend(said.collect::<Vec<_>>());
    }
}

/// Takes a card.
pub(super) fn take(reader: &mut Reader<'_>, card: &Card) -> Read {
    reader.check_parameters(card);
    match card.name.as_str() {
        // They are in their place, or in the geometry.
        "INCLUDE" | "NODE" | "NGEN" | "ELEMENT" | "NSET" | "ELSET" | "SURFACE" => Ok(()),
        "MATERIAL" => reader.material(card),
        "ELASTIC" | "DENSITY" | "EXPANSION" | "CONDUCTIVITY" | "SPECIFICHEAT" => reader.constants(card),
        "SOLIDSECTION" => reader.solid_section(card),
        "ORIENTATION" => reader.orientation(card),
        "TRANSFORM" => reader.transform(card),
        "AMPLITUDE" => reader.amplitude(card),
        "BOUNDARY" => reader.boundary(card),
        "EQUATION" => reader.equation(card),
        "RIGIDBODY" => reader.rigid_body(card),
        "COUPLING" => reader.coupling(card),
        "KINEMATIC" | "DISTRIBUTING" => reader.coupling_kind(card),
        "DISTRIBUTINGCOUPLING" => reader.distributing_coupling(card),
        "MPC" => reader.mean_rotation(card),
        "TIE" => reader.tie(card),
        "CYCLICSYMMETRYMODEL" => reader.sector(card),
        "PRE-TENSIONSECTION" => reader.bolt(card),
        "SPRING" => reader.spring(card),
        "MASS" => reader.mass(card),
        "INITIALCONDITIONS" => reader.initial_conditions(card),
        "TEMPERATURE" => reader.temperature(card),
        "STEP" => reader.step(card),
        "STATIC" => reader.static_step(card),
        "BUCKLE" => reader.modes_step(card, Study::Buckling),
        "FREQUENCY" => reader.modes_step(card, Study::Modal),
        "STEADYSTATEDYNAMICS" => reader.steady_state(card),
        "MODALDYNAMIC" => reader.modal_dynamic(card),
        "MODALDAMPING" => reader.modal_damping(card),
        "BASEMOTION" => reader.base_motion(card),
        "HEATTRANSFER" | "UNCOUPLEDTEMPERATURE-DISPLACEMENT" | "COUPLEDTEMPERATURE-DISPLACEMENT" => {
            reader.heat_step(card)
        }
        "CFLUX" => reader.cflux(card),
        "DFLUX" | "DSFLUX" => reader.dflux(card),
        "FILM" | "SFILM" => reader.film(card),
        "ENDSTEP" => reader.end_step(card),
        "CLOAD" => reader.cload(card),
        "DLOAD" => reader.dload(card),
        "DSLOAD" => reader.dsload(card),
        "NODEPRINT" | "ELPRINT" => reader.print(card),
        "SECTIONPRINT" => reader.section_print(card),
        "NODEFILE" | "ELFILE" | "NODEOUTPUT" | "ELEMENTOUTPUT" => {
            reader.file(card);
            Ok(())
        }
        name if PASSED.contains(&name) => Ok(()),
        // A section of no elements makes nothing.
        "SHELLSECTION" | "MEMBRANESECTION" | "MEMBRANE" | "BEAMSECTION" if reader.is_of_nothing(card) => Ok(()),
        // A *TIE names them, or nothing does.
        "SURFACEINTERACTION" | "SURFACEBEHAVIOR" | "FRICTION" => Ok(()),
        name => Err(refusal(reader, card, name)),
    }
}

impl Reader<'_> {
    fn is_of_nothing(&self, card: &Card) -> bool {
        let elements = card.word("ELSET").and_then(|name| self.geometry.element_sets.get(&name));
        elements.is_none_or(Vec::is_empty)
    }
}

fn refusal(reader: &Reader<'_>, card: &Card, name: &str) -> Box<Mistake> {
    let written = reader.deck.written(card);
    match REFUSED.iter().find(|(refused, ..)| *refused == name) {
        Some((_, why, instead)) => Mistake::at(card.place.clone(), format!("{written}: {why}"), *instead),
        None => {
            let help = "docs/decks.md lists the cards that are read";
            Mistake::at(card.place.clone(), format!("the card {written} is not known"), help)
        }
    }
}
