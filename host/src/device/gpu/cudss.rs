//! Sparse factors of positive definite matrices by NVIDIA's cuDSS, where its library is found at run time. Nothing of it is needed to build.
//!
//! Declarations as in `cudss.h` of versions 0.7, 0.8 and 1.0; what differs between them is in [`Dialect`].

use super::driver::{device_address, failure, load};
use super::{DeviceMemory, Launcher, LowerBytes};
use crate::device::{Factorised, SparseFactor};
use crate::result::{Error, Result};
use cuda_loader::{Library, libloading};
use cust::stream::Stream;
use cust::sys;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::OnceLock;

/// Names of the library, newest first, beside what the environment variable says.
const LIBRARIES: [&str; 3] = ["libcudss.so.1", "libcudss.so.0", "libcudss.so"];
/// Names a library file to be opened instead.
const VARIABLE: &str = "WARPFEM_CUDSS";

// Values of `cudss.h` and CUDA's `library_types.h`.
const SUCCESS: c_int = 0;
const ALLOC_FAILED: c_int = 2;
const ANALYSIS: c_int = 3;
const FACTORIZATION: c_int = 4;
const SOLVE: c_int = 1008;
const DATA_INFO: c_int = 0;
const DATA_LU_NNZ: c_int = 1;
const DATA_PERM_REORDER_ROW: c_int = 4;
const DATA_DIAG: c_int = 8;
const POSITIVE_DEFINITE: c_int = 3;
const VIEW_LOWER: c_int = 1;
const BASE_ZERO: c_int = 0;
const COLUMN_MAJOR: c_int = 0;
const R_32I: c_int = 10;

/// The parts of its version that `cudssGetProperty` tells by these numbers.
const MAJOR_VERSION: c_int = 0;
const MINOR_VERSION: c_int = 1;

/// What cuDSS hands out: a handle, settings, data or a matrix.
type Opaque = *mut c_void;
type Status = c_int;
/// An address in the device's memory; of no array if it is 0.
type Address = sys::CUdeviceptr;
/// `cudssMatrixCreateCsr` of version 0.7: rows, columns, entries; offsets, their ends, columns and values; types of
/// indices and values, kind, part and base.
type NewCsr7 = unsafe extern "C" fn(
    *mut Opaque,
    i64,
    i64,
    i64,
    Address,
    Address,
    Address,
    Address,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
) -> Status;
/// The same since version 0.8, where offsets and columns may be of different types.
type NewCsr8 = unsafe extern "C" fn(
    *mut Opaque,
    i64,
    i64,
    i64,
    Address,
    Address,
    Address,
    Address,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
) -> Status;

struct Functions {
    create: unsafe extern "C" fn(*mut Opaque) -> Status,
    destroy: unsafe extern "C" fn(Opaque) -> Status,
    set_stream: unsafe extern "C" fn(Opaque, sys::CUstream) -> Status,
    config_create: unsafe extern "C" fn(*mut Opaque) -> Status,
    config_destroy: unsafe extern "C" fn(Opaque) -> Status,
    data_create: unsafe extern "C" fn(Opaque, *mut Opaque) -> Status,
    data_destroy: unsafe extern "C" fn(Opaque, Opaque) -> Status,
    data_get: unsafe extern "C" fn(Opaque, Opaque, c_int, Opaque, usize, *mut usize) -> Status,
    execute: unsafe extern "C" fn(Opaque, c_int, Opaque, Opaque, Opaque, Opaque, Opaque) -> Status,
    new_dense: unsafe extern "C" fn(*mut Opaque, i64, i64, i64, Address, c_int, c_int) -> Status,
    matrix_destroy: unsafe extern "C" fn(Opaque) -> Status,
    set_values: unsafe extern "C" fn(Opaque, Address) -> Status,
    dialect: Dialect,
}

/// What versions do not have in common.
enum Dialect {
    Before8(NewCsr7),
    Since8(NewCsr8),
}

impl Dialect {
    /// Whether a version, major and minor, has what came with 0.8; before 0.7 phases had other numbers.
    fn is_since_8(version: [c_int; 2]) -> Result<bool, String> {
        match version {
            [0, ..7] => {
                Err(format!("version {}.{} of cuDSS is too old: 0.7 or newer is needed", version[0], version[1]))
            }
            version => Ok(version >= [0, 8]),
        }
    }

