//! Vectors on a device, and what is done with them: [`Space`].
//!
//! Coefficients are *device-resident scalars*: a dot product leaves its result where the next step reads it, and
//! [`Space::read`] is the only call that waits. Sums are formed over parts of a fixed length and added in order, so
//! results do not depend on the number of threads. Of several ranks the sums are of all of them, where they work
//! [together](Space::together).

mod comm;
mod fused;
mod several;
mod vectors;

pub use comm::{Comm, Traffic, local_rank, values_in};
pub(crate) use fused::{advance, descend};
pub(crate) use several::{views, views_mut};
pub use vectors::Blocks;
pub(crate) use vectors::inner;

use crate::device::{Buffer, Device, DeviceName, Grid, Launcher, Link, Piece, Recording};
use crate::parallel;
use crate::result::{Error, Result};
use cuda_std::launch::Kernel;
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::blas::{AddScalars, PackScalars, Ratio, SetScalars};
use kernels_rs::cg_persistent::N_SUMS;
use kernels_rs::real::Real;
use kernels_rs::reduce::{BLOCK, MAX_SUMS, Reduction};
use std::borrow::Cow;
use std::cell::{Cell, RefCell, RefMut};
use std::ops::{Deref, Range};
use std::rc::Rc;

/// Entries per partial sum on the CPU: 64 KiB of f64, and a thousand tasks at ten million unknowns.
pub(crate) const CHUNK: usize = 8192;

/// A device-resident scalar, by its place in the bank of [`N_SCALARS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scalar(u32);

impl Scalar {
    /// The constant 1, in the last place.
    pub const ONE: Scalar = Scalar(N_SCALARS as u32 - 1);

    /// The scalar at a place before the last.
    pub const fn new(place: usize) -> Self {
        assert!(place < N_SCALARS - 1, "no such scalar");
        Scalar(place as u32)
    }

    /// Its place, as kernels take it.
    pub(crate) fn place(self) -> u32 {
        self.0
    }
}

/// Device-resident scalars of a space.
pub const N_SCALARS: usize = 768;

/// A coefficient `factor num / den` of device-resident scalars; 0 where either is 0.
#[derive(Debug, Clone, Copy)]
pub struct Quotient {
    /// Numerator.
    pub num: Scalar,
    /// Denominator.
    pub den: Scalar,
    /// What the quotient is multiplied by.
    pub factor: f64,
}

impl Quotient {
    /// 1.
    pub const ONE: Quotient = Quotient::new(Scalar::ONE, Scalar::ONE);
    /// -1.
    pub const MINUS_ONE: Quotient = Quotient::ONE.minus();

    /// `num / den`.
    pub const fn new(num: Scalar, den: Scalar) -> Self {
        Quotient { num, den, factor: 1.0 }
    }

    /// The same with the other sign.
    pub const fn minus(self) -> Self {
        self.times(-1.0)
    }

    /// That many times as much.
    pub const fn times(self, factor: f64) -> Self {
        Quotient { factor: factor * self.factor, ..self }
    }
}

/// Device-resident scalars, and what launches need that add up to them.
pub(crate) struct Bank {
    /// `[N_SCALARS]`.
    pub(crate) scalars: Buffer<f64>,
    /// Partial sums, enough for the largest launch so far.
    pub(crate) partials: Buffer<f64>,
    ticket: Buffer<u32>,
    /// The word of the grid's barrier.
    pub(crate) barrier: Buffer<u32>,
    /// Sums of this rank, and of all.
    of_ranks: [Buffer<f64>; 2],
}

/// A device, and the arithmetic of vectors on it.
///
/// The arrays are dropped before the device, which owns their memory.
pub struct Space {
    bank: RefCell<Bank>,
    /// Room for the sums of products with half of a symmetric matrix on the CPU, as much as one has asked for.
    scratch: RefCell<Vec<f64>>,
    comm: Comm,
    /// The devices of the other ranks, and how these reach one another, until threads take them.
    others: Vec<(DeviceName, Comm)>,
    /// Whether vectors are parts of those of all ranks.
    is_together: Cell<bool>,
    /// The way of the ranks' GPUs to each other, if they have one.
    link: RefCell<Option<Rc<dyn Link>>>,
    device: Device,
}

