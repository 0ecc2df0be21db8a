//! Cut sequences: pieces cover each of them once, anew in each pass; a piece is looked at as a sequence of its own; what
//! learners make of them does not depend on threads, and is what they make of a corpus of the pieces.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::{narrow, real};
use seqoia_core::{
    Example, Items, Learner, Ragged, Random, Sequence, SequenceView, Structure, Team, Weights,
};
use seqoia_learners::registry::{LEARNERS, Objective};
use seqoia_strategies::{Cuts, Piece, Setup, Workers};
use seqoia_structures::brute;
use seqoia_structures::chain::{Chain, Rules, Sets};
use seqoia_testkit::chains::{PLAIN, Toy, learnable, make};
use seqoia_testkit::guess::Guess;
use seqoia_testkit::teams::{learner, run, setup, strategy, usual};
use seqoia_testkit::{bits, close};

const HUGE: usize = 1 << 40;

fn cut(threads: usize, length: usize) -> Setup {
    Setup { cut: Some(length), ..setup(threads) }
}

fn drawn(structure: &dyn Structure, length: usize, pass: u64) -> Vec<Piece> {
    let mut cuts = Cuts::new(structure, length).unwrap();
    cuts.draw(structure, &mut Random::new(setup(1).seed, pass, 0, "cut"));
    cuts.pieces().to_vec()
}

#[test]
fn pieces_cover_each_sequence_once_in_every_pass() {
    let chain = learnable(80, 5);
    for length in [1, 2, 3, 5, 11, 12, 100, HUGE, usize::MAX] {
        let mut passes = vec![];
        for pass in 0..6 {
            let pieces = drawn(&chain, length, pass);
            assert_eq!(pieces.len(), Cuts::number(&chain, length));
            let (mut id, mut end) = (0, 0);
            for piece in &pieces {
                if end == narrow(chain.size(id)) {
                    (id, end) = (id + 1, 0);
                }
                assert_eq!((piece.id as usize, piece.from), (id, end));
                assert!(
                    piece.to > piece.from && real((piece.to - piece.from) as usize) <= 2.5 * real(length)
                );
                end = piece.to;
            }
            assert_eq!((id + 1, end as usize), (chain.examples(), chain.size(id)));
            passes.push(pieces);
        }
        let same = passes.windows(2).all(|two| two[0] == two[1]);
        assert_eq!(same, length == 1 || length > 8, "{length}");
    }
    // Every place is cut at some time.
    let places: std::collections::BTreeSet<_> = (0..200)
        .flat_map(|pass| drawn(&chain, 3, pass))
        .filter(|p| p.from > 0)
        .map(|p| (p.id, p.from))
        .collect();
    let longest = (0..80).find(|id| chain.size(*id) == 12).unwrap();
    let of = places.iter().filter(|(id, _)| *id as usize == longest).map(|(_, at)| *at).collect::<Vec<_>>();
    assert!(of.len() >= 9, "{of:?}");
}

#[test]
fn a_length_beyond_all_sequences_cuts_nothing() {
    for entry in LEARNERS.iter().filter(|entry| cuttable(&*usual(entry))) {
        let weights = |setup| {
            let (mut learner, mut strategy) =
                (usual(entry), strategy("serial", Arc::new(learnable(40, 1)), setup, 1));
            strategy.begin(&mut *learner, false).unwrap();
            run(&mut *strategy, &mut *learner, 1..=3);
            bits(&learner.weights())
        };
        assert!(weights(cut(1, HUGE)) == weights(setup(1)), "{}", entry.name);
        assert!(weights(cut(1, 2)) != weights(setup(1)), "{}", entry.name);
    }
}

fn cuttable(learner: &dyn Learner) -> bool {
    let profile = learner.profile();
    !profile.whole && !profile.same_examples
}

