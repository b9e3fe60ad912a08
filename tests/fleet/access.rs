//! Getting into an engine: encryption, credentials, room; and what is said when that does not work.

use super::{DEPENDS, EXHAUSTIVE, essence, target};
use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use racehunter_e2e::nats::{Server, end};
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Ended, Started, Workshop, racehunter, run};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

fn hunt_at(url: &str, options: &[&str]) -> Ended {
    let program = target("assertion/bank_transfer.fixed.cpp");
    let words = [&EXHAUSTIVE[..], &["--engine", url], options].concat();
    Workshop::new().hunt(&program, &words).ended
}

fn status_at(url: &str, options: &[&str]) -> Ended {
    run(racehunter(["status", "--engine", url]).args(options))
}

#[test]
fn an_engine_that_cannot_be_used_is_named() {
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("nats://127.0.0.1:{unused}");
    // Without this option, a server that is just being started is waited for.
    let now = ["--engine-patience", "0s"];
    hunt_at(&url, &now).expect(2).says("cannot reach the engine").says("nats-server -js");
    run(racehunter(["worker", "--engine", &url]).args(now)).expect(2).says("cannot reach the engine");
    status_at(&url, &now).expect(2).says("cannot reach the engine");
    let plain = Server::with("# no jetstream\n");
    hunt_at(&plain.url(), &[]).expect(2).says("has no JetStream").says("nats-server -js -sd");
    run(&mut racehunter(["worker", "--engine", &plain.url()])).expect(2).says("has no JetStream");
}

#[test]
fn a_server_that_is_being_started_is_waited_for() {
    let mut server = Server::new();
    server.kill();
    let status = Started::new(&mut racehunter(["status", "--engine", &server.url()]));
    std::thread::sleep(std::time::Duration::from_millis(300));
    server.start();
    assert_eq!(status.finish().expect(0).stdout, "no hunts\n0 workers\n");
}

#[test]
fn user_and_password_are_part_of_the_address_and_not_shown() {
    let closed = Server::with("authorization { user: ada, password: secret }");
    hunt_at(&closed.url(), &[]).expect(2).says("refuses these credentials").says("--engine-creds");
    let wrong = hunt_at(&format!("nats://ada:guess@127.0.0.1:{}", closed.port), &[]).expect(2);
    assert!(wrong.stderr.contains("refuses these credentials") && !wrong.stderr.contains("guess"), "{}", wrong.stderr);
    let open = format!("nats://ada:secret@127.0.0.1:{}", closed.port);
    assert_eq!(status_at(&open, &[]).expect(0).stdout, "no hunts\n0 workers\n");
    hunt_at(&open, &["--resume"]).expect(2).says("no unfinished hunt");
    let worker = run(&mut racehunter(["worker", "--engine", &open, "--until-idle", "0s"])).expect(0);
    assert!(worker.stderr.contains("127.0.0.1") && !worker.stderr.contains("secret"), "{}", worker.stderr);
}

/// An authority that issues certificates.
struct Authority(Workshop);

const KEY: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

impl Authority {
    fn new() -> Self {
        let authority = Self(Workshop::new());
        let own = ["req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2"];
        authority.openssl(&[&own[..], &KEY].concat());
        authority
    }

    fn openssl(&self, words: &[&str]) {
        self.0.run(std::process::Command::new("openssl").args(words)).expect(0);
    }

