//! The recipes of the document, run without containers, cluster or queue: the same commands as processes of this machine.
//!
//! The names of machines and the directories of containers are replaced, and nothing else. `cargo xtask recipes` has the recipes
//! checked by the tools that they are for.

use racehunter_e2e::processes::eventually;
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Started, Workshop, root, tool};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use yaml_rust2::{Yaml, YamlLoader};

/// Returns the blocks of a language in the document.
fn blocks(language: &str) -> Vec<String> {
    let document = fs::read_to_string(root().join("docs/fleet.md")).unwrap();
    let fence = format!("```{language}\n");
    document.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn words(yaml: &Yaml) -> Vec<String> {
    let words = yaml.as_vec().unwrap_or_else(|| panic!("no list: {yaml:?}"));
    words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// What an image of ours runs before the words of a service.
fn entry_point() -> Vec<String> {
    let file = fs::read_to_string(root().join("packaging/Containerfile")).unwrap();
    let line = file.lines().find_map(|line| line.strip_prefix("ENTRYPOINT ")).unwrap();
    serde_json::from_str(line).unwrap()
}

/// A machine on which recipes are run.
struct Machine {
    workshop: Workshop,
    port: u16,
}

impl Machine {
    /// Replaces what containers and a network would give.
    fn here(&self, word: &str) -> String {
        assert!(!word.contains("4222") || word.contains("nats://engine:4222"), "{word}");
        word.replace("nats://engine:4222", &format!("nats://127.0.0.1:{}", self.port))
            .replace("/project", &text(&self.workshop.path("project")))
            .replace("/data", &text(&self.workshop.path("data")))
    }

    fn command(&self, words: &[String]) -> Command {
        let words: Vec<String> = words.iter().map(|word| self.here(word)).collect();
        let (first, rest) = words.split_first().unwrap();
        let mut command = Command::new(first);
        command.args(rest).current_dir(self.workshop.path("project"));
        let bin = tool::path().parent().unwrap().to_path_buf();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap();
        command.env("PATH", path);
        command
    }
}

#[test]
fn the_recipes_for_containers_clusters_and_queues_work() {
    let recipes: Vec<Yaml> =
        blocks("yaml").iter().map(|text| YamlLoader::load_from_str(text).unwrap().remove(0)).collect();
    let (services, job) = (&recipes[0]["services"], &recipes[1]);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let machine = Machine { workshop: Workshop::new(), port };
    // The project of the user, with the program compiled.
    let source = root().join("docs/example/queue_test.c");
    let program = machine.workshop.path("project/queue_test");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    machine.workshop.cc(["-g", "-O1", "-pthread", &text(&source), "-o", &text(&program)]).expect(0);

    // The image of the engine runs `nats-server` with these words.
    assert_eq!(services["engine"]["image"].as_str(), Some("nats:2"));
    let engine = [vec!["nats-server".to_owned()], words(&services["engine"]["command"])].concat();
    let _engine = Started::new(machine.command(&engine).args(["-a", "127.0.0.1", "-p", &port.to_string()]));
    eventually("the engine does not listen", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    assert!(machine.workshop.path("data").exists(), "the engine keeps its files elsewhere");

    // A worker of each recipe. In Kubernetes, `command` replaces what the image runs.
    let service = |name: &str| [entry_point(), words(&services[name]["command"])].concat();
    let pod = &job["spec"]["template"]["spec"]["containers"][0];
    let script = machine.workshop.write("array.sh", &machine.here(&blocks("bash")[0]));
    let mut slurm = machine.command(&["bash".to_owned(), text(&script)]);
    slurm.envs([("SLURM_CPUS_PER_TASK", "1"), ("SLURM_ARRAY_JOB_ID", "17"), ("SLURM_ARRAY_TASK_ID", "3")]);
    let workers = [
        Started::new(&mut machine.command(&service("worker"))),
        Started::new(&mut machine.command(&words(&pod["command"]))),
        Started::new(&mut slurm),
    ];
    workers.iter().for_each(|worker| worker.wait_until_it_says("runs programs of everybody"));
    workers[2].wait_until_it_says("slurm-17-3");

    // By default all schedules of this small program are explored before workers are needed.
    let mut hunt = machine.command(&service("hunt"));
    let ended = racehunter_e2e::run(hunt.args(["--analysis", "pct", "--runs", "2000"])).expect(1);
    assert!(ended.stdout.contains("data race on `q->count`"), "{}", ended.stdout);
    assert!(machine.workshop.path("project/.racehunter/findings").exists());
    workers.iter().for_each(|worker| worker.wait_until_it_says("joins hunt"));
}
