/*
 * Where words of formats' tables are, by the processor and by a made-up device that has some of the image: the hits
 * are those of plain loops whoever is asked, and invalid questions do not reach the device.
 */
#include "carver_case.h"

#include <errno.h>

#include "assemble/device_server.h"
#include "assemble/inner_hits.h"
#include "assemble/word_search.h"
#include "assemble/word_search_codec.h"
#include "base/error.h"
#include "base/memory.h"
#include "carve/check_messages.h"
#include "carvers/bytes.h"
#include "memory_image.h"
#include "temp.h"

#define SIZE ((size_t)3 << 20)
#define PLANTED 4000

static uint8_t content[SIZE + WORD_AFTER];
static struct memory_image evidence = MEMORY_IMAGE(content, SIZE);

static const struct carve_map map = { .words = { { 4, false, "word" }, { 2, false, "wo", 14 },
					      { 8, false, "wordwood", 64 },
					      { 3, true, "\0\0\1" } } };

/* Words, some of which overlap, and their first bytes alone, in noise. */
static void make_content(void)
{
	static const uint8_t planted[16] = "wordwood\0\0\1";
	struct bytes random = { 0 };

	bytes_add_random(&random, 5, SIZE);
	memcpy(content, random.data, SIZE);
	for (size_t i = 0; i < PLANTED; i++) {
		size_t at = le32(random.data + 4 * i) % (SIZE - 8);

		memcpy(content + at, planted + i % 9, 1 + i % 8);
	}
	memcpy(content + SIZE - 4, "word", 4);
	memcpy(content + SIZE - 3, "wo", 2);
	free(random.data);
}

/* ---- plain loops --------------------------------------------------------------------------- */

struct plain_hits {
	size_t count;
	uint64_t items[PLANTED * 2];
	uint32_t keys[PLANTED * 2];
};

static uint32_t plain_key(size_t at)
{
	uint32_t key = 0;

	for (size_t i = 0; i < WORD_KEY; i++)
		if (at + i < SIZE)
			key |= (uint32_t)content[at + i] << 8 * i;
	return key;
}

/* Those of a word that begin in [from, to). */
static void find_plainly(
	struct plain_hits *hits, const struct carve_word *word, size_t from, size_t to)
{
	for (size_t at = from; at < to && at + word->len <= SIZE; at++) {
		if (memcmp(content + at, word->bytes, word->len) != 0)
			continue;
		cr_assert_lt(hits->count, PLANTED * 2);
		hits->items[hits->count] = at;
		hits->keys[hits->count++] =
			plain_key(at + (word->key_at ? word->key_at : word->len));
	}
}

/* ---- the device ---------------------------------------------------------------------------- */

/* What it has of the image. */
struct kept_text {
	uint64_t from, to;
};

struct search_device {
	size_t asked, answered; /* questions, stretches */
};

static struct search_device device;
static size_t fails_at, room; /* questions; hits of one */

static int open_device(struct search_device **opened, const char *devices, struct error *error)
{
	(void)devices, (void)error;
	device = (struct search_device){ 0 };
	*opened = &device;
	return 0;
}

static void close_device(struct search_device *opened)
{
	cr_expect_eq(opened, &device);
}

struct adding {
	struct word_answer *answer;
	uint32_t stretch;
	size_t all;
};

static void add(void *context, unsigned word, size_t at, uint32_t key)
{
	struct adding *adding = context;

	if (adding->all++ < room)
		adding->answer->items[adding->answer->count++] =
			(struct word_hit){ adding->stretch, (uint32_t)at, word, key };
}

static int find_words(struct search_device *opened, const struct kept_text *kept,
	const struct word_question *question, struct word_answer *answer)
{
	struct adding adding = { .answer = answer };

	answer->answered = answer->count = 0;
	cr_assert_leq(question->count, WORD_STRETCHES_MAX);
	if (++opened->asked >= fails_at)
		return -EIO;
	for (uint32_t i = 0; kept && i < question->count; i++) {
		const struct range *stretch = &question->stretches[i];
		size_t len = (size_t)stretch->length + WORD_AFTER;

		cr_assert(stretch->length && stretch->length <= WORD_STRETCH_MAX);
		if (stretch->offset < kept->from || stretch->offset + len > kept->to)
			continue;
		adding.stretch = i;
		answer->answered |= (uint64_t)1 << i;
		word_set_search(question->words, content + stretch->offset, (size_t)stretch->length,
			len, add, &adding);
	}
	if (adding.all > room)
		answer->answered = answer->count = 0;
	opened->answered += (size_t)__builtin_popcountll(answer->answered);
	return 0;
}

