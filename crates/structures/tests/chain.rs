//! The laws of the chain: every kernel equals enumeration, gradients equal differences, both
//! instruction sets give the same bits, and extreme scores stay finite.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::{label, real, single};
use seqoia_core::{
    Delta, Lane, Note, Pairs, Ragged, Random, Result, Row, Search, Sequence, Structure, Update, Weights,
    sum_by_parts,
};
use seqoia_structures::brute;
use seqoia_structures::chain::{Chain, Decoder, Isa, Layout, Limits, Precision, Space};
use seqoia_testkit::chains::{PLAIN, Toy, make, toys, view};
use seqoia_testkit::close;

#[test]
fn the_best_labelling_is_the_best_of_all() {
    for (i, toy) in toys().into_iter().enumerate() {
        let (chain, sequences, w) = make(toy, i as u64);
        let space = chain.space().view();
        let mut decoder = Decoder::default();
        for x in &sequences {
            let mut found = vec![];
            let score = decoder.best(space, &w, view(x), Limits::default(), &mut found);
            let all = brute::labellings(toy.labels, toy.length);
            let mut best = (f64::NEG_INFINITY, vec![]);
            for y in all {
                let s = brute::score(space, &w, view(x), &y);
                // Enumeration runs in the order in which ties are broken. With real values the two
                // sums may differ in the last bit, so ties are only tested on whole numbers.
                if s > best.0 {
                    best = (s, y);
                }
            }
            assert!(close(score, if toy.length == 0 { 0.0 } else { best.0 }, 1e-12));
            if toy.ties && !toy.values {
                assert_eq!(found, best.1);
            }
            assert!(close(brute::score(space, &w, view(x), &found), score, 1e-12));
        }
    }
}

#[test]
fn the_k_best_are_the_k_best_of_all() {
    for (i, toy) in toys().into_iter().enumerate() {
        let (chain, sequences, w) = make(toy, 100 + i as u64);
        let space = chain.space().view();
        for x in &sequences[..2] {
            let mut scores: Vec<f64> = brute::labellings(toy.labels, toy.length)
                .iter()
                .map(|y| brute::score(space, &w, view(x), y))
                .collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            for k in [1, 2, 5, 1000] {
                let found = Decoder::default().nbest(space, &w, view(x), Limits::default(), k);
                let wanted = if toy.length == 0 { 0 } else { k.min(scores.len()) };
                assert_eq!(found.len(), wanted);
                for (a, b) in found.iter().zip(&scores) {
                    assert!(close(a.score, *b, 1e-12));
                    assert!(close(a.score, brute::score(space, &w, view(x), &a.labels), 1e-12));
                }
                let mut different: Vec<_> = found.iter().map(|l| &l.labels).collect();
                different.sort();
                different.dedup();
                assert_eq!(different.len(), found.len(), "a labelling came twice");
                let mut best = vec![];
                Decoder::default().best(space, &w, view(x), Limits::default(), &mut best);
                assert!(found.first().is_none_or(|f| toy.values || !toy.ties || f.labels == best));
            }
        }
    }
}

#[test]
fn log_z_and_marginals_equal_enumeration() {
    for size in [1.0, 300.0] {
        for (i, toy) in toys().into_iter().enumerate() {
            let (chain, sequences, w) = make(Toy { size, ..toy }, 200 + i as u64);
            let space = chain.space().view();
            let mut decoder = Decoder::default();
            for x in &sequences[..2] {
                let log_z = decoder.marginals(space, &w, view(x), Limits::default());
                let exact = brute::log_z(space, &w, view(x));
                assert!(close(log_z, exact, 1e-12), "{log_z} is not {exact}");
                for t in 0..toy.length {
                    for y in 0..toy.labels {
                        let p: f64 = brute::labellings(toy.labels, toy.length)
                            .iter()
                            .filter(|l| usize::from(l[t]) == y)
                            .map(|l| (brute::score(space, &w, view(x), l) - exact).exp())
                            .sum();
                        assert!(close(decoder.marginal(space, t, label(y)), p, 1e-10));
                    }
                }
            }
        }
    }
}