    /// Returns a certificate for this machine, and its key.
    fn issue(&self, name: &str) -> (String, String) {
        let [key, request, certificate] = ["key", "csr", "pem"].map(|kind| format!("{name}.{kind}"));
        let subject = format!("/CN={name}");
        self.openssl(&[&["req", "-keyout", &key, "-out", &request, "-subj", &subject][..], &KEY].concat());
        self.0.write("names", "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
        let sign = ["x509", "-req", "-in", &request, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
        self.openssl(&[&sign[..], &["-days", "2", "-extfile", "names", "-out", &certificate]].concat());
        (text(&self.0.path(&certificate)), text(&self.0.path(&key)))
    }

    fn certificate(&self) -> String {
        text(&self.0.path("ca.pem"))
    }
}

#[test]
fn an_encrypted_engine_is_used_with_its_authority_and_refused_without() {
    let authority = Authority::new();
    let ((certificate, key), ca) = (authority.issue("server"), authority.certificate());
    let server = Server::with(&format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\" }}"));
    let url = format!("tls://127.0.0.1:{}", server.port);
    status_at(&url, &[]).expect(2).says("no encrypted connection to the engine").says("--engine-ca");
    let other = Authority::new().certificate();
    status_at(&url, &["--engine-ca", &other]).expect(2).says("no encrypted connection to the engine");
    status_at(&url, &["--engine-ca", &ca]).expect(0);
    // A whole hunt.
    let options = ["--engine-ca", &ca, "--part-runs", "16"];
    let worker = Started::new(&mut racehunter(["worker", "--engine", &url, "--name", "w", "--engine-ca", &ca]));
    let program = target("assertion/bank_transfer.fixed.cpp");
    let many = Workshop::new().hunt(&program, &[&EXHAUSTIVE[..], &["--engine", &url], &options].concat()).expect(0);
    assert_eq!(essence(&many), essence(&Workshop::new().hunt(&program, &EXHAUSTIVE).expect(0)));
    end(vec![worker]);
    // A server without encryption is not used by accident.
    let plain = Server::new();
    let url = format!("tls://127.0.0.1:{}", plain.port);
    status_at(&url, &["--engine-ca", &ca]).expect(2).says("no encrypted connection to the engine");
}

#[test]
fn an_engine_that_asks_for_a_certificate_gets_one() {
    let authority = Authority::new();
    let ((certificate, key), ca) = (authority.issue("server"), authority.certificate());
    let verify = format!("cert_file: \"{certificate}\", key_file: \"{key}\", ca_file: \"{ca}\", verify: true");
    let server = Server::with(&format!("tls {{ {verify} }}"));
    let url = format!("tls://127.0.0.1:{}", server.port);
    status_at(&url, &["--engine-ca", &ca]).expect(2).says("the engine at tls://127.0.0.1");
    let (own, key) = authority.issue("client");
    status_at(&url, &["--engine-ca", &ca, "--engine-cert", &own, "--engine-key", &key]).expect(0);
    let (foreign, key) = Authority::new().issue("client");
    let words = ["--engine-ca", &ca, "--engine-cert", &foreign, "--engine-key", &key];
    status_at(&url, &words).expect(2).says("the engine at tls://127.0.0.1");
}

/// What `nsc` would write: a statement of `issuer` about `subject`.
fn token(issuer: &KeyPair, subject: &KeyPair, name: &str, nats: Value) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let claims = json!({
        "jti": name, "iat": now, "iss": issuer.public_key(), "name": name, "sub": subject.public_key(), "nats": nats,
    });
    let encode = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let signed = format!("{}.{}", encode(json!({"typ": "JWT", "alg": "ed25519-nkey"})), encode(claims));
    let signature = issuer.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
}

/// An account that may do everything.
fn account(operator: &KeyPair, account: &KeyPair, name: &str) -> String {
    let limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1,
        "mem_storage": if name == "SYS" { 0 } else { -1 }, "disk_storage": if name == "SYS" { 0 } else { -1 },
        "streams": if name == "SYS" { 0 } else { -1 }, "consumer": if name == "SYS" { 0 } else { -1 },
    });
    token(operator, account, name, json!({"type": "account", "version": 2, "limits": limits}))
}

