#include "assemble/pass_state.h"

#include <stdlib.h>

#include "assemble/strategies.h"
#include "base/memory.h"
#include "report/record.h"

/* What is saved of a file. */
#define HAS_FOUND 1
#define HAS_KNOWN 2
#define IS_SPENT 4
#define ALL_FLAGS 7

void assembled_forget(struct assembled *assembled)
{
	free(assembled->runs);
	outcome_free(&assembled->outcome);
	*assembled = (struct assembled){ 0 };
}

void pass_state_begin(struct pass_state *state, size_t count)
{
	pass_state_free(state);
	state->count = count;
	state->found = xcalloc(count, sizeof(*state->found));
	state->known = xcalloc(count, sizeof(*state->known));
	state->spent = xcalloc(count, sizeof(*state->spent));
}

void pass_state_free(struct pass_state *state)
{
	for (size_t i = 0; i < state->count; i++) {
		assembled_forget(&state->found[i]);
		known_trials_free(state->known[i]);
	}
	free(state->found);
	free(state->known);
	free(state->spent);
	*state = (struct pass_state){ 0 };
}

/* ---- results ------------------------------------------------------------------------------- */

static void save_found(const struct assembled *found, struct codec_writer *writer)
{
	runs_save(found->runs, found->run_count, writer);
	outcome_save(&found->outcome, writer);
	assembly_save(&found->assembly, writer);
	codec_put(writer, found->is_whole);
	codec_put(writer, found->pass);
}

/* Runs in the evidence, of which none is empty. Returns their bytes. */
static uint64_t load_runs(
	struct assembled *found, uint64_t evidence_size, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT32_MAX), bytes = 0;
	size_t capacity = 0;

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct range *run;

		found->runs = xgrow(found->runs, &capacity, (size_t)i, sizeof(*found->runs));
		run = &found->runs[i];
		run->offset = codec_get(reader, evidence_size - 1);
		run->length = codec_get(reader, evidence_size - run->offset);
		if (!run->length || run->length > INT64_MAX - bytes)
			codec_fail(reader);
		bytes += run->length;
		found->run_count = (uint32_t)(i + 1);
	}
	return bytes;
}

/* Whether a file of these runs may have the outcome; its offsets are in the file. */
static bool found_fits(const struct assembled *found, uint64_t bytes)
{
	const struct candidate whole = { .rule = found->rule, .length = bytes };
	const struct outcome *outcome = &found->outcome;

	return found->run_count && found->runs[0].offset == found->start &&
	       outcome->verdict != CARVE_REJECT && !outcome->crashed && outcome->length == bytes &&
	       outcome_fits(outcome, &whole, bytes) && found->assembly.by != ASSEMBLY_NONE;
}

static void load_found(struct assembled *found, const struct broken *broken,
	const struct pass_state_limits *limits, struct codec_reader *reader)
{
	uint64_t bytes;

	*found = (struct assembled){ .start = broken->start, .rule = broken->rule };
	bytes = load_runs(found, limits->evidence_size, reader);
	outcome_load(&found->outcome, limits->keep, reader);
	assembly_load(&found->assembly, bytes, reader);
	found->is_whole = codec_get_flag(reader);
	found->pass = (unsigned)codec_get(reader, UINT32_MAX);
	if (codec_ok(reader) && found_fits(found, bytes))
		return;
	codec_fail(reader);
	assembled_forget(found);
}

/* ---- files --------------------------------------------------------------------------------- */

/* has_known: whether what is noted of its trials is saved, too. */
static void save_file(
	const struct pass_state *state, size_t index, bool has_known, struct codec_writer *writer)
{
	bool has_found = state->found[index].runs;

	has_known = has_known && state->known[index];
	if (!has_found && !has_known && !state->spent[index])
		return;
	codec_put(writer, index + 1);
	codec_put(writer, (has_found ? HAS_FOUND : 0) | (has_known ? HAS_KNOWN : 0) |
				  (state->spent[index] ? IS_SPENT : 0));
	if (has_found)
		save_found(&state->found[index], writer);
	if (has_known)
		known_trials_save(state->known[index], writer);
}

size_t pass_state_save_files(
	const struct pass_state *state, size_t from, size_t most, struct codec_writer *writer)
{
	bool keeps_known = strategies_use_known(state->pass);
	size_t i;

	for (i = from; i < state->count && (writer->to_file || writer->len < most); i++)
		save_file(state, i, keeps_known, writer);
	codec_put(writer, 0);
	return i;
}

