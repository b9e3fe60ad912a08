//! What the threads of a program do with the values that they read, according to its code.
//!
//! A read matters to its thread only through what is done with its value. [`Follower`] follows each thread, from one
//! record of the log to the next, through the instructions in between. For each value of each activation of a function
//! it knows the reads that the value depends on: through arithmetic, phis (the branch taken is known), arguments and
//! results of functions, and local variables that no other thread can reach. For each event it says
//!
//! * which reads the written value depends on;
//! * which reads have *decided* since the previous event, that is, have influenced what the thread does: conditions of
//!   branches and switches, addresses of reads and of writes, divisors, targets of indirect calls, arguments of unknown
//!   code (including locks), and every value that leaves the code that is followed.
//!
//! Activations are frames on a stack, so recursion needs no special treatment. If the log and the code do not match,
//! as after an exception or a `longjmp`, a thread is *lost*: everything that its frames hold counts as having
//! decided, and what it reads in them from then on decides at once. Functions that it enters later are followed
//! again.
//!
//! The result over-approximates: it never misses a dependence, because predictors must preserve what a read saw
//! wherever it may matter. Two things are out of reach: memory that uninstrumented code reads, and threads that such
//! code runs.
//!
//! Start at [`Follower`], then `routine`, which knows what each instruction does, and `frame`, which executes it.
#![forbid(unsafe_code)]

mod code;
mod follower;
mod frame;
mod routine;
mod set;

pub use follower::Follower;
