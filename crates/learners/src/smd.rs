//! SMD: stochastic meta-descent, a gain for each weight that is learned along with it (Schraudolph 1999; Vishwanathan et
//! al. 2006; Schmidt et al. 2015, "SMD").
//!
//! ```text
//! g_t = mean over the batch of c_i grad loss_i(w_t) + l2 w_t;   H_t likewise
//! gain_t = gain_{t-1} max(1/2, 1 - meta g_t v_t)            (weight by weight)
//! w_{t+1} = w_t - gain_t g_t
//! v_{t+1} = memory v_t - gain_t (g_t + memory H_t v_t)
//! ```
//!
//! v says how w would have changed with its gains. H v is exact and costs one more sweep over the example. Through the
//! penalty every weight changes at every step, in a way that cannot be put off, so a step costs a sweep over all weights:
//! that is why the papers leave SMD out on their larger data. Batches of 5 to 10 make it bearable (`--batch-size`).
//! Cost of a step: one gradient, one Hessian product, six planes. Memory: six numbers per weight.

use crate::planes::BLOCK;
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{
    Case, Data, Error, Learner, Mix, Note, Profile, Question, Result, Slot, Team, Weights, each,
};

/// The parameters of `smd`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "rate",
        kind: Kind::Real { above: 0.0, most: f64::INFINITY },
        default: Value::Real(0.1),
        help: "initial learning rate",
    },
    Param {
        name: "meta",
        kind: Kind::FromZero,
        default: Value::Real(0.1),
        help: "rate at which gains are learned",
    },
    Param {
        name: "look-back",
        kind: Kind::Fraction,
        default: Value::Real(0.99),
        help: "how long gains look back: 0 one step, 1 for ever",
    },
];

/// Stochastic meta-descent.
#[derive(Clone, Debug)]
pub struct Smd {
    l2: f64,
    rate: f64,
    meta: f64,
    memory: f64,
    w: Vec<f64>,    // [weights]
    gain: Vec<f64>, // [weights]
    v: Vec<f64>,    // [weights]
    g: Vec<f64>,    // [weights] of the loss; scratch
    hv: Vec<f64>,   // [weights] of the loss; scratch
    products: Vec<Note>,
}

impl Smd {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let [rate, meta, memory] = ["rate", "meta", "look-back"].map(|name| settings.number(name));
        let [w, gain, v, g, hv] = [const { vec![] }; 5];
        Smd { l2, rate, meta, memory, w, gain, v, g, hv, products: vec![] }
    }
}

impl Learner for Smd {
    fn profile(&self) -> Profile {
        let needs = vec![Question::Expectations, Question::Tangent];
        Profile { needs, ..Profile::log_linear("smd", 5 * size_of::<f64>()) }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0);
        self.gain = vec![self.rate; self.w.len()];
        self.v = vec![0.0; self.w.len()];
        self.rest(team)
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.gradient(Weights::plain(&self.w), note);
        // Gradient and product travel in one list of parts, one behind the other.
        let mut product = vec![];
        case.product(Weights::plain(&self.v), &mut product)?;
        note.parts.extend(product);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let Smd { l2, meta, memory, w, gain, v, g, hv, products, .. } = self;
        let share = 1.0 / real(batch.len());
        for (half, to) in [&mut *g, &mut *hv].into_iter().enumerate() {
            products.resize_with(batch.len(), Note::default);
            for (product, note) in products.iter_mut().zip(batch) {
                let parts = note.parts.len() / 2;
                product.clear(note.id, note.weight);
                product.parts.extend_from_slice(&note.parts[half * parts..][..parts]);
            }
            products.truncate(batch.len());
            team.spread(products, share, to)?;
        }
        let (l2, meta, memory) = (*l2, *meta, *memory);
        let blocks = w.chunks_mut(BLOCK).zip(gain.chunks_mut(BLOCK)).zip(v.chunks_mut(BLOCK));
        let blocks = blocks.zip(g.chunks_mut(BLOCK).zip(hv.chunks_mut(BLOCK)));
        each(team, blocks.collect(), |(((w, gain), v), (g, hv))| {
            for j in 0..w.len() {
                let (slope, bend) = (g[j] + l2 * w[j], hv[j] + l2 * v[j]);
                gain[j] *= (1.0 - meta * slope * v[j]).max(0.5);
                w[j] -= gain[j] * slope;
                v[j] = memory * v[j] - gain[j] * (slope + memory * bend);
                (g[j], hv[j]) = (0.0, 0.0);
            }
        })
    }

    fn rest(&mut self, _: &mut dyn Team) -> Result<()> {
        let n = self.w.len();
        if self.gain.len() != n || self.v.len() != n {
            return Err(Error::other_state());
        }
        self.g.resize(n, 0.0);
        self.hv.resize(n, 0.0);
        Ok(())
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        const WHY: &str = "gains belong to the weights at which they were learned, so smd cannot be mixed";
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data: Data::F64(data) };
        vec![slot("w", &mut self.w), slot("gains", &mut self.gain), slot("v", &mut self.v)]
    }
}
