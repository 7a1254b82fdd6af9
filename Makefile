# burin: `make help` lists the targets.

.DEFAULT_GOAL := all
# None of make's own rules is used: to look for one of each file takes longer than everything else that make does when nothing is to be built.
MAKEFLAGS += -r

MODE    ?= release
PREFIX  ?= /usr/local
V       ?= 0
BUILD   ?= build$(if $(filter release,$(MODE)),,/$(MODE))
# Make itself presets CC, so that ?= would have no effect.
ifeq ($(origin CC),default)
CC      := gcc
endif

ifeq ($(filter $(MODE),release debug asan tsan fuzz),)
$(error MODE must be release, debug, asan or tsan, not '$(MODE)')
endif

# Of a tagged commit its tag, else the release that is being worked on.
VERSION := $(or $(patsubst v%,%,$(shell git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null)),0.1.0)

# Of the sources, for --version and reports; nothing outside of a clone.
COMMIT  := $(shell git describe --always --dirty --exclude '*' 2>/dev/null)

# Machine code for the GPUs that are tuned for, and PTX from which the driver makes the rest.
GPU_ARCHS ?= sm_90
ifeq ($(GPU_ARCHS),all)
GENCODE := -arch=all
else
GENCODE := $(foreach a,$(patsubst sm_%,%,$(GPU_ARCHS)),-gencode arch=compute_$(a),code=sm_$(a)) \
	-gencode arch=compute_75,code=compute_75
endif

# ---- stamps -----------------------------------------------------------------------------------

# $(call stamp,NAME,VALUE) is a file that changes when VALUE does. What depends on it is built again when the
# compiler, a flag or a list of files is another one, and only then: no object depends on this Makefile. (Nothing
# is written before the flags are known, nor by make -n.)
stamp = $(if $(call equal,$(file <$(BUILD)/stamps/$(1)),$(strip $(2))),,$(if $(filter detect,$(1))$(PKG_LIBS),$(if \
	$(findstring n,$(firstword -$(MAKEFLAGS))),,$(call write_stamp,$(1),$(strip $(2))))))$(BUILD)/stamps/$(1)
equal = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))
write_stamp = $(shell mkdir -p $(BUILD)/stamps)$(file >$(BUILD)/stamps/$(1),$(2))

# ---- what this machine has --------------------------------------------------------------------

# CUDA=0 builds without the GPU engine, MPI=0 without the cluster; unless they are given, src/packaging/detect
# finds out whether both can be built. It is asked again when packages were installed.
DETECTED := $(BUILD)/detected$(CUDA:%=-cuda%)$(MPI:%=-mpi%).mk
ifneq ($(filter-out clean help deps demo test check check-long uninstall,$(or $(MAKECMDGOALS),all)),)
$(DETECTED): $(call stamp,detect,$(CC) $(NVCC) $(GENCODE) $(MPICC)) src/packaging/detect \
	$(wildcard /var/lib/dpkg/status /etc/ld.so.cache /usr/bin /usr/local/bin /usr/include)
	$(Q)src/packaging/detect '$@' '$(CC)' $(ASKED)
# As it is given, not as an older file of these says.
ASKED := '$(NVCC)' '$(GENCODE)' '$(MPICC)' '$(CUDA)' '$(MPI)'
include $(DETECTED)
endif

# ---- flags ------------------------------------------------------------------------------------

# The flags against attackers come from src/packaging/detect; sanitizers have their own checks. What backtraces and
# profiles need is in a release; variables for a debugger, which take a sixth of the compiler's time, are in MODE=debug.
CFLAGS_release  = -O3 -g1 $(HARDENING) $(FORTIFY)
CFLAGS_debug    = -O0 -g3 $(HARDENING)
LDFLAGS_release = $(HARDENING_LINK)
LDFLAGS_debug   = $(HARDENING_LINK)
# At -Og the compiler takes three quarters of its time at -O1, and the tests 3 % more.
# What is undefined traps, and the address sanitizer says where: the texts that say what, too, are 7 MB that each process reads at its end.
CFLAGS_asan     = -Og -g1 -fsanitize=address,undefined -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer
CFLAGS_tsan     = -O1 -g -fsanitize=thread
CFLAGS_fuzz     = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
LDFLAGS_fuzz    = -fsanitize=address,undefined
LDFLAGS_asan    = -fsanitize=address -no-pie
LDFLAGS_tsan    = -fsanitize=thread

