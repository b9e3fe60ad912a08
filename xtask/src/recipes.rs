//! `cargo xtask recipes`: has the recipes of docs/fleet.md checked by the tools that they are for.
//!
//! The Kubernetes Job is compared with the schemas of Kubernetes, by `kubernetes-validate` from PyPI. The Slurm array is given to
//! `sbatch --test-only`, at a controller with a configuration of its own in `target/recipes`. Not part of the tests, which run the
//! commands of the recipes as they are: both tools are large, and the first is fetched from the network.

use crate::packages::{self, RECIPES};
use crate::shell::{root, shell};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

pub fn run() -> Result<()> {
    packages::need(RECIPES)?;
    let directory = root().join("target/recipes");
    fs::create_dir_all(&directory)?;
    let document = fs::read_to_string(root().join("docs/fleet.md"))?;
    let job = block(&document, "yaml", "kind: Job")?;
    let array = block(&document, "bash", "#SBATCH")?;
    kubernetes(&directory, job)?;
    println!("the Kubernetes Job is valid");
    println!("{}", slurm(&directory, array)?);
    Ok(())
}

/// Returns the block of a language that contains some words.
fn block<'a>(document: &'a str, language: &str, words: &str) -> Result<&'a str> {
    let fence = format!("```{language}\n");
    let mut blocks = document.split(&fence).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.find(|block| block.contains(words)).with_context(|| format!("docs/fleet.md has no recipe with `{words}`"))
}

fn kubernetes(directory: &Path, job: &str) -> Result<()> {
    let (file, environment) = (directory.join("job.yaml"), directory.join("python"));
    fs::write(&file, job)?;
    let tool = environment.join("bin/kubernetes-validate");
    if !tool.exists() {
        shell("python3", &["-m", "venv", &environment.to_string_lossy()]).done()?;
        let pip = environment.join("bin/pip");
        shell(&pip, &["install", "--quiet", "kubernetes-validate"]).done()?;
    }
    // Unknown fields are errors too.
    shell(&tool, &["--strict", &file.to_string_lossy()]).done()
}

/// A Slurm controller, which ends with this value.
struct Controller(Child);

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns what `sbatch` says about the array.
fn slurm(directory: &Path, array: &str) -> Result<String> {
    let place = directory.join("slurm");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(place.join("state"))?;
    let (script, config) = (place.join("array.sh"), place.join("slurm.conf"));
    fs::write(&script, array)?;
    fs::write(&config, configuration(&place)?)?;
    let log = fs::File::create(place.join("controller.log"))?;
    let controller = Command::new("slurmctld")
        .args(["-D", "-c", "-f"])
        .arg(&config)
        .env("SLURM_CONF", &config)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .context("cannot start slurmctld")?;
    let _controller = Controller(controller);
    let mut said = String::new();
    // The controller needs a moment.
    for _ in 0..40 {
        let output = Command::new("sbatch").arg("--test-only").arg(&script).env("SLURM_CONF", &config).output()?;
        said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if output.status.success() {
            return Ok(said);
        }
        thread::sleep(Duration::from_millis(250));
    }
    bail!("sbatch refuses the array: {said}; see {}", place.join("controller.log").display());
}

/// A cluster of one node that is said to be idle, so that no program of Slurm has to run there; with nothing that needs others.
fn configuration(place: &Path) -> Result<String> {
    let host = shell("hostname", &[]).output()?;
    let user = shell("id", &["-un"]).output()?;
    let (host, user, place) = (host.trim(), user.trim(), place.display());
    Ok(format!(
        "ClusterName=recipes\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort=46817\nSlurmdPort=46818\nSlurmUser={user}\n\
         AuthType=auth/none\nCredType=cred/none\nStateSaveLocation={place}/state\n\
         SlurmdSpoolDir={place}/spool\nSlurmctldPidFile={place}/controller.pid\nReturnToService=2\n\
         ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n\
         MaxArraySize=1001\nNodeName=node NodeAddr=127.0.0.1 CPUs=8 RealMemory=65536 State=IDLE\n\
         PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP\n"
    ))
}
