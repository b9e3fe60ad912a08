//! `racehunter report`: the findings in a directory, as one page or in any of the formats.

use crate::arguments::{Output, Report};
use crate::exit::Exit;
use crate::output::{replay_options, reporter_to};
use anyhow::{Context as _, Result, bail};
use racehunter_finding::Finding;
use racehunter_hunter::{Error, Stored, Suppressions, about, campaign, files, locate, page, sources, store};
use racehunter_report::{ColorChoice, html, notes, perfetto};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Writes the report. The exit code says whether it could be written, not what is in it.
pub fn run(arguments: &Report, suppressions: &Suppressions) -> Result<Exit> {
    if arguments.html && arguments.output.is_none() {
        bail!("a page needs a file: racehunter report --html -o report.html");
    }
    let out = arguments.directory.as_ref().unwrap_or(&arguments.out);
    let mut findings = findings(out, suppressions)?;
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
        return Err(Error::NothingToReport(out.clone()).into());
    }
    let mut sink: Box<dyn Write> = match &arguments.output {
        Some(path) => Box::new(std::io::BufWriter::new(files::create_named(path)?)),
        None => Box::new(std::io::stdout()),
    };
    let whole = if arguments.perfetto {
        let shown: Vec<&Finding> = findings.iter().map(|stored| &stored.finding).collect();
        Some(perfetto::file(&shown))
    } else if arguments.html {
        let here = std::env::current_dir().ok();
        let page = page(&findings, &campaigns, out, here.as_deref(), about(written(), here.as_deref()));
        Some(html::page(&page, &here.unwrap_or_default()))
    } else {
        None
    };
    if let Some(text) = whole {
        sink.write_all(text.as_bytes()).and_then(|()| sink.flush()).context("cannot write the report")?;
        if let Some(path) = &arguments.output {
            arguments.voice.note(|| notes::wrote(path, text.len()));
        }
        return Ok(Exit::Clean);
    }
    // A file is not a terminal, whatever standard output is.
    let color = match (&arguments.output, arguments.color) {
        (Some(_), ColorChoice::Auto) => ColorChoice::Never,
        (_, color) => color,
    };
    let mut reporter = reporter_to(sink, Output { message_format: arguments.message_format, color })
        .replay_options(replay_options(out));
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

/// Returns the findings in a directory. Those that are suppressed, or of earlier builds, do not count.
pub fn findings(out: &Path, suppressions: &Suppressions) -> Result<Vec<Stored>> {
    let mut findings: Vec<Stored> = store::all(out)?.into_iter().filter_map(readable).collect();
    findings.iter_mut().for_each(|stored| suppressions.apply(&mut stored.finding));
    findings.iter_mut().for_each(locate::set_aside_earlier_build);
    Ok(findings)
}

/// Returns the current time, or that of the last change to the sources where builds must be reproducible.
fn written() -> SystemTime {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    fixed.map_or_else(SystemTime::now, |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Returns a file's contents, or skips the file with a warning if it could not be read.
fn readable<T>(result: Result<T, Error>) -> Option<T> {
    result.inspect_err(|error| eprintln!("warning: {}", notes::left_out(&error.chain()))).ok()
}
