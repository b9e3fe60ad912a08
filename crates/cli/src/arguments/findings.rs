//! Commands about findings after they were found.

use super::Output;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `list`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct List {
    #[command(flatten)]
    pub output: Output,
    /// The --out directory of the hunt
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// The same directory, as an option
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
}

/// Arguments of `suppress`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct Suppress {
    /// The findings, or the beginnings of their ids
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    pub ids: Vec<String>,
    /// All findings that count: a baseline, from which on new ones are noticed
    #[arg(long)]
    pub all: bool,
    /// Why they do not matter: it is reported along with them
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The file to add them to
    #[arg(long, value_name = "FILE", default_value = crate::config::BASELINE)]
    pub baseline: PathBuf,
    /// Directory of the findings
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
}

/// Arguments of `bundle`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct Bundle {
    /// The finding, or the beginning of its id
    pub id: String,
    /// The file to write [default: ID.rhbundle]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The program, if it is not where it was
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,
    /// Directory of the findings
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
}
