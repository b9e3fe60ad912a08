//! `racehunter-schema SCHEMA < LINES`: prints for each JSON line what is wrong with it; an empty line if nothing is.

use serde_json::Value;
use std::error::Error;
use std::io::{self, BufRead as _};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("which schema?")?;
    let schema: Value = serde_json::from_slice(&std::fs::read(path)?)?;
    let validator = jsonschema::validator_for(&schema)?;
    for line in io::stdin().lock().lines() {
        let value: Value = serde_json::from_str(&line?)?;
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        println!("{}", errors.join("; ").replace('\n', " "));
    }
    Ok(())
}
