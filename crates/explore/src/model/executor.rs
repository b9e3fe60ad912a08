//! Runs a program of the model under a plan.

use super::clocks::race_records;
use super::program::Program;
use super::state::{Operation, State, Status};
use super::watch::Watch;
use crate::{Cause, Execution, Executor, ExecutorError, Observe, Outcome, Plan, Switch, Tail, Tracked};
use racehunter_log::{Address, CodeAddress, Entry, Event, EventNumber, Position, Record, SiteId, ThreadId, Wait};
use racehunter_walk::{Done, Next, Walk};
use std::collections::{HashMap, HashSet};

/// Maximum number of threads in a walk; programs of the model have fewer.
const MOST_THREADS: usize = 64;

/// An [`Executor`] for one [`Program`].
pub struct ModelExecutor {
    program: Program,
    points: HashSet<u32>,
    lazy: bool,
    states_first: bool,
    /// Number of executions so far, of any kind.
    pub runs: u64,
}

impl ModelExecutor {
    /// Creates an executor that always knows exactly which threads can run.
    #[must_use]
    pub fn new(program: Program) -> Self {
        Self { program, points: HashSet::new(), lazy: false, states_first: false, runs: 0 }
    }

    /// Creates an executor that, like the real runtime, learns a thread's next operation only when the thread reaches it: a
    /// thread that was just created, yielded or slept may be chosen and turn out to be blocked.
    #[must_use]
    pub fn lazy(program: Program) -> Self {
        Self { lazy: true, ..Self::new(program) }
    }

    /// Logs the effects of an operation on waiting threads before the operation itself, as the real runtime does for locks and
    /// semaphores. Analyses must not depend on this order.
    #[must_use]
    pub fn states_first(self, states_first: bool) -> Self {
        Self { states_first, ..self }
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the sites that are points.
    #[must_use]
    pub fn points(&self) -> &HashSet<u32> {
        &self.points
    }

    /// Makes every access a point.
    pub fn add_all_points(&mut self) {
        self.points = self.program.access_sites().into_iter().collect();
    }

    /// Runs one plan.
    #[must_use]
    pub fn run_one(&mut self, plan: &Plan) -> Execution {
        self.runs += 1;
        let mut execution = Run::new(&self.program, &self.points, self.lazy, plan).run();
        if self.states_first {
            put_states_first(&mut execution.records);
        }
        execution
    }
}

/// Moves records about other threads before the operation with the same number.
fn put_states_first(records: &mut [Record]) {
    for event in records.chunk_by_mut(|a, b| a.index == b.index) {
        let takes_or_gives =
            |record: &Record| matches!(Entry::of(record).event(), Event::Acquire { .. } | Event::Release { .. });
        let Some(operation) = event.iter().position(takes_or_gives) else { continue };
        let thread = event[operation].thread;
        let is_other = |record: &Record| {
            let is_state =
                matches!(Entry::of(record).event(), Event::Blocked { .. } | Event::Suspended { .. } | Event::Woken);
            is_state && record.thread != thread
        };
        // The sort is stable, so everything else stays in order.
        event[operation..].sort_by_key(|record| !is_other(record));
    }
}

impl Executor for ModelExecutor {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        Ok(plans.iter().map(|plan| self.run_one(plan)).collect())
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        sites.iter().filter(|&&site| self.points.insert(site)).count()
    }
}

/// One execution.
struct Run<'a> {
    program: &'a Program,
    points: &'a HashSet<u32>,
    plan: &'a Plan,
    state: State<'a>,
    log: Vec<Record>,
    current: u32,
    /// The forced switches that are left.
    forced: &'a [Switch],
    /// The number of the last decision.
    decided: u64,
    /// The event after the last point, if the plan selects few: it is a point whatever it is.
    behind_point: u64,
    turn_began: u64,
    /// The running thread's last event was a yield.
    yielded: bool,
    /// Why the running thread cannot continue, if it cannot.
    cause: Cause,
    walk: Walk<MOST_THREADS>,
    /// What the log says about each thread.
    known: Vec<Status>,
    races: usize,
    touches: HashMap<u64, Touches>,
    watch: Watch,
    /// The thread that was held until its partner came, and the event at which it continues.
    partner: Option<(u32, u64)>,
}

