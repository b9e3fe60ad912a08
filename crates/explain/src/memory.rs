//! Bugs that consist of two accesses: data races, uses of memory after its end, and double frees.

use crate::place::{DESTROY, Places, operation_name, race_access_name};
use crate::{Culprit, Shown};
use racehunter_explore::{Execution, Race};
use racehunter_finding::{Finding, Object, Site};
use racehunter_log::{
    Access, AccessMode, Address, CodeAddress, Entry, Event, RaceAccess, RaceSide, Record, ThreadId, descriptor_at,
    entries,
};
use racehunter_report::messages;
use racehunter_symbols::source::Access as Spelling;

/// Returns the race between these two places.
pub(crate) fn find(execution: &Execution, first: CodeAddress, second: CodeAddress) -> Option<Race> {
    execution.races().into_iter().find(|race| {
        let (a, b) = (race.first.code, race.second.code);
        (a.min(b), a.max(b)) == (first, second)
    })
}

/// One side of a race, as logged.
#[derive(Clone, Copy)]
struct Side<'l> {
    entry: Entry<'l>,
    seen: RaceSide,
}

impl Side<'_> {
    fn address(&self) -> u64 {
        self.seen.address.0
    }

    /// Returns the number of bytes, as far as the detector knows.
    fn bytes(&self) -> u64 {
        self.seen.size.into()
    }

    fn is_free(&self) -> bool {
        self.seen.access.is_free()
    }

    /// Returns true if an operation uses or destroys this side's synchronisation object, which the detector treats as
    /// an access to the beginning of its memory.
    fn is_about(&self, event: &Event) -> bool {
        event.synchronisation().is_some_and(|object| object.0 & !3 == self.address() & !3)
    }
}

/// Returns both sides of the race between these two places, and the log before it.
fn pair<'e>(
    places: &Places<'e>,
    first: CodeAddress,
    second: CodeAddress,
) -> Option<(Side<'e>, Side<'e>, &'e [Record])> {
    let records = &places.execution.records;
    let sides = |pair: &'e [Record]| {
        let [first, second] = [Entry::of(&pair[0]), Entry::of(&pair[1])];
        match (first.race_side()?, second.race_side()?) {
            (Event::RaceFirst(earlier), Event::RaceSecond(later)) => {
                Some((Side { entry: first, seen: earlier }, Side { entry: second, seen: later }))
            }
            _ => None,
        }
    };
    records.windows(2).enumerate().find_map(|(at, pair)| {
        let (earlier, later) = sides(pair)?;
        let (a, b) = (earlier.entry.code(), later.entry.code());
        ((a.min(b), a.max(b)) == (first, second)).then(|| (earlier, later, &records[..at]))
    })
}

/// Returns the site of the earlier access. The detector knows only its place; the log has it with its stack. A function of a
/// library, such as one that ends a string, accesses other memory with the same code.
fn first_site(places: &Places<'_>, earlier: Side<'_>, before: &[Record]) -> Site {
    let memory = earlier.address()..earlier.address() + earlier.bytes().max(1);
    let touches = |entry: &Entry<'_>| {
        entry.access().is_none_or(|access| {
            let (start, end) = access.range();
            start < memory.end && memory.start < end
        })
    };
    let is_it = |entry: &Entry<'_>| {
        let event = entry.event();
        let fits = match (earlier.is_free(), event) {
            (true, Event::Access(freed)) => {
                let block = freed.address.0..freed.address.0 + freed.size;
                freed.mode == AccessMode::Free && block.contains(&earlier.address())
            }
            (true, _) => false,
            (false, _) => (entry.is_access() || earlier.is_about(&event)) && entry.code() == earlier.entry.code(),
        };
        entry.thread() == earlier.entry.thread() && entry.stack() != 0 && fits
    };
    // Calls of two places may be one in optimised code, whose line is that of either.
    let is_alike = |entry: &Entry<'_>| {
        let RaceAccess::Access(mode) = earlier.seen.access else { return false };
        let same = |access: Access| access.mode != AccessMode::Free && access.mode.writes() == mode.writes();
        entry.thread() == earlier.entry.thread() && entry.stack() != 0 && entry.access().is_some_and(same)
    };
    let latest = |fits: &dyn Fn(&Entry<'_>) -> bool| entries(before).rev().find(|entry| fits(entry));
    let touching = latest(&|entry| is_it(entry) && touches(entry));
    let touching = touching.or_else(|| latest(&|entry| !earlier.is_free() && is_alike(entry) && touches(entry)));
    match touching.or_else(|| latest(&is_it)) {
        Some(entry) => {
            let event = entry.event();
            places.site(entry, operation_name(&event), bytes(&event))
        }
        // This is the number of the event that noticed the race, not of the access.
        None => {
            let size = if earlier.is_free() { 0 } else { u32::from(earlier.seen.size) };
            let site = places.site(earlier.entry, race_access_name(earlier.seen.access), size);
            Site { event: 0, value: None, ..site }
        }
    }
}

