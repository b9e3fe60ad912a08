//! Which steps of a long interleaving a reader has to see.

use crate::place::Places;
use crate::steps::{Done, PANIC};
use racehunter_finding::{Finding, Kind, Site, Step};
use racehunter_log::{Access, AccessMode, Entry, Event, EventNumber, ThreadId};
use racehunter_symbols::own_frame;
use std::ops::Range;

/// Maximum number of steps that a finding keeps.
const MOST: usize = 400;
/// The number of accesses to the finding's variable that are kept, counted from the end.
const ACCESSES: usize = 40;
/// The number of switches without a preemption that are kept, counted from the end.
const SWITCHES: usize = 20;
/// The number of values from other threads that are kept, counted from the end.
const OBSERVED: usize = 4;
/// Maximum number of a thread's entries that are searched for what it read before it failed.
const SEARCHED: usize = 300;

/// What a finding is about.
#[derive(Default)]
pub(crate) struct Topic {
    /// Memory.
    pub(crate) memory: Vec<Range<u64>>,
    /// Condition variables, semaphores and similar objects.
    pub(crate) objects: Vec<u64>,
    /// Locks that a thread holds at an event.
    pub(crate) locks: Vec<(ThreadId, u64, EventNumber)>,
}

impl Topic {
    fn is_about(&self, event: &Event) -> bool {
        match event {
            Event::Access(access) => self.has(access),
            _ => event.synchronisation().is_some_and(|object| self.objects.contains(&object.0)),
        }
    }

    /// Returns true if an access is to the memory.
    pub(crate) fn has(&self, access: &Access) -> bool {
        let (start, end) = (access.address.0, access.address.0.saturating_add(access.size.max(1)));
        self.memory.iter().any(|range| start < range.end && range.start < end)
    }
}

/// Notes what a thread has read where it failed: the failure is about that memory.
pub(crate) fn note_what_failed(places: &Places<'_>, finding: &Finding) {
    if !matches!(finding.kind, Kind::Assertion | Kind::Crash) {
        return;
    }
    let Some(site) = finding.sites.first() else { return };
    let Some((failed, _)) = places.execution.thread_states().next() else { return };
    let own = places.execution.entries().rev().filter(|entry| entry.thread() == failed.thread());
    let reads = own.take(SEARCHED).filter_map(|entry| {
        let access = entry.access().filter(|access| access.mode.reads() && access.mode != AccessMode::Free)?;
        let (frames, _) = places.stack(entry);
        let frame = frames.get(own_frame(&frames)?)?;
        let is_here = frame.line == site.line && frame.file == site.file && frame.function == site.function;
        Some((access, is_here))
    });
    let reads: Vec<(Access, bool)> = reads.collect();
    let here = reads.iter().skip_while(|(_, is_here)| !is_here).take_while(|(_, is_here)| *is_here);
    let mut memory: Vec<Access> = here.map(|(access, _)| *access).collect();
    if memory.is_empty() {
        // It reads a local variable, whose value comes from an earlier read.
        memory.extend(reads.first().map(|(access, _)| *access));
    }
    places.topic.borrow_mut().memory.extend(memory.iter().map(|access| {
        let (start, end) = access.range();
        start..end
    }));
}

/// Notes what a thread accesses that others have written while it was preempted. A wrong status or output has no place of
/// its own; that memory comes closest to what it is about.
pub(crate) fn note_what_changed_meanwhile(places: &Places<'_>, finding: &Finding, steps: &[Done]) {
    if matches!(finding.kind, Kind::ExitStatus | Kind::Output) {
        places.topic.borrow_mut().memory.extend(changed_meanwhile(places, steps));
    }
}

/// Returns the memory that a thread accesses after others have written it while it was preempted.
pub(crate) fn changed_meanwhile(places: &Places<'_>, steps: &[Done]) -> Vec<Range<u64>> {
    let mut memory = Vec::new();
    for at in (1..steps.len()).filter(|&at| steps[at].step.preempted) {
        let Some(away) = Away::from(steps, at) else { continue };
        let accesses = away.meanwhile().filter_map(|at| access(places, &steps[at]));
        let written: Vec<Access> = accesses.filter(|access| access.mode.writes()).collect();
        let later = away.afterwards(steps).filter_map(|at| access(places, &steps[at]));
        let changed = later.filter(|access| written.iter().any(|write| write.overlaps(access)));
        memory.extend(changed.map(|access| {
            let (start, end) = access.range();
            start..end
        }));
    }
    memory.sort_by_key(|range| (range.start, range.end));
    memory.dedup();
    memory
}

