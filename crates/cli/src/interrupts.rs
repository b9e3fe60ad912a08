//! Signals that ask the command to stop.

use crate::exit::Signal;
use anyhow::{Context as _, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals that ask the command to stop. The first one is a request, a second one ends the process at once.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    any: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
}

impl Interrupts {
    /// Catches them from now on.
    pub fn catch() -> Result<Self> {
        let interrupts = Self::default();
        let catch = |signal, code: Signal| {
            signal_hook::flag::register_conditional_shutdown(
                signal,
                i32::from(code.status()),
                Arc::clone(&interrupts.any),
            )
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupts.any)))
        };
        catch(signal_hook::consts::SIGINT, Signal::Interrupt)
            .and_then(|_| signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&interrupts.terminated)))
            .and_then(|_| catch(signal_hook::consts::SIGTERM, Signal::Terminate))
            .context("cannot catch interrupts")?;
        Ok(interrupts)
    }

    /// Returns the flag that the first one sets.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.any)
    }

    /// Returns the signal that arrived, if any.
    pub fn signal(&self) -> Option<Signal> {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        match (is_set(&self.any), is_set(&self.terminated)) {
            (false, _) => None,
            (true, true) => Some(Signal::Terminate),
            (true, false) => Some(Signal::Interrupt),
        }
    }
}
