//! The laws of limits: whatever is found, summed or learned under rules and known labels equals
//! enumeration of the labellings that are allowed.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::{label, narrow, real};
use seqoia_core::{
    Lane, Note, Pairs, Ragged, Random, Search, Sequence, Structure, Update, Weights, sum_by_parts,
};
use seqoia_structures::brute;
use seqoia_structures::chain::{Chain, Decoder, Known, Layout, Limits, Precision, Rules, Sets, Space, Steps};
use seqoia_testkit::chains::{PLAIN, Toy, make, toys, view};
use seqoia_testkit::close;

/// Rules of some kind: like those of chunks, without any mixing, or of random pairs.
fn rules(random: &mut Random, labels: usize, kind: usize) -> Rules {
    match kind {
        0 => Rules::new(labels, |before, after| after != Some(1) || matches!(before, Some(0 | 1))),
        1 => Rules::new(labels, |before, after| before.is_none() || after.is_none() || before == after),
        _ => {
            let pairs: Vec<bool> = (0..(labels + 1) * (labels + 1)).map(|_| random.unit() < 0.6).collect();
            let number = |y: Option<u16>| y.map_or(labels, usize::from);
            Rules::new(labels, |before, after| pairs[number(before) * (labels + 1) + number(after)])
        }
    }
}

/// Known labels: a label, a set, or nothing at each position.
fn known(random: &mut Random, labels: usize, length: usize) -> (Sets, Vec<u16>) {
    let mut sets = Sets::new(labels);
    let free = sets.add((0..labels).map(label));
    let some: Vec<usize> =
        (0..3).map(|_| sets.add((0..labels).filter(|_| random.unit() < 0.7).map(label))).collect();
    let draw = |_| {
        label(match random.below(3) {
            0 => random.below(labels),
            1 => free,
            _ => some[random.below(3)],
        })
    };
    let drawn = (0..length).map(draw).collect();
    (sets, drawn)
}

/// Some labels that cannot be the first or the last, and pairs that cannot stand at single places.
fn steps(random: &mut Random, labels: usize, length: usize) -> Steps {
    let mut some = |share| (0..labels).map(label).filter(|_| random.unit() < share).collect::<Vec<u16>>();
    let (no_start, no_end) = (some(0.2), some(0.2));
    let pairs = (1..length).flat_map(|t| (0..labels * labels).map(move |pair| (t, pair)));
    let pairs = pairs.filter(|_| random.unit() < 0.2);
    let pairs = pairs.map(|(t, pair)| (narrow(t), label(pair / labels), label(pair % labels))).collect();
    Steps { no_start, no_end, pairs }
}

fn allowed(limits: Limits<'_>, y: &[u16]) -> bool {
    let of_steps = limits.steps.is_none_or(|steps| {
        let at = |t: u32| y[t as usize];
        !y.first().is_some_and(|y| steps.no_start.contains(y))
            && !y.last().is_some_and(|y| steps.no_end.contains(y))
            && !steps.pairs.iter().any(|&(t, from, to)| at(t - 1) == from && at(t) == to)
    });
    of_steps
        && limits.rules.is_none_or(|rules| rules.broken_at(y).is_none())
        && limits.known.is_none_or(|k| k.labels.iter().zip(y).all(|(known, y)| k.sets.holds(*known, *y)))
}

fn log_sum(scores: &[f64]) -> f64 {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + scores.iter().map(|s| (s - most).exp()).sum::<f64>().ln()
}

