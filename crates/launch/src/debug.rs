//! Runs one execution under a debugger.

use crate::Backend;
use crate::processes::{Settings, Shared};
use crate::region::Region;
use crate::worker::{LaunchError, NO_BACKTRACES, client_variable, inherit, pipe};
use racehunter_abi::FORMAT_VERSION;
use racehunter_abi::control::{ANSWER_FD, REGION_FD, REQUEST_FD, SERVER_VARIABLE};
use racehunter_explore::Plan;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};

/// Starts a debugger whose program follows a plan, and waits for its end.
///
/// The debugger inherits everything that a fork server needs: the control region with the plan, and a request that is already
/// written. When it runs the program, the server forks once, and the child follows the plan; the debugger must follow the
/// child. `preparatory` is the number of iterations of an in-process loop before the one that follows the plan; `client` is
/// the command to start when the program listens. No limit applies, and the watchdog is off.
///
/// # Errors
///
/// If the debugger cannot be started.
pub fn debug(
    plan: &Plan,
    backend: Backend,
    (shared, preparatory): (Shared, u32),
    client: Option<&str>,
    debugger: &mut Command,
) -> Result<ExitStatus, LaunchError> {
    let name = debugger.get_program().to_string_lossy().into_owned();
    let failed = |source: io::Error| LaunchError::Start { program: name.clone(), source };
    let mut region = Region::new().map_err(failed)?;
    if !region.has_room(plan.switches.len()) {
        return Err(LaunchError::PlanTooLong(plan.switches.len()));
    }
    region.begin_request(Settings { backend, pool: 0, preparatory, once: false, shared, loops: false, outside: false });
    region.write_plan(0, plan, None);
    region.debug(0);
    let (request_read, request_write) = pipe().map_err(failed)?;
    let (answer_read, answer_write) = pipe().map_err(failed)?;
    let mut requests = File::from(request_write);
    requests.write_all(&1_u32.to_le_bytes()).map_err(failed)?;
    let inherited =
        [(region.fd(), REGION_FD), (request_read.as_raw_fd(), REQUEST_FD), (answer_write.as_raw_fd(), ANSWER_FD)];
    debugger.env(SERVER_VARIABLE, FORMAT_VERSION.to_string()).env("LD_BIND_NOW", "1").envs(NO_BACKTRACES);
    debugger.envs(client_variable(client));
    // SAFETY: between fork and exec only async-signal-safe calls are made.
    unsafe { debugger.pre_exec(move || inherit(inherited)) };
    let mut child = debugger.spawn().map_err(failed)?;
    drop((request_read, answer_write));
    let status = child.wait().map_err(failed)?;
    drop((requests, answer_read));
    Ok(status)
}
