//! A run knows no chain: it trains a structure that only searches, in an open space of weights, with a task of a
//! few lines; and it ends when the learner, the user or nobody says so.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use seqoia::core::{
    Case, Data, Done, Judge, Lane, Learner, Mix, Note, Profile, Score, Search, Slot, Structure, Team, Update,
    Weights, online,
};
use seqoia::learners::{Entry, Penalty};
use seqoia::run::{Description, Load, Need, Start, Terms};
use seqoia::{Ended, Head, LearnOptions, Model, Passes, Result, Run, Task, Trained};
use seqoia_learners::AveragedPerceptron;
use seqoia_model::Writer;
use seqoia_strategies::Crew;
use seqoia_testkit::files::{Kept, resuming};
use seqoia_testkit::guess::{Guess, by_feature};
use seqoia_testkit::labelling::passes;

/// Which word is the answer.
struct Guessing {
    answers: Vec<usize>,
    dev: bool,
}

impl Guessing {
    /// Answers that cannot all be learned, so that weights never rest.
    fn new(examples: usize) -> Guessing {
        Guessing { answers: (0..examples).map(|i| (i * i + i / 5) % 3).collect(), dev: false }
    }
}

/// How many answers are right.
struct Right(Box<dyn Lane>, usize);

impl Judge for Right {
    fn scores(&mut self, w: &[f64]) -> seqoia::core::Result<Vec<Score>> {
        let search = Search { k: 1, cost: 0.0, update: Update::Full };
        let mut right = 0.0;
        for id in 0..self.1 {
            self.0.open(id)?;
            let mut note = Note::default();
            note.clear(id, 1.0);
            self.0.violations(Weights::plain(w), &search, &mut note)?;
            right += f64::from(u8::from(!note.wrong));
        }
        Ok(vec![Score::gain("right", right)])
    }
}

impl Task for Guessing {
    fn kind(&self) -> &'static str {
        "guess"
    }
    fn check(&self, _: &LearnOptions) -> Result<()> {
        Ok(())
    }
    fn structure(&self, _: &LearnOptions) -> Result<Arc<dyn Structure>> {
        Ok(Arc::new(Guess::with(self.answers.clone())))
    }
    fn judge<'a>(&'a self, _: &Arc<Crew>, structure: &Arc<dyn Structure>) -> Option<Box<dyn Judge + 'a>> {
        let lane = Arc::clone(structure).lane(0).unwrap();
        self.dev.then(|| Box::new(Right(lane, self.answers.len())) as Box<dyn Judge>)
    }
    fn weight(&self) -> f64 {
        f64::from(u32::try_from(self.answers.len()).unwrap())
    }
    fn examples(&self) -> usize {
        self.answers.len()
    }
    fn size(&self) -> usize {
        self.answers.len()
    }
    fn terms(&self, _: &LearnOptions) -> Terms {
        Terms::from([("words".to_owned(), "3".to_owned())])
    }
    fn inputs(&self) -> Terms {
        Terms::from([("training data".to_owned(), format!("{:?}", self.answers))])
    }
    fn memory(&self, _: &Load) -> Need {
        Need { weights: 12, ..Need::default() }
    }
    fn describe(&self, _: &LearnOptions) -> Description {
        Description::default()
    }
    fn model(&self, trained: &Trained, head: Head) -> Result<Vec<u8>> {
        let (mut writer, head) = (Writer::default(), serde_json::to_vec(&head).unwrap());
        writer.add("meta", &head);
        writer.add("weights", &trained.weights);
        writer.add("features", trained.memo.as_deref().unwrap());
        Ok(writer.to_bytes())
    }
}

fn train(task: &dyn Task, options: &LearnOptions) -> Trained {
    Run::new(task, options).unwrap().run(&mut (), &Arc::default()).unwrap()
}

fn same(a: &Trained, b: &Trained) -> bool {
    let features = |t: &Trained| by_feature(&t.weights, t.memo.as_ref().unwrap());
    !features(a).is_empty() && features(a) == features(b)
}

