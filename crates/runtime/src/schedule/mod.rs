//! Events and decisions.
//!
//! The rules are those of the event crate. Events arrive in two ways: accesses that are not points only count down
//! [`RH_BUDGET`] in [`crate::hooks`], and come here when it is used up ([`attention`]); everything else calls [`point`]
//! or [`acquire_point`] before it happens.
//!
//! A thread that is about to perform an operation that others can make impossible says so in `pending`. Code that
//! changes such an object calls [`refresh`], so that the set of ready threads is exact at every decision.

mod beginning;
mod certain;
mod choice;
pub(crate) mod minds;
mod points;
pub(crate) mod spin;
mod waiting;

pub(crate) use beginning::observes_as_planned;
pub(crate) use certain::{certain_points, passed_certain};
pub(crate) use choice::chooses_wakeups;
pub(crate) use points::{access_point, attention, continues, idle_point, pass, passed_round, point, state_point};
pub(crate) use waiting::{
    End, EndsBy, Waiting, acquire, acquire_point, await_object, log_state, redirect, refresh, refresh_known, review,
    set_deadline, stop_awaiting, wait_after, wait_until, wake,
};

use crate::thread::{CURRENT, SUSPENDED, State, current, make_ready, me, ready_count, thread};
use crate::{Global, atomics, fiber, hold, io, log, outcome, server, signals, start, swift, time, track, watchdog};
use beginning::{announce_threads, take_switches, take_tail};
use certain::{close_for, is_chosen_again, make_up, uncounted};
use choice::{choose, is_certain_alone, is_held_back_alone, may_wake, possible, waits_outside};
use points::passed_point;
use racehunter_abi::control::{FLAG_DEBUG, FLAG_SELECTIVE, MAX_THREADS, OUTCOME_LIMIT, Slot, TAIL_MIN_SWITCHES, TURN};
use racehunter_abi::{Cause, EventNumber, Kind, Record, ThreadId};
use racehunter_machine::plan::{self as machine, FAR, Horizon, Standing, Switches, Turn, TurnEnd};
use racehunter_walk::{Done, Walk};

/// Number of events until one needs attention: a forced switch, the end of a thread's turn, or a limit.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_BUDGET: Global<u64> = Global::new(FAR.0);
/// Number of the event that finds the budget used up. Debuggers read it.
#[unsafe(export_name = "RH_HORIZON")]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static HORIZON: Global<EventNumber> = Global::new(FAR);

/// The part of the plan that is used during the execution.
struct Plan {
    running: bool,
    flags: u32,
    tail: u32,
    observe: u32,
    switches: Switches<'static>,
    tail_from: EventNumber,
    /// Plain accesses are only counted before this event; 0 once they are points.
    log_from: EventNumber,
    /// The turn of the running thread.
    turn: Turn,
    /// Number of events after which the execution is stopped, counted from `started_at`; 0 = never.
    max_events: u64,
    /// Number of events before the first thread was created; [`FAR`] until then.
    started_at: EventNumber,
    max_threads: u32,
    /// Thread that continues at event `partner_at`, if it can.
    partner: ThreadId,
    partner_at: EventNumber,
    snapshot_at: EventNumber,
    /// The last event for which a decision was made.
    decided: EventNumber,
    /// The event after the last point, if few accesses are points: it is one, whatever it is.
    behind_point: EventNumber,
    /// The event before which the running thread had to give way.
    exhausted: EventNumber,
    /// Number of switches made.
    switched: u64,
}

#[unsafe(link_section = ".data.racehunter")]
static PLAN: Global<Plan> = Global::new(Plan {
    running: false,
    flags: 0,
    tail: 0,
    observe: 0,
    switches: Switches::NONE,
    tail_from: EventNumber::START,
    log_from: EventNumber::START,
    turn: Turn::ENDLESS,
    max_events: 0,
    started_at: FAR,
    max_threads: u32::MAX,
    partner: ThreadId::MAIN,
    partner_at: EventNumber::START,
    snapshot_at: EventNumber::START,
    decided: EventNumber::START,
    behind_point: EventNumber::START,
    exhausted: EventNumber::START,
    switched: 0,
});

