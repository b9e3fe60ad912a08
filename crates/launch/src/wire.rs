//! Encodes plans for the target: the only place that turns a [`Plan`] into the words of a [`Slot`].

use racehunter_abi::callers_hash;
use racehunter_abi::control::{
    FLAG_ALLOCATIONS, FLAG_BRIEF, FLAG_DETECT, FLAG_FREE, FLAG_INFER_NOTHING, FLAG_SELECTIVE, FLAG_SPURIOUS,
    FLAG_STACKS, FLAG_VALUES, Hold, MOST_CONSTRAINTS, MOST_TRACKED, MOST_WEIGHTS, OBSERVE_ALL, OBSERVE_CODE,
    OBSERVE_POINTS, ReadConstraint, Slot, TAIL_GUIDED, TAIL_MIN_SWITCHES, TAIL_ORDER, TAIL_PCT, TAIL_PCT_VARIABLES,
    TAIL_POS, TAIL_RANDOM, TAIL_UNIFORM, Tracked, Weight,
};
use racehunter_explore::{self as explore, Descriptor, Observe, Plan, Style, Tail};
use racehunter_log::{EventNumber, ThreadPath};

/// The contents of a slot besides its plan: where the parts of the plan in other areas are, and how to run it.
pub(crate) struct Context {
    /// The first of its switches in the switch area.
    pub first_switch: u32,
    /// The position and number of the sites that a selective plan observes; `None` if the plan observes all.
    pub selected: Option<(u32, u32)>,
    /// The event before which a snapshot is taken, and how many slots continue from there; zeros for none.
    pub snapshot: (EventNumber, u32),
    /// Nanoseconds for which threads are held in free-running executions.
    pub free_patience: u64,
    /// Identifies this version of the plan.
    pub nonce: u64,
}

/// Returns the slot of a plan, without a result.
pub(crate) fn encode(plan: &Plan, context: &Context) -> Slot {
    let (watch, watch_size) = plan.explain.unwrap_or_default();
    let (selected, selected_count) = context.selected.unwrap_or_default();
    let mut slot = Slot {
        switches: context.first_switch,
        switch_count: plan.switches.len() as u32,
        tail_from: plan.tail_from.0,
        log_from: plan.log_from.0,
        observe: match plan.observe {
            Observe::Points => OBSERVE_POINTS,
            Observe::Everything => OBSERVE_ALL,
            Observe::Code => OBSERVE_CODE,
        },
        max_threads: plan.max_threads,
        tracked: tracked(&plan.track),
        weights: weights(&plan.weights),
        constraints: constraints(&plan.constraints),
        selected,
        selected_count,
        fair_limit: plan.fair_limit.unwrap_or(0),
        max_events: plan.max_events,
        watch: watch.0,
        watch_size,
        snapshot_at: context.snapshot.0.0,
        snapshot_slots: context.snapshot.1,
        patience: if plan.free { context.free_patience } else { plan.patience },
        holds: plan.provoke.as_deref().map(|pair| pair.each_ref().map(hold)).unwrap_or_default(),
        flags: flags(plan, context.selected.is_some()),
        nonce: context.nonce,
        ..Slot::empty()
    };
    set_tail(&mut slot, plan.tail);
    if let Some(sample) = plan.sample {
        slot.seed = sample.seed;
        slot.sample = sample.every;
    }
    slot
}

fn set_tail(slot: &mut Slot, tail: Tail) {
    let Tail::Walk { style, seed } = tail else {
        slot.tail = TAIL_MIN_SWITCHES;
        return;
    };
    slot.seed = seed;
    slot.tail = match style {
        Style::Even => TAIL_RANDOM,
        Style::Pct { .. } => TAIL_PCT,
        Style::PctVariables { .. } => TAIL_PCT_VARIABLES,
        Style::Order { .. } => TAIL_ORDER,
        Style::Pos => TAIL_POS,
        Style::Uniform => TAIL_UNIFORM,
        Style::Guided => TAIL_GUIDED,
    };
    match style {
        Style::Pct { depth, length } | Style::PctVariables { depth, length } => {
            slot.depth = depth;
            slot.length = length;
        }
        Style::Order { changed, count } => {
            slot.changed = changed;
            slot.changed_count = count;
        }
        Style::Even | Style::Pos | Style::Uniform | Style::Guided => {}
    }
}

fn flags(plan: &Plan, is_selective: bool) -> u32 {
    let detects = !is_selective && plan.detect_races && plan.select.is_none();
    // Whatever looks at single accesses needs them in the log.
    let looks_closer = plan.observe != Observe::Points || plan.explain.is_some() || plan.stacks || plan.free;
    let is_brief = plan.brief && !looks_closer && plan.select.is_none();
    let bits = [
        (FLAG_SELECTIVE, is_selective),
        (FLAG_DETECT, detects),
        (FLAG_INFER_NOTHING, detects && !plan.infer_races),
        (FLAG_ALLOCATIONS, plan.allocations),
        (FLAG_SPURIOUS, plan.spurious),
        (FLAG_FREE, plan.free),
        (FLAG_STACKS, plan.explain.is_some() || plan.stacks),
        (FLAG_VALUES, plan.explain.is_some()),
        (FLAG_BRIEF, is_brief),
    ];
    bits.into_iter().filter(|&(_, is_set)| is_set).fold(0, |flags, (bit, _)| flags | bit)
}