/// The averaged perceptron, which says after its third pass that it is done.
struct Counting {
    inner: AveragedPerceptron,
    passes: u64,
    says: Done,
    stops: bool,
}

impl Counting {
    fn make(says: Done, stops: bool) -> Box<dyn Learner> {
        Box::new(Counting { inner: AveragedPerceptron::new(Update::Full), passes: 0, says, stops })
    }
}

impl Learner for Counting {
    fn profile(&self) -> Profile {
        Profile { name: "counting", stops: self.stops, ..self.inner.profile() }
    }
    fn begin(&mut self, team: &mut dyn Team) -> seqoia::core::Result<()> {
        self.inner.begin(team)
    }
    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> seqoia::core::Result<()> {
        self.inner.look(case, note)
    }
    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> seqoia::core::Result<()> {
        self.inner.learn(batch, team)
    }
    fn rest(&mut self, team: &mut dyn Team) -> seqoia::core::Result<()> {
        self.inner.rest(team)
    }
    fn pass(&mut self, team: &mut dyn Team) -> seqoia::core::Result<Done> {
        online(self, team)?;
        self.passes += 1;
        Ok(if self.passes < 3 { Done::Pass } else { self.says.clone() })
    }
    fn weights(&self) -> Vec<f64> {
        self.inner.weights()
    }
    fn state(&mut self) -> Vec<Slot<'_>> {
        let mut slots = self.inner.state();
        slots.push(Slot { name: "passes", mix: Mix::Same, data: Data::Count(&mut self.passes) });
        slots
    }
}

const COUNTING: Entry = Entry {
    name: "counting",
    summary: "has had enough after three passes",
    reference: "",
    penalty: Penalty::None,
    l2: 0.0,
    passes: 10,
    params: &[],
    make: |_, _| Counting::make(Done::Converged("three are enough"), true),
};
static CONVERGING: Entry = COUNTING;
static QUIET: Entry =
    Entry { make: |_, _| Counting::make(Done::Converged("three are enough"), false), ..COUNTING };
static STUCK: Entry = Entry { make: |_, _| Counting::make(Done::Stuck("no way on"), true), ..COUNTING };

#[test]
fn an_online_learner_may_end_a_run() {
    let task = Guessing::new(30);
    let ended = |entry: &'static Entry, passes: Option<Passes>| {
        let trained = train(&task, &LearnOptions { passes, ..LearnOptions::new(entry, entry.defaults()) });
        (trained.passes, trained.ended)
    };
    let converged = || Ended::Converged("three are enough".to_owned());
    assert_eq!(ended(&CONVERGING, None), (3, converged()));
    assert_eq!(ended(&CONVERGING, Some(Passes::AtMost(5))), (3, converged()));
    assert_eq!(ended(&CONVERGING, Some(Passes::AtMost(2))), (2, Ended::Passes));
    // Who names a number gets it.
    assert_eq!(ended(&CONVERGING, Some(Passes::Exactly(5))), (5, Ended::Passes));
    // A learner without a stopping test makes its usual number of passes.
    assert_eq!(ended(&QUIET, None), (10, Ended::Passes));
    // But no pass is made that cannot change anything.
    let stuck = Ended::Converged("no way on".to_owned());
    assert_eq!(ended(&STUCK, Some(Passes::Exactly(5))), (3, stuck));
}

