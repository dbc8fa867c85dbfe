//! What is solved for, and what its results are called: the summary's keys, and the words of report, picture and terminal.

/// What is solved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Physics {
    /// Displacements.
    #[default]
    Elasticity,
    /// A potential.
    Potential,
    /// Temperatures: the same equations in the words of heat.
    Heat,
}

/// Names and words of one physics.
#[derive(Debug)]
pub struct Words {
    /// The field that is solved for.
    pub unknown: &'static str,
    /// What is right to so many digits.
    pub unknowns: &'static str,
    /// How the summary tells of the unknown.
    pub extremes: Extremes,
    /// The field at the centres of the elements by which results are judged, as a tensor's or vector's magnitude.
    pub centres: &'static str,
    /// The same at the nodes.
    pub nodal: &'static str,
    /// What that is called, and in short.
    pub intensity: [&'static str; 2],
    /// The field at the nodes that pictures are coloured by.
    pub shown: &'static str,
    /// What the report's view in space can show.
    pub solid: &'static [&'static str],
    /// The summary's keys of the largest value away from supports and of whether it rises, if that is told.
    pub away: Option<[&'static str; 2]>,
    /// The table of what supports do to the body, and the summary's key of their sum.
    pub reactions: [&'static str; 2],
    /// What stands before a support's name in the terminal, and before the sum of all.
    pub reaction: [&'static str; 2],
    /// What stands before the loads in the terminal, and before their balance.
    pub loads: [&'static str; 2],
    /// The report's heading of loads and reactions.
    pub balance: &'static str,
    /// What stands before a support's name there.
    pub held: &'static str,
    /// The names of the sums there: of loads, if it stands there, of reactions, of both.
    pub sums: [Option<&'static str>; 3],
    /// What the balance is relative to.
    pub balance_note: &'static str,
    /// What a probe shows: the summary's key, and the field at the nodes.
    pub probed: &'static [[&'static str; 2]],
}

/// How the summary tells of the unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extremes {
    /// By its largest magnitude: the keys of the value and its place.
    Largest([&'static str; 2]),
    /// By both ends of its range: the keys of the smallest, its place, the largest, its place.
    Both([&'static str; 4]),
}

impl Extremes {
    /// The keys of the largest and, if it is told, the smallest, each with that of its place.
    pub fn keys(self) -> Vec<[&'static str; 2]> {
        match self {
            Extremes::Largest(keys) => vec![keys],
            Extremes::Both([min, min_at, max, max_at]) => vec![[max, max_at], [min, min_at]],
        }
    }
}

impl Physics {
    /// Its names and words.
    pub fn words(self) -> &'static Words {
        match self {
            Physics::Elasticity => &ELASTICITY,
            Physics::Potential => &POTENTIAL,
            Physics::Heat => &HEAT,
        }
    }

    /// Whether the unknown is a number at each node: a potential or a temperature.
    pub fn is_scalar(self) -> bool {
        self != Physics::Elasticity
    }
}

static ELASTICITY: Words = Words {
    unknown: "displacement",
    unknowns: "displacements",
    extremes: Extremes::Largest(["max_displacement", "max_displacement_at"]),
    centres: "von_mises",
    nodal: "von_mises_nodal",
    intensity: ["von Mises stress", "stress"],
    shown: "von_mises_nodal",
    solid: &["von_mises_nodal", "stress_nodal"],
    away: Some(["max_von_mises_away", "max_von_mises_away_rises"]),
    reactions: ["reactions", "reaction_sum"],
    reaction: ["reaction of", "all reactions"],
    loads: ["loads", "force balance error"],
    balance: "Loads and reactions",
    held: "reaction of",
    sums: [Some("all loads"), Some("all reactions"), Some("loads + reactions")],
    balance_note: "loads plus reactions, relative to all nodal forces",
    probed: &[["displacement", "displacement"], ["stress", "stress_nodal"]],
};

static POTENTIAL: Words = Words {
    unknown: "potential",
    unknowns: "potential",
    extremes: Extremes::Both(["min", "min_at", "max", "max_at"]),
    centres: "gradient",
    nodal: "gradient_nodal",
    intensity: ["gradient", "gradient"],
    shown: "potential",
    solid: &["potential", "gradient_nodal"],
    away: None,
    reactions: ["flows", "flow_sum"],
    reaction: ["flow in at", "flow in at all supports"],
    loads: ["flow from fluxes and sources", "balance error"],
    balance: "Flows",
    held: "held at",
    sums: [None, Some("all supports"), Some("sum")],
    balance_note: "the sum of all flows, relative to their sizes",
    probed: &[["potential", "potential"], ["gradient", "gradient_nodal"]],
};

static HEAT: Words = Words {
    unknown: "temperature",
    unknowns: "temperatures",
    extremes: Extremes::Both(["min", "min_at", "max", "max_at"]),
    centres: "heat_flux",
    nodal: "heat_flux_nodal",
    intensity: ["heat flux", "heat flux"],
    shown: "temperature",
    solid: &["temperature", "heat_flux_nodal"],
    away: None,
    reactions: ["flows", "flow_sum"],
    reaction: ["heat in at", "heat in at all supports and convection"],
    loads: ["heat from fluxes and sources", "balance error"],
    balance: "Heat",
    held: "held at",
    sums: [None, Some("all supports and convection"), Some("sum")],
    balance_note: "the sum of all heat flows, relative to their sizes",
    probed: &[["temperature", "temperature"], ["heat_flux", "heat_flux_nodal"]],
};
