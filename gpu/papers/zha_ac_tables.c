/* Compiles a set for ac0 .. ac4: the automaton of gpu/ac.h, with what was asked for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "scan/gpu_options.h"
#include "gpu/papers/zha_ac.h"

/* Stages before ac3 don't look at stretches in shared memory, and have theirs as published. ac4
 * holds a stretch in registers, so its length must be known when burin is built. */
static int choose_words(
	unsigned *words, unsigned stage, const struct gpu_tuning *tuning, struct error *error)
{
	*words = ZHA_TWORD;
	if (stage < 3 || !tuning || !tuning->words)
		return 0;
	*words = tuning->words;
	if (*words > ZHA_TWORD_MAX)
		return error_set(error, EXIT_USAGE, EINVAL,
			"ac%u takes 1 to %u words a thread (tWord), not %u", stage, ZHA_TWORD_MAX,
			*words);
	if (stage == 4 && *words != ZHA_TWORD && *words != ZHA_TWORD_EVEN &&
		*words != ZHA_TWORD_WRITES)
		return error_set(error, EXIT_USAGE, EINVAL,
			"ac4 is built for %u, %u and %u words a thread (tWord), not for %u",
			ZHA_TWORD_WRITES, ZHA_TWORD_EVEN, ZHA_TWORD, *words);
	return 0;
}

static uint32_t find_longest(const struct ac_tables *tables)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < tables->automaton.state_count; i++)
		if (tables->depths[i] > longest)
			longest = tables->depths[i];
	return longest;
}

int zha_ac_compile(struct gpu_program **result, unsigned stage, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	struct zha_ac_program *program;
	unsigned words;
	int status = choose_words(&words, stage, tuning, error);

	if (status)
		return status;
	program = xcalloc(1, sizeof(*program));
	program->ac = ac_make(set, ac_longest(set, ZHA_MAXL, ZHA_STATES_MAX), TRIE_BYTES);
	program->stage = stage;
	program->words = words;
	program->uints = stage == 3 && tuning && tuning->uints;
	program->longest = find_longest(ac_tables(program->ac));
	*result = (struct gpu_program *)program;
	return 0;
}

void zha_ac_free(struct gpu_program *memory)
{
	struct zha_ac_program *program = (struct zha_ac_program *)memory;

	if (!program)
		return;
	ac_free(program->ac);
	free(program);
}

void zha_ac_describe(const struct gpu_program *memory, char *text, size_t len)
{
	const struct zha_ac_program *program = (const struct zha_ac_program *)memory;
	const struct ac_tables *tables = ac_tables(program->ac);
	int used = snprintf(text, len, "ac%u (%u states of %u bits, maxL %u, tWord %u",
		program->stage, tables->automaton.state_count, tables->next32 ? 32 : 16,
		program->longest, program->words);

	if (used < 0 || (size_t)used >= len)
		return;
	if (program->stage < 3)
		snprintf(text + used, len - (size_t)used, ")");
	else
		snprintf(text + used, len - (size_t)used, "%s: %u threads to a bank)",
			program->uints ? ", uints" : "", zha_bank_ways(program->words, ZHA_BANKS));
}
