//! The program `relay-analyzer`.

use std::process::ExitCode;

use libmimalloc_sys::{mi_option_set, mi_option_t};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of mimalloc 2: the time until freed pages are returned to the system, in
/// milliseconds. The bindings have no name for it.
const PURGE_DELAY: mi_option_t = 15;

fn main() -> ExitCode {
    server::main(return_freed_pages)
}

/// Makes the allocator return freed pages to the system at once. By default it waits for 10 ms, and then for
/// the next allocation: an idle session would keep 10 MiB more.
#[expect(unsafe_code, reason = "a function of C; it stores a number, on any thread")]
fn return_freed_pages() {
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

#[cfg(test)]
mod tests {
    use libmimalloc_sys::mi_option_get;

    #[test]
    #[expect(unsafe_code, reason = "a function of C, without conditions")]
    fn the_option_is_the_purge_delay() {
        assert_eq!(10, unsafe { mi_option_get(super::PURGE_DELAY) });
        super::return_freed_pages();
        assert_eq!(0, unsafe { mi_option_get(super::PURGE_DELAY) });
    }
}
