//! Runs the shell steps of the recipes for CI services and build systems, exactly as the documents show them.
//!
//! The tests imitate what a CI service does between the steps: environment variables, `GITHUB_PATH`, a separate workspace for
//! each job, and artifacts, which lose file permissions and leave out hidden files unless told otherwise. A check that the
//! packages exist replaces the package manager.

use racehunter_e2e::{Workshop, root, tool};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use yaml_rust2::{Yaml, YamlLoader};

/// Returns the blocks of a language in a document.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(document)).expect("a document");
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn recipes() -> Vec<Yaml> {
    let recipe = |text: &String| YamlLoader::load_from_str(text).expect("valid YAML").remove(0);
    blocks("docs/ci.md", "yaml").iter().map(recipe).collect()
}

/// A machine on which jobs run.
struct Machine {
    workshop: Workshop,
    artifacts: BTreeMap<String, PathBuf>,
    jobs: usize,
}

impl Machine {
    /// Creates a machine with a tarball to download, and with the package manager replaced.
    fn new() -> Self {
        let workshop = Workshop::new();
        let kit = tool::path().parent().and_then(Path::parent).expect("an installation").to_path_buf();
        // As fast as a copy; the recipes strip the top directory.
        let tarball = workshop.path("racehunter.tar.gz");
        let tar = Command::new("tar")
            .args(["--use-compress-program", "gzip -1", "--transform", "s,^\\.,racehunter,", "-cf"])
            .arg(&tarball)
            .arg("-C")
            .arg(&kit)
            .args(["./bin", "./lib"])
            .status();
        assert!(tar.expect("tar").success());
        let script = |name: &str, text: &str| {
            let path = workshop.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{text}\n"));
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
        };
        script("sudo", "exec \"$@\"");
        script(
            "apt-get",
            "test \"$1\" = install || exit 0; shift\nfor word; do case $word in -*) ;; *) \
             apt-cache show --no-all-versions \"$word\" > /dev/null || dpkg -s \"$word\" > /dev/null || exit 1 ;; esac; done",
        );
        fs::create_dir_all(workshop.path("home")).expect("a directory");
        Self { workshop, artifacts: BTreeMap::new(), jobs: 0 }
    }

    /// Returns a directory with the sources, as after a checkout, without files of earlier jobs.
    fn checkout(&mut self, name: &str) -> PathBuf {
        self.jobs += 1;
        let job = self.workshop.path(name);
        let _ = fs::remove_dir_all(&job);
        copy(&root().join("docs/example"), &job, true);
        job
    }

    /// Runs a step. The path contains nothing of this project but what the recipe installed.
    fn step(&self, script: &str, directory: &Path, path: &str, variables: &[(String, String)]) -> Output {
        let mut shell = Command::new("bash");
        shell.args(["-eo", "pipefail", "-c", script]).current_dir(directory);
        shell.env("PATH", format!("{path}{}:/usr/bin:/bin", self.workshop.path("bin").display()));
        shell.env("HOME", self.workshop.path("home")).envs(variables.iter().cloned());
        // Hunts are short here: other tests check what they find.
        shell.env("RACEHUNTER_RUNS", "60").env("RACEHUNTER_TIME", "20s");
        shell.output().expect("a shell")
    }

    fn tarball(&self) -> (String, String) {
        let address = format!("file://{}", self.workshop.path("racehunter.tar.gz").display());
        ("RACEHUNTER_TARBALL".to_owned(), address)
    }

    fn upload(&mut self, name: &str, paths: &[&str], hidden: bool, from: &Path) {
        let place = self.workshop.path(&format!("artifacts/{name}"));
        fs::create_dir_all(&place).expect("a directory");
        for path in paths {
            assert!(from.join(path).exists(), "`{path}` of artifact `{name}` is not there");
            // The service uploads the content of a single directory, and otherwise the names.
            let to = if paths.len() == 1 && from.join(path).is_dir() { place.clone() } else { place.join(path) };
            if hidden || !path.starts_with('.') {
                copy(&from.join(path), &to, hidden);
            }
        }
        let _ = self.artifacts.insert(name.to_owned(), place);
    }
}

