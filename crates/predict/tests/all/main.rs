//! What the predictor promises. One program: to link one for every file takes longer than to run it.

mod code;
mod figures;
mod predictions;
mod programs;
mod races;
mod support;
mod validator;