    /// The number of `CUDSS_DATA_MEMORY_ESTIMATES`.
    fn memory_estimates(&self) -> c_int {
        match self {
            Dialect::Before8(_) => 12,
            Dialect::Since8(_) => 13,
        }
    }
}

fn functions() -> Result<&'static Functions, &'static str> {
    static FOUND: OnceLock<Result<Functions, String>> = OnceLock::new();
    FOUND.get_or_init(|| load(VARIABLE, &LIBRARIES, Functions::of)).as_ref().map_err(String::as_str)
}

/// Why there is no cuDSS, if there is none.
pub(super) fn missing() -> Option<String> {
    functions().err().map(|why| format!("{why}; {VARIABLE}=FILE names another"))
}

impl Functions {
    fn of(library: &'static Library) -> Result<Self, String> {
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the field that it goes into has the type that `cudss.h` declares for this name.
                *unsafe { library.get($name) }.map_err(|error: libloading::Error| error.to_string())?
            };
        }
        let property: unsafe extern "C" fn(c_int, *mut c_int) -> Status = function!(b"cudssGetProperty\0");
        let version = [MAJOR_VERSION, MINOR_VERSION].map(|part| {
            let mut number = 0;
            // SAFETY: writes one number. Where it fails the version stays 0.0.
            unsafe { property(part, &raw mut number) };
            number
        });
        let dialect = if Dialect::is_since_8(version)? {
            Dialect::Since8(function!(b"cudssMatrixCreateCsr\0"))
        } else {
            Dialect::Before8(function!(b"cudssMatrixCreateCsr\0"))
        };
        Ok(Functions {
            dialect,
            create: function!(b"cudssCreate\0"),
            destroy: function!(b"cudssDestroy\0"),
            set_stream: function!(b"cudssSetStream\0"),
            config_create: function!(b"cudssConfigCreate\0"),
            config_destroy: function!(b"cudssConfigDestroy\0"),
            data_create: function!(b"cudssDataCreate\0"),
            data_destroy: function!(b"cudssDataDestroy\0"),
            data_get: function!(b"cudssDataGet\0"),
            execute: function!(b"cudssExecute\0"),
            new_dense: function!(b"cudssMatrixCreateDn\0"),
            matrix_destroy: function!(b"cudssMatrixDestroy\0"),
            set_values: function!(b"cudssMatrixSetValues\0"),
        })
    }
}

/// A factorisation in progress, or done: cuDSS's objects, all of them or null, and the library.
struct Session {
    functions: &'static Functions,
    handle: Opaque,
    config: Opaque,
    data: Opaque,
    matrix: Opaque,
    solution: Opaque,
    rhs: Opaque,
    /// The kernels' own, in which cuDSS works too.
    stream: Rc<Stream>,
}

fn success(status: Status, doing: &str) -> Result<()> {
    match status {
        SUCCESS => Ok(()),
        code => Err(Error::Device(format!("cuDSS failed to {doing}: status {code}"))),
    }
}

impl Session {
    /// In a stream, with default settings, and without a matrix. Its deterministic setting stays off: with it version
    /// 0.7.1 never came back from a singular matrix.
    fn new(functions: &'static Functions, stream: &Rc<Stream>) -> Result<Self> {
        let [handle, config, data, matrix, solution, rhs] = [null_mut(); 6];
        let mut new = Session { functions, handle, config, data, matrix, solution, rhs, stream: stream.clone() };
        // SAFETY: each call writes one object, which is destroyed when the session is dropped; the stream lives as
        // long.
        unsafe {
            success((functions.create)(&raw mut new.handle), "start")?;
            success((functions.set_stream)(new.handle, stream.as_inner()), "use the stream")?;
            success((functions.config_create)(&raw mut new.config), "make its settings")?;
            success((functions.data_create)(new.handle, &raw mut new.data), "make room for its data")?;
        }
        Ok(new)
    }

