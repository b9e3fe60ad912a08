//! A library for programs in C.

use std::sync::Mutex;

static mut PLAIN: i64 = 0;
static LOCKED: Mutex<Vec<i64>> = Mutex::new(Vec::new());

#[unsafe(no_mangle)]
pub extern "C" fn plain_add() -> i64 {
    unsafe {
        PLAIN += 1;
        PLAIN
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn locked_add() -> i64 {
    let mut items = LOCKED.lock().unwrap();
    items.push(1);
    items.iter().sum()
}
