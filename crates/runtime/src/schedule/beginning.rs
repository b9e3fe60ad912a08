//! Starts an execution: what the runtime takes from the plan in its slot.

use super::{PLAN, WALK, arm, log_state, minds, uncounted};
use crate::thread::{COUNT, State, thread, threads};
use crate::{log, server, start};
use racehunter_abi::control::{
    FLAG_BRIEF, TAIL_GUIDED, TAIL_ORDER, TAIL_PCT, TAIL_PCT_VARIABLES, TAIL_POS, TAIL_RANDOM, TAIL_UNIFORM,
};
use racehunter_abi::{EventNumber, Kind, Record};
use racehunter_machine::plan::Switches;
use racehunter_walk::{GatedPlace, ReadConstraint, Style};

/// Announces threads that static constructors have created: they exist from the first event on, in any state.
pub(super) unsafe fn announce_threads() {
    if COUNT.get() > 1 {
        // Their earlier actions were not observed.
        log::escape(racehunter_abi::Escape::Threads, 0, 0, 0);
    }
    for number in threads().skip(1) {
        let t = thread(number);
        let (object, extra) = (u64::from(number), log::relative((*t).start).0);
        log::put(Record { object, extra, thread: (*t).parent, kind: Kind::Create, ..Record::default() });
        match (*t).state {
            State::Blocked => log_state(t, Kind::Blocked, EventNumber::START),
            State::Suspended => log_state(t, Kind::Suspended, EventNumber::START),
            State::Done => log::put(Record { thread: number, kind: Kind::Exit, ..Record::default() }),
            _ => {}
        }
    }
}

/// Takes what may differ between the slots that continue from one snapshot.
pub(super) unsafe fn take_switches() {
    let plan = PLAN.ptr();
    let slot = server::slot();
    take_observation();
    (*plan).tail_from = EventNumber((*slot).tail_from);
    (*plan).turn.set_length((*slot).fair_limit);
    (*plan).max_events = (*slot).max_events;
    (*plan).max_threads = (*slot).max_threads;
    (*plan).snapshot_at = EventNumber((*slot).snapshot_at);
    let first = server::switch_area().add((*slot).switches as usize);
    // The controller writes them before it requests the execution, and not again before its end.
    (*plan).switches = Switches::new(core::slice::from_raw_parts(first, (*slot).switch_count as usize));
}

/// Takes what to log.
unsafe fn take_observation() {
    let (plan, slot) = (PLAN.ptr(), server::slot());
    (*plan).flags = (*slot).flags | start::more_flags();
    // A start that other plans continue from logs all that any of them asks for.
    log::brief::set((*slot).flags & FLAG_BRIEF != 0 && !start::may_stay());
    (*plan).observe = (*slot).observe;
    (*plan).log_from = if server::is_hushed() { EventNumber((*slot).log_from) } else { EventNumber::START };
}

/// Logs what the plan asks for from here on.
pub(crate) unsafe fn observes_as_planned() {
    take_observation();
    arm();
}

/// Takes the strategy of the tail.
pub(super) unsafe fn take_tail() {
    let slot = server::slot();
    // What the last walk has not been told is not about this one.
    uncounted();
    minds::begin();
    (*PLAN.ptr()).tail = (*slot).tail;
    let style = match (*slot).tail {
        TAIL_PCT => Style::Pct { depth: (*slot).depth, length: (*slot).length },
        TAIL_PCT_VARIABLES => Style::PctVariables { depth: (*slot).depth, length: (*slot).length },
        TAIL_ORDER => Style::Order { changed: (*slot).changed, count: (*slot).changed_count },
        TAIL_POS => Style::Pos,
        TAIL_UNIFORM => Style::Uniform,
        TAIL_GUIDED => Style::Guided,
        TAIL_RANDOM => Style::Even,
        _ => return,
    };
    let walk = WALK.ptr();
    (*walk).begin(style, (*slot).seed);
    for weight in (*slot).weights.into_iter().take_while(|weight| weight.path != 0) {
        (*walk).weigh(weight.path, weight.accesses);
    }
    for constraint in (*slot).constraints.iter().take_while(|constraint| constraint.reader != 0) {
        let place = |[code, gate]: [u64; 2]| GatedPlace { code, gate };
        let (read, rivals, skip) = (place(constraint.read), constraint.rivals.map(place), constraint.skip as u32);
        let (reader, object, write) = (constraint.reader, constraint.object, constraint.write);
        let constraint = ReadConstraint { reader, read, object, skip, write, rivals };
        minds::constraint(constraint.codes(), object);
        (*walk).constrain(constraint);
    }
}
