//! Learners by the book: each against the loop of its paper, dense and in double precision, on a chain of 50 sequences
//! over several passes, so that windows, put-off decay and lazy rows are met; only what is random is drawn alike.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::{real, single};
use seqoia_core::{Case, Note, Random, Row, Search, Structure, Team, Update, Weights};
use seqoia_learners::registry::Objective;
use seqoia_strategies::Workers;
use seqoia_structures::chain::Chain;
use seqoia_testkit::chains::learnable;
use seqoia_testkit::teams::{batches, learner, run, setup, strategy, team};

const N: usize = 50;
const L2: f64 = 0.02;
const PASSES: u64 = 3;
/// The seed of `setup`.
const SEED: u64 = 3;

fn chain() -> Arc<Chain> {
    Arc::new(learnable(N, 77))
}

/// The weights of a learner after all passes.
fn learned(name: &str, given: &[(&str, &str)], penalty: Objective) -> Vec<f64> {
    let (mut learner, mut strategy) =
        (learner(name, given, penalty), strategy("serial", chain(), setup(1), 1));
    strategy.begin(&mut *learner, false).unwrap();
    run(&mut *strategy, &mut *learner, 1..=PASSES);
    learner.weights()
}

fn ridge(name: &str, given: &[(&str, &str)]) -> Vec<f64> {
    learned(name, given, Objective { l1: 0.0, l2: L2 })
}

/// Dense answers about single examples.
struct Book {
    team: Workers,
}

impl Book {
    fn new() -> Book {
        Book { team: team(chain(), 1, 1) }
    }

    fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.team.weights()]
    }

    /// Loss of an example and its gradient.
    fn gradient(&mut self, id: usize, w: &[f64]) -> (f64, Vec<f64>) {
        let mut g = self.zeros();
        let loss = self.team.total(Some(&[id]), Weights::plain(w), Some(&mut g)).unwrap();
        (loss, g)
    }

    fn loss(&mut self, id: usize, w: &[f64]) -> f64 {
        self.team.total(Some(&[id]), Weights::plain(w), None).unwrap()
    }

    /// The mean gradient.
    fn mean(&mut self, w: &[f64]) -> Vec<f64> {
        let mut g = self.zeros();
        self.team.total(None, Weights::plain(w), Some(&mut g)).unwrap();
        g.iter_mut().for_each(|g| *g /= real(N));
        g
    }

    /// The smallest L at or above `l`, by doubling, that is good enough for an example.
    fn search(&mut self, id: usize, w: &[f64], mut l: f64) -> f64 {
        let (loss, g) = self.gradient(id, w);
        let square: f64 = g.iter().map(|g| g * g).sum();
        if square <= 1e-8 {
            return l;
        }
        while self.loss(id, &plus(w, -1.0 / l, &g)) > loss - square / (2.0 * l) {
            l *= 2.0;
        }
        l
    }

    /// The gradient of an example, weight by weight as it occurs.
    fn steps(&mut self, id: usize, w: &[f64]) -> Vec<(usize, f64)> {
        let mut notes = vec![];
        let look = |case: &mut Case<'_>, note: &mut Note| {
            case.gradient(Weights::plain(w), note);
            case.expand(0.0, note);
            Ok(())
        };
        self.team.ask(&[id], &look, &mut notes).unwrap();
        notes[0].delta.entries().collect()
    }

    /// Whether each weight belongs to an attribute or pair of labels of an example.
    fn used(&mut self, id: usize) -> Vec<bool> {
        let (mut rows, mut used) = (vec![], vec![false; self.team.weights()]);
        self.team.rows(&[id], &mut rows).unwrap();
        for Row { at, len, .. } in rows {
            used[at as usize..(at + len) as usize].fill(true);
        }
        used
    }
}

fn plus(a: &[f64], step: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + step * b).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn assert_near(name: &str, a: &[f64], b: &[f64], most: f64) {
    assert!(b.iter().any(|b| b.abs() > 0.01), "{name}: nothing was learned");
    assert!(distance(a, b) < most, "{name}: {:e}", distance(a, b));
}

/// The examples of all passes in the order of a strategy.
fn in_order() -> impl Iterator<Item = usize> {
    (1..=PASSES).flat_map(|pass| batches(N, 1, pass).into_iter().flatten())
}

