//! Code compiled twice, for every x86-64 and for those with vectors of 256 bits, and chosen when it runs: a released
//! binary has to start on any machine, and most can do more.
//!
//! On an EPYC (Zen 3) the product of `ebw` gains 9 to 14 % (hex8) and 0 to 9 % (tet4). Assembly gains nothing, so item
//! kernels are compiled once. Products without a matrix have a cell in each lane of a vector ([`cuda_std::Lanes`]).

/// Work that gains from wide vectors. Only what is inlined into [`Work::run`] gets them: implementations are
/// `#[inline(always)]`.
pub trait Work {
    /// What it returns.
    type Output;
    /// Does it.
    fn run(self) -> Self::Output;
}

/// Does some work with 256-bit vectors (AVX2) where the machine has them. Products and sums are not fused (FMA), so
/// that every machine rounds alike.
#[inline]
pub fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2<W: Work>(work: W) -> W::Output {
            work.run()
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has it.
            return unsafe { with_avx2(work) };
        }
    }
    work.run()
}
