//! The memory that one instruction touches: loads and stores, and the effect of functions outside the program on their
//! arguments.
//!
//! Start at [`touched`].

use super::format;
use super::nothing::is_nothing;
use crate::domain::congruence::Congruence;
use crate::models::{Does, Model, Semaphore, Wait};
use crate::pointer::address::{Addresses, Base};
use crate::pointer::{InstanceId, PointsTo, STREAMS};
use racehunter_ir::{Instruction, Operand, Operation, Order};

/// Memory that an instruction touches.
pub(crate) struct Touch {
    pub(crate) address: Operand,
    pub(crate) addresses: Addresses,
    pub(crate) bytes: u64,
    pub(crate) mode: Mode,
}

/// What an instruction does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
    /// An operation on a synchronisation object. It changes the object, so that a plain read of its memory races with it, but
    /// nothing that the analysis follows.
    Operation,
}

impl Mode {
    fn made_atomic(self) -> Self {
        if self == Self::Read { Self::AtomicRead } else { Self::AtomicWrite }
    }

    /// Returns true if it stores a value in memory.
    pub(crate) fn stores(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite)
    }

    /// Returns true if it races with a read.
    pub(crate) fn changes(self) -> bool {
        self.stores() || self == Self::Operation
    }

    /// Returns true if it does not race with others like it.
    pub(crate) fn is_atomic(self) -> bool {
        !matches!(self, Self::Read | Self::Write)
    }
}

/// An unlimited number of bytes.
pub(crate) const ALL: u64 = 1 << 40;

/// Returns true if an instruction can touch memory.
pub(crate) fn touches(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Update { .. }
            | Operation::CompareExchange { .. }
            | Operation::Call
            | Operation::Invoke { .. }
    )
}