impl Deref for Space {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}

impl Space {
    /// The vectors of a device.
    pub fn new(device: Device) -> Result<Space> {
        Space::of_rank(device, Comm::Alone)
    }

    /// The vectors of the device of a rank.
    pub fn of_rank(device: Device, comm: Comm) -> Result<Space> {
        let mut bank = vec![0.0; N_SCALARS];
        bank[N_SCALARS - 1] = 1.0;
        let full_grid = if let Device::Gpu(launcher) = &device { launcher.full_grid() } else { 0 };
        let bank = Bank {
            partials: device.zeros(N_SUMS * full_grid)?,
            ticket: device.zeros(1)?,
            scalars: device.upload_vec(bank)?,
            barrier: device.zeros(1)?,
            of_ranks: [device.zeros(MAX_SUMS)?, device.zeros(MAX_SUMS * comm.size())?],
        };
        let (bank, scratch, is_together, others) = (RefCell::new(bank), RefCell::default(), Cell::new(false), vec![]);
        Ok(Space { bank, scratch, comm, others, is_together, link: RefCell::default(), device })
    }

    /// The vectors of the first of several devices: statics are solved on all of them, by threads of this process.
    pub fn open_several(devices: &[DeviceName]) -> Result<Space> {
        let Some((first, others)) = devices.split_first() else { return Ok(Space::cpu()) };
        let mut comms = Comm::threads(devices.len()).into_iter();
        let comm = comms.next().filter(|_| !others.is_empty()).unwrap_or(Comm::Alone);
        let space = Space::of_rank(first.open()?, comm)?;
        Ok(Space { others: others.iter().copied().zip(comms).collect(), ..space })
    }

    /// The devices of the other ranks, and how these reach one another.
    pub fn others(&self) -> &[(DeviceName, Comm)] {
        &self.others
    }

    /// Links the ranks' GPUs anew, if each has its own and all have a library for that; all ranks ask at once.
    ///
    /// # Errors
    ///
    /// [`Error::Device`], [`Error::Abandoned`]
    pub fn connect(&self) -> Result<()> {
        self.link.replace(None);
        let all = self.comm.gather(self.device.identity().into_bytes())?;
        let is_alone = |(k, own): (usize, &Vec<u8>)| !own.is_empty() && !all[..k].contains(own);
        let can = all.iter().enumerate().all(is_alone);
        let name = if can && self.comm.rank() == 0 { self.device.new_link() } else { Vec::new() };
        let name = self.comm.gather(name)?.swap_remove(0);
        if !name.is_empty() {
            let link = self.device.link(&name, [self.comm.rank(), self.comm.size()])?;
            self.comm.break_by(link.breaker());
            self.link.replace(Some(link.into()));
        }
        Ok(())
    }

    /// The way of the ranks' GPUs to each other, if they have one.
    pub(crate) fn link(&self) -> Option<Rc<dyn Link>> {
        self.link.borrow().clone()
    }

    /// What this rank has had to do with the others so far; waits.
    pub fn traffic(&self) -> Result<Traffic> {
        let of_devices = self.link().map_or(Ok(0.0), |link| link.seconds())?;
        let traffic = self.comm.traffic();
        Ok(Traffic { waited_s: traffic.waited_s + of_devices, ..traffic })
    }

    /// How this rank reaches the others.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }

    /// Whether vectors are parts of those of all ranks.
    pub fn is_together(&self) -> bool {
        self.is_together.get()
    }

    /// Does what all ranks do at once: vectors are parts of those of all, and sums are over all.
    pub fn together<R>(&self, work: impl FnOnce() -> R) -> R {
        self.as_part(self.comm.size() > 1, work)
    }

