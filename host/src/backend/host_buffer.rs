//! Arrays in the host's own memory, of the CPU backend and the emulator.

use super::{Buffer, Plain};
use cuda_std::prelude::{View, ViewMut};

/// An array in host memory.
#[derive(Debug, Clone)]
pub struct HostBuffer<T>(pub Vec<T>);

impl<T: Plain> Buffer<T> for HostBuffer<T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn view(&self) -> View<T> {
        View::from_slice(&self.0)
    }

    fn view_mut(&mut self) -> ViewMut<T> {
        ViewMut::from_slice(&mut self.0)
    }
}
