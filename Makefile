# burin: `make help` lists the targets.

MODE    ?= release
PREFIX  ?= /usr/local
V       ?= 0
CC      ?= gcc
BUILD   ?= build$(if $(filter release,$(MODE)),,/$(MODE))

# What this machine has. CUDA=0 builds without the GPU engine, MPI=0 without the cluster.
NVCC    ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc))
CUDA    ?= $(if $(NVCC),1,0)
MPICC   ?= $(shell command -v mpicc)
MPI     ?= $(if $(MPICC),1,0)

# Of a tagged commit its tag, else the release that is being worked on.
VERSION := $(or $(patsubst v%,%,$(shell git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null)),0.1.0)

# ---- flags ------------------------------------------------------------------------------------

CFLAGS_release  = -O3 -g
CFLAGS_debug    = -O0 -g3
CFLAGS_asan     = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_tsan     = -O1 -g -fsanitize=thread
CFLAGS_fuzz     = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
LDFLAGS_fuzz    = -fsanitize=address,undefined
LDFLAGS_asan    = -fsanitize=address,undefined
LDFLAGS_tsan    = -fsanitize=thread
ifeq ($(filter $(MODE),release debug asan tsan fuzz),)
$(error MODE must be release, debug, asan or tsan, not '$(MODE)')
endif

PKGS    := libconfig libewf liburing libhs libcrypto libxml-2.0 jansson libpcre2-8 libdeflate sqlite3
# libtsk has no pkg-config file.
TSK_LIBS := -ltsk
# Libraries that carvers may use; they see no others. Debian 12's libbz2 has no pkg-config file.
CARVER_PKGS := zlib libisal liblzma libzstd liblz4 libbrotlidec
CARVER_LIBS := -lbz2
NEED_BUILD := $(filter-out clean help deps demo check install-deps deb,$(or $(MAKECMDGOALS),all))
ifneq ($(NEED_BUILD),)
MISSING := $(strip $(foreach p,$(PKGS) $(CARVER_PKGS),$(shell pkg-config --exists $(p) 2>/dev/null || echo $(p))) \
	$(shell echo '\#include <tsk/libtsk.h>' | $(CC) -E -x c - >/dev/null 2>&1 || echo libtsk))
ifneq ($(MISSING),)
$(error missing libraries: $(MISSING). `make deps` installs them)
endif
endif
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) $(CARVER_PKGS) 2>/dev/null) $(CARVER_LIBS)
CARVER_CFLAGS := $(shell pkg-config --cflags $(CARVER_PKGS) 2>/dev/null)

# OpenMP, for the engines that are published with it; clang's is a package of its own, and without
# it they have one thread. Thread sanitizer does not see into its library.
ifneq ($(NEED_BUILD),)
OPENMP := $(if $(filter tsan fuzz,$(MODE)),,$(shell echo '\#include <omp.h>' | \
	$(CC) -fopenmp -E -x c - >/dev/null 2>&1 && echo -fopenmp))
endif

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wvla -Wundef -Wwrite-strings
ALL_CFLAGS = -std=gnu17 -pthread $(WARNINGS) $(CFLAGS_$(MODE)) $(CFLAGS) -D_GNU_SOURCE \
	-DBURIN_VERSION='"$(VERSION)"' -DBURIN_CONF_DIR='"$(PREFIX)/share/burin"'
DEPFLAGS = -MMD -MP
ALL_LDFLAGS = -pthread $(OPENMP) $(LDFLAGS_$(MODE)) $(LDFLAGS)
LIBS = $(PKG_LIBS) $(TSK_LIBS) -lm

# Machine code for the GPUs that are tuned for, and PTX from which the driver makes the rest.
GPU_ARCHS ?= sm_90
ifeq ($(GPU_ARCHS),all)
GENCODE := -arch=all
else
GENCODE := $(foreach a,$(patsubst sm_%,%,$(GPU_ARCHS)),-gencode arch=compute_$(a),code=sm_$(a)) \
	-gencode arch=compute_75,code=compute_75
endif
NVCCFLAGS = -std=c++17 -O3 -lineinfo $(GENCODE) -Isrc -I. -Igpu -DBURIN_VERSION='"$(VERSION)"' \
	-Xcompiler -Wall,-Wno-unused-function

# ---- sources ----------------------------------------------------------------------------------

