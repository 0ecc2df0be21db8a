//! SAGA (Defazio, Bach & Lacoste-Julien 2014), with non-uniform sampling (Schmidt et al. 2015, proposition 1) and with
//! an l1 penalty by proximal steps.
//!
//! ```text
//! j drawn with probability p_j;   nu = (c_j grad loss_j(w) - g_j) / (n p_j) + d/n,   d = sum_i g_i
//! w <- soft(w - alpha (nu + l2 w), alpha l1);     then  d += g_r(w before the step) - g_r,   g_r = g_r(w before)
//! ```
//!
//! nu is an unbiased estimate of the gradient, with a variance that goes to 0: unlike SAG the step uses d as it was
//! before.
//!
//! | `sampling` | p_j | r | alpha |
//! |---|---|---|---|
//! | `nus-star` (default) | that of SAG-NUS* | j | half of SAG-NUS*'s: the whole of it is beyond the stable range |
//! | `uniform` | 1/n | j | 1/(3 L) |
//! | `lipschitz` | L_j / sum L | j | n p_min / (4 L + n l2), proposition 1 (a) |
//! | `lipschitz-pair` | L_j / sum L | uniform, drawn apart | 1/(4 mean L), proposition 1 (b): two gradients per step |
//!
//! L_j are the estimates of [`NusStar`]; proposition 1 prints 1/(4 L) for (b), its proof needs the mean. Stops, batches,
//! costs and memory are those of [`Sag`](crate::sag::Sag). With l1 weights are exactly 0 or not ([`Proximal`]), and batches
//! are refused.

use crate::gradients::{Gradients, TABLE};
use crate::lazy::{self, Lazy};
use crate::objective::Objective;
use crate::proximal::Proximal;
use crate::sag::{STOP, Uniform, damping, is_done};
use crate::sag_nus_star::NusStar;
use crate::sampling::{Found, LIPSCHITZ, Sampling};
use crate::table::WHY;
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{
    Case, Data, Done, Error, Learner, Mix, Note, Profile, Question, Random, Result, Slot, Team, Weights,
    online,
};

/// The parameters of `saga`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "sampling",
        kind: Kind::Word(&["nus-star", "uniform", "lipschitz", "lipschitz-pair"]),
        default: Value::Word("nus-star"),
        help: "which examples are drawn more often",
    },
    TABLE,
    LIPSCHITZ,
    STOP,
];

/// How examples are drawn.
#[derive(Clone, Debug)]
enum Draws {
    Star(NusStar),
    Uniform(Uniform),
    Lipschitz(NusStar),
    Pair(NusStar),
}

impl Draws {
    fn new(settings: &Settings) -> Draws {
        match settings.word("sampling") {
            Some("uniform") => Draws::Uniform(Uniform::new(settings)),
            Some("lipschitz") => Draws::Lipschitz(NusStar::new(settings)),
            Some("lipschitz-pair") => Draws::Pair(NusStar::new(settings)),
            _ => Draws::Star(NusStar::new(settings)),
        }
    }

    fn sampling(&mut self) -> &mut dyn Sampling {
        match self {
            Draws::Uniform(uniform) => uniform,
            Draws::Star(nus) | Draws::Lipschitz(nus) | Draws::Pair(nus) => nus,
        }
    }

    fn begin(&mut self, n: usize) -> bool {
        if let Draws::Lipschitz(nus) | Draws::Pair(nus) = self {
            nus.know_all(n);
        }
        self.sampling().begin(n)
    }

    /// Appends an example, with its probability; a pair also the one that is stored.
    fn draw(&self, random: &mut Random, ids: &mut Vec<usize>, chances: &mut Vec<f64>) {
        let (id, chance) = match self {
            Draws::Star(nus) => {
                let id = nus.draw(random);
                (id, nus.probability(id))
            }
            Draws::Uniform(uniform) => {
                let id = uniform.draw(random);
                (id, uniform.probability(id))
            }
            Draws::Lipschitz(nus) | Draws::Pair(nus) => {
                let id = nus.by_l().draw(random.unit());
                (id, nus.estimate(id) / nus.by_l().sum())
            }
        };
        ids.push(id);
        chances.push(chance);
        if let Draws::Pair(nus) = self {
            ids.push(random.below(nus.len()));
            chances.push(1.0);
        }
    }

    fn first(&self, id: usize) -> Option<f64> {
        match self {
            Draws::Uniform(uniform) => uniform.first(id),
            Draws::Star(nus) | Draws::Lipschitz(nus) | Draws::Pair(nus) => nus.first(id),
        }
    }

    fn step(&self, l2: f64) -> f64 {
        match self {
            Draws::Star(nus) => 0.5 * nus.step(l2),
            Draws::Uniform(uniform) => 1.0 / (3.0 * (uniform.estimate() + l2)),
            Draws::Lipschitz(nus) => {
                let (n, by_l) = (real(nus.len()), nus.by_l());
                n * by_l.least() / by_l.sum() / (4.0 * (by_l.most() + l2) + n * l2)
            }
            Draws::Pair(nus) => 1.0 / (4.0 * (nus.mean() + l2)),
        }
    }

    /// Looks per step.
    fn width(&self) -> usize {
        if matches!(self, Draws::Pair(_)) { 2 } else { 1 }
    }
}

/// SAGA.
#[derive(Clone, Debug)]
pub struct Saga {
    penalty: Objective,
    stop: f64,
    lazy: Lazy,
    proximal: Option<Proximal>, // in place of `lazy`, if there is an l1
    table: Gradients,
    draws: Draws,
    chances: Vec<f64>, // of the examples of a batch
    jump: Note,        // difference of what is looked at; scratch
    kept: Note,        // of what is stored; scratch
    near: f64,
    n: f64,
}