/// The accesses of a variable so far.
#[derive(Default)]
struct Touches {
    /// The threads that accessed it, and whether in a handler.
    threads: HashSet<(u32, bool)>,
    written: bool,
    /// Sites of plain accesses, and whether the log has reported that they access shared memory without being points.
    sites: HashMap<u32, bool>,
}

impl<'a> Run<'a> {
    fn new(program: &'a Program, points: &'a HashSet<u32>, lazy: bool, plan: &'a Plan) -> Self {
        let mut state = State::new(program, lazy);
        state.chooses_wakeups = plan.spurious;
        let mut walk = Walk::new();
        if let Tail::Walk { style, seed } = plan.tail {
            walk.begin(style, seed);
            plan.weights.iter().for_each(|&(path, accesses)| walk.weigh(path.0, accesses));
            plan.constraints.iter().for_each(|&constraint| walk.constrain(constraint));
        }
        Self {
            program,
            points,
            plan,
            state,
            log: Vec::new(),
            current: 0,
            forced: &plan.switches,
            decided: 0,
            behind_point: 0,
            turn_began: 0,
            yielded: false,
            cause: Cause::Strategy,
            walk,
            known: vec![Status::Ready],
            races: 0,
            touches: HashMap::new(),
            watch: Watch::new(plan),
            partner: None,
        }
    }

    fn run(mut self) -> Execution {
        for thread in 1..self.state.threads() {
            let at = Position { code: CodeAddress(self.program.code(0, 0)), ..Position::default() };
            let child = ThreadId(thread);
            let event = Event::Create { child, start: CodeAddress::default(), is_timer: false };
            let creation = Operation { at, event };
            self.log.push(creation.record());
            self.count(&creation);
            self.known.push(Status::Ready);
        }
        for thread in 0..self.state.threads() {
            self.tell(thread, 0);
        }
        let outcome = loop {
            if let Some(outcome) = self.state.outcome.clone() {
                break outcome;
            }
            let next = self.state.events + 1;
            if next >= self.plan.max_events {
                break Outcome::Limit("events".to_owned());
            }
            if let Err(outcome) = self.decide(next) {
                break outcome;
            }
            if self.is_held_here() {
                self.cause = Cause::Blocked;
                continue;
            }
            self.perform();
        };
        if matches!(outcome, Outcome::Deadlock | Outcome::Asserted { .. } | Outcome::Crashed { .. }) {
            self.tell_states();
        }
        if self.plan.select.is_some() {
            let accesses = self.walk.skip(0);
            self.put(Event::Counted { accesses }, self.state.events, 0, 0);
        }
        Execution {
            records: self.log,
            stacks: Vec::new(),
            outcome,
            events: self.state.events,
            threads: self.state.threads(),
            partial: false,
            output: self.state.output(),
        }
    }

    /// Returns the status of a thread for the scheduler: a held thread counts as blocked.
    fn status(&self, thread: u32) -> Status {
        if self.watch.holds(thread) { Status::Blocked(Wait::Partner) } else { self.state.status(thread) }
    }

    /// Returns whether a plain access at this site, to this variable, is a point.
    fn is_point(&self, site: u32, object: u64) -> bool {
        match &self.plan.select {
            Some(selected) => selected.contains(&site) && self.plan.track.contains(&Tracked::At(Address(object))),
            None => self.plan.observe != Observe::Points || self.points.contains(&site),
        }
    }

    fn others_ready(&self) -> bool {
        (0..self.state.threads()).any(|t| t != self.current && self.status(t) == Status::Ready)
    }

