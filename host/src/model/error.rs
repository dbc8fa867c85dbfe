//! What can be wrong with a case file, and with the model it describes.

/// What can be wrong with a case file, with the place.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {}

/// Why a model cannot be solved.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {}
