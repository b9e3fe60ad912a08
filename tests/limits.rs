//! Limits of the system under which a program cannot be hunted: the message names the limit and the option that sets it.

use racehunter_e2e::{Ended, Hunted, Workshop, racehunter, tool};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

const RACE: &str = "#include <pthread.h>
static int count;
static void *work(void *unused) { count++; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    count++;
    return pthread_join(thread, 0);
}
";

/// Hunts the program of a workshop after a command of the shell.
fn hunt_after(workshop: &Workshop, before: &str) -> Ended {
    let line = format!("{before} && exec \"$@\"");
    let mut shell = Command::new("bash");
    let hunt = ["hunt", "--quiet", "--runs", "5", "--message-format", "short", "./program"];
    workshop.run(shell.args(["-c", &line, "bash"]).arg(tool::path()).args(hunt))
}

#[test]
fn limits_are_named_by_the_option_that_sets_them() {
    let (workshop, _) = Workshop::with_program(RACE);
    let _ = hunt_after(&workshop, "true").expect(1);
    let _ = hunt_after(&workshop, "ulimit -s unlimited").expect(2).says("`ulimit -s 8192`");
    let _ = hunt_after(&workshop, "ulimit -n 20").expect(2).says("only 20 files").says("`ulimit -n 256`");
    let _ = hunt_after(&workshop, "ulimit -v 4000000").expect(2).says("`ulimit -v`");
}

/// The limit does not apply to root, so root becomes another user first, if that user can run the command.
#[test]
fn the_limit_of_processes_is_named() {
    let (workshop, program) = Workshop::with_program(RACE);
    let is_root = rustix::process::getuid().is_root();
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let become_user = || {
        let mut command = Command::new(if is_root { "setpriv" } else { "env" });
        command.args(user.iter().filter(|_| is_root));
        command
    };
    for place in [workshop.path("."), program] {
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o777)).expect("permissions");
    }
    if workshop.run(become_user().arg(tool::path()).arg("--version")).status != Some(0) {
        eprintln!("another user cannot run the command: not tested");
        return;
    }
    let line = "ulimit -u 1 && exec \"$@\"";
    let hunt = ["hunt", "--quiet", "--runs", "5", "./program"];
    let mut command = become_user();
    command.args(["bash", "-c", line, "bash"]).arg(tool::path()).args(hunt);
    let _ = workshop.run(&mut command).expect(2).says("`ulimit -u`");
}

#[test]
fn a_filter_of_system_calls_is_named() {
    let (workshop, _) = Workshop::with_program(RACE);
    let hunt = racehunter(["hunt", "--quiet", "--runs", "5", "./program"]);
    let _ = workshop.run(&mut workshop.refusing("SYS_memfd_create", &hunt)).expect(2).says("seccomp");
    // The program itself fails then, and says nothing about the reason.
    let refused = workshop.run(&mut workshop.refusing("SYS_clone3", &hunt)).expect(2);
    let _ = refused.says("created no thread").says("seccomp");
}

/// Some containers have no `/proc`: hunts work without it.
#[test]
fn hunts_work_without_proc() {
    let (workshop, _) = Workshop::with_program(RACE);
    let hide = "mount -t tmpfs none /proc";
    let unshare = ["--user", "--map-root-user", "--mount", "sh", "-c"];
    if workshop.run(Command::new("unshare").args(unshare).arg(hide)).status != Some(0) {
        eprintln!("no namespaces here: not tested");
        return;
    }
    let hunt = workshop.hunt_command(&workshop.path("program"), &["--runs", "20"]);
    let mut command = Command::new("unshare");
    command.args(unshare).arg(format!("{hide} && exec \"$@\"")).arg("sh").arg(hunt.get_program()).args(hunt.get_args());
    let hunted = Hunted::new(workshop.run(&mut command)).expect(1);
    assert!(hunted.findings.iter().all(|finding| finding.confirmed), "{:?}", hunted.overview());
}

#[test]
fn libraries_may_be_in_paths_with_spaces() {
    let workshop = Workshop::new();
    workshop.write("a library/count.c", "int count; void add(void) { count++; }\n");
    let source = "#include <pthread.h>\nvoid add(void);\nstatic void *work(void *unused) { add(); return unused; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); add(); return pthread_join(t, 0); }\n";
    workshop.write("main.c", source);
    workshop.shell(
        "racehunter cc -g -shared -fPIC -Wl,-soname,'lib count.so' 'a library/count.c' -o 'a library/lib count.so'
        racehunter cc -g -pthread main.c 'a library/lib count.so' -Wl,-rpath,\"$PWD/a library\" -o 'the program'",
    );
    let hunted = workshop.hunt(&workshop.path("the program"), &["--runs", "20"]).expect(1);
    assert!(
        hunted.repeatable[0]["message"].as_str().is_some_and(|text| text.contains("`count`")),
        "{:?}",
        hunted.overview()
    );
    let id = &hunted.findings[0].id;
    let _ = workshop.replay(id).expect(0);
}
