//! What `core` has no function for, by LLVM's names, which change less often than those of `core`'s intrinsics.
//!
//! Votes and shuffles are marked convergent, so that no pass moves or duplicates them across branches; inline assembly
//! carries no such mark. Every lane of a mask must execute the call.

unsafe extern "C" {
    #[link_name = "llvm.fma.f32"]
    pub safe fn fma_f32(a: f32, b: f32, c: f32) -> f32;
    #[link_name = "llvm.fma.f64"]
    pub safe fn fma_f64(a: f64, b: f64, c: f64) -> f64;
    #[link_name = "llvm.sqrt.f32"]
    pub safe fn sqrt_f32(x: f32) -> f32;
    #[link_name = "llvm.sqrt.f64"]
    pub safe fn sqrt_f64(x: f64) -> f64;
    #[link_name = "llvm.floor.f32"]
    pub safe fn floor_f32(x: f32) -> f32;
    #[link_name = "llvm.floor.f64"]
    pub safe fn floor_f64(x: f64) -> f64;
    #[link_name = "llvm.ceil.f32"]
    pub safe fn ceil_f32(x: f32) -> f32;
    #[link_name = "llvm.ceil.f64"]
    pub safe fn ceil_f64(x: f64) -> f64;
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    pub safe fn lane_id() -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    pub safe fn activemask() -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    pub fn sync_warp(mask: u32);
    #[link_name = "llvm.nvvm.vote.all.sync"]
    pub fn warp_vote_all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    pub fn warp_vote_any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    pub fn warp_vote_ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    pub fn shuffle_xor(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    pub fn shuffle_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    pub fn shuffle_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    pub fn shuffle_idx(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
}
