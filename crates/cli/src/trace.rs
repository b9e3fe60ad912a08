//! `racehunter trace`

use crate::arguments::MessageFormat;
use crate::exit::{Exit, advise};
use crate::files;
use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use racehunter_trace::{Op, Subject, Summary, Trace, Via, file, text};
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

/// Arguments of `trace`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Write the whole trace in this form, instead of what is in it
    #[arg(long, value_name = "FORM", value_enum)]
    export: Option<Export>,
    /// Where to write it [default: standard output]
    #[arg(long, short, value_name = "FILE", requires = "export")]
    output: Option<PathBuf>,
    /// Form of the summary
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = MessageFormat::Human)]
    message_format: MessageFormat,
    /// The trace, FILE.rht or FILE.std
    trace: PathBuf,
}

/// Forms of a trace.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Export {
    /// Text, one event per line, as other analysers of traces read it
    Std,
    /// One JSON object per event and line
    Json,
    /// The file format of RaceHunter
    Rht,
}

/// Reads a trace; what kind of file it is shows at its beginning.
pub fn load(path: &Path) -> Result<Trace> {
    let cannot = || format!("cannot read the trace `{}`", path.display());
    if path.is_dir() {
        return Err(advise(format!("`{}` is a directory", path.display()), "name a trace, FILE.rht or FILE.std"));
    }
    let mut input = File::open(path).with_context(cannot)?;
    let mut begin = Vec::new();
    (&mut input).take(8).read_to_end(&mut begin).with_context(cannot)?;
    if begin.starts_with(b"RHTRACE") {
        drop(input);
        return file::Reader::open(path).and_then(|reader| reader.read()).with_context(cannot);
    }
    text::read(BufReader::with_capacity(1 << 20, begin.chain(input))).with_context(cannot)
}

/// Says what is in a trace, or writes it in another form.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let trace = load(&arguments.trace)?;
    let cannot = "cannot write the results";
    let Some(export) = arguments.export else {
        let summary = Summary::of(&trace);
        let text = if arguments.message_format == MessageFormat::Json {
            serde_json::to_string(&SummaryLine::new(&summary))? + "\n"
        } else {
            describe(&summary)
        };
        std::io::stdout().write_all(text.as_bytes()).context(cannot)?;
        return Ok(Exit::Clean);
    };
    let out: Box<dyn Write> = match &arguments.output {
        Some(path) => Box::new(files::create_named(path)?),
        None => Box::new(std::io::stdout()),
    };
    let mut out = BufWriter::with_capacity(1 << 20, out);
    match export {
        Export::Std => text::write(&trace, &mut out).context(cannot)?,
        Export::Rht => file::write(&trace, &mut out).context(cannot)?,
        Export::Json => write_json(&trace, &mut out).context(cannot)?,
    }
    out.flush().context(cannot)?;
    Ok(Exit::Clean)
}

/// What is in a trace, for people.
fn describe(summary: &Summary) -> String {
    let mut text =
        format!("{} events of {} threads at {} sites\n", summary.events, summary.by_thread.len(), summary.sites);
    for (name, events) in &summary.by_thread {
        text += &format!("  {name:<12} {events:>12} events\n");
    }
    for subject in Subject::ALL.into_iter().filter(|subject| subject.has_object()) {
        let count = summary.objects_of(subject);
        if count > 0 {
            text += &format!("  {:<12} {count:>12} objects", subject.name());
            if subject == Subject::Memory {
                text += &format!(", {} of them shared and written", summary.shared);
            }
            text += "\n";
        }
    }
    for op in Op::ALL {
        let count = summary.by_op[op as usize];
        if count > 0 {
            text += &format!("  {:<12} {count:>12} events\n", op.word());
        }
    }
    let known = |known: bool| if known { "recorded" } else { "not recorded" };
    text + &format!("branches {}, dependences {}\n", known(summary.branches), known(summary.dependences))
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    reason: &'static str,
    events: u64,
    threads: usize,
    sites: u64,
    locations: u64,
    shared: u64,
    locks: u64,
    conditions: u64,
    semaphores: u64,
    barriers: u64,
    branches: bool,
    dependences: bool,
    by_thread: Vec<ThreadFields<'a>>,
    by_operation: Vec<OperationFields>,
}

#[derive(Serialize)]
struct ThreadFields<'a> {
    thread: &'a str,
    events: u64,
}

#[derive(Serialize)]
struct OperationFields {
    operation: &'static str,
    events: u64,
}

impl<'a> SummaryLine<'a> {
    fn new(summary: &'a Summary) -> Self {
        let by_operation =
            Op::ALL.into_iter().map(|op| OperationFields { operation: op.word(), events: summary.by_op[op as usize] });
        Self {
            reason: "trace",
            events: summary.events,
            threads: summary.by_thread.len(),
            sites: summary.sites,
            locations: summary.objects_of(Subject::Memory),
            shared: summary.shared,
            locks: summary.objects_of(Subject::Lock),
            conditions: summary.objects_of(Subject::Condition),
            semaphores: summary.objects_of(Subject::Semaphore),
            barriers: summary.objects_of(Subject::Barrier),
            branches: summary.branches,
            dependences: summary.dependences,
            by_thread: summary
                .by_thread
                .iter()
                .map(|(thread, events)| ThreadFields { thread, events: *events })
                .collect(),
            by_operation: by_operation.filter(|fields| fields.events > 0).collect(),
        }
    }
}

#[derive(Serialize)]
struct EventLine<'a> {
    event: u32,
    thread: &'a str,
    operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    site: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    part: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<u32>,
}

fn write_json(trace: &Trace, mut out: impl Write) -> std::io::Result<()> {
    for (id, event) in (0..).zip(trace.events()) {
        let object = match event.op.subject() {
            Subject::Nothing => None,
            Subject::Thread => Some(trace.threads()[event.object as usize].as_str()),
            _ => Some(trace.objects()[event.object as usize].name.as_str()),
        };
        let dependences = trace.dependences().map_or(&[][..], |dependences| dependences.of(id));
        let reads = |via: Via| dependences.iter().filter(|entry| entry.via == via).map(|entry| entry.read).collect();
        let line = EventLine {
            event: id,
            thread: &trace.threads()[usize::from(event.thread)],
            operation: event.op.word(),
            object,
            site: &trace.sites()[event.site as usize],
            part: event.part,
            values: reads(Via::Value),
            decisions: reads(Via::Decision),
        };
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
