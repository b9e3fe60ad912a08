//! Variables that are locks, and loops that join threads downwards.

use super::Random;
use crate::source::{Address, Given, Number, Object, Source, Statement, Test};
use racehunter_ir::{Order, Predicate};

/// Returns a program whose threads exclude each other by a flag, more or less.
pub(super) fn program(random: &mut Random) -> Source {
    let bodies = [body(random), body(random)];
    Source { functions: [vec![main(random)], vec![bodies[0].clone(), bodies[1].clone()]].concat() }
}

fn access(random: &mut Random, address: Address) -> Statement {
    if random.one_in(3) { Statement::Read(0, address) } else { Statement::Write(address, Number::Constant(1)) }
}

fn variable(random: &mut Random) -> Address {
    Address::Variable(if random.one_in(3) { Object::Y } else { Object::X }, 0)
}

fn body(random: &mut Random) -> Vec<Statement> {
    let mut body = Vec::new();
    if random.one_in(3) {
        body.push(access(random, Address::Element(Number::Argument)));
    }
    for _ in 0..random.below(3) {
        section(random, &mut body);
    }
    if body.is_empty() || random.one_in(12) {
        let address = variable(random);
        body.push(access(random, address));
    }
    body
}

/// All ways to test a number.
pub(super) const TESTS: [Test; 6] =
    [Test::Zero, Test::Truth, Test::Inverted, Test::Extended, Test::Swapped, Test::NotSwapped];

fn section(random: &mut Random, body: &mut Vec<Statement>) {
    let order = match random.below(12) {
        0 => Order::Relaxed,
        1 => Order::Release,
        2..5 => Order::SequentiallyConsistent,
        _ => Order::Acquire,
    };
    let address = variable(random);
    let mut inside = vec![access(random, address)];
    let clears = Statement::Clear(match random.below(10) {
        0 => Order::Relaxed,
        1..4 => Order::SequentiallyConsistent,
        _ => Order::Release,
    });
    let is_inside = !random.one_in(10);
    if is_inside {
        inside.insert(if random.one_in(12) { 0 } else { inside.len() }, clears.clone());
    }
    let value = if random.one_in(8) { 2 } else { 1 };
    let test = TESTS[random.below(TESTS.len())];
    body.push(Statement::Exchange { order, value, test, flipped: random.one_in(12), body: inside });
    if !is_inside && random.one_in(2) {
        body.push(clears);
    }
}

/// Creates threads in a loop or one by one, joins them downwards, and reads what they have written.
fn main(random: &mut Random) -> Vec<Statement> {
    let mut body = Vec::new();
    let times = 1 + random.below(2) as i64;
    if random.one_in(3) {
        for number in (0..2).map(Number::Constant) {
            body.push(Statement::Create(number, 1 + random.below(2), Given::Number(number)));
        }
    } else {
        let number = Number::Register(2);
        let creates = vec![Statement::Create(number, 1, Given::Number(number))];
        body.push(Statement::Repeat(2, times, creates));
    }
    if random.one_in(3) {
        section(random, &mut body);
    }
    let before = random.one_in(2);
    let end = if random.one_in(6) { random.below(4) as i64 } else { times };
    let from = match before {
        true if random.one_in(2) => Number::Register(2),
        true => Number::Constant(end),
        false => Number::Constant(end - 1),
    };
    let lowest = if random.one_in(8) { 1 } else { 0 } + i64::from(before);
    let (predicate, above) = match random.below(3) {
        0 => (Predicate::GreaterEqual, lowest),
        1 => (Predicate::NotEqual, lowest - 1),
        _ => (Predicate::Greater, lowest - 1),
    };
    let joins = vec![Statement::Join(Number::Register(1))];
    if !random.one_in(8) {
        body.push(Statement::Down { register: 1, from, above, predicate, before, body: joins });
    }
    for _ in 0..1 + random.below(2) {
        let address = match random.below(3) {
            0 => variable(random),
            _ => Address::Element(Number::Constant(random.below(2) as i64)),
        };
        body.push(access(random, address));
    }
    body
}