static const struct search_tool tool = {
	.name = "made up", .open = open_device, .close = close_device, .find_words = find_words
};

/* ---- tests --------------------------------------------------------------------------------- */

TestSuite(word_search, .init = make_content);

/* As inner_hits_find cuts them: windows of many lengths, without what is taken. */
static void add_windows(struct inner_hits *hits)
{
	inner_hits_add_map(hits, &map);
	inner_hits_add_map(hits, &map);
	for (uint64_t at = 0; at < SIZE / 3; at += 9000)
		inner_hits_add_window(hits, at, 1 + at / 100);
	inner_hits_add_window(hits, SIZE / 3, SIZE - SIZE / 3);
}

/* Whether offset is in one of them. */
static bool is_in_window(uint64_t offset)
{
	return offset >= SIZE / 3 || offset % 9000 < 1 + offset / 9000 * 9000 / 100;
}

static void expect_hits(const struct search_tool *used, const struct kept_text *kept)
{
	static struct plain_hits plain;
	struct clusters clusters = { .size = 512, .end = SIZE };
	struct searcher *searcher = searcher_new(used, NULL, &clusters);
	const struct inner_hits_source source = { &evidence.image, searcher, kept };
	struct pool *pool = pool_new(2);
	struct inner_hits *hits = inner_hits_new();
	struct ranges taken = { 0 };

	add_windows(hits);
	ranges_add(&taken, SIZE / 2, 70000);
	cr_assert(inner_hits_find(hits, &source, &taken, UINT64_MAX, pool, NULL));
	for (unsigned word = 0; word < 4; word++) {
		const uint32_t *keys;
		size_t count, n = 0;
		const uint64_t *items = inner_hits_of(hits, &map, word, &keys, &count);

		plain.count = 0;
		find_plainly(&plain, &map.words[word], 0, SIZE / 2);
		find_plainly(&plain, &map.words[word], SIZE / 2 + 70000, SIZE);
		for (size_t i = 0; i < plain.count; i++) {
			if (!is_in_window(plain.items[i]))
				continue;
			cr_assert_lt(n, count, "word %u", word);
			cr_assert_eq(items[n], plain.items[i], "word %u", word);
			cr_assert_eq(keys[n++], plain.keys[i], "word %u at %zu", word, n);
		}
		cr_expect_eq(n, count, "word %u", word);
		cr_expect_gt(count, 20, "word %u", word);
	}
	ranges_free(&taken);
	inner_hits_free(hits);
	pool_free(pool);
	searcher_free(searcher);
}

Test(word_search, hits_do_not_depend_on_who_is_asked)
{
	static const struct kept_text all = { 0, SIZE }, part = { SIZE / 4, SIZE / 4 * 3 };

	room = WORD_HITS_MAX;
	fails_at = SIZE_MAX;
	expect_hits(NULL, NULL);
	expect_hits(&tool, NULL);
	cr_expect_eq(device.answered, 0);
	expect_hits(&tool, &all);
	cr_expect_gt(device.answered, 100);
	expect_hits(&tool, &part);
	cr_expect(device.answered > 10 && device.answered < 100, "%zu", device.answered);
	room = 100;
	expect_hits(&tool, &all);
	cr_expect_lt(device.answered, 100, "more hits than there is room for");
	room = WORD_HITS_MAX;
	fails_at = 2;
	expect_hits(&tool, &all);
	cr_expect(device.asked >= 2 && device.asked <= 3, "one that failed is not asked again");
}

