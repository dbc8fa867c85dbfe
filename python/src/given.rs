//! What Python gives to make a model of.

use crate::mesh::Mesh;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use warpfem::cli;
use warpfem::device::DeviceName;
use warpfem::model::{self, Case};

/// A case, by its text or else a file, and a mesh instead of the one that it names, if there is one. The path names the case
/// and says where other files are.
pub struct Given {
    path: PathBuf,
    text: Option<String>,
    mesh: Option<Arc<warpfem::mesh::Mesh>>,
    /// Whose memory it has to fit.
    pub device: DeviceName,
}

/// A model, and where it is from.
#[derive(Clone)]
pub struct Resolved {
    pub model: Arc<model::Model>,
    /// The names of its case and its mesh.
    pub origin: [String; 2],
    /// Seconds that reading took.
    pub read: f64,
}

impl Given {
    pub fn new(path: PathBuf, text: Option<String>, mesh: Option<&Mesh>, device: &str) -> PyResult<Given> {
        Ok(Given { path, text, mesh: mesh.map(|mesh| mesh.0.clone()), device: device_of(device)? })
    }

    /// The case and the model of it.
    fn case_and_model(self) -> anyhow::Result<(Case, model::Model)> {
        let case = match &self.text {
            Some(text) => Case::parse(&self.path, text)?,
            None => Case::read(&self.path)?,
        };
        let model = cli::model_of(&case, self.mesh, self.device)?;
        Ok((case, model))
    }

    /// The model.
    pub fn model(self) -> anyhow::Result<model::Model> {
        Ok(self.case_and_model()?.1)
    }

    /// The model, to be solved and to be told of.
    pub fn resolve(self) -> anyhow::Result<Resolved> {
        let start = Instant::now();
        let (case, model) = self.case_and_model()?;
        let origin = [case.path.display().to_string(), case.mesh_name()];
        Ok(Resolved { model: Arc::new(model), origin, read: start.elapsed().as_secs_f64() })
    }
}

/// The device of a name.
pub fn device_of(name: &str) -> PyResult<DeviceName> {
    name.parse().map_err(PyValueError::new_err)
}
