//! Work on some threads, for as long as it takes: reading has few and large pieces of work, so threads are started
//! for each stretch of it.

use std::cell::Cell;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Calls `work` for each of `jobs`, on at most so many threads, of which the caller is one. Whoever is free takes the
/// next, in order.
pub(crate) fn each<T: Send>(threads: usize, jobs: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    let threads = threads.min(jobs.len());
    if threads < 2 {
        return jobs.iter_mut().enumerate().for_each(|(i, job)| work(i, job));
    }
    let queue = Mutex::new(jobs.iter_mut().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let labour = || {
        while let Some((i, job)) = next() {
            work(i, job);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Fewer threads than asked for give the same result.
            if spawn(scope, labour).is_none() {
                break;
            }
        }
        labour();
    });
}

/// Starts a thread; none if there is no room for one.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).ok()
}

/// What a thread returned; its panic goes on here.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Brings things from one thread to the next in order, at most `ahead` of them on the way, and empty ones back, so that
/// their memory is used again.
pub(crate) fn conveyor<T>(ahead: usize) -> (Giver<T>, Taker<T>) {
    let ((full, to_take), (empty, to_fill)) = (sync_channel(ahead), channel());
    (Giver { full, to_fill, made: Cell::new(1) }, Taker { to_take, empty })
}

/// The end of a [`conveyor`] that things are put on.
pub(crate) struct Giver<T> {
    full: SyncSender<T>,
    to_fill: Receiver<T>,
    made: Cell<usize>,
}

/// The end of a [`conveyor`] that things are taken from.
pub(crate) struct Taker<T> {
    to_take: Receiver<T>,
    empty: Sender<T>,
}

impl<T: Default> Giver<T> {
    /// Hands over, and leaves one in its place to be filled; false if nobody takes any more.
    pub(crate) fn give(&self, thing: &mut T) -> bool {
        let next = self.to_fill.try_recv().unwrap_or_else(|_| {
            self.made.set(self.made.get() + 1);
            T::default()
        });
        self.full.send(std::mem::replace(thing, next)).is_ok()
    }
}

impl<T> Giver<T> {
    /// How many things there are in all: on the way, on the way back, and one in the hands of the giver.
    pub(crate) fn made(&self) -> usize {
        self.made.get()
    }
}

impl<T> Taker<T> {
    /// The next one; none when the giver is gone.
    pub(crate) fn take(&self) -> Option<T> {
        self.to_take.recv().ok()
    }

    /// Sends one back that was used.
    pub(crate) fn give_back(&self, thing: T) {
        let _ = self.empty.send(thing); // nobody may need it any more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_done_once() {
        for threads in [1, 2, 3, 8] {
            let mut jobs = vec![0; 100];
            each(threads, &mut jobs, |i, job| *job += i + 1);
            assert!(jobs.iter().enumerate().all(|(i, job)| *job == i + 1));
            each(threads, &mut [] as &mut [usize], |_, _| unreachable!());
        }
    }

    #[test]
    fn things_arrive_in_order_and_are_used_again() {
        let (give, take) = conveyor(2);
        std::thread::scope(|scope| {
            let taker = spawn(scope, move || {
                let mut met = vec![];
                while let Some(thing) = take.take() {
                    let thing: Vec<usize> = thing;
                    met.extend_from_slice(&thing);
                    take.give_back(vec![]);
                }
                met
            });
            for i in 0..1000 {
                assert!(give.give(&mut vec![i]));
            }
            assert!(give.made() < 100);
            drop(give);
            assert_eq!(joined(taker.unwrap()), Vec::from_iter(0..1000));
        });
    }

    #[test]
    fn a_giver_is_told_when_nobody_takes() {
        let (give, take) = conveyor::<u8>(1);
        drop(take);
        assert!(!give.give(&mut 0));
    }
}
