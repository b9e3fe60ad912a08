//! What the threads of a program do with the values that they read, by its code.
//!
//! A read matters to its thread only through what is done with its value. [`Follower`] goes along with each thread, from
//! one record of the log to the next, through the instructions that lie between them. For each value of each activation
//! of a function it knows the reads that the value is made of: through arithmetic, phis (which way was taken is known),
//! arguments and results of functions, and local variables that nobody else can reach. So it says of each event
//!
//! * which reads the value that it writes is made of;
//! * which reads have *decided* since the event before, that is, have had a say in what the thread does: conditions of
//!   branches and switches, addresses of reads and of writes, divisors, targets of indirect calls, arguments of code that
//!   is not known (locks among them), whatever is put where it is not followed.
//!
//! Activations are frames on a stack, so recursion is nothing special. Where the log and the code do not fit together, as
//! after an exception or a `longjmp`, a thread is *lost*: all that its frames hold is taken to have decided, and what it
//! reads in them from then on decides at once. Functions that it enters later are followed again.
//!
//! What is said is more than what is the case, never less: it is for predictors that keep what a read saw wherever it may
//! matter. Two things are beyond it: memory that code without instrumentation reads, and threads that such code runs.
//!
//! Start at [`Follower`], then `routine`, which knows what each instruction does, and `frame`, which does it.
#![forbid(unsafe_code)]

mod code;
mod follower;
mod frame;
mod routine;
mod set;

pub use follower::Follower;
