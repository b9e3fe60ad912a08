//! Saves and resumes a campaign.

use super::{Campaign, Claim, Counts, Found, Member};
use crate::patience::Patience;
use crate::{Endings, Escape, Executor, Loader, Plan, Saver, Share, Unusable};
use racehunter_log::CodeAddress;
use std::io::{self, Read, Write};

/// The version of the state, which changes with its format.
const VERSION: u64 = 9;

impl Campaign<'_> {
    /// Writes everything that is needed to resume. Must be called between two calls of [`Campaign::advance`].
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = Saver::new(out);
        out.number(VERSION);
        out.number(self.started);
        out.numbers(numbers(&self.counts).into_iter());
        save_bugs(&self.found, &mut out);
        save_bugs(&self.postponed, &mut out);
        out.numbers(self.sites.iter().copied());
        out.numbers(self.places.iter().copied());
        out.numbers([u64::from(self.threads), self.events].into_iter());
        out.count(self.escaped.len());
        for (&(what, code, object), &executions) in &self.escaped {
            out.numbers([u64::from(what as u8), code.0, object, executions].into_iter());
        }
        self.patience.save(&mut out);
        save_endings(&self.endings, &mut out);
        for Member { executions, completed, claims, finished } in &self.members {
            out.number(*executions);
            out.number(*completed);
            out.number(*finished);
            out.count(claims.len());
            for Claim { bound, words, everything, divided } in claims {
                out.optional(bound.map(u64::from));
                out.text(words);
                out.number(*everything);
                out.number(*divided);
            }
        }
        self.portfolio.save(&mut out);
        out.finish()
    }

    /// Resumes a saved campaign: one of the same analyses with the same options on the same program. Nothing may have
    /// been run before.
    ///
    /// # Errors
    ///
    /// If the state is invalid, or not of this campaign. The campaign is then unusable.
    pub fn resume(&mut self, input: &mut dyn Read, executor: &mut dyn Executor) -> Result<(), Unusable> {
        self.load(input)?;
        executor.add_points(&self.sites());
        Ok(())
    }

    /// The same without an executor: what is points of the campaign is not points of any executor yet.
    pub(super) fn load(&mut self, input: &mut dyn Read) -> Result<(), Unusable> {
        let mut input = Loader::new(input);
        if input.number()? != VERSION {
            return Err(Unusable::Other);
        }
        self.started = input.flag()?;
        self.counts = counts(&input.numbers::<u64>()?).ok_or(Unusable::Damaged)?;
        self.found = load_bugs(&mut input)?;
        self.postponed = load_bugs(&mut input)?;
        self.known.extend(self.found.iter().chain(&self.postponed).map(|found| found.bug.clone()));
        self.reported = self.found.len();
        self.sites = input.numbers()?.into_iter().collect();
        self.places = input.numbers()?.into_iter().collect();
        let [threads, events] = input.numbers::<u64>()?[..] else { return Err(Unusable::Damaged) };
        self.threads = threads.try_into().map_err(|_| Unusable::Damaged)?;
        self.events = events;
        for _ in 0..input.number()? {
            let [what, code, object, executions] = input.numbers::<u64>()?[..] else { return Err(Unusable::Damaged) };
            let what = u8::try_from(what).ok().and_then(Escape::from_byte).ok_or(Unusable::Damaged)?;
            self.escaped.insert((what, CodeAddress(code), object), executions);
        }
        self.patience = Patience::load(&mut input)?;
        self.endings = load_endings(&mut input)?;
        for member in &mut self.members {
            member.executions = input.number()?;
            member.completed = input.number()?;
            member.finished = input.flag()?;
            for _ in 0..input.number()? {
                let bound = input.optional()?.map(u32::try_from).transpose().map_err(|_| Unusable::Damaged)?;
                let (words, everything, divided) = (input.text()?, input.flag()?, input.flag()?);
                member.claims.push(Claim { bound, words, everything, divided });
            }
        }
        let resumed = self.portfolio.load(&mut input)?;
        input.finish()?;
        for (member, resumed) in self.members.iter_mut().zip(resumed) {
            if !resumed {
                *member = Member::default();
            }
        }
        Ok(())
    }

    /// Writes a campaign that explores a share of the waiting targets, in the form of [`Campaign::save`]: nothing has
    /// happened in it yet. Returns for each member how many targets it got.
    pub(super) fn save_share(&mut self, share: Share, out: &mut dyn Write) -> io::Result<Vec<usize>> {
        let mut out = Saver::new(out);
        out.number(VERSION);
        out.number(true);
        out.numbers(numbers(&Counts::default()).into_iter());
        // No bugs, neither reported nor postponed.
        (0..2).for_each(|_| out.count(0));
        out.numbers(self.sites().into_iter());
        // No places, and neither threads nor events.
        out.count(0);
        out.numbers([0_u64, 0].into_iter());
        // No escapes.
        out.count(0);
        self.patience.save(&mut out);
        save_endings(&Endings::default(), &mut out);
        for _ in &self.members {
            // Neither executions nor claims.
            (0..4).for_each(|_| out.number(0_u8));
        }
        let targets = self.portfolio.lend(share, &mut out);
        out.finish()?;
        Ok(targets)
    }
}