/// Whether the running thread continues at the next point without a decision: it was chosen by its priority, and
/// nothing has changed since that could make another thread come first ([`open`]); or only the plan chooses. Events
/// that need attention for another reason use up the budget.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_STAYS: Global<bool> = Global::new(false);

/// Chooses where the plan does not, unless the running thread simply stays.
static WALK: Global<Walk<MAX_THREADS>> = Global::new(Walk::new());

/// Returns whether an execution is running.
pub(crate) fn running() -> bool {
    // SAFETY: a plain read of a global, see the crate documentation.
    unsafe { (*PLAN.ptr()).running }
}

/// Returns the `FLAG_` bits of the plan.
pub(crate) fn flags() -> u32 {
    // SAFETY: as above.
    unsafe { (*PLAN.ptr()).flags }
}

/// Returns the number of the latest event that has happened or is happening.
pub(crate) fn now() -> EventNumber {
    EventNumber(HORIZON.get().0 - RH_BUDGET.get())
}

pub(crate) fn switches() -> u64 {
    // SAFETY: as above.
    unsafe { (*PLAN.ptr()).switched }
}

/// Takes the plan of the current slot and starts counting.
pub(crate) unsafe fn begin() {
    let plan = PLAN.ptr();
    take_switches();
    take_tail();
    hold::begin();
    spin::begin();
    track::begin();
    (*plan).started_at = FAR;
    (*plan).decided = EventNumber::START;
    (*plan).behind_point = EventNumber::START;
    (*plan).exhausted = EventNumber::START;
    (*plan).turn.begin(EventNumber::START);
    (*plan).switched = 0;
    (*plan).partner_at = EventNumber::START;
    (*plan).running = true;
    open();
    HORIZON.set(EventNumber::START);
    RH_BUDGET.set(0);
    atomics::forget_last_load();
    announce_threads();
    arm();
}

/// Returns the maximum number of threads.
pub(crate) unsafe fn max_threads() -> u32 {
    (*PLAN.ptr()).max_threads.min(MAX_THREADS as u32)
}

/// Lets the thread continue as soon as the running one has performed its next event.
pub(crate) unsafe fn goes_after_next(thread: ThreadId) {
    let plan = PLAN.ptr();
    ((*plan).partner, (*plan).partner_at) = (thread, now() + 2);
    arm();
}

/// Returns the thread that continues at event `n` for that reason.
unsafe fn partner_at(n: EventNumber) -> Option<ThreadId> {
    let plan = PLAN.ptr();
    let partner = (*plan).partner;
    ((*plan).partner_at == n && (*thread(partner)).state == State::Ready).then_some(partner)
}

/// Notes that a thread has accessed a variable that the walk counts.
pub(crate) unsafe fn accessed(thread: ThreadId) {
    let walk = WALK.ptr();
    (*walk).skip(track::take_counted());
    if (*walk).accessed(thread.0) {
        open();
    }
    track::let_count((*walk).until_change());
}

/// Returns the number of accesses that the walk has counted, plus threads that have begun.
pub(crate) unsafe fn counted() -> u64 {
    (*WALK.ptr()).skip(track::take_counted())
}

/// Makes the next point a decision, because the set of runnable threads has changed, or which one comes first. If few
/// accesses are points, the next event is one, whatever it is: the change must take effect at once, and not only at the
/// next tracked access.
pub(crate) unsafe fn open() {
    let plan = PLAN.ptr();
    reconsider();
    if (*plan).flags & FLAG_SELECTIVE != 0 {
        (*plan).behind_point = now().next();
        arm();
    }
}

/// Asks the walk at the next point.
unsafe fn reconsider() {
    swift::end();
    make_up();
    RH_STAYS.set((*PLAN.ptr()).tail == TAIL_MIN_SWITCHES);
}

/// Notes that there is one more thread, or one more that waits for time. That is no choice of a walk that follows priorities; others
/// draw numbers for it.
pub(crate) fn draws_anew() {
    // SAFETY: see the crate documentation.
    unsafe {
        if !(*WALK.ptr()).follows_priorities() {
            reconsider();
        }
    }
}

/// Only the running thread can be chosen at a point until [`open`] says otherwise.
fn close() {
    RH_STAYS.set(true);
}

/// Returns the number of the event at which the budget is, or was, this.
pub(crate) fn event_at(budget: u64) -> EventNumber {
    EventNumber(HORIZON.get().0 - budget)
}