SRC     := $(sort $(filter-out src/main.c src/cluster/%,$(wildcard src/*/*.c src/*/*/*.c)))
CLUSTER := $(sort $(wildcard src/cluster/*.c))
CARVERS := $(sort $(wildcard carvers/*.c carvers/*/*.c carvers/*/*/*.c))
# The kernels' tables and per-thread logic are C, built and tested without CUDA too.
GPU_C   := $(sort $(wildcard gpu/*.c gpu/papers/*.c))
ifeq ($(CUDA),1)
GPU_SRC := $(sort $(wildcard gpu/*.cu gpu/papers/*.cu)) $(filter-out gpu/none.c,$(GPU_C))
LIBS    += -L$(dir $(NVCC))../lib64 -lcudart_static -lstdc++ -ldl -lrt
else
GPU_SRC := $(GPU_C)
endif

O       := $(BUILD)/obj$(if $(filter 1,$(CUDA)),,-nocuda)
OBJ     := $(SRC:%.c=$O/%.o) $(CARVERS:%.c=$O/%.o) $O/carvers_table.o \
	$(patsubst %.cu,$O/%.cu.o,$(patsubst %.c,$O/%.o,$(GPU_SRC)))
LIB     := $O/libburin.a

# The unit tests are one program, but for those that bring a table of engines of their own.
UNIT_ALONE := run selftest
UNIT_OBJ := $(filter-out $(UNIT_ALONE:%=$O/tests/unit/test_%.o),\
	$(patsubst %.c,$O/%.o,$(sort $(wildcard tests/unit/test_*.c))))
UNIT    := $(BUILD)/tests/unit $(UNIT_ALONE:%=$(BUILD)/tests/unit_%)
PLAIN   := $(patsubst tests/engines/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/engines/*.c))) \
	$(BUILD)/tests/stress
# Fuzz targets: each parser, and each carver by its name.
CARVER_NAMES := $(shell sed -n 's/^const struct carver \([a-z0-9_]*\)_carver =.*/\1/p' $(CARVERS))
FUZZERS := rules image e01 volumes report checkpoint hashes $(CARVER_NAMES)
# One program replays all carvers; each of the others has its own.
REPLAYS := $(patsubst %,$(BUILD)/tests/replay_%,carver $(filter-out $(CARVER_NAMES),$(FUZZERS)))
BENCH   := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/*.c)))

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))

# ---- targets ----------------------------------------------------------------------------------

.PHONY: all
all: $(BUILD)/burin $(if $(filter 1,$(MPI)),$(BUILD)/burin-mpi) ## build build/burin, and burin-mpi where mpicc is (MODE=release|debug|asan|tsan, CUDA=0|1, MPI=0|1, GPU_ARCHS=all, V=1)

.PHONY: mpi
mpi: $(BUILD)/burin-mpi ## build build/burin-mpi, for clusters (src/cluster/README.md; needs mpicc)

.PHONY: help
help: ## list the targets
	@awk -F '## ' '/^[a-z-]+:.*## / { split($$1, t, ":"); printf "  make %-10s %s\n", t[1], $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install what is missing (Debian and Ubuntu packages, through apt)
	$(Q)tests/install-deps

.PHONY: demo
demo: deps ## install, build, and carve the sample image
	$(Q)$(MAKE) --no-print-directory -j$(shell nproc) all
	$(Q)tests/demo $(BUILD)/burin

.PHONY: check
check: deps ## install, build, and run all tests, sanitizer runs included
	$(Q)tests/check

.PHONY: check-gpu
check-gpu: $(BUILD)/tests/engines ## run the engines' tests with every GPU kernel (exit code 77 without a GPU)
	$(BUILD)/tests/engines --gpu

.PHONY: programs
programs: $(BUILD)/burin $(UNIT) $(PLAIN) ## build burin and the test programs of this MODE

.PHONY: replays
replays: $(REPLAYS) ## build the programs that run each fuzz target over its corpus

FUZZ    := $(or $(CARVER),$(TARGET),rules)
SECONDS ?= 60
.PHONY: fuzz
fuzz: ## fuzz CARVER=png, or TARGET=rules|image|e01|volumes|report|checkpoint|hashes, for SECONDS=60 (needs clang)
	$(Q)$(MAKE) --no-print-directory MODE=fuzz CC=clang CUDA=0 FUZZ=$(FUZZ) build/fuzz/fuzz_$(FUZZ)
	$(Q)mkdir -p build/fuzz/corpus/$(FUZZ) tests/fuzz/corpus/$(FUZZ)
	$(Q)cd build/fuzz && ./fuzz_$(FUZZ) -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=4096 \
		corpus/$(FUZZ) ../../tests/fuzz/corpus/$(FUZZ) $(wildcard $(CURDIR)/tests/golden/$(FUZZ))

.PHONY: bench
bench: $(BENCH) $(BUILD)/burin ## build the benchmark programs (tests/bench/README.md)

.PHONY: install
install: $(BUILD)/burin ## install to PREFIX (/usr/local) below DESTDIR
	$(Q)install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/burin \
		$(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(Q)install -m 755 $(BUILD)/burin $(DESTDIR)$(PREFIX)/bin/burin
	$(Q)install -m 644 conf/*.conf $(DESTDIR)$(PREFIX)/share/burin/
	$(Q)$(BUILD)/burin manual > $(DESTDIR)$(PREFIX)/share/man/man1/burin.1
	$(Q)$(BUILD)/burin completion > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/burin

.PHONY: deb
deb: ## build Debian packages of this machine's kind in build/deb (needs debhelper; CUDA=0|1, MPI=0|1)
	$(Q)src/packaging/deb '$(VERSION)' '$(CUDA)' '$(NVCC)' '$(MPI)'

.PHONY: clean
clean: ## remove everything that was built
	$(Q)rm -rf build

# ---- rules ------------------------------------------------------------------------------------

.DELETE_ON_ERROR:
.SECONDARY:

$(BUILD)/burin: $O/src/main.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# What mpicc adds to the compiler's arguments: MPI's own headers are no concern of our warnings.
MPI_CFLAGS = $(patsubst -I%,-isystem %,$(filter -I%,$(shell $(MPICC) -show)))
MPI_LIBS   = $(filter -L% -l% -Wl%,$(shell $(MPICC) -show))
$O/src/cluster/%.o: ALL_CFLAGS += $(MPI_CFLAGS)

$(BUILD)/burin-mpi: $(CLUSTER:%.c=$O/%.o) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) $(MPI_LIBS)

$(LIB): $(OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$O/src/%.o: src/%.c $(MAKEFILE_LIST)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) -Isrc -I. $(DEPFLAGS) -c -o $@ $<

$O/src/scan/cpu.o: ALL_CFLAGS += $(OPENMP)
# The page that it takes in whole.
$O/src/page/page_text.o: $(wildcard src/page/assets/*)

# Carvers see their own family, common/, carver.h, bytes.h and the compression libraries; anything
# else fails to compile.
$O/carvers/%.o: carvers/%.c $(MAKEFILE_LIST)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(CARVER_CFLAGS) -iquote carvers/$(firstword $(subst /, ,$*)) \
		-iquote carvers/common -iquote carvers $(DEPFLAGS) -c -o $@ $<

$O/gpu/%.o: gpu/%.c $(MAKEFILE_LIST)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -Isrc -I. $(DEPFLAGS) -c -o $@ $<

$O/gpu/%.cu.o: gpu/%.cu $(MAKEFILE_LIST)
	$(call say,NVCC,$<)
	$(Q)mkdir -p $(@D) && $(NVCC) $(NVCCFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# The names are part of the prerequisites, so that a removed carver rebuilds the table too.
$O/carvers_list: FORCE
	$(Q)mkdir -p $(@D) && echo '$(CARVERS)' | cmp -s - $@ || echo '$(CARVERS)' > $@
$O/carvers_table.c: $O/carvers_list $(CARVERS) $(MAKEFILE_LIST)
	$(Q)sed -n 's/^const struct carver \([a-z0-9_]*\)_carver *=.*/\1/p' $(CARVERS) | LC_ALL=C sort | \
		awk 'BEGIN { print "#include \"carver.h\"" } \
		{ print "extern const struct carver " $$1 "_carver;"; names = names "\t&" $$1 "_carver,\n" } \
		END { print "const struct carver *const carvers[] = {\n" names "\t(void *)0,\n};" }' > $@
$O/carvers_table.o: $O/carvers_table.c
	$(Q)$(CC) $(ALL_CFLAGS) -iquote carvers -c -o $@ $<
.PHONY: FORCE
FORCE:

# Tests look into every family.
TEST_CFLAGS = $(ALL_CFLAGS) $(PKG_CFLAGS) -Isrc -I. -Itests \
	$(addprefix -iquote ,carvers $(wildcard carvers/*/))

$O/tests/unit/%.o: tests/unit/%.c $(MAKEFILE_LIST)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(TEST_CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(BUILD)/tests/unit: $(UNIT_OBJ) $(LIB)
$(BUILD)/tests/unit_%: $O/tests/unit/test_%.o $(LIB)
	$(link_unit)
$(BUILD)/tests/unit:
	$(link_unit)
define link_unit
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) -o $@ $^ $(shell pkg-config --libs criterion) $(LIBS)
endef

$(BUILD)/tests/%: tests/engines/%.c $(LIB)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(TEST_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LIBS)

$(BUILD)/tests/%: tests/%.c $(LIB)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(TEST_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LIBS)

# A carver's target is fuzz_carver.c with its row; the other targets have a file each.
fuzz_source = tests/fuzz/fuzz_$(if $(filter $(1),$(CARVER_NAMES)),carver,$(1)).c
fuzz_define = $(if $(filter $(1),$(CARVER_NAMES)),-DCARVER=$(1)_carver)

$(BUILD)/tests/replay_%: tests/fuzz/replay.c $(wildcard tests/fuzz/fuzz_*.c) $(LIB)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(TEST_CFLAGS) $(call fuzz_define,$*) $(ALL_LDFLAGS) -o $@ \
		tests/fuzz/replay.c $(call fuzz_source,$*) $(LIB) $(LIBS)

$(BUILD)/fuzz_%: $(LIB)
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(TEST_CFLAGS) $(call fuzz_define,$*) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ \
		$(call fuzz_source,$*) $(LIB) $(LIBS)

$(BUILD)/bench/%: tests/bench/%.c $(LIB)
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(TEST_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LIBS)

-include $(OBJ:.o=.d) $(CLUSTER:%.c=$O/%.d) $O/src/main.d $(addsuffix .d,$(PLAIN) $(BENCH)) \
	$(UNIT_OBJ:.o=.d) $(UNIT_ALONE:%=$O/tests/unit/test_%.d)