/// Returns all memory that an instruction touches.
pub(crate) fn touched(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> Vec<Touch> {
    let instance = &points_to.instances[id];
    let instruction = &points_to.program.function(instance.function).0.instructions[at as usize];
    let touch = |index: usize, bytes: u64, mode: Mode| {
        let address = instruction.operands[index].clone();
        Touch { addresses: points_to.operand(id, &address), address, bytes, mode }
    };
    let mode = |order: Option<Order>, plain: Mode| order.map_or(plain, |_| plain.made_atomic());
    match &instruction.operation {
        Operation::Load { bytes, order, .. } => vec![touch(0, *bytes, mode(*order, Mode::Read))],
        Operation::Store { bytes, order, .. } => vec![touch(1, *bytes, mode(*order, Mode::Write))],
        Operation::Update { bytes, .. } | Operation::CompareExchange { bytes, .. } => {
            vec![touch(0, *bytes, Mode::AtomicWrite)]
        }
        Operation::Call | Operation::Invoke { .. } => {
            let mut all = Vec::new();
            // The call copies the memory behind some of its arguments; which ones is unknown.
            let copies = |callee: &InstanceId| points_to.gets_copies(*callee);
            if instance.callees.get(&at).into_iter().flatten().any(copies) {
                let arguments = (1..instruction.operands.len()).map(|index| touch(index, ALL, Mode::Read));
                all.extend(arguments.filter(|touch| !touch.addresses.is_empty()));
            }
            for name in instance.outside.get(&at).into_iter().flatten() {
                let Some(model) = points_to.models.of(name) else { continue };
                touched_outside(points_to, id, instruction, &model, &mut all);
            }
            all
        }
        _ => Vec::new(),
    }
}

/// The memory of a synchronisation object, or the first part of it: no object is smaller.
const OBJECT: u64 = 4;
/// The memory of an object that begins or ends: most are at least as large.
const WHOLE: u64 = 32;

/// Collects what a function outside the program touches.
fn touched_outside(points_to: &PointsTo<'_>, id: InstanceId, call: &Instruction, model: &Model, all: &mut Vec<Touch>) {
    let arguments = call.operands.len().saturating_sub(1);
    let mut add = |index: usize, bytes: u64, mode: Mode| {
        let Some(address) = call.operands.get(index + 1).filter(|_| index < arguments) else { return };
        let addresses = points_to.operand(id, address);
        // Neither a null pointer nor a number is memory; any other pointer without targets was not followed.
        if !addresses.is_empty() || !is_nothing(points_to, id, address) {
            all.push(Touch { addresses, address: address.clone(), bytes, mode });
        }
    };
    // An object is operated on, or begins or ends.
    let operation = |is_whole: bool| if is_whole { (WHOLE, Mode::Write) } else { (OBJECT, Mode::Operation) };
    match model {
        Model::Access(access) => {
            let length = access.length.and_then(|index| call.operands.get(index + 1));
            let bytes = match length {
                Some(Operand::Integer(bytes)) => u64::try_from(*bytes).unwrap_or(ALL),
                _ => ALL,
            };
            let counts = access.format.is_some_and(|format| {
                call.operands.get(format + 1).is_none_or(|text| format::may_count(points_to, id, text))
            });
            for index in 0..arguments {
                let is_counted = counts && access.format.is_some_and(|format| index > format);
                if access.writes_argument(index) || is_counted {
                    add(index, bytes, Mode::Write);
                }
                if access.reads_argument(index) {
                    add(index, bytes, Mode::Read);
                }
                if access.uses.contains(&index) {
                    add(index, OBJECT, Mode::Operation);
                }
                if access.whole.contains(&index) {
                    add(index, WHOLE, Mode::Write);
                }
            }
            // Uses of a descriptor are atomic with respect to each other.
            for (index, mode) in [(access.descriptor, Mode::AtomicRead), (access.closes, Mode::Write)] {
                let Some(operand) = index.and_then(|index| call.operands.get(index + 1)) else { continue };
                let number =
                    if let Operand::Integer(number) = operand { Congruence::exact(*number) } else { Congruence::ANY };
                let addresses = Addresses::one(points_to.descriptors, number);
                all.push(Touch { addresses, address: Operand::Null, bytes: 1, mode });
            }
            for &index in access.lists.iter().filter(|&&index| index < arguments) {
                let address = call.operands[index + 1].clone();
                let addresses = listed(points_to, &points_to.operand(id, &address));
                if !addresses.is_empty() {
                    let mode = if counts { Mode::Write } else { Mode::Read };
                    all.push(Touch { addresses, address, bytes: ALL, mode });
                }
            }
        }
        Model::Allocate(allocate) => {
            allocate.reads.iter().for_each(|&index| add(index, ALL, Mode::Read));
            allocate.into.into_iter().for_each(|index| add(index, 8, Mode::Write));
            allocate.copies.into_iter().for_each(|index| add(index, ALL, Mode::Write));
        }
        // What else is given to such a function (a deadline, attributes) is read.
        Model::Lock(lock) => {
            add(lock.lock, OBJECT, Mode::Operation);
            (0..arguments).filter(|&index| index != lock.lock).for_each(|index| add(index, ALL, Mode::Read));
        }
        Model::Unlock(unlock) => {
            let (bytes, mode) = operation(unlock.whole);
            add(unlock.lock, bytes, mode);
            (0..arguments).filter(|&index| index != unlock.lock).for_each(|index| add(index, ALL, Mode::Read));
        }
        Model::Wait(Wait { lock, uses, reads }) => {
            add(*lock, OBJECT, Mode::Operation);
            uses.iter().for_each(|&index| add(index, OBJECT, Mode::Operation));
            reads.iter().for_each(|&index| add(index, ALL, Mode::Read));
        }
        Model::Semaphore(Semaphore { does, semaphore, reads, .. }) => {
            let (bytes, mode) = operation(*does == Does::Begin);
            add(*semaphore, bytes, mode);
            reads.iter().for_each(|&index| add(index, ALL, Mode::Read));
        }
        Model::Barrier(barrier) => {
            let (bytes, mode) = operation(barrier.count.is_some());
            add(barrier.barrier, bytes, mode);
            (0..arguments).filter(|&index| index != barrier.barrier).for_each(|index| add(index, ALL, Mode::Read));
        }
        Model::Call(call) => call.once.into_iter().for_each(|index| add(index, OBJECT, Mode::Operation)),
        Model::Release(release) => {
            add(release.pointer, ALL, Mode::Write);
            let stream = call.operands.get(release.pointer + 1).filter(|_| release.closes);
            if stream.is_some_and(|stream| has_number(points_to, &points_to.operand(id, stream))) {
                let addresses = Addresses::one(points_to.descriptors, Congruence::ANY);
                all.push(Touch { addresses, address: Operand::Null, bytes: 1, mode: Mode::Write });
            }
        }
        Model::Create(create) => {
            create.handle.into_iter().for_each(|index| add(index, 8, Mode::Write));
            let is_attribute =
                |index: &usize| ![create.entry, create.argument].contains(index) && create.handle != Some(*index);
            (0..arguments).filter(is_attribute).for_each(|index| add(index, ALL, Mode::Read));
        }
        Model::Variadic => add(0, ALL, Mode::Write),
        Model::Key(key) => add(key.key, 4, Mode::Write),
        // What a library is given to describe the error.
        Model::Throw => (0..arguments).for_each(|index| add(index, ALL, Mode::Read)),
        Model::EndOfCatch => {
            let addresses = points_to.destroyed(id);
            if !addresses.is_empty() {
                all.push(Touch { addresses, address: Operand::Undefined, bytes: ALL, mode: Mode::Write });
            }
        }
        Model::Join(_) => {
            add(1, 8, Mode::Write);
            (2..arguments).for_each(|index| add(index, ALL, Mode::Read));
        }
        _ => {}
    }
}

/// Returns true if the program may know the number of a stream's file descriptor: it asks for the numbers of streams,
/// makes streams of numbers, or the stream is a standard one.
fn has_number(points_to: &PointsTo<'_>, streams: &Addresses) -> bool {
    const LINKS: [&str; 5] = ["fileno", "fileno_unlocked", "dirfd", "fdopen", "fdopendir"];
    let is_standard = |(base, _)| match points_to.describe(base) {
        Base::Outside(name) => STREAMS.contains(&name.as_str()),
        Base::Unknown(_) => true,
        _ => false,
    };
    LINKS.iter().any(|name| points_to.program.has_symbol(name)) || streams.iter().any(is_standard)
}

/// Returns what the variable arguments in a list point to.
fn listed(points_to: &PointsTo<'_>, list: &Addresses) -> Addresses {
    let mut found = Addresses::default();
    for (list, _) in list.iter() {
        for arguments in points_to.contents(list) {
            for base in points_to.contents(arguments) {
                found.add(base, Congruence::ANY);
            }
        }
    }
    found
}