# The unit tests' own code runs once after each build: the compiler takes more time than it does. The sanitizer of
# undefined behaviour watches what they call; in them it would take a fifth of their build, and
# what poisons variables out of scope another fifth.
CFLAGS_unit := $(if $(filter release asan,$(MODE)),-O0 -g1 -U_FORTIFY_SOURCE) $(if $(filter asan,$(MODE)),-fno-sanitize=undefined -fno-sanitize-address-use-after-scope)

# OpenMP is for the engines that are published with it. Thread sanitizer does not see into its library.
OPENMP  := $(if $(filter tsan fuzz,$(MODE)),,$(OPENMP))

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wvla -Wundef -Wwrite-strings
# The command that compiles a file of C; each kind of file adds what it may include.
# Where the tree is does not show in what is built: the same sources give the same bytes.
COMPILE := $(CC) -std=gnu17 -pthread -ffile-prefix-map=$(CURDIR)=. $(WARNINGS) $(CFLAGS_$(MODE)) $(CFLAGS) -D_GNU_SOURCE -MMD -MP
LINK    := $(CC) -pthread $(OPENMP) $(LDFLAGS_$(MODE)) $(LDFLAGS)
LIBS    := $(PKG_LIBS) $(SECCOMP_LIBS) $(FUSE_LIBS) $(FUZZY_LIBS) -lm
CUDA_COMPILE := $(NVCC) -std=c++17 -O3 -lineinfo $(GENCODE) -Isrc -I. -Igpu -Xcompiler -Wall,-Wno-unused-function \
	$(if $(findstring -fPIC,$(HARDENING)),-Xcompiler -fPIC) -MMD -MP
ifeq ($(CUDA),1)
LIBS    += -L$(dir $(NVCC))../lib64 -lcudart_static -lstdc++ -ldl -lrt
endif

# ---- sources ----------------------------------------------------------------------------------

SRC     := $(sort $(filter-out src/main.c src/cluster/% src/confined/% src/filesystems/% src/library/example/% src/checker/%,$(wildcard src/*/*.c src/*/*/*.c)))
CLUSTER := $(sort $(wildcard src/cluster/*.c))
CONFINED := $(sort $(wildcard src/confined/*.c))
# What it shares with burin-evidence is in src/confined.
FILESYSTEMS := $(sort $(wildcard src/filesystems/*.c)) src/confined/job_program.c src/confined/served_work.c
CHECKER := $(sort $(wildcard src/checker/*.c))
CARVERS := $(sort $(filter-out carvers/TEMPLATE.c,$(wildcard carvers/*.c carvers/*/*.c carvers/*/*/*.c)))
# The kernels' tables and per-thread logic are C, built and tested without CUDA too.
GPU     := $(sort $(wildcard gpu/*.c gpu/papers/*.c))
ifeq ($(CUDA),1)
GPU     := $(filter-out gpu/none.c,$(GPU)) $(sort $(wildcard gpu/*.cu gpu/papers/*.cu))
endif

O       := $(BUILD)/obj
OBJ     := $(patsubst %,$O/%.o,$(basename $(SRC) $(CARVERS)) carvers_table $(GPU:.c=))
LIB     := $O/libburin$(if $(filter 1,$(CUDA)),,-nocuda).a

# Programs that burin starts, confined.
HELPERS := $(BUILD)/burin-evidence $(BUILD)/burin-filesystems $(BUILD)/burin-carver

# Sanitizers have their own checks, and their objects are not made for it.
LIBBURIN := $(if $(filter release debug,$(MODE)),$(BUILD)/libburin.so.1)

# The unit tests are one program, but for those that bring a table of engines of their own.
UNIT_ALONE := run selftest
UNIT_SRC := $(filter-out $(UNIT_ALONE:%=tests/unit/test_%.c),$(sort $(wildcard tests/unit/test_*.c)))
UNIT    := $(BUILD)/tests/unit $(UNIT_ALONE:%=$(BUILD)/tests/unit_%)
PLAIN   := $(BUILD)/tests/engines $(BUILD)/tests/stress
HIJACKED := $(addprefix $(BUILD)/tests/hijacked/,burin-evidence burin-filesystems burin-carver burin)
BENCH   := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/*.c)))
# Fuzz targets: each parser that has a file, and each carver by its name.
CARVER_NAMES := $(shell sed -n 's/^const struct carver \([a-z0-9_]*\)_carver =.*/\1/p' $(CARVERS))
PARSERS := $(filter-out carver,$(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c)))
FUZZERS := $(PARSERS) $(CARVER_NAMES)
$(if $(filter $(PARSERS),$(CARVER_NAMES)),$(error Two fuzz targets are called $(filter $(PARSERS),$(CARVER_NAMES))))
# One program replays all carvers; each of the others has its own.
REPLAYS := $(patsubst %,$(BUILD)/tests/replay_%,carver $(PARSERS))

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))