Test(word_search, words_out_of_bounds_are_not_added)
{
	struct word_set *set = xcalloc(1, sizeof(*set));

	cr_expect_not(word_set_add(set, "a", 1, 0));
	cr_expect_not(word_set_add(set, "abcdefghi", 9, 0));
	cr_expect_not(word_set_add(set, "ab", 2, WORD_KEY_AT_MAX + 1));
	for (size_t i = 0; i < WORDS_MAX; i++)
		cr_expect(word_set_add(set, "ab", 2, WORD_KEY_AT_MAX));
	cr_expect_not(word_set_add(set, "ab", 2, 0), "there is no room");
	free(set);
}

/* ---- a device that burin asks for the process that puts files together ---- */

static int answer_of(
	struct device_server *server, const struct codec_writer *question, struct word_answer *into)
{
	struct codec_reader reader = codec_reader_from(question->bytes, question->len), body;
	struct codec_writer answer = { 0 };
	bool valid = device_server_answer(server, CHECK_FIND_WORDS, &reader, &answer);
	int status = valid ? 0 : -EPROTO;

	cr_expect_eq(answer.len > 0, valid);
	if (valid) {
		body = codec_reader_from(answer.bytes, answer.len);
		status = -(int)codec_get(&body, INT32_MAX);
		word_answer_load(into, &body);
		cr_expect(codec_at_end(&body));
	}
	free(answer.bytes);
	return status;
}

static struct device_server *new_server(const struct kept_text *kept)
{
	static struct assemble_options options;
	struct error error = { 0 };

	temp_make();
	temp_write("image", content, SIZE);
	cr_assert_eq(image_open(&options.image, temp_at("image"), &error), 0, "%s", error.text);
	options.tool = &tool;
	options.kept_text = kept;
	room = WORD_HITS_MAX;
	fails_at = SIZE_MAX;
	return device_server_new(&options);
}

Test(word_search, a_server_answers_as_its_device_does)
{
	static const struct kept_text kept = { 1000, SIZE };
	static const struct range stretches[] = { { 0, 5000 }, { 1000, 70000 }, { 9, 1 } };
	struct device_server *server = new_server(&kept);
	struct word_set *set = xcalloc(1, sizeof(*set));
	struct word_answer *answers = xcalloc(2, sizeof(*answers));
	const struct word_question question = { set, stretches, 3 };
	struct codec_writer asked = { 0 };

	cr_assert(word_set_add(set, "wo", 2, 7));
	cr_assert(word_set_add(set, "word", 4, 4));
	word_question_save(&question, &asked);
	cr_assert_eq(answer_of(server, &asked, &answers[0]), 0);
	find_words(&device, &kept, &question, &answers[1]);
	cr_expect_eq(answers[0].answered, 2);
	cr_expect_gt(answers[0].count, 10);
	cr_expect_eq(answers[0].count, answers[1].count);
	cr_expect_arr_eq(
		answers[0].items, answers[1].items, answers[0].count * sizeof(*answers[0].items));
	fails_at = 1;
	cr_expect_eq(answer_of(server, &asked, &answers[0]), -EIO);
	cr_expect_eq(answers[0].answered, 0);
	free(asked.bytes);
	free(answers);
	free(set);
	device_server_free(server);
	temp_remove();
}

/* A question about one word and one stretch. */
static bool is_asked(struct device_server *server, size_t len, uint64_t key_at, uint64_t count,
	struct range stretch)
{
	struct word_answer *answer = xcalloc(1, sizeof(*answer));
	struct codec_writer question = { 0 };
	size_t before = device.asked;
	bool valid;

	codec_put(&question, 1);
	codec_put_bytes(&question, "wordswords", len);
	codec_put(&question, key_at);
	codec_put(&question, count);
	codec_put(&question, stretch.offset);
	codec_put(&question, stretch.length);
	valid = answer_of(server, &question, answer) == 0;
	cr_expect_eq(device.asked > before, valid);
	free(question.bytes);
	free(answer);
	return valid;
}

