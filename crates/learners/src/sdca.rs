//! SDCA for CRFs: dual coordinate ascent on marginals, with a line search that costs no inference and a duality gap to stop
//! by (Le Priol, Piché & Lacoste-Julien, UAI 2018).
//!
//! Each example has a distribution over its outputs, kept as the marginals alpha_i of its pieces (labels and pairs, each
//! position apart):
//!
//! ```text
//! w = (1/(l2 n)) sum_i c_i (phi_i(gold) - E_alpha_i phi_i),     D = (1/n) sum_i c_i H(alpha_i) - (l2/2) |w|^2
//! beta = marginals of p(.|x_i; w),   delta = beta - alpha_i,   v = -(c_i/(l2 n)) sum_p delta_p phi_p
//! gamma in [0, 1] maximises  c_i H(alpha_i + gamma delta) - (l2 n/2) |w + gamma v|^2
//! alpha_i += gamma delta,   w += gamma v
//! ```
//!
//! With counts k_p of the pieces in the entropy, H(alpha) = - sum_p k_p alpha_p ln alpha_p, and the slope along the segment
//! is `c_i sum_p k_p delta_p (ln beta_p - ln alpha_p(gamma)) - gamma l2 n |v|^2`: positive at 0, negative at 1, falling. A
//! Newton iteration that is kept between its bounds finds its root to 1e-3, from the gamma of the last visit. Pieces that
//! hardly change (1e-7) are left out of it.
//!
//! The gap of an example is c_i KL(alpha_i || beta); the mean over all of them at one w is F - D. With probability 1 -
//! `uniform` the next example is drawn in proportion to its last known gap. Stops when the mean of the last known gaps is
//! below `gap` times F, and a pass over all examples confirms it.
//!
//! alpha begins as the marginals of a chain with `start` on its gold pieces: at the corner itself the slope of the entropy
//! is infinite. So w does not begin at 0, nor at weights that are given, and gold labels must be known. The table is in
//! single precision, rounded before w moves by the difference. In a batch each example makes 1/batch of its step, with
//! which the dual never falls. Cost of a step: one inference with all pairs apart, and a few logarithms per piece that
//! changes. Memory: one number per weight, a single per piece: T K + (T - 1) K K of them per sequence.

use crate::dual::{can_begin, first_note, known};
use crate::sweep::sweep;
use crate::table::{Table, WHY};
use crate::trees::Tree;
use seqoia_core::cast::{real, single};
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{
    Case, Data, Done, Error, Learner, Mix, Note, Profile, Question, Result, Slot, Team, Weights, online,
};

/// The parameters of `sdca`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "gap",
        kind: Kind::Real { above: 0.0, most: 1.0 },
        default: Value::Real(1e-6),
        help: "stop when the duality gap is below this part of F",
    },
    Param {
        name: "uniform",
        kind: Kind::Fraction,
        default: Value::Real(0.2),
        help: "part of the draws that do not go by gaps",
    },
    Param {
        name: "start",
        kind: Kind::FromZero,
        default: Value::Real(10.0),
        help: "score of gold labels in the distributions of the start",
    },
];

/// The gap of an example that was not looked at yet: all of them come early.
const UNKNOWN: f64 = 100.0;
/// F is mostly far below this.
const LARGE: f64 = 100.0;
/// Changes of pieces below this are left out of line searches, and probabilities below it out of gaps that only guide.
const TINY: f64 = 1e-7;
/// How exactly a line search finds its root.
const EXACT: f64 = 1e-3;
const NEWTONS: usize = 30;

/// Stochastic dual coordinate ascent.
#[derive(Clone, Debug)]
pub struct Sdca {
    l2: f64,
    gap: f64,
    uniform: f64,
    start: f64,
    w: Vec<f64>,
    alpha: Table,
    gaps: Vec<f64>,   // [n] last known
    gammas: Vec<f64>, // [n] of the last line search
    by_gap: Tree,
    share: f64, // 1 / batch
    n: f64,
    moved: Note, // what w moves by; scratch
    objective: Option<f64>,
}

/// What is known of the segment from alpha to beta.
struct Segment {
    pieces: Vec<(f64, f64, f64)>, // alpha, delta, count: of those that change
    towards: f64,                 // sum of count delta ln beta
    weight: f64,                  // c
    bend: f64,                    // l2 n |v|^2
}

