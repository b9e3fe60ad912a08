//! Drives several fork servers as one executor.

use crate::batch::{self, Step};
use crate::results::Unread;
use crate::rounds::Lengths;
use crate::stop::StopSign;
use crate::worker::{Answer, LaunchError, Limits, Mapping, Program, Stopped, Worker};
use crate::{orphans, results};
use racehunter_abi::control::{
    CHECKED_OUTPUT, NOTE_FILES, OUTCOME_SNAPSHOT, SHARED_FILES, SHARED_NETWORK, SITE_LOUD, SITE_POINT, SITES, SLOTS,
    STATE_EMPTY, STATE_NO_ROOM, STATE_RUNNING,
};
use racehunter_explore::{Execution, Executor, ExecutorError, Flow, Observe, Outcome, Plan};
use racehunter_log::Record;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs plans on real processes, in several fork servers at once.
///
/// The results do not depend on the number of servers: each execution starts from the same state.
pub struct Processes {
    pub(crate) program: Program,
    limits: Limits,
    pub(crate) workers: Vec<Worker>,
    /// The flag byte of every site.
    flags: Vec<u8>,
    /// The flag byte of sites that appear later.
    new_flag: u8,
    backend: Backend,
    pub(crate) pool: u32,
    /// Preparatory iterations of an in-process loop: as many as asked for, or fewer, if the test fails in them.
    pub(crate) preparatory: u32,
    /// An execution of an in-process loop got beyond the preparatory iterations.
    pub(crate) was_prepared: bool,
    /// An in-process loop ends after its first iteration that counts.
    once: bool,
    shared: Shared,
    /// The program is known to run an in-process loop.
    loops: bool,
    /// It is known to have threads outside of that loop.
    outside: bool,
    /// No execution has changed files so far, in which case processes can be copied while they run.
    pub(crate) snapshots: bool,
    pub(crate) deaths: u32,
    /// When orphans were last looked for.
    pub(crate) last_look: Option<Instant>,
    /// The processor time of each execution of the last run.
    pub(crate) cpu: Vec<Duration>,
    /// The lengths of the logs of the last rounds.
    pub(crate) lengths: Lengths,
    /// Buffers of logs that are no longer needed, for reuse.
    pub(crate) spare: Vec<Vec<Record>>,
    pub(crate) stop: StopSign,
}

/// How the threads of the program are implemented while it is under control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Fibers on one kernel thread: fast.
    #[default]
    Fibers,
    /// Kernel threads, one of which runs at a time: for programs that depend on the kernel's view of their threads.
    Threads,
}

/// What executions share with the rest of the system. By default they share nothing: the leftovers of one would affect the
/// next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// Executions change the real files, rather than their own view of them.
    pub files: bool,
    /// Executions bind ports of the machine, rather than of their own network.
    pub network: bool,
    /// The output is compared, so printing is a scheduling point.
    pub output: bool,
}

impl Shared {
    pub(crate) fn bits(self) -> u32 {
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        bit(self.files, SHARED_FILES) | bit(self.network, SHARED_NETWORK) | bit(self.output, CHECKED_OUTPUT)
    }
}

/// The settings that all plans of a request share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) backend: Backend,
    /// Number of threads to keep ready before forking.
    pub(crate) pool: u32,
    /// Number of preparatory iterations of an in-process loop.
    pub(crate) preparatory: u32,
    /// An in-process loop ends after its first iteration that counts.
    pub(crate) once: bool,
    pub(crate) shared: Shared,
    /// The program runs an in-process loop: plans are about its iterations, and not about what comes before.
    pub(crate) loops: bool,
    /// It has threads outside of that loop.
    pub(crate) outside: bool,
}

/// Number of iterations of an in-process loop before the first that counts.
pub const PREPARATORY: u32 = 3;

