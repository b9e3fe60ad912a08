//! Predicting from a trace, and trying what was predicted.

use crate::{Confirmer, Error, Event, Hunter, Observer, Recording, Suppressions, Tried, predictions, traces};
use racehunter_finding::Finding;
use racehunter_predict::{Index, Options, Prediction, predict};
use racehunter_report::Reporter;
use racehunter_report::predictions::{NotShown, Summary};
use racehunter_trace::recording::Recording as Recorded;
use racehunter_trace::{Trace, file};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Starts a program with arguments and an input.
pub type Start<'a> = dyn Fn(&Path, &[String], Option<PathBuf>) -> Result<Hunter, Error> + 'a;

/// What to predict from, and how.
pub struct Task<'a> {
    /// The trace; or a program or source file, which is recorded first.
    pub target: &'a Path,
    /// The program to try the predictions on, from which the trace was recorded.
    pub confirm: Option<&'a Path>,
    /// Arguments of the program. If there are none, those that it was recorded with.
    pub arguments: &'a [String],
    /// The program's standard input, if it is not that of the recording.
    pub input: Option<&'a Path>,
    /// Starts a program with arguments and an input.
    pub start: &'a Start<'a>,
    /// How a program is recorded.
    pub recording: Recording,
    /// What to predict, and how hard to try.
    pub options: Options,
    /// Events to have in memory at a time; `u32::MAX` is all of them.
    pub segment: Option<u32>,
    /// Directory of the findings.
    pub out: &'a Path,
    /// Known findings.
    pub suppressions: &'a Suppressions,
    /// Returns true if there is no time left.
    pub is_over: &'a (dyn Fn() -> bool + Sync),
    /// Called before each case, by several threads. Returns true if there is no time left.
    pub before_case: &'a (dyn Fn() -> bool + Sync),
}

/// The trace to predict from, and the program to try the predictions on.
struct Material {
    trace: Trace,
    program: Option<Hunter>,
}

