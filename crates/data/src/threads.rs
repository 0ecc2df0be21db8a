//! Work on some threads, for as long as it takes: reading has few and large pieces of work, so threads are started
//! for each stretch of it.

use std::sync::Mutex;
use std::sync::PoisonError;

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
            if std::thread::Builder::new().spawn_scoped(scope, labour).is_err() {
                break;
            }
        }
        labour();
    });
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
}
