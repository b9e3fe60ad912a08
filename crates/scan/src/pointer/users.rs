//! Which instructions of a function use its values.

use racehunter_ir::{Function, Operand};

/// Instructions of a function that use its values.
#[derive(Debug, Default)]
pub(super) struct Users {
    pub(super) of_instructions: Vec<Vec<u32>>,
    pub(super) of_parameters: Vec<Vec<u32>>,
}

impl Users {
    pub(super) fn of(function: &Function) -> Self {
        let mut found = Self {
            of_instructions: vec![Vec::new(); function.instructions.len()],
            of_parameters: vec![Vec::new(); function.parameters.len()],
        };
        for (at, instruction) in function.instructions.iter().enumerate() {
            for operand in &instruction.operands {
                let users = match operand {
                    Operand::Instruction(used) => found.of_instructions.get_mut(used.0 as usize),
                    Operand::Parameter(used) => found.of_parameters.get_mut(*used as usize),
                    _ => None,
                };
                users.into_iter().for_each(|users| users.push(at as u32));
            }
        }
        found
    }
}
