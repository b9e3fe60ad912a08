//! What tokio draws, and what it reads from the clock and the network, is the same in every execution.
#![cfg(test)]

use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

/// Which of two branches `select!` takes that are both ready, again and again.
async fn choices() -> String {
    let mut chosen = String::new();
    for _ in 0..16 {
        tokio::select! {
            () = std::future::ready(()) => chosen.push('a'),
            () = std::future::ready(()) => chosen.push('b'),
        }
    }
    chosen
}

/// What a connection to this machine carries, and where it is.
async fn conversation() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = tokio::spawn(async move {
        TcpStream::connect(address).await.unwrap().write_all(b"hello").await.unwrap();
    });
    let mut said = String::new();
    listener.accept().await.unwrap().0.read_to_string(&mut said).await.unwrap();
    client.await.unwrap();
    format!("{said} at {address}")
}

/// Whichever of the two threads goes first.
#[test]
fn draws_the_same() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let drawn = runtime.block_on(async {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let thread = std::thread::spawn(move || sender.send(7).unwrap());
        let drawn = format!("{} {}", choices().await, receiver.await.unwrap());
        thread.join().unwrap();
        drawn
    });
    println!("{drawn}");
}

#[test]
fn says_what_it_has() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let said = runtime.block_on(async {
        let began = tokio::time::Instant::now();
        tokio::time::sleep(Duration::from_millis(5)).await;
        let slept = began.elapsed();
        format!("{} {slept:?} {}", choices().await, conversation().await)
    });
    panic!("{said}");
}