/// The examples of all passes, drawn with replacement.
fn drawn() -> impl Iterator<Item = usize> {
    (1..=PASSES).flat_map(|pass| {
        let mut random = Random::new(SEED, pass, 0, "draw");
        (0..N).map(move |_| random.below(N)).collect::<Vec<_>>()
    })
}

/// `w <- (1 - eta l2) w - eta g`.
fn step(w: &mut [f64], eta: f64, g: &[f64]) {
    w.iter_mut().zip(g).for_each(|(w, g)| *w = (1.0 - eta * L2) * *w - eta * g);
}

#[test]
fn sg_and_pegasos() {
    let mut book = Book::new();
    let (mut sg, mut pegasos, mut ball) = (book.zeros(), book.zeros(), book.zeros());
    let zeros = book.zeros();
    let most = (2.0 * book.team.total(None, Weights::plain(&zeros), None).unwrap() / real(N) / L2).sqrt();
    for (t, id) in drawn().enumerate() {
        let g = book.gradient(id, &sg).1;
        step(&mut sg, 0.1, &g);
        let eta = 1.0 / (L2 * real(t + 1));
        let g = book.gradient(id, &pegasos).1;
        step(&mut pegasos, eta, &g);
        let g = book.gradient(id, &ball).1;
        step(&mut ball, eta, &g);
        let size = ball.iter().map(|w| w * w).sum::<f64>().sqrt();
        if size > most {
            ball.iter_mut().for_each(|w| *w *= most / size);
        }
    }
    assert_near("sg", &ridge("sg", &[("rate", "0.1")]), &sg, 1e-12);
    assert_near("pegasos", &ridge("pegasos", &[]), &pegasos, 1e-9);
    assert_near("pegasos in its ball", &ridge("pegasos", &[("project", "yes")]), &ball, 1e-9);
}

#[test]
fn asg_and_asgd() {
    let mut book = Book::new();
    for start in [0_u8, 1] {
        let (mut w, mut all) = (book.zeros(), vec![]);
        for (t, id) in drawn().enumerate() {
            let g = book.gradient(id, &w).1;
            step(&mut w, 0.1, &g);
            if t + 1 >= usize::from(start) * N {
                all.push(w.clone());
            }
        }
        let text = start.to_string();
        let learned = ridge("asg", &[("rate", "0.1"), ("start", &text)]);
        assert_near("asg", &learned, &mean(&all), 1e-12);

        let (mut w, mut all) = (book.zeros(), vec![]);
        for (t, id) in in_order().enumerate() {
            let eta = 0.2 / (1.0 + 0.2 * L2 * real(t)).powf(0.75);
            let g = book.gradient(id, &w).1;
            step(&mut w, eta, &g);
            if t + 1 >= usize::from(start) * N {
                all.push(w.clone());
            }
        }
        let learned = ridge("asgd", &[("rate", "0.2"), ("start", &text)]);
        assert_near("asgd", &learned, &mean(&all), 1e-12);
    }
}

fn mean(all: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; all[0].len()];
    all.iter().for_each(|w| sum = plus(&sum, 1.0, w));
    sum.iter().map(|sum| sum / real(all.len())).collect()
}

#[test]
fn adf_with_windows_that_do_not_fit_a_pass() {
    let mut book = Book::new();
    let (mut w, mut rates, mut used) = (book.zeros(), vec![0.1; book.team.weights()], book.zeros());
    let q = N / 7; // 7, and one is left over in each pass
    for (t, id) in in_order().enumerate() {
        let g = book.gradient(id, &w).1;
        for (j, is_used) in book.used(id).into_iter().enumerate() {
            w[j] -= rates[j] * g[j];
            used[j] += if is_used { 1.0 } else { 0.0 };
        }
        if (t + 1).is_multiple_of(q) {
            for j in 0..w.len() {
                let u: f64 = used[j] / real(q);
                assert!(u <= 1.0);
                rates[j] *= 0.995 - u * (0.995 - 0.6);
                w[j] *= 1.0 - rates[j] * L2 * real(q);
                used[j] = 0.0;
            }
        }
    }
    assert_near("adf", &ridge("adf", &[("rate", "0.1"), ("windows", "7")]), &w, 1e-12);
}