#[test]
fn decoding_within_limits_is_enumeration_of_what_is_allowed() {
    let (mut met, mut not_met) = (0, 0);
    for (i, toy) in toys().into_iter().enumerate() {
        for size in [1.0, 400.0] {
            let (chain, sequences, w) = make(Toy { size, ..toy }, i as u64);
            let space = chain.space().view();
            for (j, x) in sequences.iter().enumerate() {
                let mut random = Random::new(i as u64, j as u64, 0, "limits");
                let rules = rules(&mut random, toy.labels, j % 4);
                let (sets, labels) = known(&mut random, toy.labels, toy.length);
                let steps = steps(&mut random, toy.labels, toy.length);
                let limits = Limits {
                    rules: (j != 4).then_some(&rules),
                    known: (j > 1).then_some(Known { labels: &labels, sets: &sets }),
                    steps: (j % 2 == 1).then_some(&steps),
                    ..Limits::default()
                };
                let mut all: Vec<(f64, Vec<u16>)> = brute::labellings(toy.labels, toy.length)
                    .into_iter()
                    .filter(|y| allowed(limits, y))
                    .map(|y| (brute::score(space, &w, view(x), &y), y))
                    .collect();
                assert!(limits.steps.is_some() || limits.can_be_met(toy.length) != all.is_empty());
                let (mut decoder, mut found) = (Decoder::default(), vec![]);
                let best = decoder.best(space, &w, view(x), limits, &mut found);
                let listed = decoder.nbest(space, &w, view(x), limits, 1000);
                if all.is_empty() {
                    not_met += 1;
                    assert!(!best.is_finite() && listed.is_empty());
                    assert!(!decoder.marginals(space, &w, view(x), limits).is_finite());
                    continue;
                }
                met += 1;
                all.sort_by(|a, b| b.0.total_cmp(&a.0));
                assert!(close(best, all[0].0, 1e-12));
                assert!(allowed(limits, &found));
                if toy.length > 0 {
                    assert_eq!(listed.len(), all.len());
                }
                for (listed, (score, _)) in listed.iter().zip(&all) {
                    assert!(close(listed.score, *score, 1e-12) && allowed(limits, &listed.labels));
                }
                let in_beam = decoder.best_in_beam(space, &w, view(x), limits, toy.labels, &mut found);
                assert!(close(in_beam, best, 1e-12));
                let log_z = decoder.marginals(space, &w, view(x), limits);
                let scores: Vec<f64> = all.iter().map(|a| a.0).collect();
                assert!(close(log_z, log_sum(&scores), 1e-11), "{log_z} {}", log_sum(&scores));
                for t in 0..toy.length {
                    for y in 0..toy.labels {
                        let with = all.iter().filter(|a| usize::from(a.1[t]) == y);
                        let p: f64 = with.map(|a| (a.0 - log_sum(&scores)).exp()).sum();
                        assert!(close(decoder.marginal(space, t, label(y)), p, 1e-9));
                    }
                }
            }
        }
    }
    assert!(met > 300 && not_met > 30, "{met} {not_met}");
}

/// The chain of a toy under limits, and the same without.
fn limited(toy: Toy, seed: u64, kind: usize, partial: bool) -> (Arc<Chain>, Vec<Sequence>, Vec<f64>, Sets) {
    let (chain, mut sequences, w) = make(toy, seed);
    let mut random = Random::new(seed, 0, 0, "limited");
    let rules = (kind < 4).then(|| Arc::new(rules(&mut random, toy.labels, kind)));
    let mut sets = Sets::new(toy.labels);
    if partial {
        for x in &mut sequences {
            let (own, labels) = known(&mut random, toy.labels, toy.length);
            let mut number = |y: u16| match usize::from(y) < toy.labels {
                true => y,
                false => label(sets.add((0..toy.labels).map(label).filter(|z| own.holds(y, *z)))),
            };
            x.labels = labels.into_iter().map(&mut number).collect();
            let some = |y: &u16| (0..toy.labels).any(|z| sets.holds(*y, label(z)));
            x.labels = x.labels.iter().map(|y| if some(y) { *y } else { 0 }).collect();
        }
    }
    let limited = Chain::new(Arc::clone(chain.space()), Arc::new(sequences.clone()));
    (Arc::new(limited.with_limits(rules, sets.clone()).unwrap()), sequences, w, sets)
}

/// -log of the share that gold has of what is allowed, by enumeration.
fn loss(chain: &Chain, x: &Sequence, w: &[f64], rules: Option<&Rules>, sets: &Sets) -> f64 {
    let space = chain.space().view();
    let gold = Limits { known: Some(Known { labels: &x.labels, sets }), ..Limits::default() };
    let rules = rules.filter(|_| Limits { rules, ..gold }.can_be_met(x.labels.len()));
    let all = brute::labellings(space.labels, x.labels.len());
    let legal: Vec<_> = all.into_iter().filter(|y| allowed(Limits::rules(rules), y)).collect();
    let score = |y: &Vec<u16>| brute::score(space, w, view(x), y);
    let right: Vec<f64> = legal.iter().filter(|y| allowed(gold, y)).map(score).collect();
    log_sum(&legal.iter().map(score).collect::<Vec<_>>()) - log_sum(&right)
}

#[test]
fn losses_and_gradients_within_limits_are_those_of_enumeration() {
    for (i, toy) in toys().into_iter().enumerate().filter(|(_, toy)| toy.length > 0) {
        for (kind, partial) in [(0, false), (2, false), (3, true), (4, true), (0, true)] {
            let seed = i as u64;
            let (chain, sequences, w, sets) = limited(toy, seed, kind, partial);
            let mut random = Random::new(seed, 0, 0, "limited");
            let rules = (kind < 4).then(|| rules(&mut random, toy.labels, kind));
            let mut lane = Arc::clone(&chain).lane(0).unwrap();
            let ids: Vec<usize> = (0..sequences.len()).collect();
            let total = |w: &[f64]| -> f64 {
                let loss = |x: &Sequence| x.weight * loss(&chain, x, w, rules.as_ref(), &sets);
                sequences.iter().map(loss).sum()
            };
            let (mut g, mut by_parts) = (vec![], vec![0.0; w.len()]);
            lane.prepare(Weights::plain(&w));
            let sum = lane.sum(&ids, Weights::plain(&w), Some(&mut g)).unwrap();
            assert!(close(sum, total(&w), 1e-10), "{sum} {}", total(&w));
            let parts = sum_by_parts(&mut *lane, &ids, Weights::plain(&w), Some(&mut by_parts)).unwrap();
            assert!(close(sum, parts, 1e-10));
            let mut collected = vec![0.0; w.len()];
            lane.collect(&mut g, &mut collected);
            for (a, b) in collected.iter().zip(&by_parts) {
                assert!(close(*a, *b, 1e-9));
            }
            let mut ones = vec![1.0; w.len()];
            chain.space().clear_holes(&mut ones);
            let exists: Vec<bool> = ones.iter().map(|one| *one == 1.0).collect();
            let mut near = w.clone();
            for at in (0..w.len()).step_by(3) {
                const H: f64 = 1e-5;
                near[at] = w[at] + H;
                let up = total(&near);
                near[at] = w[at] - H;
                let slope = (up - total(&near)) / (2.0 * H);
                near[at] = w[at];
                // A weight that does not exist has no gradient.
                assert!(close(collected[at], if exists[at] { slope } else { 0.0 }, 1e-6), "{at}");
            }
        }
    }
}

