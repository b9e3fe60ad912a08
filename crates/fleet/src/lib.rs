//! The engine of hunts on many machines: NATS JetStream, behind the traits of `racehunter_hunter::fleet`.
//!
//! What is where on the server:
//!
//! | | |
//! |---|---|
//! | key-value bucket `racehunter` | `index`, the hunts that are not over; `hunt.ID`, the announcement; `status.ID`, how far the hunt is; `worker.NAME`, what a worker does |
//! | stream `racehunter-parts-ID` | the parts of a hunt, a work queue: each is delivered until a worker acknowledges it |
//! | stream `racehunter-results-ID` | the results, in the order in which they came in; the subject names the worker |
//! | object bucket `racehunter-files` | programs and other files by their SHA-256, and messages that are too large for one message |
//!
//! All of it is in file storage, so it survives a restart of the server. Nothing outside this crate knows NATS or an
//! asynchronous runtime. It must not know what parts and results contain.
//!
//! Start at [`Engine::connect`], then [`NatsBoard`] (the coordinator's side) and [`NatsDesk`] (the workers').
#![forbid(unsafe_code)]

mod board;
mod desk;
mod engine;
mod payload;
mod survey;

pub use board::NatsBoard;
pub use desk::NatsDesk;
pub use engine::{Access, Engine};
pub use survey::{HuntSurvey, Survey};
