//! `racehunter trace`

use crate::arguments::{Choices, FORMATS, one_of};
use crate::exit::Exit;
use anyhow::{Context as _, Result};
use clap::Args;
use racehunter_hunter::{files, traces};
use racehunter_report::{Format, recording};
use racehunter_trace::{Summary, file, text};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Arguments of `trace`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Write the whole trace in this format, instead of a summary
    #[arg(long, value_name = "FORM", value_parser = one_of(EXPORTS))]
    export: Option<Export>,
    /// Where to write it [default: standard output]
    #[arg(long, short, value_name = "FILE", requires = "export")]
    output: Option<PathBuf>,
    /// Output format of the summary
    #[arg(long, value_name = "FORMAT", value_parser = one_of(FORMATS), default_value = "human")]
    message_format: Format,
    /// The trace, FILE.rht or FILE.std
    trace: PathBuf,
}

/// What a trace can be written as.
#[derive(Clone, Copy, Debug)]
enum Export {
    Std,
    Json,
    Rht,
}

/// Formats of a trace.
const EXPORTS: &Choices<Export> = &[
    ("std", "Text, one event per line, as other analysers of traces read it", Export::Std),
    ("json", "One JSON object per event and line", Export::Json),
    ("rht", "The file format of RaceHunter", Export::Rht),
];

/// Describes a trace, or converts it to another format.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let trace = traces::load(&arguments.trace)?;
    let cannot = "cannot write the results";
    let Some(export) = arguments.export else {
        let summary = Summary::of(&trace);
        let text = if arguments.message_format == Format::Json {
            recording::json(&summary)?
        } else {
            recording::describe(&summary)
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
        Export::Json => recording::write_json(&trace, &mut out).context(cannot)?,
    }
    out.flush().context(cannot)?;
    Ok(Exit::Clean)
}
