//! Predicts the next shape: a thread that repeats something usually continues as it did the last time.

/// For each shape, the one that last came after it in the current block.
#[derive(Default)]
pub(super) struct Successors {
    of: Vec<Option<u32>>,
}

impl Successors {
    /// Starts a block, which can have this many shapes.
    pub(super) fn begin(&mut self, shapes: usize) {
        self.of.clear();
        self.of.resize(shapes, None);
    }

    /// Returns the shape that is expected after another one; nothing at the start of a thread's events.
    pub(super) fn after(&self, before: Option<u32>) -> Option<u32> {
        self.of[before? as usize]
    }

    /// Notes that a shape came after another one.
    pub(super) fn note(&mut self, before: Option<u32>, shape: u32) {
        if let Some(before) = before {
            self.of[before as usize] = Some(shape);
        }
    }
}
