//! Loops that join all members of a thread group.
//!
//! One loop stores the handles of the threads that it creates in an array; another one reads the same elements, and
//! joins each, upwards or downwards. If both cover the same range of indices and nothing else writes the handles, every member has
//! ended when control leaves the second loop.

use super::groups::{Group, JoinedByNumber, ThreadGroups, instruction, one_place, only_model, plain};
use crate::cfg::loops::{Counter, Loop};
use crate::domain::congruence::Congruence;
use crate::domain::linear::linear;
use crate::models::Model;
use crate::pointer::address::BaseId;
use crate::pointer::{InstanceId, PointsTo, ThreadId};
use crate::race::lifetime::{ended, ends};
use crate::race::touch::touched;
use racehunter_ir::{BinaryOperator, Function, Operand, Operation, Predicate};
use std::collections::BTreeSet;

impl ThreadGroups {
    /// Finds loops after which all members have ended.
    pub(super) fn find_joins(&mut self, points_to: &PointsTo<'_>, thread: ThreadId, group: &Group) {
        let instance = &points_to.instances[group.creator];
        let function = instance.function;
        let blocks = &points_to.blocks[function];
        let code = points_to.program.function(function).0;
        let Some((Model::Create(create), call)) = only_model(points_to, group.creator, group.at) else { return };
        let Some(handle) = create.handle.and_then(|index| call.operands.get(index + 1)) else { return };
        let stored = linear(points_to, group.creator, handle);
        let [(scale, index)] = &stored.terms[..] else { return };
        let loops = self.loops(points_to, function);
        let (mut found, mut numbered) = (Vec::new(), Vec::new());
        let Some(creating) = loops.all.iter().find(|other| other.header == group.header) else { return };
        let Some(filled) = (creating.counters(code).into_iter())
            .find(|counter| plain(points_to, index) == (group.creator, instruction(counter.phi)))
        else {
            return;
        };
        for &at in instance.outside.keys() {
            let Some((Model::Join(join), call)) = only_model(points_to, group.creator, at) else { continue };
            let Some(around) = loops.innermost(blocks.block_of[at as usize]) else { continue };
            let Some(Operand::Instruction(load)) = call.operands.get(join.handle + 1) else { continue };
            let load = code.instruction(*load);
            let (Operation::Load { .. }, [address]) = (&load.operation, &load.operands[..]) else { continue };
            let loaded = linear(points_to, group.creator, address);
            let [(other_scale, other_index)] = &loaded.terms[..] else { continue };
            let same_array =
                loaded.root == stored.root || one_place(points_to, &loaded.root) == one_place(points_to, &stored.root);
            let is_one = one_place(points_to, &stored.root).is_some();
            if !same_array || !is_one || scale != other_scale || loaded.constant != stored.constant {
                continue;
            }
            let counters = around.counters(code);
            // The number, or the one before it.
            let number = plain(points_to, other_index);
            let found_by = |counter: &Counter| {
                let phi = instruction(counter.phi);
                let is_before = || number.0 == group.creator && predecessor(code, &number.1) == Some(&phi);
                if number == (group.creator, phi.clone()) { Some(0) } else { is_before().then_some(-1) }
            };
            let Some((emptied, distance)) = counters.iter().find_map(|counter| Some((counter, found_by(counter)?)))
            else {
                continue;
            };
            // Nothing else changes the handles, so each is that of the member with its number.
            let handles = points_to.operand(group.creator, address);
            let untouched = handles.only().is_some_and(|(base, offset)| {
                points_to.writers(base, offset) == BTreeSet::from([(group.creator, group.at)])
            });
            // Its number is the one that the members were given.
            if untouched && distance == 0 && filled.phi == group.counter.phi && around.header != group.header {
                numbered.push(JoinedByNumber { at, header: around.header, number: emptied.phi });
            }
            let same_end = match (&emptied.below, &filled.below) {
                (Some((one, end)), Some((other, filled_to))) if one == other => {
                    let is_one_value =
                        end == filled_to && around.is_outside(blocks, end) && creating.is_outside(blocks, end);
                    let kept = |end: &Operand| kept(points_to, group.creator, creating, end);
                    is_one_value || kept(end).is_some_and(|place| Some(place) == kept(filled_to))
                }
                _ => false,
            };
            let upwards = distance == 0
                && emptied.start == filled.start
                && matches!(emptied.start, Operand::Integer(_))
                && (emptied.step, filled.step) == (1, 1)
                && same_end;
            // Where the creating loop ended: at its bound, or at the value that its counter had then.
            let ended = |operand: &Operand| {
                let is_counter = *operand == instruction(filled.phi) && creating.ends_at_header(blocks);
                let is_bound = |(_, end): &(Predicate, Operand)| {
                    end == operand && around.is_outside(blocks, end) && creating.is_outside(blocks, end)
                };
                is_counter || filled.below.as_ref().is_some_and(is_bound)
            };
            let downwards = (emptied.step, filled.step) == (-1, 1)
                && is_downwards(code, around, (emptied, distance), &filled.start, ended);
            let same_range = upwards || downwards;
            let always = around.latches.iter().all(|&latch| loops.dominates(blocks.block_of[at as usize], latch));
            if !same_range || !always || !around.ends_at_header(blocks) || around.header == group.header {
                continue;
            }
            if untouched {
                for &next in &blocks.successors[around.header as usize] {
                    if !around.body.contains(&next) {
                        found.push((group.creator, around.header, next));
                    }
                }
            }
        }
        self.joins.insert(thread, numbered);
        for edge in found {
            self.waited_for.entry(edge).or_default().push(thread);
        }
    }
}

