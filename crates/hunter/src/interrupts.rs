//! Signals that ask the command to stop.

use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals with which users and scripts end commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// As `kill` and `timeout` do.
    Terminate,
}

impl Signal {
    /// Returns the exit code of a command that the signal ended, as shells report it.
    #[must_use]
    pub const fn status(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Signals that ask the command to stop. The first one is a request, a second one ends the process at once.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    any: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
}

impl Interrupts {
    /// Catches them from now on.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn catch() -> Result<Self, Error> {
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
            .map_err(Error::Interrupts)?;
        Ok(interrupts)
    }

    /// Returns the flag that the first one sets.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.any)
    }

    /// Returns the signal that arrived, if any.
    #[must_use]
    pub fn signal(&self) -> Option<Signal> {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        match (is_set(&self.any), is_set(&self.terminated)) {
            (false, _) => None,
            (true, true) => Some(Signal::Terminate),
            (true, false) => Some(Signal::Interrupt),
        }
    }
}