/// Copies a file or a directory without permissions; hidden files only if requested.
fn copy(from: &Path, to: &Path, hidden: bool) {
    if from.is_file() {
        fs::write(to, fs::read(from).expect("a file")).expect("written");
        return;
    }
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let name = entry.expect("an entry").file_name();
        if hidden || !name.to_string_lossy().starts_with('.') {
            copy(&from.join(&name), &to.join(&name), hidden);
        }
    }
}

fn text(yaml: &Yaml) -> &str {
    yaml.as_str().unwrap_or_default()
}

/// Runs a GitHub job, with `${{ matrix.part }}` as given. Returns its directory and the step that failed, with its output.
fn github(machine: &mut Machine, job: &Yaml, part: &str) -> (PathBuf, Option<(String, String)>) {
    // It is at the same place on every machine.
    let directory = machine.checkout("workspace");
    let added = directory.join("github-path");
    fs::write(&added, "").expect("written");
    let variables = [machine.tarball(), ("GITHUB_PATH".to_owned(), added.display().to_string())];
    let (mut failed, mut has_hunted) = (None, false);
    for step in job["steps"].as_vec().expect("steps") {
        let fill = |yaml: &Yaml| text(yaml).replace("${{ matrix.part }}", part);
        // Steps after the hunt run whatever it found, but only if there was one.
        let is_due = match text(&step["if"]) {
            "" => failed.is_none(),
            "always() && steps.hunt.outcome != 'skipped'" => has_hunted,
            other => panic!("`{other}` is not known here"),
        };
        if !is_due {
            continue;
        }
        has_hunted |= text(&step["id"]) == "hunt";
        let with = &step["with"];
        let hidden = with["include-hidden-files"].as_bool() == Some(true);
        match text(&step["uses"]).split('@').next().unwrap_or_default() {
            "" => {
                let path = fs::read_to_string(&added)
                    .expect("a file")
                    .lines()
                    .map(|line| format!("{line}:"))
                    .collect::<String>();
                let script = fill(&step["run"]);
                let ended = machine.step(&script, &directory, &path, &variables);
                if !ended.status.success() {
                    let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
                    assert!(failed.is_none(), "`{script}` fails too: {said}{failed:?}");
                    failed = Some((script, said.into_owned()));
                }
            }
            "actions/upload-artifact" => {
                let (name, paths) = (fill(&with["name"]), fill(&with["path"]));
                machine.upload(&name, &paths.lines().collect::<Vec<_>>(), hidden, &directory);
            }
            "actions/download-artifact" => {
                let artifact = machine.artifacts[&fill(&with["name"])].clone();
                copy(&artifact, &directory.join(fill(&with["path"])), true);
            }
            "github/codeql-action/upload-sarif" => {
                let log = fs::read_to_string(directory.join(text(&with["sarif_file"]))).expect("a log");
                let log: serde_json::Value = serde_json::from_str(&log).expect("JSON");
                assert_eq!(log["version"], "2.1.0");
            }
            // The files that the cache restores are already there, or were never stored.
            "actions/cache" | "actions/checkout" => {}
            other => panic!("`{other}` is not known here"),
        }
    }
    (directory, failed)
}

#[test]
fn the_recipes_for_github_work() {
    let recipes = recipes();
    let mut machine = Machine::new();
    // The job fails because of the race, and its reports and findings are kept nevertheless.
    let (directory, failed) = github(&mut machine, &recipes[0]["jobs"]["races"], "");
    let (script, said) = failed.expect("the program has a race");
    assert!(script.starts_with("racehunter hunt") && said.contains("::error file=queue_test.c"), "{script}: {said}");
    assert!(fs::read_to_string(directory.join("report.html")).expect("a page").contains("q-&gt;count"));
    let kept = &machine.artifacts["racehunter"];
    assert!(kept.join(".racehunter/findings").exists() && kept.join("report.html").exists());

    // In parts: only the job that merges them fails.
    let jobs = &recipes[1]["jobs"];
    let must = |(_, failed): (PathBuf, Option<(String, String)>)| assert_eq!(failed, None);
    must(github(&mut machine, &jobs["build"], ""));
    for part in jobs["hunt"]["strategy"]["matrix"]["part"].as_vec().expect("parts") {
        must(github(&mut machine, &jobs["hunt"], &part.as_i64().expect("a number").to_string()));
    }
    let (_, failed) = github(&mut machine, &jobs["merge"], "");
    let (script, said) = failed.expect("the parts have a race");
    assert!(script.starts_with("racehunter merge") && said.contains("::error file=queue_test.c"), "{script}: {said}");
}

