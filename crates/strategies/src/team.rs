//! Workers over one structure: who answers, in which order notes come back, how sums are cut.
//!
//! Nothing here depends on the number of threads: notes come in the order of the ids, a sum over all
//! examples is cut into a fixed number of chunks that are added in their order, and a spread adds to
//! each weight in the order of the notes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::worker::{Worker, answer, open, spread_piece};
use crate::{Crew, Cuts, lock};
use seqoia_core::{
    Bench, Error, Look, Note, Order, Question, Random, Report, Result, Row, Shelf, Structure, Team, Weights,
    sum_opened,
};

/// What a team needs beside its structure.
#[derive(Clone)]
pub struct Setup {
    /// The threads.
    pub crew: Arc<Crew>,
    /// Fixes everything random.
    pub seed: u64,
    /// Into how many pieces a sum over all examples is cut: part of the format of a run.
    pub chunks: usize,
    /// Raised when the user wants an end.
    pub stop: Arc<AtomicBool>,
    /// Examples are cut into pieces of so many tokens: see [`Cuts`].
    pub cut: Option<usize>,
}

impl Setup {
    /// The usual number of pieces of a sum over examples of this size in all: 50,000 tokens a piece,
    /// so that the work on its own gradient does not count, and never fewer than four cores can share.
    #[must_use]
    pub fn chunks(size: usize) -> usize {
        (size / 50_000).clamp(4, 64)
    }
}

/// A team of workers over all examples of a structure.
pub struct Workers {
    structure: Arc<dyn Structure>,
    setup: Setup,
    cuts: Option<Cuts>, // the examples of the team are their pieces
    batch: usize,       // steps per `learn`
    workers: Vec<Mutex<Worker>>,
    pass: u64,
    order: Order,
    streams: BTreeMap<&'static str, Random>,
    report: Report,
}

fn get<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Workers {
    /// Opens a lane for each thread of the crew. `batch` steps go into a call of `learn`.
    ///
    /// # Errors
    /// When a lane cannot be opened.
    pub fn new(structure: Arc<dyn Structure>, setup: Setup, batch: usize) -> Result<Workers> {
        let workers = (0..setup.crew.len())
            .map(|number| {
                let lane = Arc::clone(&structure).lane(number)?;
                let offers = structure.offers();
                Ok(Mutex::new(Worker { offers, lane, bench: Bench::default(), gradient: vec![] }))
            })
            .collect::<Result<_>>()?;
        let cuts = setup.cut.map(|length| Cuts::new(&*structure, length)).transpose()?;
        let order = Order::new(0, Random::new(setup.seed, 0, 0, "order"));
        let mut team = Workers {
            structure,
            setup,
            cuts,
            batch,
            workers,
            pass: 0,
            order,
            streams: BTreeMap::new(),
            report: Report::default(),
        };
        team.start(0);
        Ok(team)
    }

    /// A pass begins (0: what comes before the first): order and streams are those of its number.
    pub fn start(&mut self, pass: u64) {
        self.pass = pass;
        if let Some(cuts) = &mut self.cuts {
            cuts.draw(&*self.structure, &mut Random::new(self.setup.seed, pass, 0, "cut"));
        }
        self.order = Order::new(self.examples(), Random::new(self.setup.seed, pass, 0, "order"));
        self.streams.clear();
        self.report = Report::default();
        self.workers.iter_mut().for_each(|w| get(w).lane.renew());
    }

    /// What the pass has seen so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.report.clone()
    }

    /// What the team works on.
    #[must_use]
    pub fn structure(&self) -> &Arc<dyn Structure> {
        &self.structure
    }

    /// Tokens of an example, or of a piece.
    fn size_of(&self, id: usize) -> usize {
        self.cuts.as_ref().map_or_else(|| self.structure.size(id), |cuts| cuts.size(id))
    }

    /// The number by which others know what has this one here.
    fn name_of(&self, id: usize) -> usize {
        self.cuts.as_ref().map_or(id, |cuts| cuts.pieces()[id].id as usize)
    }

    fn not_offered(&self, question: Question) -> Error {
        Error::Mismatch(format!("a {} does not offer {}", self.structure.name(), question.name()))
    }

    /// Cuts ids into `chunks` stretches of about equal size.
    fn cut(&self, ids: &[usize]) -> Vec<std::ops::Range<usize>> {
        let total: usize = ids.iter().map(|&id| self.structure.size(id)).sum();
        let (mut cuts, mut done, mut from) = (vec![], 0, 0);
        for (i, &id) in ids.iter().enumerate() {
            done += self.structure.size(id);
            if done * self.setup.chunks >= total * (cuts.len() + 1) || i + 1 == ids.len() {
                cuts.push(from..i + 1);
                from = i + 1;
            }
        }
        cuts.retain(|c| !c.is_empty());
        cuts
    }

    /// The sum over some pieces, one after another: samples of a calibration.
    fn total_of_pieces(&mut self, ids: &[usize], w: Weights<'_>, g: Option<&mut [f64]>) -> Result<f64> {
        match &g {
            Some(_) => self.report.asked.gradients += ids.len() as u64,
            None => self.report.asked.losses += ids.len() as u64,
        }
        let mut g = g;
        if let Some(g) = &mut g {
            g.fill(0.0);
        }
        let cuts = self.cuts.as_ref();
        let lane = &mut *get(&mut self.workers[0]).lane;
        sum_opened(lane, ids, |lane, id| open(lane, cuts, id), w, g)
    }

    /// Several workers take chunks as they come; each adds its gradient when all chunks before it
    /// have been added, so memory is one gradient a worker and the order of the sum is fixed.
    fn total_in_turns(
        &self,
        ids: &[usize],
        cuts: &[std::ops::Range<usize>],
        w: Weights<'_>,
        g: Option<&mut [f64]>,
    ) -> Result<f64> {
        struct Sum<'g> {
            turn: usize,
            result: Result<f64>,
            g: Option<&'g mut [f64]>,
        }
        let wanted = g.is_some();
        let (sum, changed) = (Mutex::new(Sum { turn: 0, result: Ok(0.0), g }), Condvar::new());
        let next = AtomicUsize::new(0);
        self.setup.crew.run(&|number| {
            let mut worker = lock(&self.workers[number]);
            let Worker { lane, gradient, .. } = &mut *worker;
            let mut ready = or_error(|| {
                lane.prepare(w);
                Ok(0.0)
            });
            loop {
                let chunk = next.fetch_add(1, Ordering::Relaxed);
                let Some(cut) = cuts.get(chunk) else { break };
                let answer = std::mem::replace(&mut ready, Ok(0.0)).and_then(|_| {
                    or_error(|| lane.sum(&ids[cut.clone()], w, wanted.then_some(&mut *gradient)))
                });
                if let Err(Error::Worker(_)) = answer {
                    // A lane that panicked may have left anything behind.
                    gradient.clear();
                    let _ = or_error(|| {
                        *lane = Arc::clone(&self.structure).lane(number)?;
                        lane.prepare(w);
                        Ok(0.0)
                    });
                }
                let mut sum = lock(&sum);
                while sum.turn != chunk {
                    sum = changed.wait(sum).unwrap_or_else(PoisonError::into_inner);
                }
                let answer = match (answer, &mut sum.g) {
                    (Ok(part), Some(g)) => or_error(|| {
                        lane.collect(gradient, g);
                        Ok(part)
                    }),
                    (answer, _) => answer,
                };
                match (&mut sum.result, answer) {
                    (Ok(total), Ok(part)) => *total += part,
                    (result @ Ok(_), Err(e)) => *result = Err(e),
                    (Err(_), _) => (),
                }
                sum.turn += 1;
                drop(sum);
                changed.notify_all();
            }
        })?;
        sum.into_inner().unwrap_or_else(PoisonError::into_inner).result
    }
}

