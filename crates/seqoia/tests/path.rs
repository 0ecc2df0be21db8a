//! A path of penalties: it ends where a single run ends, in fewer passes, keeps the best weights, goes on after a stop as if
//! there had been none, and says what it does not go with. Runs on cut sequences keep to the same laws.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use seqoia::data::generate;
use seqoia::learners::{LEARNERS, Penalty};
use seqoia::run::{PassRow, PathRow, Wish};
use seqoia::{ChainOptions, LabelTask, LearnOptions, Passes, Run, Strength, TrainingSet, Watch};
use seqoia_testkit::bits;
use seqoia_testkit::files::{Kept, resuming};
use seqoia_testkit::labelling::{TEMPLATES, dev, fit, in_batches, learner, read, templates, try_fit};

fn set() -> TrainingSet {
    read(&generate::columns(1, 80), &templates(TEMPLATES))
}

fn path(values: &[f64]) -> Vec<Strength> {
    values.iter().map(|x| Strength::OverN(*x)).collect()
}

/// The options with a path, and without an l2.
fn along(options: LearnOptions, values: &[f64]) -> LearnOptions {
    LearnOptions { l2_path: path(values), l2: None, ..options }
}

#[derive(Default)]
struct Rows(Vec<PathRow>, Vec<PassRow>);

impl Watch for Rows {
    fn pass(&mut self, row: &PassRow) {
        self.1.push(row.clone());
    }
    fn path(&mut self, row: &PathRow) {
        self.0.push(row.clone());
    }
}

#[test]
fn a_path_ends_at_the_optimum_of_its_last_value_in_fewer_passes() {
    let set = set();
    let tight: &[(&str, &[(&str, &str)])] = &[
        ("lbfgs", &[("gradient", "1e-8"), ("tolerance", "1e-14")]),
        ("owl-qn", &[("gradient", "1e-8"), ("tolerance", "1e-14")]),
        ("sag-nus-star", &[("stop", "1e-7")]),
        ("sag-nus", &[("stop", "1e-7")]),
        ("sag", &[("stop", "1e-7")]),
        ("saga", &[("stop", "1e-7")]),
    ];
    for (name, given) in tight {
        let options = LearnOptions { passes: Some(Passes::AtMost(2000)), ..learner(name, given) };
        let mut on_path = Rows::default();
        let options = along(options, &[4.0, 1.0, 0.8]);
        let fitted = try_fit(&set, None, &options, ChainOptions::default(), &mut on_path).unwrap();
        let rows = on_path.0;
        assert_eq!(rows.len(), 3);
        assert_eq!(rows.iter().map(|row| row.passes).sum::<u64>(), fitted.trained.passes, "{name}");
        for (row, value) in rows.iter().zip([4.0, 1.0, 0.8]) {
            let single =
                LearnOptions { l2: Some(Strength::OverN(value)), l2_path: vec![], ..options.clone() };
            let single = LearnOptions { objective_every: Some(1), ..single };
            let mut alone = Rows::default();
            try_fit(&set, None, &single, ChainOptions::default(), &mut alone).unwrap();
            let best = alone.1.last().unwrap().objective.unwrap();
            let gap = (row.objective.unwrap() - best) / best;
            assert!(gap.abs() < 1e-6, "{name} at {value}: {gap:e}");
            let (passes, others) = (row.passes, alone.1.len() as u64);
            // Where the random draws of two runs differ, single ones may need more.
            assert!(value != 0.8 || passes < others || *name == "sag-nus-star", "{name}: {passes} {others}");
        }
        assert_eq!(fitted.trained.l2, rows[2].l2);
        assert!(on_path.1.iter().all(|row| rows.iter().any(|of| row.l2 == Some(of.l2))));
    }
}

/// Every learner with an l2 that can begin at given weights.
fn learners() -> impl Iterator<Item = &'static str> {
    let can =
        |l: &&seqoia::learners::Entry| l.penalty != Penalty::None && !l.profile(&l.defaults()).own_start;
    LEARNERS.iter().filter(can).map(|l| l.name)
}