# ---- targets ----------------------------------------------------------------------------------

.PHONY: all
all: $(BUILD)/burin $(if $(filter 1,$(MPI)),$(BUILD)/burin-mpi) $(LIBBURIN) ## build build/burin, and build/burin-mpi where MPI compiles (MODE=release|debug|asan|tsan, CUDA=0|1, MPI=0|1, GPU_ARCHS=all, V=1)

.PHONY: mpi
mpi: $(BUILD)/burin-mpi ## build build/burin-mpi, for clusters (src/cluster/CLUSTER.md; needs mpicc)

.PHONY: help
help: ## list the targets
	@awk -F '## ' '/^[a-z-]+:.*## / { split($$1, t, ":"); printf "  make %-10s %s\n", t[1], $$2 }' Makefile
	-$(Q)$(MAKE) --no-print-directory without

.PHONY: without
without:
	@:$(if $(WITHOUT),$(info On this machine make builds)$(info $(WITHOUT)))

.PHONY: deps
deps: ## install what is missing to build and test (Debian and Ubuntu packages, through apt)
	$(Q)tests/install-deps check

.PHONY: demo
demo: ## install what is missing to build, build, and carve the sample image
	$(Q)tests/install-deps build
	$(Q)$(MAKE) --no-print-directory -j$(shell nproc) all
	$(Q)tests/demo $(BUILD)/burin

.PHONY: test
test: ## build, and run the tests that take less than half a minute
	$(Q)tests/check short

.PHONY: check
check: ## install, build, and run what every change must pass, sanitizers included (minutes)
	$(Q)tests/install-deps check
	$(Q)tests/check medium

.PHONY: check-long
check-long: ## install, build, and run everything: kills, all sanitizers, fuzzing, random tests (hours)
	$(Q)tests/install-deps long
	$(Q)tests/check long

.PHONY: check-gpu
check-gpu: $(BUILD)/tests/engines ## run the engines' tests with every GPU kernel (exit code 77 without a GPU)
	$(BUILD)/tests/engines --gpu

.PHONY: programs
programs: $(BUILD)/burin $(UNIT) $(PLAIN) $(HIJACKED) ## build burin and the test programs of this MODE

.PHONY: replays
replays: $(REPLAYS) ## build the programs that run each fuzz target over its corpus

FUZZ    := $(or $(CARVER),$(TARGET),rules)
SECONDS ?= 60
.PHONY: fuzz
fuzz: ## fuzz CARVER=png, or TARGET=rules (a tests/fuzz/fuzz_TARGET.c), for SECONDS=60 (needs clang)
	$(Q)$(MAKE) --no-print-directory MODE=fuzz CC=clang CUDA=0 FUZZ=$(FUZZ) build/fuzz/fuzz_$(FUZZ)
	$(Q)mkdir -p build/fuzz/corpus/$(FUZZ) tests/fuzz/corpus/$(FUZZ)
	$(Q)cd build/fuzz && ./fuzz_$(FUZZ) -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=4096 \
		$(addprefix -dict=,$(wildcard $(CURDIR)/tests/fuzz/$(FUZZ).dict)) corpus/$(FUZZ) ../../tests/fuzz/corpus/$(FUZZ) $(wildcard $(CURDIR)/tests/golden/$(FUZZ))

.PHONY: bench
bench: $(BENCH) $(BUILD)/burin ## build the benchmark programs (tests/bench/README.md)