/// Gold labels that keep to the rules.
fn legal(random: &mut Random, rules: &Rules, length: usize) -> Vec<u16> {
    loop {
        let mut walk: Vec<u16> = vec![];
        for _ in 0..length {
            let before = walk.last().copied();
            let next: Vec<u16> =
                (0..rules.labels()).map(label).filter(|y| rules.allows(before, Some(*y))).collect();
            walk.push(next[random.below(next.len())]);
        }
        if rules.broken_at(&walk).is_none() {
            return walk;
        }
    }
}

/// The loss of the first five examples, fused and by parts, and how far their gradients differ at most.
fn fused_and_by_parts(lane: &mut dyn Lane, w: &[f64]) -> (f64, f64, f64) {
    let (ids, w) = ([0, 1, 2, 3, 4], Weights::plain(w));
    let (mut g, [mut fused, mut by_parts]) = (vec![], [(); 2].map(|()| vec![0.0; w.values.len()]));
    lane.prepare(w);
    let a = lane.sum(&ids, w, Some(&mut g)).unwrap();
    lane.collect(&mut g, &mut fused);
    let b = sum_by_parts(lane, &ids, w, Some(&mut by_parts)).unwrap();
    (a, b, fused.iter().zip(&by_parts).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max))
}

#[test]
fn fused_sums_within_rules_equal_sums_by_parts_for_any_number_of_labels() {
    for (labels, size, all) in [
        (9, 1.0, false),
        (22, 1.0, false),
        (49, 1.0, false),
        (70, 1.0, false),
        (70, 6.0, false),
        (70, 300.0, false),
        (101, 1.0, true),
        (101, 20.0, false),
    ] {
        let toy = Toy { labels, length: 9, size, all, ..PLAIN };
        let (free, mut sequences, mut w) = make(toy, 460 + labels as u64);
        // Pairs that occur mostly forbid, so that sums cancel: to the last digits where all pairs do.
        let down = if all { 14.0 } else { size };
        w[..labels * Space::padded(labels)].iter_mut().for_each(|a| *a -= if *a == 0.0 { 0.0 } else { down });
        let mut random = Random::new(labels as u64, 0, 0, "wide");
        // Chunks: 0 is outside, then come pairs of labels that begin a chunk and go on with it.
        let inside = |y: u16| y != 0 && y.is_multiple_of(2);
        let chunks = Rules::new(labels, |before, after| match after {
            Some(y) if inside(y) => before == Some(y) || before == Some(y - 1),
            _ => true,
        });
        let pairs: Vec<bool> = (0..(labels + 1) * (labels + 1)).map(|_| random.unit() < 0.95).collect();
        let number = |y: Option<u16>| y.map_or(labels, usize::from);
        let some = Rules::new(labels, |before, after| pairs[number(before) * (labels + 1) + number(after)]);
        for (rules, by_pairs) in
            [(&chunks, false), (&some, false), (&chunks, true), (&some, true)].map(|(r, b)| (r.clone(), b))
        {
            sequences.iter_mut().for_each(|x| x.labels = legal(&mut random, &rules, 9));
            let chain = Chain::new(Arc::clone(free.space()), Arc::new(sequences.clone()));
            let chain = chain.with_limits(Some(Arc::new(rules)), Sets::new(labels)).unwrap();
            let chain = chain.with_sums_by_pairs(by_pairs);
            assert_eq!(chain.broken().count(), 0);
            let mut lane = Arc::new(chain).lane(0).unwrap();
            let (a, b, worst) = fused_and_by_parts(&mut *lane, &w);
            assert!(close(a, b, 1e-10), "{labels} labels: {a} against {b}");
            assert!(worst < 1e-9, "{labels} labels, size {size}: gradients differ by {worst:e}");
        }
    }
}