/// Returns how many bytes a logged access touches, 0 for the end of a block and for events that are not accesses. The
/// detector knows only those in one of its cells.
fn bytes(event: &Event) -> u32 {
    match event {
        Event::Access(access) if access.mode != AccessMode::Free => u32::try_from(access.size).unwrap_or(u32::MAX),
        _ => 0,
    }
}

/// Returns the later access of a pair.
fn second_site(places: &Places<'_>, later: Side<'_>) -> Site {
    let is_it = |entry: &Entry<'_>, event: &Event| {
        entry.number() == later.entry.number()
            && (entry.is_access() || later.is_about(event) && entry.thread() == later.entry.thread())
            && entry.code() == later.entry.code()
    };
    let logged = places.execution.entries().find_map(|entry| {
        let event = entry.event();
        is_it(&entry, &event).then_some(event)
    });
    let noticed = if later.is_free() { 0 } else { later.seen.size.into() };
    let name = match &logged {
        Some(event) if event.synchronisation().is_some() => operation_name(event),
        _ => race_access_name(later.seen.access),
    };
    places.site(later.entry, name, logged.as_ref().map_or(noticed, bytes))
}

fn culprit(later: Side<'_>) -> Option<Culprit> {
    let shown = if later.is_free() { Shown::Free } else { Shown::Access };
    Some(Culprit { number: later.entry.number(), shown })
}

/// Notes the memory of both accesses, and the locks that are held there.
fn note_topic(places: &Places<'_>, earlier: Side<'_>, later: Side<'_>) {
    let mut topic = places.topic.borrow_mut();
    topic.memory.push(later.address()..later.address() + later.bytes().max(1));
    for side in [earlier, later] {
        let (_, locks) = places.stack(side.entry);
        topic.locks.extend(locks.into_iter().map(|lock| (side.entry.thread(), lock, side.entry.number())));
    }
}

