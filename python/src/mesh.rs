//! Meshes.

use crate::error::detached;
use crate::values::Values;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use warpfem::element::ElementKind;
use warpfem::mesh::{self, Block, Members};
use warpfem::model::case;

/// Name, dimension, number of nodes, VTK's code, which node VTK has at each place (none: the same order), Gmsh's code.
type Element = (&'static str, usize, usize, u8, &'static [usize], i32);

/// What is known of each kind of element.
#[pyfunction]
pub fn elements() -> Vec<Element> {
    let of = |kind: &ElementKind| {
        let info = kind.info();
        (info.name, info.dim, info.n_nodes, info.vtk, info.vtk_order, info.gmsh)
    };
    ElementKind::ALL.iter().map(of).collect()
}

/// A block of elements: its kind, nodes, and which of the kind's nodes is at each place.
type GivenBlock = (String, PyBuffer<i64>, Vec<usize>);
/// A group: its name, its nodes, or its elements by block.
type GivenGroup = (String, Option<PyBuffer<i64>>, Vec<(usize, PyBuffer<i64>)>);

/// Name and dimension of a group, and its elements by block.
type Group = (String, usize, Vec<(usize, Values)>);

#[pyclass(frozen)]
pub struct Mesh(pub Arc<mesh::Mesh>);

#[pymethods]
impl Mesh {
    /// That of a file of Gmsh's or of a deck.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Mesh> {
        let read = || {
            Ok(match case::is_deck(&path) {
                true => case::deck_mesh(&path)?,
                false => mesh::Mesh::read(&path)?,
            })
        };
        Ok(Mesh(Arc::new(detached(py, read)?)))
    }

    #[staticmethod]
    fn from_arrays(
        py: Python<'_>,
        points: PyBuffer<f64>,
        blocks: Vec<GivenBlock>,
        groups: Vec<GivenGroup>,
    ) -> PyResult<Mesh> {
        let points: Vec<[f64; 3]> = points.to_vec(py)?.as_chunks().0.to_vec();
        let kinds = blocks.iter().map(|(name, ..)| kind_of(name)).collect::<PyResult<Vec<_>>>()?;
        let nodes = blocks.iter().map(|(_, nodes, _)| positions(py, nodes)).collect::<PyResult<Vec<_>>>()?;
        let groups = groups.into_iter().map(|group| members(py, group)).collect::<PyResult<Vec<_>>>()?;
        let each = kinds.into_iter().zip(&nodes).zip(&blocks);
        let blocks: Vec<Block> = each.map(|((kind, nodes), (.., order))| Block { kind, nodes, order }).collect();
        Ok(Mesh(Arc::new(detached(py, || Ok(mesh::Mesh::from_arrays(points, &blocks, groups)?))?)))
    }

    #[getter]
    fn points(&self) -> Values {
        Values::new(&self.0, |mesh| mesh.coords.as_flattened(), 3)
    }

    #[getter]
    fn node_tags(&self) -> Values {
        Values::new(&self.0, |mesh| mesh.node_tags.as_slice(), 0)
    }

    /// Kind, nodes and tags of each block.
    #[getter]
    fn cells(&self) -> Vec<(&'static str, Values, Values)> {
        let of = |block: usize| {
            let info = self.0.cells[block].kind.info();
            let nodes = Values::new(&self.0, |mesh| mesh.cells[block].nodes.as_slice(), info.n_nodes);
            (info.name, nodes, Values::new(&self.0, |mesh| mesh.cells[block].tags.as_slice(), 0))
        };
        (0..self.0.cells.len()).map(of).collect()
    }

    #[getter]
    fn groups(&self) -> Vec<Group> {
        let of = |(i, group): (usize, &mesh::Group)| {
            let cells = |(k, (block, _)): (usize, &(usize, _))| {
                (*block, Values::new(&self.0, |mesh| mesh.groups[i].members[k].1.as_slice(), 0))
            };
            (group.name.clone(), group.dim, group.members.iter().enumerate().map(cells).collect())
        };
        self.0.groups.iter().enumerate().map(of).collect()
    }

    #[getter]
    fn dim(&self) -> usize {
        self.0.dim()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }
}

fn kind_of(name: &str) -> PyResult<ElementKind> {
    ElementKind::from_name(name).ok_or_else(|| {
        let all: Vec<&str> = ElementKind::ALL.iter().map(|kind| kind.info().name).collect();
        PyValueError::new_err(format!("there is no element `{name}`; there are {}", all.join(", ")))
    })
}

/// Positions, which are not negative.
fn positions(py: Python<'_>, array: &PyBuffer<i64>) -> PyResult<Vec<u64>> {
    let all = array.to_vec(py)?;
    let one =
        |i: &i64| u64::try_from(*i).map_err(|_| PyValueError::new_err(format!("{i} is no position: it is negative")));
    all.iter().map(one).collect()
}

fn members(py: Python<'_>, (name, nodes, cells): GivenGroup) -> PyResult<(String, Members)> {
    let members = match nodes {
        Some(nodes) => Members::Nodes(positions(py, &nodes)?),
        None => {
            let of = |(block, cells): &(usize, PyBuffer<i64>)| Ok((*block, positions(py, cells)?));
            Members::Cells(cells.iter().map(of).collect::<PyResult<_>>()?)
        }
    };
    Ok((name, members))
}