/// Notes an event in a walk with read constraints.
pub(crate) unsafe fn performed(record: &Record) {
    let Record { code, object, kind, .. } = *record;
    if (*WALK.ptr()).minds(code.0, object) {
        reconsider();
    }
    (*WALK.ptr()).performed(Done {
        path: (*thread(record.thread)).path,
        code: code.0,
        object,
        changes: kind.is_write(),
    });
}

/// Notes that a thread has created another one, which is about to start.
pub(crate) unsafe fn created(parent: ThreadId, child: ThreadId) {
    let walk = WALK.ptr();
    if (*walk).is_counting() {
        reconsider();
    }
    (*walk).skip(track::take_counted());
    (*walk).begins(child.0);
    (*walk).created(parent.0, (*thread(parent)).path, child.0, (*thread(child)).path);
    track::let_count((*walk).until_change());
}

/// Drops the decisions of the plan: they apply to a loop that has not begun, and not to what comes before it.
pub(crate) unsafe fn leave_open() {
    let plan = PLAN.ptr();
    (*plan).switches.drop_all();
    (*plan).tail_from = EventNumber::START;
    (*plan).log_from = (*plan).log_from.min(EventNumber::START.next());
    (*plan).snapshot_at = EventNumber::START;
    arm();
}

/// Ends the execution; what the runtime still does while shutting down is not part of it.
pub(crate) unsafe fn end() {
    swift::end();
    let plan = PLAN.ptr();
    (*plan).running = false;
    (*plan).flags = 0;
    (*plan).switches.drop_all();
    HORIZON.set(FAR);
    RH_BUDGET.set(FAR.0);
}

/// Starts counting for a program that runs without a controller.
pub(crate) unsafe fn begin_without_plan() {
    let plan = PLAN.ptr();
    (*plan).turn.set_length(TURN);
    (*plan).turn.begin(EventNumber::START);
    HORIZON.set(EventNumber::START);
    RH_BUDGET.set(0);
    atomics::forget_last_load();
    arm();
}

/// Sets the budget to the next event that needs attention. `now()` stays the same.
pub(crate) unsafe fn arm() {
    swift::end();
    let plan = PLAN.ptr();
    let now = now();
    let mut horizon = Horizon::after(now);
    if (*plan).log_from != EventNumber::START {
        // The event before it is the last that is only counted.
        if now.next() >= (*plan).log_from {
            (*plan).log_from = EventNumber::START;
            server::speak();
        } else {
            horizon = horizon.due(EventNumber((*plan).log_from.0 - 1));
        }
    }
    if let Some(at) = (*plan).switches.next_at() {
        horizon = horizon.due(at);
    }
    if let Some(end) = (*plan).turn.end() {
        horizon = horizon.due(end);
    }
    horizon = horizon.due(limit());
    horizon = horizon.once((*plan).partner_at).once((*plan).snapshot_at).once((*plan).behind_point);
    if hold::is_active() {
        horizon = horizon.due(hold::until());
    }
    spin::RH_WIPES.set(spin::wipes());
    if (*plan).flags & FLAG_DEBUG != 0 || spin::is_watching() {
        horizon = horizon.due(now);
    }
    let horizon = horizon.event();
    HORIZON.set(horizon);
    RH_BUDGET.set(horizon - now);
}

/// Counts the running thread's event. Returns its number.
#[inline(always)]
unsafe fn count() -> EventNumber {
    RH_BUDGET.set(RH_BUDGET.get() - 1);
    now()
}

/// Uncounts the last event, which does not happen; the thread continues with its next operation.
#[inline(always)]
pub(crate) unsafe fn uncount() {
    RH_BUDGET.set(RH_BUDGET.get() + 1);
}

/// Returns whether it is settled that the running thread performs event `n`. A plan can choose again here: the
/// execution that it repeats may have held the thread that was chosen first (see [`hold`]).
unsafe fn is_decided(n: EventNumber) -> bool {
    let plan = PLAN.ptr();
    (*plan).decided == n && !(*plan).switches.speaks_of(n, || standing())
}

/// Returns the state of the running thread.
unsafe fn standing() -> Standing {
    Standing { thread: me(), code: log::relative((*current()).code) }
}

