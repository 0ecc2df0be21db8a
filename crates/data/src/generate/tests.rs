//! What the generated corpus promises.