#[test]
fn fused_sums_with_values_edges_and_partial_labels_equal_sums_by_parts() {
    for labels in [2, 9, 22, 30, 70] {
        for kind in 0..8 {
            let toy = Toy { labels, length: 7, edges: kind & 1 > 0, values: kind & 2 > 0, ..PLAIN };
            let (free, mut sequences, w) = make(toy, 900 + labels as u64);
            let mut random = Random::new(labels as u64, kind, 0, "partial");
            let mut sets = Sets::new(labels);
            if kind & 4 > 0 {
                let some = label(sets.add((0..labels).filter(|y| y % 2 == 0).map(label)));
                let any = label(sets.add((0..labels).map(label)));
                for y in sequences.iter_mut().flat_map(|x| &mut x.labels) {
                    *y = [*y, some, any][random.below(3)];
                }
            }
            let sequences = Arc::new(sequences);
            for precision in [Precision::F64, Precision::F32] {
                let chain = Chain::new(Arc::clone(free.space()), Arc::<Vec<_>>::clone(&sequences));
                let chain = chain.with_limits(None, sets.clone()).unwrap().with_precision(precision);
                let mut lane = Arc::new(chain).lane(0).unwrap();
                let (a, b, worst) = fused_and_by_parts(&mut *lane, &w);
                let [loss, slope] = if precision == Precision::F64 { [1e-12, 1e-10] } else { [1e-5, 2e-5] };
                assert!(close(a, b, loss), "{labels} labels, {kind}: {a} against {b}");
                assert!(worst < slope, "{labels} labels, {kind}: gradients differ by {worst:e}");
            }
        }
    }
}

#[test]
fn nothing_known_teaches_nothing_and_all_known_is_full_training() {
    for (i, toy) in toys().into_iter().enumerate() {
        let (chain, mut sequences, w) = make(toy, i as u64);
        let mut sets = Sets::new(toy.labels);
        let free = label(sets.add((0..toy.labels).map(label)));
        let full = Chain::new(Arc::clone(chain.space()), Arc::new(sequences.clone()));
        let full = Arc::new(full.with_limits(None, sets.clone()).unwrap());
        sequences.iter_mut().for_each(|x| x.labels.fill(free));
        let none = Chain::new(Arc::clone(chain.space()), Arc::new(sequences.clone()));
        let none = Arc::new(none.with_limits(None, sets.clone()).unwrap());
        let gradient = |chain: &Arc<Chain>| {
            let (mut lane, mut g) = (Arc::clone(chain).lane(0).unwrap(), vec![]);
            lane.prepare(Weights::plain(&w));
            let loss = lane.sum(&[0, 1, 2, 3, 4], Weights::plain(&w), Some(&mut g)).unwrap();
            (loss, g)
        };
        let (loss, g) = gradient(&none);
        assert_eq!(loss, 0.0);
        assert!(g.iter().all(|g| *g == 0.0));
        assert_eq!(gradient(&full), gradient(&chain));
        // A search finds no fault either, nor does one with a beam.
        let beam = Chain::new(Arc::clone(chain.space()), Arc::new(sequences.clone())).with_beam(1);
        let beam = Arc::new(beam.with_limits(None, sets).unwrap());
        for chain in [&none, &beam] {
            let (mut lane, mut note) = (Arc::clone(chain).lane(0).unwrap(), Note::default());
            for update in [Update::Full, Update::Early, Update::Latest, Update::MaxViolation] {
                let search = Search { k: 3, cost: 1.0, update };
                lane.open(0).unwrap();
                lane.violations(Weights::plain(&w), &search, &mut note).unwrap();
                assert!(note.found().is_empty() && !note.wrong);
            }
        }
    }
}

#[test]
fn single_precision_sums_within_limits_are_near() {
    for seed in 0..20 {
        let toy = Toy { labels: 5, length: 6, ..PLAIN };
        let (double, sequences, w, sets) = limited(toy, seed, 0, seed % 2 == 0);
        let mut random = Random::new(seed, 0, 0, "limited");
        let rules = Arc::new(rules(&mut random, 5, 0));
        let single = Chain::new(Arc::clone(double.space()), Arc::new(sequences));
        let single = single.with_limits(Some(rules), sets).unwrap().with_precision(Precision::F32);
        let sum = |chain: &Arc<Chain>| {
            let (mut lane, mut g) = (Arc::clone(chain).lane(0).unwrap(), vec![]);
            lane.prepare(Weights::plain(&w));
            let sum = lane.sum(&[0, 1, 2, 3, 4], Weights::plain(&w), Some(&mut g)).unwrap();
            let mut collected = vec![0.0; w.len()];
            lane.collect(&mut g, &mut collected);
            (sum, collected)
        };
        let ((a, g), (b, h)) = (sum(&double), sum(&Arc::new(single)));
        assert!(close(a, b, 1e-5), "{a} {b}");
        assert!(g.iter().zip(&h).all(|(g, h)| close(*g, *h, 1e-4)));
    }
}