/// Handles a budget that is used up by the next event, when no decision is due.
unsafe fn settle(n: EventNumber) -> EventNumber {
    if RH_BUDGET.get() == 0 {
        limits(n);
        arm();
    }
    n
}

unsafe fn limits(n: EventNumber) {
    if n >= limit() && (*PLAN.ptr()).running {
        if is_starting() && server::stop_observing() {
            return;
        }
        outcome::finish(OUTCOME_LIMIT);
    }
}

/// Returns the first event that the execution must not reach.
unsafe fn limit() -> EventNumber {
    let plan = PLAN.ptr();
    machine::limit((*plan).max_events, (!is_starting()).then_some((*plan).started_at), server::observes())
}

/// Returns whether no thread was created yet.
fn is_starting() -> bool {
    // SAFETY: a plain read of a global, see the crate documentation.
    unsafe { (*PLAN.ptr()).started_at == FAR }
}

/// Notes that the program is about to create its first thread.
pub(crate) unsafe fn starts() {
    if is_starting() && running() {
        start::reached();
        (*PLAN.ptr()).started_at = now();
        server::has_begun();
        arm();
    }
}

/// Returns whether no decision was made yet, and the current turn began where it would have under any plan.
pub(crate) unsafe fn has_decided_nothing() -> bool {
    let plan = PLAN.ptr();
    (*plan).decided == EventNumber::START
        && (*plan).switched == 0
        && (*plan).partner_at == EventNumber::START
        && (*plan).exhausted == EventNumber::START
        && (*plan).turn.began() == (*plan).turn.began_alone(now())
}

/// Returns whether a plan has no decisions about the events so far.
pub(crate) unsafe fn decides_nothing_before(slot: *const Slot) -> bool {
    let first = server::switch_area().add((*slot).switches as usize);
    let is_later = |at: EventNumber| at > now();
    ((*slot).switch_count == 0 || is_later((*first).at))
        && ((*slot).snapshot_at == 0 || is_later(EventNumber((*slot).snapshot_at)))
}

/// Applies the plan of the current slot from here on. No decision was made before.
pub(crate) unsafe fn goes_on() {
    take_switches();
    take_tail();
    let plan = PLAN.ptr();
    let began = (*plan).turn.began_alone(now());
    (*plan).turn.begin(began);
    (*plan).running = true;
    open();
    arm();
}

/// Makes the decision before the counted event `n` of the running thread, which can happen. At a point the strategy may
/// choose; elsewhere only the plan and the end of a turn can.
unsafe fn decide_before(mut n: EventNumber, is_point: bool) -> EventNumber {
    loop {
        if signals::has_outside() {
            uncount();
            signals::deliver();
            n = count();
        }
        let Some(cause) = due(n, is_point) else { return n };
        uncount();
        decide_and_switch(n, true, cause);
        n = count();
        // A signal handler that ran first may have performed the event that was decided about, and more.
        if (*PLAN.ptr()).decided == n {
            return settle(n);
        }
    }
}

/// Returns whether a decision is due before the counted event `n`, and why.
unsafe fn due(n: EventNumber, is_point: bool) -> Option<Cause> {
    let plan = PLAN.ptr();
    if RH_BUDGET.get() == 0 {
        limits(n);
        if (*plan).snapshot_at == n {
            snapshot(n);
        }
        if let Some(held) = hold::expires(n) {
            ((*plan).partner, (*plan).partner_at) = (held, n);
        }
    }
    let forced = (*plan).switches.is_due(n) || partner_at(n).is_some();
    let is_point = is_point || (*plan).behind_point == n;
    let random = is_point
        && (*plan).tail != TAIL_MIN_SWITCHES
        && n >= (*plan).tail_from
        && (ready_count() > 1 || is_held_back_alone());
    let turn_over = (*plan).turn.has_ended(n) && is_turn_over(n);
    if turn_over {
        (*plan).exhausted = n;
    }
    let turn_over = turn_over && n >= (*plan).tail_from;
    if !(forced || random && (*plan).running || turn_over) {
        if RH_BUDGET.get() == 0 {
            arm();
        }
        if is_point && n >= (*plan).tail_from && ready_count() == 1 && is_certain_alone() {
            close();
        }
        return None;
    }
    Some(if turn_over && !forced { Cause::Fair } else { Cause::Strategy })
}