# Everything that `make install` writes below PREFIX, and `make uninstall` removes.
# LIBDIR: below PREFIX; Debian has a folder for each kind of machine.
LIBDIR ?= lib
INSTALLED_LIBRARY = $(if $(LIBBURIN),$(addprefix $(LIBDIR)/,libburin.so.1 libburin.so pkgconfig/burin.pc) include/burin.h share/man/man3/burin.3)
# What plug-ins are made of.
INSTALLED_CARVER = $(addprefix include/burin/,carver.h plugin.h bytes.h) share/doc/burin/TEMPLATE.c
INSTALLED = bin/burin $(HELPERS:$(BUILD)/%=libexec/burin/%) $(if $(filter 1,$(MPI)),bin/burin-mpi share/man/man1/burin-mpi.1) share/man/man1/burin.1 \
	share/bash-completion/completions/burin $(addprefix share/burin/,$(notdir $(wildcard conf/*.conf))) \
	share/burin/report.schema.json share/doc/burin/rules.md $(INSTALLED_CARVER) $(INSTALLED_LIBRARY)
ROOT    = $(DESTDIR)$(PREFIX)

.PHONY: install
install: all ## install to PREFIX (/usr/local) below DESTDIR
	$(Q)install -d $(addprefix $(ROOT)/,$(sort $(dir $(INSTALLED))))
	$(Q)install -m 755 $(BUILD)/burin $(if $(filter 1,$(MPI)),$(BUILD)/burin-mpi) $(ROOT)/bin/
	$(Q)install -m 755 $(HELPERS) $(ROOT)/libexec/burin/
	$(Q)install -m 644 conf/*.conf tests/report.schema.json $(ROOT)/share/burin/
	$(Q)install -m 644 conf/README.md $(ROOT)/share/doc/burin/rules.md
	$(Q)install -m 644 carvers/TEMPLATE.c $(ROOT)/share/doc/burin/
	$(Q)install -m 644 $(addprefix carvers/,carver.h plugin.h bytes.h) $(ROOT)/include/burin/
	$(Q)$(if $(filter 1,$(MPI)),install -m 644 src/packaging/debian/burin-mpi.1 $(ROOT)/share/man/man1/)
	$(Q)$(BUILD)/burin manual > $(ROOT)/share/man/man1/burin.1
	$(Q)$(BUILD)/burin completion > $(ROOT)/share/bash-completion/completions/burin
ifneq ($(LIBBURIN),)
	$(Q)install -m 644 $(LIBBURIN) $(ROOT)/$(LIBDIR)/
	$(Q)ln -sf libburin.so.1 $(ROOT)/$(LIBDIR)/libburin.so
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' src/library/burin.pc.in > $(ROOT)/$(LIBDIR)/pkgconfig/burin.pc
	$(Q)install -m 644 src/library/burin.h $(ROOT)/include/
	$(Q)install -m 644 src/library/burin.3 $(ROOT)/share/man/man3/
endif

.PHONY: uninstall
uninstall: ## remove from PREFIX what `make install` wrote there
	$(Q)rm -f $(addprefix $(ROOT)/,$(INSTALLED) bin/burin-mpi share/man/man1/burin-mpi.1)
	$(Q)for folder in $(ROOT)/libexec/burin $(ROOT)/include/burin $(ROOT)/share/burin $(ROOT)/share/doc/burin; do \
		[ ! -d $$folder ] || rmdir --ignore-fail-on-non-empty $$folder; done

.PHONY: deb
deb: ## build Debian packages of this machine's kind in build/deb (needs debhelper; CUDA=0|1, MPI=0|1)
	$(Q)src/packaging/deb '$(VERSION)' '$(CUDA)' '$(NVCC)' '$(MPI)'

.PHONY: rpm
rpm: ## build RPM packages in build/rpm (needs rpmbuild; without CUDA and MPI)
	$(Q)rpmbuild -bb --quiet --build-in-place $(RPMFLAGS) --define '_topdir $(CURDIR)/build/rpm' \
		--define 'burin_version $(VERSION)' src/packaging/burin.spec

.PHONY: sbom
sbom: all ## list what the build consists of in build/burin.spdx.json (SPDX; needs dpkg and python3)
	$(Q)src/packaging/sbom '$(VERSION)' '$(COMMIT)' $(BUILD)/burin $(HELPERS) $(LIBBURIN) > $(BUILD)/burin.spdx.json

.PHONY: clean
clean: ## remove everything that was built
	$(Q)rm -rf build

# ---- rules ------------------------------------------------------------------------------------

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE
FORCE:

# What every object of C depends on, and every program.
C_FLAGS := $(call stamp,c,$(COMPILE) $(PKG_CFLAGS) $(CARVER_CFLAGS) $(CFLAGS_unit))
LINKING := $(call stamp,link,$(LINK) $(LIBS) $(CRITERION_LIBS) $(EWF_LIBS))

# Programs that load plug-ins let them see the functions of carver.h.
CARVER_SYMBOLS := -Wl,--dynamic-list=carvers/carver.symbols
SEEN_CFLAGS := -fvisibility=default -fno-semantic-interposition

define link
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -o $@ $(filter %.o %.a,$^) $(LIBS) $(1)
endef
# With those of the libraries alone that the objects need.
define link_helper
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -Wl,--as-needed -o $@ $(filter %.o %.a,$^) $(1) $(LIBS)
endef
define compile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(COMPILE) $(1) -c -o $@ $<
endef

$(BUILD)/burin: $O/src/main.o $(LIB) $(LINKING) carvers/carver.symbols | $(HELPERS)
	$(call link,$(CARVER_SYMBOLS))

# It links what the carvers need, and nothing else of the library.
$(BUILD)/burin-carver: $(CHECKER:%.c=$O/%.o) $(LIB) $(LINKING) carvers/carver.symbols
	$(call link_helper,$(CARVER_SYMBOLS))
# Only they have the libraries that parse containers and file systems, and those that these bring.
$(BUILD)/burin-evidence: $(CONFINED:%.c=$O/%.o) $(LIB) $(LINKING) $(call stamp,evidence,$(EVIDENCE_LIBS))
	$(call link_helper,$(EVIDENCE_LIBS))
$(BUILD)/burin-filesystems: $(FILESYSTEMS:%.c=$O/%.o) $(LIB) $(LINKING) $(call stamp,evidence,$(EVIDENCE_LIBS))
	$(call link_helper,$(EVIDENCE_LIBS))
# Those that an image has taken over, for tests, and a burin that does not wait long for them.
$(BUILD)/tests/hijacked/burin-evidence: $(filter-out %/inner_shadow.o %/block_container.o %/ewf_library.o %/md_member.o,$(CONFINED:%.c=$O/%.o)) $O/tests/hijacked.o $O/tests/hijacked_images.o $(LIB) $(LINKING) $(call stamp,evidence,$(EVIDENCE_LIBS))
	$(call link_helper,$(EVIDENCE_LIBS))
$(BUILD)/tests/hijacked/burin-filesystems: $(filter-out %/tsk_list.o %/tsk_walk.o,$(FILESYSTEMS:%.c=$O/%.o)) $O/tests/hijacked.o $(LIB) $(LINKING) $(call stamp,evidence,$(EVIDENCE_LIBS))
	$(call link_helper,$(EVIDENCE_LIBS))
$(BUILD)/tests/hijacked/burin-carver: $(CHECKER:%.c=$O/%.o) $O/tests/hijacked_carver.o $(LIB) $(LINKING)
	$(call link_helper)
$(BUILD)/tests/hijacked/burin: $O/src/main.o $O/tests/hijacked_limits.o $(LIB) $(LINKING)
	$(call link)
# Programs that are not burin look for them beside them, too.
TEST_HELPERS := $(HELPERS:$(BUILD)/%=$(BUILD)/tests/%)
BENCH_HELPERS := $(HELPERS:$(BUILD)/%=$(BUILD)/bench/%)
$(TEST_HELPERS): $(BUILD)/tests/%: $(BUILD)/%
	$(Q)mkdir -p $(@D) && ln -sf ../$* $@
$(BENCH_HELPERS): $(BUILD)/bench/%: $(BUILD)/%
	$(Q)mkdir -p $(@D) && ln -sf ../$* $@
$(UNIT) $(PLAIN) $(REPLAYS) $(addprefix $(BUILD)/tests/,alloc_failures burin-disorder burin-mpi-disorder): | $(TEST_HELPERS)
$(BENCH): | $(BENCH_HELPERS)
$(FUZZERS:%=$(BUILD)/fuzz_%): | $(HELPERS)

$(BUILD)/burin-mpi: $(CLUSTER:%.c=$O/%.o) $(LIB) $(LINKING) $(call stamp,mpi,$(MPI_CFLAGS) $(MPI_LIBS)) carvers/carver.symbols | $(HELPERS)
	$(call link,$(MPI_LIBS) $(CARVER_SYMBOLS))

# Only what the map names is seen from outside.
$(LIBBURIN): $(filter $O/src/library/%.o,$(OBJ)) $(LIB) $(LINKING) src/library/libburin.map | $(HELPERS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(filter-out -pie,$(LINK)) -shared -Wl,-soname,$(@F) -Wl,--version-script=src/library/libburin.map \
		-Wl,--no-undefined -Wl,--as-needed -o $@ $(filter %.o %.a,$^) $(LIBS)
	$(Q)ln -sf $(@F) $(BUILD)/libburin.so

$(LIB): $(OBJ) $(call stamp,objects$(if $(filter 1,$(CUDA)),,-nocuda),$(OBJ))
	$(Q)rm -f $@ && ar rcs $@ $(OBJ)

$O/src/%.o: src/%.c $(C_FLAGS)
	$(call compile,$(PKG_CFLAGS) $(FILE_CFLAGS) -Isrc -I.)

$O/src/carve/view.o $O/carvers/carver.o: FILE_CFLAGS = $(SEEN_CFLAGS)
$O/src/carve/view.o $O/carvers/carver.o: $(call stamp,seen,$(SEEN_CFLAGS))
# Registers that hold one variable each.
$O/carvers/pictures/jpeg/jpeg_lanes.o: FILE_CFLAGS = -fno-tree-slp-vectorize
$O/src/cluster/%.o: FILE_CFLAGS = $(MPI_CFLAGS)
$(CLUSTER:%.c=$O/%.o): $(call stamp,mpi,$(MPI_CFLAGS) $(MPI_LIBS))
$O/src/scan/cpu_team.o: FILE_CFLAGS = $(OPENMP)
$O/src/scan/cpu_team.o: $(call stamp,openmp,$(or $(OPENMP),none))
$O/src/mount/mount.o: FILE_CFLAGS = $(FUSE_CFLAGS)
$O/src/mount/mount.o: $(call stamp,fuse,$(or $(FUSE_CFLAGS),none))
$O/src/page/alike.o: FILE_CFLAGS = $(FUZZY_CFLAGS)
$O/src/page/alike.o: $(call stamp,fuzzy,$(or $(FUZZY_CFLAGS),none))
$O/src/base/confine.o: FILE_CFLAGS = $(SECCOMP_CFLAGS)
$O/src/base/confine.o: $(call stamp,seccomp,$(or $(SECCOMP_CFLAGS),none))
# What opens volumes inside images, each by a library that may be missing.
$O/src/confined/%.o: FILE_CFLAGS = $(VOLUME_CFLAGS)
$(CONFINED:%.c=$O/%.o): $(call stamp,volumes,$(or $(VOLUME_CFLAGS),none))
VERSION_CFLAGS := -DBURIN_VERSION='"$(VERSION)"' -DBURIN_PREFIX='"$(PREFIX)"'
BUILD_CFLAGS := -DBURIN_COMMIT='"$(COMMIT)"' -DBURIN_LIBRARIES='"$(LIBRARIES)"'
$O/src/base/version.o: FILE_CFLAGS = $(VERSION_CFLAGS) $(BUILD_CFLAGS)
$O/src/base/version.o: $(call stamp,build,$(BUILD_CFLAGS))
$O/src/base/version.o $O/tests/unit/test_report.o: $(call stamp,version,$(VERSION_CFLAGS))
# The page that it takes in whole.
$O/src/page/page_text.o: $(wildcard src/page/assets/*)

# Carvers see their own family, common/, carver.h, bytes.h and the compression libraries; anything
# else fails to compile.
$O/carvers/%.o: carvers/%.c $(C_FLAGS)
	$(call compile,$(CARVER_CFLAGS) $(FILE_CFLAGS) -iquote carvers/$(firstword $(subst /, ,$*)) -iquote carvers/common -iquote carvers)

$O/gpu/%.o: gpu/%.c $(C_FLAGS)
	$(call compile,-Isrc -I.)

$O/gpu/%.cu.o: gpu/%.cu $(call stamp,nvcc,$(CUDA_COMPILE))
	$(call say,NVCC,$<)
	$(Q)mkdir -p $(@D) && $(CUDA_COMPILE) -MF $(@:.o=.d) -c -o $@ $<

$O/carvers_table.c: $(CARVERS) $(call stamp,carvers,$(CARVERS)) Makefile
	$(Q)mkdir -p $(@D) && sed -n 's/^const struct carver \([a-z0-9_]*\)_carver *=.*/\1/p' $(CARVERS) | LC_ALL=C sort | \
		awk 'BEGIN { print "#include \"carver.h\"" } \
		{ print "extern const struct carver " $$1 "_carver;"; names = names "\t&" $$1 "_carver,\n" } \
		END { print "const struct carver *const carvers[] = {\n" names "\t(void *)0,\n};" }' > $@
$O/carvers_table.o: $O/carvers_table.c $(C_FLAGS)
	$(Q)$(COMPILE) -iquote carvers -c -o $@ $<

# Tests look into every family.
TEST_CFLAGS := $(PKG_CFLAGS) -Isrc -I. -Itests $(addprefix -iquote ,carvers $(wildcard carvers/*/))
$O/tests/%.o: tests/%.c $(C_FLAGS)
	$(call compile,$(TEST_CFLAGS) $(FILE_CFLAGS))
$O/tests/unit/%.o: FILE_CFLAGS = $(CFLAGS_unit)
$O/tests/unit/test_report.o: FILE_CFLAGS = $(CFLAGS_unit) $(VERSION_CFLAGS)

# Of the cluster, what needs no MPI.
$(BUILD)/tests/unit: $(UNIT_SRC:%.c=$O/%.o) $(addprefix $O/src/cluster/,messages.o rpc_server.o) $O/tests/unit/runner.o $(LIB) $(LINKING) \
		$(call stamp,unit,$(UNIT_SRC))
	$(call link,$(CRITERION_LIBS) $(EWF_LIBS))
$(BUILD)/tests/unit_%: $O/tests/unit/test_%.o $O/tests/unit/runner.o $(LIB) $(LINKING)
	$(call link,$(CRITERION_LIBS) $(EWF_LIBS))
$(BUILD)/tests/engines: $O/tests/engines/engine_tests.o $(LIB) $(LINKING)
	$(call link)
$(BUILD)/tests/alloc_failures: $(BUILD)/tests/%: $O/tests/%.o $(LIB) $(LINKING)
	$(call link)
# Programs whose checks, writes and scans start late and in any order.
DISORDER := -Wl,--wrap=pool_submit
$(BUILD)/tests/stress: $O/tests/stress.o $O/tests/disorder.o $(LIB) $(LINKING)
	$(call link,$(DISORDER))
$(BUILD)/tests/burin-disorder: $O/src/main.o $O/tests/disorder.o $(LIB) $(LINKING)
	$(call link,$(DISORDER))
$(BUILD)/tests/burin-mpi-disorder: $(CLUSTER:%.c=$O/%.o) $O/tests/disorder.o $(LIB) $(LINKING) $(call stamp,mpi,$(MPI_CFLAGS) $(MPI_LIBS))
	$(call link,$(MPI_LIBS) $(DISORDER))
$(BUILD)/bench/%: $O/tests/bench/%.o $(LIB) $(LINKING)
	$(call link)

# A carver's target is fuzz_carver.c with its row; the other targets have a file each.
fuzz_source = tests/fuzz/fuzz_$(if $(filter $(1),$(CARVER_NAMES)),carver,$(1)).c
fuzz_define = $(if $(filter $(1),$(CARVER_NAMES)),-DCARVER=$(1)_carver)
$(BUILD)/tests/replay_%: tests/fuzz/replay.c $(wildcard tests/fuzz/*.[ch]) $(LIB) $(LINKING)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(COMPILE) -MF $@.d $(TEST_CFLAGS) $(call fuzz_define,$*) $(LDFLAGS_$(MODE)) $(LDFLAGS) $(OPENMP) \
		-o $@ tests/fuzz/replay.c $(call fuzz_source,$*) $(LIB) $(LIBS)
$(BUILD)/fuzz_%: $(LIB) $(LINKING) FORCE
	$(call say,FUZZ,$@)
	$(Q)$(COMPILE) -MF $@.d $(TEST_CFLAGS) $(call fuzz_define,$*) $(LDFLAGS_$(MODE)) $(LDFLAGS) -fsanitize=fuzzer \
		-o $@ $(call fuzz_source,$*) $(LIB) $(LIBS)

-include $(patsubst %.o,%.d,$(filter $O/%,$(OBJ)) $(CLUSTER:%.c=$O/%.o) $(CHECKER:%.c=$O/%.o) $O/src/main.o $(wildcard $O/tests/*.o $O/tests/*/*.o))