static void load_file(struct pass_state *state, size_t index,
	const struct pass_state_limits *limits, struct codec_reader *reader)
{
	uint64_t flags = codec_get(reader, ALL_FLAGS);

	state->spent[index] = flags & IS_SPENT;
	if (flags & HAS_FOUND)
		load_found(&state->found[index], &limits->broken[index], limits, reader);
	if (flags & HAS_KNOWN)
		state->known[index] = known_trials_load(&state->room, reader);
}

void pass_state_load_files(struct pass_state *state, const struct pass_state_limits *limits,
	struct codec_reader *reader)
{
	uint64_t number;

	if (!state->next)
		state->room = limits->known_most;
	while ((number = codec_get(reader, state->count)) > 0) {
		if (number <= state->next) {
			codec_fail(reader);
			return;
		}
		state->next = (size_t)number;
		load_file(state, (size_t)number - 1, limits, reader);
	}
}

/* ---- parts ---------------------------------------------------------------------------------- */

static bool is_in_part(const struct pass_part *part, size_t index)
{
	return index >= part->first && (index - part->first) % part->step == 0;
}

/* Files that an earlier pass has found were not tried. */
static bool was_tried(const struct pass_state *state, size_t index)
{
	return !state->found[index].runs || state->found[index].pass == state->pass;
}

void pass_state_save_part(
	const struct pass_state *state, const struct pass_part *part, struct codec_writer *writer)
{
	bool keeps_known = strategies_use_known(state->pass + 1);

	for (size_t i = 0; i < state->count; i++)
		if (is_in_part(part, i) && was_tried(state, i))
			save_file(state, i, keeps_known, writer);
	codec_put(writer, 0);
}

/* Whether it says anything of a file that was not to be tried there, or in another pass. */
static bool is_foreign(const struct pass_state *state, const struct pass_part *part,
	const struct pass_state *theirs, size_t index)
{
	const struct assembled *found = &theirs->found[index];

	if (is_in_part(part, index) && !state->found[index].runs)
		return found->runs && found->pass != state->pass;
	return found->runs || theirs->known[index] || theirs->spent[index];
}

static void take_file(struct pass_state *state, struct pass_state *theirs, size_t index)
{
	state->found[index] = theirs->found[index];
	theirs->found[index] = (struct assembled){ 0 };
	known_trials_free(state->known[index]);
	state->known[index] = theirs->known[index];
	theirs->known[index] = NULL;
	state->spent[index] = theirs->spent[index];
}

bool pass_state_take_part(struct pass_state *state, const struct pass_part *part,
	const struct pass_state_limits *limits, struct codec_reader *reader)
{
	struct pass_state theirs = { 0 };
	bool is_valid;

	pass_state_begin(&theirs, state->count);
	pass_state_load_files(&theirs, limits, reader);
	is_valid = codec_at_end(reader);
	for (size_t i = 0; i < state->count && is_valid; i++)
		is_valid = !is_foreign(state, part, &theirs, i);
	for (size_t i = 0; i < state->count && is_valid; i++)
		if (is_in_part(part, i) && !state->found[i].runs)
			take_file(state, &theirs, i);
	pass_state_free(&theirs);
	return is_valid;
}

/* ---- the whole ----------------------------------------------------------------------------- */

void pass_state_save_pass(const struct pass_state *state, struct codec_writer *writer)
{
	codec_put(writer, state->pass);
	codec_put(writer, state->work);
	codec_put(writer, state->was_claimed);
}

static unsigned pass_count(void)
{
	unsigned count = 0;

	while (strategies[count].name)
		count++;
	return count;
}

void pass_state_load_pass(struct pass_state *state, struct codec_reader *reader)
{
	state->pass = (unsigned)codec_get(reader, pass_count());
	state->work = codec_get(reader, UINT64_MAX);
	state->was_claimed = codec_get_flag(reader);
	for (size_t i = 0; i < state->count; i++)
		if (state->found[i].runs && state->found[i].pass >= state->pass)
			codec_fail(reader);
}

void pass_state_save(const struct pass_state *state, struct codec_writer *writer)
{
	pass_state_save_files(state, 0, SIZE_MAX, writer);
	pass_state_save_pass(state, writer);
}

void pass_state_load(struct pass_state *state, const struct pass_state_limits *limits,
	struct codec_reader *reader)
{
	pass_state_load_files(state, limits, reader);
	pass_state_load_pass(state, reader);
}