    /// Does what each rank does by itself meanwhile, or all do alike.
    pub fn apart<R>(&self, work: impl FnOnce() -> R) -> R {
        self.as_part(false, work)
    }

    fn as_part<R>(&self, is_together: bool, work: impl FnOnce() -> R) -> R {
        let before = self.is_together.replace(is_together);
        let result = work();
        self.is_together.set(before);
        result
    }

    /// The sums of some numbers over the ranks that work together.
    pub fn add_ranks(&self, values: &mut [f64]) -> Result<()> {
        self.reduce_ranks(values, |a, b| a + b)
    }

    /// The largest of some numbers of the ranks that work together.
    pub fn largest_of_ranks(&self, values: &mut [f64]) -> Result<()> {
        self.reduce_ranks(values, f64::max)
    }

    fn reduce_ranks(&self, values: &mut [f64], by: fn(f64, f64) -> f64) -> Result<()> {
        if self.is_together() { self.comm.reduce(values, by) } else { Ok(()) }
    }

    /// Sends pieces of a vector to other ranks, which have asked for as many bytes, and receives pieces of another: by the
    /// devices' own way, in the order of their launches, or by messages.
    pub(crate) fn exchange<T: Real>(
        &self,
        (from, sent): (&Buffer<T>, &[Piece]),
        (to, come): (&mut Buffer<T>, &[Piece]),
    ) -> Result<()> {
        self.begin_exchange((from, sent), (to, come))?;
        self.end_exchange(to, come)
    }

    /// The first half: what is sent has been read.
    pub(crate) fn begin_exchange<T: Real>(
        &self,
        (from, sent): (&Buffer<T>, &[Piece]),
        (to, come): (&mut Buffer<T>, &[Piece]),
    ) -> Result<()> {
        if let Some(link) = self.link() {
            self.comm.count(sent.iter().map(|piece| piece.bytes));
            return link.begin_exchange(from.memory(), sent, to.memory_mut(), come);
        }
        let values = if self.on_host() { Cow::Borrowed(from.host()) } else { Cow::Owned(self.download(from)?) };
        let bytes: &[u8] = bytemuck::cast_slice(&values);
        sent.iter().for_each(|piece| self.comm.send(piece.rank, bytes[piece.first..][..piece.bytes].to_vec()));
        Ok(())
    }

    /// The second half: waits for messages.
    pub(crate) fn end_exchange<T: Real>(&self, to: &mut Buffer<T>, come: &[Piece]) -> Result<()> {
        if let Some(link) = self.link() {
            return link.end_exchange();
        }
        let receive = |values: &mut [T]| {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
            come.iter().try_for_each(|piece| {
                bytes[piece.first..][..piece.bytes].copy_from_slice(&self.comm.receive(piece.rank)?);
                Ok(())
            })
        };
        if self.on_host() {
            return receive(to.host_mut());
        }
        let mut values = vec![T::ZERO; to.len()];
        receive(&mut values)?;
        *to = self.upload_vec(values)?;
        Ok(())
    }