#[test]
fn the_recipe_for_gitlab_works() {
    let recipe = recipes().remove(2);
    let mut machine = Machine::new();
    let lines = |yaml: &Yaml| -> Vec<String> {
        yaml.as_vec().map(|lines| lines.iter().map(|line| text(line).to_owned()).collect()).unwrap_or_default()
    };
    let before = lines(&recipe["default"]["before_script"]);
    // The first job fills the cache.
    let cached = text(&recipe["default"]["cache"]["paths"][0]).trim_end_matches('/').to_owned();
    let mut kept: Vec<PathBuf> = Vec::new();
    for (name, part) in [("build", 1), ("hunt", 1), ("hunt", 2), ("hunt", 3), ("hunt", 4), ("merge", 1)] {
        let (job, directory) = (&recipe[name], machine.checkout("workspace"));
        // Artifacts keep their permissions here.
        let cache = machine.workshop.path("cache");
        if machine.jobs > 1 {
            fs::rename(&cache, directory.join(&cached)).expect("a cache");
        }
        for artifact in &kept {
            let to = directory.join(artifact.file_name().expect("a name"));
            let copied = Command::new("cp").arg("-a").arg(artifact).arg(to).status();
            assert!(copied.expect("cp").success());
        }
        let number = |name: &str, value: i64| (name.to_owned(), value.to_string());
        let variables = [
            machine.tarball(),
            number("CI_NODE_INDEX", part),
            number("CI_NODE_TOTAL", job["parallel"].as_i64().unwrap_or(1)),
        ];
        let script = [before.clone(), lines(&job["script"])].concat().join("\n");
        let ended = machine.step(&script, &directory, "", &variables);
        let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(i32::from(name == "merge")), "{name}: {said}");
        let after = machine.step(&lines(&job["after_script"]).join("\n"), &directory, "", &variables);
        assert!(after.status.success(), "{}", String::from_utf8_lossy(&after.stderr));
        let artifacts =
            [lines(&job["artifacts"]["paths"]), vec![text(&job["artifacts"]["reports"]["junit"]).to_owned()]].concat();
        for path in artifacts.iter().filter(|path| !path.is_empty()) {
            let path = directory.join(path.replace('*', &part.to_string()));
            assert!(path.exists(), "{name}: {} is not there", path.display());
            let place = machine.workshop.path(&format!("kept/{}", kept.len()));
            fs::create_dir_all(&place).expect("a directory");
            let place = place.join(path.file_name().expect("a name"));
            fs::rename(&path, &place).expect("an artifact");
            kept.push(place);
        }
        fs::rename(directory.join(&cached), &cache).expect("a cache");
    }
}

/// What VS Code's `$gcc` matcher reads: the place, `error:` or `warning:`, and the message.
#[test]
fn the_short_format_matches_the_problem_matcher_of_vs_code() {
    let workshop = Workshop::new();
    copy(&root().join("docs/example"), &workshop.path("project"), true);
    let task: serde_json::Value = serde_json::from_str(&blocks("docs/ci.md", "json")[0]).expect("JSON");
    let task = &task["tasks"][0];
    assert_eq!(task["problemMatcher"]["base"], "$gcc");
    let words = task["args"].as_array().expect("arguments").iter().map(|word| word.as_str().expect("text"));
    let words: Vec<String> = words.map(|word| word.replace("${file}", "queue_test.c")).collect();
    let mut hunt = Command::new(tool::path());
    let ended =
        hunt.args(&words).args(["--runs", "60"]).current_dir(workshop.path("project")).output().expect("a hunt");
    let out = String::from_utf8_lossy(&ended.stdout);
    let problems: Vec<(&str, u32, u32, &str)> = out.lines().filter_map(gcc).collect();
    let finding = problems.iter().find(|(file, ..)| *file == "queue_test.c");
    let &(_, line, column, message) = finding.unwrap_or_else(|| panic!("{out}"));
    assert!(line > 10 && column > 0 && message.starts_with("data race on `q->count`"), "{out}");
}

