//! `racehunter doctor`: what is installed.

use crate::exit::Exit;
use racehunter_compile::Toolkit;

/// Says what there is; the exit code tells whether it is enough.
pub fn run() -> anyhow::Result<Exit> {
    match Toolkit::discover() {
        Ok(toolkit) => {
            println!("compiler  {} (LLVM {})", toolkit.compiler.c.display(), toolkit.compiler.version);
            println!("plugin    {}", toolkit.plugin.display());
            println!("runtime   {}", toolkit.runtime.display());
            match &toolkit.include {
                Some(path) => println!("headers   {}", path.display()),
                None => {
                    println!("headers   missing: `#include <racehunter.h>` will not work; install RaceHunter again")
                }
            }
            println!("ready");
            Ok(Exit::Clean)
        }
        Err(error) => {
            println!("not ready: {error}");
            Ok(Exit::Error)
        }
    }
}
