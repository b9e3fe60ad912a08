//! Backends: points-to analyses, from the most exact to the simplest.
//!
//! They answer the same questions, and everything that is computed from the answers is the same for all of them. Only those that
//! leave nothing out can prove anything.

use crate::models::Models;
use crate::pointer::{PointsTo, Precision};
use crate::program::{FunctionId, Program};

/// Finds out where pointers lead.
pub trait Backend {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Follows the pointers of a program that begins with this function.
    fn points_to<'a>(&self, program: &'a Program, models: &'a Models, main: FunctionId) -> PointsTo<'a>;

    /// Returns true if no pointer leads anywhere that it does not know of.
    fn leaves_nothing_out(&self) -> bool;
}

/// Follows every pointer through memory, with an instance of a function for each call site.
pub struct Value;

/// Looks at each function once in a thread, and takes for one what one pointer can point to.
pub struct Alias;

/// What the others come to when a program is too large for them: a pointer that can lead to more than so many things can lead
/// anywhere.
pub struct Coarse(pub usize);

/// Takes only what expressions name: variables and what is allocated in the same function.
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

/// A backend that there is not.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is no backend; there are value, alias and syntactic")]
pub struct UnknownBackend(String);

/// Returns the backend of a name.
///
/// # Errors
///
/// When there is none.
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