    /// Sets the matrix, positive definite, by arrays on the device that live as long as the session; and the shape of
    /// vectors.
    fn set_matrix(&mut self, lower: &Lower) -> Result<()> {
        let (n, entries) = (lower.n as i64, lower.n_entries as i64);
        let [offsets, columns, values] = [&lower.row_start, &lower.columns, &lower.values].map(device_address);
        let kind = lower.kind as c_int;
        let (to, part) = (&raw mut self.matrix, VIEW_LOWER);
        // SAFETY: the arrays have the lengths and types that are said, and no ends of rows other than the next ones'
        // starts. Vectors get their addresses before they are used.
        unsafe {
            let made = match self.functions.dialect {
                Dialect::Before8(new) => {
                    new(to, n, n, entries, offsets, 0, columns, values, R_32I, kind, POSITIVE_DEFINITE, part, BASE_ZERO)
                }
                Dialect::Since8(new) => {
                    let (index, spd) = (R_32I, POSITIVE_DEFINITE);
                    new(to, n, n, entries, offsets, 0, columns, values, index, index, kind, spd, part, BASE_ZERO)
                }
            };
            success(made, "take the matrix")?;
            for vector in [&raw mut self.solution, &raw mut self.rhs] {
                // Any address of the device does until there is a vector.
                success((self.functions.new_dense)(vector, n, 1, n, values, kind, COLUMN_MAJOR), "take vectors")?;
            }
        }
        Ok(())
    }

    /// Does a phase; waits. Of a failure the library's status counts: its kernels may have gone astray after it.
    fn execute(&self, phase: c_int) -> Result<Status> {
        let Session { handle, config, data, matrix, solution, rhs, .. } = *self;
        // SAFETY: the session's own objects; phases are done in their order.
        let status = unsafe { (self.functions.execute)(handle, phase, config, data, matrix, solution, rhs) };
        let waited = self.stream.synchronize();
        if status == SUCCESS {
            waited.map_err(|error| failure(error, "factorise a matrix"))?;
        }
        Ok(status)
    }

    /// What cuDSS knows, on the host: `T` is the type that it has.
    fn get<T: bytemuck::Pod>(&self, what: c_int) -> Result<T> {
        self.get_array(what, 1).map(|values| values[0])
    }

    /// Bytes of the device that all phases take at most, as far as the analysis has got.
    fn most_memory(&self) -> Option<u64> {
        let [_for_good, at_most, ..] = self.get::<[i64; 16]>(self.functions.dialect.memory_estimates()).ok()?;
        u64::try_from(at_most).ok()
    }

    /// What it knows of every row, `[n]`.
    fn get_array<T: bytemuck::Pod>(&self, what: c_int, n: usize) -> Result<Vec<T>> {
        let (mut values, mut written) = (vec![T::zeroed(); n], 0);
        let (to, bytes) = (values.as_mut_ptr().cast(), size_of_val(&values[..]));
        // SAFETY: writes as many bytes as there are.
        let status = unsafe { (self.functions.data_get)(self.handle, self.data, what, to, bytes, &raw mut written) };
        success(status, "say what it has found").map(|()| values)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: what is not null is the session's own, and nobody uses it any more. There is nothing to be done about
        // a failure.
        unsafe {
            for matrix in [self.matrix, self.solution, self.rhs].into_iter().filter(|matrix| !matrix.is_null()) {
                (self.functions.matrix_destroy)(matrix);
            }
            if !self.data.is_null() {
                (self.functions.data_destroy)(self.handle, self.data);
            }
            if !self.config.is_null() {
                (self.functions.config_destroy)(self.config);
            }
            if !self.handle.is_null() {
                (self.functions.destroy)(self.handle);
            }
        }
    }
}

/// The type of a matrix's values, by CUDA's numbers.
#[derive(Clone, Copy)]
enum Kind {
    F32 = 0,
    F64 = 1,
}

/// A [`crate::device::LowerTriangle`] on the device.
struct Lower {
    n: usize,
    n_entries: usize,
    row_start: DeviceMemory,
    columns: DeviceMemory,
    values: DeviceMemory,
    kind: Kind,
}

/// A factor. The session goes before the arrays that it uses.
struct CudssFactor {
    session: Session,
    _lower: Lower,
    vector_bytes: usize,
    nonzeros: u64,
}