/// Scores as far apart as the linear domain bears, with labels that nothing leads to: log Z and marginals are
/// still those of enumeration.
#[test]
fn scores_that_are_nearly_too_far_apart_are_summed_right() {
    let only_first = Rules::new(3, |before, after| after != Some(2) || before.is_none());
    let chunks = Rules::new(3, |before, after| after != Some(1) || matches!(before, Some(0 | 1)));
    for seed in 0..60 {
        for size in [20.0, 40.0, 80.0, 150.0, 210.0, 320.0] {
            let toy = Toy { labels: 3, length: 4, all: true, ..PLAIN };
            let (chain, sequences, mut w) = make(toy, seed);
            let (space, mut random) = (chain.space().view(), Random::new(seed, 0, 0, "far"));
            // A few weights are as large as that, the others small.
            w.iter_mut().for_each(|w| *w *= if random.unit() < 0.2 { size } else { 0.1 });
            chain.space().clear_holes(&mut w);
            let (sets, labels) = known(&mut random, 3, 4);
            let known = Some(Known { labels: &labels, sets: &sets });
            for limits in [
                Limits::rules(Some(&only_first)),
                Limits::rules(Some(&chunks)),
                Limits { known, ..Limits::default() },
                Limits { rules: Some(&chunks), known, ..Limits::default() },
            ] {
                let x = view(&sequences[0]);
                let all: Vec<Vec<u16>> =
                    brute::labellings(3, 4).into_iter().filter(|y| allowed(limits, y)).collect();
                if all.is_empty() {
                    continue;
                }
                let scores: Vec<f64> = all.iter().map(|y| brute::score(space, &w, x, y)).collect();
                let log_z = log_sum(&scores);
                let single: Vec<f32> = w.iter().map(|w| seqoia_core::cast::single(*w)).collect();
                let (mut double, mut half) = (Decoder::<f64>::default(), Decoder::<f32>::default());
                assert!(close(double.marginals(space, &w, x, limits), log_z, 1e-10));
                assert!(close(half.marginals(space, &single, x, limits), log_z, 1e-4));
                for (t, y) in (0..4).flat_map(|t| (0..3).map(move |y| (t, y))) {
                    let with = all.iter().zip(&scores).filter(|(labels, _)| labels[t] == y);
                    let p: f64 = with.map(|(_, s)| (s - log_z).exp()).sum();
                    assert!(close(double.marginal(space, t, y), p, 1e-8), "{size}");
                    assert!(close(half.marginal(space, t, y), p, 2e-3), "{size}");
                }
            }
        }
    }
}

/// A label that only begins a sequence, with large scores behind it: where nothing leads to it, what would
/// follow must not count, however large it is.
#[test]
fn what_follows_a_label_that_nothing_leads_to_does_not_count() {
    let (space, _) = Space::new(3, &Pairs::default(), &Pairs::default(), Some(&[]), Layout::All);
    let (space, width) = (Arc::new(space), Space::padded(3));
    let rules = Arc::new(Rules::new(3, |before, after| after != Some(2) || before.is_none()));
    let nodes = Ragged { starts: vec![0; 5], ..Ragged::default() };
    let x = Sequence { nodes, labels: vec![2, 0, 1, 0], ..Sequence::default() };
    for (large, precision) in [(400.0, Precision::F64), (50.0, Precision::F32)] {
        let mut w = vec![0.0; space.view().weights()];
        w[2 * width..2 * width + 3].fill(large);
        let single: Vec<f32> = w.iter().map(|w| seqoia_core::cast::single(*w)).collect();
        let limits = Limits::rules(Some(&rules));
        let all = brute::labellings(3, 4).into_iter().filter(|y| allowed(limits, y));
        let scored: Vec<_> = all.map(|y| (brute::score(space.view(), &w, view(&x), &y), y)).collect();
        let log_z = log_sum(&scored.iter().map(|s| s.0).collect::<Vec<_>>());
        let (mut double, mut half) = (Decoder::<f64>::default(), Decoder::<f32>::default());
        assert!(close(double.marginals(space.view(), &w, view(&x), limits), log_z, 1e-12));
        half.marginals(space.view(), &single, view(&x), limits);
        for (t, y) in (0..4).flat_map(|t| (0..3).map(move |y| (t, y))) {
            let p: f64 = scored.iter().filter(|s| s.1[t] == y).map(|s| (s.0 - log_z).exp()).sum();
            assert!(close(double.marginal(space.view(), t, y), p, 1e-9));
            assert!(precision == Precision::F64 || close(half.marginal(space.view(), t, y), p, 1e-4));
        }
        let chain = Chain::new(Arc::clone(&space), Arc::new(vec![x.clone()])).with_precision(precision);
        let chain = chain.with_limits(Some(Arc::clone(&rules)), Sets::new(3)).unwrap();
        let (mut lane, mut g) = (Arc::new(chain).lane(0).unwrap(), vec![]);
        lane.prepare(Weights::plain(&w));
        lane.sum(&[0], Weights::plain(&w), Some(&mut g)).unwrap();
        let mut collected = vec![0.0; w.len()];
        lane.collect(&mut g, &mut collected);
        for (at, g) in collected.iter().enumerate().filter(|(at, _)| at % width < 3) {
            let pair = |y: &[u16]| {
                y.windows(2).filter(|p| usize::from(p[0]) * width + usize::from(p[1]) == at).count()
            };
            let expected: f64 = scored.iter().map(|s| (s.0 - log_z).exp() * real(pair(&s.1))).sum();
            assert!(close(*g, expected - real(pair(&x.labels)), 1e-4), "{at} {g}");
        }
    }
}