/// Returns whether the running thread, whose turn has ended before event `n`, has to give way. A thread that makes
/// progress continues, unless the plan limits consecutive events.
unsafe fn is_turn_over(n: EventNumber) -> bool {
    let plan = PLAN.ptr();
    let is_strict = (*plan).turn.length() < TURN || (*plan).tail != TAIL_MIN_SWITCHES;
    let others = ready_count() > 1 || !is_strict && SUSPENDED.get() > 0 || watchdog::overdue(n).is_some();
    match (*plan).turn.review(n, others, is_strict) {
        TurnEnd::Alone => false,
        TurnEnd::Over => true,
        TurnEnd::Watch => {
            let until = spin::watch();
            (*plan).turn.watch_until(until);
            false
        }
        TurnEnd::IfBusy => !spin::is_busy(),
    }
}

/// Decides which thread performs event `n`, and switches to it. Returns when the calling thread continues.
///
/// `able` says that the running thread could perform its next operation.
pub(crate) unsafe fn decide_and_switch(n: EventNumber, able: bool, cause: Cause) {
    let plan = PLAN.ptr();
    let from = CURRENT.get();
    if spin::is_awaited() {
        spin::review(n);
    }
    (*plan).decided = n;
    reconsider();
    let wanted = if (*plan).running { (*plan).switches.take_due(n) } else { None };
    let (to, cause) = if let Some(wanted) = wanted {
        let fits = wanted.at == n && standing().is_meant(wanted);
        if !fits || !(possible(wanted.to) || waits_outside(wanted.to)) {
            outcome::diverged(n);
        }
        (wanted.to, Cause::Plan)
    } else if n < (*plan).tail_from && (*plan).running {
        outcome::diverged(n)
    } else {
        (choose(n, from, able, cause), cause)
    };
    if able && to == from && cause == Cause::Strategy {
        arm();
        return;
    }
    let chosen = thread(to);
    if (*chosen).state == State::Suspended && !(cause == Cause::Plan && io::comes_in_time(chosen)) {
        time::reach((*chosen).deadline);
        (*chosen).timed_out = true;
        make_ready(chosen);
    }
    if (*chosen).state == State::Blocked {
        // A spurious wake-up, or an iteration of a loop that waits.
        (*chosen).interrupted = !spin::waits(chosen);
        (*chosen).for_nothing = (*chosen).interrupted;
        make_ready(chosen);
    }
    log::put(Record {
        index: n,
        code: log::relative((*current()).code),
        object: u64::from(to),
        thread: from,
        kind: Kind::Switch,
        size: u8::from((*plan).exhausted == n),
        detail: cause as u8,
        ..Record::default()
    });
    (*plan).turn.begin(n);
    arm();
    if to != from {
        (*plan).switched += 1;
        let left = now();
        fiber::switch_to(to);
        spin::others_went_on(now() - left);
    }
    // Handlers of signals that were sent meanwhile come before what the thread was about to do.
    signals::deliver();
}

/// Lets other threads go first.
pub(crate) unsafe fn yield_after() {
    let plan = PLAN.ptr();
    let n = now().next();
    // A plan without a switch at a yield repeats an execution in which no other thread was known to be ready. A plan
    // with one repeats an execution in which some thread was, even if that is not known now: it may have been chosen
    // there, and found to be blocked.
    let planned = (*plan).switches.speaks_of_code(n, || log::relative((*current()).code));
    if planned || ready_count() > 1 && n >= (*plan).tail_from {
        if (*plan).tail != TAIL_MIN_SWITCHES {
            (*WALK.ptr()).yields(CURRENT.get().0);
        }
        decide_and_switch(n, true, Cause::Yield);
    }
}

/// Runs the slots that share the execution up to event `n`, each in a copy of the process, then ends this one.
#[cold]
unsafe fn snapshot(n: EventNumber) {
    uncount();
    if server::fan_out() {
        // A copy: continue as the next slot. Its plan begins with the switches that were already made.
        let plan = PLAN.ptr();
        take_switches();
        (*plan).snapshot_at = EventNumber::START;
        (*plan).switches.skip_before(n);
        take_tail();
        open();
    }
    arm();
    count();
}
