//! OEG: online exponentiated gradient on the dual of a CRF (Collins, Globerson, Koo, Carreras & Bartlett 2008; Schmidt et
//! al. 2015, footnote 9 and appendix D).
//!
//! Each example has a distribution alpha_i(y) ~ exp(sum of theta_i over the parts of y), and
//!
//! ```text
//! w = (1/(l2 n)) sum_i c_i (phi_i(gold) - E_alpha_i phi_i),     D = (1/n) sum_i c_i H(alpha_i) - (l2/2) |w|^2
//! theta_i' = (1 - eta) theta_i + eta (part scores under w)
//! w' = w + delta,   delta = -(c_i/(l2 n)) (E_alpha_i' phi_i - E_alpha_i phi_i)
//! taken if  n dD = c_i (H(alpha_i') - H(alpha_i)) - (l2 n/2) (2 w.delta + |delta|^2) >= 0
//! ```
//!
//! Each example has its own eta, 0.5 at first; a step that is not taken halves it and is tried again, at most 2 times in the
//! first pass and 5 times later; then it grows by 1.05, up to 1. The first pass is a permutation, later examples are drawn
//! with replacement. theta begins with `start` at the gold labels and pairs and 0 elsewhere, so w does not begin at 0. The gold
//! pairs of a chain lie at single positions, where theta's pairs are the same everywhere: what is left of `start` is a
//! factor of its own, (1 - eta) of it after each step, so theta takes T K + K K numbers.
//!
//! Slow where l2 is small. The dual never falls, F - D = (1/n) sum_i c_i KL(alpha_i || p(.|x_i; w)). One example at a time:
//! batches are refused, as are weights to begin with and gold labels that are known in part. Cost of a step: one inference
//! with all pairs apart per trial, and merging its rows. Memory: one number per weight, two per part.

use crate::dual::{can_begin, known};
use crate::sweep::sweep;
use crate::table::starts;
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Case, Data, Error, Learner, Mix, Note, Profile, Question, Result, Slot, Team, Weights};

/// The parameters of `oeg`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "rate",
        kind: Kind::Real { above: 0.0, most: 1.0 },
        default: Value::Real(0.5),
        help: "first step length of every example",
    },
    Param {
        name: "start",
        kind: Kind::FromZero,
        default: Value::Real(3.0),
        help: "score of gold labels in the distributions of the start; 10 is better on names and tags",
    },
];

/// How often a step is halved, in the first pass and later.
const HALVINGS: [usize; 2] = [2, 5];
/// What a step length grows by after each example.
const GROWTH: f64 = 1.05;
/// Below this nothing is left of the start.
const GONE: f64 = 1e-12;

const WHY: &str = "it keeps a distribution for every example, and copies would keep different ones";

/// Online exponentiated gradient.
#[derive(Clone, Debug)]
pub struct Oeg {
    l2: f64,
    rate: f64,
    start: f64,
    n: f64,
    w: Vec<f64>,
    starts: Vec<usize>,  // [n + 1] of the lists of parts
    theta: Vec<f64>,     // [parts of all examples]
    means: Vec<f64>,     // [parts of all examples] marginals
    left: Vec<f64>,      // [n] what is left of the start
    entropies: Vec<f64>, // [n]
    lengths: Vec<f64>,   // [n] eta
    passes: u64,
    moved: Note, // what w moves by; scratch
}

impl Oeg {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        Oeg {
            l2,
            rate: settings.number("rate"),
            start: settings.number("start"),
            n: 1.0,
            w: vec![],
            starts: vec![],
            theta: vec![],
            means: vec![],
            left: vec![],
            entropies: vec![],
            lengths: vec![],
            passes: 0,
            moved: Note::default(),
        }
    }

    fn range(&self, id: usize) -> std::ops::Range<usize> {
        self.starts[id]..self.starts[id + 1]
    }

    /// `w += -(c / (l2 n)) sum of parts`, these with c in them.
    fn go(&mut self, id: usize, weight: f64, parts: &[f64], team: &mut dyn Team) -> Result<()> {
        self.moved.clear(id, weight);
        self.moved.parts.extend_from_slice(parts);
        team.spread(std::slice::from_ref(&self.moved), -1.0 / (self.l2 * self.n), &mut self.w)
    }
}

/// Entropy of a distribution with these marginals of its pieces.
fn entropy(case: &Case<'_>, pieces: &[f64]) -> f64 {
    let mut counts = vec![];
    case.counting(&mut counts);
    let terms = pieces.iter().zip(&counts).filter(|(p, count)| **p > 0.0 && **count != 0.0);
    -terms.map(|(p, count)| count * p * p.ln()).sum::<f64>()
}

