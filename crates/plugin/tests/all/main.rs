//! What the plugin does to code. One program: to link one for every file takes longer than to run it.

mod common;
mod hooks;
mod hosts;
mod runs;
mod verify;
mod wrapper;
