# hypertune - one Makefile, not recursive. `make help` lists the targets.
#
#   MODE=release|debug|coverage   SAN=address,undefined|thread   CC=gcc|clang
#   PREFIX=/usr/local DESTDIR=    V=1 shows commands    WERROR=1 as in CI
#   PYTHON=FOLDER/python3 for tests and benchmarks, /usr/bin/python3 without

# make predefines CC=cc; only a choice of the person counts.
ifeq ($(origin CC),default)
CC := gcc
endif
# One target builds on all processors unless -j says otherwise; several, such as
# `make clean all`, in their order.
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += $(shell case "$$MAKEFLAGS" in (*-j*) ;; (*) echo -j$$(nproc);; esac)
endif
MODE    ?= release
SAN     ?=
PREFIX  ?= /usr/local
DESTDIR ?=
WERROR  ?=
VERSION := 0.1.0
SONAME  := libhypertune.so.0

empty :=
space := $(empty) $(empty)
comma := ,
VARIANT := $(subst $(space),-,$(strip $(notdir $(CC)) $(MODE) $(subst $(comma),-,$(SAN))))
B := build/$(VARIANT)
# A path inside the tree is one name, however it was given: the files of
# dependencies speak of that.
override B := $(patsubst $(CURDIR)/%,%,$(abspath $(B)))
Q := $(if $(V),,@)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
  -Wmissing-prototypes -Wvla -Wformat=2 -Wswitch-enum -Wundef -Wcast-qual \
  $(if $(findstring gcc,$(CC)),-Wno-format-truncation) $(if $(WERROR),-Werror)
OPT_release  := -O2 -D_FORTIFY_SOURCE=2
OPT_debug    := -O1
OPT_coverage := -O0 --coverage -fprofile-update=atomic
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer \
  -fno-sanitize-recover=all)
# _FORTIFY_SOURCE hides accesses from the sanitizers.
OPT := $(if $(SAN),-O1,$(OPT_$(MODE)))
CPPFLAGS += -I. -D_GNU_SOURCE -DHT_VERSION='"$(VERSION)"'
CFLAGS += -std=c17 -g $(OPT) $(WARN) $(HARDEN) $(SANFLAGS) -fPIC -MMD -MP
LDFLAGS += $(SANFLAGS) $(if $(filter coverage,$(MODE)),--coverage) \
  -Wl,-z,relro,-z,now -Wl,--as-needed

