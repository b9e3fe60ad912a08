//! State outside the program's memory: files, their names, the working directory.

/// The state that an event of [`crate::Kind::State`] touches, in one word: up to four cells. The runtime assigns state to
/// cells; states that share a cell count as the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched(u64);

const PARTS: u32 = 4;
const CHANGES: u16 = 1 << 15;

impl Touched {
    /// Maximum number of cells; they are numbered from 1.
    pub const CELLS: u16 = CHANGES - 1;

    /// Adds a cell that is read or changed. Returns false if there is no room.
    pub const fn add(&mut self, cell: u16, changes: bool) -> bool {
        let part = cell & Self::CELLS | if changes { CHANGES } else { 0 };
        let mut at = 0;
        while at < PARTS {
            let known = self.part(at);
            if known == 0 || known & Self::CELLS == part & Self::CELLS {
                self.0 |= (part as u64) << (16 * at);
                return true;
            }
            at += 1;
        }
        false
    }

    const fn part(self, at: u32) -> u16 {
        (self.0 >> (16 * at)) as u16
    }

    /// Returns the cells, and whether each is changed.
    pub fn parts(self) -> impl Iterator<Item = (u16, bool)> {
        (0..PARTS).map(move |at| self.part(at)).filter(|part| part & Self::CELLS != 0).map(|part| {
            let changes = part & CHANGES != 0;
            (part & Self::CELLS, changes)
        })
    }

    /// Returns whether any of them is changed.
    #[must_use]
    pub fn changes(self) -> bool {
        self.parts().any(|(_, changes)| changes)
    }

    /// Packs them into one word.
    #[must_use]
    pub const fn pack(self) -> u64 {
        self.0
    }

    /// Unpacks a word.
    #[must_use]
    pub const fn unpack(word: u64) -> Self {
        Self(word)
    }
}

/// Returns the object number of a cell, which is neither an address nor the object behind a descriptor.
#[must_use]
pub const fn state_object(cell: u16) -> u64 {
    1 << 62 | cell as u64
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn packed_cells_survive_and_a_change_overrides_a_read() {
        let mut touched = Touched::default();
        assert!(touched.add(7, false) && touched.add(Touched::CELLS, true) && touched.add(7, true));
        let parts: Vec<_> = Touched::unpack(touched.pack()).parts().collect();
        assert_eq!(parts, [(7, true), (Touched::CELLS, true)]);
        assert!(touched.changes());
    }

    #[test]
    fn there_is_room_for_four() {
        let mut touched = Touched::default();
        assert!((1..=4).all(|cell| touched.add(cell, false)));
        assert!(!touched.add(5, false) && touched.add(4, false));
        assert!(!touched.changes());
    }
}
