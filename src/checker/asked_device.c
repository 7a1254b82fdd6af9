/* A device for searches that burin asks for this process (assemble/device_server.h). */
#include <errno.h>
#include <stdlib.h>

#include "assemble/crc_search_codec.h"
#include "assemble/word_search_codec.h"
#include "carve/coded_codec.h"
#include "checker/checker.h"

/* It is burin's. */
struct search_device {
	char nothing;
};

static int open_device(struct search_device **device, const char *devices, struct error *error)
{
	static struct search_device only;

	(void)devices, (void)error;
	*device = &only;
	return 0;
}

static void close_device(struct search_device *device)
{
	(void)device;
}

static void take_hits(void *context, struct codec_reader *answer)
{
	crc_hits_load(context, answer);
}

static int find_breaks(
	struct search_device *device, const struct crc_search *search, struct crc_hits *hits)
{
	struct codec_writer question = { 0 };
	int status;

	if (!crc_search_save(search, &question))
		return search_cpu.find_breaks(device, search, hits);
	status = checker_ask_device(CHECK_FIND_BREAKS, &question, take_hits, hits);
	free(question.bytes);
	return status;
}

static void take_words(void *context, struct codec_reader *answer)
{
	word_answer_load(context, answer);
}

/* burin knows what is kept. */
static int find_words(struct search_device *device, const struct kept_text *kept,
	const struct word_question *words, struct word_answer *hits)
{
	struct codec_writer question = { 0 };
	int status;

	(void)device, (void)kept;
	word_question_save(words, &question);
	status = checker_ask_device(CHECK_FIND_WORDS, &question, take_words, hits);
	free(question.bytes);
	return status;
}

struct wanted {
	const struct coded_question *questions;
	size_t count;
};

/* None if the device has failed. */
static void take_bits(void *context, struct codec_reader *answer)
{
	const struct wanted *wanted = context;

	for (size_t i = 0; i < wanted->count; i++)
		codec_copy_bytes(
			answer, wanted->questions[i].bits, (size_t)wanted->questions[i].count / 8);
}

static int find_coded(
	struct search_device *device, const struct coded_question *questions, size_t count)
{
	struct wanted wanted = { questions, count };
	struct codec_writer question = { 0 };
	int status;

	(void)device;
	codec_put(&question, count);
	for (size_t i = 0; i < count; i++) {
		codec_put(&question, questions[i].first);
		codec_put(&question, questions[i].count);
		coded_save(questions[i].coded, &question);
	}
	status = checker_ask_device(CHECK_FIND_CODED, &question, take_bits, &wanted);
	free(question.bytes);
	return status;
}

struct kept {
	size_t *len;
	uint64_t *count;
};

static void take_kept(void *context, struct codec_reader *answer)
{
	const struct kept *kept = context;

	*kept->len = (size_t)codec_get(answer, SIZE_MAX);
	*kept->count = codec_get(answer, UINT64_MAX);
}

static int keep_image(struct search_device *device, uint64_t size, uint64_t origin, uint64_t end,
	size_t *len, uint64_t *count)
{
	struct kept kept = { len, count };
	struct codec_writer question = { 0 };
	int status;

	(void)device;
	codec_put(&question, size);
	codec_put(&question, origin);
	codec_put(&question, end);
	status = checker_ask(CHECK_KEEP, &question, take_kept, &kept);
	free(question.bytes);
	return status;
}

const struct search_tool asked_device = {
	.name = "asked",
	.open = open_device,
	.close = close_device,
	.find_breaks = find_breaks,
	.find_coded = find_coded,
	.find_words = find_words,
	.keep_image = keep_image,
};