    /// Returns whether the running thread is held before its next event.
    fn is_held_here(&mut self) -> bool {
        let Some(access) = self.state.next_access(self.current) else { return false };
        if !self.watch.is_active() || access.is_plain_access() && !self.is_point(access.site(), access.object()) {
            return false;
        }
        let meeting = self.watch.meets(&access);
        if let Some(held) = meeting {
            self.log.extend(race_records(&held, &access));
            self.partner = Some((held.thread(), self.state.events + 2));
            self.tell(held.thread(), self.state.events);
        }
        let path = self.state.path(self.current);
        self.watch.hold(&access, path, self.state.events)
    }

    /// Makes the decisions due before event `n`, until the chosen thread can perform it.
    fn decide(&mut self, n: u64) -> Result<(), Outcome> {
        if let Some(held) = self.watch.expires(n) {
            self.partner = Some((held, n));
            self.tell(held, n);
        }
        loop {
            let others = self.others_ready();
            // A plan without a decision at a yield repeats an execution in which no other thread was known to be ready.
            let planned =
                EventNumber(n) >= self.plan.tail_from || self.forced.first().is_some_and(|switch| switch.at.0 == n);
            let yields = std::mem::take(&mut self.yielded) && others && planned;
            if yields && matches!(self.plan.tail, Tail::Walk { .. }) {
                self.walk.yields(self.current);
            }
            if !yields && self.status(self.current) == Status::Ready {
                // Nothing prevents it from reaching its next operation.
                self.state.arrive(self.current);
                self.log.append(&mut self.state.notes);
            }
            let able = self.status(self.current) == Status::Ready;
            self.tell(self.current, n);
            // A plan can choose again: the execution that it repeats may have held the thread chosen first.
            if able && self.decided == n && self.forced.first().is_none_or(|switch| switch.at.0 != n) {
                return Ok(());
            }
            let forced = self.forced.first().is_some_and(|switch| switch.at.0 <= n);
            let in_tail = EventNumber(n) >= self.plan.tail_from;
            let is_point =
                self.state.at_point(self.current, |site, object| self.is_point(site, object)) || n == self.behind_point;
            let alone = || self.walk.holds_all_back(std::iter::once(self.state.next(self.current)));
            let random = matches!(self.plan.tail, Tail::Walk { .. }) && is_point && in_tail && (others || alone());
            let turn_over = others && self.plan.fair_limit.is_some_and(|limit| n >= self.turn_began + limit);
            let has_to_go = turn_over && in_tail;
            let met = self.partner_at(n).is_some();
            if able && !forced && !random && !has_to_go && !yields && !met {
                return Ok(());
            }
            let cause = match (able, able && yields) {
                (false, _) => self.cause,
                (true, true) => Cause::Yield,
                (true, false) if has_to_go && !forced => Cause::Fair,
                (true, false) => Cause::Strategy,
            };
            self.choose_and_switch(n, able, turn_over && able && !yields, cause)?;
        }
    }

    fn choose_and_switch(&mut self, n: u64, able: bool, gives_way: bool, mut cause: Cause) -> Result<(), Outcome> {
        self.decided = n;
        let from = self.current;
        let code = self.state.code(from);
        let to = if let Some((wanted, rest)) = self.forced.split_first().filter(|(switch, _)| switch.at.0 <= n) {
            self.forced = rest;
            cause = Cause::Plan;
            let fits = wanted.at.0 == n && wanted.from.0 == from && (!wanted.code.is_known() || wanted.code.0 == code);
            let to = wanted.to.0;
            if !fits || !(self.possible(to) || self.watch.let_go(to)) {
                return Err(Outcome::Diverged(EventNumber(n)));
            }
            to
        } else if EventNumber(n) < self.plan.tail_from {
            return Err(Outcome::Diverged(EventNumber(n)));
        } else {
            self.partner_at(n).or_else(|| self.choose(able, cause)).ok_or_else(|| self.stuck())?
        };
        if able && to == from && cause == Cause::Strategy {
            return Ok(());
        }
        self.put(Event::Switch { to: ThreadId(to), cause, is_exhausted: gives_way }, n, from, code);
        self.turn_began = n;
        self.state.arrive(to);
        self.log.append(&mut self.state.notes);
        self.known[to as usize] = Status::Ready;
        self.current = to;
        // If it then cannot continue, it is blocked.
        self.cause = Cause::Blocked;
        Ok(())
    }