PROTO_LIBS  := -lcjson -lyaml -lgnutls -lnettle -lm
# OpenBLAS first, else libgsl brings its own slow BLAS.
ALGO_LIBS   := -lopenblas -lgsl
TUNER_LIBS  := -lsqlite3 -lz -lcurl -lmicrohttpd -lnng -lpcre2-8 -lpthread
RUNNER_LIBS := -lcurl -lnng -lpthread
CLI_LIBS    := -lcurl -lsqlite3 -lpthread
# The files of folder $(1) and of its rooms that pattern $(2) matches.
files = $(sort $(foreach rooms,/ /*/ /*/*/ /*/*/*/ /*/*/*/*/,$(wildcard $(1)$(rooms)$(2))))
src = $(call files,$(1),*.c)
# What static programs link in place of GnuTLS and of libc's resolver.
STATIC_SRC := proto/net/tls_static.c proto/net/address_resolve_static.c
STATIC_LIBS := -lmbedtls -lmbedx509 -lmbedcrypto -lpthread -lm
PROTO_SRC  := $(filter-out $(STATIC_SRC),$(call src,proto))
ALGO_SRC   := $(call src,algorithms)
TUNER_SRC  := $(filter-out tuner/main.c,$(call src,tuner))
# Without libc, for pods of Kubernetes: of these processors.
LOADER_SRC := runner/shim/loader.c
LOADER := $(if $(filter x86_64-% aarch64-%,$(shell $(CC) -dumpmachine)),$(B)/bin/hypertune-shim-loader)
RUNNER_SRC := $(filter-out runner/main.c runner/shim/main.c $(LOADER_SRC),$(call src,runner))
# Needs libc and nothing else: the link fails with a stray dependency.
LIB_SRC    := $(call src,hypertune/lib) proto/base/pace.c proto/net/host_lookup.c
CLI_SRC    := $(call src,hypertune/cli)
# The commands of a trial, shared by `hypertune` and the static in-container tool.
TRIAL_SRC  := $(filter-out hypertune/trial/main.c,$(call src,hypertune/trial))
SHIM_SRC   := $(filter-out $(LOADER_SRC),$(call src,runner/shim)) $(call src,runner/element) \
  $(call src,runner/mirror) \
  $(addprefix runner/base/,folder.c \
  json.c disk.c procfs.c workdir.c safe_path.c \
  guest.c cgroup.c tree_use.c) $(STATIC_SRC)

# The dashboard: its files and d3 are part of hypertuned.
D3 := /usr/share/nodejs/d3/dist/d3.min.js
WEB := $(sort $(wildcard tuner/web/*.html tuner/web/*.css tuner/web/*.js \
  tuner/web/*.svg))

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
archive = $(B)/lib/lib$(1).a
ARCHIVES := $(foreach a,tuner runner cli algorithms proto,$(call archive,$(a)))

PROGRAMS := $(B)/bin/hypertuned $(B)/bin/hypertune-runner \
  $(B)/bin/hypertune-shim $(LOADER) $(B)/bin/hypertune $(B)/bin/hypertune-trial
LIBRARIES := $(B)/lib/libhypertune.a $(B)/lib/libhypertune.so
# What a runner mounts into every container, found beside its programs.
PYTHON_SRC := $(foreach f,*.py py.typed,$(call files,hypertune/python/hypertune,$f)) \
  $(call files,hypertune/python/hydra_plugins,*.py)
PYTHON_HOOK := hypertune/python/hook/sitecustomize.py
KIT := $(B)/kit/.complete
TRAINERS := $(B)/bin/digits
TEST_SRC := $(filter $(foreach f,unit api fault e2e,tests/$(f)/%),\
  $(call files,tests,test_*.c))
TESTS := $(patsubst tests/%.c,$(B)/tests/%,$(TEST_SRC))
TEST_LIB_SRC := tests/check.c $(call src,tests/lib)
BENCHES := $(patsubst bench/%.c,$(B)/bench/%,$(sort $(wildcard bench/bench_*.c)))
PRELOADS := $(patsubst %.c,$(B)/%.so,$(sort $(wildcard tests/tools/preload/*.c)))
TOOLS := $(patsubst tests/tools/%.c,$(B)/tests/tools/%,$(sort $(wildcard tests/tools/*.c))) \
  $(PRELOADS) $(B)/tests/tools/preload/hypertune-shim

.DEFAULT_GOAL := all
.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all demo rooms rooms-docs check test-programs bench bench-search bench-peers bench-search-ab bench-external bench-demo screenshot lint lint-layers lint-headers \
  lint-format lint-tidy format install deb image wheel clean help deps deps-check check-threads \
  check-containers check-slurm fuzz torture coverage

all: $(PROGRAMS) $(LIBRARIES) $(TRAINERS) $(KIT) ## build everything

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 20

# ---- rules ----
$(B)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC    $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# The loops that every suggestion waits for, as vector code. These flags keep
# each operation and its order, so the numbers do not change.
$(B)/obj/algorithms/model/kernel.o $(B)/obj/algorithms/model/gp_fit.o: \
  CFLAGS += $(if $(SAN)$(filter coverage,$(MODE)),,-O3 -fno-math-errno \
  -fno-trapping-math -DHT_VECTOR)

$(B)/web/web.c: tuner/web/embed.sh $(WEB) $(D3)
	@mkdir -p $(@D)
	$(Q)$< $(@D) $(WEB) $(D3) >$@.new && mv $@.new $@
$(B)/obj/web.o: $(B)/web/web.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

define make_archive
$(call archive,$(1)): $(call obj,$(2))
	@mkdir -p $$(@D)
	$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(eval $(call make_archive,proto,$(PROTO_SRC)))
$(eval $(call make_archive,algorithms,$(ALGO_SRC)))
$(eval $(call make_archive,tuner,$(TUNER_SRC) web.c))
$(eval $(call make_archive,runner,$(RUNNER_SRC)))
$(eval $(call make_archive,cli,$(CLI_SRC) $(TRIAL_SRC)))
$(eval $(call make_archive,hypertune,$(LIB_SRC)))
$(eval $(call make_archive,testlib,$(TEST_LIB_SRC)))

define link
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK  $@")
	$(Q)$(CC) -pie $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(1)
endef

$(B)/bin/hypertuned: $(call obj,tuner/main.c) $(call archive,tuner) \
  $(call archive,algorithms) $(call archive,proto)
	$(call link,$(TUNER_LIBS) $(ALGO_LIBS) $(PROTO_LIBS))

$(B)/bin/hypertune-runner: $(call obj,runner/main.c) $(call archive,runner) \
  $(call archive,proto)
	$(call link,$(RUNNER_LIBS) $(PROTO_LIBS))

# Static, so that a launch does not wait for the loader and a node needs nothing.
$(B)/bin/hypertune-shim: $(call obj,$(SHIM_SRC)) $(call archive,proto)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK  $@")
	$(Q)$(CC) $(if $(SAN)$(filter coverage,$(MODE)),$(LDFLAGS),-static-pie -s) -o $@ $^ $(STATIC_LIBS)

# Nothing that the sanitizers or libc would add is there at its start.
$(B)/bin/hypertune-shim-loader: $(LOADER_SRC) Makefile
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK  $@")
	$(Q)$(CC) $(CPPFLAGS) -std=c17 -Os $(WARN) -ffreestanding -fno-builtin \
	  -fno-stack-protector -fno-asynchronous-unwind-tables -fno-pie -no-pie \
	  -static -nostdlib -s -Wl,--build-id=none,-z,noexecstack -o $@ $<

# The spec's grammar is embedded, `hypertune help spec` prints it.
$(B)/obj/hypertune/cli/frame/schema.o: proto/native.schema.json
$(B)/obj/hypertune/cli/host/manifest.o: hypertune/cli/host/manifest.yaml

$(B)/bin/hypertune: $(call obj,hypertune/main.c) $(call archive,cli) \
  $(call archive,hypertune) $(call archive,proto)
	$(call link,$(CLI_LIBS) $(PROTO_LIBS))

# Static, so that it runs in any image, and with libc alone: what needs more of
# proto does not link; the sanitizers cannot be static.
$(B)/bin/hypertune-trial: $(call obj,hypertune/trial/main.c $(TRIAL_SRC)) \
  $(call archive,hypertune) $(call archive,proto)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK  $@")
	$(Q)$(CC) $(if $(SAN)$(filter coverage,$(MODE)),$(LDFLAGS),-static-pie -s) -o $@ $^ -lm -lpthread

$(B)/lib/libhypertune.so: $(call obj,$(LIB_SRC)) hypertune/hypertune.map
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK  $@")
	$(Q)$(CC) -shared $(LDFLAGS) $(if $(SAN),,-Wl,-z,defs) -Wl,-z,nodelete \
	  -Wl,-soname,$(SONAME) \
	  -Wl,--version-script=hypertune/hypertune.map -o $@ $(filter %.o,$^)
	$(Q)ln -sf libhypertune.so $(@D)/$(SONAME)

# $(1) is the folder that gets the Python package.
install_python = for f in $(PYTHON_SRC:hypertune/python/%=%); do \
  install -D -m 644 hypertune/python/$$f $(1)/$$f || exit 1; done

# $(1) is the folder of the kit.
install_kit = install -d $(addprefix $(1)/,bin include lib hook) && \
  install $(B)/bin/hypertune-shim $(LOADER) $(1)/bin && \
  install $(B)/bin/hypertune-trial $(1)/bin/hypertune && \
  install -m 644 hypertune/hypertune.h $(1)/include && \
  install -m 644 $(B)/lib/libhypertune.a $(1)/lib && \
  { $(call install_python,$(1)/python); } && \
  install -m 644 $(PYTHON_HOOK) $(1)/hook

$(KIT): $(B)/bin/hypertune-shim $(LOADER) $(B)/bin/hypertune-trial \
  $(B)/lib/libhypertune.a hypertune/hypertune.h $(PYTHON_SRC) $(PYTHON_HOOK)
	$(if $(Q),@echo "  KIT   $(@D)")
	$(Q)rm -rf $(@D)
	$(Q)$(call install_kit,$(@D))
	@touch $@

$(B)/bin/digits: $(call obj,$(call src,examples/digits)) \
  $(call archive,hypertune)
	$(call link,-lz -lm -lpthread)

# ---- tests ----
$(B)/tests/%: $(B)/obj/tests/%.o $(call archive,testlib) $(ARCHIVES) \
  $(call archive,hypertune)
	$(call link,$(TUNER_LIBS) $(RUNNER_LIBS) $(CLI_LIBS) $(ALGO_LIBS) $(PROTO_LIBS))

$(B)/bench/%: $(B)/obj/bench/%.o $(ARCHIVES) $(call archive,hypertune)
	$(call link,$(TUNER_LIBS) $(RUNNER_LIBS) $(CLI_LIBS) $(ALGO_LIBS) $(PROTO_LIBS))

# Loaded before a sanitizer, which must not look at them.
$(PRELOADS:$(B)/%.so=$(B)/obj/%.o) $(PRELOADS): SANFLAGS :=
$(PRELOADS): $(B)/%.so: $(B)/obj/%.o
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK  $@")
	$(Q)$(CC) -shared $(LDFLAGS) -o $@ $< -ldl

# Nothing can be preloaded into the static one.
$(B)/tests/tools/preload/hypertune-shim: $(call obj,$(SHIM_SRC)) $(call archive,proto)
	$(call link,$(STATIC_LIBS))
$(B)/tests/tools/tls_ask: $(call obj,tests/tools/tls_ask.c $(STATIC_SRC)) $(call archive,proto)
	$(call link,$(STATIC_LIBS))

test-programs: all $(TESTS) $(TOOLS)

bench: all $(BENCHES) ## measure speed and size, one key=value a line
	@tests/env.sh bench/run.sh $(B)

bench-search: all $(B)/bench/bench_search $(B)/bench/bench_model $(B)/bench/bench_regret ## the search; writes docs/benchmarks.md
	@tests/env.sh bench/search.sh $(B)

bench-peers: all ## the search beside other tuners' runs: PEERS=FOLDER with compare.py
	@tests/env.sh python3 bench/bench_peers.py $(B)/bin $(PEERS)

bench-search-ab: ## the searches of revisions A and B (.: this tree) on random problems
	@tests/env.sh python3 bench/search_ab.py $(or $(A),HEAD) $(if $(filter command line,$(origin B)),$(B),.)

bench-external: all $(B)/bench/bench_bbob ## the search beside Optuna on bbob and scikit-learn; see bench/bench_external.py
	@.ci/deps external
	@tests/env.sh python3 bench/bench_external.py $(B)

bench-demo: all ## the model against random draws on the digits task
	@tests/env.sh python3 bench/bench_demo.py $(B)/bin

screenshot: all ## the README's picture of the dashboard, in some minutes
	@mkdir -p docs/images
	@tests/env.sh env PYTHONPATH=tests/lib python3 tests/tools/screenshot.py $(B)/bin docs/images/dashboard.png

# Under the thread sanitizer only what has threads is worth its time.
THREADED := unit/hypertune/lib/test_reporter unit/hypertune/lib/test_spreq \
  unit/proto/net/test_relay unit/runner/talk/test_req_socket unit/tuner/api \
  unit/tuner/core/test_core unit/tuner/core/test_worker unit/tuner/http/test_http \
  unit/tuner/logs/test_logs unit/tuner/search/test_stop_worker \
  unit/tuner/study/test_rungs unit/tuner/study/test_suggestion_stock \
  unit/tuner/wire/test_nng_socket api e2e/test_tls e2e/test_trainers
THREADED_PROGRAMS := $(filter $(THREADED:%=$(B)/tests/%) \
  $(THREADED:%=$(B)/tests/%/%),$(TESTS))
check-threads: deps-check ## the threaded parts' tests, for SAN=thread
	@$(MAKE) --no-print-directory all $(THREADED_PROGRAMS) $(TOOLS)
	@tests/run.sh $(B) $(THREADED)

# What a sanitizer sees: the programs in C, each by the shortest tests that reach
# its code, and some at work together. It sees nothing of browsers, interpreters,
# shells, documents and installs.
SANITIZED := unit/ api/ -unit/docs -unit/hypertune/python -unit/tests/test_checker \
  -unit/hypertune/lib/test_libhypertune e2e/test_channels e2e/test_trainers \
  fault/test_container_faults fault/test_disk_full fault/test_memory
check: deps-check ## install what the tests need, run them all; see tests/run.sh
	@$(MAKE) --no-print-directory test-programs
	@tests/run.sh $(B) $(if $(SAN),$(SANITIZED))

# Docker and Podman need root, and their packages.
check-containers: deps-check ## the tests that need container engines, on real ones
	@[ $$(id -u) -ne 0 ] || .ci/deps containers
	@$(MAKE) --no-print-directory test-programs
	@tests/engines/run.sh $(B)

# Only root may run the daemons, which need their packages.
check-slurm: deps-check ## the tests that need a Slurm, on two real ones of their own
	@[ $$(id -u) -ne 0 ] || .ci/deps slurm
	@$(MAKE) --no-print-directory test-programs
	@tests/engines/slurm.sh $(B)

MINUTES ?= 480
torture: ## the long tests of docs/reliability.md: MINUTES=480 in all, SEED=N, NAMES="kills flips"
	@.ci/deps build test lint
	@$(MAKE) --no-print-directory test-programs
	@tests/env.sh tests/torture.py $(B) --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(NAMES)

coverage: deps-check ## lines and branches that the tests take, by folder
	@.ci/deps coverage
	-@$(MAKE) --no-print-directory MODE=coverage check
	@tests/coverage.sh build/$(notdir $(CC))-coverage

SECONDS ?= 3600
fuzz: ## every outside input, SECONDS each with clang's fuzzer, from seeds
	@.ci/deps build lint
	@tests/fuzz/run.sh $(B) $(SECONDS)

demo: deps ## install, build and tune a real trainer on real data
	@$(MAKE) --no-print-directory all
	@examples/digits/demo.sh $(B)

# ---- packages ----
deps: ## install the Debian packages the build needs
	@.ci/deps build
deps-check:
	@.ci/deps build test $(if $(HYPERTUNE_TEST_ALL),extra slurm)

# ---- install ----
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
SHAREDIR   ?= $(PREFIX)/share
UNITDIR    ?= $(PREFIX)/lib/systemd
PYTHONDIR  ?= $(PREFIX)/lib/python3/dist-packages
KITDIR     ?= $(PREFIX)/lib/hypertune/kit
install: all ## programs, library, manuals, units under PREFIX
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig \
	  $(INCLUDEDIR) $(UNITDIR)/system $(UNITDIR)/user \
	  $(SHAREDIR)/bash-completion/completions \
	  $(SHAREDIR)/zsh/vendor-completions \
	  $(SHAREDIR)/fish/vendor_completions.d)
	install $(PROGRAMS) $(DESTDIR)$(BINDIR)
	install -m 644 $(B)/lib/libhypertune.a $(DESTDIR)$(LIBDIR)
	install -m 644 $(B)/lib/libhypertune.so $(DESTDIR)$(LIBDIR)/$(SONAME).$(VERSION:0.%=%)
	ln -sf $(SONAME).$(VERSION:0.%=%) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libhypertune.so
	install -m 644 hypertune/hypertune.h $(DESTDIR)$(INCLUDEDIR)
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' \
	  hypertune/hypertune.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/hypertune.pc
	$(call install_python,$(DESTDIR)$(PYTHONDIR))
	$(call install_kit,$(DESTDIR)$(KITDIR))
	for unit in system/hypertuned system/hypertune-runner user/hypertuned; do \
	  sed 's|@BINDIR@|$(BINDIR)|' tuner/systemd/$$unit.service \
	    >$(DESTDIR)$(UNITDIR)/$$unit.service; done
	for page in docs/man/*.[1-8]; do \
	  install -D -m 644 -t $(DESTDIR)$(SHAREDIR)/man/man$${page##*.} $$page; done
	$(B)/bin/hypertune completion bash \
	  >$(DESTDIR)$(SHAREDIR)/bash-completion/completions/hypertune
	$(B)/bin/hypertune completion zsh \
	  >$(DESTDIR)$(SHAREDIR)/zsh/vendor-completions/_hypertune
	$(B)/bin/hypertune completion fish \
	  >$(DESTDIR)$(SHAREDIR)/fish/vendor_completions.d/hypertune.fish

wheel: ## one file for pip, with programs, libraries and client, in build/wheel
	@.ci/deps build wheel
	@rm -rf build/wheel
	@$(MAKE) -s install DESTDIR=$(CURDIR)/build/wheel/root PREFIX=
	@$(or $(PYTHON),/usr/bin/python3) hypertune/python/bundle_wheel.py \
	  build/wheel/root build/wheel
	@rm -rf build/wheel/root

deb: ## a Debian package in build/deb
	@.ci/deps build deb
	@debian/build.sh build/deb

image: deb ## the server as an OCI image in build/image, as root
	@.ci/deps containers
	@debian/image.sh build/deb/hypertune_*.deb build/image/hypertune-$(VERSION).tar

# ---- lint ----
SOURCES := $(foreach f,proto algorithms tuner runner hypertune examples tests \
  bench,$(call files,$(f),*.[ch]))
HEADERS := $(filter %.h,$(SOURCES))

lint: lint-layers lint-headers lint-includes lint-format lint-tidy ## all static checks

# Who may include whom: .ci/rooms says it.
lint-layers:
	@.ci/rooms.py check
	@! grep -nE '#include "proto/' $(LIB_SRC) hypertune/hypertune.h | grep -vE 'proto/(base/pace|net/host_lookup)'
	@! grep -nE '#include "\.\.' $(SOURCES)
	@! grep -lE '#include <sqlite3.h>' $(filter-out tuner/db/% hypertune/cli/transfer/import_optuna.c tests/%,$(SOURCES))
	@echo "layers: ok"

rooms: ## the rooms of the house and what each module owns
	@.ci/rooms.py list

rooms-docs: ## the same into docs/architecture.md, and the picture of the rooms
	@.ci/rooms.py write

lint-headers: $(HEADERS:%=$(B)/lint/%.ok)
	@echo "headers: each compiles alone"
$(B)/lint/%.ok: % Makefile
	@mkdir -p $(@D)
	@echo '#include "$<"' | $(CC) $(CPPFLAGS) -std=c17 -Wall -Wextra -Werror \
	  -fsyntax-only -x c - && touch $@

CHECKED := $(filter-out tests/% bench/%,$(filter %.c,$(SOURCES)))
# No file includes what it does not use; .ci/includes.imp has what the tool does
# not see. What it would like to add is not asked for.
lint-includes: $(CHECKED:%=$(B)/lint/%.includes)
	@echo "includes: all are used"
$(B)/lint/%.includes: % .ci/includes.imp Makefile
	@mkdir -p $(@D)
	@include-what-you-use -Xiwyu --no_fwd_decls -Xiwyu --no_comments \
	  -Xiwyu --mapping_file=.ci/includes.imp $(CPPFLAGS) -std=c17 $< 2>&1 | \
	  awk '/should remove/ { file = $$1 } /^- #include/ { print file ": " $$0 }' >$@.out
	@[ ! -s $@.out ] || { cat $@.out; exit 1; }
	@touch $@

lint-format:
	@clang-format --dry-run -Werror $(SOURCES)
	@echo "format: ok"

# It includes <hypertune.h>, as a program elsewhere does.
$(B)/lint/examples/c/%.tidy: CPPFLAGS += -Ihypertune
# How far clang's analyser follows each path: a shallow look takes a third of the
# time, which is what .ci/run has.
ANALYZER ?= deep
lint-tidy: $(CHECKED:%=$(B)/lint/%.tidy)
	@echo "tidy: ok"
$(B)/lint/%.tidy: % .clang-tidy Makefile
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- $(CPPFLAGS) -std=c17 \
	  -Xclang -analyzer-config -Xclang mode=$(ANALYZER) >$@.out 2>/dev/null \
	  || { cat $@.out; exit 1; }
	@touch $@

format: ## rewrite the sources in the house format
	@clang-format -i $(SOURCES)

clean: ## remove build/
	rm -rf build

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
