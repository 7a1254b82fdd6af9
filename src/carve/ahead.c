#include "carve/ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "carve/pair.h"
#include "carve/view.h"
#include "carvers/coded.h"

/* Pictures that are known; checks come within a few chunks of them. A power of two. */
#define KNOWN 16384
/* Units of work for the segments before the data. */
#define WORK_MAX (1u << 20)

struct known {
	uint64_t picture, data, end; /* end 0: an empty entry */
};

struct ahead {
	const struct rules *rules;
	struct image *image;
	uint32_t *rule_of; /* by pattern; NO_RULE: none */
	bool wanted;
	pthread_mutex_t lock;
	struct known *known; /* KNOWN of them, by where the data is */
	unsigned threads;
	struct view *views[];
};

#define NO_RULE UINT32_MAX

/* Of several rules of a header the first one is asked. */
static void index_rules(struct ahead *ahead)
{
	const struct rules *rules = ahead->rules;

	ahead->rule_of = xmalloc((rules->patterns.count + 1) * sizeof(*ahead->rule_of));
	for (uint32_t p = 0; p < rules->patterns.count; p++)
		ahead->rule_of[p] = NO_RULE;
	for (uint32_t r = rules->count; r-- > 0;) {
		const struct rule *rule = &rules->rules[r];

		for (uint32_t i = 0; rule->carver && rule->carver->coded && i < rule->header_count;
			i++) {
			ahead->rule_of[rule->headers[i]] = r;
			ahead->wanted = true;
		}
	}
}

struct ahead *ahead_new(const struct rules *rules, struct image *image, unsigned threads)
{
	struct ahead *ahead = xcalloc(1, sizeof(*ahead) + threads * sizeof(ahead->views[0]));

	ahead->rules = rules;
	ahead->image = image;
	ahead->threads = threads;
	index_rules(ahead);
	pthread_mutex_init(&ahead->lock, NULL);
	ahead->known = xcalloc(KNOWN, sizeof(*ahead->known));
	for (unsigned i = 0; i < threads; i++) {
		ahead->views[i] = view_new();
		view_trust(ahead->views[i]);
	}
	return ahead;
}

void ahead_free(struct ahead *ahead)
{
	if (!ahead)
		return;
	for (unsigned i = 0; i < ahead->threads; i++)
		view_free(ahead->views[i]);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead->known);
	free(ahead->rule_of);
	free(ahead);
}

bool ahead_wanted(const struct ahead *ahead)
{
	return ahead->wanted;
}

bool ahead_describes(const struct ahead *ahead, uint32_t pattern)
{
	return ahead->rule_of[pattern] != NO_RULE;
}

struct carve_coded *ahead_describe(struct ahead *ahead, unsigned worker, const uint8_t *bytes,
	uint64_t offset, size_t len, uint64_t hit, uint32_t pattern, uint64_t *picture,
	uint64_t *data)
{
	uint32_t number = ahead->rule_of[pattern];
	struct view *view = ahead->views[worker];
	const struct rule *rule;
	struct candidate candidate;
	struct carve_coded *coded;

	rule = &ahead->rules->rules[number];
	if (hit - offset < rule->header_offset)
		return NULL;
	candidate = candidate_of_header(rule, number, pattern, hit - rule->header_offset);
	view_point(view, ahead->image, candidate.start, candidate.length);
	view_hold(view, bytes + (candidate.start - offset), candidate.start,
		len - (size_t)(candidate.start - offset));
	view_limit_work(view, WORK_MAX);
	coded = xmalloc(sizeof(*coded));
	coded->begins = true;
	*picture = candidate.start;
	if (rule->carver->coded(view, NULL, coded) && !view_stopped(view)) {
		*data = candidate.start + coded->data;
		return coded;
	}
	free(coded);
	return NULL;
}

/* Where an entry is, if it is: data is seldom at offsets that differ by 16 GiB. */
static struct known *entry_of(const struct ahead *ahead, uint64_t data)
{
	return &ahead->known[(data ^ data / KNOWN) % KNOWN];
}

void ahead_add(struct ahead *ahead, uint64_t picture, uint64_t data, uint64_t end)
{
	pthread_mutex_lock(&ahead->lock);
	*entry_of(ahead, data) = (struct known){ picture, data, end };
	pthread_mutex_unlock(&ahead->lock);
}

uint64_t ahead_end(const struct ahead *ahead, uint64_t picture, uint64_t data)
{
	struct known known;

	pthread_mutex_lock((pthread_mutex_t *)&ahead->lock);
	known = *entry_of(ahead, data);
	pthread_mutex_unlock((pthread_mutex_t *)&ahead->lock);
	return known.picture == picture && known.data == data ? known.end : 0;
}
