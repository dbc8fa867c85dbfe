//! A block's shared memory: one dynamic array and one static array for each call site and type.

const GUARD: u8 = 0xA5;

/// 128 bytes, the alignment of every array.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct Chunk([u8; 128]);

/// An array of `bytes` bytes and a guard after it that reveals writes past its end.
struct Array {
    memory: Vec<Chunk>,
    bytes: usize,
}

impl Array {
    fn new(bytes: usize) -> Self {
        Self { memory: vec![Chunk([GUARD; 128]); bytes / 128 + 1], bytes }
    }

    fn data(&mut self) -> &mut [u8] {
        // SAFETY: a chunk is 128 initialized bytes without padding.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.memory.len() * 128) }
    }

    fn fill(&mut self, value: u8) {
        let bytes = self.bytes;
        self.data()[..bytes].fill(value);
    }

    /// Whether the guard is whole; repairs it if not.
    fn check(&mut self) -> bool {
        let bytes = self.bytes;
        let guard = &mut self.data()[bytes..];
        let whole = guard.iter().all(|&byte| byte == GUARD);
        guard.fill(GUARD);
        whole
    }
}

struct Static {
    site: u64,
    type_name: &'static str,
    fresh: bool,
    array: Array,
}

/// The shared memory of the block that a worker runs; its arrays are kept from block to block.
pub struct Shared {
    dynamic: Array,
    statics: Vec<Static>,
    fill: u8,
}

impl Shared {
    /// No arrays yet.
    pub fn new() -> Self {
        Self { dynamic: Array::new(0), statics: Vec::new(), fill: 0xFF }
    }

    /// Drops the arrays of the last kernel and makes room for this one's dynamic memory.
    pub fn begin_launch(&mut self, dynamic_bytes: usize, poison: bool) {
        self.statics.clear();
        self.dynamic = Array::new(dynamic_bytes);
        self.fill = if poison { 0xFF } else { 0 };
    }

    /// Makes every array as undefined as it is at the start of a block.
    pub fn begin_block(&mut self) {
        self.dynamic.fill(self.fill);
        self.statics.iter_mut().for_each(|entry| entry.fresh = false);
    }

    /// Whether no thread wrote past the end of an array.
    pub fn end_block(&mut self) -> bool {
        let dynamic = self.dynamic.check();
        self.statics.iter_mut().fold(dynamic, |whole, entry| entry.array.check() && whole)
    }

    /// The dynamic memory.
    pub fn dynamic(&mut self) -> *mut u8 {
        self.dynamic.memory.as_mut_ptr().cast()
    }

    /// The array of a call site for values of type `T`.
    pub fn array<T>(&mut self, site: u64) -> *mut T {
        const { assert!(align_of::<T>() <= 128, "shared memory is aligned to 128 bytes at most") }
        let type_name = std::any::type_name::<T>();
        let found = self.statics.iter().position(|entry| entry.site == site && entry.type_name == type_name);
        let k = found.unwrap_or_else(|| {
            let array = Array::new(size_of::<T>());
            self.statics.push(Static { site, type_name, fresh: false, array });
            self.statics.len() - 1
        });
        let entry = &mut self.statics[k];
        if !entry.fresh {
            entry.array.fill(self.fill);
            entry.fresh = true;
        }
        entry.array.memory.as_mut_ptr().cast()
    }
}
