//! Lists of candidates against their definition: loss by enumeration, gradients by differences, violations by looking
//! at all candidates, ties included.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::{narrow, real, single};
use seqoia_core::{
    Bench, Case, Delta, List, Note, Ragged, Random, Row, Search, Structure, Update, Weights, sum_by_parts,
};
use seqoia_structures::list::{Lists, best};
use seqoia_testkit::close;

const FEATURES: usize = 9;

/// Random lists; with `ties`, costs and values are whole numbers.
fn lists(seed: u64, ties: bool) -> Vec<List> {
    let mut random = Random::new(seed, 0, 0, "lists");
    let number = |random: &mut Random| match ties {
        true => real(random.below(3)),
        false => random.unit() * 2.0 - 0.5,
    };
    (0..20)
        .map(|_| {
            let (mut candidates, mut costs) = (Ragged { starts: vec![0], ..Ragged::default() }, vec![]);
            for _ in 0..1 + random.below(6) {
                for _ in 0..random.below(4) {
                    candidates.items.push(narrow(random.below(FEATURES)));
                    candidates.values.push(single(number(&mut random)));
                }
                candidates.starts.push(narrow(candidates.items.len()));
                costs.push(number(&mut random));
            }
            if candidates.values.is_empty() {
                candidates.items.push(0);
                candidates.values.push(1.0);
                *candidates.starts.last_mut().unwrap() = 1;
            }
            List { candidates, costs, weight: 0.5 + random.unit() }
        })
        .collect()
}

fn weights(seed: u64, ties: bool) -> Vec<f64> {
    let mut random = Random::new(seed, 1, 0, "weights");
    (0..FEATURES)
        .map(|_| if ties { real(random.below(3)) - 1.0 } else { random.unit() * 4.0 - 2.0 })
        .collect()
}

/// `w . f` of each candidate, feature by feature.
fn scores(list: &List, w: &[f64]) -> Vec<f64> {
    let r = &list.candidates;
    let range = |j: usize| r.starts[j] as usize..r.starts[j + 1] as usize;
    let score = |j: usize| range(j).map(|i| w[r.items[i] as usize] * f64::from(r.values[i])).sum();
    (0..list.costs.len()).map(score).collect()
}