/// The steps between a preemption of a thread and its next step.
pub(crate) struct Away {
    pub(crate) thread: u32,
    from: usize,
    back: usize,
}

impl Away {
    /// Starts with the first step after a preemption. Returns nothing if the thread does not continue.
    pub(crate) fn from(steps: &[Done], from: usize) -> Option<Self> {
        let thread = steps.get(from.checked_sub(1)?)?.step.thread;
        let back = (from..steps.len()).find(|&at| steps[at].step.thread == thread)?;
        Some(Self { thread, from, back })
    }

    /// Returns the steps of other threads.
    pub(crate) fn meanwhile(&self) -> Range<usize> {
        self.from..self.back
    }

    /// Returns the next steps of the thread itself.
    pub(crate) fn afterwards(&self, steps: &[Done]) -> impl Iterator<Item = usize> {
        let thread = self.thread;
        (self.back..steps.len()).filter(move |&at| steps[at].step.thread == thread).take(SEARCHED)
    }
}

/// Returns what memory a step accesses.
pub(crate) fn access(places: &Places<'_>, done: &Done) -> Option<Access> {
    let access = Entry::of(&places.execution.records[done.at]).access()?;
    (access.mode != AccessMode::Free).then_some(access)
}

/// Returns the last values of other threads that the failing thread has read since it was last switched to, as pairs of
/// steps: the write and the read. They show why it continued.
fn observed(places: &Places<'_>, finding: &Finding, steps: &[Done]) -> Vec<usize> {
    if !matches!(finding.kind, Kind::Assertion | Kind::Crash) {
        return Vec::new();
    }
    let Some(last) = steps.iter().rposition(|done| done.step.culprit) else { return Vec::new() };
    let thread = steps[last].step.thread;
    let access = |at: usize| access(places, &steps[at]);
    let own = (0..last).rev().take_while(|&at| steps[at].step.thread == thread).take(SEARCHED);
    let reads = own.filter_map(|at| Some((at, access(at).filter(|access| access.mode.reads())?)));
    let pair = |(at, read): (usize, Access)| {
        let is_write =
            |before: &usize| access(*before).is_some_and(|write| write.mode.writes() && write.overlaps(&read));
        let write = (0..at).rev().find(is_write)?;
        (steps[write].step.thread != thread && !is_unnamed(&steps[write].step)).then_some([write, at])
    };
    reads.filter_map(pair).take(OBSERVED).flatten().collect()
}

/// Returns true if a step is an access to memory for which the source has no name.
pub(crate) fn is_unnamed(step: &Step) -> bool {
    step.what.ends_with(" bytes") || step.what.ends_with(" 1 byte")
}

