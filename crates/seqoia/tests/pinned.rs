//! Models that are in users' hands stay readable, and the same training gives the same weights: a model that was
//! made once is part of the project. In which order attributes are numbered may change, since that changes no answer.
//! When the format or the weights are meant to change, remove it, run these tests, which write it anew, and say so in
//! the list of changes.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::path::{Path, PathBuf};

use seqoia::label::{Output, PredictOptions, model_to_text};
use seqoia::{DataOptions, Labeller, LearnOptions, Model};
use seqoia_model::VERSION;
use seqoia_testkit::labelling::{Fitted, fit, passes, read, templates, try_label};

const TEXT: &str = "The DT B-NP\ngrey JJ I-NP\ncat NN I-NP\nsleeps VBZ B-VP\n. . O\n\n\
                    A DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\nat IN B-PP\nthe DT B-NP\ncat NN I-NP\n. . O\n\n\
                    Dogs NNS B-NP\nsleep VBP B-VP\n\nshe PRP B-NP\nhas VBZ B-VP\nseen VBN I-VP\na DT B-NP\ngrey JJ I-NP\n\
                    dog NN I-NP\nat IN B-PP\nnight NN B-NP\n. . O\n\n";
const TEMPLATES: &str = "U0:%x[0,0]\nU1:%x[0,1]\nU2:%x[-1,1]/%x[0,1]\nU3:%x[1,1]\nB\nB1:%x[0,1]\n";

/// The file, which is made if there is none; that does not pass for a test.
fn path() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pinned.seqoia");
    if !path.exists() {
        seqoia::write_atomically(&path, &trained().bytes).unwrap();
        panic!("{} is new", path.display());
    }
    path
}

/// Training that draws an order and averages: most of what can change is in it.
fn trained() -> Fitted {
    let data: DataOptions = templates(TEMPLATES);
    fit(&read(TEXT, &data), None, &LearnOptions { seed: 7, threads: 2, ..passes("averaged-perceptron", 4) })
}

#[test]
fn a_model_of_old_opens_and_labels() {
    let Model::Labeller(model) = Model::open(path()).unwrap() else { panic!("not a labeller") };
    assert_eq!(model.head().training["learner"], "averaged-perceptron");
    assert_eq!(model.meta().labels.len(), 6);
    let text = "A DT\nwhite JJ\ncat NN\nhas VBZ\nslept VBN\nat IN\nthe DT\ndog NN\n. .\n";
    let options = PredictOptions::new(Output::NBest(2), 1);
    let best = "A DT B-NP\nwhite JJ I-NP\ncat NN I-NP\nhas VBZ B-VP\nslept VBN I-VP\nat IN B-PP\n\
                the DT B-NP\ndog NN I-NP\n. . O\n\n";
    let second = best.replace("VBN I-VP", "VBN I-NP");
    let wanted = format!("# 0 0.341369\n{best}# 1 0.207050\n{second}");
    assert_eq!(try_label(&model, text, &options).unwrap(), wanted);
}

#[test]
fn training_gives_the_weights_that_it_gave() {
    let bytes = trained().bytes;
    assert_eq!(u32::from_le_bytes(bytes[16..20].try_into().unwrap()), VERSION);
    let lines = |model: &Labeller| {
        let mut text = vec![];
        model_to_text(model, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        // The description names the version of the program, and the layout; the digest is that of all.
        let stays = |line: &&str| !line.starts_with("meta") && !line.starts_with("digest");
        let mut lines: Vec<_> = text.lines().filter(stays).map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let old = lines(&Labeller::open(path()).unwrap());
    assert!(old.len() > 50, "{}", old.len());
    assert_eq!(old, lines(&Labeller::from_bytes("new", &bytes).unwrap()));
    // And what the file says is what the run says.
    let labeller = Labeller::from_bytes("new", &bytes).unwrap();
    assert_eq!(labeller.meta().tokens, 23);
}