/// log Z and the expected labels [T][K] and pairs [K][K] in the log domain, of scores that are -inf where ruled out.
fn log_sums(nodes: &[Vec<f64>], edges: &[Vec<f64>]) -> (f64, Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let (length, labels) = (nodes.len(), edges.len());
    let sum = |terms: &dyn Fn(usize) -> f64| {
        let most = (0..labels).map(terms).fold(f64::MIN, f64::max);
        most + (0..labels).map(|y| (terms(y) - most).exp()).sum::<f64>().ln()
    };
    let (mut a, mut b) = (nodes.to_vec(), vec![vec![0.0; labels]; length]);
    let mut logs = vec![]; // subtracted at each position, so that long sequences lose no digits
    for t in 0..length {
        for y in (0..labels).filter(|_| t > 0) {
            a[t][y] += sum(&|from| a[t - 1][from] + edges[from][y]);
        }
        logs.push(sum(&|y| a[t][y]));
        a[t].iter_mut().for_each(|a| *a -= logs[t]);
    }
    for t in (1..length).rev() {
        for from in 0..labels {
            b[t - 1][from] = sum(&|y| edges[from][y] + nodes[t][y] + b[t][y]) - logs[t];
        }
    }
    let mut pairs = vec![vec![0.0; labels]; labels];
    for (t, from, y) in
        (1..length).flat_map(|t| (0..labels * labels).map(move |i| (t, i / labels, i % labels)))
    {
        pairs[from][y] += (a[t - 1][from] + edges[from][y] + nodes[t][y] + b[t][y] - logs[t]).exp();
    }
    let p = a.iter().zip(&b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a + b).exp()).collect());
    (logs.iter().sum(), p.collect(), pairs)
}

