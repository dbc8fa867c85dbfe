//! Panics of kernel threads: kept from the terminal, and noted with their source line, which only a hook is told.

use super::error::Place;
use std::cell::RefCell;
use std::panic;
use std::sync::Once;

thread_local! {
    static LAST: RefCell<Option<(String, Place)>> = const { RefCell::new(None) };
}

/// Puts the hook before the process's own, once; it passes on every panic on host threads that are not `emulating`.
pub fn install_hook(emulating: fn() -> bool) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| match info.location() {
            Some(location) if emulating() => {
                let message = info.payload_as_str().unwrap_or("a panic without a message").to_owned();
                LAST.with_borrow_mut(|last| *last = Some((message, location.into())));
            }
            _ => previous(info),
        }));
    });
}

/// The message and place of this host thread's last panic in a kernel.
pub fn take() -> (String, Option<Place>) {
    match LAST.take() {
        Some((message, place)) => (message, Some(place)),
        None => ("a panic".to_owned(), None),
    }
}
