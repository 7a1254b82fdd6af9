/* What a process that checks candidates, or puts files together, sends for a GPU, from hostile bytes: coded data that it
 * describes can be decoded, and searches that it asks for can be made, as if burin had thought of them itself. */
#include <stdlib.h>
#include <string.h>

#include "assemble/crc_search_codec.h"
#include "assemble/word_search_codec.h"
#include "carve/coded_codec.h"
#include "carvers/coded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Steps of a search: more take longer, and show nothing else. */
#define STEPS_MAX ((size_t)1 << 20)
#define CLUSTER 512

/* The bytes after the description are the cluster. */
static void decode(struct codec_reader *reader)
{
	struct carve_coded *coded = malloc(sizeof(*coded));
	_Alignas(4) uint8_t cluster[CLUSTER] = { 0 };

	coded_load(coded, reader);
	if (codec_ok(reader)) {
		size_t left = (size_t)(reader->end - reader->at);

		memcpy(cluster, reader->at, left < CLUSTER ? left : CLUSTER);
		coded_may_follow(coded, cluster, CLUSTER);
	}
	free(coded);
}

static void search(struct codec_reader *reader)
{
	struct crc_hits *hits = malloc(sizeof(*hits));
	struct crc_search found;

	crc_search_load(&found, reader);
	if (codec_ok(reader) && found.count < STEPS_MAX &&
		(found.count + 1) * (found.known_count + found.rest_to + 1) < STEPS_MAX)
		search_cpu.find_breaks(NULL, &found, hits);
	crc_search_free(&found);
	free(hits);
}

static void ignore(void *context, unsigned word, size_t at, uint32_t key)
{
	(void)context, (void)word, (void)at, (void)key;
}

/* The question's own bytes are the text. */
static void find_words(struct codec_reader *reader)
{
	struct asked_words *asked = calloc(1, sizeof(*asked));
	const uint8_t *text = reader->at;
	size_t len = (size_t)(reader->end - reader->at);

	asked_words_load(asked, reader);
	if (codec_ok(reader))
		word_set_search(&asked->words, text, len, len, ignore, NULL);
	free(asked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct codec_reader reader = codec_reader_from(data + 1, len ? len - 1 : 0);

	if (len && *data % 3 == 1)
		decode(&reader);
	else if (len && *data % 3 == 2)
		find_words(&reader);
	else if (len)
		search(&reader);
	return 0;
}