#[test]
fn a_path_goes_on_as_if_it_had_not_stopped() {
    let set = set();
    let dev = dev(&generate::columns(2, 30), &set);
    for (name, dev) in learners().zip([None, Some(&dev)].into_iter().cycle()) {
        let o =
            LearnOptions { passes: Some(Passes::AtMost(2)), checkpoint_every: Some(1), ..learner(name, &[]) };
        let o = LearnOptions { threads: 2, ..along(o, &[4.0, 1.0, 0.5]) };
        let train = |o: &LearnOptions| {
            let mut kept = Kept::default();
            (try_fit(&set, dev, o, ChainOptions::default(), &mut kept).unwrap(), kept)
        };
        let (straight, kept) = train(&o);
        assert!((3..=6).contains(&straight.trained.passes), "{name}");
        for (pass, file) in &kept.files {
            let (resumed, _) = train(&LearnOptions { threads: 3, ..resuming(&o, file) });
            assert!(resumed.bytes == straight.bytes, "{name} from pass {pass}");
        }
    }
}

#[test]
fn the_first_step_is_a_run_of_its_own_and_the_best_is_kept() {
    let set = set();
    let dev = dev(&generate::columns(2, 60), &set);
    for name in ["sgd", "sag-nus-star", "lbfgs"] {
        let o = LearnOptions { passes: Some(Passes::Exactly(3)), ..learner(name, &[]) };
        let mut rows = Rows::default();
        let o = along(o, &[300.0, 1.0, 0.01]);
        let fitted = try_fit(&set, Some(&dev), &o, ChainOptions::default(), &mut rows).unwrap().trained;
        let single = LearnOptions { l2: Some(Strength::OverN(300.0)), l2_path: vec![], ..o.clone() };
        let mut alone = Rows::default();
        try_fit(&set, Some(&dev), &single, ChainOptions::default(), &mut alone).unwrap();
        let scores =
            |rows: &[PassRow]| rows.iter().map(|row| row.scores[0].value.to_bits()).collect::<Vec<_>>();
        assert_eq!(scores(&rows.1[..3]), scores(&alone.1), "{name}");
        let best = rows.1.iter().map(|row| row.scores[0].value).fold(0.0, f64::max);
        let of_best = &rows.1[usize::try_from(fitted.best_pass).unwrap() - 1];
        assert_eq!((of_best.scores[0].value, of_best.l2), (best, Some(fitted.l2)), "{name}");
        assert!(rows.0.iter().all(|row| row.nonzero > 0 && row.objective.is_some()));
        // Without dev data, or if asked for, it is the last one.
        for (dev, keep_last) in [(None, false), (Some(&dev), true)] {
            let last = fit(&set, dev, &LearnOptions { keep_last, ..o.clone() }).trained;
            assert_eq!((last.best_pass, last.l2), (9, rows.0[2].l2), "{name}");
        }
    }
}

#[test]
fn what_a_path_does_not_go_with_is_said() {
    let set = set();
    let task = LabelTask::new(&set, None);
    let refused = |o: &LearnOptions| Run::new(&task, o).err().unwrap().to_string();
    let says = |o: LearnOptions, what: &str| assert!(refused(&o).contains(what), "{}", refused(&o));
    says(along(learner("sgd", &[]), &[1.0]), "give two values at least");
    says(along(learner("sgd", &[]), &[1.0, 2.0]), "values go from large to small");
    says(along(learner("sgd", &[]), &[1.0, 1.0]), "values go from large to small");
    says(along(learner("perceptron", &[]), &[2.0, 1.0]), "perceptron has no penalty |w|^2");
    says(along(learner("sdca", &[]), &[2.0, 1.0]), "sdca begins at weights of its own");
    let both = LearnOptions { l2: Some(Strength::Plain(1.0)), ..along(learner("sgd", &[]), &[2.0, 1.0]) };
    says(both, "it stands for `l2`");
    let patience = LearnOptions { patience: Some(2), ..along(learner("sgd", &[]), &[2.0, 1.0]) };
    says(patience, "it does not go with `patience`");
    let wish = Wish { l2_path: path(&[2.0, 1.0]), ..Wish::default() };
    assert_eq!(wish.options(None, "perceptron").unwrap().learner.name, "lbfgs");
}

