//! Bugs of two accesses: data races, uses of memory after its end, and memory that is freed twice.

use crate::place::{Places, access_name};
use crate::{Culprit, Shown};
use racehunter_explore::{Execution, Kind, Race, Record, descriptor_at};
use racehunter_finding::{Finding, Object, Site};
use racehunter_report::messages;
use racehunter_symbols::source::Access;

/// The race between these two places.
pub(crate) fn find(execution: &Execution, first: u64, second: u64) -> Option<Race> {
    execution.races().into_iter().find(|race| {
        let (a, b) = (race.first.code, race.second.code);
        (a.min(b), a.max(b)) == (first, second)
    })
}

/// Both records of the race between these two places, and what was logged before.
fn pair<'e>(places: &Places<'e>, first: u64, second: u64) -> Option<(Record, Record, &'e [Record])> {
    let records = &places.execution.records;
    let at = records.windows(2).position(|pair| {
        pair[0].kind == Kind::RaceFirst && pair[1].kind == Kind::RaceSecond && {
            let (a, b) = (pair[0].code, pair[1].code);
            (a.min(b), a.max(b)) == (first, second)
        }
    })?;
    Some((records[at], records[at + 1], &records[..at]))
}

fn kind_of(record: &Record) -> Kind {
    Kind::from_byte(record.detail).unwrap_or_default()
}

/// The detector knows the earlier access by its place only; the log has it with its stack.
fn first_site(places: &Places<'_>, earlier: &Record, before: &[Record]) -> Site {
    let is_it = |record: &&Record| {
        record.thread == earlier.thread
            && record.stack != 0
            && match kind_of(earlier) {
                Kind::Free => {
                    record.kind == Kind::Free && (record.object..record.object + record.extra).contains(&earlier.object)
                }
                _ => (record.kind.is_access() || is_use(record, earlier)) && record.code == earlier.code,
            }
    };
    match before.iter().rev().find(is_it) {
        Some(record) => places.site(record, record.kind, bytes(record)),
        // Its number is not that of the access, but of the one that noticed.
        None => {
            let size = if kind_of(earlier) == Kind::Free { 0 } else { u32::from(earlier.size) };
            Site { event: 0, value: None, ..places.site(earlier, kind_of(earlier), size) }
        }
    }
}

/// Whether the record uses or destroys the object of synchronisation that one side of a race is about: for the detector
/// that is an access to the beginning of its memory.
fn is_use(record: &Record, side: &Record) -> bool {
    record.kind.is_synchronisation() && record.object & !3 == side.object & !3
}

/// How many bytes an access in the log is about, 0 for the end of a block and for what is no access to the program. The
/// detector knows those in one of its cells only.
fn bytes(record: &Record) -> u32 {
    match record.kind {
        Kind::ReadRange | Kind::WriteRange => u32::try_from(record.extra).unwrap_or(u32::MAX),
        Kind::Free => 0,
        kind if kind.is_synchronisation() => 0,
        _ => record.size.into(),
    }
}

/// The later access of a pair.
fn second_site(places: &Places<'_>, later: &Record) -> Site {
    let is_it = |record: &&Record| {
        record.index == later.index
            && (record.kind.is_access() || is_use(record, later) && record.thread == later.thread)
            && record.code == later.code
    };
    let logged = places.execution.records.iter().find(is_it);
    let noticed = if kind_of(later) == Kind::Free { 0 } else { later.size.into() };
    let kind = logged.map(|record| record.kind).filter(|kind| kind.is_synchronisation());
    places.site(later, kind.unwrap_or_else(|| kind_of(later)), logged.map_or(noticed, bytes))
}

fn culprit(later: &Record) -> Option<Culprit> {
    let shown = if kind_of(later) == Kind::Free { Shown::Free } else { Shown::Access };
    Some(Culprit { index: later.index, shown })
}