/// Returns the value that is one more than this one.
fn predecessor<'a>(code: &'a Function, value: &Operand) -> Option<&'a Operand> {
    let Operand::Instruction(at) = value else { return None };
    let sum = code.instruction(*at);
    match (&sum.operation, &sum.operands[..]) {
        (Operation::Binary(BinaryOperator::Add), [value, Operand::Integer(-1)]) => Some(value),
        (Operation::Binary(BinaryOperator::Subtract), [value, Operand::Integer(1)]) => Some(value),
        _ => None,
    }
}

/// Returns true if a loop that counts down reaches all numbers from the one before the end of another loop to the first of that
/// loop. `distance` is added to the counter of each iteration.
fn is_downwards(
    code: &Function,
    down: &Loop,
    (emptied, distance): (&Counter, i64),
    first: &Operand,
    is_end: impl Fn(&Operand) -> bool,
) -> bool {
    let Operand::Integer(first) = first else { return false };
    let starts_at_last = match (&emptied.start, distance) {
        (start, -1) => is_end(start),
        (Operand::Integer(last), _) => last.checked_add(1).is_some_and(|end| is_end(&Operand::Integer(end))),
        (start, _) => predecessor(code, start).is_some_and(is_end),
    };
    let lowest = down.while_above(code, &instruction(emptied.phi)).and_then(|above| above.checked_add(1 + distance));
    starts_at_last && lowest.is_some_and(|lowest| lowest <= *first)
}

/// Returns the place and size that a number is read from, if nothing writes there once control has reached a loop.
fn kept(points_to: &PointsTo<'_>, id: InstanceId, from: &Loop, number: &Operand) -> Option<(BaseId, i64, u64)> {
    let function = points_to.instances[id].function;
    let blocks = &points_to.blocks[function];
    let Operand::Instruction(load) = number else { return None };
    let load = points_to.program.function(function).0.instruction(*load);
    let (Operation::Load { bytes, volatile: false, .. }, [address]) = (&load.operation, &load.operands[..]) else {
        return None;
    };
    let (base, at) = one_place(points_to, &(id, address.clone()))?;
    let mut after = BTreeSet::from([from.header]);
    let mut work = vec![from.header];
    while let Some(block) = work.pop() {
        work.extend(blocks.successors[block as usize].iter().copied().filter(|&next| after.insert(next)));
    }
    let is_before = |(mut writer, mut at): (InstanceId, u32)| {
        while writer != id {
            let instance = &points_to.instances[writer];
            match instance.caller.filter(|_| !instance.shared) {
                Some(call) => (writer, at) = call,
                None => return false,
            }
        }
        !after.contains(&blocks.block_of[at as usize])
    };
    writers(points_to, id, (base, at, *bytes)).into_iter().all(is_before).then_some((base, at, *bytes))
}

/// Returns all instructions that may write to a place, except the end of a function that uses it: nothing in the
/// function comes after that.
fn writers(points_to: &PointsTo<'_>, user: InstanceId, place: (BaseId, i64, u64)) -> Vec<(InstanceId, u32)> {
    let (base, at, bytes) = place;
    let mut found = Vec::new();
    for (index, instance) in (0..).zip(&points_to.instances) {
        let id = InstanceId(index);
        let code = points_to.program.function(instance.function).0;
        for (number, instruction) in (0..).zip(&code.instructions) {
            let is_over = id == user && ends(&instruction.operation);
            let over = if is_over { Vec::new() } else { ended(points_to, id, number) };
            let touches = touched(points_to, id, number).into_iter().chain(over);
            let is_hit = |(other, offset): (BaseId, Congruence), length: u64| {
                other == base && offset.overlaps(length, Congruence::exact(at), bytes)
            };
            let mut writes = touches.filter(|touch| touch.mode.stores());
            if writes.any(|touch| touch.addresses.iter().any(|address| is_hit(address, touch.bytes))) {
                found.push((id, number));
            }
        }
    }
    found
}