/// The credentials of a user, as `nsc` writes them.
fn credentials(workshop: &Workshop, account: &KeyPair, name: &str) -> PathBuf {
    let user = KeyPair::new_user();
    let claims = json!({"type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1});
    let (token, seed) = (token(account, &user, name, claims), user.seed().unwrap());
    let token = format!("-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n");
    let seed = format!("-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n");
    workshop.write(&format!("{name}.creds"), &format!("{token}\n{seed}"))
}

#[test]
fn credentials_of_an_account_open_the_engine_and_others_do_not() {
    let workshop = Workshop::new();
    let (operator, system, hunters, strangers) =
        (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account(), KeyPair::new_account());
    let own = token(&operator, &operator, "operator", json!({"type": "operator", "version": 2}));
    let accounts = [(&system, "SYS"), (&hunters, "HUNTERS")]
        .map(|(key, name)| format!("{}: \"{}\"", key.public_key(), account(&operator, key, name)))
        .join(", ");
    let server = Server::with(&format!(
        "operator: \"{own}\"\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{ {accounts} }}",
        system.public_key()
    ));
    let url = server.url();
    let mine = text(&credentials(&workshop, &hunters, "ada"));
    let foreign = text(&credentials(&workshop, &strangers, "eve"));
    status_at(&url, &[]).expect(2).says("refuses these credentials").says("--engine-creds");
    status_at(&url, &["--engine-creds", &foreign]).expect(2).says("refuses these credentials");
    status_at(&url, &["--engine-creds", "missing.creds"]).expect(2).says("`missing.creds` cannot be used");
    let damaged = text(&workshop.write("damaged.creds", "nothing\n"));
    status_at(&url, &["--engine-creds", &damaged]).expect(2).says("cannot be used");
    // A whole hunt with a worker of the same account.
    let worker = Started::new(&mut racehunter(["worker", "--engine", &url, "--name", "w", "--engine-creds", &mine]));
    let program = target("assertion/bank_transfer.fixed.cpp");
    let options = ["--engine", &url, "--engine-creds", &mine, "--part-runs", "16"];
    let many = Workshop::new().hunt(&program, &[&EXHAUSTIVE[..], &options].concat()).expect(0);
    assert_eq!(essence(&many), essence(&Workshop::new().hunt(&program, &EXHAUSTIVE).expect(0)));
    end(vec![worker]);
}

#[test]
fn the_seed_of_an_nkey_opens_the_engine() {
    let workshop = Workshop::new();
    let (user, stranger) = (KeyPair::new_user(), KeyPair::new_user());
    let server = Server::with(&format!("authorization {{ users: [ {{ nkey: {} }} ] }}", user.public_key()));
    let file = |name: &str, key: &KeyPair| text(&workshop.write(name, &format!("{}\n", key.seed().unwrap())));
    status_at(&server.url(), &["--engine-creds", &file("user.nk", &user)]).expect(0);
    let wrong = status_at(&server.url(), &["--engine-creds", &file("stranger.nk", &stranger)]);
    wrong.expect(2).says("refuses these credentials");
}

/// The configuration of a server with this much room.
fn room(kilobytes: u64, directory: &str) -> String {
    format!("jetstream {{ store_dir: \"{directory}\", max_file_store: {kilobytes}KB }}")
}

#[test]
fn an_engine_without_room_is_named_and_the_hunt_continues_once_it_has_room() {
    let store = Workshop::new();
    let directory = text(&store.path("store"));
    // Not even the program fits.
    let tiny = Server::with(&room(64, &directory));
    hunt_at(&tiny.url(), &[]).expect(2).says("the engine has no room left").says("max_file_store");
    drop(tiny);

    // The program fits, and the results do not.
    let (workshop, program) = Workshop::with_program(&DEPENDS.replace("? 7 : 6", "? 30 : 29"));
    let one = Workshop::new().hunt(&program, &EXHAUSTIVE).expect(0);
    let size = fs::metadata(&program).unwrap().len() / 1000;
    let directory = text(&store.path("other"));
    let small = Server::with(&room(size + 150, &directory));
    let url = small.url();
    let options = ["--engine", &url, "--part-runs", "4", "--engine-patience", "5s"];
    let worker = small.worker("w", &["--engine-patience", "5s"]);
    let hunt = workshop.hunt(&program, &[&EXHAUSTIVE[..], &options].concat());
    hunt.ended.expect(2).says("the engine has no room left");
    drop(worker);
    drop(small);
    let large = Server::with(&room(1_000_000, &directory));
    let url = large.url();
    let worker = large.worker("w", &[]);
    let options = ["--engine", &url, "--part-runs", "4", "--resume"];
    let many = workshop.hunt(&program, &[&EXHAUSTIVE[..], &options].concat()).expect(0);
    assert_eq!(essence(&many), essence(&one));
    end(vec![worker]);
}