#[test]
fn madf_by_pairs_and_by_attributes() {
    let mut book = Book::new();
    let tokens = real(book.team.size());
    for frequency in ["pair", "attribute"] {
        let counts = counts(frequency == "pair");
        let b: Vec<f64> =
            counts.iter().map(|count| f64::from(single(1.0 / (1.0 + 999.0 * count / tokens)))).collect();
        assert!(b.iter().any(|b| *b < 0.1) && b.iter().all(|b| (0.001..=1.0).contains(b)));
        let (mut w, mut owed) = (book.zeros(), 0.0);
        for (t, id) in in_order().enumerate() {
            let (eta, g) = (2.0 / (1.0 + 2.0 * L2 * real(t)), book.gradient(id, &w).1);
            (0..w.len()).for_each(|j| w[j] -= eta * b[j] * g[j]);
            owed += eta;
            // Every third step, and at the end of a pass.
            if (t % N + 1).is_multiple_of(N / 16) || (t + 1).is_multiple_of(N) {
                (0..w.len()).for_each(|j| w[j] *= 1.0 - owed * L2 * b[j]);
                owed = 0.0;
            }
        }
        let learned = ridge("madf", &[("rate", "2"), ("frequency", frequency)]);
        assert_near(frequency, &learned, &w, 1e-12);
    }
}

/// How often attributes occur, with their gold labels or alone; gold label pairs.
fn counts(pairs: bool) -> Vec<f64> {
    let chain = chain();
    let mut counts = vec![0.0; chain.weights()];
    let mut lane = Arc::clone(&chain).lane(0).unwrap();
    for id in 0..N {
        lane.open(id).unwrap();
        let mut parts = vec![0.0; lane.parts()];
        if pairs {
            lane.gold(1.0, &mut parts);
        } else {
            let nodes = lane.single_parts();
            parts[..nodes].fill(1.0);
        }
        lane.spread(&parts, 1.0, 0, &mut counts);
    }
    counts
}

#[test]
fn dca_by_its_log_loss() {
    let mut book = Book::new();
    let (mut w, mut all) = (book.zeros(), vec![]);
    let (mut capped, mut free) = (0, 0);
    for id in in_order() {
        let (loss, g) = book.gradient(id, &w);
        let square: f64 = g.iter().map(|g| g * g).sum();
        let c = 1.0 / (L2 * real(N));
        let eta = if loss < 1e-9 || square < 1e-9 { 0.0 } else { c.min(loss / square) };
        *(if eta == c { &mut capped } else { &mut free }) += 1;
        w = plus(&w, -eta, &g);
        all.push(w.clone());
    }
    assert!(capped > 10 && free > 10, "{capped} {free}");
    assert_near("dca", &ridge("dca", &[]), &mean(&all), 1e-11);
}

#[test]
fn pa_and_dca_with_the_hinge() {
    let chain = chain();
    let mut lane = Arc::clone(&chain).lane(0).unwrap();
    for (cap, name, given) in [
        (0.05, "pa", [("step", "0.05")].as_slice()),
        // The longest step of dca is 1 / (l2 n), whatever the example weighs.
        (1.0 / (L2 * real(N)), "dca", &[("loss", "hinge")]),
    ] {
        let (mut w, mut all, mut steps) = (vec![0.0; chain.weights()], vec![], 0);
        for id in in_order() {
            let weight = lane.open(id).unwrap();
            let mut note = seqoia_core::Note::default();
            note.clear(id, weight);
            let search = Search { k: 1, cost: 1.0, update: Update::Full };
            lane.violations(Weights::plain(&w), &search, &mut note).unwrap();
            if let Some(found) = note.found().first() {
                let mut v = vec![];
                found.delta.add_to(1.0, &mut v);
                v.resize(w.len(), 0.0);
                let along: f64 = w.iter().zip(&v).map(|(w, v)| w * v).sum();
                let (loss, square) = (found.cost - along, v.iter().map(|v| v * v).sum::<f64>());
                if loss > 0.0 {
                    w = plus(&w, (weight * cap).min(loss / square), &v);
                    steps += 1;
                }
            }
            all.push(w.clone());
        }
        assert!(steps > 20, "{steps}");
        assert_near(name, &ridge_or_none(name, given), &mean(&all), 1e-11);
    }
}

/// With the penalty, if the learner has one.
fn ridge_or_none(name: &str, given: &[(&str, &str)]) -> Vec<f64> {
    learned(name, given, Objective { l1: 0.0, l2: if name == "pa" { 0.0 } else { L2 } })
}