pub(crate) fn describe_race(
    places: &Places<'_>,
    first: CodeAddress,
    second: CodeAddress,
    finding: &mut Finding,
) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::DataRace;
    let Some((earlier, later, before)) = pair(places, first, second) else {
        finding.message = messages::data_race("memory that two threads use");
        finding.sites = vec![places.bare(first), places.bare(second)];
        return None;
    };
    note_topic(places, earlier, later);
    let first_site = first_site(places, earlier, before);
    if !later.entry.code().is_known() {
        // The other thread is not in the log: only its effect shows.
        let object = places.object(later.address(), later.bytes(), &[&first_site]);
        finding.message = messages::data_race(&object.name);
        finding.object = Some(object);
        finding.sites = vec![first_site];
        finding.notes.push(messages::changed_by_a_stranger());
        return None;
    }
    let second_site = second_site(places, later);
    if let Some(descriptor) = descriptor_at(later.address()) {
        describe_descriptor(places, descriptor, [first_site, second_site], finding);
        return culprit(later);
    }
    // Freed memory has no name where it is freed, but has one where it is used.
    let named: &[&Site] = match (earlier.is_free(), later.is_free()) {
        (true, _) => &[&second_site],
        (_, true) => &[&first_site],
        _ => &[&first_site, &second_site],
    };
    let size = named.iter().map(|site| site.size).min().unwrap_or_default();
    let mut object = places.object(later.address(), later.bytes(), named);
    object.size = u64::from(size);
    for site in named {
        places.note_variable(later.address(), later.bytes(), site);
    }
    let mut used = entries(before).rev().map(|entry| entry.event()).filter(|event| earlier.is_about(event));
    if let Some(Address(used)) = used.next().and_then(|event| event.synchronisation()) {
        object.name = places.lock_name(used);
    }
    if earlier.is_free() || later.is_free() {
        // It may have been allocated before the log begins.
        "heap".clone_into(&mut object.region);
    }
    if second_site.access == DESTROY {
        finding.kind = racehunter_finding::Kind::Misuse;
        finding.message = messages::use_and_destroy(&object.name);
        finding.sites = vec![first_site, second_site];
        return culprit(later);
    }
    let used_too_late = match earlier.seen.access {
        RaceAccess::Access(AccessMode::Free) => Some(messages::used_after_free(&object.name)),
        RaceAccess::ThreadEnd if earlier.entry.thread() == ThreadId::MAIN => {
            Some(messages::used_after_main(&object.name))
        }
        RaceAccess::ThreadEnd => Some(messages::used_after_thread(&object.name)),
        _ if later.is_free() => Some(messages::use_after_free(&object.name)),
        _ => None,
    };
    finding.message = match used_too_late {
        Some(message) => {
            finding.kind = racehunter_finding::Kind::UseAfterFree;
            message
        }
        None => messages::data_race(&object.name),
    };
    finding.object = Some(object);
    finding.sites = vec![first_site, second_site];
    culprit(later)
}

/// Describes a file descriptor that one thread closes and another one uses.
fn describe_descriptor(places: &Places<'_>, descriptor: i32, mut sites: [Site; 2], finding: &mut Finding) {
    let spelled = sites.iter().find_map(|site| places.symbols.expression(site.stack.first()?, Spelling::Call));
    for site in &mut sites {
        let does = if site.access == "write" { "close" } else { "use" };
        site.access = does.to_owned();
        site.size = 0;
        site.value = None;
    }
    let name = spelled.unwrap_or_else(|| format!("fd {descriptor}"));
    finding.message = messages::descriptor_race(descriptor, &name);
    finding.object =
        Some(Object { name, size: 0, region: "descriptor".to_owned(), allocated: Vec::new(), element: None });
    finding.sites = sites.into();
}

pub(crate) fn describe_double_free(
    places: &Places<'_>,
    first: CodeAddress,
    second: CodeAddress,
    finding: &mut Finding,
) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::DoubleFree;
    let Some((earlier, later, before)) = pair(places, first, second) else {
        finding.message = messages::double_free("memory");
        finding.sites = vec![places.bare(first), places.bare(second)];
        return None;
    };
    note_topic(places, earlier, later);
    let first_site = first_site(places, earlier, before);
    let second_site = places.site(later.entry, race_access_name(later.seen.access), 0);
    let mut object = places.object(later.address(), earlier.seen.block_size, &[]);
    let spelled = [&second_site, &first_site].into_iter().find_map(|site| {
        let name = places.symbols.expression(site.stack.first()?, Spelling::Call)?;
        Some(name.trim_start_matches('&').to_owned())
    });
    if let Some(name) = spelled {
        object.name = name;
    }
    finding.message = messages::double_free(&object.name);
    finding.object = Some(object);
    finding.sites = vec![first_site, second_site];
    culprit(later)
}