/// Label orders, rings, halves with one bridge and random pairs, under scores that like a label for a while and then
/// another one: fused sums equal those of the log domain, whatever underflowed on the way.
#[test]
fn fused_sums_within_hostile_rules_equal_the_log_domain() {
    for seed in 0..1500 {
        let mut random = Random::new(seed, 0, 0, "hostile");
        let labels = [3, 4, 9, 12, 40][random.below(if seed % 16 == 0 { 5 } else { 4 })];
        let length = [1, 5, 20, 60, 200][random.below(5)].min(if labels == 40 { 20 } else { 200 });
        let (kind, ends, half) = (random.below(4), random.unit() < 0.3, labels / 2);
        let some = rules(&mut random, labels, 3);
        let rules =
            Rules::new(labels, |before, after| match (before.map(usize::from), after.map(usize::from)) {
                (Some(from), Some(to)) => match kind {
                    0 => to == from || to == from + 1,
                    1 => to == from || to == (from + 1) % labels,
                    2 => (from < half) == (to < half) || (from == half - 1 && to == half),
                    _ => some.allows(before, after),
                },
                (None, Some(to)) => !ends || to < 2,
                (Some(from), None) => !ends || from + 2 >= labels,
                (None, None) => true,
            });
        // An attribute that likes each label, and as many of noise.
        let every = Pairs {
            starts: (0..=2 * labels).map(|a| narrow(a * labels)).collect(),
            labels: (0..2 * labels * labels).map(|i| narrow(i % labels)).collect(),
            counts: vec![1000; 2 * labels],
        };
        let all: Vec<u32> = (0..narrow(labels * labels)).collect();
        let (space, new) = Space::new(labels, &every, &Pairs::default(), Some(&all), Layout::All);
        let (space, width) = (Arc::new(space), Space::padded(labels));
        let mut size = || [0.1, 1.0, 5.0, 10.0, 20.0, 38.0, 75.0, 150.0, 300.0][random.below(9)];
        let (likes, noise, of_pairs) = (size(), size() * 0.3, size());
        let mut w = vec![0.0; space.view().weights()];
        let row = |a: usize| labels * width + new.nodes[a] as usize * width;
        for (from, y) in (0..labels).flat_map(|from| (0..labels).map(move |y| (from, y))) {
            w[from * width + y] = (random.unit() - 0.5) * of_pairs;
            w[row(from) + y] = if from == y { likes } else { 0.0 };
            w[row(labels + from) + y] = random.unit() * noise;
        }
        let (change, known) = (random.unit() * 0.2, random.unit() * 1.5);
        let (mut liked, mut attributes) = (random.below(labels), vec![]);
        for _ in 0..length {
            liked = if random.unit() < change { random.below(labels) } else { liked };
            attributes.push([liked, labels + random.below(labels)]);
        }
        let mut sets = Sets::new(labels);
        let free = label(sets.add((0..labels).map(label)));
        let mut walk: Vec<u16> = vec![];
        for _ in 0..length {
            let next: Vec<u16> =
                (0..labels).map(label).filter(|y| rules.allows(walk.last().copied(), Some(*y))).collect();
            walk.push(if next.is_empty() { 0 } else { next[random.below(next.len())] });
        }
        let gold: Vec<u16> = walk.into_iter().map(|y| if random.unit() < known { y } else { free }).collect();
        let nodes = Ragged {
            starts: (0..=narrow(length)).map(|t| 2 * t).collect(),
            items: attributes.iter().flatten().map(|a| new.nodes[*a]).collect(),
            ..Ragged::default()
        };
        let x = Sequence { nodes, labels: gold.clone(), weight: 1.0, ..Sequence::default() };

        let met = Limits {
            rules: Some(&rules),
            known: Some(Known { labels: &gold, sets: &sets }),
            ..Limits::default()
        };
        let held = met.can_be_met(length).then_some(&rules);
        let (mut loss, mut right) = (0.0, vec![0.0; w.len()]);
        for (c, only_gold) in [(1.0, false), (-1.0, true)] {
            let out = |out: bool, score: f64| if out { f64::NEG_INFINITY } else { score };
            let ends = |t: usize, y: u16| {
                held.is_some_and(|rules| {
                    (t == 0 && !rules.allows(None, Some(y)))
                        || (t + 1 == length && !rules.allows(Some(y), None))
                })
            };
            let node = |t: usize, y: usize| {
                let score = attributes[t].iter().map(|a| w[row(*a) + y]).sum();
                out(ends(t, label(y)) || (only_gold && !sets.holds(gold[t], label(y))), score)
            };
            let edge = |from: usize, y: usize| {
                let allows = |rules: &Rules| rules.allows(Some(label(from)), Some(label(y)));
                out(!held.is_none_or(allows), w[from * width + y])
            };
            let table = |rows: usize, of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
                (0..rows).map(|i| (0..labels).map(|y| of(i, y)).collect()).collect()
            };
            let (log_z, p, pairs) = log_sums(&table(length, &node), &table(labels, &edge));
            loss += c * log_z;
            for y in 0..labels {
                (0..length)
                    .for_each(|t| attributes[t].iter().for_each(|a| right[row(*a) + y] += c * p[t][y]));
                (0..labels).for_each(|from| right[from * width + y] += c * pairs[from][y]);
            }
        }
        let corpus = Arc::new(vec![x]);
        for (precision, by_pairs, near) in
            [(Precision::F64, false, 1e-12), (Precision::F64, true, 1e-9), (Precision::F32, false, 2e-4)]
        {
            let chain = Chain::new(Arc::clone(&space), Arc::<Vec<_>>::clone(&corpus));
            let chain = chain.with_limits(Some(Arc::new(rules.clone())), sets.clone()).unwrap();
            let chain = chain.with_precision(precision).with_sums_by_pairs(by_pairs);
            let (mut lane, mut g) = (Arc::new(chain).lane(0).unwrap(), vec![]);
            lane.prepare(Weights::plain(&w));
            let sum = lane.sum(&[0], Weights::plain(&w), Some(&mut g)).unwrap();
            let mut collected = vec![0.0; w.len()];
            lane.collect(&mut g, &mut collected);
            // Losses are differences of sums that are as large as scores are.
            let bound = near * (1.0 + real(length) * (1.0 + (likes + noise + of_pairs) / 10.0));
            assert!((sum - loss).abs() < bound, "{seed} {precision:?}: {sum}, not {loss}");
            for (at, (a, b)) in collected.iter().zip(&right).enumerate().filter(|(at, _)| at % width < labels)
            {
                assert!((a - b).abs() < bound, "{seed} {precision:?} {at}: {a}, not {b}");
            }
        }
    }
}

/// All labels known, one step far worse than the others.
#[test]
fn a_single_unlikely_step_is_no_underflow() {
    let (space, _) = Space::new(3, &Pairs::default(), &Pairs::default(), Some(&[]), Layout::All);
    let mut w = vec![0.0; space.view().weights()];
    (w[1], w[space.view().width + 2]) = (-207.0, -630.0);
    let x = Sequence {
        nodes: Ragged { starts: vec![0; 4], ..Ragged::default() },
        labels: vec![0, 1, 2],
        ..Sequence::default()
    };
    let (sets, mut decoder) = (Sets::new(3), Decoder::default());
    let limits = Limits { known: Some(Known { labels: &[0, 1, 2], sets: &sets }), ..Limits::default() };
    assert!(close(decoder.marginals(space.view(), &w, view(&x), limits), -837.0, 1e-12));
}

