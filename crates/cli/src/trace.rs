//! `racehunter trace`

use crate::arguments::MessageFormat;
use crate::exit::{Exit, advise};
use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use racehunter_hunter::files;
use racehunter_report::recording;
use racehunter_trace::{Summary, Trace, file, text};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

/// Arguments of `trace`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Write the whole trace in this format, instead of a summary
    #[arg(long, value_name = "FORM", value_enum)]
    export: Option<Export>,
    /// Where to write it [default: standard output]
    #[arg(long, short, value_name = "FILE", requires = "export")]
    output: Option<PathBuf>,
    /// Output format of the summary
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = MessageFormat::Human)]
    message_format: MessageFormat,
    /// The trace, FILE.rht or FILE.std
    trace: PathBuf,
}

/// Formats of a trace.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Export {
    /// Text, one event per line, as other analysers of traces read it
    Std,
    /// One JSON object per event and line
    Json,
    /// The file format of RaceHunter
    Rht,
}

/// Reads a trace. The first bytes of the file show its format.
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

/// Describes a trace, or converts it to another format.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let trace = load(&arguments.trace)?;
    let cannot = "cannot write the results";
    let Some(export) = arguments.export else {
        let summary = Summary::of(&trace);
        let text = if arguments.message_format == MessageFormat::Json {
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