impl Segment {
    /// The slope of the dual at gamma, and its derivative.
    fn slope(&self, gamma: f64) -> (f64, f64) {
        let (mut slope, mut bend) = (self.towards, 0.0);
        for &(alpha, delta, count) in &self.pieces {
            let now = (alpha + gamma * delta).max(f64::MIN_POSITIVE);
            slope -= count * delta * now.ln();
            bend -= count * delta * delta / now;
        }
        (self.weight * slope - gamma * self.bend, self.weight * bend - self.bend)
    }

    /// Where the dual is largest between 0 and 1.
    fn best(&self, first: f64) -> f64 {
        let (mut low, mut high, mut gamma) = (0.0, 1.0, first);
        for _ in 0..NEWTONS {
            let (slope, bend) = self.slope(gamma);
            if slope > 0.0 {
                low = gamma;
            } else {
                high = gamma;
            }
            let next = gamma - slope / bend;
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if (next - gamma).abs() < EXACT {
                return next;
            }
            gamma = next;
        }
        gamma
    }
}

/// `sum_p k_p alpha_p ln(alpha_p / beta_p)`, without those of probabilities up to `tiny`.
fn divergence(alpha: &[f32], beta: &[f64], counts: &[f64], tiny: f64) -> f64 {
    let terms = alpha.iter().zip(beta).zip(counts);
    let terms = terms.filter(|((alpha, _), count)| f64::from(**alpha) > tiny && **count != 0.0);
    let sum: f64 = terms
        .map(|((alpha, beta), count)| {
            let alpha = f64::from(*alpha);
            count * alpha * (alpha / beta.max(f64::MIN_POSITIVE)).ln()
        })
        .sum();
    sum.max(0.0)
}

impl Sdca {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        Sdca {
            l2,
            gap: settings.number("gap"),
            uniform: settings.number("uniform"),
            start: settings.number("start"),
            w: vec![],
            alpha: Table::default(),
            gaps: vec![],
            gammas: vec![],
            by_gap: Tree::default(),
            share: 1.0,
            n: 1.0,
            moved: Note::default(),
            objective: None,
        }
    }

    /// beta of an example under w.
    fn beta(&self, case: &mut Case<'_>, beta: &mut Vec<f64>) -> Result<()> {
        let mut scores = vec![];
        case.score_parts(Weights::plain(&self.w), &mut scores);
        let log_z = case.infer_pieces(&scores, 0.0, beta)?;
        known(case.id, log_z)
    }

    /// Puts what `note` brings (parts, and behind them the new pieces) into w and the table.
    fn take(&mut self, note: &Note, team: &mut dyn Team) -> Result<()> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it was a length
        let (parts, pieces) = note.parts.split_at(note.own[3] as usize);
        self.alpha.keep(note.id, pieces)?;
        self.moved.clear(note.id, note.weight);
        self.moved.parts.extend_from_slice(parts);
        let step = -1.0 / (self.l2 * self.n);
        team.spread(std::slice::from_ref(&self.moved), step, &mut self.w)
    }

    /// F - D at w, by one look at all examples.
    fn whole_gap(&self, team: &mut dyn Team) -> Result<f64> {
        let mut sum = 0.0;
        let look = |case: &mut Case<'_>, note: &mut Note| {
            let (mut beta, mut counts) = (vec![], vec![]);
            self.beta(case, &mut beta)?;
            case.counting(&mut counts);
            note.own[0] = note.weight * divergence(&self.alpha.of(case.id)?, &beta, &counts, 0.0);
            Ok(())
        };
        sweep(team, &look, |notes, _| {
            sum += notes.iter().map(|note| note.own[0]).sum::<f64>();
            Ok(())
        })?;
        Ok(sum / self.n)
    }
}

