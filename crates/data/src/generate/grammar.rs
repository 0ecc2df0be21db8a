//! The phrase grammar, in a notation small enough to read as a table.
//!
//! A rule has alternatives with weights. The body of an alternative is a list of items:
//!
//! | item | means |
//! |---|---|
//! | `clause` | a rule |
//! | `PERSON` `GRADE.er` `ACT.vbn=JJ` | a word of a class of the lexicon; in this form; with this tag instead of its own |
//! | `the/DT` | this word with this tag |
//! | `[NP` ... `]` | a chunk begins and ends; what lies between rules is outside of all chunks |
//! | `{PER` ... `}` | an entity begins and ends; it may cross chunks ("Bank of Porto") |
//! | `:vbn` | the next verb without a form of its own takes this one (`fin`: finite, past or present) |
//!
//! Every rule is expanded for a number, singular or plural. An item gets a number drawn afresh;
//! `x~` gets that of its rule (agreement), `x-` singular, `x+` plural. `x?30` is there in 30 of 100
//! cases. A body that begins with `-` or `+` is for that number only, one with `!` is not taken any
//! more when the sentence is long or deep enough; without those and without the optional items, the
//! grammar has no cycle.
//!
//! Chunks follow CoNLL-2000 (base phrases, a preposition alone is a PP, "to" and adverbs between
//! verbs belong to the VP, a possessive 's opens an NP), entities follow CoNLL-2003. Where English
//! leaves a choice the rules take both ways: an adverb before a verb is an ADVP or part of the VP,
//! coordinated nouns are one NP or two, "about 20 people" is an NP or a PP and an NP, a bare name may
//! be a person, a place, its team or a firm.

/// An alternative: its weight and its body.
pub(super) type Alternative = (u32, &'static str);

/// The rule that makes a sentence.
pub(super) const START: &str = "sentence";

#[rustfmt::skip]
pub(super) const RULES: &[(&str, &[Alternative])] = &[
    ("sentence", &[
        (48, "opening?28 clause closing?25 ./."),
        (9, "clause ,/,?60 CONJ clause ./."),
        (9, "clause ,/, source ./."),
        (7, "``/`` clause ,/, ''/'' source ./."),
        (4, "agent~ [VP SAY.fin~ ] ,/,?50 ``/`` clause ./. ''/''"),
        (5, "question ?/."),
        (3, "match ./."),
        (3, "clause :/: clause ./."),
        (3, "clause --/: [NP ADJ?50 ABSTRACT+ ] and/CC [NP EVENT+ ] --/: and/CC clause ./."),
        (2, "[NP that/DT ] [VP BE.fin- ] [ADJP DEGREE?50 GRADE ] ./."),
        (2, "listing ./."),
    ]),
    ("CONJ_unused", &[(1, "and/CC")]),
];