impl Task<'_> {
    /// Predicts from a trace, and tries the predictions if there is a program to try them on. Writes results to the
    /// reporter, and returns the summary; nothing if the trace is empty.
    ///
    /// # Errors
    /// If there is no trace, the program cannot be executed, or the results cannot be written.
    pub fn run<W: Write>(
        &self,
        reporter: &mut Reporter<W>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Summary>, Error> {
        let segmented = if self.confirm.is_some() { None } else { traces::segmented(self.target, self.segment)? };
        match segmented {
            Some((reader, length)) => self.by_segments(&reader, length, reporter, observer),
            None => self.whole(reporter, observer).map(Some),
        }
    }

    fn material(&self, observer: &mut dyn Observer) -> Result<Material, Error> {
        if traces::is_program(self.target)? {
            if self.confirm.is_some() {
                return Err(Error::ConfirmsProgram(self.target.to_path_buf()));
            }
            let mut program = (self.start)(self.target, self.arguments, self.input.map(Path::to_path_buf))?;
            let mut bytes = Vec::new();
            program.record(self.recording, Path::new("."), observer, &mut bytes)?;
            let trace = file::Reader::new(bytes).and_then(|reader| reader.read())?;
            return Ok(Material { trace, program: Some(program) });
        }
        let trace = traces::load(self.target)?;
        let Some(path) = self.confirm else {
            return match self.arguments {
                [] => Ok(Material { trace, program: None }),
                _ => Err(Error::ArgumentsOfTrace),
            };
        };
        let Some(origin) = trace.origin().cloned() else {
            return Err(Error::NoOrigin(self.target.to_path_buf()));
        };
        let arguments = if self.arguments.is_empty() { &origin.arguments } else { self.arguments };
        let input = self.input.map(Path::to_path_buf).or_else(|| origin.input.as_ref().map(PathBuf::from));
        let program = (self.start)(path, arguments, input)?;
        if program.identity() != origin.identity {
            let (program, trace) = (path.to_path_buf(), self.target.to_path_buf());
            return Err(Error::OtherOrigin { program, trace });
        }
        Ok(Material { trace, program: Some(program) })
    }

    /// Predicts from a trace one segment at a time.
    fn by_segments<W: Write>(
        &self,
        reader: &file::MappedReader,
        length: usize,
        reporter: &mut Reporter<W>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Summary>, Error> {
        let policy = self.options.policy;
        let events = reader.events().map_err(Error::trace(self.target))?;
        let overlap = length / 4;
        let mut segments = reader.segments(length, overlap).map_err(Error::trace(self.target))?;
        let mut all = predictions::Segmented::default();
        while let Some(segment) = segments.next_segment().map_err(Error::trace(self.target))? {
            observer.notice(Event::Segment { before: segment.before, of: events });
            let index = Index::new(segment.trace).map_err(Error::no_execution(self.target))?;
            let report = predict(&index, &self.options, self.is_over);
            let number = |event| segment.number(event).unwrap_or(segment.before);
            for (finding, prediction) in all.add(&index, &report, policy) {
                let about = predictions::about(segment.trace, prediction, policy, &number);
                reporter.prediction(finding, &about, None).map_err(Error::Results)?;
            }
        }
        reporter.finish().map_err(Error::Results)?;
        Ok(all.finish(events, overlap as u64))
    }

    fn whole<W: Write>(&self, reporter: &mut Reporter<W>, observer: &mut dyn Observer) -> Result<Summary, Error> {
        let Material { trace, mut program } = self.material(observer)?;
        let recording = Recorded::whole(trace);
        let trace = &recording.trace;
        let index = Index::new(trace).map_err(Error::no_execution(self.target))?;
        let policy = self.options.policy;
        observer.notice(Event::Predicting { events: trace.len(), policy: policy.name() });
        let report = predict(&index, &self.options, self.before_case);
        let of = report.predictions.len();
        observer.notice(Event::Predicted { predictions: of, cases: report.cases, questions: report.questions });

        let mut confirmer = program.as_mut().map(|program| program.confirm(self.out)).transpose()?;
        let mut summary = predictions::summary(trace, &report, policy);
        if let Some(confirmer) = &mut confirmer {
            (summary.findings, summary.unconfirmed) = (0, Some(0));
            let findings = confirmer.repeat(self.recording, observer)?;
            self.report(findings, &mut summary, reporter)?;
        }
        for (number, prediction) in (1..).zip(&report.predictions) {
            observer.notice(Event::Trying { number, of });
            let tried = match &mut confirmer {
                Some(confirmer) => Some(self.try_on(confirmer, &index, &recording, prediction, observer)?),
                None => None,
            };
            if let Some(tried) = &tried {
                observer.notice(Event::Tried { number, of, tried });
            }
            let about = predictions::about(trace, prediction, policy, &u64::from);
            let (findings, reason) = match tried {
                Some(Tried::Shown(findings)) => (findings, None),
                Some(Tried::NotShown(reason, findings)) => (findings, Some(reason.to_string())),
                None => (Vec::new(), None),
            };
            self.report(findings, &mut summary, reporter)?;
            if confirmer.is_some() && reason.is_none() {
                reporter.two_runs(&about.runs).map_err(Error::Results)?;
                continue;
            }
            if let Some(unconfirmed) = &mut summary.unconfirmed {
                *unconfirmed += 1;
            }
            let finding = predictions::finding(&index, prediction);
            reporter.prediction(finding, &about, reason.as_deref()).map_err(Error::Results)?;
        }
        if let Some(confirmer) = &confirmer {
            summary.executions = confirmer.executions;
            summary.diverged = confirmer.diverged;
        }
        reporter.finish().map_err(Error::Results)?;
        Ok(summary)
    }

    /// Writes findings, and counts those that are not suppressed.
    fn report<W: Write>(
        &self,
        mut findings: Vec<Finding>,
        summary: &mut Summary,
        reporter: &mut Reporter<W>,
    ) -> Result<(), Error> {
        findings.iter_mut().for_each(|finding| self.suppressions.apply(finding));
        summary.findings += findings.iter().filter(|finding| finding.suppressed.is_none()).count();
        findings.iter().try_for_each(|finding| reporter.finding(finding)).map_err(Error::Results)
    }

    fn try_on(
        &self,
        confirmer: &mut Confirmer<'_>,
        index: &Index<'_>,
        recording: &Recorded,
        prediction: &Prediction,
        observer: &mut dyn Observer,
    ) -> Result<Tried, Error> {
        if (self.is_over)() {
            return Ok(Tried::NotShown(NotShown::NoTime, Vec::new()));
        }
        confirmer.try_on(index, recording, prediction, observer)
    }
}