impl Learner for Sdca {
    fn profile(&self) -> Profile {
        Profile {
            needs: vec![Question::Expectations, Question::Pieces],
            stops: true,
            per_example: 8 * size_of::<f64>(),
            per_piece: size_of::<f32>(),
            same_examples: true,
            own_start: true,
            shelf: true,
            ..Profile::log_linear("sdca", size_of::<f64>())
        }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        can_begin("sdca", self.l2, &self.w)?;
        self.w.resize(team.weights(), 0.0);
        (self.gaps, self.gammas) = (vec![UNKNOWN; team.examples()], vec![0.5; team.examples()]);
        self.rest(team)?;
        let start = self.start;
        let look = |case: &mut Case<'_>, note: &mut Note| {
            let (scores, mut pieces) = (vec![0.0; case.parts()], vec![]);
            known(case.id, case.infer_pieces(&scores, start, &mut pieces)?)?;
            pieces.iter_mut().for_each(|p| *p = f64::from(single(*p)));
            first_note(case, &pieces, note);
            Ok(())
        };
        sweep(team, &look, |notes, team| notes.iter().try_for_each(|note| self.take(note, team)))
    }

    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        let n = team.examples();
        let random = team.random("draw");
        for _ in 0..steps {
            let uniform = random.unit() < self.uniform || self.by_gap.sum() <= 0.0;
            ids.push(if uniform { random.below(n) } else { self.by_gap.draw(random.unit()) });
        }
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        let (alpha, mut beta, mut counts) = (self.alpha.of(case.id)?, vec![], vec![]);
        let alpha = &*alpha;
        self.beta(case, &mut beta)?;
        case.counting(&mut counts);
        let gap = note.weight * divergence(alpha, &beta, &counts, TINY);
        // |v|^2 from the whole of delta.
        let delta: Vec<f64> = beta.iter().zip(alpha).map(|(beta, alpha)| beta - f64::from(*alpha)).collect();
        case.join(&delta, &mut note.parts);
        case.expand(0.0, note);
        let square = case.square(&note.delta, self.w.len());
        let bend = note.weight * note.weight * square / (self.l2 * self.n);
        let mut segment = Segment { pieces: vec![], towards: 0.0, weight: note.weight, bend };
        for (((beta, alpha), delta), count) in beta.iter().zip(alpha).zip(&delta).zip(&counts) {
            if delta.abs() > TINY && *count != 0.0 {
                segment.pieces.push((f64::from(*alpha), *delta, *count));
                segment.towards += count * delta * beta.max(f64::MIN_POSITIVE).ln();
            }
        }
        let gamma = if segment.pieces.is_empty() { 0.0 } else { segment.best(self.gammas[case.id]) };
        // What is stored is rounded first; w moves by the difference.
        let step = self.share * gamma;
        let new: Vec<f64> =
            alpha.iter().zip(&delta).map(|(a, d)| f64::from(single(f64::from(*a) + step * d))).collect();
        let moved: Vec<f64> = new.iter().zip(alpha).map(|(new, old)| new - f64::from(*old)).collect();
        case.join(&moved, &mut note.parts);
        note.parts.iter_mut().for_each(|part| *part *= note.weight);
        note.own = [gap, gamma, 0.0, real(note.parts.len())];
        note.parts.extend(new);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        for (i, note) in batch.iter().enumerate() {
            if batch[..i].iter().any(|before| before.id == note.id) {
                continue; // it was looked at as it was before
            }
            self.gaps[note.id] = note.own[0];
            self.by_gap.set(note.id, note.own[0]);
            self.gammas[note.id] = note.own[1].clamp(EXACT, 1.0 - EXACT);
            self.take(note, team)?;
        }
        Ok(())
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        (self.n, self.share) = (real(team.examples()), 1.0 / real(team.batch().max(1)));
        if self.gaps.len() != team.examples() || self.gammas.len() != team.examples() {
            return Err(Error::other_state());
        }
        self.by_gap = Tree::new(&self.gaps);
        self.alpha.begin(team, &|case, _| case.pieces())
    }

    fn pass(&mut self, team: &mut dyn Team) -> Result<Done> {
        self.objective = None;
        let seen = online(self, team)?;
        let guess = self.by_gap.sum() / self.n;
        // F costs an evaluation of all examples: not yet, if it had to be larger than this for the gap to be small enough.
        if team.stopping() || guess > self.gap * LARGE {
            return Ok(seen);
        }
        let square: f64 = self.w.iter().map(|w| w * w).sum();
        let f = team.total(None, Weights::plain(&self.w), None)? / self.n + 0.5 * self.l2 * square;
        self.objective = Some(f);
        if guess <= self.gap * f && self.whole_gap(team)? <= self.gap * f {
            return Ok(Done::Converged("the duality gap is small enough"));
        }
        Ok(seen)
    }

    fn objective(&self) -> Option<f64> {
        self.objective
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data };
        let mut slots = vec![
            slot("w", Data::F64(&mut self.w)),
            slot("gaps", Data::F64(&mut self.gaps)),
            slot("gammas", Data::F64(&mut self.gammas)),
        ];
        slots.extend(self.alpha.state());
        slots
    }
}