impl Learner for Oeg {
    fn profile(&self) -> Profile {
        Profile {
            needs: vec![Question::Expectations, Question::Pieces],
            one_by_one: true,
            per_example: 4 * size_of::<f64>(),
            per_part: 2 * size_of::<f64>(),
            same_examples: true,
            own_start: true,
            ..Profile::log_linear("oeg", size_of::<f64>())
        }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        can_begin("oeg", self.l2, &self.w)?;
        let n = team.examples();
        self.w.resize(team.weights(), 0.0);
        (self.left, self.lengths) = (vec![self.start; n], vec![self.rate; n]);
        self.entropies = vec![0.0; n];
        self.starts = starts(team, &|case, _| case.parts())?;
        let length = self.starts[n];
        (self.theta, self.means) = (vec![0.0; length], vec![0.0; length]);
        self.rest(team)?;
        let start = self.start;
        let look = |case: &mut Case<'_>, note: &mut Note| {
            let (zeros, mut pieces) = (vec![0.0; case.parts()], vec![]);
            known(case.id, case.infer_pieces(&zeros, start, &mut pieces)?)?;
            note.own[0] = entropy(case, &pieces);
            case.join(&pieces, &mut note.parts);
            let mut moved = note.parts.clone();
            case.gold_score(&zeros);
            case.gold(-1.0, &mut moved);
            note.parts.extend(moved.iter().map(|x| note.weight * x));
            Ok(())
        };
        sweep(team, &look, |notes, team| {
            for note in notes {
                let (means, moved) = note.parts.split_at(note.parts.len() / 2);
                let range = self.range(note.id);
                self.means[range].copy_from_slice(means);
                self.entropies[note.id] = note.own[0];
                self.go(note.id, note.weight, moved, team)?;
            }
            Ok(())
        })
    }

    fn open(&mut self, _: &mut dyn Team) -> Result<()> {
        self.passes += 1;
        Ok(())
    }

    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        if self.passes == 1 {
            team.next(steps, ids);
        } else {
            crate::sg::draw(steps, ids, team);
        }
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        let (id, range) = (case.id, self.range(case.id));
        let (theta, means) = (&self.theta[range.clone()], &self.means[range]);
        let (mut scores, mut pieces, mut new) = (vec![], vec![], vec![]);
        case.score_parts(Weights::plain(&self.w), &mut scores);
        let halvings = HALVINGS[usize::from(self.passes > 1)];
        let mut eta = self.lengths[id];
        for trial in 0..=halvings {
            let left = (1.0 - eta) * self.left[id];
            let left = if left < GONE { 0.0 } else { left };
            let to: Vec<f64> = theta.iter().zip(&scores).map(|(t, s)| (1.0 - eta) * t + eta * s).collect();
            known(id, case.infer_pieces(&to, left, &mut pieces)?)?;
            let entropy = entropy(case, &pieces);
            case.join(&pieces, &mut new);
            note.parts.clear();
            note.parts.extend(new.iter().zip(means).map(|(new, old)| note.weight * (new - old)));
            case.expand(0.0, note);
            let square = case.square(&note.delta, self.w.len());
            // w.delta and |delta|^2 times l2 n.
            let along: f64 = note.parts.iter().zip(&scores).map(|(moved, score)| -moved * score).sum();
            let gain =
                note.weight * (entropy - self.entropies[id]) - along - 0.5 * square / (self.l2 * self.n);
            if gain >= 0.0 {
                note.own = [eta, left, entropy, 1.0];
                note.parts.extend(to);
                note.parts.extend(&new);
                return Ok(());
            }
            if trial < halvings {
                eta *= 0.5;
            }
        }
        note.own = [eta, 0.0, 0.0, 0.0]; // nothing changes but the step length
        note.parts.clear();
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        for note in batch {
            let [eta, left, entropy, taken] = note.own;
            self.lengths[note.id] = (eta * GROWTH).min(1.0);
            if taken == 0.0 {
                continue;
            }
            let third = note.parts.len() / 3;
            let range = self.range(note.id);
            self.theta[range.clone()].copy_from_slice(&note.parts[third..2 * third]);
            self.means[range].copy_from_slice(&note.parts[2 * third..]);
            (self.left[note.id], self.entropies[note.id]) = (left, entropy);
            self.go(note.id, note.weight, &note.parts[..third], team)?;
        }
        Ok(())
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.n = real(team.examples());
        if self.starts.is_empty() {
            self.starts = starts(team, &|case, _| case.parts())?;
        }
        let (n, length) = (team.examples(), self.starts.last().copied().unwrap_or(0));
        let lists = [&self.left, &self.entropies, &self.lengths];
        if lists.iter().any(|list| list.len() != n) || [self.theta.len(), self.means.len()] != [length; 2] {
            return Err(Error::other_state());
        }
        Ok(())
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data };
        vec![
            slot("w", Data::F64(&mut self.w)),
            slot("theta", Data::F64(&mut self.theta)),
            slot("means", Data::F64(&mut self.means)),
            slot("left", Data::F64(&mut self.left)),
            slot("entropies", Data::F64(&mut self.entropies)),
            slot("lengths", Data::F64(&mut self.lengths)),
            slot("passes", Data::Count(&mut self.passes)),
        ]
    }
}
