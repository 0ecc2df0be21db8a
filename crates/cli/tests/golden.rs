//! Command runs with their exact output: one table a file in `tests/golden`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

#[test]
fn commands_print_what_they_promise() {
    trycmd::TestCases::new().case("../../tests/golden/*.trycmd");
}