    /// Returns how the execution ends when no thread can continue.
    fn stuck(&self) -> Outcome {
        if self.state.spins_for_ever() { Outcome::Limit("events".to_owned()) } else { Outcome::Deadlock }
    }

    /// Returns the thread that continues at event `n` because the provoked pair has met, as in the runtime.
    fn partner_at(&self, n: u64) -> Option<u32> {
        self.partner.filter(|&(thread, at)| at == n && self.status(thread) == Status::Ready).map(|(thread, _)| thread)
    }

    fn possible(&self, thread: u32) -> bool {
        thread < self.state.threads()
            && (matches!(self.status(thread), Status::Ready | Status::Suspended(..)) || self.state.may_wake(thread))
    }

    /// Returns the thread that continues where the plan does not say.
    fn choose(&mut self, able: bool, cause: Cause) -> Option<u32> {
        let count = self.state.threads();
        let earliest = (0..count)
            .filter_map(|thread| match self.status(thread) {
                Status::Suspended(deadline, _) => Some((deadline, thread)),
                _ => None,
            })
            .min()
            .map(|(_, thread)| thread);
        let ready: Vec<u32> = (0..count).filter(|&thread| self.status(thread) == Status::Ready).collect();
        if matches!(self.plan.tail, Tail::Walk { .. }) && !ready.is_empty() {
            match cause {
                Cause::Fair => self.walk.gives_way(self.current),
                Cause::Yield if !able => self.walk.sleeps(self.current),
                _ => {}
            }
            if earliest.is_some() && self.walk.holds_all_back(ready.iter().map(|&thread| self.state.next(thread))) {
                return earliest;
            }
            // A time-out is a possible choice too, but a rare one.
            if earliest.is_some() && self.walk.rarely(16) {
                return earliest;
            }
            let state = &self.state;
            // A thread that has run for too long must give way.
            let must_go = cause == Cause::Fair && ready.len() > 1;
            let candidates = ready.iter().filter(|&&thread| !(must_go && thread == self.current));
            let track = &self.plan.track;
            let next = |&thread: &u32| {
                let next = state.next(thread);
                Next { chosen: track.contains(&Tracked::At(Address(next.object))), ..next }
            };
            return self.walk.choose(self.current, candidates.map(next));
        }
        if able && cause == Cause::Strategy {
            return Some(self.current);
        }
        let next = (1..=count).map(|step| (self.current + step) % count).find(|&t| self.status(t) == Status::Ready);
        next.or_else(|| if earliest.is_none() { self.watch.give_up() } else { earliest })
    }

    /// Performs the next event of the running thread.
    fn perform(&mut self) {
        let thread = self.current;
        self.watch.performed(thread);
        let before = self.state.threads();
        let operation = self.state.perform(thread);
        let mut notes = std::mem::take(&mut self.state.notes);
        let n = operation.at.number.0;
        let plain = operation.is_plain_access();
        let is_asked_for = operation.at.number >= self.plan.log_from;
        let logged = !plain || is_asked_for && self.is_point(operation.site(), operation.object());
        if logged {
            if self.plan.select.is_some() {
                self.behind_point = n + 1;
            }
            self.log.push(operation.record());
            self.count(&operation);
        }
        self.log.append(&mut notes);
        let created = self.state.threads() > before;
        if created {
            self.known.push(Status::Ready);
        }
        if self.status(thread) == Status::Over {
            self.known[thread as usize] = Status::Over;
            if operation.event != Event::Exit {
                // In a bare program, the end of a thread has no number of its own.
                self.put(Event::Exit, n, thread, 0);
            }
        }
        if self.plan.detect_races && self.plan.infer_races && self.plan.select.is_none() {
            for race in &self.state.clocks.races[self.races..] {
                self.log.extend(race_records(&race.0, &race.1));
            }
            self.races = self.state.clocks.races.len();
        }
        if self.plan.select.is_none() {
            self.touch(&operation);
        }
        for other in (0..self.state.threads()).filter(|&other| other != thread) {
            self.tell(other, n);
        }
        self.yielded = operation.event == Event::Yield;
        self.cause = match operation.event {
            Event::Exit => Cause::Exit,
            Event::Sleep => Cause::Yield,
            _ if self.status(thread) == Status::Over => Cause::Exit,
            _ => Cause::Blocked,
        };
    }