#[test]
fn smd_with_hessians_by_differences() {
    let mut book = Book::new();
    let (mut w, mut v, mut gain) = (book.zeros(), book.zeros(), vec![0.05; book.team.weights()]);
    for id in in_order() {
        let g = book.gradient(id, &w).1;
        let h = 1e-5;
        let (above, below) = (book.gradient(id, &plus(&w, h, &v)).1, book.gradient(id, &plus(&w, -h, &v)).1);
        for j in 0..w.len() {
            let (slope, bend) = (g[j] + L2 * w[j], (above[j] - below[j]) / (2.0 * h) + L2 * v[j]);
            gain[j] *= (1.0 - 0.1 * slope * v[j]).max(0.5);
            w[j] -= gain[j] * slope;
            v[j] = 0.99 * v[j] - gain[j] * (slope + 0.99 * bend);
        }
    }
    assert!(v.iter().any(|v| v.abs() > 0.1));
    assert_near("smd", &ridge("smd", &[("rate", "0.05")]), &w, 1e-6);
}

/// SAG or SAGA, dense: `probability(estimates, seen)` of each example, `draw`, `begin` of a search and the step length.
struct Average<'a> {
    book: &'a mut Book,
    w: Vec<f64>,
    table: Vec<Vec<f64>>,
    seen: Vec<bool>,
}

impl Average<'_> {
    fn new(book: &mut Book) -> Average<'_> {
        let w = book.zeros();
        Average { table: vec![w.clone(); N], w, seen: vec![false; N], book }
    }

    /// A step of SAG.
    fn sag(&mut self, id: usize, alpha: f64) {
        self.table[id] = self.book.gradient(id, &self.w).1;
        self.seen[id] = true;
        let m = real(self.seen.iter().filter(|seen| **seen).count());
        let mut d = self.book.zeros();
        self.table.iter().for_each(|g| d = plus(&d, 1.0 / m, g));
        step(&mut self.w, alpha, &d);
    }

    /// A step of SAGA by the gradient of `id`; that of `kept` is stored.
    fn saga(&mut self, id: usize, kept: usize, probability: f64, alpha: f64, l1: f64) {
        let (g, new) = (self.book.gradient(id, &self.w).1, self.book.gradient(kept, &self.w).1);
        let mut nu = self.book.zeros();
        self.table.iter().for_each(|g| nu = plus(&nu, 1.0 / real(N), g));
        let by = 1.0 / (real(N) * probability);
        nu = plus(&plus(&nu, by, &g), -by, &self.table[id]);
        step(&mut self.w, alpha, &nu);
        let soft = |w: f64| w.signum() * (w.abs() - alpha * l1).max(0.0);
        self.w.iter_mut().for_each(|w| *w = soft(*w));
        (self.table[kept], self.seen[kept]) = (new, true);
    }
}

/// Tables are kept in single precision.
const SINGLE: f64 = 1e-5;

#[test]
fn sag() {
    let mut book = Book::new();
    let mut at = Average::new(&mut book);
    let mut l = 0.01; // too small, so that searches are made
    for id in drawn() {
        l = at.book.search(id, &at.w.clone(), l);
        at.sag(id, 1.0 / (l + L2));
        l *= 2_f64.powf(-1.0 / real(N));
    }
    assert_near("sag", &ridge("sag", &[("lipschitz", "0.01")]), &at.w.clone(), SINGLE);
}

/// The estimates of SAG-NUS*.
struct Star {
    l: Vec<f64>,
    row: Vec<u32>,
    wait: Vec<u32>,
}

impl Star {
    fn new() -> Star {
        Star { l: vec![0.0; N], row: vec![0; N], wait: vec![0; N] }
    }

    fn known(&self) -> (f64, f64, f64) {
        let known: Vec<f64> = self.l.iter().copied().filter(|l| *l > 0.0).collect();
        let sum: f64 = known.iter().sum();
        (sum, sum / real(known.len().max(1)), known.iter().copied().fold(0.0, f64::max))
    }

    /// Draws as the learner does; the example and its probability.
    fn draw(&self, random: &mut Random) -> (usize, f64) {
        let (sum, _, _) = self.known();
        if sum == 0.0 {
            return (random.below(N), 1.0 / real(N));
        }
        let id = if random.unit() < 0.5 {
            random.below(N)
        } else {
            let mut left = random.unit() * sum;
            let mut ids = (0..N).filter(|id| self.l[*id] > 0.0).peekable();
            loop {
                let id = ids.next().unwrap();
                if left < self.l[id] || ids.peek().is_none() {
                    break id;
                }
                left -= self.l[id];
            }
        };
        (id, 0.5 / real(N) + 0.5 * self.l[id] / sum)
    }