fn save_bugs(bugs: &[Found], out: &mut Saver<'_>) {
    out.count(bugs.len());
    for Found { bug, execution, switches, repeat, preemptions, .. } in bugs {
        out.bug(bug);
        out.number(*execution);
        out.switches(switches);
        // Only as much of them as shows the bug.
        out.switches(&repeat.switches);
        out.number(repeat.tail_from);
        out.number(repeat.max_events);
        out.number(repeat.max_threads);
        out.number(repeat.spurious);
        out.number(*preemptions);
    }
}

fn load_bugs(input: &mut Loader<'_>) -> Result<Vec<Found>, Unusable> {
    let mut bugs = Vec::new();
    for _ in 0..input.number()? {
        let (bug, execution, switches) = (input.bug()?, input.number()?, input.switches()?);
        let repeat = Plan {
            switches: input.switches()?,
            tail_from: input.small()?,
            max_events: input.number()?,
            max_threads: input.small()?,
            spurious: input.flag()?,
            ..Plan::default()
        };
        bugs.push(Found { bug, execution, switches, repeat, preemptions: input.number()?, unreplayable: None });
    }
    Ok(bugs)
}

fn numbers(counts: &Counts) -> [u64; 11] {
    let Counts { executions, diverged, given_up, impossible, limited, lost, partial, .. } = *counts;
    let Counts { monitors, growths, stable_for, common, .. } = *counts;
    [executions, diverged, given_up, impossible, limited, lost, partial, monitors, growths, stable_for, common]
}

fn counts(numbers: &[u64]) -> Option<Counts> {
    let &[executions, diverged, given_up, impossible, limited, lost, partial, monitors, growths, stable_for, common] =
        numbers
    else {
        return None;
    };
    Some(Counts {
        executions,
        diverged,
        given_up,
        impossible,
        limited,
        lost,
        partial,
        monitors,
        growths,
        stable_for,
        common,
    })
}

fn save_endings(endings: &Endings, out: &mut Saver<'_>) {
    let Endings { completed, statuses, limits, lost } = endings;
    out.number(*completed);
    out.count(statuses.len());
    for (&status, &executions) in statuses {
        out.number(status.cast_unsigned());
        out.number(executions);
    }
    for counts in [limits, lost] {
        out.count(counts.len());
        for (what, &executions) in counts {
            out.text(what);
            out.number(executions);
        }
    }
}

fn load_endings(input: &mut Loader<'_>) -> Result<Endings, Unusable> {
    let mut endings = Endings { completed: input.number()?, ..Endings::default() };
    for _ in 0..input.number()? {
        endings.statuses.insert(input.small::<u32>()?.cast_signed(), input.number()?);
    }
    for counts in [&mut endings.limits, &mut endings.lost] {
        for _ in 0..input.number()? {
            counts.insert(input.text()?, input.number()?);
        }
    }
    Ok(endings)
}
