//! The phrase grammar, in a notation small enough to read as a table.
//!
//! A rule has alternatives with weights. The body of an alternative is a list of items:
//!
//! | item | means |
//! |---|---|
//! | `clause` | a rule |
//! | `PERSON` `GRADE.er` `ACT.vbn=JJ` | a word of a class of the lexicon; in this form; with this tag |
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
pub(super) type Alternative = (usize, &'static str);

/// The rule that makes a sentence.
pub(super) const START: &str = "sentence";

#[rustfmt::skip]
pub(super) const RULES: &[(&str, &[Alternative])] = &[
    ("sentence", &[
        (46, "opening?50 clause closing?85 ending?45 ./."),
        (13, "opening?25 clause ,/,?60 CONJ clause closing?30 ./."), (9, "opening?20 clause ,/, source ./."),
        (7, "``/`` opening?20 clause ,/, ''/'' source closing?20 ./."),
        (4, "agent~ [VP SAY.fin~ ] ,/,?50 ``/`` clause ./. ''/''"), (4, "question ?/."), (4, "match ./."),
        (3, "clause ;/: clause ./."), (3, "list [VP aux+ ACT ] thing closing?30 ./."),
        (1, "[NP that/DT ] [VP BE.fin- ] [ADJP DEGREE?50 GRADE ] ./."),
        (1, "subject~ [VP MID?20 GO.fin~ ] ./."),
    ]),
    ("opening", &[
        (6, "[ADVP OPENER ] ,/,?75"), (2, "[PP in/IN ] [NP FIGURE ] ,/,?60"),
        (2, "[PP on/IN ] [NP WEEKDAY ] ,/,?60"), (2, "[NP yesterday/NN ] ,/,?60"),
        (2, "[NP last/JJ TIME- ] ,/,?60"), (2, "[PP despite/IN ] thing ,/,"), (2, "[PP PREP ] thing ,/,?70"),
        (1, "[PP as/IN ] [NP a/DT result/NN ] ,/,"), (2, "[VP ACT.vbg ] thing ,/,"),
        (2, "[VP ACT.vbn ] [PP by/IN ] agent ,/,"), (1, "[VP to/TO ACT.vb ] thing ,/,"),
        (2, "[PP according/VBG ] [PP to/IN ] agent ,/,"), (5, "![SBAR SUBORD ] clause ,/,"),
    ]),
    ("closing", &[
        (5, "date"), (3, "[PP PREP ] thing"), (2, "[ADVP DEGREE?15 MANNER ]"), (2, "[VP to/TO ACT.vb ] thing"),
        (1, "[SBAR in/IN order/NN ] [VP to/TO ACT.vb ] thing"), (2, "[PP because/IN of/IN ] thing"),
        (5, "!ending"),
    ]),
    ("ending", &[
        (2, ",/, [VP ACT.vbg ] thing"), (1, "[PP because/IN of/IN ] thing"),
        (5, "!,/,?50 [SBAR even/RB?10 SUBORD ] clause"),
    ]),
    ("date", &[
        (4, "[NP WEEKDAY ]"), (3, "[PP on/IN ] [NP WEEKDAY ]"), (3, "[PP in/IN ] [NP MONTH FIGURE?35 ]"),
        (2, "[PP on/IN ] [NP MONTH DATE ]"), (2, "[NP last/JJ TIME- ]"), (2, "[NP this/DT TIME- ]"),
        (2, "[NP yesterday/NN ]"), (1, "[NP today/NN ]"), (2, "[NP SMALL TIME+ ] [ADVP ago/RB ]"),
        (1, "[ADVP earlier/RBR ] [NP this/DT TIME- ]"), (1, "[PP since/IN ] [NP FIGURE ]"),
        (1, "[PP until/IN ] [NP MONTH DATE ]"), (2, "[PP for/IN ] [NP SMALL TIME+ ]"),
        (1, "[PP after/IN ] [NP the/DT EVENT- ]"),
    ]),
    ("source", &[
        (5, "subject~ [VP SAY.fin~ ] date?25"), (3, "[VP SAY.fin~ ] agent~ date?20"),
        (1, "[PP according/VBG ] [PP to/IN ] agent"),
    ]),
    ("clause", &[
        (15, "subject~ adverb?14 doing~ where?30 date?22"),
        (2, "quantity~ [VP BE.fin~ ] [ADVP up/RB ] [NP DECIMAL %/NN ] range?40 date?30"),
        (6, "quantity~ adverb?14 [VP aux~ MOVE ] amount?75 range?30 date?25"),
        (5, "thing~ [VP modest~ BE :vbn ACT ] by?55 where?25 date?20"),
        (5, "subject~ [VP modest~ BE ] predicate~ where?20"), (3, "thing~ [VP modest~ BE ] predicate~"),
        (2, "thing~ [VP modest~ LINK ] [ADJP DEGREE?30 GRADE ]"),
        (2, "[NP there/EX ] [VP BE.fin~ ] thing~ where?50"),
        (1, "[NP it/PRP ] [VP BE.fin- ] [ADJP CLEAR ] [VP to/TO ACT.vb ] thing"),
        (1, "[NP it/PRP ] [VP BE.fin- ] [PP in/IN ] [NP {LOC TOWN } ] [SBAR that/IN ] subject~ doing~"),
        (2, "![NP it/PRP ] [VP BE.fin- ] [ADJP CLEAR ] [SBAR that/IN ] clause"),
    ]),
    ("subject", &[(5, "-[NP HE ]"), (5, "+[NP THEY ]"), (24, "agent~")]),
    ("agent", &[
        (13, "[NP det~ adjectives?42 human~ ] attach~?50"), (3, "[NP det~ adjectives?42 PERSON~ ] who~?85"),
        (10, "-[NP person ] age?12"), (9, "-[NP org ] acronym?4"),
        (1, "-[NP {ORG Bank/NNP ] [PP of/IN ] [NP TOWN } ]"),
        (2, "owner [NP 's/POS adjectives?30 human~ ] attach~?15"),
        (2, "-[NP adjectives?15 GROUP-?25 PERSON- person ]"), (2, "-[NP org PERSON- person ]"),
        (2, "+[NP person ] and/CC [NP person ]"), (1, "+[NP org ] and/CC [NP org ]"),
        (2, "+[NP PERSON+ and/CC PERSON+ ]"), (2, "+[NP PERSON+ ] and/CC [NP human+ ]"),
        (3, "+[NP quantifier ] [PP of/IN ] [NP those human+ ]"),
        (1, "-[NP one/CD ] [PP of/IN ] [NP those human+ ]"), (1, "[NP the/DT GRADE.est human~ ] attach~?50"),
        (1, "+[NP the/DT {MISC CITIZENS } ]"),
    ]),
    ("human", &[
        (6, "PERSON~"), (4, "GROUP~"), (1, "MASS PERSON~"), (2, "GROUP- PERSON~"), (1, "MASS GROUP~"),
    ]),
    ("person", &[
        (5, "{PER GIVEN SURNAME }"), (5, "{PER SURNAME }"), (3, "TITLE {PER SURNAME }"), (1, "{PER GIVEN }"),
        (1, "{PER GIVEN INITIAL SURNAME }"),
    ]),
    ("org", &[
        (6, "{ORG FIRM }"), (3, "{ORG FIRM COMPANY }"), (2, "{ORG SURNAME COMPANY }"),
        (1, "{ORG SURNAME &/CC SURNAME }"), (2, "{ORG AGENCY }"), (1, "the/DT {ORG AGENCY }"),
        (3, "{ORG TOWN }"), (2, "{ORG COUNTRY }"), (2, "{ORG TOWN TEAM }"), (2, "the/DT {ORG TOWN BODY }"),
        (1, "{ORG TOWN BODY }"),
    ]),
    ("acronym", &[(1, "(/( [NP {ORG AGENCY } ] )/)")]),
    ("age", &[
        (3, ",/, [NP AGE ] ,/,"), (2, ",/, [NP det- adjectives?30 human- ] ,/,"),
        (2, "[PP of/IN ] [NP org ]"), (2, "[PP of/IN ] [NP {LOC TOWN } ]"),
    ]),
    ("list", &[
        (2, "[NP person ] ,/, [NP person ] and/CC [NP person ]"),
        (1, "[NP org ] ,/, [NP org ] and/CC [NP org ]"),
        (1, "[NP {LOC COUNTRY } ] ,/, [NP {LOC COUNTRY } ] and/CC [NP {LOC COUNTRY } ]"),
    ]),
    ("owner", &[
        (4, "[NP person ]"), (4, "[NP org ]"), (2, "[NP {LOC COUNTRY } ]"), (2, "[NP {LOC TOWN } ]"),
        (4, "[NP det- human- ]"), (1, "[NP this/DT TIME- ]"),
    ]),
    ("place", &[
        (5, "[NP {LOC TOWN } ]"), (3, "[NP {LOC COUNTRY } ]"),
        (1, "[NP {LOC VILLAGE } ] ,/, [NP {LOC COUNTRY } ] ,/,"), (1, "[NP the/DT {LOC SURNAME RIVER } ]"),
        (1, "[NP {LOC MOUNT SURNAME } ]"), (1, "[NP COMPASS {LOC COUNTRY } ]"),
        (6, "[NP det~ adjectives?25 PLACE~ ]"), (2, "[NP the/DT {LOC TOWN } PLACE- ]"),
        (1, "[NP {LOC TOWN } ] [NP 's/POS adjectives?30 PLACE ]"),
    ]),
    ("where", &[
        (6, "[PP WHERE ] place"), (1, "[PP ALONG ] [NP det~ adjectives?20 PLACE~ ]"),
        (1, "[PP in/IN ] [NP det~ EVENT~ ]"),
    ]),
    ("toward", &[(3, "[PP to/IN ] place"), (3, "where")]),
    ("by", &[(4, "[PP by/IN ] agent"), (2, "[PP for/IN ] money"), (1, "[PP as/IN ] thing")]),
    ("attach", &[
        (6, "[PP of/IN ] thing"), (4, "[PP in/IN ] place"), (4, "[PP PREP ] thing"),
        (2, "[VP ACT.vbn ] [PP by/IN ] agent"), (1, "[VP ACT.vbg ] thing"), (2, "[VP to/TO ACT.vb ] thing"),
        (5, "!relative~"),
    ]),
    ("relative", &[
        (4, "[NP that/WDT ] doing~"), (3, "[NP that/WDT ] gap"), (2, "gap"),
        (2, ",/, [NP which/WDT ] doing~ ,/,"),
    ]),
    ("who", &[
        (3, "[NP who/WP ] doing~"), (1, ",/, [NP who/WP ] doing~ ,/,"),
        (1, "[PP such/JJ as/IN ] [NP person ]"),
    ]),
    ("gap", &[(1, "subject~ [VP aux~ ACT ]")]),
    ("doing", &[
        (9, "[VP aux~ ACT ] thing"), (5, "[VP aux~ MEET ] agent"), (3, "[VP aux~ GO ] after?40 toward"),
        (2, "[VP aux~ UPVERB ] [PRT up/RP ] thing"), (1, "[VP aux~ UPVERB ] thing [PRT up/RP ]"),
        (1, "[VP aux~ DOWNVERB ] [PRT down/RP ] thing"), (1, "[VP aux~ OUTVERB ] [PRT out/RP ] thing"),
        (1, "[VP aux~ OFFVERB ] [PRT off/RP ] thing"), (1, "[VP aux~ OVERVERB ] [PRT over/RP ] thing"),
        (3, "[VP aux~ GIVE ] agent thing"), (2, "[VP aux~ GIVE ] thing [PP to/IN ] agent"),
        (1, "[VP aux~ MEET ] agent [VP to/TO ACT.vb ] thing"), (1, "[VP aux~ MEET ] [NP HIM ]"),
        (1, "[VP aux~ ACT ] [NP THEM ] [ADVP MANNER ]"), (13, "![VP aux~ SAY ] that"),
        (1, "![VP aux~ KNOW ] [SBAR whether/IN ] clause"), (1, "![VP aux~ KNOW ] [ADVP WHADV ] clause"),
        (2, "!doing~ and/CC doing~"),
    ]),
    ("that", &[(6, "[SBAR that/IN ] clause"), (5, "clause")]),
    ("aux", &[(90, "modest~"), (6, "BE.fin~ MID?12 :vbg"), (4, "DO.fin~ NOT :vb")]),
    ("modest", &[
        (54, ":fin~"), (9, "MODAL not/RB?8 MID?14 :vb"), (7, "HAVE.fin~ not/RB?8 MID?16 :vbn"),
        (6, "MID :fin~"), (2, "MANNER :fin~"), (9, "WANT.fin~ to/TO :vb"), (2, "MODAL have/VB :vbn"),
        (1, "HAVE.fin~ WANT.vbn to/TO :vb"), (1, "BE.fin~ expected/VBN to/TO :vb"),
        (1, "BE.fin~ going/VBG to/TO :vb"),
    ]),
    ("adverb", &[(4, "[ADVP MID ]"), (1, "[ADVP MANNER ]"), (1, ",/, [ADVP OPENER ] ,/,")]),
    ("after", &[
        (4, "[ADVP DEGREE?15 MANNER ]"), (1, "[ADVP up/RB ]"), (1, "[ADVP down/RB ]"), (1, "[ADVP back/RB ]"),
        (1, "[ADVP out/RB ]"),
    ]),
    ("thing", &[
        (22, "[NP det~ adjectives?45 noun~ ] attach~?55"),
        (5, "owner [NP 's/POS adjectives?30 noun~ ] attach~?15"), (4, "-[NP ADJ?20 MASS ]"),
        (3, "[NP det~ MASS noun~ ] attach~?40"), (1, "[NP the/DT GRADE.est noun~ ] attach~?50"),
        (2, "[NP det~ noun- noun~ ] attach~?40"), (4, "+[NP noun+ and/CC noun+ ]"),
        (4, "+[NP noun+ ] and/CC [NP noun+ ]"), (1, "+[NP MASS and/CC MASS ]"),
        (1, "+[NP MASS ] and/CC [NP MASS ]"), (2, "-[NP {ORG FIRM } ] [NP 's/POS {MISC MODEL } ]"),
        (1, "-[NP the/DT {MISC MODEL } ]"), (2, "-[NP the/DT contest ]"),
        (2, "+[NP number UNIT+ ] [PP of/IN ] [NP MASS ]"),
        (2, "+[NP quantifier ] [PP of/IN ] [NP those noun+ ]"), (1, "-[NP that/DT ]"),
        (1, "-[NP the/DT ACT.vbg=NN ] [PP of/IN ] [NP MASS ]"), (1, "-[NP ACT.vbg=NN ]"),
        (1, "-[NP {MISC NATION=NNP } ]"), (1, "+money"),
    ]),
    ("contest", &[
        (2, "{MISC TOWN CUP }"), (1, "{MISC World/NNP CUP }"), (1, "{MISC WEEKDAY CUP }"),
        (1, "{MISC SURNAME CUP }"), (1, "FIGURE {MISC TOWN CUP }"),
    ]),
    ("noun", &[(6, "THING~"), (6, "ABSTRACT~"), (3, "EVENT~"), (3, "QUANTITY~"), (1, "PLACE~")]),
    ("quantity", &[
        (5, "[NP det~ adjectives?25 QUANTITY~ ] attach~?30"), (4, "+[NP MASS QUANTITY+ ]"),
        (3, "owner [NP 's/POS adjectives?20 QUANTITY~ ]"), (2, "+[NP QUANTITY+ ] [PP of/IN ] [NP MASS ]"),
        (1, "-[NP the/DT QUANTITY- ] [PP of/IN ] [NP MASS ]"), (1, "+[NP QUANTITY+ and/CC QUANTITY+ ]"),
        (1, "+[NP QUANTITY+ ] and/CC [NP QUANTITY+ ]"),
    ]),
    ("amount", &[
        (5, "[NP DECIMAL %/NN ]"), (2, "[PP by/IN ] [NP DECIMAL %/NN ]"), (3, "[ADVP MANNER ]"),
        (1, "[NP number+ UNIT+ ]"), (1, "[NP DATE points/NNS ]"), (1, "[NP more/JJR than/IN DECIMAL %/NN ]"),
        (1, "[ADVP more/RBR ] [PP than/IN ] [NP DECIMAL %/NN ]"), (1, "[NP about/IN INT UNIT+ ]"),
        (1, "[PP about/IN ] [NP INT UNIT+ ]"), (1, "[ADVP further/RB ]"),
    ]),
    ("range", &[
        (4, "[PP to/IN ] money"), (1, "[PP from/IN ] money"), (1, "[PP from/IN ] money [PP to/IN ] money"),
    ]),
    ("money", &[
        (4, "[NP $/$ DECIMAL SCALE ]"), (2, "[NP $/$ INT ]"), (1, "[NP about/IN $/$ INT ]"),
        (1, "[NP INT euros/NNS ]"), (2, "[NP $/$ DECIMAL ] [NP a/DT UNIT- ]"),
    ]),
    ("predicate", &[
        (4, "[ADJP DEGREE?35 GRADE ]"), (3, "[ADJP CLEAR ]"),
        (3, "[ADJP DEGREE?10 ABLE ] [VP to/TO ACT.vb ] thing"), (2, "[ADJP GRADE.er ] [PP than/IN ] thing"),
        (1, "[ADJP more/RBR CLEAR ] [PP than/IN ] thing"), (2, "[NP det~ adjectives?40 noun~ ]"),
        (2, "[ADJP ACT.vbn=JJ ]"), (1, "[ADJP GRADE and/CC GRADE ]"), (2, "[PP WHERE ] place"),
        (1, "[PP ALONG ] [NP det~ PLACE~ ]"),
    ]),
    ("adjectives", &[
        (7, "ADJ"), (7, "GRADE"), (1, "GRADE ADJ"), (2, "ACT.vbn=JJ"), (2, "ACT.vbn"), (1, "ACT.vbg=JJ"),
        (2, "ACT.vbg"), (4, "{MISC NATION }"), (1, "GRADE.er"), (1, "DEGREE GRADE"),
        (1, "GRADE and/CC GRADE"), (1, "MANNER ACT.vbn"),
    ]),
    ("det", &[
        (48, "the/DT"), (24, "-a/DT"), (8, "OWNER"), (3, "-this/DT"), (3, "-that/DT"), (2, "-another/DT"),
        (2, "-each/DT"), (2, "no/DT"), (16, "+"), (6, "+some/DT"), (3, "+these/DT"), (3, "+many/JJ"),
        (2, "+several/JJ"), (2, "+all/PDT the/DT"), (2, "+more/JJR"), (6, "+number"),
    ]),
    ("those", &[(5, "the/DT"), (2, "OWNER"), (1, "these/DT"), (1, "those/DT")]),
    ("number", &[
        (5, "SMALL"), (4, "INT"), (1, "about/IN INT"), (1, "more/JJR than/IN INT"),
        (1, "at/IN least/JJS SMALL"),
    ]),
    ("quantifier", &[
        (3, "some/DT"), (2, "most/JJS"), (2, "many/JJ"), (2, "all/DT"), (2, "SMALL"), (1, "DECIMAL %/NN"),
    ]),
    ("question", &[
        (3, "MODAL subject~ [VP ACT.vb ] thing"), (3, "DO.fin~ subject~ [VP ACT.vb ] thing"),
        (2, "[ADVP WHADV ] DO.fin~ subject~ [VP ACT.vb ] thing"), (2, "[NP who/WP ] doing-"),
        (1, "BE.fin~ thing~ [ADJP DEGREE?20 GRADE ]"), (2, "[NP what/WP ] MODAL subject~ [VP ACT.vb ]"),
    ]),
    ("match", &[
        (2, "[NP {ORG TOWN TEAM?30 } ] [VP beat/VBD ] [NP {ORG TOWN TEAM?30 } ] [NP SCORE ] date?60"),
        (1, "[NP {ORG TOWN TEAM?30 } ] [VP lost/VBD ] [PP to/IN ] [NP {ORG TOWN } ] date?60"),
        (1, "[NP {ORG COUNTRY } ] [VP MEET.fin- ] [NP {ORG COUNTRY } ] [PP in/IN ] [NP {LOC TOWN } ] date"),
        (1, "[NP person ] [VP won/VBD ] [NP the/DT contest ] [PP for/IN ] [NP {ORG TOWN } ] date?50"),
    ]),
];
