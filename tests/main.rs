//! Tests of the library, one program: what they all make of its generic functions is compiled once.

mod amg;
mod assembly;
mod beams;
mod benchmarks;
mod cg;
mod coloring;
mod common;
mod convergence;
mod devices_agree;
mod direct;
mod elements;
mod femses;
mod formats;
mod kernels;
mod laplace;
mod layers;
mod mixed;
mod nodal;
mod out_of_memory;
mod patch;
mod plane;
mod precond;
mod ptx;
mod strategies;
mod symmetric;
mod topology;
