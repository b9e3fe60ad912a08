//! Makes numbers small before compression, and restores them.
//!
//! Most numbers in a module are close to the previous one: operands are results of recent instructions, the next site
//! follows the last, line numbers increase. As differences they compress to about half the size. The functions here
//! rewrite a module in place; they are exact inverses of each other for any numbers, so nothing needs to be checked
//! before [`to_absolute`].

use crate::instruction::Operand;
use crate::module::{Location, Module};

/// Replaces numbers by differences.
pub fn to_relative(module: &mut Module) {
    walk(module, |number, expected| {
        let absolute = *number;
        *number = fold(absolute.wrapping_sub(expected));
        absolute
    });
}

/// Replaces differences by numbers.
pub fn to_absolute(module: &mut Module) {
    walk(module, |number, expected| {
        *number = unfold(*number).wrapping_add(expected);
        *number
    });
}

/// Visits the numbers in a fixed order, each with its expected value. `visit` returns the true number.
fn walk(module: &mut Module, visit: impl Fn(&mut u32, u32) -> u32) {
    let mut last = [0; 4];
    for (index, location) in module.locations.iter_mut().enumerate() {
        let Location { file, line, column, function, inlined_at } = location;
        last = [visit(&mut file.0, last[0]), visit(line, last[1]), visit(column, last[2]), visit(function, last[3])];
        if let Some(outer) = inlined_at {
            visit(&mut outer.0, index as u32);
        }
    }
    let (mut next_site, mut last_location) = (0u32, 0);
    for function in &mut module.functions {
        if let Some(site) = &mut function.entry_site {
            next_site = visit(site, next_site).wrapping_add(1);
        }
        if let Some(location) = &mut function.location {
            visit(&mut location.0, last_location);
        }
        for (index, instruction) in function.instructions.iter_mut().enumerate() {
            if let Some(site) = &mut instruction.site {
                next_site = visit(site, next_site).wrapping_add(1);
            }
            if let Some(location) = &mut instruction.location {
                last_location = visit(&mut location.0, last_location);
            }
            for operand in &mut instruction.operands {
                if let Operand::Instruction(id) = operand {
                    visit(&mut id.0, index as u32);
                }
            }
        }
        let mut last_value = 0;
        for variable in &mut function.variables {
            if let Operand::Instruction(id) = &mut variable.value {
                last_value = visit(&mut id.0, last_value);
            }
        }
    }
}

/// Maps small differences of either sign to small numbers.
fn fold(difference: u32) -> u32 {
    (difference << 1) ^ 0u32.wrapping_sub(difference >> 31)
}

fn unfold(folded: u32) -> u32 {
    (folded >> 1) ^ 0u32.wrapping_sub(folded & 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_keeps_small_differences_small() {
        for (difference, folded) in
            [(0i32, 0), (-1, 1), (1, 2), (-2, 3), (i32::MAX, u32::MAX - 1), (i32::MIN, u32::MAX)]
        {
            assert_eq!(fold(difference as u32), folded);
            assert_eq!(unfold(folded), difference as u32);
        }
    }
}
