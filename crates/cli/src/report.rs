//! `racehunter report`: the findings in a directory, as one page or in any of the formats.

use crate::about;
use crate::arguments::{Color, Report};
use crate::exit::{Exit, advise};
use crate::list::set_aside_earlier_builds;
use crate::output::{replay_options, reporter_to};
use anyhow::{Context as _, Result, bail};
use racehunter_finding::Finding;
use racehunter_hunter::campaign::{self, Kept};
use racehunter_hunter::{Error, Stored, Suppressions, files, shell, sources, store};
use racehunter_report::html::{Hunted, Page, Shown, page};
use racehunter_report::{notes, perfetto};
use std::io::Write;
use std::path::Path;

/// Writes the report. The exit code says whether it could be written, not what is in it.
pub fn run(arguments: &Report, suppressions: &Suppressions) -> Result<Exit> {
    arguments.check()?;
    let out = arguments.directory.as_ref().unwrap_or(&arguments.out);
    let mut findings: Vec<Stored> = store::all(out)?.into_iter().filter_map(readable).collect();
    findings.iter_mut().for_each(|stored| suppressions.apply(&mut stored.finding));
    findings.iter_mut().for_each(set_aside_earlier_builds);
    for stored in &mut findings {
        stored.finding.notes.extend(sources::changed(stored));
    }
    findings.sort_by_key(|stored| (!stored.finding.counts(), stored.finding.execution));
    let campaigns = match campaign::directory(out).is_dir() {
        true => {
            let kept = campaign::all(out)?.into_iter().map(|path| campaign::read(&path).map(|(kept, _)| kept));
            kept.filter_map(readable).collect()
        }
        false => Vec::new(),
    };
    arguments.voice.note(|| notes::read(findings.len(), campaigns.len(), out));
    if findings.is_empty() && campaigns.is_empty() {
        return Err(advise(
            format!("there is nothing to report in `{}`", out.display()),
            "hunt first: racehunter hunt PROGRAM; if the hunt had --out DIR, give DIR to report too",
        ));
    }
    let file = match &arguments.output {
        Some(path) => Some(files::create_named(path)?),
        None => None,
    };
    let mut sink: Box<dyn Write> = match file {
        Some(file) => Box::new(std::io::BufWriter::new(file)),
        None => Box::new(std::io::stdout()),
    };
    if arguments.perfetto {
        let shown: Vec<&Finding> = findings.iter().map(|stored| &stored.finding).collect();
        let text = perfetto::file(&shown);
        sink.write_all(text.as_bytes()).and_then(|()| sink.flush()).context("cannot write the report")?;
        arguments.written(text.len());
        return Ok(Exit::Clean);
    }
    if arguments.html {
        let root = std::env::current_dir().unwrap_or_default();
        let html = page(&describe(&findings, &campaigns, out), &root);
        sink.write_all(html.as_bytes()).and_then(|()| sink.flush()).context("cannot write the report")?;
        arguments.written(html.len());
        return Ok(Exit::Clean);
    }
    // A file is not a terminal, whatever standard output is.
    let color = match (&arguments.output, arguments.color) {
        (Some(_), Color::Auto) => Color::Never,
        (_, color) => color,
    };
    let mut reporter = reporter_to(sink, arguments.message_format, color.into()).replay_options(replay_options(out));
    for stored in &findings {
        reporter.finding(&stored.finding).context("cannot write the report")?;
    }
    match campaigns.as_slice() {
        [only] => reporter.summary(&only.coverage, only.elapsed),
        _ => reporter.finish(),
    }
    .context("cannot write the report")?;
    if campaigns.len() > 1 && arguments.output.is_none() {
        arguments.voice.hint(|| notes::several_campaigns(campaigns.len(), out));
    }
    Ok(Exit::Clean)
}

/// Returns a file's contents, or skips the file with a warning if it could not be read.
fn readable<T>(result: Result<T, Error>) -> Option<T> {
    result.inspect_err(|error| eprintln!("warning: {}", notes::left_out(&error.chain()))).ok()
}

/// Returns what the page shows.
fn describe(findings: &[Stored], campaigns: &[Kept], out: &Path) -> Page {
    let here = std::env::current_dir().ok();
    let is_elsewhere = out != Path::new(".racehunter");
    let shown = |stored: &Stored| {
        let mut replay = vec!["racehunter".to_owned(), "replay".to_owned(), stored.finding.id.clone()];
        if is_elsewhere {
            replay.extend(["--out".to_owned(), out.display().to_string()]);
        }
        let below = here.as_deref().and_then(|here| stored.program.strip_prefix(here).ok());
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
        let told: Vec<&Finding> = kept.findings.iter().filter_map(of).chain(&kept.unconfirmed).collect();
        let number = |is: fn(&Finding) -> bool| told.iter().filter(|finding| is(finding)).count() as u64;
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
    Page {
        campaigns: campaigns.iter().map(hunted).collect(),
        findings: findings.iter().map(shown).collect(),
        about: about::this(),
    }
}

impl Report {
    fn written(&self, bytes: usize) {
        if let Some(path) = &self.output {
            self.voice.note(|| notes::wrote(path, bytes));
        }
    }

    /// Refuses combinations of options that make no sense.
    fn check(&self) -> Result<()> {
        if self.html && self.output.is_none() {
            bail!("a page needs a file: racehunter report --html -o report.html");
        }
        Ok(())
    }
}