    /// As [`Device::record`]; nothing where work waits for other ranks.
    pub fn record(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<Box<dyn Recording>>> {
        if self.is_together() { Ok(None) } else { self.device.record(work) }
    }

    /// The vectors of the device of this name.
    pub fn open(name: DeviceName) -> Result<Space> {
        Space::new(name.open()?)
    }

    /// The vectors of the CPU.
    pub fn cpu() -> Space {
        // A few words of the host's memory.
        Space::new(Device::Cpu).unwrap_or_else(|_| unreachable!("the CPU is always there"))
    }

    /// The vectors of what a launcher launches on.
    pub fn gpu(launcher: impl Launcher + 'static) -> Result<Space> {
        Space::new(Device::Gpu(Box::new(launcher)))
    }

    /// The bank of device-resident scalars, `[N_SCALARS]`.
    pub fn scalars(&self) -> View<f64> {
        self.bank.borrow().scalars.view()
    }

    /// Device-resident scalars as the host sees them; waits. NaN and infinity are errors.
    ///
    /// # Errors
    ///
    /// [`Error::Breakdown`] and [`Error::Device`].
    pub fn read<const N: usize>(&self, scalars: [Scalar; N]) -> Result<[f64; N]> {
        let mut bank = [0.0; N_SCALARS];
        self.download_into(&self.bank.borrow().scalars, &mut bank)?;
        let values = scalars.map(|scalar| bank[scalar.0 as usize]);
        check_finite(&values)?;
        Ok(values)
    }

    /// A quotient as kernels take it.
    pub fn ratio(&self, quotient: Quotient) -> Ratio {
        Ratio { scalars: self.scalars(), num: quotient.num.0, den: quotient.den.0, factor: quotient.factor }
    }

    /// A quotient of the CPU's scalars.
    pub(crate) fn quotient(&self, quotient: Quotient) -> f64 {
        assert!(self.on_host(), "scalars are read as they are");
        // SAFETY: scalars are indices into the bank by construction, and host views check.
        unsafe { self.ratio(quotient).value() }
    }

    /// Sets scalars of the CPU.
    pub(crate) fn set<const M: usize>(&self, scalars: [Scalar; M], values: [f64; M]) {
        let mut bank = self.bank.borrow_mut();
        scalars.iter().zip(values).for_each(|(scalar, value)| bank.scalars.host_mut()[scalar.0 as usize] = value);
    }

    /// What launches need that add up.
    pub(crate) fn bank(&self) -> RefMut<'_, Bank> {
        self.bank.borrow_mut()
    }