pub(crate) fn describe_race(places: &Places<'_>, first: u64, second: u64, finding: &mut Finding) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::DataRace;
    let Some((earlier, later, before)) = pair(places, first, second) else {
        finding.message = messages::data_race("memory that two threads use");
        finding.sites = vec![places.bare(first), places.bare(second)];
        return None;
    };
    let first_site = first_site(places, &earlier, before);
    if later.code == 0 {
        // Somebody was there who is not in the log: only what it did shows.
        let object = places.object(later.object, u64::from(later.size), &[&first_site]);
        finding.message = messages::data_race(&object.name);
        finding.object = Some(object);
        finding.sites = vec![first_site];
        finding.notes.push(messages::changed_by_a_stranger());
        return None;
    }
    let second_site = second_site(places, &later);
    if let Some(descriptor) = descriptor_at(later.object) {
        describe_descriptor(places, descriptor, [first_site, second_site], finding);
        return culprit(&later);
    }
    // What is freed has no name at the place where it is; what is used has.
    let named: &[&Site] = match (kind_of(&earlier), kind_of(&later)) {
        (Kind::Free, _) => &[&second_site],
        (_, Kind::Free) => &[&first_site],
        _ => &[&first_site, &second_site],
    };
    let size = named.iter().map(|site| site.size).min().unwrap_or_default();
    let mut object = places.object(later.object, u64::from(later.size), named);
    object.size = u64::from(size);
    for site in named {
        places.note_variable(&places.object(later.object, u64::from(later.size), &[site]));
    }
    if let Some(used) = before.iter().rev().find(|record| is_use(record, &earlier)) {
        object.name = places.lock_name(used.object);
    }
    if [kind_of(&earlier), kind_of(&later)].contains(&Kind::Free) {
        // It may have been allocated before the log begins.
        "heap".clone_into(&mut object.region);
    }
    if second_site.access == access_name(Kind::Lifetime) {
        finding.kind = racehunter_finding::Kind::Misuse;
        finding.message = messages::use_and_destroy(&object.name);
        finding.sites = vec![first_site, second_site];
        return culprit(&later);
    }
    let used_too_late = match (kind_of(&earlier), kind_of(&later)) {
        (Kind::Free, _) => Some(messages::used_after_free(&object.name)),
        (Kind::Exit, _) if earlier.thread == 0 => Some(messages::used_after_main(&object.name)),
        (Kind::Exit, _) => Some(messages::used_after_thread(&object.name)),
        (_, Kind::Free) => Some(messages::use_after_free(&object.name)),
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
    culprit(&later)
}

/// A file descriptor that one thread closes and another one uses.
fn describe_descriptor(places: &Places<'_>, descriptor: i32, mut sites: [Site; 2], finding: &mut Finding) {
    let spelled = sites.iter().find_map(|site| places.symbols.expression(site.stack.first()?, Access::Call));
    for site in &mut sites {
        let does = if site.access == "write" { "close" } else { "use" };
        (site.access, site.size, site.value) = (does.to_owned(), 0, None);
    }
    let name = spelled.unwrap_or_else(|| format!("fd {descriptor}"));
    finding.message = messages::descriptor_race(descriptor, &name);
    finding.object =
        Some(Object { name, size: 0, region: "descriptor".to_owned(), allocated: Vec::new(), element: None });
    finding.sites = sites.into();
}

pub(crate) fn describe_double_free(
    places: &Places<'_>,
    first: u64,
    second: u64,
    finding: &mut Finding,
) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::DoubleFree;
    let Some((earlier, later, before)) = pair(places, first, second) else {
        finding.message = messages::double_free("memory");
        finding.sites = vec![places.bare(first), places.bare(second)];
        return None;
    };
    let first_site = first_site(places, &earlier, before);
    let second_site = places.site(&later, Kind::Free, 0);
    let mut object = places.object(later.object, earlier.extra, &[]);
    let spelled = [&second_site, &first_site].into_iter().find_map(|site| {
        let name = places.symbols.expression(site.stack.first()?, Access::Call)?;
        Some(name.trim_start_matches('&').to_owned())
    });
    if let Some(name) = spelled {
        object.name = name;
    }
    finding.message = messages::double_free(&object.name);
    finding.object = Some(object);
    finding.sites = vec![first_site, second_site];
    culprit(&later)
}
