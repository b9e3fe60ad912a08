//! Files with recordings.

mod files;
mod recording;
mod stored;