#[test]
fn single_precision_is_close_to_double() {
    for (i, toy) in toys().into_iter().enumerate() {
        let (chain, sequences, w) = make(toy, 300 + i as u64);
        let space = chain.space().view();
        let w32: Vec<f32> = w.iter().map(|&x| single(x)).collect();
        for x in &sequences[..2] {
            let (a, b) = (
                Decoder::<f32>::default().marginals(space, &w32, view(x), Limits::default()),
                Decoder::<f64>::default().marginals(space, &w, view(x), Limits::default()),
            );
            assert!(close(a, b, 1e-5));
        }
    }
}

/// Loss and gradient of a chunk; summed twice, because a lane must forget what it gave away.
fn total(lane: &mut dyn Lane, ids: &[usize], w: &[f64]) -> Result<(f64, Vec<f64>)> {
    let mut lent = vec![];
    let [first, second] = [(); 2].map(|()| {
        let mut g = vec![0.0; w.len()];
        lane.prepare(Weights::plain(w));
        let loss = lane.sum(ids, Weights::plain(w), Some(&mut lent))?;
        lane.collect(&mut lent, &mut g);
        Ok((loss, g))
    });
    let bits = |x: &Result<(f64, Vec<f64>)>| match x {
        Ok((loss, g)) => (loss.to_bits(), g.iter().map(|g| g.to_bits()).collect()),
        Err(_) => (0, vec![]),
    };
    assert_eq!(bits(&first), bits(&second));
    second
}

#[test]
fn gradients_equal_differences() {
    for (i, toy) in toys().into_iter().enumerate().filter(|(_, t)| !t.ties) {
        let (chain, _, w) = make(toy, 400 + i as u64);
        let mut lane = chain.clone().lane(0).unwrap();
        let ids = [0, 1, 2, 3, 4];
        let (_, g) = total(&mut *lane, &ids, &w).unwrap();
        let h = 1e-6;
        for j in 0..w.len() {
            let mut moved = w.clone();
            moved[j] += h;
            chain.space().clear_holes(&mut moved);
            let up = sum_by_parts(&mut *lane, &ids, Weights::plain(&moved), None).unwrap();
            moved[j] -= if moved[j] == w[j] { 0.0 } else { 2.0 * h };
            chain.space().clear_holes(&mut moved);
            let down = sum_by_parts(&mut *lane, &ids, Weights::plain(&moved), None).unwrap();
            assert!(
                close(g[j], (up - down) / (2.0 * h), 1e-7),
                "weight {j}: {} against {}",
                g[j],
                (up - down) / (2.0 * h)
            );
        }
    }
}

#[test]
fn fused_sums_equal_sums_by_parts_for_any_number_of_labels() {
    for (labels, size) in [
        (1, 1.0),
        (2, 1.0),
        (3, 1.0),
        (9, 1.0),
        (13, 1.0),
        (22, 1.0),
        (40, 1.0),
        (49, 1.0),
        (70, 1.0),
        (70, 6.0),
        (101, 20.0),
        (70, 300.0),
    ] {
        // One token has no pairs.
        for length in [1, 9] {
            let toy = Toy { labels, length, size, ..PLAIN };
            let (chain, sequences, mut w) = make(toy, 460 + labels as u64);
            // Pairs that occur are few and mostly forbid, so that sums cancel.
            w[..labels * Space::padded(labels)]
                .iter_mut()
                .for_each(|a| *a -= if *a == 0.0 { 0.0 } else { size });
            for by_pairs in [false, true] {
                let chain = Chain::new(chain.space().clone(), Arc::new(sequences.clone()));
                let mut lane = Arc::new(chain.with_sums_by_pairs(by_pairs)).lane(0).unwrap();
                let ids = [0, 1, 2, 3, 4];
                let mut h = vec![0.0; w.len()];
                let (a, g) = total(&mut *lane, &ids, &w).unwrap();
                let b = sum_by_parts(&mut *lane, &ids, Weights::plain(&w), Some(&mut h)).unwrap();
                assert!(close(a, b, 1e-10), "{labels} labels: {a} against {b}");
                let worst = g.iter().zip(&h).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(worst < 1e-9, "{labels} labels, size {size}: gradients differ by {worst:e}");
            }
        }
    }
}

