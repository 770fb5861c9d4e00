//! A clock that a host provides.

use std::{
    ops::{Add, Sub},
    sync::OnceLock,
    time::Duration,
};

static CLOCK: OnceLock<fn() -> f64> = OnceLock::new();

/// Installs the clock of the host, which returns milliseconds from any beginning. The first clock that
/// is installed stays.
pub fn install(clock: fn() -> f64) {
    let _ = CLOCK.set(clock);
}

/// A moment of the host's clock: that of the standard library, as far as it is used. Without an
/// installed clock all moments are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Instant(Duration);

impl Instant {
    /// Returns the present moment.
    pub fn now() -> Instant {
        let milliseconds = CLOCK.get().map_or(0.0, |clock| clock());
        // A host that returns no time at all stops the clock.
        Instant(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default())
    }

    /// Returns the time since this moment, zero if it is in the future.
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(*self)
    }

    /// Returns the time from an earlier moment to this one, zero if it is later.
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the time from an earlier moment to this one, zero if it is later.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// Returns the moment after a time, `None` where it is too far away.
    pub fn checked_add(&self, time: Duration) -> Option<Instant> {
        self.0.checked_add(time).map(Instant)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, time: Duration) -> Instant {
        Instant(self.0.saturating_add(time))
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    static NOW: AtomicU32 = AtomicU32::new(1500);

    #[test]
    fn time_is_that_of_the_host() {
        let before = Instant::now();
        install(|| f64::from(NOW.load(Ordering::Relaxed)));
        let start = Instant::now();
        assert_eq!(start - before, Duration::from_millis(1500));
        NOW.store(1750, Ordering::Relaxed);
        assert_eq!(start.elapsed(), Duration::from_millis(250));
        assert_eq!(before.saturating_duration_since(start), Duration::ZERO);
        assert_eq!(start.checked_add(Duration::MAX), None);
        assert!(start + Duration::MAX > Instant::now());
        install(|| -1.0);
        assert_eq!(Instant::now().duration_since(start), Duration::from_millis(250));
    }
}