#[test]
fn threads_and_stops_change_nothing() {
    for entry in LEARNERS.iter().filter(|entry| cuttable(&*usual(entry))) {
        for size in if usual(entry).profile().takes_batches() { vec![1, 7] } else { vec![1] } {
            let fresh = |threads| {
                let name = if size > 1 { "minibatch" } else { "serial" };
                (usual(entry), strategy(name, Arc::new(learnable(40, 1)), cut(threads, 3), size))
            };
            let (mut one, mut serial) = fresh(1);
            serial.begin(&mut *one, false).unwrap();
            run(&mut *serial, &mut *one, 1..=4);
            for threads in [2, 3, 8] {
                let (mut half, mut first) = fresh(threads);
                first.begin(&mut *half, false).unwrap();
                run(&mut *first, &mut *half, 1..=2);
                let (mut other, mut second) = fresh(1);
                seqoia_core::State::save(&mut *half).load(&mut *other).unwrap();
                second.begin(&mut *other, true).unwrap();
                run(&mut *second, &mut *other, 3..=4);
                assert!(bits(&one.weights()) == bits(&other.weights()), "{} of {size}", entry.name);
            }
        }
    }
}

/// A stretch of lists, copied.
fn copied(items: Items<'_>) -> Ragged {
    let mut to = Ragged { starts: vec![0], ..Ragged::default() };
    if items.is_empty() {
        return Ragged::default();
    }
    for t in 0..items.len() {
        to.items.extend_from_slice(items.at(t));
        to.values.extend_from_slice(items.values_at(t).unwrap_or_default());
        to.starts.push(narrow(to.items.len()));
    }
    to
}

fn copy(x: SequenceView<'_>) -> Sequence {
    Sequence { nodes: copied(x.nodes), edges: copied(x.edges), labels: x.labels.to_vec(), weight: x.weight }
}

/// The pieces of a pass as a corpus.
fn corpus(all: &[Sequence], chain: &Chain, length: usize, pass: u64) -> Vec<Sequence> {
    let pieces = drawn(chain, length, pass);
    let of = |p: &Piece| copy(all[p.id as usize].view().stretch(p.from as usize, p.to as usize));
    pieces.iter().map(of).collect()
}

#[test]
fn learning_from_pieces_is_learning_from_a_corpus_of_them() {
    for (edges, values) in [(false, false), (true, false), (false, true), (true, true)] {
        let (chain, all, _) = make(Toy { length: 9, edges, values, ..PLAIN }, 3);
        let pieces = corpus(&all, &chain, 2, 1);
        assert!(pieces.len() > 2 * all.len());
        let short: Arc<dyn Structure> = Arc::new(Chain::new(Arc::clone(chain.space()), Arc::new(pieces)));
        let rate: &[(&str, &str)] = &[("rate", "0.3")];
        for (name, given) in [
            ("averaged-perceptron", [].as_slice()),
            ("pa", &[]),
            ("sgd", rate),
            ("adagrad", rate),
            ("sg", rate),
        ] {
            for threads in [1, 3] {
                let weights = |structure: Arc<dyn Structure>, setup| {
                    let mut learner = learner(
                        name,
                        given,
                        Objective {
                            l1: 0.0,
                            l2: if name == "averaged-perceptron" || name == "pa" { 0.0 } else { 0.02 },
                        },
                    );
                    let mut strategy = strategy("minibatch", structure, setup, 4);
                    strategy.begin(&mut *learner, false).unwrap();
                    run(&mut *strategy, &mut *learner, 1..=1);
                    bits(&learner.weights())
                };
                let cut = weights(Arc::clone(&chain) as _, cut(threads, 2));
                assert!(cut == weights(Arc::clone(&short), setup(1)), "{name} {edges} {values}");
                assert!(cut.iter().any(|w| *w != 0));
            }
        }
    }
}

/// A team with the pieces of a pass.
fn team(chain: Arc<Chain>, length: usize, pass: u64) -> Workers {
    let mut team = Workers::new(chain, cut(1, length), 1).unwrap();
    team.start(pass);
    team
}

