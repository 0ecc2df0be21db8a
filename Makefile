# What a person types. Everything a target needs is installed by cargo.

.PHONY: test test-long lint doc demo

# Every test but the long ones. Those on outside data look for it in $SEQOIA_DATA.
test:
	cargo test --workspace
	@[ -n "$$SEQOIA_DATA" ] || echo "skipped: tests on outside data, since SEQOIA_DATA is not set"

# Tests that take minutes.
test-long:
	cargo test --workspace --release -- --ignored

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

demo:
	cargo run --release -- demo
