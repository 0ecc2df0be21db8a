# What a person types. Everything a target needs is installed by cargo, and a browser for the pages by apt-get.

.PHONY: browser test test-long lint doc guard miri demo dist

# Chromium, which a test opens pages with; nothing fails without it.
BROWSER := command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
INSTALL := apt-get install -qq -y --no-install-recommends chromium
browser:
	@$(BROWSER) || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& { $(INSTALL) || { apt-get update -qq && $(INSTALL); }; } >/dev/null 2>&1; } || true

# Every test but the long ones. Those on outside data look for it in $SEQOIA_DATA.
test: browser
	cargo test --workspace
	@$(BROWSER) || echo "skipped: pages in a browser, since there is no chromium"
	@[ -n "$$SEQOIA_DATA" ] || echo "skipped: tests on outside data, since SEQOIA_DATA is not set"

# Tests that take minutes.
test-long:
	cargo test --workspace --release -- --ignored

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Instructions of kernels and commands beside the kept counts; `make guard ARGS=--keep` keeps new ones. Built
# one by one: together they might be built with other features of libraries than alone.
guard:
	cargo build --release -p seqoia-cli
	cargo run --release -p seqoia-guard -- $(ARGS)

# The modules with unsafe code under Miri, where the nightly compiler has it (rustup +nightly component add miri).
miri:
	@if cargo +nightly miri --version >/dev/null 2>&1; then \
		cargo +nightly miri test -p seqoia-core --lib && cargo +nightly miri test -p seqoia-strategies --lib \
		&& MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p seqoia-model --lib; \
	else echo "skipped: unsafe code under Miri, which is not installed"; fi

demo:
	cargo run --release -- demo

# A program that needs no library of its machine, with completions and man pages, in target/dist: built with
# musl if that target is installed, else with a static glibc.
HOST := $(shell rustc -vV | sed -n 's/^host: //p')
MUSL := $(subst -gnu,-musl,$(HOST))
TARGET := $(shell [ -d "$$(rustc --print sysroot)/lib/rustlib/$(MUSL)" ] && echo $(MUSL) || echo $(HOST))
dist:
	RUSTFLAGS="-C target-feature=+crt-static -C strip=symbols" cargo build --release --locked -p seqoia-cli --target $(TARGET)
	mkdir -p target/dist/man
	cp target/$(TARGET)/release/seqoia target/dist/
	for shell in bash zsh fish; do target/dist/seqoia completions $$shell > target/dist/seqoia.$$shell; done
	target/dist/seqoia man target/dist/man
