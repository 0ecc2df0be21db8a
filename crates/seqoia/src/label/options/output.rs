//! What is written for each sentence that is labelled.

/// What is written for each sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The text with the label: as a further column in column files, else where the format has it.
    Text,
    /// The text with the label and its probability, in formats that have a place for it.
    Marginals,
    /// The k best labellings one after another, each under a line `# rank probability`.
    NBest(usize),
    /// One JSON object per line: tokens, labels, and probabilities or the k best if wanted.
    Json {
        /// With probabilities.
        marginals: bool,
        /// How many labellings; 1 is the best alone.
        nbest: usize,
    },
}