impl Team for Workers {
    fn examples(&self) -> usize {
        self.cuts.as_ref().map_or_else(|| self.structure.examples(), |cuts| cuts.pieces().len())
    }

    fn size(&self) -> usize {
        (0..self.structure.examples()).map(|id| self.structure.size(id)).sum()
    }

    fn weights(&self) -> usize {
        self.structure.weights()
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn next(&mut self, count: usize, ids: &mut Vec<usize>) {
        self.order.next(count, ids);
    }

    fn random(&mut self, purpose: &'static str) -> &mut Random {
        let (seed, pass) = (self.setup.seed, self.pass);
        self.streams.entry(purpose).or_insert_with(|| Random::new(seed, pass, 0, purpose))
    }

    fn rows(&mut self, ids: &[usize], rows: &mut Vec<Row>) -> Result<()> {
        if !self.structure.offers().contains(&Question::Rows) {
            return Err(self.not_offered(Question::Rows));
        }
        let lane = &mut get(&mut self.workers[0]).lane;
        for &id in ids {
            open(&mut **lane, self.cuts.as_ref(), id)?;
            lane.rows(rows);
        }
        Ok(())
    }

    fn ask(&mut self, ids: &[usize], look: &Look<'_>, notes: &mut Vec<Note>) -> Result<()> {
        notes.truncate(ids.len());
        notes.resize_with(ids.len(), Note::default);
        let cuts = self.cuts.as_ref();
        if ids.len() == 1 || self.workers.len() == 1 {
            let worker = get(&mut self.workers[0]);
            for (&id, note) in ids.iter().zip(notes.iter_mut()) {
                answer(worker, cuts, id, look, note)?;
            }
        } else if self.structure.sticky() {
            // Slot i belongs to lane i mod lanes, whoever calls it: lanes keep state.
            let lanes = self.workers.len();
            let slots: Vec<Mutex<&mut Note>> = notes.iter_mut().map(Mutex::new).collect();
            let (next, broke) = (AtomicUsize::new(0), Mutex::new(None));
            self.setup.crew.run(&|_| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(worker) = self.workers.get(number) else { break };
                    let mut worker = lock(worker);
                    for slot in (number..ids.len()).step_by(lanes) {
                        if let Err(e) = answer(&mut worker, cuts, ids[slot], look, &mut lock(&slots[slot])) {
                            first_error(&broke, slot, e);
                            break;
                        }
                    }
                }
            })?;
            told(broke)?;
        } else {
            // The largest first, so that nobody waits long for the last one.
            let mut slots: Vec<_> = notes.iter_mut().enumerate().collect();
            slots.sort_by_key(|(i, _)| std::cmp::Reverse(self.size_of(ids[*i])));
            let (queue, broke) = (Mutex::new(slots.into_iter()), Mutex::new(None));
            let take = || lock(&queue).next();
            self.setup.crew.run(&|number| {
                let mut worker = lock(&self.workers[number]);
                while let Some((slot, note)) = take() {
                    if let Err(e) = answer(&mut worker, cuts, ids[slot], look, note) {
                        first_error(&broke, slot, e);
                    }
                }
            })?;
            told(broke)?;
        }
        for note in notes.iter() {
            if !note.loss.is_finite() {
                let what = format!("its loss is {}; a smaller rate or a stronger penalty helps", note.loss);
                return Err(Error::NotFinite { id: self.name_of(note.id), what });
            }
            self.report.examples += 1;
            self.report.loss += note.loss;
            self.report.wrong += u64::from(note.wrong);
            self.report.asked += note.asked;
        }
        self.structure.settle(notes);
        Ok(())
    }

    fn spread(&mut self, notes: &[Note], step: f64, to: &mut [f64]) -> Result<()> {
        if notes.len() == 1 || self.workers.len() == 1 {
            return spread_piece(get(&mut self.workers[0]), self.cuts.as_ref(), notes, step, 0, to);
        }
        // Each worker has a stretch of the weights to itself. Cutting them by work instead of by number was tried
        // and gained nothing.
        let length = to.len().div_ceil(self.workers.len()).max(1);
        let pieces: Vec<_> =
            to.chunks_mut(length).enumerate().map(|(i, piece)| (i * length, piece)).collect();
        let (queue, broke) = (Mutex::new(pieces.into_iter()), Mutex::new(None));
        let take = || lock(&queue).next();
        self.setup.crew.run(&|number| {
            let mut worker = lock(&self.workers[number]);
            while let Some((at, piece)) = take() {
                if let Err(e) = spread_piece(&mut worker, self.cuts.as_ref(), notes, step, at, piece) {
                    first_error(&broke, at, e);
                }
            }
        })?;
        told(broke)
    }

    fn total(&mut self, ids: Option<&[usize]>, w: Weights<'_>, g: Option<&mut [f64]>) -> Result<f64> {
        let all: Vec<usize>;
        let ids = match ids {
            Some(ids) if self.cuts.is_some() => return self.total_of_pieces(ids, w, g),
            Some(ids) => ids,
            None => {
                all = (0..self.structure.examples()).collect(); // whole, if they are cut, too
                &all
            }
        };
        let cuts = self.cut(ids);
        match &g {
            Some(_) => self.report.asked.gradients += ids.len() as u64,
            None => self.report.asked.losses += ids.len() as u64,
        }
        let mut g = g;
        if let Some(g) = &mut g {
            g.fill(0.0);
        }
        if self.workers.len() > 1 && cuts.len() > 1 {
            return self.total_in_turns(ids, &cuts, w, g);
        }
        let Worker { lane, gradient, .. } = get(&mut self.workers[0]);
        lane.prepare(w);
        let mut total = 0.0;
        for cut in cuts {
            match &mut g {
                None => total += lane.sum(&ids[cut], w, None)?,
                Some(g) => {
                    total += lane.sum(&ids[cut], w, Some(gradient))?;
                    lane.collect(gradient, g);
                }
            }
        }
        Ok(total)
    }

    fn noise(&self) -> f64 {
        self.structure.noise()
    }

    fn run(&mut self, job: &(dyn Fn() + Sync)) -> Result<()> {
        self.setup.crew.run(&|_| job())
    }

    fn shelf(&mut self, length: usize) -> Result<Option<Arc<dyn Shelf>>> {
        self.structure.shelf(length)
    }

    fn stopping(&self) -> bool {
        self.setup.stop.load(Ordering::Relaxed)
    }
}

/// A panic must not leave the others waiting for a turn: it becomes an error.
fn or_error(job: impl FnOnce() -> Result<f64>) -> Result<f64> {
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
    answer.unwrap_or_else(|_| Err(Error::Worker("a sum panicked".to_owned())))
}

/// Keeps the error of the lowest slot: the one that a single worker would have met first.
fn first_error(broke: &Mutex<Option<(usize, Error)>>, slot: usize, error: Error) {
    let mut broke = lock(broke);
    if broke.as_ref().is_none_or(|(s, _)| slot < *s) {
        *broke = Some((slot, error));
    }
}

fn told(broke: Mutex<Option<(usize, Error)>>) -> Result<()> {
    match broke.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, e)) => Err(e),
        None => Ok(()),
    }
}