#[test]
fn searches_compare_with_the_best_of_what_gold_allows() {
    let mut beaten = 0;
    for (i, toy) in toys().into_iter().enumerate().filter(|(_, toy)| toy.length > 0 && !toy.ties) {
        let seed = i as u64;
        let (chain, sequences, w, sets) = limited(toy, seed, 3, true);
        let mut random = Random::new(seed, 0, 0, "limited");
        let rules = rules(&mut random, toy.labels, 3);
        let space = chain.space().view();
        let mut lane = Arc::clone(&chain).lane(0).unwrap();
        for (id, x) in sequences.iter().enumerate() {
            let gold = Limits { known: Some(Known { labels: &x.labels, sets: &sets }), ..Limits::default() };
            let held = Limits { rules: Some(&rules), ..gold };
            let rules = held.can_be_met(toy.length).then_some(&rules);
            let score = |y: &Vec<u16>| brute::score(space, &w, view(x), y);
            let all = brute::labellings(toy.labels, toy.length);
            let legal: Vec<_> = all.into_iter().filter(|y| allowed(Limits::rules(rules), y)).collect();
            let top = |y: &mut dyn Iterator<Item = &Vec<u16>>| y.map(score).fold(f64::NEG_INFINITY, f64::max);
            let best = top(&mut legal.iter());
            let right = top(&mut legal.iter().filter(|y| allowed(gold, y)));
            let mut note = Note::default();
            lane.open(id).unwrap();
            let search = Search { k: 1, cost: 0.0, update: Update::Full };
            lane.violations(Weights::plain(&w), &search, &mut note).unwrap();
            // Of labellings that score the same either may be found.
            assert!(note.wrong || close(best, right, 1e-12));
            beaten += usize::from(!close(best, right, 1e-12));
            assert_eq!(note.found().len(), usize::from(note.wrong));
            for v in note.found() {
                assert!(close(v.margin, right - best, 1e-10));
                assert!(v.cost >= 1.0 && v.cost <= real(toy.length));
            }
        }
    }
    assert!(beaten > 100, "{beaten}");
}

/// A beam with room for all labels is exact search: both find the same fault with gold that is known in part, even
/// where missing a label costs nothing.
#[test]
fn exact_search_and_a_wide_beam_agree_about_what_is_wrong() {
    let mut wrong = 0;
    for (i, toy) in toys().into_iter().enumerate().filter(|(_, toy)| toy.length > 0 && !toy.ties) {
        let (chain, sequences, w, sets) = limited(toy, i as u64, 4, true);
        let note = |beam: bool, id: usize| {
            let mut searched = Chain::new(Arc::clone(chain.space()), Arc::new(sequences.clone()))
                .with_limits(None, sets.clone())
                .unwrap()
                .with_costs(vec![0.0; toy.labels]);
            if beam {
                searched = searched.with_beam(toy.labels);
            }
            let (mut lane, mut note) = (Arc::new(searched).lane(0).unwrap(), Note::default());
            lane.open(id).unwrap();
            let search = Search { k: 1, cost: 0.0, update: Update::Full };
            lane.violations(Weights::plain(&w), &search, &mut note).unwrap();
            note.wrong
        };
        for id in 0..sequences.len() {
            assert_eq!(note(true, id), note(false, id));
            wrong += usize::from(note(true, id));
        }
    }
    assert!(wrong > 100, "{wrong}");
}

#[test]
fn costs_are_those_of_the_gold_label() {
    let toy = Toy { labels: 3, length: 4, ..PLAIN };
    let (chain, sequences, _) = make(toy, 1);
    let costs = vec![0.5, 2.0, 4.0];
    let chain = Chain::new(Arc::clone(chain.space()), Arc::new(sequences.clone())).with_costs(costs.clone());
    let w = vec![0.0; chain.space().view().weights()];
    let mut lane = Arc::new(chain).lane(0).unwrap();
    let mut note = Note::default();
    lane.open(0).unwrap();
    let search = Search { k: 1, cost: 1.0, update: Update::Full };
    lane.violations(Weights::plain(&w), &search, &mut note).unwrap();
    let all: f64 = sequences[0].labels.iter().map(|y| costs[usize::from(*y)]).sum();
    assert!(close(note.found()[0].cost, all, 1e-12)); // with weights 0 the costs alone decide
    let mut scores = vec![0.0; lane.parts()];
    lane.costs(2.0, &mut scores);
    let width = Space::padded(3);
    for (t, &y) in sequences[0].labels.iter().enumerate() {
        for z in 0..3u16 {
            let cost = if y == z { 0.0 } else { 2.0 * costs[usize::from(y)] };
            assert!(close(scores[t * width + usize::from(z)], cost, 1e-12));
        }
    }
}
