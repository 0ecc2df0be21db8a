//! Which example a method with a table looks at next, and how long its steps are: both follow from estimates of how much
//! the gradient of a loss can change, found by a line search on single examples (Schmidt et al. 2015, section 3 and 5).
//!
//! ```text
//! the estimate L is good enough if   loss_i(w - g/L) <= loss_i(w) - |g|^2 / (2 L),   else it is doubled
//! ```
//!
//! The search asks for the loss alone, along one direction, so no weight is read. A gradient below 1e-8 (its square) is
//! not searched with: differences of the loss would be lost in rounding.

use seqoia_core::param::{Kind, Param, Value};
use seqoia_core::{Case, Note, Random, Slot, Weights};

/// The first estimate of every example, a parameter of all of them.
pub(crate) const LIPSCHITZ: Param = Param {
    name: "lipschitz",
    kind: Kind::Real { above: 0.0, most: f64::INFINITY },
    default: Value::Real(1.0),
    help: "first estimate of how fast a gradient changes (L); too small is repaired",
};

/// Below this the square of a gradient is too small for a search.
const TINY: f64 = 1e-8;
/// Doublings of one search.
const DOUBLINGS: usize = 100;

/// What became of the search of one look; travels in a note.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    /// The estimate, as it stands now.
    pub(crate) l: f64,
    /// It had to be doubled.
    pub(crate) doubled: bool,
    /// There was a search.
    pub(crate) searched: bool,
}

impl Found {
    /// Of a note whose look called [`search`]; none if it did not.
    pub(crate) fn of(note: &Note) -> Option<Found> {
        let [l, doubled, searched, _] = note.own;
        (l > 0.0).then_some(Found { l, doubled: doubled == 1.0, searched: searched == 1.0 })
    }
}

/// Searches from the estimate `l`, with the gradient that is in `note.parts`, and puts what it found in the note.
pub(crate) fn search(case: &mut Case<'_>, w: Weights<'_>, l: f64, note: &mut Note) {
    case.expand(0.0, note);
    let square = case.aim(w, &note.delta);
    let (mut l, first) = (l, l);
    let searched = square > TINY;
    if searched {
        for _ in 0..DOUBLINGS {
            let enough = case.loss_along(-1.0 / l) <= note.loss - square / (2.0 * l);
            if enough {
                break;
            }
            l *= 2.0;
        }
    }
    note.own[..3].copy_from_slice(&[l, f64::from(u8::from(l > first)), f64::from(u8::from(searched))]);
}

/// A way to draw examples, with the estimates it needs.
pub(crate) trait Sampling: Send + Sync {
    /// Of n examples; what a checkpoint brought is kept. Called at every rest, too: trees are built again.
    fn begin(&mut self, n: usize) -> bool;
    /// The next example.
    fn draw(&self, random: &mut Random) -> usize;
    /// How probable an example is in the next draw.
    fn probability(&self, id: usize) -> f64;
    /// The estimate from which the search of this example begins; none: it has no search this time.
    fn first(&self, id: usize) -> Option<f64>;
    /// Takes in what a look found; none: it had no search.
    fn learn(&mut self, id: usize, found: Option<Found>);
    /// The step length.
    fn step(&self, l2: f64) -> f64;
    /// The penalty is another one from here on.
    fn change_l2(&mut self, _: f64) {}
    /// All that it remembers.
    fn state(&mut self) -> Vec<Slot<'_>>;
}
