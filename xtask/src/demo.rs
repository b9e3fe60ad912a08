//! `cargo xtask demo`: a hunt from start to end.

use crate::build::Kit;
use crate::shell::{shell, target};
use anyhow::{Result, bail};

/// A bank that loses money between two locks: no data race, so no sanitizer sees it.
const PROGRAM: &str = "targets/assertion/bank_transfer.cpp";

/// Hunts a bug, shows the report, replays it, and shows that the corrected program is clean.
pub fn run(kit: &Kit) -> Result<()> {
    let out = target().join("demo");
    let _ = std::fs::remove_dir_all(&out);
    let out_text = out.to_string_lossy().into_owned();
    let racehunter = |words: &[&str]| {
        println!("\n$ racehunter {}", words.join(" "));
        let mut all = words.to_vec();
        all.extend(["--out", &out_text]);
        shell(kit.program(), &all).status()
    };
    if racehunter(&["hunt", PROGRAM, "--stop-on-first"])? != Some(1) {
        bail!("the hunt should have found the bug in {PROGRAM}");
    }
    let findings = std::fs::read_dir(out.join("findings"))?;
    let names: Vec<String> = findings
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .collect();
    let Some(id) = names.first() else { bail!("the finding was not stored") };
    if racehunter(&["replay", id, "--message-format", "short"])? != Some(0) {
        bail!("the finding should have shown again");
    }
    let fixed = PROGRAM.replace(".cpp", ".fixed.cpp");
    if racehunter(&["hunt", &fixed, "--analysis", "context-bound", "--bound", "2"])? != Some(0) {
        bail!("the corrected program should be clean");
    }
    Ok(())
}