#[test]
fn cut_runs_go_on_after_a_stop_and_on_any_threads() {
    let set = set();
    let mut taken = 0;
    for entry in LEARNERS {
        let o = LearnOptions { cut: Some(3), passes: Some(Passes::Exactly(4)), ..learner(entry.name, &[]) };
        let profile = o.profile();
        if profile.whole || profile.same_examples {
            let told = o.check().unwrap_err().to_string();
            assert!(told.contains("needs the same examples in every pass") && told.contains("sgd"), "{told}");
            continue;
        }
        taken += 1;
        let o = LearnOptions {
            checkpoint_every: Some(1),
            ..in_batches(o, if profile.one_by_one { 1 } else { 7 })
        };
        let train = |o: &LearnOptions| {
            let mut kept = Kept::default();
            (try_fit(&set, None, o, ChainOptions::default(), &mut kept).unwrap().bytes, kept)
        };
        let (straight, kept) = train(&o);
        for threads in [2, 3, 8] {
            let o = LearnOptions { threads, ..o.clone() };
            assert!(train(&o).0 == straight, "{} on {threads}", entry.name);
            assert!(train(&resuming(&o, &kept.files[&2])).0 == straight, "{} resumed", entry.name);
        }
    }
    assert!(taken > 10, "{taken}");
    let zero = LearnOptions { cut: Some(0), ..learner("sgd", &[]) };
    assert!(zero.check().unwrap_err().to_string().contains("one token at least"));
}

#[test]
fn a_cut_run_has_the_objective_of_its_sequences() {
    let set = set();
    // Every token alone: the sum over pieces is the same function in every pass, so SGD comes near its optimum, which is
    // that of a model without label pairs, under the l2 of the sequences.
    let without = read(&generate::columns(1, 80), &templates(&TEMPLATES.replace("B\n", "")));
    let o = LearnOptions { l2: Some(Strength::OverN(1.0)), objective_every: Some(1), ..learner("sgd", &[]) };
    let o = LearnOptions { passes: Some(Passes::Exactly(300)), cut: Some(1), ..o };
    let found = fit(&set, None, &o).trained;
    let exact = learner("lbfgs", &[("gradient", "1e-7")]);
    let best = fit(&without, None, &LearnOptions { l2: Some(Strength::OverN(1.0)), ..exact }).trained;
    let squares = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>();
    let (found, best) = (squares(&found.weights), squares(&best.weights));
    assert!((found - best).abs() < 0.01 * best, "{found} {best}");
}

#[test]
fn cutting_beyond_all_lengths_changes_nothing() {
    let set = set();
    for name in ["averaged-perceptron", "sgd", "adagrad"] {
        let o = LearnOptions { passes: Some(Passes::Exactly(3)), ..learner(name, &[]) };
        let cut = fit(&set, None, &LearnOptions { cut: Some(usize::MAX), ..o.clone() });
        assert!(bits(&cut.trained.weights) == bits(&fit(&set, None, &o).trained.weights), "{name}");
    }
}

#[test]
fn tables_are_as_large_as_the_run_says() {
    let set = set();
    let task = LabelTask::new(&set, None);
    for (form, asks) in [("mixed", "sag-nus-star"), ("marginals", "saga"), ("sparse", "sag-nus-star")] {
        let o = LearnOptions { passes: Some(Passes::Exactly(2)), ..learner(asks, &[("table", form)]) };
        let table = fit(&set, None, &o).trained.table.unwrap();
        let others = LearnOptions { passes: o.passes, ..learner(asks, &[]) };
        let [this, mixed] = [&o, &others].map(|o| Run::new(&task, o).unwrap().memory());
        let of_mixed = fit(&set, None, &others).trained.table.unwrap().bytes;
        // Beside the table the runs take nearly the same.
        assert!(this >= mixed - of_mixed + table.bytes, "{form}: {this} {mixed} {table:?} {of_mixed}");
        assert!(table.dense.is_multiple_of(80) && (form != "mixed" || table.bytes < table.dense));
    }
    assert!(fit(&set, None, &learner("sgd", &[])).trained.table.is_none());
}