#[test]
fn an_end_is_kept_in_a_checkpoint() {
    let (task, mut kept) = (Guessing::new(30), Kept::default());
    let options =
        LearnOptions { checkpoint_every: Some(1), ..LearnOptions::new(&CONVERGING, CONVERGING.defaults()) };
    let straight = Run::new(&task, &options).unwrap().run(&mut kept, &Arc::default()).unwrap();
    assert_eq!(kept.files.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    for (pass, file) in &kept.files {
        let resumed = train(&task, &resuming(&options, file));
        assert!(same(&resumed, &straight), "from pass {pass}");
        assert_eq!((resumed.passes, &resumed.ended), (3, &straight.ended));
    }
    // A number of passes that is named goes on from there.
    let more = LearnOptions { passes: Some(Passes::Exactly(6)), ..resuming(&options, &kept.files[&3]) };
    let more = train(&task, &more);
    assert_eq!((more.passes, &more.ended), (6, &Ended::Passes));
    assert!(!same(&more, &straight));
}

#[test]
fn an_open_space_goes_on_as_if_it_had_not_stopped() {
    for dev in [false, true] {
        let task = Guessing { dev, ..Guessing::new(40) };
        let mut options = passes("averaged-perceptron", 4);
        options.checkpoint_every = Some(1);
        let straight = train(&task, &options);
        assert!(straight.memo.as_ref().is_some_and(|memo| memo.len() == 12));
        assert_eq!(straight.scores.len(), usize::from(dev));
        let stop = Arc::new(AtomicBool::new(false));
        let mut kept = Kept { stop: Some((1, Arc::clone(&stop))), ..Kept::default() };
        let stopped = Run::new(&task, &options).unwrap().run(&mut kept, &stop).unwrap();
        assert_eq!((stopped.passes, &stopped.ended), (1, &Ended::Interrupted));
        assert!(dev || !same(&stopped, &straight));
        // The file alone knows the numbers of features: each run has a structure of its own.
        let resumed = train(&task, &LearnOptions { threads: 2, ..resuming(&options, &kept.files[&1]) });
        assert!(same(&resumed, &straight), "dev {dev}");
        assert_eq!(
            (resumed.passes, resumed.best_pass, resumed.scores),
            (4, straight.best_pass, straight.scores)
        );
    }
}

#[test]
fn a_warm_start_brings_its_features_along() {
    // Answers that can be learned: then there is nothing left to learn.
    let task = Guessing { answers: (0..40).map(|i| i % 4 % 3).collect(), dev: false };
    let mut first = train(&task, &passes("perceptron", 5));
    first.weights.iter_mut().for_each(|w| *w *= 2.0); // which no run from nothing finds
    let (weights, memo) = (first.weights.clone(), first.memo.clone().unwrap());
    let from = |weights: &[f64], memo: Option<&[u8]>| {
        let start = Start { weights: weights.to_vec(), memo: memo.map(<[u8]>::to_vec) };
        let options = LearnOptions { start: Some(start), ..passes("perceptron", 1) };
        Run::new(&task, &options).unwrap().run(&mut (), &Arc::default())
    };
    assert!(same(&from(&weights, Some(&memo)).unwrap(), &first));
    assert!(!same(&from(&[], None).unwrap(), &first));
    // Weights go with features, not with numbers.
    let mut backwards = weights.clone();
    backwards.resize(memo.len(), 0.0);
    backwards.reverse();
    let numbers: Vec<u8> = memo.iter().rev().copied().collect();
    assert!(same(&from(&backwards, Some(&numbers)).unwrap(), &first));
    // Without features, the weights belong to nothing.
    let error = from(&weights, None).unwrap_err().to_string();
    assert!(error.contains("not those of this data"), "{error}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let (task, mut kept) = (Guessing::new(30), Kept::default());
    let options = LearnOptions { checkpoint_every: Some(1), ..passes("averaged-perceptron", 1) };
    let run = Run::new(&task, &options).unwrap();
    let trained = run.run(&mut kept, &Arc::default()).unwrap();
    let resumed = resuming(&options, &kept.files[&1]);
    let error = Run::new(&Guessing::new(31), &resumed).unwrap().resumed().unwrap_err().to_string();
    assert!(error.contains("had other training data\n"), "{error}");
    // It does not offer what log-linear learners ask for.
    let lbfgs = passes("lbfgs", 1);
    let error = Run::new(&task, &lbfgs).unwrap().run(&mut (), &Arc::default()).unwrap_err().to_string();
    assert_eq!(error, "lbfgs needs marginals, which a guess does not offer");
    // A model of a kind that this program does not know has a head that it can read.
    let error = Model::from_bytes("m", &run.model(&trained).unwrap()).err().unwrap().to_string();
    assert!(error.starts_with("m: the model is a 'guess', which this program does not know"), "{error}");
}