/// `-log p` by enumeration of the labellings that are allowed.
fn loss(chain: &Chain, w: &[f64], x: SequenceView<'_>, allowed: impl Fn(&[u16]) -> bool) -> f64 {
    let space = chain.space().view();
    let all = brute::labellings(space.labels, x.len());
    let sum: f64 = all.iter().filter(|y| allowed(y)).map(|y| brute::score(space, w, x, y).exp()).sum();
    sum.ln() - brute::score(space, w, x, x.labels)
}

#[test]
fn the_loss_of_a_sequence_is_that_of_its_pieces() {
    for (edges, values) in [(false, false), (true, true)] {
        let (chain, all, w) = make(Toy { length: 5, edges, values, ..PLAIN }, 8);
        for pass in 1..4 {
            let (mut team, pieces) = (team(Arc::clone(&chain), 2, pass), drawn(&*chain, 2, pass));
            let mut sum = 0.0;
            for (number, p) in pieces.iter().enumerate() {
                let x = all[p.id as usize].view();
                let expected = loss(&chain, &w, x.stretch(p.from as usize, p.to as usize), |_| true);
                let found = team.total(Some(&[number]), Weights::plain(&w), None).unwrap();
                assert!(close(found, x.weight * expected, 1e-10), "{found} {expected}");
                sum += x.weight * expected;
            }
            let ids: Vec<usize> = (0..pieces.len()).collect();
            assert!(close(team.total(Some(&ids), Weights::plain(&w), None).unwrap(), sum, 1e-10));
            // The sum over everything is that of whole sequences.
            let whole: f64 = all.iter().map(|x| x.weight * loss(&chain, &w, x.view(), |_| true)).sum();
            assert!(close(team.total(None, Weights::plain(&w), None).unwrap(), whole, 1e-10));
            assert!(!close(sum, whole, 1e-3));
        }
    }
}

#[test]
fn rules_of_ends_hold_at_ends_of_sequences_only() {
    // Label 2 begins no sequence and ends none, and nothing else is ruled out; gold labels keep to that.
    let rules = Rules::new(3, |before, after| !matches!((before, after), (None, Some(2)) | (Some(2), None)));
    let (plain, mut all, w) = make(Toy { length: 6, ..PLAIN }, 4);
    for x in &mut all {
        x.labels = vec![0, 2, 2, 2, 2, 1];
    }
    let space = Arc::clone(plain.space());
    let chain =
        Chain::new(space, Arc::new(all.clone())).with_limits(Some(Arc::new(rules)), Sets::new(3)).unwrap();
    let chain = Arc::new(chain);
    for pass in 1..4 {
        let mut team = team(Arc::clone(&chain), 2, pass);
        for (number, p) in drawn(&*chain, 2, pass).iter().enumerate() {
            let x = all[p.id as usize].view();
            let allowed = |y: &[u16]| !(p.from == 0 && y[0] == 2 || p.to == 6 && *y.last().unwrap() == 2);
            let expected = loss(&chain, &w, x.stretch(p.from as usize, p.to as usize), allowed);
            let found = team.total(Some(&[number]), Weights::plain(&w), None).unwrap();
            assert!(close(found, x.weight * expected, 1e-10), "{p:?}: {found} {expected}");
        }
    }
    // A search keeps to the same.
    let mut learner = learner("perceptron", &[], Objective::default());
    let mut strategy = strategy("serial", chain, cut(1, 2), 1);
    strategy.begin(&mut *learner, false).unwrap();
    let wrong = run(&mut *strategy, &mut *learner, 1..=30);
    assert_eq!(wrong.last(), Some(&0), "{wrong:?}");
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let told = Cuts::new(&Guess::new(5), 3).unwrap_err().to_string();
    assert_eq!(told, "a guess does not offer parts of its examples as examples");
    assert!(Workers::new(Arc::new(Guess::new(5)), cut(1, 3), 1).is_err());
}