impl Processes {
    /// Starts `jobs` servers.
    pub fn start(program: Program, limits: Limits, jobs: usize) -> Result<Self, LaunchError> {
        let mut processes = Self {
            program,
            limits,
            workers: Vec::new(),
            flags: Vec::new(),
            new_flag: 0,
            backend: Backend::Fibers,
            pool: 0,
            preparatory: PREPARATORY,
            was_prepared: false,
            once: false,
            shared: Shared::default(),
            loops: false,
            outside: false,
            snapshots: true,
            deaths: 0,
            last_look: None,
            cpu: Vec::new(),
            lengths: Lengths::default(),
            spare: Vec::new(),
            stop: StopSign::default(),
        };
        for _ in 0..jobs.max(1) {
            let worker = processes.start_worker()?;
            processes.workers.push(worker);
        }
        let sites = processes.workers[0].region.read_header().sites as usize;
        processes.flags = vec![0; sites];
        Ok(processes)
    }

    pub(crate) fn start_worker(&self) -> Result<Worker, LaunchError> {
        let mut worker = Worker::start(&self.program, self.limits, &self.stop)?;
        worker.region.patience = self.longest_patience();
        if !self.flags.is_empty() {
            worker.region.write_flags(&self.flags);
        }
        Ok(worker)
    }

    pub(crate) fn settings(&self) -> Settings {
        let Self { backend, pool, preparatory, once, shared, loops, outside, .. } = *self;
        Settings { backend, pool, preparatory, once, shared, loops, outside }
    }

    /// Sets what executions share with the rest of the system, from the next one on.
    pub fn share(&mut self, shared: Shared) {
        self.shared = shared;
    }

    /// Sets the number of iterations of an in-process loop before the first that counts, from the next process on.
    pub fn prepare(&mut self, iterations: u32) {
        self.preparatory = iterations;
    }

    /// Lets an in-process loop end after its first iteration that counts, from the next process on; or lets it continue.
    pub fn loop_once(&mut self, once: bool) {
        self.once = once;
    }

    /// Returns the number of iterations of an in-process loop before the first that counts: fewer than were set if the test fails
    /// in them.
    #[must_use]
    pub fn preparatory(&self) -> u32 {
        self.preparatory
    }

    /// Sets how threads are implemented, from the next execution on. No result depends on it.
    pub fn use_backend(&mut self, backend: Backend) {
        self.backend = backend;
    }

    /// Sets a stop sign. When it is up, running executions are stopped, and no others are started: their outcome is
    /// [`Outcome::STOPPED`].
    pub fn stop_when(&mut self, stop: StopSign) {
        self.stop = stop;
    }

    /// Makes every site a point (`--points all`).
    pub fn make_all_points(&mut self) {
        self.new_flag = SITE_POINT | SITE_LOUD;
        self.flags.fill(self.new_flag);
        self.publish_flags();
    }

    /// Adds the sites of libraries that were loaded after the start.
    pub(crate) fn take_new_sites(&mut self) {
        let workers = self.workers.iter().filter(|worker| !worker.has_ended());
        let known = workers.map(|worker| worker.region.read_header().sites as usize).max().unwrap_or(0);
        if known > self.flags.len() {
            self.flags.resize(known.min(SITES), self.new_flag);
            self.publish_flags();
        }
    }

    /// What one server has learnt about the program holds for all, and for those that replace them. A server that knew of no loop
    /// would apply the first plan to what comes before it.
    pub(crate) fn share_loops(&mut self) {
        self.loops = self.loops();
        self.outside |= self.workers.iter().any(|worker| worker.region.read_header().outside != 0);
    }

    fn longest_patience(&self) -> u64 {
        self.workers.iter().map(|worker| worker.region.patience).max().unwrap_or(0)
    }

    /// A measurement by one server applies to all.
    pub(crate) fn share_patience(&mut self) {
        let most = self.longest_patience();
        self.workers.iter_mut().for_each(|worker| worker.region.patience = most);
    }

    fn publish_flags(&mut self) {
        for worker in &mut self.workers {
            worker.region.write_flags(&self.flags);
        }
    }

