//! Threads that stay, and lend themselves to one borrowed job at a time.
//!
//! A minibatch of 24 sentences takes a fraction of a millisecond, so threads cannot be started for
//! each; and the job borrows the batch, which safe Rust does not let a thread that lives on have.
//! `std::thread::scope` starts threads, thread pools with scopes allocate and queue every job. Hence
//! the hand-over below, the only `unsafe` of this crate.
//!
//! *Why it is sound.* Another worker touches the call's address only between seeing the new `turn`
//! and lowering `left`. [`Crew::run`] can leave neither by return nor by panic before `left` is 0:
//! its own share runs under `catch_unwind` and nothing else in it panics. The next address is
//! written only while `busy` is held, that is after that. The last worker wakes the caller through a
//! handle that it copied before it lowered `left`.
//!
//! Who waits spins for a moment and then sleeps, workers as well as the caller: on a machine that has
//! other things to do the core that spins may be the one that the awaited thread needs.

#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};

use seqoia_core::{Error, Result};

/// Locks, whoever panicked while holding it: jobs report their panics themselves.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called with the number of the worker, 0 for the caller itself.
type Job<'a> = &'a (dyn Fn(usize) + Sync);

/// A job, and whom to wake when it is done.
struct Call<'a> {
    job: Job<'a>,
    caller: Thread,
}

struct Shared {
    call: AtomicPtr<()>, // address of a `Call`, valid while `left` > 0
    turn: AtomicUsize,   // counts calls
    left: AtomicUsize,   // others that have not finished this one
    quit: AtomicBool,
    broke: Mutex<Option<String>>,
    spins: usize,
}

/// A number of workers; the thread that calls [`Crew::run`] is one of them.
pub struct Crew {
    shared: Arc<Shared>,
    others: Vec<JoinHandle<()>>,
    busy: AtomicBool,
}

/// Pauses before who waits goes to sleep: 10 to 50 microseconds, as a pause takes from 5 to 25
/// nanoseconds, and so about what a wake-up costs. None if there are more workers than cores, where
/// spinning takes time from who works.
const SPINS: usize = 2_000;

impl Crew {
    /// `threads` workers in all; at least one.
    pub fn new(threads: usize) -> Crew {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            call: AtomicPtr::new(std::ptr::null_mut()),
            turn: AtomicUsize::new(0),
            left: AtomicUsize::new(0),
            quit: AtomicBool::new(false),
            broke: Mutex::new(None),
            spins: if threads > cores { 0 } else { SPINS },
        });
        let mut crew = Crew { shared, others: vec![], busy: AtomicBool::new(false) };
        for number in 1..threads {
            let shared = Arc::clone(&crew.shared);
            let thread = std::thread::Builder::new().name(format!("seqoia-{number}"));
            let handle = thread.spawn(move || shared.work(number));
            // Fewer threads than asked for give the same results.
            let Ok(handle) = handle else { break };
            crew.others.push(handle);
        }
        crew
    }

    /// Number of workers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.others.len() + 1
    }

    /// Never: the caller is one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Calls `job` on every worker and waits for all. If the crew is busy (a job that starts a job,
    /// two owners), the caller works alone, which is why jobs are queues.
    ///
    /// # Errors
    /// When a worker panics; the crew lives on.
    pub fn run(&self, job: Job<'_>) -> Result<()> {
        if self.others.is_empty() || self.busy.swap(true, Ordering::Acquire) {
            return attempt(job, 0).map_or(Ok(()), |what| Err(Error::Worker(what)));
        }
        let s = &*self.shared;
        let call = Call { job, caller: std::thread::current() };
        s.call.store((&raw const call).cast_mut().cast(), Ordering::Relaxed);
        s.left.store(self.others.len(), Ordering::Relaxed);
        s.turn.fetch_add(1, Ordering::Release);
        self.others.iter().for_each(|h| h.thread().unpark());
        let own = attempt(job, 0);
        s.wait(|| s.left.load(Ordering::Acquire) == 0);
        let theirs = lock(&s.broke).take();
        self.busy.store(false, Ordering::Release);
        own.or(theirs).map_or(Ok(()), |what| Err(Error::Worker(what)))
    }
}

impl Shared {
    /// Until `done`, which another thread makes true before it unparks this one.
    fn wait(&self, done: impl Fn() -> bool) {
        for _ in 0..self.spins {
            if done() {
                return;
            }
            std::hint::spin_loop();
        }
        while !done() {
            std::thread::park();
        }
    }

    fn work(&self, number: usize) {
        let mut seen = 0;
        loop {
            self.wait(|| self.turn.load(Ordering::Acquire) != seen);
            seen = seen.wrapping_add(1);
            if self.quit.load(Ordering::Relaxed) {
                return;
            }
            // SAFETY: `turn` has changed, so `run` has stored the address of a call on its stack and
            // waits until `left`, which counts this worker, is 0; see the head of the file.
            let call = unsafe { &*self.call.load(Ordering::Relaxed).cast::<Call<'_>>() };
            if let Some(what) = attempt(call.job, number) {
                lock(&self.broke).get_or_insert(what);
            }
            let caller = call.caller.clone();
            if self.left.fetch_sub(1, Ordering::Release) == 1 {
                caller.unpark();
            }
        }
    }
}

/// Runs a share of the job; what it said if it panicked.
fn attempt(job: Job<'_>, number: usize) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(|| job(number))).err()?;
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    Some(text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned()))
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.quit.store(true, Ordering::Relaxed);
        self.shared.turn.fetch_add(1, Ordering::Release);
        for handle in self.others.drain(..) {
            handle.thread().unpark();
            drop(handle.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn borrowed_data_is_worked_on_by_all_over_many_turns() {
        for threads in [1, 2, 3, 8] {
            let crew = Crew::new(threads);
            for turn in 0..if cfg!(miri) { 5 } else { 300 } {
                let items: Vec<u64> = (0..100 + turn).collect();
                let (next, sum) = (AtomicUsize::new(0), AtomicU64::new(0));
                crew.run(&|_| {
                    while let Some(x) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                        sum.fetch_add(*x, Ordering::Relaxed);
                    }
                })
                .unwrap();
                assert_eq!(sum.into_inner(), items.iter().sum::<u64>());
            }
        }
    }

    #[test]
    fn a_panic_on_any_worker_comes_back_and_the_crew_lives_on() {
        let crew = Crew::new(3);
        for bad in 0..3 {
            let calls = AtomicUsize::new(0);
            let error = crew.run(&|number| {
                calls.fetch_add(1, Ordering::Relaxed);
                assert!(number != bad, "worker {bad} breaks");
            });
            assert_eq!(error, Err(Error::Worker(format!("worker {bad} breaks"))));
            assert_eq!(calls.into_inner(), 3);
        }
        assert_eq!(crew.run(&|_| ()), Ok(()));
    }

    #[test]
    fn a_job_that_starts_a_job_works_alone() {
        let crew = Crew::new(3);
        let calls = AtomicUsize::new(0);
        crew.run(&|number| {
            if number == 0 {
                let inner = |_| {
                    calls.fetch_add(1, Ordering::Relaxed);
                };
                crew.run(&inner).unwrap();
            }
        })
        .unwrap();
        assert_eq!(calls.into_inner(), 1);
    }
}