#[test]
fn sums_in_single_precision_are_close() {
    for (i, toy) in toys().into_iter().enumerate() {
        let (chain, sequences, w) = make(toy, 450 + i as u64);
        let sum = |precision| {
            let chain =
                Chain::new(chain.space().clone(), Arc::new(sequences.clone())).with_precision(precision);
            total(&mut *Arc::new(chain).lane(0).unwrap(), &[0, 1, 2, 3, 4], &w).unwrap()
        };
        let ((a, g), (b, h)) = (sum(Precision::F64), sum(Precision::F32));
        assert!(close(a, b, 1e-6));
        assert!(g.iter().zip(&h).all(|(x, y)| close(*x, *y, 1e-5)));
    }
}

#[test]
fn scatter_is_the_transpose_of_scores_and_spread_is_scatter() {
    for (i, toy) in toys().into_iter().enumerate() {
        let (chain, _, w) = make(toy, 500 + i as u64);
        let mut lane = chain.clone().lane(0).unwrap();
        let mut random = Random::new(i as u64, 0, 0, "parts");
        for id in 0..3 {
            lane.open(id).unwrap();
            let parts: Vec<f64> = (0..lane.parts()).map(|_| random.unit() - 0.5).collect();
            let mut scores = vec![0.0; lane.parts()];
            lane.scores(Weights { values: &w, scale: 0.5 }, &mut scores);
            let there: f64 = scores.iter().zip(&parts).map(|(a, b)| a * b).sum();
            let mut delta = Delta::default();
            lane.scatter(&parts, 0.0, &mut delta);
            let back = delta.dot(Weights { values: &w, scale: 0.5 });
            assert!(close(there, back, 1e-12));
            // What says nothing is left out, and nothing else.
            let (width, mut some) = (Space::padded(toy.labels), parts.clone());
            some.chunks_mut(width).skip(1).step_by(2).for_each(|p| p.fill(0.0));
            let (mut fewer, mut sums) = (Delta::default(), vec![0.0; w.len()]);
            lane.scatter(&some, 0.0, &mut fewer);
            fewer.entries().for_each(|(at, x)| sums[at] += x);
            let mut whole = vec![0.0; w.len()];
            lane.spread(&some, 1.0, 0, &mut whole);
            assert!(whole.iter().zip(&sums).all(|(a, b)| close(*a, *b, 1e-12)));
            assert!(fewer.rows.len() <= delta.rows.len());
            let mut rows = vec![];
            lane.rows(&mut rows);
            let place = |r: &Row| (r.at, r.len, r.holes);
            assert!(rows.iter().map(place).eq(delta.rows.iter().map(place)));

            let (mut dense, mut pieces) = (vec![0.0; w.len()], vec![0.0; w.len()]);
            delta.entries().for_each(|(at, x)| dense[at] += 2.0 * x);
            for cut in [0, 1, w.len() / 3, w.len() / 2 + 1] {
                pieces.fill(0.0);
                let (left, right) = pieces.split_at_mut(cut.min(w.len()));
                lane.spread(&parts, 2.0, 0, left);
                lane.spread(&parts, 2.0, left.len(), right);
                assert!(pieces.iter().zip(&dense).all(|(a, b)| close(*a, *b, 1e-12)));
            }
            let mut whole = vec![0.0; w.len()];
            lane.spread(&parts, 2.0, 0, &mut whole);
            for workers in [1, 2, 3, 8] {
                pieces.fill(0.0);
                let length = w.len().div_ceil(workers).max(1);
                for (i, piece) in pieces.chunks_mut(length).enumerate() {
                    lane.spread(&parts, 2.0, i * length, piece);
                }
                assert!(pieces.iter().zip(&whole).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }
}

#[test]
fn violations_are_the_best_wrong_labellings() {
    for (i, toy) in toys().into_iter().enumerate() {
        let (chain, sequences, w) = make(toy, 600 + i as u64);
        let space = chain.space().view();
        let mut lane = chain.clone().lane(0).unwrap();
        for (id, x) in sequences.iter().enumerate() {
            for (k, cost) in [(1, 0.0), (1, 1.0), (3, 0.0), (3, 0.5)] {
                lane.open(id).unwrap();
                let mut note = Note::default();
                note.clear(id, 1.0);
                let search = Search { k, cost, update: Update::Full };
                lane.violations(Weights::plain(&w), &search, &mut note).unwrap();
                let hamming = |y: &[u16]| real(y.iter().zip(&x.labels).filter(|(a, b)| a != b).count());
                let mut all: Vec<_> = brute::labellings(toy.labels, toy.length)
                    .into_iter()
                    .map(|y| (brute::score(space, &w, view(x), &y) + cost * hamming(&y), y))
                    .collect();
                all.sort_by(|a, b| b.0.total_cmp(&a.0));
                let gold = brute::score(space, &w, view(x), &x.labels);
                for v in note.found() {
                    assert!(v.cost > 0.0);
                    assert!(close(v.delta.dot(Weights::plain(&w)), v.margin, 1e-10));
                }
                if !toy.ties {
                    let wanted: Vec<_> = all.iter().take(k).filter(|(_, y)| *y != x.labels).collect();
                    assert_eq!(note.found().len(), wanted.len());
                    for (v, (s, y)) in note.found().iter().zip(wanted) {
                        assert_eq!(v.cost, hamming(y));
                        assert!(close(gold - v.margin + cost * v.cost, *s, 1e-10));
                    }
                }
            }
        }
    }
}

#[test]
fn both_instruction_sets_give_the_same_bits() {
    for labels in [2, 3, 4, 7, 9, 12, 17, 20, 24, 27, 30, 40, 70] {
        for edges in [false, true] {
            let toy = Toy { labels, length: 17, edges, ..PLAIN };
            let (chain, sequences, w) = make(toy, labels as u64);
            let space = chain.space().view();
            for x in &sequences {
                let mut results = [Isa::Portable, Isa::detect()].map(|isa| {
                    let (mut d, mut found) = (Decoder::<f64>::new(isa), vec![]);
                    let score = d.best(space, &w, view(x), Limits::default(), &mut found);
                    let log_z = d.marginals(space, &w, view(x), Limits::default());
                    let p: Vec<u64> = (0..17).map(|t| d.marginal(space, t, 1).to_bits()).collect();
                    (found, score.to_bits(), log_z.to_bits(), p)
                });
                let (a, b) = results.split_at_mut(1);
                assert_eq!(a[0], b[0]);
            }
        }
    }
}

#[test]
fn fused_sums_have_the_same_bits_with_both_instruction_sets() {
    for labels in [1, 2, 3, 7, 11, 18, 22, 28, 33, 49, 64, 70] {
        for (precision, by_pairs) in
            [(Precision::F64, false), (Precision::F32, false), (Precision::F64, true)]
        {
            let (chain, sequences, w) = make(Toy { labels, length: 23, ..PLAIN }, labels as u64);
            let [a, b] = [Isa::Portable, Isa::detect()].map(|isa| {
                let chain = Chain::new(chain.space().clone(), Arc::new(sequences.clone()));
                let chain = chain.with_isa(isa).with_precision(precision).with_sums_by_pairs(by_pairs);
                let chain = Arc::new(chain);
                let (loss, g) = total(&mut *chain.lane(0).unwrap(), &[0, 1, 2, 3, 4], &w).unwrap();
                (loss.to_bits(), g.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            });
            assert_eq!(a, b, "{labels} labels");
        }
    }
}

/// Not in the log domain, which is slower by far.
#[test]
fn scores_too_far_apart_for_single_precision_are_summed_in_double() {
    for labels in [5, 22, 70] {
        let (chain, sequences, mut w) = make(Toy { labels, length: 9, ..PLAIN }, labels as u64);
        let most = w.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
        w.iter_mut().for_each(|w| *w *= 60.0 / most);
        let [a, b] = [Precision::F64, Precision::F32].map(|precision| {
            let chain = Chain::new(chain.space().clone(), Arc::new(sequences.clone()));
            let mut lane = Arc::new(chain.with_precision(precision)).lane(0).unwrap();
            total(&mut *lane, &[0, 1, 2, 3, 4], &w).unwrap()
        });
        assert_eq!(a, b, "{labels} labels");
    }
}

#[test]
fn single_precision_holds_for_long_sequences_and_many_labels() {
    for labels in [5, 10, 20, 22, 26, 40, 64, 70, 130] {
        let (chain, sequences, w) = make(Toy { labels, length: 200, ..PLAIN }, labels as u64);
        let [(a, g), (b, h)] = [Precision::F64, Precision::F32].map(|precision| {
            let chain = Chain::new(chain.space().clone(), Arc::new(sequences.clone()));
            let mut lane = Arc::new(chain.with_precision(precision)).lane(0).unwrap();
            total(&mut *lane, &[0, 1, 2, 3, 4], &w).unwrap()
        });
        assert!(close(a, b, 1e-7), "{labels} labels: {a} {b}");
        let most = g.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        let worst = g.iter().zip(&h).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-5 * most, "{labels} labels: {worst:e} of {most}");
    }
}

/// Every position wants label 0, every transition but 1 -> 2 is forbidden with all that the kernels allow: a
/// row that is used before it is normalised underflows here.
#[test]
fn sums_at_the_edge_of_the_linear_domain_are_right() {
    for (precision, a, s) in
        [(Precision::F32, 48.0, 28.0), (Precision::F32, 52.0, 27.9), (Precision::F64, 400.0, 249.0)]
    {
        let nodes = Pairs { starts: vec![0, 3], labels: vec![0, 1, 2], counts: vec![1] };
        let (space, _) =
            Space::new(3, &nodes, &Pairs::default(), Some(&[0, 1, 2, 3, 4, 5, 6, 7, 8]), Layout::All);
        let width = Space::padded(3);
        let mut w = vec![-a; space.view().weights()];
        w[width + 2] = 0.0;
        w[3 * width..].fill(0.0);
        w[3 * width] = s;
        space.clear_holes(&mut w);
        let sequences: Vec<Sequence> = [vec![0, 0, 0, 0], vec![0, 1, 2, 0], vec![1, 2, 1, 2]]
            .map(|labels| Sequence {
                nodes: Ragged { starts: vec![0, 1, 2, 3, 4], items: vec![0; 4], values: vec![] },
                labels,
                weight: 1.0,
                ..Sequence::default()
            })
            .to_vec();
        let chain = Chain::new(Arc::new(space), Arc::new(sequences)).with_precision(precision);
        let (mut lane, ids) = (Arc::new(chain).lane(0).unwrap(), [0, 1, 2]);
        let mut h = vec![0.0; w.len()];
        let (fused, g) = total(&mut *lane, &ids, &w).unwrap();
        let parts = sum_by_parts(&mut *lane, &ids, Weights::plain(&w), Some(&mut h)).unwrap();
        assert!(close(fused, parts, 1e-6), "{a} {s}: {fused} against {parts}");
        g.iter().zip(&h).for_each(|(x, y)| assert!((x - y).abs() < 1e-4, "{a} {s}: {x} against {y}"));
    }
}

#[test]
fn a_weight_that_is_no_number_is_an_error() {
    for labels in [3, 22, 70] {
        let width = Space::padded(labels);
        for precision in [Precision::F64, Precision::F32] {
            // A transition and a weight of an attribute, first and last label.
            for at in [0, labels - 1, labels * width, labels * width + labels - 1] {
                let toy = Toy { labels, length: 9, all: true, ..PLAIN };
                let (chain, sequences, mut w) = make(toy, 5);
                w[at] = f64::NAN;
                let chain = Chain::new(chain.space().clone(), Arc::new(sequences)).with_precision(precision);
                let chain = Arc::new(chain);
                let mut lane = chain.clone().lane(0).unwrap();
                let found = total(&mut *lane, &[0, 1, 2, 3, 4], &w);
                // An error leaves nothing behind.
                w[at] = 0.0;
                let after = total(&mut *lane, &[0, 1, 2, 3, 4], &w).unwrap();
                let fresh = total(&mut *chain.clone().lane(0).unwrap(), &[0, 1, 2, 3, 4], &w).unwrap();
                assert_eq!(after, fresh);
                let clean = matches!(&found, Ok((_, g)) if g.iter().all(|g| g.is_finite()));
                assert!(found.is_err() || clean, "{labels} labels, weight {at}: {found:?}");
                assert!(at >= labels || found.is_err(), "{labels} labels, transition {at}: {found:?}");
            }
        }
    }
}

#[test]
fn extremes_stay_finite() {
    for (length, size) in [(10_000, 1.0), (10_000, 1e3), (50, 1e3), (3, 1e6)] {
        for labels in [1, 3, 9] {
            for edges in [false, true] {
                let toy = Toy { labels, length, edges, size, ..PLAIN };
                let (chain, sequences, w) = make(toy, 7);
                let space = chain.space().view();
                let mut decoder = Decoder::default();
                let mut found = vec![];
                let best = decoder.best(space, &w, view(&sequences[0]), Limits::default(), &mut found);
                let log_z = decoder.marginals(space, &w, view(&sequences[0]), Limits::default());
                assert!(best.is_finite() && log_z.is_finite());
                let most = best + real(length) * real(labels).ln();
                assert!(
                    log_z >= best - 1e-9 * best.abs() && log_z <= most + 1e-9 * most.abs(),
                    "{best} {log_z} {most}"
                );
                for t in [0, length / 2, length - 1] {
                    let sum: f64 = (0..labels).map(|y| decoder.marginal(space, t, label(y))).sum();
                    assert!(close(sum, 1.0, 1e-7), "probabilities add up to {sum}");
                }
            }
        }
    }
}

#[test]
fn a_beam_of_all_labels_is_exact_and_a_small_one_is_a_lower_bound() {
    for (i, toy) in toys().into_iter().enumerate().filter(|(_, t)| t.length > 0) {
        let (chain, sequences, w) = make(toy, 700 + i as u64);
        let space = chain.space().view();
        let mut decoder = Decoder::default();
        for x in &sequences {
            let (mut exact, mut found) = (vec![], vec![]);
            let best = decoder.best(space, &w, view(x), Limits::default(), &mut exact);
            assert!(close(
                decoder.best_in_beam(space, &w, view(x), Limits::default(), toy.labels, &mut found),
                best,
                1e-12
            ));
            assert!(toy.values || found == exact);
            for size in 1..toy.labels {
                let score = decoder.best_in_beam(space, &w, view(x), Limits::default(), size, &mut found);
                assert!(score <= best + 1e-9);
                assert!(close(score, brute::score(space, &w, view(x), &found), 1e-12));
            }
        }
    }
}

#[test]
fn updates_of_inexact_search_are_violations() {
    let mut prefixes = 0;
    for seed in 0..60 {
        let toy = Toy { labels: 4, length: 8, all: true, ..PLAIN };
        let (chain, sequences, w) = make(toy, 800 + seed);
        let chain = Arc::new(Chain::new(chain.space().clone(), Arc::new(sequences.clone())).with_beam(2));
        let mut lane = chain.lane(0).unwrap();
        for id in 0..sequences.len() {
            let mut margins = vec![];
            for update in [Update::Early, Update::Latest, Update::MaxViolation] {
                lane.open(id).unwrap();
                let mut note = Note::default();
                note.clear(id, 1.0);
                lane.violations(Weights::plain(&w), &Search { k: 1, cost: 0.0, update }, &mut note).unwrap();
                for v in note.found() {
                    assert!(close(v.delta.dot(Weights::plain(&w)), v.margin, 1e-10));
                    assert!(v.margin <= 1e-9, "{update:?} is no violation: {}", v.margin);
                    prefixes += 1;
                    margins.push(v.margin);
                }
            }
            // Max-violation is the most violated of all prefixes.
            if let [early, latest, most] = margins[..] {
                assert!(most <= early + 1e-9 && most <= latest + 1e-9);
            }
        }
    }
    assert!(prefixes > 300, "{prefixes}");
}
