//! A run between two passes, as a file: all that a stopped run needs to go on as if nothing had happened.
//!
//! The file is a container as a model is, with the sections `checkpoint` (JSON), `slot.0`, `slot.1`, ...
//! (the learner's state), `best` (the weights to ship so far) and, for open feature spaces, `structure` (its
//! memo). Orders and random streams belong to the number of a pass, and the dev scores of the best weights are
//! computed anew, so there is nothing else.
//!
//! The same result can only be had from the same data and options: the file names them as its *terms* and
//! *inputs*, and a run with others is refused with a sentence that says what differs.

use std::path::Path;

use seqoia_core::cast::single;
use seqoia_core::{Data, Learner, Plane, State, Structure};
use seqoia_model::{Container, Error as ModelError, Writer};
use serde::{Deserialize, Serialize};

use super::Terms;
use super::progress::Progress;
use crate::error::{BadOption, Error, Result};

/// Models do not have it.
const SECTION: &str = "checkpoint";
/// The memo of a structure with an open feature space.
const STRUCTURE: &str = "structure";
/// Counts beyond this are no counts: what is added to one that was read must not overflow.
const MOST: u64 = 1 << 53;

/// The name of the training data's digest among the inputs.
pub(super) const DATA: &str = "training data";
/// The name of the warm start's digest among the terms.
pub(super) const START: &str = "start";

/// What fixes the result of a run: options as they are, digests of what was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Digests {
    pub(super) terms: Terms,
    pub(super) inputs: Terms,
}

#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    digests: Digests,
    pass: u64,
    best_pass: u64,
    #[serde(default)]
    step: usize,
    #[serde(default)]
    before: u64,
    #[serde(default)]
    best_step: usize,
    converged: Option<String>,
    slots: Vec<(String, Kind)>,
}

/// What a slot holds.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    F64,
    F32,
    U32,
    Real,
    Count,
}

/// The file of a run that has come so far.
pub(super) fn bytes(
    digests: &Digests,
    progress: &Progress,
    learner: &mut dyn Learner,
    structure: &dyn Structure,
) -> Vec<u8> {
    let memo = structure.memo();
    let slots = learner.state();
    let kind = |data: &Data<'_>| match data {
        Data::F64(_) => Kind::F64,
        Data::F32(_) => Kind::F32,
        Data::U32(_) => Kind::U32,
        Data::Real(_) => Kind::Real,
        Data::Count(_) => Kind::Count,
    };
    let head = Head {
        digests: digests.clone(),
        pass: progress.pass,
        best_pass: progress.best_pass,
        step: progress.step,
        before: progress.before,
        best_step: progress.best_step,
        converged: progress.converged.clone(),
        slots: slots.iter().map(|s| (s.name.to_owned(), kind(&s.data))).collect(),
    };
    let head = serde_json::to_vec(&head).unwrap_or_default();
    let mut writer = Writer::default();
    writer.add(SECTION, &head);
    for (i, slot) in slots.iter().enumerate() {
        let name = section(i);
        match &slot.data {
            Data::F64(x) => writer.add(&name, x),
            Data::F32(x) => writer.add(&name, x),
            Data::U32(x) => writer.add(&name, x),
            Data::Real(x) => writer.add(&name, std::slice::from_ref(&**x)),
            Data::Count(x) => writer.add(&name, std::slice::from_ref(&**x)),
        }
    }
    writer.add("best", &progress.best);
    if let Some(memo) = &memo {
        writer.add(STRUCTURE, memo);
    }
    writer.to_bytes()
}

fn section(slot: usize) -> String {
    format!("slot.{slot}")
}

/// A checkpoint is not a model.
///
/// # Errors
/// If it is one.
pub(crate) fn refuse(container: &Container) -> Result<()> {
    if !container.has(SECTION) {
        return Ok(());
    }
    let help = "`resume` goes on with it and writes a model";
    Err(ModelError::new(container.file(), "this is a checkpoint, not a model", help).into())
}

/// Whether so many weights are those of a structure; an open space may have more features by now.
pub(super) fn fits(weights: usize, structure: &dyn Structure) -> bool {
    match structure.memo() {
        None => weights == structure.weights(),
        Some(_) => weights <= structure.weights(),
    }
}

/// A run to go on with.
pub struct Checkpoint {
    container: Container,
    head: Head,
}

impl Checkpoint {
    /// Maps a file.
    ///
    /// # Errors
    /// When it cannot be read, is no checkpoint, or is damaged.
    pub fn open(path: &Path) -> Result<Checkpoint> {
        Self::read(Container::open(path).map_err(of_checkpoint)?)
    }