    /// Returns the load address of the executable.
    #[must_use]
    pub fn load_address(&self) -> u64 {
        self.workers[0].region.read_header().executable
    }

    /// Returns the files that are mapped as code, for symbolisation.
    #[must_use]
    pub fn mappings(&self) -> Vec<Mapping> {
        self.workers[0].mappings()
    }

    /// Returns whether the program runs an in-process loop. Known after the first execution.
    #[must_use]
    pub fn loops(&self) -> bool {
        self.loops || self.workers.iter().any(|worker| worker.region.read_header().loops != 0)
    }

    /// Returns the processor time of each execution of the last run, in the order of its plans. It is that of the process:
    /// the last continuation of a snapshot has the time of all of them, and executions of an in-process loop have none.
    #[must_use]
    pub fn last_cpu(&self) -> &[Duration] {
        &self.cpu
    }

    pub(crate) fn first_worker(&mut self) -> &mut Worker {
        &mut self.workers[0]
    }

    pub(crate) fn stop_sign(&self) -> &StopSign {
        &self.stop
    }

    /// Writes a plan that runs alone.
    pub(crate) fn request_one(&mut self, plan: &Plan) -> Request {
        let settings = self.settings();
        Request::write(&mut self.workers[0], std::slice::from_ref(plan), settings, false)
    }

    /// Waits for a chunk of plans on one server, and returns the executions with their processor times; `None` for the plans
    /// that were not reached.
    pub(crate) fn finish_chunk(
        worker: &mut Worker,
        chunk: &[Plan],
        request: &Request,
        stop: &StopSign,
        spare: &mut Vec<Vec<Record>>,
    ) -> (Ran, Answer) {
        let mut stopped: Stopped = Vec::new();
        let mut answer = worker.wait(request.slots.len() as u32, &mut stopped, stop);
        if answer == Answer::Damaged || !worker.region.is_intact() {
            worker.kill();
            return (request.all_lost(chunk), Answer::Damaged);
        }
        let begun = (worker.region.read_header().running as usize + 1).min(request.slots.len());
        let ran = if let Answer::Ran(count) = answer { count as usize } else { begun };
        let mut results: Ran = chunk.iter().map(|_| None).collect();
        let end = worker.output_end();
        for (index, owner) in request.slots.iter().enumerate().take(ran) {
            let slot = worker.region.read_slot(index);
            worker.changes_files |= slot.notes & NOTE_FILES != 0;
            let Some(plan) = owner else { continue };
            if matches!(slot.state, STATE_EMPTY | STATE_NO_ROOM) || slot.outcome == OUTCOME_SNAPSHOT {
                continue;
            }
            // The executions before the last one had ended, and the server noted how.
            let was_running = slot.state == STATE_RUNNING && index + 1 == ran;
            // The server is killed with everything that it has started, one process after the other. Several executions may
            // have been running, and have noted each other's end.
            if slot.state == STATE_RUNNING && answer == Answer::Interrupted {
                continue;
            }
            let limit = stopped.iter().find(|(at, _)| *at as usize == index).map(|(_, limit)| *limit);
            let next = if index + 1 < ran { worker.region.output_of(index + 1) } else { end };
            let output = worker.read_output(slot.output, next.max(slot.output));
            let mut execution = match results::read(&worker.region, &slot, limit, output, stop, spare) {
                Ok(execution) => execution,
                Err(Unread::OutOfTime) => {
                    answer = Answer::Interrupted;
                    continue;
                }
                Err(Unread::Damaged) => {
                    worker.kill();
                    return (request.all_lost(chunk), Answer::Damaged);
                }
            };
            if answer == Answer::Died && was_running && limit.is_none() {
                execution.outcome = Outcome::Lost("it ended together with its fork server".to_owned());
            }
            if chunk[*plan].free && chunk[*plan].observe == Observe::Everything {
                worker.region.patience = worker.region.patience.max(patience(slot.elapsed));
            }
            results[*plan] = Some((execution, Duration::from_micros(slot.cpu_us)));
        }
        worker.region.trim();
        (results, answer)
    }
}

