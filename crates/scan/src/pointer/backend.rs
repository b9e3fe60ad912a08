//! Backends: points-to analyses, from the most exact to the simplest.
//!
//! They answer the same questions, and everything else works the same for all of them. Only those that leave nothing
//! out can prove anything.

use crate::models::Models;
use crate::pointer::{PointsTo, Precision};
use crate::program::{FunctionId, Program};

/// A points-to analysis.
pub trait Backend {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Follows the pointers of a program that starts with this function.
    fn points_to<'a>(&self, program: &'a Program, models: &'a Models, main: FunctionId) -> PointsTo<'a>;

    /// Returns true if it knows every possible target of every pointer.
    fn leaves_nothing_out(&self) -> bool;
}

/// Follows every pointer through memory, with an instance of a function for each call site.
pub struct Value;

/// Analyses each function once per thread, and merges all targets of one pointer.
pub struct Alias;

/// The fallback for large programs: a pointer with more than this many targets can point anywhere.
pub struct Coarse(pub usize);

/// Considers only what expressions name: variables, and memory that the same function allocates.
pub struct Syntactic;

impl Backend for Value {
    fn name(&self) -> &'static str {
        "value"
    }

    fn points_to<'a>(&self, program: &'a Program, models: &'a Models, main: FunctionId) -> PointsTo<'a> {
        PointsTo::solve(program, models, main, Precision::Instances)
    }

    fn leaves_nothing_out(&self) -> bool {
        true
    }
}

impl Backend for Alias {
    fn name(&self) -> &'static str {
        "alias"
    }

    fn points_to<'a>(&self, program: &'a Program, models: &'a Models, main: FunctionId) -> PointsTo<'a> {
        let mut found = PointsTo::solve(program, models, main, Precision::Functions);
        found.unify();
        found
    }

    fn leaves_nothing_out(&self) -> bool {
        true
    }
}

impl Backend for Coarse {
    fn name(&self) -> &'static str {
        "coarse"
    }

    fn points_to<'a>(&self, program: &'a Program, models: &'a Models, main: FunctionId) -> PointsTo<'a> {
        PointsTo::coarse(program, models, main, self.0)
    }

    fn leaves_nothing_out(&self) -> bool {
        true
    }
}

impl Backend for Syntactic {
    fn name(&self) -> &'static str {
        "syntactic"
    }

    fn points_to<'a>(&self, program: &'a Program, models: &'a Models, main: FunctionId) -> PointsTo<'a> {
        PointsTo::solve(program, models, main, Precision::Names)
    }

    fn leaves_nothing_out(&self) -> bool {
        false
    }
}

/// There is no backend of this name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a backend; choose value, alias or syntactic")]
pub struct UnknownBackend(String);

/// Returns the backend of a name.
///
/// # Errors
///
/// If no backend has this name.
pub fn named(name: &str) -> Result<Box<dyn Backend>, UnknownBackend> {
    let all: [Box<dyn Backend>; 3] = [Box::new(Value), Box::new(Alias), Box::new(Syntactic)];
    all.into_iter().find(|backend| backend.name() == name).ok_or_else(|| UnknownBackend(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_have_names() {
        for name in ["value", "alias", "syntactic"] {
            assert_eq!(named(name).map(|backend| backend.name()), Ok(name));
        }
        assert!(named("eva").is_err_and(|error| error.to_string().contains("`eva`")));
    }
}
