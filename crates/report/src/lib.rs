//! What Seqoia shows a person: numbers with units, aligned tables as text, and pages. Nothing here prints.

mod comparison;
mod evaluation;
mod html;
mod labelled;
mod number;
mod plot;
mod scores;
mod segmentation;
mod table;
mod visible;
mod wrap;

pub use comparison::Compared;
pub use evaluation::{Evaluation, MOST_SENTENCES};
pub use html::{Page, Shown};
pub use labelled::{Counted, labelled_page};
pub use number::{bytes, counted, grouped};
pub use plot::{Axis, Curve, Plot};
pub use scores::score_table;
pub use segmentation::segmentation_table;
pub use table::Table;
pub use visible::visible;
pub use wrap::wrapped;
