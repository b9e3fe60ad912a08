//! `racehunter hunt ./server --with CLIENT`: a client for each execution, started when the program listens.

use racehunter_e2e::{Ended, Workshop, racehunter, root};
use std::path::PathBuf;

/// Two simultaneous connections. Each sends a line and waits for its answer; the answers differ if nothing was lost.
const CLIENT: &str = "#!/bin/bash
cd / # Nothing depends on where it runs.
port=${RACEHUNTER_PORT:?}
exec 3<>/dev/tcp/127.0.0.1/$port 4<>/dev/tcp/127.0.0.1/$port
echo count >&3
echo count >&4
read -r first <&3
read -r second <&4
case $1 in
    check) test \"$first\" != \"$second\" || { echo \"both got $first\"; exit 3; } ;;
    quit) echo quit >&3 ;;
    fail) exit 9 ;;
esac
exit 0
";

fn workshop(flag: &str) -> (Workshop, PathBuf) {
    let workshop = Workshop::new();
    let source = root().join("docs/example/counting_server.c").display().to_string();
    let _ = workshop.cc(["-g", "-O1", "-pthread", flag, &source, "-o", "server"]).expect(0);
    let client = workshop.write("client.sh", CLIENT);
    std::fs::set_permissions(&client, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    let server = workshop.path("server");
    (workshop, server)
}

fn there(workshop: &Workshop, words: &[&str]) -> Ended {
    workshop.run(racehunter(words.iter().copied()).current_dir(workshop.path("")).env("COLUMNS", "200"))
}

#[test]
fn a_race_of_a_server_is_found_with_its_client() {
    let (workshop, _) = workshop("-DPLANTED");
    let hunt = ["hunt", "./server", "--with", "./client.sh", "--runs", "60", "--quiet", "--color", "never"];
    let ended = there(&workshop, &hunt).expect(1);
    assert!(ended.stdout.contains("error[data-race]: data race on `total`"), "{}", ended.stdout);
    // The client is not under control, so nothing is claimed.
    assert!(ended.stdout.contains("the client is started at ") && !ended.stdout.contains("Proved"), "{}", ended.stdout);
    // The stored finding includes its client: a replay needs nothing else, from any directory.
    let id =
        ended.stdout.split("racehunter replay ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("an id");
    let out = workshop.out().with_file_name(".racehunter").display().to_string();
    let replayed = workshop.run(racehunter(["replay", id, "--out", &out]).current_dir("/"));
    assert!(replayed.expect(0).stdout.contains("replayed 5/5"));
}

/// Nothing is found, and nothing is proved either: another client might do other things.
#[test]
fn a_correct_server_is_explored_and_never_proved() {
    let (workshop, _) = workshop("-DFIXED");
    let hunt =
        ["hunt", "./server", "--with", "./client.sh check", "--analysis", "context-bound", "--bound", "1", "--quiet"];
    let ended = there(&workshop, &[&hunt[..], &["--runs", "100", "--", "0"]].concat()).expect(0);
    assert!(ended.stdout.contains("Explored") && !ended.stdout.contains("Proved"), "{}", ended.stdout);
    let complete = [&hunt[..], &["--runs", "100", "--require-complete"]].concat();
    let _ = there(&workshop, &complete).expect(3);
}

/// The client sees the lost update, which is not a race.
#[test]
fn a_client_that_fails_is_a_finding() {
    let (workshop, _) = workshop("-DATOMIC");
    let hunt = |client: &str, more: &[&str]| {
        let words = ["hunt", "./server", "--with", client, "--quiet", "--color", "never"];
        there(&workshop, &[&words[..], more].concat())
    };
    let ended = hunt("./client.sh check", &["--runs", "300", "--stop-on-first"]).expect(1);
    assert!(ended.stdout.contains("error[exit-status]: the client fails with status 3"), "{}", ended.stdout);
    assert!(ended.stdout.contains("it wrote: both got 1"), "{}", ended.stdout);
    // A client that fails in every schedule fails without a preemption.
    let ended = hunt("./client.sh fail", &["--runs", "5"]).expect(1);
    assert!(ended.stdout.contains("the client fails with status 9"), "{}", ended.stdout);
    // A client that cannot be started leaves nothing to explore, and the message says so.
    let _ =
        hunt("./nowhere.sh", &["--runs", "5"]).expect(4).says("or its client, ended with status 127").says("not found");
}

/// A server that ends on its own, a program that never listens, and options that cannot be combined.
#[test]
fn servers_may_end_and_programs_may_never_listen() {
    let (workshop, _) = workshop("-DFIXED");
    let _ = there(&workshop, &["hunt", "./server", "--with", "./client.sh quit", "--runs", "20", "--quiet"]).expect(0);
    let source = "#include <pthread.h>\nstatic void *f(void *p) { return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return pthread_join(t, 0); }\n";
    workshop.write("deaf.c", source);
    let deaf = there(&workshop, &["hunt", "deaf.c", "--with", "./client.sh", "--runs", "20", "--quiet"]).expect(3);
    assert!(deaf.stdout.contains("was never started: the program does not listen"), "{}", deaf.stdout);
    let _ = there(&workshop, &["hunt", "./server", "--with", "true", "--free-running"])
        .expect(2)
        .says("cannot be used with");
}
