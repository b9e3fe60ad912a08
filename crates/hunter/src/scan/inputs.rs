//! Input values for executing verification tasks.

use racehunter_ir::{Operand, Operation};
use racehunter_scan::{Models, Program, Report, models::Model};
use std::collections::BTreeSet;

/// The source that is linked to the program in place of its inputs.
pub const SOURCE: &str = include_str!("inputs.c");

/// Maximum number of the program's constants to try.
const MOST: usize = 24;

/// Maximum number of values to try because of suspected pairs.
const MOST_WANTED: usize = 4;

/// Returns values that the program's decisions depend on: the constants that it compares with, and their neighbours.
pub fn pool(program: &Program) -> Vec<i64> {
    let mut values: BTreeSet<i64> = BTreeSet::from([0, 1, 2, 3, 4, 5, 10]);
    for function in program.functions() {
        for instruction in &program.function(function).0.instructions {
            if let Operation::Compare(_) | Operation::Switch = instruction.operation {
                for operand in &instruction.operands {
                    if let Operand::Integer(value) = *operand
                        && value.unsigned_abs() < 1 << 31
                        && values.len() < MOST
                    {
                        values.extend([value - 1, value, value + 1]);
                    }
                }
            }
        }
    }
    values.into_iter().collect()
}

/// Returns true if the program has inputs.
pub fn any(program: &Program, models: &Models) -> bool {
    program
        .modules
        .iter()
        .flat_map(|module| &module.symbols)
        .any(|symbol| models.of(&symbol.name) == Some(Model::Input) && !symbol.name.starts_with(DESCRIBED))
}

/// Prefix of inputs that only descriptions of library functions use.
const DESCRIBED: &str = "__racehunter_any_";

/// Maximum numbers of threads, tried in turn: few are enough for most races, but some need more.
const THREADS: [u32; 4] = [4, 2, 8, 24];

/// Number of input sets that do not depend on the program.
const CONSTANT: usize = 6;

/// Returns values that make suspected accesses meet: the array element that one of them touches, if the other may touch
/// any.
pub fn wanted(report: &Report) -> Vec<i64> {
    let elements: BTreeSet<i64> = report.pairs.iter().filter_map(|pair| pair.element).collect();
    // Zero and one are tried anyway.
    elements.into_iter().filter(|element| *element > 1).take(MOST_WANTED).collect()
}

/// Returns the argument that selects the program's inputs; the sets are numbered. After the first ones, each wanted
/// value is a separate set.
pub fn argument(pool: &[i64], wanted: &[i64], number: u32) -> String {
    let threads = THREADS[number as usize % THREADS.len()];
    let own = (number as usize).checked_sub(CONSTANT).and_then(|index| wanted.get(index));
    let pool = own.map_or(pool, std::slice::from_ref);
    let list: Vec<String> = pool.iter().map(i64::to_string).collect();
    format!("--racehunter-inputs={number}:{threads}:{}", list.join(","))
}
