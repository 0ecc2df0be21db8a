//! What a method remembers of the gradient of each example's loss, in one of three forms (Schmidt et al. 2015, sections 5.1
//! and 6), all in single precision:
//!
//! | `table` | numbers of a sequence | what they are |
//! |---|---|---|
//! | `mixed` | T K + K K | gradient in parts: labels of each position, label pairs added up over positions |
//! | `marginals` | T K + (T - 1) K K | marginals of every label and every label pair |
//! | `sparse` | weights of its features | the gradient itself, each weight once; which weights, the features tell |
//!
//! Where pairs have attributes of their own, `mixed` has pairs apart too. Padding of rows is stored with them. All three
//! lead to the same weights, up to rounding: a sum of what is remembered is moved by the difference of the rounded numbers.
//! The form changes memory and time alone; `mixed` is the smallest on nearly all data and the fastest on all.
//!
//! `marginals` does not hold the gold labels, so its first difference is taken from them; they must be known. Its
//! differences are made in `look`, where pieces can be added up, so a batch that has an example twice moves the sum once.

use crate::sampling::search;
use crate::table::Table;
use seqoia_core::cast::{real, single};
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::steps::add_rows;
use seqoia_core::{Case, Delta, Error, Note, Profile, Question, Result, Slot, Team, Weights};

/// The parameter of methods that remember gradients.
pub(crate) const TABLE: Param = Param {
    name: "table",
    kind: Kind::Word(&["mixed", "marginals", "sparse"]),
    default: Value::Word("mixed"),
    help: "how gradients are stored; the weights are the same",
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Mixed,
    Marginals,
    Sparse,
}

/// The gradients of all examples.
#[derive(Clone, Debug)]
pub(crate) struct Gradients {
    form: Form,
    table: Table,
    fresh: Vec<usize>, // stored since the batch began; `marginals` only
}

impl Gradients {
    pub(crate) fn new(settings: &Settings) -> Self {
        let form = match settings.word(TABLE.name) {
            Some("marginals") => Form::Marginals,
            Some("sparse") => Form::Sparse,
            _ => Form::Mixed,
        };
        Gradients { form, table: Table::default(), fresh: vec![] }
    }

    /// What it asks and takes, added to what its user does.
    pub(crate) fn profile(&self, profile: Profile) -> Profile {
        let mut needs = profile.needs;
        needs.extend((self.form == Form::Marginals).then_some(Question::Pieces));
        let bytes = |form| if self.form == form { size_of::<f32>() } else { 0 };
        Profile {
            needs,
            per_part: bytes(Form::Mixed),
            per_piece: bytes(Form::Marginals),
            per_entry: bytes(Form::Sparse),
            shelf: true,
            same_examples: true,
            ..profile
        }
    }

