//! The figures of the variable-bounding paper that are programs. Accesses are atomic, so the assertion is the only bug.

use racehunter_explore::model::{Op, Program, Value};

/// A figure.
pub struct Figure {
    pub number: u32,
    pub program: Program,
    /// What its bug needs according to the paper: preemptions, variables, threads.
    pub needs: (u32, u32, u32),
}

const A: usize = 0;
const B: usize = 1;

/// An unconditional jump: the register is never set.
const fn jump(to: usize) -> Op {
    Op::JumpIf(3, 0, to)
}

pub fn figures() -> Vec<Figure> {
    let read = Op::AtomicRead;
    let write = |variable, value| Op::AtomicWrite(variable, Value::Const(value));
    let add = |variable| vec![Op::AtomicAdd(variable, 1, 2)];
    // Reads `a` twice, and fails if the two reads differ.
    let read_twice = vec![read(A, 0), read(A, 1), Op::JumpIf(0, 1, 5), Op::Assert(1, 0), jump(6), Op::Assert(1, 1)];
    let first_or_third = vec![
        read(A, 0),
        read(A, 1),
        read(B, 2),
        Op::JumpIf(0, 1, 6),
        Op::JumpIf(1, 0, 8),
        jump(7),
        Op::JumpIf(1, 1, 8),
        Op::Assert(2, 0),
    ];
    let not_two = vec![read(A, 0), Op::JumpIf(0, 2, 3), jump(4), Op::Assert(3, 1)];
    let at_most_one_more =
        vec![read(A, 0), read(A, 1), Op::JumpIf(1, 2, 4), jump(6), Op::JumpIf(0, 1, 6), Op::Assert(0, 2)];
    let one_of_two = vec![
        read(A, 0),
        read(A, 1),
        read(B, 2),
        read(B, 3),
        Op::JumpIf(0, 1, 8),
        Op::JumpIf(1, 0, 8),
        Op::JumpIf(2, 1, 8),
        Op::Assert(3, 0),
    ];
    let figure = |number, needs, bodies| Figure { number, program: Program::fork_join(bodies, Vec::new()), needs };
    vec![
        figure(1, (0, 0, 2), vec![vec![read(A, 0), Op::Assert(0, 0)], add(A)]),
        figure(2, (1, 1, 2), vec![read_twice.clone(), add(A)]),
        figure(3, (2, 1, 2), vec![read_twice, vec![write(A, 1), write(A, 0)]]),
        figure(4, (2, 2, 2), vec![first_or_third, vec![write(A, 1), write(B, 1), write(B, 0)]]),
        figure(8, (0, 0, 3), vec![add(A), add(A), not_two]),
        figure(9, (1, 1, 3), vec![at_most_one_more, add(A), add(A)]),
        figure(10, (2, 2, 3), vec![one_of_two, add(A), add(B)]),
    ]
}