impl Saga {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, penalty: Objective) -> Self {
        Saga {
            penalty,
            stop: settings.number("stop"),
            lazy: Lazy::default(),
            proximal: (penalty.l1 > 0.0).then(|| Proximal::new(penalty.l1)),
            table: Gradients::new(settings),
            draws: Draws::new(settings),
            chances: vec![],
            jump: Note::default(),
            kept: Note::default(),
            near: f64::MAX,
            n: 1.0,
        }
    }

    fn seen(&self) -> Weights<'_> {
        self.proximal.as_ref().map_or_else(|| self.lazy.weights(), Proximal::weights)
    }

    /// One step for one example, by the weights of its rows one by one.
    fn proximal_step(&mut self, note: &Note, team: &mut dyn Team) -> Result<()> {
        let Some(proximal) = &mut self.proximal else { return Ok(()) };
        let (alpha, by) = (self.draws.step(self.penalty.l2), 1.0 / (self.n * self.chances[0]));
        let more = note.delta.entries().map(|(j, x)| (j, by * x));
        proximal.step(alpha, self.penalty.l2, 1.0 / self.n, more);
        note.delta.entries().for_each(|(j, x)| proximal.d[j] += x);
        self.table.keep(note)?;
        if proximal.is_long() { proximal.flush(1.0 / self.n, team) } else { Ok(()) }
    }
}

impl Learner for Saga {
    fn profile(&self) -> Profile {
        self.table.profile(Profile {
            needs: vec![Question::Expectations, Question::Rows],
            stops: true,
            one_by_one: self.proximal.is_some(),
            per_example: 10 * size_of::<f64>() + 3 * size_of::<u32>(),
            ..Profile::log_linear("saga", lazy::PER_WEIGHT)
        })
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        if self.proximal.is_some() && self.draws.width() > 1 {
            let what = "with an l1 penalty saga does not draw pairs: take another `sampling`";
            return Err(Error::Learner(what.to_owned()));
        }
        match &mut self.proximal {
            Some(proximal) => proximal.begin(team.weights()),
            None => self.lazy.begin(team.weights()),
        }
        self.rest(team)
    }

    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        self.chances.clear();
        let random = team.random("draw");
        for _ in 0..steps {
            self.draws.draw(random, ids, &mut self.chances);
        }
        match &mut self.proximal {
            Some(proximal) => proximal.wake(ids, 1.0 / self.n, team),
            None => self.lazy.wake(ids, team),
        }
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        self.table.look(case, self.seen(), self.draws.first(case.id), note)?;
        if self.proximal.is_some() {
            // Thresholds ask for the whole step of a weight: its differences, added up.
            self.table.expand(case, note)?;
        }
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        for note in batch {
            self.draws.sampling().learn(note.id, Found::of(note));
        }
        if self.proximal.is_some() {
            return batch.iter().try_for_each(|note| self.proximal_step(note, team));
        }
        self.table.open();
        let width = self.draws.width();
        let alpha = damping(batch.len() / width) * self.draws.step(self.penalty.l2);
        for (number, step) in batch.chunks(width).enumerate() {
            let (looked, stored) = (&step[0], &step[width - 1]);
            self.table.replace(looked, false, &mut self.jump)?;
            self.table.replace(stored, true, &mut self.kept)?;
            self.lazy.step(1.0 - alpha * self.penalty.l2, alpha / self.n, team)?;
            self.lazy.wake_again(number * width + width - 1);
            let by = -alpha / (self.n * self.chances[number * width] * self.lazy.scale());
            self.table.add(&self.jump, by, team, &mut self.lazy.v)?;
            self.table.add(&self.kept, 1.0, team, &mut self.lazy.d)?;
        }
        Ok(())
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.n = real(team.examples());
        let (w, d) = match &self.proximal {
            Some(proximal) => (proximal.w.len(), proximal.d.len()),
            None => (self.lazy.v.len(), self.lazy.d.len()),
        };
        if w != d || !self.draws.begin(team.examples()) {
            return Err(Error::other_state());
        }
        self.table.begin(team)?;
        match &mut self.proximal {
            Some(proximal) => proximal.flush(1.0 / self.n, team),
            None => self.lazy.flush(team),
        }
    }

    fn pass(&mut self, team: &mut dyn Team) -> Result<Done> {
        online(self, team)?;
        if self.table.stored() < team.examples() || team.stopping() {
            return Ok(Done::Pass);
        }
        let (d, w) = match &self.proximal {
            Some(proximal) => (&proximal.d, &proximal.w),
            None => (&self.lazy.d, &self.lazy.v),
        };
        let done = is_done(team, d, w, self.penalty, self.stop, &mut self.near)?;
        Ok(if done { Done::Converged("the gradient is small enough") } else { Done::Pass })
    }

    fn change_l2(&mut self, l2: f64) -> bool {
        self.draws.sampling().change_l2(l2);
        (self.penalty.l2, self.near) = (l2, f64::MAX);
        true
    }

    fn weights(&self) -> Vec<f64> {
        match &self.proximal {
            Some(proximal) => proximal.plain(1.0 / self.n),
            None => self.lazy.plain(),
        }
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data };
        let (w, d) = match &mut self.proximal {
            Some(proximal) => (&mut proximal.w, &mut proximal.d),
            None => (&mut self.lazy.v, &mut self.lazy.d),
        };
        let mut slots =
            vec![slot("w", Data::F64(w)), slot("d", Data::F64(d)), slot("near", Data::Real(&mut self.near))];
        slots.extend(self.table.state());
        slots.extend(self.draws.sampling().state());
        slots
    }
}
