//! A program under control.

use crate::{Clock, Error, Event, Observer, Stored, sources, store, target};
use racehunter_explain::{Explainer, PATIENCE};
use racehunter_explore::{Execution, Executor, Observe, Plan, shared_sites};
use racehunter_finding::Finding;
use racehunter_launch::{Backend, Limits, PREPARATORY, Processes, Program, Shared, StopSign};
use racehunter_symbols::Symbols;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The program to run.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The executable.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// A file for its standard input; without one, its input is empty.
    pub input: Option<PathBuf>,
    /// A shell command that is started when the program listens.
    pub client: Option<String>,
    /// Directories in which its libraries are looked for first, with colons between them, if they are others than usual.
    pub libraries: Option<OsString>,
}

impl Subject {
    /// Returns a finding with what is needed to replay it.
    pub(crate) fn stored(&self, identity: String, checks_output: bool, finding: Finding) -> Stored {
        let Self { path, arguments, input, client, .. } = self.clone();
        let sources = sources::digests(&finding);
        Stored {
            version: store::VERSION,
            program: path,
            identity,
            arguments,
            input,
            client,
            checks_output,
            sources,
            world: None,
            finding,
        }
    }
}

/// How to run it.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The limits of one execution.
    pub limits: Limits,
    /// Executions at the same time.
    pub jobs: usize,
    /// How the threads of the program run.
    pub backend: Backend,
    /// What executions share with the rest of the machine.
    pub shared: Shared,
    /// Iterations of an in-process loop before the first that counts.
    pub preparatory: u32,
    /// Set when the user interrupts the work.
    pub interrupted: Arc<AtomicBool>,
    /// The time.
    pub clock: Clock,
}

impl Setup {
    /// Creates a setup with one execution at a time, within the usual limits.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            limits: Limits::default(),
            jobs: 1,
            backend: Backend::default(),
            shared: Shared::default(),
            preparatory: PREPARATORY,
            interrupted: Arc::default(),
            clock,
        }
    }
}

/// Returns the number of executions at the same time; by default the number of processors.
#[must_use]
pub fn jobs(asked: Option<usize>) -> usize {
    asked.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1)
}

/// A program under control, with everything needed to explain its bugs.
pub struct Hunter {
    pub(crate) subject: Subject,
    pub(crate) symbols: Symbols,
    pub(crate) processes: Processes,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    pub(crate) stop: StopSign,
    interrupted: Arc<AtomicBool>,
    checks_output: bool,
}

impl Hunter {
    /// Starts a program.
    ///
    /// # Errors
    /// If it cannot be hunted or started.
    pub fn open(subject: Subject, setup: Setup) -> Result<Self, Error> {
        let symbols = target::symbols(&subject.path)?;
        Self::start(subject, symbols, setup)
    }

    /// Starts a program whose symbols are already loaded.
    pub(crate) fn start(subject: Subject, mut symbols: Symbols, setup: Setup) -> Result<Self, Error> {
        let Setup { limits, jobs, backend, shared, preparatory, interrupted, clock } = setup;
        let arguments = subject.arguments.iter().map(OsString::from).collect();
        let Subject { path, input, client, libraries, .. } = subject.clone();
        let program = Program { path, arguments, input, client, libraries };
        let mut processes = Processes::start(program, limits, jobs)?;
        let stop = StopSign::new(Arc::clone(&interrupted));
        processes.stop_when(stop.clone());
        processes.use_backend(backend);
        processes.share(shared);
        processes.prepare(preparatory);
        for mapping in processes.mappings().into_iter().filter(|mapping| mapping.path != subject.path) {
            symbols.add_module(mapping.base, mapping.end, mapping.path);
        }
        let checks_output = shared.output;
        Ok(Self { subject, symbols, processes, clock, limits, stop, interrupted, checks_output })
    }

    /// Returns the symbols, for another start.
    pub(crate) fn into_symbols(self) -> Symbols {
        self.symbols
    }

    /// Returns the program.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns what distinguishes this build of the program from others.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.symbols.binary().identity
    }

    /// Returns true if the user has interrupted the work.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Monitors one execution, and makes shared accesses points.
    pub(crate) fn find_points(&mut self, plan: Plan) -> Result<(), Error> {
        let monitor = Plan { observe: Observe::Everything, ..plan };
        for execution in self.processes.run(&[monitor])? {
            self.processes.add_points(&shared_sites(&execution));
        }
        Ok(())
    }

    /// Runs one plan.
    pub(crate) fn run_one(&mut self, plan: Plan) -> Result<Option<Execution>, Error> {
        Ok(self.processes.run(&[plan])?.pop())
    }

    /// Looks for bugs in the preparatory iterations of an in-process loop, and for threads outside of the loop. An iteration with a
    /// bug becomes the first that counts; this returns its execution.
    pub(crate) fn look_at_preparation(&mut self, plan: &Plan) -> Result<Option<Execution>, Error> {
        if !self.processes.loops() {
            return Ok(None);
        }
        // The program continues after its loop.
        self.processes.loop_once(true);
        let preparatory = self.processes.preparatory();
        for iterations in 0..=preparatory {
            self.processes.prepare(iterations);
            let execution = self.run_one(plan.clone())?;
            if iterations < preparatory && execution.as_ref().is_some_and(|execution| !execution.bugs().is_empty()) {
                // Later iterations may not show it: each has a process of its own.
                return Ok(execution);
            }
        }
        self.processes.loop_once(false);
        Ok(None)
    }

    /// Returns the explainer without time pressure, and the executor for its schedules.
    pub(crate) fn explainer(&mut self) -> (Explainer<'_>, &mut Processes) {
        add_libraries(&mut self.symbols, &self.processes);
        let load_address = self.processes.load_address();
        let explainer =
            Explainer { symbols: &self.symbols, load_address, patience: PATIENCE, until: None, infers: true };
        (explainer, &mut self.processes)
    }

    /// Returns a finding with what is needed to replay it.
    pub(crate) fn stored(&self, finding: Finding) -> Stored {
        self.subject.stored(self.identity().to_owned(), self.checks_output, finding)
    }

    /// Returns the flag that is set when the user interrupts the work.
    pub(crate) fn interrupted(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupted)
    }

    /// Returns the number of iterations of an in-process loop before the one that follows a schedule.
    #[must_use]
    pub fn preparatory(&self) -> u32 {
        self.processes.preparatory()
    }

    /// Returns true if the program's output is compared.
    pub(crate) fn checks_output(&self) -> bool {
        self.checks_output
    }

    /// Reports which program it is.
    pub(crate) fn introduce(&self, observer: &mut dyn Observer) {
        observer.notice(Event::Program(&self.subject.path));
    }
}

/// Adds the libraries that executions have loaded since the last call.
pub(crate) fn add_libraries(symbols: &mut Symbols, executor: &dyn Executor) {
    for (base, path) in executor.libraries() {
        symbols.add_library(base, &path);
    }
}
