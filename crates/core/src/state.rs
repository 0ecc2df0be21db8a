//! A learner's state as plain data: what checkpoints hold, what mixing adds and what travels.

use crate::{Data, Error, Learner, Result};

/// The numbers of one slot, detached from the learner.
#[derive(Clone, Debug, PartialEq)]
pub enum Plane {
    /// See [`Data::F64`].
    F64(Vec<f64>),
    /// See [`Data::F32`].
    F32(Vec<f32>),
    /// See [`Data::U32`].
    U32(Vec<u32>),
    /// See [`Data::Real`].
    Real(f64),
    /// See [`Data::Count`].
    Count(u64),
}

/// All slots of a learner at rest, in its own order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Name and numbers of each slot.
    pub slots: Vec<(String, Plane)>,
}

impl State {
    /// Copies a learner's state.
    pub fn save(learner: &mut dyn Learner) -> State {
        let plane = |data| match data {
            Data::F64(x) => Plane::F64(x.clone()),
            Data::F32(x) => Plane::F32(x.clone()),
            Data::U32(x) => Plane::U32(x.clone()),
            Data::Real(x) => Plane::Real(*x),
            Data::Count(x) => Plane::Count(*x),
        };
        State { slots: learner.state().into_iter().map(|s| (s.name.to_owned(), plane(s.data))).collect() }
    }

    /// Moves the state into a learner of the same kind; the strategy then calls `rest`.
    ///
    /// # Errors
    /// When the slots are not the learner's.
    pub fn load(self, learner: &mut dyn Learner) -> Result<()> {
        let slots = learner.state();
        if slots.len() != self.slots.len() {
            let what = format!("the saved state has {} parts, the learner {}", self.slots.len(), slots.len());
            return Err(Error::Mismatch(what));
        }
        for (slot, (name, plane)) in slots.into_iter().zip(self.slots) {
            match (slot.data, plane) {
                (Data::F64(to), Plane::F64(x)) if slot.name == name => *to = x,
                (Data::F32(to), Plane::F32(x)) if slot.name == name => *to = x,
                (Data::U32(to), Plane::U32(x)) if slot.name == name => *to = x,
                (Data::Real(to), Plane::Real(x)) if slot.name == name => *to = x,
                (Data::Count(to), Plane::Count(x)) if slot.name == name => *to = x,
                _ => {
                    let what =
                        format!("the saved state has '{name}' where the learner keeps '{}'", slot.name);
                    return Err(Error::Mismatch(what));
                }
            }
        }
        Ok(())
    }
}