    /// A checkpoint that is in memory; `name` is for errors.
    ///
    /// # Errors
    /// When it is no checkpoint or is damaged.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Checkpoint> {
        Self::read(Container::from_bytes(name, bytes).map_err(of_checkpoint)?)
    }

    fn read(container: Container) -> Result<Checkpoint> {
        if !container.has(SECTION) && container.has("meta") {
            let help = "`warm-start` begins a new run from a model";
            return Err(ModelError::new(container.file(), "this is a model, not a checkpoint", help).into());
        }
        let text = container.get(SECTION).map_err(of_checkpoint)?;
        let head: Head = serde_json::from_slice(text)
            .map_err(|e| damaged(&container, &format!("its description cannot be read: {e}")))?;
        if head.pass == 0 || head.pass > MOST || !(1..=head.pass).contains(&head.best_pass) {
            return Err(damaged(&container, "its pass number is invalid"));
        }
        if head.best_step > head.step || head.before > head.pass {
            return Err(damaged(&container, "its place on the path is invalid"));
        }
        Ok(Checkpoint { container, head })
    }

    /// Size of the file.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.container.len()
    }

    /// The passes made.
    #[must_use]
    pub fn pass(&self) -> u64 {
        self.head.pass
    }

    /// The number of the l2 under which the run goes on.
    pub(super) fn step(&self) -> usize {
        self.head.step
    }

    /// Whether a run with these terms and so many passes can go on from here.
    pub(super) fn check(&self, digests: &Digests, passes: u64) -> Result<()> {
        let (file, old, new) = (self.container.file(), &self.head.digests, digests);
        let none = "none".to_owned();
        let changed = |old: &Terms, new: &Terms| -> Vec<(String, String, String)> {
            let names: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
            let pair = |name: &String| {
                let of = |terms: &Terms| terms.get(name).unwrap_or(&none).clone();
                (name.clone(), of(old), of(new))
            };
            names.into_iter().map(pair).filter(|(_, was, is)| was != is).collect()
        };
        let terms = changed(&old.terms, &new.terms).into_iter().map(|(name, was, is)| match name.as_str() {
            START => "another `warm-start`".to_owned(),
            _ => format!("{name} {was}, not {is}"),
        });
        let inputs = changed(&old.inputs, &new.inputs).into_iter().map(|(name, ..)| format!("other {name}"));
        let differ: Vec<String> = inputs.chain(terms).collect();
        if !differ.is_empty() {
            let what = format!("the run that made it had {}", differ.join("; "));
            let help =
                "go on with the same data and options; only `passes`, `max-passes` and `threads` may change";
            return Err(ModelError::new(file, what, help).into());
        }
        if passes < self.pass() {
            let what = format!(
                "{file} is of pass {0}, and {passes} are wanted in all: give at least {0}",
                self.pass()
            );
            return Err(BadOption::new(what).into());
        }
        Ok(())
    }

    /// Puts the state into a learner of the same kind; the progress is still without scores.
    pub(super) fn load(&self, learner: &mut dyn Learner, structure: &dyn Structure) -> Result<Progress> {
        if self.container.has(STRUCTURE) {
            structure.recall(self.get(STRUCTURE)?)?;
        }
        let mut slots = vec![];
        for (i, (name, kind)) in self.head.slots.iter().enumerate() {
            let section = section(i);
            let plane = match kind {
                Kind::F64 => Plane::F64(self.get::<f64>(&section)?.to_vec()),
                Kind::F32 => Plane::F32(self.get::<f32>(&section)?.to_vec()),
                Kind::U32 => Plane::U32(self.get::<u32>(&section)?.to_vec()),
                Kind::Real => Plane::Real(*self.one(&section)?),
                Kind::Count => Plane::Count(*self.one(&section)?),
            };
            let fits = match &plane {
                Plane::F64(w) if name == "w" => fits(w.len(), structure),
                Plane::Count(n) => *n <= MOST,
                Plane::Real(x) => x.is_finite(),
                _ => true,
            };
            if !fits {
                return Err(damaged(&self.container, &format!("its '{name}' does not fit")));
            }
            slots.push((name.clone(), plane));
        }
        State { slots }.load(learner)?;
        let best = self.get::<f64>("best")?.to_vec();
        if !fits(best.len(), structure) || best.iter().any(|w| !single(*w).is_finite()) {
            return Err(damaged(&self.container, "its best weights do not fit"));
        }
        let Head { pass, best_pass, step, before, best_step, converged, .. } = &self.head;
        let [pass, best_pass, before] = [*pass, *best_pass, *before];
        let ([step, best_step], converged) = ([*step, *best_step], converged.clone());
        let effective = 0.0; // not bounded in a run that is resumed
        Ok(Progress { pass, effective, step, before, best_step, converged, best, best_pass, scores: vec![] })
    }

    fn get<T: seqoia_model::Number>(&self, section: &str) -> Result<&[T]> {
        Ok(self.container.get(section).map_err(of_checkpoint)?)
    }

    fn one<T: seqoia_model::Number>(&self, section: &str) -> Result<&T> {
        let numbers = self.get(section)?;
        numbers.first().ok_or_else(|| damaged(&self.container, &format!("section '{section}' is empty")))
    }
}

fn damaged(container: &Container, what: &str) -> Error {
    let help = "the file is damaged: copy it again, or train from the start";
    ModelError::new(container.file(), what, help).into()
}

/// The container speaks of models.
fn of_checkpoint(error: ModelError) -> ModelError {
    let help = match error.help.starts_with("models are made") {
        true => "checkpoints are made by training, with `checkpoint FILE`".to_owned(),
        false => error.help.replace("train the model anew", "train from the start"),
    };
    ModelError { what: error.what.replace("model", "checkpoint"), help, file: error.file }
}