    /// Room for some sums on the CPU.
    pub(crate) fn scratch(&self) -> RefMut<'_, Vec<f64>> {
        self.scratch.borrow_mut()
    }

    /// Adds up M sums over rows `0..n`: on the CPU what `on_cpu` returns for a part of them, on a GPU by a launch that
    /// strides over them.
    ///
    /// # Safety
    /// Both keep their contracts for these rows. Parts of the CPU run at the same time.
    pub(crate) unsafe fn sum<const M: usize, K: Kernel>(
        &self,
        n: usize,
        out: [Scalar; M],
        on_gpu: impl FnOnce(Reduction) -> K,
        on_cpu: impl Fn(Range<usize>) -> [f64; M] + Sync,
    ) -> Result<()> {
        if self.on_host() {
            let mut sums = add_up(parallel::map_ranges(n, CHUNK, &on_cpu));
            self.add_ranks(&mut sums)?;
            self.set(out, sums);
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.sum_on_gpu(n, out, on_gpu) }
    }

    /// The half of [`Space::sum`] that a GPU does.
    ///
    /// # Safety
    /// The kernel's own contract.
    pub(crate) unsafe fn sum_on_gpu<const M: usize, K: Kernel>(
        &self,
        n: usize,
        out: [Scalar; M],
        kernel: impl FnOnce(Reduction) -> K,
    ) -> Result<()> {
        let blocks = self.stride_grid(n);
        let kernel = kernel(self.reduction(blocks, out)?);
        // SAFETY: the caller's promise.
        unsafe { self.launch_sum(blocks, kernel) }?;
        if self.is_together() { self.add_scalars(out) } else { Ok(()) }
    }

    /// Replaces scalars of a GPU by their sums over the ranks.
    fn add_scalars<const M: usize>(&self, out: [Scalar; M]) -> Result<()> {
        let mut places = [0; MAX_SUMS];
        places.iter_mut().zip(out).for_each(|(place, scalar)| *place = scalar.0);
        if let Some(link) = self.link() {
            let Bank { scalars, of_ranks: [own, terms], .. } = &mut *self.bank.borrow_mut();
            // SAFETY: all live as long as the space; places are those of scalars, the first M of different ones.
            unsafe {
                self.run(MAX_SUMS, PackScalars { places, scalars: scalars.view(), to: own.view_mut() })?;
                self.comm.count((1..self.comm.size()).map(|_| own.memory().bytes()));
                link.gather(own.memory(), terms.memory_mut())?;
                let (terms, scalars) = (terms.view(), scalars.view_mut());
                return self.run(M, AddScalars { n: MAX_SUMS, places, terms, scalars });
            }
        }
        let mut bank = [0.0; N_SCALARS];
        self.download_into(&self.bank.borrow().scalars, &mut bank)?;
        let mut sums = out.map(|scalar| bank[scalar.0 as usize]);
        self.add_ranks(&mut sums)?;
        let mut values = [0.0; MAX_SUMS];
        values[..M].copy_from_slice(&sums);
        let scalars = self.bank.borrow_mut().scalars.view_mut();
        // SAFETY: the bank lives; places are those of different scalars.
        unsafe { self.run(M, SetScalars { places, values, scalars }) }
    }

    /// Starts a kernel of so many blocks that adds up over its grid, into a [reduction](Space::reduction) of as many.
    ///
    /// # Safety
    /// The kernel's own contract.
    pub(crate) unsafe fn launch_sum(&self, blocks: usize, kernel: impl Kernel) -> Result<()> {
        // SAFETY: the caller keeps the kernel's contract; there is a partial sum per block.
        let launched = unsafe { self.launch(Grid::new(blocks, BLOCK), kernel) };
        if launched.is_err() {
            // Blocks that ran have taken tickets, and nobody was last.
            self.bank.borrow_mut().ticket = self.zeros(1)?;
        }
        launched
    }

    /// Where a launch of `blocks` blocks puts its sums.
    pub(crate) fn reduction<const M: usize>(&self, blocks: usize, out: [Scalar; M]) -> Result<Reduction> {
        let (partials, ticket) = self.partials(MAX_SUMS * blocks)?;
        let mut indices = [0; MAX_SUMS];
        indices.iter_mut().zip(out).for_each(|(index, scalar)| *index = scalar.0);
        let scalars = self.bank.borrow_mut().scalars.view_mut();
        Ok(Reduction { partials, ticket, scalars, out: indices })
    }

    /// Room for `n` partial sums of a launch, and its ticket.
    fn partials(&self, n: usize) -> Result<(ViewMut<f64>, ViewMut<u32>)> {
        let mut bank = self.bank.borrow_mut();
        if bank.partials.len() < n {
            self.finish()?;
            bank.partials = self.zeros(n)?;
        }
        Ok((bank.partials.view_mut(), bank.ticket.view_mut()))
    }

    /// Blocks of a grid-stride loop over `n` entries.
    fn stride_grid(&self, n: usize) -> usize {
        let Device::Gpu(launcher) = &self.device else { return 1 };
        n.div_ceil(BLOCK).clamp(1, launcher.full_grid())
    }
}

/// Sums in the order of the parts, whatever thread formed them.
pub(crate) fn add_up<const M: usize>(partials: Vec<[f64; M]>) -> [f64; M] {
    let mut total = [0.0; M];
    for partial in partials {
        total.iter_mut().zip(partial).for_each(|(total, term)| *total += term);
    }
    total
}

/// The entries of some rows of a vector of the CPU.
///
/// # Safety
/// The view is of an array of the host that lives, and nobody else uses these rows.
pub(crate) unsafe fn rows_mut<'a, T: cuda_std::prelude::DeviceCopy>(x: ViewMut<T>, rows: Range<usize>) -> &'a mut [T] {
    assert!(rows.end <= x.len(), "rows past the end");
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().add(rows.start), rows.len()) }
}

/// What [`Space::read`] does with what it read.
pub(crate) fn check_finite(values: &[f64]) -> Result<()> {
    if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(Error::Breakdown) }
}
