//! Random programs that publish memory through atomic pointers, in any memory order: directly, by a thread that passes
//! the address on, by an exchange, under a lock, behind fences, and with the lock that is checked twice.

use crate::random::Random;
use crate::source::{Address, Given, Lock, Number, Object, Source, Statement};
use racehunter_ir::Order;

const LOCK: Lock = Lock::Mutex(Address::Variable(Object::First, 0));

/// What is wrong with the orders of a program, if anything.
struct Publication<'r> {
    random: &'r mut Random,
    /// One order in this many is random.
    careless: usize,
}

/// Returns a random program.
pub fn publication(random: &mut Random) -> Source {
    let careless = [2, 6, 12, 1000][random.below(4)];
    let mut publication = Publication { random, careless };
    let mut bodies = [publication.role(), publication.role(), publication.role()];
    // Someone publishes.
    bodies[0] = publication.owner();
    let threads = 2 + publication.random.below(2);
    let mut main = Vec::new();
    if publication.random.one_in(6) {
        let role = publication.owner();
        main.extend(role);
    }
    for index in 0..threads {
        let function = if publication.random.one_in(6) { 1 } else { 1 + index };
        main.push(Statement::Create(Number::Constant(index as i64), function, Given::Null));
    }
    if publication.random.one_in(4) {
        let role = publication.role();
        main.extend(role);
    }
    if !publication.random.one_in(8) {
        main.extend((0..threads).map(|index| Statement::Join(Number::Constant(index as i64))));
        if publication.random.one_in(6) {
            let role = publication.reader();
            main.extend(role);
        }
    }
    let [one, two, three] = bodies;
    Source { functions: vec![main, one, two, three] }
}

impl Publication<'_> {
    fn order(&mut self, right: Order) -> Order {
        let all =
            [Order::Relaxed, Order::Acquire, Order::Release, Order::AcquireRelease, Order::SequentiallyConsistent];
        if !self.random.one_in(self.careless) {
            return if self.random.one_in(4) { Order::SequentiallyConsistent } else { right };
        }
        let order = all[self.random.below(5)];
        let is_possible = match right {
            Order::Acquire => matches!(order, Order::Relaxed | Order::Acquire | Order::SequentiallyConsistent),
            Order::Release => matches!(order, Order::Relaxed | Order::Release | Order::SequentiallyConsistent),
            _ => true,
        };
        if is_possible { order } else { Order::Relaxed }
    }

    fn place(&mut self) -> Object {
        if self.random.one_in(4) { Object::Other } else { Object::Box }
    }

    fn role(&mut self) -> Vec<Statement> {
        match self.random.below(8) {
            0 => self.owner(),
            1 | 2 => self.middleman(),
            3 => self.checked_twice(),
            _ => self.reader(),
        }
    }

    fn access(&mut self) -> Statement {
        let address = Address::Pointer(if self.random.one_in(3) { 8 } else { 0 });
        if self.random.one_in(3) { Statement::Write(address, Number::Constant(1)) } else { Statement::Read(0, address) }
    }

    fn write(&mut self) -> Statement {
        let address = Address::Pointer(if self.random.one_in(4) { 8 } else { 0 });
        Statement::Write(address, Number::Constant(1))
    }

    /// Stores the pointer, usually so that everything before is released.
    fn store(&mut self, place: Object, body: &mut Vec<Statement>) {
        match self.random.below(8) {
            0 => {
                body.push(Statement::Fence(self.order(Order::Release)));
                if self.random.one_in(4) {
                    let access = self.write();
                    body.push(access);
                }
                body.push(Statement::AtomicStore(place, Order::Relaxed));
            }
            1 => body.extend([
                Statement::Lock(LOCK),
                Statement::AtomicStore(place, Order::Relaxed),
                Statement::Unlock(LOCK),
            ]),
            2 => body.push(Statement::AtomicExchange(place, self.order(Order::Release))),
            3 => body.extend([Statement::Lock(LOCK), Statement::Publish, Statement::Unlock(LOCK)]),
            _ => body.push(Statement::AtomicStore(place, self.order(Order::Release))),
        }
    }

    /// Loads the pointer, usually so that everything that was released is acquired.
    fn load(&mut self, place: Object, body: &mut Vec<Statement>) {
        match self.random.below(8) {
            0 => {
                body.push(Statement::AtomicLoad(place, Order::Relaxed));
                body.push(Statement::Fence(self.order(Order::Acquire)));
            }
            1 => body.extend([
                Statement::Lock(LOCK),
                Statement::AtomicLoad(place, Order::Relaxed),
                Statement::Unlock(LOCK),
            ]),
            2 => body.push(Statement::AtomicExchange(place, self.order(Order::AcquireRelease))),
            3 => body.extend([Statement::Lock(LOCK), Statement::Load, Statement::Unlock(LOCK)]),
            _ => body.push(Statement::AtomicLoad(place, self.order(Order::Acquire))),
        }
    }

    fn owner(&mut self) -> Vec<Statement> {
        let mut body = vec![Statement::Allocate];
        if !self.random.one_in(8) {
            let write = self.write();
            body.push(write);
        }
        let place = self.place();
        self.store(place, &mut body);
        if self.random.one_in(3 * self.careless) {
            body.push(self.write());
        }
        body
    }

    fn reader(&mut self) -> Vec<Statement> {
        let mut body = Vec::new();
        let place = self.place();
        self.load(place, &mut body);
        let access = self.access();
        body.push(Statement::IfPointer(vec![access]));
        body
    }

    fn middleman(&mut self) -> Vec<Statement> {
        let mut body = Vec::new();
        self.load(Object::Box, &mut body);
        let mut inside = Vec::new();
        if self.random.one_in(4) {
            let access = self.access();
            inside.push(access);
        }
        self.store(Object::Other, &mut inside);
        body.push(Statement::IfPointer(inside));
        body
    }

    fn checked_twice(&mut self) -> Vec<Statement> {
        let mut body = vec![Statement::AtomicLoad(Object::Box, self.order(Order::Acquire))];
        let write = self.write();
        let make = vec![Statement::Allocate, write, Statement::AtomicStore(Object::Box, self.order(Order::Release))];
        body.push(Statement::UnlessPointer(vec![
            Statement::Lock(LOCK),
            Statement::AtomicLoad(Object::Box, Order::Relaxed),
            Statement::UnlessPointer(make),
            Statement::Unlock(LOCK),
        ]));
        body.push(Statement::Read(0, Address::Pointer(0)));
        body
    }
}
