//! Linear forms: addresses as a symbolic sum of a value, multiples of other values, and a constant.
//!
//! Two addresses with the same root and the same multiples have a known distance, whatever their values. This shows
//! that `lock(&p->mutex); p->count++` is locked, although `p` is unknown.

use crate::pointer::{InstanceId, PointsTo};
use racehunter_ir::{CastOperator, Operand, Operation};

/// A value of an instance of a function.
pub type InstanceValue = (InstanceId, Operand);

/// The parts of an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Linear {
    /// The value that it starts from.
    pub root: InstanceValue,
    /// Multiples of values that are added.
    pub terms: Vec<(u64, InstanceValue)>,
    /// Bytes that are added.
    pub constant: i64,
}

/// Maximum depth to which values are followed.
const MOST: u32 = 60;

/// Maximum number of parts of a computation that are examined.
const MOST_PARTS: u32 = 100;

/// Splits an address into its parts, through the calls that passed it.
pub fn linear(points_to: &PointsTo<'_>, id: InstanceId, operand: &Operand) -> Linear {
    let mut sum = Linear { root: (id, operand.clone()), terms: Vec::new(), constant: 0 };
    for _ in 0..MOST {
        let (id, operand) = sum.root.clone();
        let next = match &operand {
            Operand::Instruction(at) => {
                let code = points_to.code(id);
                let instruction = code.instruction(*at);
                match &instruction.operation {
                    Operation::Offset { constant, scales } => {
                        sum.constant = sum.constant.wrapping_add(*constant);
                        for (&scale, index) in scales.iter().zip(&instruction.operands[1..]) {
                            sum.terms.push((scale, extended(points_to, id, index)));
                        }
                        Some((id, instruction.operands[0].clone()))
                    }
                    Operation::Cast(CastOperator::Reinterpret) => Some((id, instruction.operands[0].clone())),
                    _ => None,
                }
            }
            Operand::Symbol(symbol, offset) if *offset != 0 => {
                sum.constant = sum.constant.wrapping_add(*offset);
                Some((id, Operand::Symbol(*symbol, 0)))
            }
            Operand::Parameter(_) => passed(points_to, id, &operand),
            _ => None,
        };
        match next {
            Some(next) => sum.root = next,
            None => break,
        }
    }
    sum.terms.sort_by_key(|(scale, (id, operand))| (*scale, *id, format!("{operand:?}")));
    sum
}

/// Returns the argument for a parameter, if only one place calls the function.
pub fn passed(points_to: &PointsTo<'_>, id: InstanceId, parameter: &Operand) -> Option<InstanceValue> {
    let Operand::Parameter(index) = parameter else { return None };
    let instance = &points_to.instances[id];
    let (caller, at) = instance.caller.filter(|_| !instance.shared)?;
    let outer = &points_to.instances[caller];
    if outer.outside.contains_key(&at) {
        return None;
    }
    let call = &points_to.program.function(outer.function).0.instructions[at as usize];
    call.operands.get(*index as usize + 1).map(|operand| (caller, operand.clone()))
}

/// Returns an index before its extension to the size of an address: every use of a variable as an index has its own
/// extension.
fn extended(points_to: &PointsTo<'_>, id: InstanceId, operand: &Operand) -> InstanceValue {
    let mut value = (id, operand.clone());
    for _ in 0..MOST {
        let next = match &value.1 {
            Operand::Instruction(at) => {
                let code = points_to.code(value.0);
                let instruction = code.instruction(*at);
                let is_extension = instruction.operation == Operation::Cast(CastOperator::SignExtend);
                is_extension.then(|| (value.0, instruction.operands[0].clone()))
            }
            Operand::Parameter(_) => passed(points_to, value.0, &value.1),
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => break,
        }
    }
    value
}

/// Returns the origin of a number, through conversions that keep 32-bit values distinct.
pub fn number(points_to: &PointsTo<'_>, id: InstanceId, operand: &Operand) -> InstanceValue {
    let mut value = (id, operand.clone());
    for _ in 0..MOST {
        let (id, operand) = value.clone();
        let next = match &operand {
            Operand::Instruction(at) => {
                let code = points_to.code(id);
                let instruction = code.instruction(*at);
                let keeps = match instruction.operation {
                    Operation::Cast(CastOperator::Truncate) => {
                        matches!(instruction.ty, racehunter_ir::Type::Integer(bits) if bits >= 32)
                    }
                    Operation::Cast(CastOperator::Float) => false,
                    Operation::Cast(_) => true,
                    _ => false,
                };
                keeps.then(|| (id, instruction.operands[0].clone()))
            }
            Operand::Parameter(_) => passed(points_to, id, &operand),
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => break,
        }
    }
    value
}

impl Linear {
    /// Returns true if the value of an instruction, or of any parameter if none is named, takes part, directly or in
    /// the computation of a part.
    pub fn depends_on(&self, points_to: &PointsTo<'_>, id: InstanceId, instruction: Option<u32>) -> bool {
        let mut work: Vec<InstanceValue> = self.terms.iter().map(|(_, value)| value.clone()).collect();
        work.push(self.root.clone());
        let mut looked_at = 0;
        while let Some((owner, operand)) = work.pop() {
            looked_at += 1;
            match (instruction, &operand) {
                _ if looked_at > MOST_PARTS => return true,
                (Some(at), Operand::Instruction(other)) if owner == id && other.0 == at => return true,
                (None, Operand::Parameter(_)) if owner == id => return true,
                (_, Operand::Instruction(other)) => {
                    let code = points_to.code(owner);
                    let instruction = code.instruction(*other);
                    let is_computed = matches!(
                        instruction.operation,
                        Operation::Binary(_) | Operation::Compare(_) | Operation::Select | Operation::Cast(_)
                    );
                    if is_computed {
                        work.extend(instruction.operands.iter().map(|operand| (owner, operand.clone())));
                    }
                }
                (_, Operand::Parameter(_)) => work.extend(passed(points_to, owner, &operand)),
                _ => {}
            }
        }
        false
    }

    /// Returns how many bytes this address is after another one, if that is known.
    pub fn behind(&self, other: &Self) -> Option<i64> {
        (self.root == other.root && self.terms == other.terms).then(|| self.constant.wrapping_sub(other.constant))
    }
}
