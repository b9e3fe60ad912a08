//! What the plugin does to code. All files make one program, because linking one for each file takes longer than
//! running it.

mod common;
mod directives;
mod hooks;
mod hosts;
mod runs;
mod verify;
mod wrapper;
