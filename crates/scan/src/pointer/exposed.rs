//! Addresses that a program lets out, and that may therefore come back: as numbers, or as data from outside.
//!
//! A number that is converted to a pointer leads to an object only if the address of that object was made a number before:
//! by a conversion, or by reading the bytes of a pointer as something else. That is the rule of C for the provenance of
//! pointers; another address would be guessed. In the same way, data from files and sockets are an address only if the
//! program has written it, as bytes or as text (`%p`).
//!
//! All such addresses are in the contents of [`Base::Exposed`]. Numbers that are converted, and functions that store
//! data from outside, read them from there.

use super::{InstanceId, POINTER, PointsTo};
use crate::domain::congruence::Congruence;
use crate::models::MemoryEffect;
use crate::pointer::address::{Addresses, Base, BaseId, Origin};
use crate::race::format;
use racehunter_ir::Instruction;
use std::collections::BTreeSet;

/// If more objects than this are let out, a number can lead anywhere.
const MOST_EXPOSED: usize = 8;

impl PointsTo<'_> {
    /// Notes that these addresses are let out.
    pub(super) fn expose(&mut self, id: InstanceId, at: u32, addresses: &Addresses) {
        let exposed = Addresses::one(self.base(Base::Exposed), Congruence::exact(0));
        // A number can lead anywhere already.
        if addresses.is_empty() || self.get(&exposed, POINTER).0.0.len() > MOST_EXPOSED {
            return;
        }
        let mut out = addresses.map(|_| Congruence::ANY);
        // The handle of a thread is a number anyway.
        out.0.retain(|&base, _| !matches!(self.describe(base), Base::Handle(_)));
        if !out.is_empty() {
            self.write(id, at, &exposed, &out);
        }
    }

    /// Returns all addresses that are let out, for an instruction that may get one of them.
    pub(super) fn exposed(&mut self, id: InstanceId, at: u32) -> Addresses {
        let exposed = Addresses::one(self.base(Base::Exposed), Congruence::exact(0));
        let found = self.read(id, at, &exposed, POINTER);
        if found.0.len() > MOST_EXPOSED { self.unknown(Origin::Exposed) } else { found }
    }

    /// Notes what a call of a function outside the program lets out.
    pub(super) fn expose_by_call(&mut self, id: InstanceId, at: u32, call: &Instruction, access: &MemoryEffect) {
        let argument = |this: &Self, index: usize| {
            call.operands.get(index + 1).map_or_else(Addresses::default, |operand| this.operand(id, operand))
        };
        if access.sends {
            for index in (0..call.operands.len()).filter(|&index| access.reads_argument(index)) {
                let memory = argument(self, index).map(|_| Congruence::ANY);
                let content = self.read(id, at, &memory, POINTER);
                self.expose(id, at, &content);
            }
        }
        if !self.prints_addresses(id, call, access) {
            return;
        }
        let first = access.format.map_or(usize::MAX, |format| format.saturating_add(1));
        for index in first..call.operands.len() {
            let printed = argument(self, index);
            self.expose(id, at, &printed);
        }
        for &index in &access.lists {
            let list = argument(self, index).map(|_| Congruence::ANY);
            let arguments = self.read(id, at, &list, POINTER).map(|_| Congruence::ANY);
            let printed = self.read(id, at, &arguments, POINTER);
            self.expose(id, at, &printed);
        }
    }

    /// Returns true if a call may print addresses.
    pub(crate) fn prints_addresses(&self, id: InstanceId, call: &Instruction, access: &MemoryEffect) -> bool {
        let Some(text) = access.format.and_then(|format| call.operands.get(format + 1)) else { return false };
        // A text that is not known yet has no letters yet.
        !self.operand(id, text).is_empty() && format::may_convert(self, id, text, b'p')
    }

    /// Returns the memory whose address a call of a function outside the program lets out.
    pub fn let_out(&self, id: InstanceId, call: &Instruction, access: &MemoryEffect) -> BTreeSet<BaseId> {
        let argument =
            |index: usize| call.operands.get(index + 1).map(|operand| self.operand(id, operand)).unwrap_or_default();
        let mut found = BTreeSet::new();
        if access.sends {
            for index in (0..call.operands.len()).filter(|&index| access.reads_argument(index)) {
                found.extend(argument(index).iter().flat_map(|(base, _)| self.contents(base)));
            }
        }
        if self.prints_addresses(id, call, access) {
            let first = access.format.map_or(usize::MAX, |format| format.saturating_add(1));
            found.extend((first..call.operands.len()).flat_map(|index| argument(index).0.into_keys()));
            for &index in &access.lists {
                let lists = argument(index);
                let arguments = lists.iter().flat_map(|(base, _)| self.contents(base));
                found.extend(arguments.flat_map(|arguments| self.contents(arguments)));
            }
        }
        found
    }
}
