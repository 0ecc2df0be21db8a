//! Pegasos on the log loss (Shalev-Shwartz et al. 2007, 2011; Schmidt et al. 2015).
//!
//! ```text
//! i uniform in 1..n;   eta_t = rate / (l2 t),  t = 1, 2, ...
//! w <- (1 - eta_t l2) w - eta_t c_i grad loss_i(w)
//! ```
//!
//! With rate 1 the first step wipes w out and has the length |g| / l2 = n |g| at l2 = 1/n: the method moves far away
//! before it comes back, which is the method and no mistake; `sg` and `sgd` need no such detour. With `project` each
//! step ends in the ball |w|^2 <= 2 F(0) / l2, which holds the optimum, since (l2/2) |w*|^2 <= F(w*) <= F(0). Cost of
//! a step: one gradient, and a sweep over all weights with `project`. Memory: one number per weight.

use crate::scaled::Scaled;
use crate::sg::draw;
use seqoia_core::cast::{real, real64};
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::vecmath::dot;
use seqoia_core::{Case, Data, Error, Learner, Mix, Note, Profile, Result, Slot, Team, Weights};

/// The parameters of `pegasos`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "rate",
        kind: Kind::Real { above: 0.0, most: f64::INFINITY },
        default: Value::Real(1.0),
        help: "step t has the length rate / (l2 t)",
    },
    Param {
        name: "project",
        kind: Kind::Word(&["yes", "no"]),
        default: Value::Word("no"),
        help: "keep weights in the ball that holds the optimum",
    },
];

/// Pegasos.
#[derive(Clone, Debug)]
pub struct Pegasos {
    l2: f64,
    rate: f64,
    project: bool,
    ball: f64, // the square of its radius
    w: Scaled,
    t: u64,
}

impl Pegasos {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let project = settings.word("project") == Some("yes");
        Pegasos { l2, rate: settings.number("rate"), project, ball: 0.0, w: Scaled::default(), t: 0 }
    }
}

impl Learner for Pegasos {
    fn profile(&self) -> Profile {
        let planes = if self.project { 2 } else { 1 }; // one more at the start, to find the ball
        Profile::log_linear("pegasos", planes * size_of::<f64>())
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        if self.l2 == 0.0 {
            let what = "pegasos divides its steps by l2, which is 0; give it a penalty, or use sg";
            return Err(Error::Learner(what.to_owned()));
        }
        self.w.v.resize(team.weights(), 0.0);
        if self.project {
            let zero = vec![0.0; self.w.v.len()];
            let loss = team.total(None, Weights::plain(&zero), None)?;
            self.ball = 2.0 * loss / (real(team.examples()) * self.l2);
        }
        Ok(())
    }

    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        draw(steps, ids, team);
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.gradient(self.w.weights(), note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        self.t += 1;
        let share = self.rate / real64(self.t); // eta_t l2
        self.w.step(1.0 - share, share / self.l2, batch, team)?;
        if self.project {
            let Weights { values, scale } = self.w.weights();
            let square = scale * scale * dot(values, values);
            if square > self.ball {
                self.w.shrink((self.ball / square).sqrt());
            }
        }
        Ok(())
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.fold(team)
    }

    fn weights(&self) -> Vec<f64> {
        self.w.plain()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![
            Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w.v) },
            Slot { name: "ball", mix: Mix::Same, data: Data::Real(&mut self.ball) },
            Slot { name: "steps", mix: Mix::Same, data: Data::Count(&mut self.t) },
        ]
    }
}