/// Factorises a matrix with a diagonal of 1; pivots below `smallest` are none.
pub(super) fn factorise(
    gpu: &impl Launcher,
    stream: &Rc<Stream>,
    lower: LowerBytes,
    smallest: f64,
) -> Result<Factorised> {
    let functions = functions().map_err(|why| Error::Device(why.into()))?;
    let (n, n_entries, value_bytes) = (lower.row_start.len() - 1, lower.columns.len(), lower.value_bytes);
    let kind = if value_bytes == size_of::<f32>() { Kind::F32 } else { Kind::F64 };
    let narrow = |index: &usize| i32::try_from(*index).map_err(|_| Error::TooLarge("more than 2^31 entries".into()));
    let indices = |from: &[usize]| from.iter().map(narrow).collect::<Result<Vec<i32>>>();
    let arrays = Lower {
        n,
        n_entries,
        row_start: gpu.upload(bytemuck::cast_slice(&indices(lower.row_start)?))?,
        columns: gpu.upload(bytemuck::cast_slice(&indices(lower.columns)?))?,
        values: gpu.upload(lower.values)?,
        kind,
    };
    let mut session = Session::new(functions, stream)?;
    session.set_matrix(&arrays)?;
    let available = gpu.free_memory();
    for (phase, doing) in [(ANALYSIS, "analyse the matrix"), (FACTORIZATION, "factorise the matrix")] {
        let status = session.execute(phase);
        let has_factor = phase == FACTORIZATION && matches!(status, Ok(SUCCESS));
        // What the analysis has taken is part of it, so that it may be short of that too.
        let needed = session.most_memory().filter(|needed| available.is_some_and(|available| *needed > available));
        if !has_factor && (needed.is_some() || matches!(status, Ok(ALLOC_FAILED))) {
            return Err(Error::OutOfMemory { device: gpu.name(), needed, available });
        }
        success(status?, doing)?;
    }
    let nonzeros = session.get::<i64>(DATA_LU_NNZ)?.max(0) as u64;
    let order: Vec<i32> = session.get_array(DATA_PERM_REORDER_ROW, n)?;
    let row = |place: usize| order.get(place).map_or(0, |row| *row as usize);
    // From 1, in the order of elimination.
    let failed = session.get::<c_int>(DATA_INFO)?;
    if failed != 0 {
        return Ok(Factorised::NotPositive { row: row((failed.max(1) - 1) as usize), pivot: None });
    }
    // Of L, in the order of elimination.
    let diagonal: Vec<f64> = match kind {
        Kind::F32 => session.get_array::<f32>(DATA_DIAG, n)?.into_iter().map(f64::from).collect(),
        Kind::F64 => session.get_array(DATA_DIAG, n)?,
    };
    let mut pivots = diagonal.iter().map(|l| l.powi(2)).enumerate();
    if let Some((place, pivot)) = pivots.find(|(_, pivot)| pivot.is_nan() || *pivot < smallest) {
        return Ok(Factorised::NotPositive { row: row(place), pivot: Some(pivot) });
    }
    Ok(Factorised::Done(Box::new(CudssFactor { session, _lower: arrays, vector_bytes: n * value_bytes, nonzeros })))
}

impl SparseFactor for CudssFactor {
    fn solve(&self, r: &DeviceMemory, x: &mut DeviceMemory) -> Result<()> {
        assert!([r.bytes(), x.bytes()] == [self.vector_bytes; 2], "vectors of another matrix");
        let Session { functions, rhs, solution, .. } = &self.session;
        // SAFETY: the vectors have the rows of the matrix, and live until `execute` has waited.
        unsafe {
            success((functions.set_values)(*rhs, device_address(r)), "take a right-hand side")?;
            success((functions.set_values)(*solution, device_address(x)), "take a solution")?;
        }
        success(self.session.execute(SOLVE)?, "solve")
    }

    fn nonzeros(&self) -> u64 {
        self.nonzeros
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart() {
        for version in [[0, 0], [0, 5], [0, 6]] {
            assert!(Dialect::is_since_8(version).unwrap_err().contains("too old"), "{version:?}");
        }
        assert!(!Dialect::is_since_8([0, 7]).unwrap());
        for version in [[0, 8], [0, 9], [1, 0], [1, 2], [2, 0]] {
            assert!(Dialect::is_since_8(version).unwrap(), "{version:?}");
        }
    }
}
