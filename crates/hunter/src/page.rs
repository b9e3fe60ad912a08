//! What the HTML page shows: findings and campaigns of a directory.

use crate::campaign::Kept;
use crate::{Stored, files, shell};
use racehunter_finding::Finding;
use racehunter_report::html::{Hunted, Page, Shown};
use std::path::Path;

/// Returns what the page shows.
///
/// `here` is the directory as seen from which programs are named, and `about` says when and where the page is written.
#[must_use]
pub fn page(
    findings: &[Stored],
    campaigns: &[Kept],
    out: &Path,
    here: Option<&Path>,
    about: Vec<(String, String)>,
) -> Page {
    let is_elsewhere = out != Path::new(files::DEFAULT_OUT);
    let shown = |stored: &Stored| {
        let mut replay = vec!["racehunter".to_owned(), "replay".to_owned(), stored.finding.id.clone()];
        if is_elsewhere {
            replay.extend(["--out".to_owned(), out.display().to_string()]);
        }
        let below = here.and_then(|here| stored.program.strip_prefix(here).ok());
        let name = below.map_or_else(|| stored.program.clone(), |below| Path::new(".").join(below));
        let program = std::iter::once(name.display().to_string()).chain(stored.arguments.iter().cloned());
        Shown {
            finding: stored.finding.clone(),
            program: shell::join(&program.collect::<Vec<_>>()),
            replay: shell::join(&replay),
        }
    };
    let hunted = |kept: &Kept| {
        let of = |id: &String| findings.iter().map(|stored| &stored.finding).find(|finding| finding.id == *id);
        let reported: Vec<&Finding> = kept.findings.iter().filter_map(of).chain(&kept.unconfirmed).collect();
        let number = |is: fn(&Finding) -> bool| reported.iter().filter(|finding| is(finding)).count() as u64;
        let findings = [
            number(Finding::counts),
            number(|finding| finding.suppressed.is_some()),
            number(|finding| finding.suppressed.is_none() && !finding.confirmed),
        ];
        let command = ["racehunter".to_owned(), "hunt".to_owned()].into_iter().chain(kept.words.iter().cloned());
        Hunted {
            command: shell::join(&command.collect::<Vec<_>>()),
            coverage: kept.coverage.clone(),
            bounds: kept.bounds.clone(),
            findings,
            elapsed: kept.elapsed,
        }
    };
    Page { campaigns: campaigns.iter().map(hunted).collect(), findings: findings.iter().map(shown).collect(), about }
}
