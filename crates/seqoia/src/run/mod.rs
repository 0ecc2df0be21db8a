//! A run trains whatever implements [`Task`]: passes, dev scores, the best weights, checkpoints, the reason why it
//! ended. It knows no chain, no column and no label.

mod checkpoint;
mod head;
mod options;
mod path;
mod progress;
mod task;
mod train;
mod wish;

pub use checkpoint::Checkpoint;
pub use head::Head;
pub use options::{LearnOptions, Passes, Start, Strength};
pub use progress::{Ended, PassRow, PathRow, TableSize, Trained, Watch};
pub use task::{Bill, Description, Load, Need, Task, Terms};
pub use train::Run;
pub use wish::{Recipe, Wish};

pub(crate) use checkpoint::refuse as refuse_checkpoint;
