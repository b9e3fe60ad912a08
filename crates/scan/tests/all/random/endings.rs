//! Exceptions that leave sections and are caught, threads that end early, and functions for the end of the program.

use super::{FIRST, HELPER, Random, SECOND};
use crate::source::{Address, EARLY, Given, Number, Object, Source, Statement};

const X: Address = Address::Variable(Object::X, 0);
const Y: Address = Address::Variable(Object::Y, 0);
const FIRST_HANDLE: Number = Number::Constant(0);
/// Functions for the end of the program; the first may create a thread.
const ENDS: [usize; 2] = [4, 5];

/// Returns a random program.
pub(super) fn program(random: &mut Random) -> Source {
    let mut endings = Endings { random };
    let helper = endings.helper();
    let with_exits = endings.random.one_in(2);
    let [mut one, other] = [endings.thread(), endings.thread()];
    // The end of the program may wait for it.
    one.extend(endings.random.one_in(3).then_some(Statement::Post));
    let mut main = endings.main();
    let mut functions = vec![Vec::new(), one, other, helper];
    if with_exits {
        let last = if endings.random.one_in(2) { endings.plain() } else { endings.access() };
        functions.extend([endings.creator(), last]);
        let early = endings.registers();
        if endings.random.one_in(2) {
            functions.push(early);
            assert_eq!(functions.len(), EARLY + 1);
        } else {
            main.splice(0..0, early);
        }
        if endings.random.one_in(3) {
            let at = endings.random.below(main.len() + 1);
            main.insert(at, Statement::AtExit(ENDS[endings.random.below(2)], Given::Null));
        }
        if endings.random.one_in(6) {
            functions[1].push(Statement::AtExit(ENDS[1], Given::Null));
        }
        if endings.random.one_in(3) {
            main.push(Statement::Exit);
        }
    }
    functions[0] = main;
    Source { functions }
}

struct Endings<'r> {
    random: &'r mut Random,
}

impl Endings<'_> {
    /// Returns an access, usually with the lock.
    fn access(&mut self) -> Vec<Statement> {
        let address = if self.random.one_in(3) { Y } else { X };
        let access = match self.random.below(3) {
            0 => vec![Statement::Read(0, address)],
            _ => vec![Statement::Write(address, Number::Constant(1))],
        };
        match self.random.below(8) {
            0 => access,
            1 => vec![Statement::Scoped(SECOND, access)],
            _ => vec![Statement::Scoped(FIRST, access)],
        }
    }

    fn plain(&mut self) -> Vec<Statement> {
        vec![if self.random.one_in(3) { Statement::Read(0, X) } else { Statement::Write(X, Number::Constant(1)) }]
    }

    fn maybe_throw(&mut self) -> Statement {
        let leave = if self.random.one_in(8) { Statement::Leave } else { Statement::Throw };
        match self.random.below(4) {
            0 => leave,
            _ => Statement::If(Number::Input, 1, vec![leave], Vec::new()),
        }
    }

    /// Returns a function that may throw: with or without a lock, which it may keep, or give up.
    fn helper(&mut self) -> Vec<Statement> {
        let (lock, unlock) = (Statement::Lock(FIRST), Statement::Unlock(FIRST));
        let (before, after) = (self.plain(), self.plain());
        let throw = self.maybe_throw();
        match self.random.below(6) {
            0 => [vec![lock], before, vec![unlock, throw]].concat(),
            1 => [vec![lock], before, vec![throw], after, vec![unlock]].concat(),
            2 => [vec![unlock, throw, lock], after].concat(),
            3 => [self.access(), vec![throw]].concat(),
            _ => vec![Statement::Scoped(FIRST, [before, vec![throw], after].concat())],
        }
    }

    /// Returns what a thread does.
    fn thread(&mut self) -> Vec<Statement> {
        let call = vec![Statement::Call(HELPER, Given::Null)];
        let (lock, unlock) = (Statement::Lock(FIRST), Statement::Unlock(FIRST));
        let (one, other) = (self.access(), self.plain());
        match self.random.below(8) {
            0 => [vec![Statement::Catch(call, one)], other].concat(),
            1 => [vec![lock, Statement::Catch(call, other.clone())], other, vec![unlock]].concat(),
            2 => [vec![lock], call, other, vec![unlock]].concat(),
            3 => vec![Statement::Scoped(FIRST, [call, other].concat())],
            4 => [vec![Statement::Catch(call, vec![unlock])], one].concat(),
            5 => one,
            _ => [vec![Statement::Catch(call, one.clone())], one].concat(),
        }
    }

    fn main(&mut self) -> Vec<Statement> {
        let mut body = Vec::new();
        let second = Number::Constant(1);
        body.push(Statement::Create(FIRST_HANDLE, 1, Given::Null));
        if self.random.one_in(3) {
            body.push(Statement::Create(second, 2, Given::Null));
            body.extend((!self.random.one_in(6)).then_some(Statement::Join(second)));
        }
        if self.random.one_in(2) {
            let body_of = self.thread();
            body.extend(body_of);
        }
        body.extend((!self.random.one_in(5)).then_some(Statement::Join(FIRST_HANDLE)));
        if self.random.one_in(2) {
            body.extend(self.plain());
        }
        body
    }

    /// Returns a function for the end of the program: it may wait for the first thread, or create one and wait for that.
    fn creator(&mut self) -> Vec<Statement> {
        let mut body = vec![Statement::Create(FIRST_HANDLE, 2, Given::Null)];
        if self.random.one_in(2) {
            body.push(Statement::Join(FIRST_HANDLE));
        }
        match self.random.below(4) {
            0 => self.access(),
            1 => vec![Statement::Wait],
            _ => body,
        }
    }

    /// Registers functions for the end of the program, in some order, perhaps not always, or several times.
    fn registers(&mut self) -> Vec<Statement> {
        let mut all = ENDS.map(|function| Statement::AtExit(function, Given::Null)).to_vec();
        if self.random.one_in(2) {
            all.reverse();
        }
        match self.random.below(6) {
            0 => vec![Statement::Repeat(2, 2, all)],
            1 => {
                let last = all.pop();
                vec![Statement::If(Number::Input, 1, all, Vec::new())].into_iter().chain(last).collect()
            }
            2 => {
                let last = all.pop();
                let sometimes = Statement::If(Number::Input, 1, last.into_iter().collect(), Vec::new());
                all.into_iter().chain([sometimes]).collect()
            }
            _ => all,
        }
    }
}