fn tracked(variables: &[explore::Tracked]) -> [Tracked; MOST_TRACKED] {
    let mut all = [Tracked::default(); MOST_TRACKED];
    for (to, from) in all.iter_mut().zip(variables) {
        *to = match *from {
            explore::Tracked::At(object) => Tracked { object: object.0, allocated_at: 0 },
            explore::Tracked::AllocatedAt(code) => Tracked { object: 0, allocated_at: code.0 },
        };
    }
    all
}

fn weights(weights: &[(ThreadPath, u64)]) -> [Weight; MOST_WEIGHTS] {
    let mut all = [Weight::default(); MOST_WEIGHTS];
    for (to, &(path, accesses)) in all.iter_mut().zip(weights) {
        *to = Weight { path: path.0, accesses };
    }
    all
}

fn constraints(constraints: &[explore::ReadConstraint]) -> [ReadConstraint; MOST_CONSTRAINTS] {
    let place = |explore::GatedPlace { code, gate }: explore::GatedPlace| [code, gate];
    let mut all = [ReadConstraint::default(); MOST_CONSTRAINTS];
    for (to, from) in all.iter_mut().zip(constraints) {
        *to = ReadConstraint {
            reader: from.reader,
            read: place(from.read),
            object: from.object,
            skip: u64::from(from.skip),
            write: from.write,
            rivals: from.rivals.map(place),
        };
    }
    all
}

/// Encodes an access to hold a thread at.
fn hold(descriptor: &Descriptor) -> Hold {
    Hold {
        code: descriptor.code.0,
        path: descriptor.path.map_or(0, u64::from),
        depth: descriptor.callers.len() as u64,
        callers: callers_hash(descriptor.callers.iter().copied()),
        nth: descriptor.nth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_log::Address;

    const CONTEXT: Context =
        Context { first_switch: 7, selected: None, snapshot: (EventNumber::START, 0), free_patience: 11, nonce: 3 };

    #[test]
    fn the_flags_encode_what_is_observed() {
        let flags = |plan: &Plan| encode(plan, &CONTEXT).flags;
        assert_eq!(flags(&Plan::default()), FLAG_DETECT);
        assert_eq!(flags(&Plan { infer_races: false, ..Plan::default() }), FLAG_DETECT | FLAG_INFER_NOTHING);
        assert_eq!(flags(&Plan { detect_races: false, infer_races: false, ..Plan::default() }), 0);
        let explain = Plan { explain: Some((Address(64), 8)), ..Plan::default() };
        assert_eq!(flags(&explain), FLAG_DETECT | FLAG_STACKS | FLAG_VALUES);
        // A selective plan detects no races, not even if there is no room for its sites.
        let selective = Plan { select: Some(vec![1]), ..Plan::default() };
        assert_eq!(flags(&selective), 0);
        assert_eq!(encode(&selective, &Context { selected: Some((0, 1)), ..CONTEXT }).flags, FLAG_SELECTIVE);
    }

    #[test]
    fn what_looks_at_accesses_has_no_brief_log() {
        let is_brief = |plan: Plan| encode(&Plan { brief: true, ..plan }, &CONTEXT).flags & FLAG_BRIEF != 0;
        assert!(is_brief(Plan::default()));
        assert!(!is_brief(Plan { observe: Observe::Everything, ..Plan::default() }));
        assert!(!is_brief(Plan { explain: Some((Address(64), 8)), ..Plan::default() }));
        assert!(!is_brief(Plan { stacks: true, ..Plan::default() }));
        assert!(!is_brief(Plan { free: true, ..Plan::default() }));
        assert!(!is_brief(Plan { select: Some(vec![1]), ..Plan::default() }));
        assert!(is_brief(Plan { track: vec![explore::Tracked::At(Address(64))], ..Plan::default() }));
        assert!(is_brief(Plan { constraints: vec![explore::ReadConstraint::default()], ..Plan::default() }));
    }

    #[test]
    fn a_sample_keeps_its_seed() {
        let sample = Some(explore::Sample { seed: 5, every: 9 });
        let slot = encode(&Plan { tail: Tail::random(8), sample, ..Plan::default() }, &CONTEXT);
        assert_eq!((slot.tail, slot.seed, slot.sample), (TAIL_RANDOM, 5, 9));
        let slot = encode(&Plan { tail: Tail::random(8), ..Plan::default() }, &CONTEXT);
        assert_eq!((slot.tail, slot.seed, slot.sample), (TAIL_RANDOM, 8, 0));
    }

    #[test]
    fn free_running_threads_are_held_in_real_time() {
        assert_eq!(encode(&Plan { free: true, ..Plan::default() }, &CONTEXT).patience, 11);
        assert_eq!(encode(&Plan::default(), &CONTEXT).patience, explore::PATIENCE);
    }
}