    /// Notifies the walk of accesses to its tracked variables, once there is a second thread, and of new threads.
    fn count(&mut self, operation: &Operation) {
        let (thread, code, object) = (operation.thread(), operation.code(), operation.object());
        let changes = operation.event.access().is_some_and(|access| access.mode.writes());
        self.walk.performed(Done { path: self.state.path(thread), code, object, changes });
        let variable = operation.event.variable();
        let tracked = variable.is_some_and(|object| self.plan.track.contains(&Tracked::At(object)));
        if tracked && self.state.threads() > 1 {
            self.walk.accessed(thread);
        }
        if let (Event::Create { child, .. }, false) = (operation.event, self.plan.track.is_empty()) {
            self.walk.begins(child.0);
            self.walk.created(thread, self.state.path(thread), child.0, self.state.path(child.0));
        }
    }

    /// Logs an event that is not an operation.
    fn put(&mut self, event: Event, number: u64, thread: u32, code: u64) {
        let at = Position {
            number: EventNumber(number),
            thread: ThreadId(thread),
            code: CodeAddress(code),
            ..Position::default()
        };
        self.log.push(event.record(at));
    }

    /// Logs a changed thread status.
    fn tell(&mut self, thread: u32, number: u64) {
        let status = self.status(thread);
        if std::mem::replace(&mut self.known[thread as usize], status) == status {
            return;
        }
        let event = match status {
            Status::Ready => Event::Woken,
            Status::Suspended(deadline, wait) => {
                self.put(Event::Deadline { time: deadline }, number, thread, 0);
                Event::Suspended { on: self.state.awaited(thread, wait) }
            }
            Status::Blocked(wait) => {
                Event::Blocked { on: self.state.awaited(thread, wait), may_wake: self.state.may_wake(thread) }
            }
            // The log already contains the event that ended it.
            Status::Over => return,
        };
        self.put(event, number, thread, self.state.code(thread));
    }

    /// Logs the final state of each thread, the running one first.
    fn tell_states(&mut self) {
        let current = self.current;
        let others = (0..self.state.threads()).filter(|&thread| thread != current);
        for thread in std::iter::once(current).chain(others) {
            let on = match self.status(thread) {
                Status::Over => continue,
                Status::Ready => None,
                Status::Suspended(_, wait) | Status::Blocked(wait) => Some(self.state.awaited(thread, wait)),
            };
            self.put(Event::ThreadState { on }, self.state.events, thread, self.state.code(thread));
        }
    }

    /// Logs the sites that accessed shared memory without being points, each once.
    fn touch(&mut self, operation: &Operation) {
        let Some(access) = operation.event.access() else { return };
        let touches = self.touches.entry(operation.object()).or_default();
        touches.threads.insert((operation.thread(), self.state.in_handler));
        touches.written |= access.mode.writes();
        if !access.mode.is_atomic() {
            // Atomic accesses are points anyway.
            touches.sites.entry(operation.site()).or_insert(false);
        }
        if touches.threads.len() < 2 || !touches.written || self.plan.observe != Observe::Points {
            return;
        }
        let mut sites: Vec<u32> = Vec::new();
        for (&site, reported) in &mut touches.sites {
            if !*reported && !self.points.contains(&site) {
                *reported = true;
                sites.push(site);
            }
        }
        sites.sort_unstable();
        for site in sites {
            let at = Position { site: site.checked_sub(1).map(SiteId), ..operation.at };
            self.log.push(Event::Shared.record(at));
        }
    }
}