/* A file may have taken over the process that asks. */
Test(word_search, what_is_no_question_does_not_reach_the_device)
{
	static const struct kept_text kept = { 0, SIZE };
	struct device_server *server = new_server(&kept);
	const struct range stretch = { 100, WORD_STRETCH_MAX };

	cr_expect(is_asked(server, 4, WORD_KEY_AT_MAX, 1, stretch));
	cr_expect(is_asked(server, 4, 0, 1, (struct range){ INT64_MAX, 1 }));
	cr_expect_not(is_asked(server, 1, 0, 1, stretch));
	cr_expect_not(is_asked(server, 9, 0, 1, stretch));
	cr_expect_not(is_asked(server, 4, WORD_KEY_AT_MAX + 1, 1, stretch));
	cr_expect_not(is_asked(server, 4, 0, 0, stretch), "something is left");
	cr_expect_not(is_asked(server, 4, 0, 2, stretch), "something lacks");
	cr_expect_not(is_asked(server, 4, 0, WORD_STRETCHES_MAX + 1, stretch));
	cr_expect_not(is_asked(server, 4, 0, 1, (struct range){ 100, 0 }));
	cr_expect_not(is_asked(server, 4, 0, 1, (struct range){ 100, WORD_STRETCH_MAX + 1 }));
	cr_expect_not(is_asked(server, 4, 0, 1, (struct range){ (uint64_t)INT64_MAX + 1, 1 }));
	device_server_free(server);
	temp_remove();
}

struct places {
	size_t count;
	uint64_t items[PLANTED * 4];
};

static void add_place(void *context, unsigned word, size_t at, uint32_t key)
{
	struct places *places = context;

	cr_assert_lt(places->count + 1, PLANTED * 4);
	places->items[places->count++] = (uint64_t)word << 32 | at;
	places->items[places->count++] = key;
}

/* With and without vector instructions, up to any end. */
Test(word_search, two_ways)
{
	static struct places wide, plain;
	static struct word_set set;

	for (unsigned i = 0; i < CARVE_WORDS && map.words[i].len; i++)
		cr_assert(word_set_add(
			&set, map.words[i].bytes, map.words[i].len, inner_hits_key_at(&map, i)));
	for (size_t len = SIZE - 130; len <= SIZE; len += 13) {
		wide.count = plain.count = 0;
		set.is_plain = false;
		word_set_search(&set, content + SIZE / 2, len - SIZE / 2 - len % 70, len - SIZE / 2,
			add_place, &wide);
		set.is_plain = true;
		word_set_search(&set, content + SIZE / 2, len - SIZE / 2 - len % 70, len - SIZE / 2,
			add_place, &plain);
		cr_assert_gt(wide.count, 1000);
		cr_assert_eq(wide.count, plain.count);
		cr_assert_eq(memcmp(wide.items, plain.items, wide.count * sizeof(uint64_t)), 0);
	}
}

static void count_place(void *context, unsigned word, size_t at, uint32_t key)
{
	uint8_t(*found)[20000] = context;

	(void)key;
	found[word][at]++;
}

/* Zeros before words at all distances from a block's end, with and without a word of zeros. */
Test(word_search, runs_of_zeros)
{
	static const struct {
		const char *bytes;
		size_t len;
	} words[] = { { "\0\0\1", 3 }, { "\1\2", 2 }, { "\0\0\0\0\0\0\0\1", 8 }, { "\0\0\0", 3 } };
	static uint8_t bytes[20000], found[4][20000];
	static struct word_set sets[2];

	for (size_t i = 0; i < 4; i++) {
		cr_assert(word_set_add(&sets[1], words[i].bytes, words[i].len, words[i].len));
		cr_assert(i == 3 ||
			  word_set_add(&sets[0], words[i].bytes, words[i].len, words[i].len));
	}
	for (size_t end = 4080; end < 4110; end++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes + end, "\1\2", 2);
		memcpy(bytes + end + 8200, "\1\2", 2);
		for (size_t set = 0; set < 2; set++) {
			memset(found, 0, sizeof(found));
			sets[set].is_plain = end % 2;
			word_set_search(
				&sets[set], bytes, 16000, sizeof(bytes), count_place, found);
			for (size_t i = 0; i < sets[set].count; i++)
				for (size_t at = 0; at < 16000; at++)
					cr_assert_eq(found[i][at],
						memcmp(bytes + at, words[i].bytes, words[i].len) ==
							0);
		}
	}
}