    /// Room for all examples, unless it is there; called at every rest, too.
    pub(crate) fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        match self.form {
            Form::Mixed => self.table.begin(team, &|case, _| case.parts()),
            Form::Marginals => self.table.begin(team, &|case, _| case.pieces()),
            Form::Sparse => {
                let length = |case: &mut Case<'_>, note: &mut Note| {
                    note.parts.resize(case.parts(), 0.0);
                    rows(case, note);
                    note.delta.entries().count()
                };
                self.table.begin(team, &length)
            }
        }
    }

    /// How many examples have been stored.
    pub(crate) fn stored(&self) -> usize {
        self.table.stored()
    }

    /// The gradient under `w`, a search from the estimate `l` if there is one, and what [`Gradients::replace`] will ask.
    pub(crate) fn look(
        &self,
        case: &mut Case<'_>,
        w: Weights<'_>,
        l: Option<f64>,
        note: &mut Note,
    ) -> Result<()> {
        match self.form {
            Form::Marginals => case.gradient_by_pieces(w, note)?,
            Form::Mixed | Form::Sparse => case.gradient(w, note),
        }
        if !note.loss.is_finite() && self.form == Form::Marginals {
            let what = "the loss is not finite, or a gold label is known in part, which takes `table mixed`";
            return Err(Error::Example { id: case.id, what: what.to_owned() });
        }
        if let Some(l) = l {
            search(case, w, l, note);
        }
        match self.form {
            Form::Mixed => (),
            Form::Marginals => self.subtract(case, note)?,
            Form::Sparse => {
                rows(case, note);
                let Note { parts, delta, .. } = note;
                parts.clear();
                parts.extend(delta.entries().map(|(_, x)| x));
            }
        }
        Ok(())
    }

    /// Makes `note.parts` the difference in parts, and behind it the pieces, rounded.
    fn subtract(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        let (id, length) = (case.id, note.parts.len());
        note.own[3] = real(length);
        let pieces = case.marginals_of_pieces();
        pieces.iter_mut().for_each(|p| *p = f64::from(single(*p)));
        note.parts.extend_from_slice(pieces);
        let known = self.table.has(id);
        if known {
            pieces.iter_mut().zip(&*self.table.of(id)?).for_each(|(p, old)| *p -= f64::from(*old));
        }
        let parts = &mut note.parts[..length];
        case.join_marginals(parts);
        if !known {
            case.gold(-1.0, parts);
        }
        parts.iter_mut().for_each(|part| *part *= note.weight);
        Ok(())
    }

    /// The difference between what a look found and what is stored, as rows in `note.delta`, each weight once.
    pub(crate) fn expand(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        let old = self.table.of(case.id)?;
        if self.form == Form::Sparse {
            subtract(&mut note.delta, &old);
            return Ok(());
        }
        let new = note.parts.clone();
        match self.form {
            Form::Marginals => note.parts.truncate(length(note)),
            _ => {
                let parts = note.parts.iter_mut().zip(&*old);
                parts.for_each(|(x, old)| *x = f64::from(single(*x)) - f64::from(*old));
            }
        }
        case.expand_all(note);
        case.merge(&mut note.delta);
        note.parts = new;
        Ok(())
    }

    /// A batch begins: its notes were made of what is stored now.
    pub(crate) fn open(&mut self) {
        self.fresh.clear();
    }

    /// Puts the difference between what a note has and what is stored in `moved`, and stores it if `keeps`.
    pub(crate) fn replace(&mut self, note: &Note, keeps: bool, moved: &mut Note) -> Result<()> {
        moved.clear(note.id, note.weight);
        match self.form {
            Form::Mixed => self.table.subtract(note.id, &note.parts, &mut moved.parts)?,
            Form::Marginals => {
                moved.parts.extend_from_slice(&note.parts[..length(note)]);
                if self.fresh.contains(&note.id) {
                    moved.parts.fill(0.0); // the same as what was stored a moment ago
                    return Ok(());
                }
                self.fresh.extend(keeps.then_some(note.id));
            }
            Form::Sparse => {
                moved.delta.clone_from(&note.delta);
                subtract(&mut moved.delta, &self.table.of(note.id)?);
            }
        }
        if keeps { self.keep(note) } else { Ok(()) }
    }

    /// Stores what a look found.
    pub(crate) fn keep(&mut self, note: &Note) -> Result<()> {
        let from = if self.form == Form::Marginals { length(note) } else { 0 };
        self.table.keep(note.id, &note.parts[from..])
    }

    /// `to += by * moved`.
    pub(crate) fn add(&self, moved: &Note, by: f64, team: &mut dyn Team, to: &mut [f64]) -> Result<()> {
        if self.form == Form::Sparse {
            add_rows(&moved.delta, by, to);
            return Ok(());
        }
        team.spread(std::slice::from_ref(moved), by, to)
    }

    pub(crate) fn state(&mut self) -> [Slot<'_>; 2] {
        self.table.state()
    }
}

/// How many parts stand before the pieces of a note.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it was a length
fn length(note: &Note) -> usize {
    note.own[3] as usize
}

/// `note.parts` as rows, each weight of the example's features once.
fn rows(case: &mut Case<'_>, note: &mut Note) {
    case.expand_all(note);
    case.unite(&mut note.delta);
}

/// Takes what is stored away from rows that have values of their own, rounded.
fn subtract(delta: &mut Delta, old: &[f32]) {
    let Delta { rows, pool } = delta;
    let mut old = old.iter();
    for row in rows {
        for (j, old) in row.present().zip(&mut old) {
            let x = &mut pool[row.from as usize + j];
            *x = f64::from(single(*x)) - f64::from(*old);
        }
    }
}
