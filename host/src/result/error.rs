//! What keeps a model from being solved, beside what is wrong with it.

use super::DirectError;

/// What the rooms that solve return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no solution.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no stiffness for this element type (exit code 4).
    #[error("elements of type {0} cannot be solved in this version")]
    NotSolvable(&'static str),
    /// A method, format or other choice does not go with the others (exit code 2).
    #[error("{what} `{name}` is not available; available: {}", available.join(", "))]
    NotAvailable {
        /// What was to be chosen.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        available: Vec<&'static str>,
    },
    /// A choice does not go with the model, the device, or other choices (exit code 2).
    #[error("{what} `{name}` {why}; available here: {}", available.join(", "))]
    Unsuited {
        /// What was to be chosen.
        what: &'static str,
        /// What was asked for.
        name: &'static str,
        /// Why not, as the rest of a sentence.
        why: String,
        /// What can.
        available: Vec<&'static str>,
    },
    /// Several devices cannot solve a model (exit code 2).
    #[error("{0}")]
    Devices(String),
    /// A direct solver has no solution (exit code 2 or 4).
    #[error(transparent)]
    Direct(#[from] DirectError),
    /// A count does not fit the integers the solver uses (exit code 4).
    #[error("the model is too large: {0}")]
    TooLarge(String),
    /// The numbers of the model overflow, or loads underflow, in the precision chosen (exit code 4).
    #[error("numbers overflow or vanish in this precision: check the units of loads, materials and coordinates")]
    Breakdown,
    /// The heat case that a model takes its temperatures from did not converge (exit code 5).
    #[error("the heat case `{0}` did not converge: solve it by itself to see why")]
    Heat(String),
    /// Displacements under the loads, about which modes were asked for, did not converge (exit code 5).
    #[error(
        "the displacements under the loads did not converge: solve them by themselves (`study = \"static\"`) to see why"
    )]
    Preload,
    /// Nothing buckles (exit code 4); the reversed loads do at so many times these.
    #[error("these loads buckle nothing, however large they are{}", .0.map_or(String::new(), |times| format!("; reversed they do, at {times:.4} times")))]
    NeverBuckles(Option<f64>),
    /// Loads are beyond those of buckling, and modes were asked for about them (exit code 4).
    #[error(
        "the loads exceed the buckling load: the body is unstable and has no natural frequencies under them; reduce them (`study = \"buckling\"` finds the limit)"
    )]
    Unstable,
    /// The problem does not fit in memory (exit code 6).
    #[error("out of memory on {device}{}", lack(*.needed, *.available))]
    OutOfMemory {
        /// The device that has too little.
        device: String,
        /// Bytes asked for, where it is known how many.
        needed: Option<u64>,
        /// Bytes there, where that is known.
        available: Option<u64>,
    },
    /// Results were not taken by the [`Sink`](super::Sink) they went to (exit code 8).
    #[error("{0}")]
    Sink(Box<dyn std::error::Error + Send + Sync>),
    /// A device is missing or failed (exit code 7).
    #[error("{0}")]
    Device(String),
    /// One of several devices failed, or its part of the body cannot be solved (exit code as of that).
    #[error("on rank {rank}: {error}")]
    Rank {
        /// Its number, from 0.
        rank: usize,
        /// What is wrong there.
        error: Box<Error>,
    },
    /// What the process of another rank has said (exit code as it has).
    #[error("{message}")]
    Said {
        /// Its words.
        message: String,
        /// Its exit code.
        code: u8,
    },
    /// Another rank has given up, which says why (exit code 7).
    #[error("another rank has given up")]
    Abandoned,
}

impl Error {
    /// The process exit code that stands for this kind of error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::NotAvailable { .. } | Error::Unsuited { .. } | Error::Devices(_) => 2,
            Error::NotSolvable(_)
            | Error::NeverBuckles(_)
            | Error::Unstable
            | Error::TooLarge(_)
            | Error::Breakdown => 4,
            Error::Direct(error) => error.exit_code(),
            Error::Heat(_) | Error::Preload => 5,
            Error::OutOfMemory { .. } => 6,
            Error::Device(_) | Error::Abandoned => 7,
            Error::Rank { error, .. } => error.exit_code(),
            Error::Said { code, .. } => *code,
            Error::Sink(_) => 8,
        }
    }
}

/// What is said of a lack of memory: bytes asked for and bytes there, as far as they are known.
fn lack(needed: Option<u64>, available: Option<u64>) -> String {
    match (needed.map(bytes), available.map(bytes)) {
        (Some(needed), Some(available)) => format!(": {needed} are needed, {available} are available"),
        (Some(needed), None) => format!(": {needed} are needed"),
        (None, Some(available)) => format!(": more than the {available} available is needed"),
        (None, None) => String::new(),
    }
}

/// A number of bytes in a unit that suits it.
fn bytes(n: u64) -> String {
    match n as f64 / f64::from(1 << 20) {
        mib if mib < 1024.0 => format!("{mib:.1} MiB"),
        mib => format!("{:.1} GiB", mib / 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_says_what_is_known_of_it() {
        let said = |needed, available| Error::OutOfMemory { device: "it".into(), needed, available }.to_string();
        let (much, little) = (Some(3 << 30), Some(1 << 20));
        assert_eq!(said(much, little), "out of memory on it: 3.0 GiB are needed, 1.0 MiB are available");
        assert_eq!(said(much, None), "out of memory on it: 3.0 GiB are needed");
        assert_eq!(said(None, little), "out of memory on it: more than the 1.0 MiB available is needed");
        assert_eq!(said(None, None), "out of memory on it");
    }
}