/// `^(.*?):(\d+):(\d*):?\s+(?:fatal\s+)?(warning|error):\s+(.*)$`, as in VS Code.
fn gcc(line: &str) -> Option<(&str, u32, u32, &str)> {
    let (file, rest) = line.split_once(':')?;
    let (number, rest) = rest.split_once(':')?;
    let (column, rest) = rest.split_once(": ")?;
    let message = rest.strip_prefix("error: ").or_else(|| rest.strip_prefix("warning: "))?;
    Some((file, number.parse().ok()?, column.parse().ok()?, message))
}

/// The installed module, in the project that the document shows.
#[test]
fn the_module_for_cmake_adds_hunts_to_ctest() {
    let workshop = Workshop::new();
    copy(&root().join("docs/example"), &workshop.path("."), true);
    let listed = fs::read_to_string(workshop.path("CMakeLists.txt")).expect("a file");
    assert_eq!(blocks("docs/build-systems.md", "cmake"), std::slice::from_ref(&listed));
    // A suite, a correct program, and options.
    let more = "add_executable(fixed fixed.c)\ntarget_link_libraries(fixed Threads::Threads)\n\
        racehunter_add_test(NAME fixed.races COMMAND fixed RUNS 50 JOBS 2 OPTIONS --analysis context-bound)\n\
        racehunter_add_test(NAME suite COMMAND queue_test SUITE RUNS 50)\n";
    workshop.write("CMakeLists.txt", &format!("{}{more}", listed.replace("TIME 60s", "RUNS 50")));
    fs::copy(root().join("targets/data-race/lost_update.fixed.c"), workshop.path("fixed.c")).expect("copied");
    workshop.shell("cmake -S . -B build -DCMAKE_C_COMPILER=racehunter-cc && cmake --build build");
    let ended = workshop.shell("ctest --test-dir build -j2 --output-on-failure || test $? = 8");
    let line =
        |name: &str| ended.stdout.lines().find(|line| line.contains(name) && line.contains("Test ")).expect("a line");
    assert!(line("queue.races").contains("Failed") && line("suite").contains("Failed"), "{}", ended.stdout);
    assert!(line("fixed.races").contains("Passed"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("queue_test.c:") && ended.stdout.contains("data race on `q->count`"),
        "{}",
        ended.stdout
    );
    assert!(workshop.shell("racehunter list --out build/.racehunter").stdout.contains("data-race"));

    // With another compiler nothing is hunted, and the output says so.
    let ended = workshop.shell("cmake -S . -B plain && cmake --build plain && ctest --test-dir plain");
    assert!(ended.stdout.contains("its tests are disabled here"), "{}", ended.stdout);
    assert_eq!(ended.stdout.matches("Not Run (Disabled)").count(), 3, "{}", ended.stdout);
}

/// The same for Meson.
#[test]
fn the_recipe_for_meson_works() {
    let workshop = Workshop::new();
    copy(&root().join("docs/example"), &workshop.path("."), true);
    let listed = fs::read_to_string(workshop.path("meson.build")).expect("a file");
    assert_eq!(blocks("docs/build-systems.md", "meson"), [listed]);
    let ended = workshop.shell(
        "export RACEHUNTER_RUNS=50\nCC=racehunter-cc CXX=racehunter-c++ meson setup build-races && ! meson test -C build-races",
    );
    assert!(ended.stdout.contains("FAIL") && ended.stdout.contains("exit status 1"), "{}", ended.stdout);
    let log = fs::read_to_string(workshop.path("build-races/meson-logs/testlog.txt")).expect("a log");
    assert!(log.contains("data race on `q->count`"), "{log}");
}
