//! What a solution is expected to take on the CPU and on the GPU of a machine.

use super::decide::decide;
use super::facts::DeviceFacts;
use super::work::Work;
use crate::device::DeviceName;
use crate::model::Model;
use crate::result::Plan;
use crate::result::choices::Preconditioner;

/// What a solution is expected to take on the devices of this machine.
pub struct Expected {
    /// On the CPU.
    pub host: OnDevice,
    /// On a GPU, if there is one.
    pub gpu: Option<OnDevice>,
    /// Bytes of a multigrid hierarchy that the host has no room for, so that another preconditioner takes its place.
    pub no_room: Option<u64>,
}

/// How a model is solved on a device, and what that takes.
pub struct OnDevice {
    /// How it is solved.
    pub plan: Plan,
    /// What that takes.
    pub work: Work,
}

impl OnDevice {
    fn new(model: &Model, plan: Plan) -> OnDevice {
        OnDevice { work: Work::planned(model, &plan), plan }
    }
}

/// What a model that can be solved takes, with the `plan` for a device, on a host with so much memory free.
pub fn expect(model: &Model, plan: Plan, device: DeviceName, free: Option<u64>) -> Expected {
    let chosen = OnDevice::new(model, plan);
    let on = |device| OnDevice::new(model, decide(model, &DeviceFacts::guess(device)));
    let has_gpu = || !matches!(DeviceName::Auto.resolve(), DeviceName::Cpu);
    let (mut host, gpu) = match device.resolve() {
        DeviceName::Cpu => (chosen, has_gpu().then(|| on(DeviceName::Auto))),
        _ => (on(DeviceName::Cpu), Some(chosen)),
    };
    let has_room = |work: &Work| free.is_none_or(|free| work.memory.on_host() <= free);
    let mut no_room = None;
    if host.plan.preconditioner == Some(Preconditioner::Amg) && !has_room(&host.work) {
        let mut instead = host.plan.clone();
        instead.without_multigrid(model.solver.order);
        let instead = OnDevice::new(model, instead);
        if has_room(&instead.work) {
            no_room = Some(host.work.memory.hierarchy);
            host = instead;
        }
    }
    Expected { host, gpu, no_room }
}
