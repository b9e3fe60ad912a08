//! The promises of the predictor. All files make one program, because linking one for each file takes longer than
//! running it.

mod code;
mod figures;
mod predictions;
mod programs;
mod races;
mod support;
mod validator;