/// The execution of each plan of a chunk, and its processor time.
pub(crate) type Ran = Vec<Option<(Execution, Duration)>>;

/// Returns for how long a thread is held in a free-running execution, given the duration of one that observed everything: a
/// little longer, as the paper says, because by then the partner has come if it ever does. The minimum keeps a busy machine
/// from delaying the partner beyond it. All in nanoseconds.
fn patience(elapsed: u64) -> u64 {
    const LEAST: u64 = 20_000_000;
    const MOST: u64 = 1_000_000_000;
    (elapsed / 10 * 11).clamp(LEAST, MOST)
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.workers.clear();
        orphans::end_all();
    }
}

impl Executor for Processes {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        self.run_all(plans).map_err(|error| ExecutorError(error.to_string()))
    }

    fn run_each(
        &mut self,
        plans: &[Plan],
        each: &mut dyn FnMut(&Execution) -> Flow,
    ) -> Result<Vec<Execution>, ExecutorError> {
        self.run_in_rounds(plans, Some(each)).map_err(|error| ExecutorError(error.to_string()))
    }

    fn repeats_test(&self) -> bool {
        self.loops() && self.preparatory > 0
    }

    fn libraries(&self) -> Vec<(u64, PathBuf)> {
        let workers = self.workers.iter().filter(|worker| !worker.has_ended());
        let mut libraries: Vec<_> = workers.flat_map(|worker| worker.region.libraries()).collect();
        libraries.sort();
        libraries.dedup();
        libraries
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        let mut new = 0;
        for &site in sites {
            if let Some(flag) = (site as usize).checked_sub(1).and_then(|site| self.flags.get_mut(site)) {
                new += usize::from(*flag & SITE_POINT == 0);
                *flag |= SITE_POINT;
            }
        }
        if new > 0 {
            self.publish_flags();
        }
        new
    }
}

/// What the slots of a request contain.
pub(crate) struct Request {
    /// For each slot the plan of the chunk, or `None` for the common prefix of a snapshot.
    pub(crate) slots: Vec<Option<usize>>,
}

impl Request {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns lost executions for all plans, whose results cannot be trusted.
    fn all_lost(&self, chunk: &[Plan]) -> Ran {
        let mut results: Ran = chunk.iter().map(|_| None).collect();
        for &plan in self.slots.iter().flatten() {
            results[plan] = Some((Execution::lost(results::DAMAGED.to_owned()), Duration::ZERO));
        }
        results
    }

    /// Writes as many plans as fit.
    pub(crate) fn write(worker: &mut Worker, chunk: &[Plan], settings: Settings, snapshots: bool) -> Self {
        worker.region.begin_request(settings);
        if chunk.iter().any(|plan| plan.free) {
            worker.region.wipe_log();
        }
        let mut slots = Vec::new();
        for step in batch::steps(chunk, snapshots) {
            let (snapshot, plans) = match step {
                Step::Single(plan) => (None, plan..plan + 1),
                Step::Snapshot { first, count, at } => (Some(at), first..first + count),
            };
            let count = plans.len();
            let prefix = if snapshot.is_some() { chunk[plans.start].switches.len() } else { 0 };
            let wanted: usize = chunk[plans.clone()].iter().map(|plan| plan.switches.len()).sum();
            if slots.len() + count + 1 > SLOTS || !worker.region.has_room(wanted + prefix) {
                break;
            }
            if let Some(at) = snapshot {
                let prefix = batch::prefix(&chunk[plans.start], at);
                worker.region.write_plan(slots.len(), &prefix, Some((at, count as u32)));
                slots.push(None);
            }
            for plan in plans {
                worker.region.write_plan(slots.len(), &chunk[plan], None);
                slots.push(Some(plan));
            }
        }
        Self { slots }
    }
}