fn least(list: &List) -> f64 {
    list.costs.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The loss by its definition, with `cost` times the costs added to the scores.
fn loss(list: &List, w: &[f64], cost: f64) -> f64 {
    let least = least(list);
    let raised: Vec<f64> =
        scores(list, w).iter().zip(&list.costs).map(|(s, c)| s + cost * (c - least)).collect();
    let sum = |gold: bool| {
        let counted = raised.iter().zip(&list.costs).filter(|(_, c)| !gold || **c == least);
        counted.map(|(s, _)| s.exp()).sum::<f64>().ln()
    };
    list.weight * (sum(false) - sum(true))
}

#[test]
fn losses_and_gradients_are_those_of_the_definition() {
    for seed in 0..20 {
        for (ties, cost) in [(false, 0.0), (false, 0.7), (true, 0.0), (true, 1.0)] {
            let (all, w) = (lists(seed, ties), weights(seed, ties));
            let structure = Arc::new(Lists::new(Arc::new(all.clone()), FEATURES));
            let (mut lane, mut bench) = (structure.clone().lane(0).unwrap(), Bench::default());
            for (id, list) in all.iter().enumerate() {
                let c = lane.open(id).unwrap();
                let mut case = Case::new(id, c, structure.offers(), &mut *lane, &mut bench);
                case.add_costs(cost).unwrap();
                let mut note = Note::default();
                note.clear(id, c);
                case.gradient(Weights::plain(&w), &mut note);
                case.expand(0.0, &mut note);
                assert!(close(note.loss, loss(list, &w, cost), 1e-12));
                let (mut dense, mut spread) = (vec![0.0; FEATURES], vec![0.0; FEATURES]);
                note.delta.entries().for_each(|(j, x)| dense[j] += x);
                lane.spread(&note.parts, 1.0, 0, &mut spread[..4]);
                lane.spread(&note.parts, 1.0, 4, &mut spread[4..]);
                for j in 0..FEATURES {
                    let (mut up, mut down) = (w.clone(), w.clone());
                    up[j] += 1e-5;
                    down[j] -= 1e-5;
                    let slope = (loss(list, &up, cost) - loss(list, &down, cost)) / 2e-5;
                    assert!(close(dense[j], slope, 1e-7), "{} {slope}", dense[j]);
                    assert!(close(spread[j], dense[j], 1e-12));
                }
            }
            let ids: Vec<usize> = (0..all.len()).collect();
            let total = sum_by_parts(&mut *lane, &ids, Weights::plain(&w), None).unwrap();
            assert!(close(total, all.iter().map(|list| loss(list, &w, 0.0)).sum(), 1e-12));
        }
    }
}

#[test]
fn a_list_of_right_candidates_has_no_loss_and_no_gradient() {
    let mut all = lists(3, false);
    all.iter_mut().for_each(|list| list.costs.fill(0.25));
    let (w, structure) = (weights(3, false), Arc::new(Lists::new(Arc::new(all), FEATURES)));
    let (mut lane, mut g) = (structure.lane(0).unwrap(), vec![0.0; FEATURES]);
    let total =
        sum_by_parts(&mut *lane, &(0..20).collect::<Vec<_>>(), Weights::plain(&w), Some(&mut g)).unwrap();
    assert!(total.abs() < 1e-12 && g.iter().all(|x| x.abs() < 1e-12));
}

#[test]
fn a_feature_of_several_candidates_is_one_step_and_small_parts_are_not_left_out() {
    let all = lists(5, false);
    let structure = Arc::new(Lists::new(Arc::new(all.clone()), FEATURES));
    let mut lane = structure.lane(0).unwrap();
    for (id, list) in all.iter().enumerate() {
        lane.open(id).unwrap();
        let n = list.costs.len();
        let parts: Vec<f64> = (0..n).map(|j| if j == 0 { 0.9 } else { -0.9 / real(n - 1) }).collect();
        let (mut delta, mut spread) = (Delta::default(), vec![0.0; FEATURES]);
        delta.rows.push(Row { at: 0, from: 0, len: 1, holes: 0 }); // somebody else's
        delta.pool.push(0.0);
        lane.scatter(&parts, 0.89, &mut delta);
        lane.spread(&parts, 1.0, 0, &mut spread);
        let at: Vec<u32> = delta.rows[1..].iter().map(|row| row.at).collect();
        assert!(at.is_sorted_by(|a, b| a < b), "{at:?}");
        let mut dense = [0.0; FEATURES];
        delta.entries().for_each(|(j, x)| dense[j] += x);
        dense.iter().zip(&spread).for_each(|(a, b)| assert!(close(*a, *b, 1e-12), "{a} {b}"));
        delta.clear();
        lane.scatter(&parts, 0.91, &mut delta);
        assert!(delta.rows.is_empty());
    }
}

#[test]
fn violations_are_the_best_wrong_candidates() {
    let mut met = [0; 2];
    for seed in 0..30 {
        for ties in [false, true] {
            let (all, w) = (lists(seed, ties), weights(seed, ties));
            let structure = Arc::new(Lists::new(Arc::new(all.clone()), FEATURES));
            let mut lane = structure.lane(0).unwrap();
            for (id, list) in all.iter().enumerate() {
                let (s, least) = (scores(list, &w), least(list));
                let is_gold = |j: &usize| list.costs[*j] == least;
                let top = (0..s.len()).filter(is_gold).map(|j| s[j]).fold(f64::NEG_INFINITY, f64::max);
                for (k, cost) in [(1, 0.0), (1, 1.0), (3, 0.0), (3, 0.5)] {
                    lane.open(id).unwrap();
                    let mut note = Note::default();
                    note.clear(id, 1.0);
                    let search = Search { k, cost, update: Update::Full };
                    lane.violations(Weights::plain(&w), &search, &mut note).unwrap();
                    assert_eq!(note.wrong, (0..s.len()).any(|j| !is_gold(&j) && s[j] >= top));
                    // Wrong candidates beaten by fewer than k others, gold only by a higher score.
                    let raised = |j: usize| s[j] + cost * (list.costs[j] - least);
                    let before = |a: usize, b: usize| {
                        (raised(a) > raised(b))
                            || raised(a) == raised(b)
                                && (!is_gold(&a), std::cmp::Reverse(a)) > (!is_gold(&b), std::cmp::Reverse(b))
                    };
                    let rank = |j: usize| (0..s.len()).filter(|&i| i != j && before(i, j)).count();
                    let mut wanted: Vec<usize> =
                        (0..s.len()).filter(|j| !is_gold(j) && rank(*j) < k).collect();
                    wanted.sort_by_key(|j| rank(*j));
                    assert_eq!(note.found().len(), wanted.len());
                    met[usize::from(!wanted.is_empty())] += 1;
                    for (v, j) in note.found().iter().zip(wanted) {
                        assert!(close(v.margin, top - s[j], 1e-12) && v.cost == list.costs[j] - least);
                        // The difference of the features is worth the margin.
                        assert!(close(v.delta.dot(Weights::plain(&w)), v.margin, 1e-12));
                    }
                }
            }
        }
    }
    assert!(met.iter().all(|n| *n > 100), "{met:?}");
}

#[test]
fn the_first_of_the_best_is_chosen() {
    assert_eq!([best(&[1.0]), best(&[1.0, 3.0, 3.0]), best(&[2.0, 1.0, 2.0])], [0, 1, 0]);
}
