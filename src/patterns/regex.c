/*
 * PCRE2 matches the canonical text, anchored. It backtracks, so a pathological expression on
 * hostile data could take forever: its match limits stop it, and then PCRE2's breadth-first
 * matcher, which cannot blow up, decides. So no hit is ever lost to a limit, and whether there is a
 * hit depends only on the expression and the bytes; JIT only makes it faster. (In that rare case
 * the length is that of the longest match.)
 */
#include "patterns/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "patterns/regex_parse.h"

#define MATCH_LIMIT 1000000u
#define DFA_WORKSPACE ((size_t)1 << 18) /* ints: enough for the states of the widest expressions */
#define STARTS_AFTER_LIMIT 4096

struct regex {
	char *source;
	struct regex_facts facts;
	pcre2_code *code;   /* anchored */
	pcre2_code *finder; /* the same, not anchored */
	pcre2_match_context *limits;
};

/* ---- one match block a thread -------------------------------------------------------------- */

static pthread_once_t match_once = PTHREAD_ONCE_INIT;
static pthread_key_t match_key;

static void free_match_data(void *data)
{
	pcre2_match_data_free(data);
}

static void make_match_key(void)
{
	if (pthread_key_create(&match_key, free_match_data))
		abort(); /* more than a thousand keys in one process */
}

/* One pair of offsets is enough for every regex: there are no captures. */
static pcre2_match_data *thread_match_data(void)
{
	pcre2_match_data *data;

	pthread_once(&match_once, make_match_key);
	data = pthread_getspecific(match_key);
	if (!data) {
		data = pcre2_match_data_create(1, NULL);
		if (data && pthread_setspecific(match_key, data)) {
			pcre2_match_data_free(data);
			data = NULL;
		}
		if (!data)
			xmalloc(SIZE_MAX); /* prints that memory is exhausted, and exits */
	}
	return data;
}

/* ---- making -------------------------------------------------------------------------------- */

static pcre2_code *compile_with(
	const char *source, uint32_t options, size_t column, struct error *error)
{
	PCRE2_SIZE at;
	PCRE2_UCHAR why[256];
	int failure;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)source, PCRE2_ZERO_TERMINATED,
		options | PCRE2_DOTALL | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP, &failure, &at, NULL);

	if (!code) {
		pcre2_get_error_message(failure, why, sizeof(why));
		error_set(error, EXIT_USAGE, EINVAL,
			"at column %zu of the pattern: PCRE2 refuses the regex: %s", column,
			(const char *)why);
		return NULL;
	}
	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* where there is no JIT, it interprets */
	return code;
}

static int compile(struct regex *regex, size_t column, struct error *error)
{
	regex->code = compile_with(regex->source, PCRE2_ANCHORED, column, error);
	if (regex->code)
		regex->finder = compile_with(regex->source, 0, column, error);
	if (!regex->finder)
		return -EINVAL;
	regex->limits = pcre2_match_context_create(NULL);
	if (!regex->limits)
		return error_set(error, EXIT_IO, ENOMEM, "out of memory for a regex");
	pcre2_set_match_limit(regex->limits, MATCH_LIMIT);
	return 0;
}

int regex_new(struct regex **regex, const char *source, size_t len, bool nocase, size_t column,
	struct error *error)
{
	struct regex *made = xcalloc(1, sizeof(*made));
	int status = regex_parse(&made->source, &made->facts, source, len, nocase, column, error);

	if (!status)
		status = compile(made, column, error);
	if (status) {
		regex_free(made);
		return status;
	}
	*regex = made;
	return 0;
}

void regex_free(struct regex *regex)
{
	if (!regex)
		return;
	pcre2_code_free(regex->code);
	pcre2_code_free(regex->finder);
	pcre2_match_context_free(regex->limits);
	free(regex->source);
	free(regex);
}

uint32_t regex_min_len(const struct regex *regex)
{
	return regex->facts.min;
}

uint32_t regex_max_len(const struct regex *regex)
{
	return regex->facts.max;
}

const char *regex_source(const struct regex *regex)
{
	return regex->source;
}

double regex_chance(const struct regex *regex)
{
	return regex->facts.chance;
}

/* ---- matching ------------------------------------------------------------------------------ */

static int match_breadth_first(
	const struct regex *regex, const uint8_t *text, size_t len, pcre2_match_data *data)
{
	int *workspace = xmalloc(DFA_WORKSPACE * sizeof(*workspace));
	int result = pcre2_dfa_match(
		regex->code, text, len, 0, 0, data, regex->limits, workspace, DFA_WORKSPACE);

	free(workspace);
	return result;
}

size_t regex_match_len(const struct regex *regex, const uint8_t *text, size_t len)
{
	pcre2_match_data *data;
	int result;

	if (len < regex->facts.min || !byteset_has(&regex->facts.first, text[0]))
		return 0;
	if (len > regex->facts.max)
		len = regex->facts.max;
	data = thread_match_data();
	result = pcre2_match(regex->code, text, len, 0, 0, data, regex->limits);
	if (result == PCRE2_ERROR_JIT_STACKLIMIT)
		result = pcre2_match(regex->code, text, len, 0, PCRE2_NO_JIT, data, regex->limits);
	if (result < 0 && result != PCRE2_ERROR_NOMATCH)
		result = match_breadth_first(regex, text, len, data);
	return result < 0 ? 0 : pcre2_get_ovector_pointer(data)[1];
}

size_t regex_find(
	const struct regex *regex, const uint8_t *text, size_t from, size_t to, size_t len)
{
	while (from < to) {
		size_t readable = len - to < regex->facts.max ? len : to + regex->facts.max;
		pcre2_match_data *data = thread_match_data();
		int result = pcre2_match(
			regex->finder, text + from, readable - from, 0, 0, data, regex->limits);

		if (result >= 0) {
			from += pcre2_get_ovector_pointer(data)[0];
			return from < to ? from : to;
		}
		if (result == PCRE2_ERROR_NOMATCH)
			return to;
		/* A limit was reached, at a start that is not known: some of them one by one, and
		 * then PCRE2 gets another try. */
		for (size_t i = 0; i < STARTS_AFTER_LIMIT && from < to; i++, from++)
			if (regex_match_len(regex, text + from, len - from))
				return from;
	}
	return to;
}