/// Numbers the steps, and marks those that matter: where the bug shows and what its cause names, where the locks held
/// there were taken, preemptions, the last accesses to what it is about, and what the failing thread saw of others.
pub(crate) fn mark(places: &Places<'_>, finding: &Finding, cited: &[usize], steps: &mut [Done]) {
    let sites: &[Site] = &finding.sites;
    let observed = observed(places, finding, steps);
    let topic = places.topic.borrow();
    let records = &places.execution.records;
    let taken: Vec<usize> = topic
        .locks
        .iter()
        .filter_map(|&(thread, lock, until)| {
            steps.iter().rposition(|done| {
                let entry = Entry::of(&records[done.at]);
                let takes = matches!(entry.event(), Event::Acquire { lock: taken, attempt, .. } if taken.0 == lock && attempt.succeeds());
                takes && entry.thread() == thread && entry.number() <= until
            })
        })
        .collect();
    let is_place =
        |step: &Step| sites.iter().any(|site| site.event > 0 && site.event == step.event && site.thread == step.path);
    let mut accesses = Vec::new();
    let mut switches = Vec::new();
    for at in 0..steps.len() {
        let is_preempted = |at: usize| steps.get(at).is_some_and(|done| done.step.preempted);
        let before = at.checked_sub(1).and_then(|before| steps.get(before)).map(|done| done.step.thread);
        let step = &steps[at].step;
        let matters = step.culprit
            // Its unwinding may be what others fail because of.
            || step.what == PANIC
            || is_preempted(at)
            || is_preempted(at + 1)
            || is_place(step)
            || taken.contains(&at)
            || cited.contains(&at)
            || observed.contains(&at);
        if !matters && topic.is_about(&Entry::of(&records[steps[at].at]).event()) {
            accesses.push(at);
        } else if !matters && before.is_some_and(|before| before != step.thread) {
            switches.push(at);
        }
        steps[at].step.number = at as u64 + 1;
        steps[at].step.matters = matters;
    }
    // The same stack memory belongs to other variables at other times; those rarely have a name.
    if !cited.is_empty() {
        accesses.retain(|&at| !is_unnamed(&steps[at].step));
    }
    let accesses = without_middles(&accesses, |at| steps[at].step.thread);
    let last = |places: Vec<usize>, most: usize| places.into_iter().rev().take(most);
    for at in last(accesses, ACCESSES).chain(last(switches, SWITCHES)) {
        steps[at].step.matters = true;
    }
}

/// Keeps only the first and the last of consecutive accesses of one thread.
fn without_middles(accesses: &[usize], thread: impl Fn(usize) -> u32) -> Vec<usize> {
    const LONG: usize = 6;
    const ENDS: usize = 2;
    let shorter = |run: &[usize]| match run.len() {
        ..=LONG => run.to_vec(),
        length => [&run[..ENDS], &run[length - ENDS..]].concat(),
    };
    accesses.chunk_by(|&one, &next| thread(one) == thread(next)).flat_map(shorter).collect()
}

/// Returns the steps to keep: those that matter, and as many of the last ones as there is room for.
pub(crate) fn kept(steps: Vec<Done>) -> Vec<Step> {
    let mut room = MOST;
    let mut kept = vec![false; steps.len()];
    for matters in [true, false] {
        let wanted = (0..steps.len()).rev().filter(|&at| steps[at].step.matters == matters);
        for at in wanted.take(room).collect::<Vec<_>>() {
            kept[at] = true;
            room -= 1;
        }
    }
    steps.into_iter().zip(kept).filter_map(|(done, is_kept)| is_kept.then_some(done.step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(number: u64, matters: bool) -> Done {
        Done { step: Step { number, matters, ..Step::default() }, at: 0 }
    }

    #[test]
    fn what_matters_is_kept_however_early_it_is() {
        let steps = (1..=1000).map(|number| done(number, number == 7 || number == 300)).collect();
        let kept: Vec<u64> = kept(steps).into_iter().map(|step| step.number).collect();
        assert_eq!(kept.len(), MOST);
        assert_eq!((kept[0], kept[1], kept[2], kept[MOST - 1]), (7, 300, 603, 1000));
        assert_eq!(super::kept((1..=3).map(|number| done(number, false)).collect()).len(), 3);
    }

    #[test]
    fn the_middle_of_a_long_run_is_left_out() {
        let thread = |at: usize| if (10..30).contains(&at) { 1 } else { 2 };
        let accesses: Vec<usize> = (5..35).collect();
        assert_eq!(without_middles(&accesses, thread), [5, 6, 7, 8, 9, 10, 11, 28, 29, 30, 31, 32, 33, 34]);
    }

    #[test]
    fn accesses_overlap_what_a_finding_is_about() {
        let topic = Topic { memory: vec![16..24, 64..72], ..Topic::default() };
        let access = |address: u64, size: u64| Access {
            address: racehunter_log::Address(address),
            size,
            mode: AccessMode::Read,
            is_excused: false,
        };
        assert_eq!(
            [12, 15, 16, 23, 24].map(|address| topic.has(&access(address, 2))),
            [false, true, true, true, false]
        );
    }
}
