//! What the targets of templates and of patterns share: whatever can be read can be trained and used.

use std::sync::{Arc, LazyLock};

use seqoia::learners::Entry;
use seqoia::{DataOptions, LabelTask, Labeller, LearnOptions, Passes, Run, TrainingSet};

const TEXT: &str = "the 1 D\ndog 2.5 N\n\na -3 D\ncat 1e9 N\nsleeps x V\n\n";
static LEARNER: LazyLock<Option<&Entry>> = LazyLock::new(|| seqoia::learners::find("perceptron").ok());

pub fn train(data: &DataOptions) -> seqoia::Result<()> {
    let set = TrainingSet::read(seqoia::input_from_text("train", TEXT)?, data)?;
    let Some(learner) = *LEARNER else { return Ok(()) };
    let passes = Some(Passes::Exactly(1));
    let options = LearnOptions { passes, ..LearnOptions::new(learner, learner.defaults()) };
    let task = LabelTask::new(&set, None);
    let run = Run::new(&task, &options)?;
    let model = run.model(&run.run(&mut (), &Arc::default())?)?;
    Labeller::from_bytes("model", &model)?.predictor().label(&[&["the", "1"], &["cat", "2"]])?;
    Ok(())
}