    fn search(&mut self, book: &mut Book, id: usize, w: &[f64]) {
        let (sum, mean, _) = self.known();
        let first = match self.l[id] {
            0.0 if sum == 0.0 => 1.0,
            0.0 => 0.5 * mean,
            _ if self.wait[id] > 0 => {
                self.wait[id] -= 1;
                return;
            }
            l => 0.9 * l,
        };
        self.l[id] = book.search(id, w, first);
        if self.l[id] > first {
            self.row[id] = 0;
        } else {
            self.row[id] += 1;
            self.wait[id] = 1 << (self.row[id] - 1);
        }
    }

    fn step(&self) -> f64 {
        let (_, mean, most) = self.known();
        0.5 * (1.0 / (most + L2) + 1.0 / (mean + L2))
    }
}

#[test]
fn sag_nus_star_and_saga() {
    let mut book = Book::new();
    for (name, l1) in [("sag-nus-star", 0.0), ("saga", 0.0), ("saga", 0.05)] {
        let (mut at, mut star) = (Average::new(&mut book), Star::new());
        for pass in 1..=PASSES {
            let mut random = Random::new(SEED, pass, 0, "draw");
            for _ in 0..N {
                let (id, probability) = star.draw(&mut random);
                star.search(at.book, id, &at.w.clone());
                match name {
                    "saga" => at.saga(id, id, probability, 0.5 * star.step(), l1),
                    _ => at.sag(id, star.step()),
                }
            }
        }
        assert!(star.wait.iter().any(|wait| *wait > 0));
        let learned = learned(name, &[], Objective { l1, l2: L2 });
        assert_near(name, &learned, &at.w.clone(), SINGLE);
        let zeros = learned.iter().filter(|w| **w == 0.0).count();
        let holes = at.book.mean(&at.w.clone()).iter().filter(|g| **g == 0.0).count();
        assert!(
            if l1 > 0.0 { zeros > holes + 20 } else { zeros < holes + 5 },
            "{name} {l1}: {zeros} {holes}"
        );
    }
}

#[test]
fn svrg() {
    let mut book = Book::new();
    let (mut w, mut snapshot, mut full) = (book.zeros(), vec![], vec![]);
    for (t, id) in in_order().enumerate() {
        if t.is_multiple_of(2 * N) {
            snapshot.clone_from(&w);
            full = book.mean(&snapshot);
        }
        let (here, there) = (book.gradient(id, &w).1, book.gradient(id, &snapshot).1);
        let nu = plus(&plus(&here, -1.0, &there), 1.0, &full);
        step(&mut w, 0.1, &nu);
    }
    assert_near("svrg", &ridge("svrg", &[("rate", "0.1")]), &w, 1e-11);
}

#[test]
fn adagrad_with_proximal_steps_and_with_a_mean() {
    for (name, l1, given) in [
        ("adagrad", 0.02, [("delta", "1"), ("least", "0")].as_slice()),
        ("adagrad-exact", 0.0, &[("rate", "0.2")]),
        ("adagrad", 0.0, &[("least", "0"), ("average", "yes")]),
    ] {
        let delta = if given.contains(&("average", "yes")) { 0.1 } else { 1.0 };
        let l2 = if delta == 1.0 { L2 } else { 0.0 };
        let mut book = Book::new();
        let (mut w, mut squares, mut all) = (book.zeros(), book.zeros(), vec![]);
        for id in in_order() {
            // A feature that occurs at several positions takes a step for each of them.
            for (j, x) in book.steps(id, &w) {
                squares[j] += x * x;
                w[j] -= 0.2 * x / (delta + squares[j].sqrt());
            }
            for (w, square) in w.iter_mut().zip(&squares) {
                let h = 0.2 / (delta + square.sqrt());
                *w = w.signum() * (w.abs() - h * l1).max(0.0) / (1.0 + h * l2);
            }
            all.push(w.clone());
        }
        let expected = if delta == 1.0 { w } else { mean(&all) };
        let learned = learned(name, given, Objective { l1, l2 });
        assert_near(name, &learned, &expected, SINGLE);
        let zeros = |w: &[f64]| w.iter().filter(|w| **w == 0.0).count();
        assert_eq!(zeros(&learned), zeros(&expected), "{name} {l1}");
    }
}
