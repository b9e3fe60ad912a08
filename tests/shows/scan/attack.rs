//! Tries to show a race in a program that was called race-free.

use super::{Task, scan};
use racehunter_e2e::Workshop;
use racehunter_e2e::mutants;

/// Hunts a program; returns the race, if one is found.
pub fn attack(task: &Task, patience: &str) -> Option<String> {
    let workshop = Workshop::new();
    let mut options = vec!["--time", patience];
    options.extend(task.cflags.iter().flat_map(|cflags| ["--cflags", cflags]));
    let hunted = workshop.hunt(&task.source, &options);
    let race = hunted.findings.iter().find(|finding| finding.kind == "data-race" && finding.confirmed)?;
    Some(format!("{}: {}", task.name, race.message))
}

/// Removes synchronisation from a program, one piece at a time; returns the programs that are still called race-free
/// but are shown to have a race.
pub fn mutants(task: &Task, patience: &str) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(&task.source).map_err(|error| error.to_string())?;
    let extension = task.source.extension().unwrap_or_default().to_string_lossy().into_owned();
    let workshop = Workshop::new();
    let mut refuted = Vec::new();
    for mutant in mutants::mutants(&text) {
        let source = workshop.write(&format!("mutant.{extension}"), &mutant.text);
        let name = format!("{} without `{}`", task.name, mutant.what);
        let changed = Task { name, source, has_race: false, cflags: task.cflags.clone() };
        let (verdict, _) = scan(&changed, false, &["--approx".to_owned(), "over".to_owned()]);
        if verdict == "race-free" {
            refuted.extend(attack(&changed, patience));
        }
    }
    Ok(refuted)
}
