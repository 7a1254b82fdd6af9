/* What the reader's ring provides for reads of single places: only right bytes, whatever the ring
 * is doing meanwhile. */
#include "e01_made.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "evidence/backend.h"
#include "evidence/extent_image.h"
#include "evidence/reader.h"
#include "evidence/shared_ring.h"
#include "tier.h"

#define MIB (1u << 20)
#define SECTOR 512u
#define LOOKERS 3

TestSuite(reader_cache, .init = e01_begin, .fini = temp_remove, .timeout = TEST_HANGS);

/* ---- an image in memory, damaged in places, whose reads can be held back ------------------ */

struct fake {
	struct image image;
	uint8_t *bytes;
	struct ranges broken;
	char *path;
	_Atomic uint64_t read_len; /* read from the image itself */
	uint64_t gate_from;        /* reads after it wait for the gate; 0: none does */
	sem_t gate;
};

static int fake_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	struct fake *fake = (struct fake *)image;

	if (fake->gate_from && offset >= fake->gate_from)
		sem_wait(&fake->gate);
	if (ranges_overlap(&fake->broken, offset, len))
		return -EIO;
	memcpy(buffer, fake->bytes + offset, len);
	atomic_fetch_add(&fake->read_len, len);
	return 0;
}

static void fake_close(struct image *image)
{
	(void)image;
}

static const struct image_backend fake_backend = {
	.name = "fake",
	.read_at = fake_read_at,
	.close = fake_close,
};

static void fake_init(struct fake *fake, size_t size)
{
	*fake = (struct fake){ .path = strdup("fake.raw") };
	fake->image.backend = &fake_backend;
	fake->image.read_unit = SECTOR;
	fake->image.info = (struct image_info){ .format = "fake",
		.size = size,
		.sector_size = SECTOR,
		.paths = &fake->path,
		.path_count = 1 };
	fake->bytes = malloc(size);
	e01_fill(fake->bytes, size, size);
	sem_init(&fake->gate, 0, 0);
}

static void fake_break(struct fake *fake, uint64_t offset, uint64_t len)
{
	ranges_add(&fake->broken, offset, len);
	memset(fake->bytes + offset, 0, len);
}

static void fake_free(struct fake *fake)
{
	ranges_free(&fake->broken);
	sem_destroy(&fake->gate);
	free(fake->bytes);
	free(fake->path);
}

/* ---- threads that read places while the ring runs ------------------------------------------ */

struct play {
	struct image *image;
	struct reader *reader;
	struct shared_ring *ring; /* as another process has it; NULL: it is not shared */
	const uint8_t *bytes;     /* zeros where they can't be read */
	const struct ranges *broken;
	uint64_t size;
	_Atomic uint64_t position, cached_len;
	atomic_bool over;
	unsigned seed;
};

/* Most reads are near to where the ring is. */
static void draw_place(struct play *play, unsigned *state, uint64_t *offset, size_t *len)
{
	uint64_t position = atomic_load(&play->position);
	uint64_t around = (uint64_t)rand_r(state) % (play->size / 4 + 1);

	*offset = position + around > play->size / 8 ? position + around - play->size / 8 : 0;
	if (rand_r(state) % 4 == 0 || *offset >= play->size)
		*offset = (uint64_t)rand_r(state) % play->size;
	*len = 1 + (size_t)rand_r(state) % (rand_r(state) % 3 ? 5000 : 300000);
	if (*len > play->size - *offset)
		*len = (size_t)(play->size - *offset);
}

static void look_once(struct play *play, unsigned *state, uint8_t *buffer)
{
	uint64_t offset;
	size_t len, got;

	draw_place(play, state, &offset, &len);
	memset(buffer, 0x55, len);
	if (rand_r(state) % 2) {
		got = play->ring && rand_r(state) % 2
			      ? shared_ring_copy(play->ring, offset, buffer, len)
			      : reader_copy(play->reader, offset, buffer, len);
		cr_assert_leq(got, len);
		cr_assert_eq(ranges_overlap(play->broken, offset, got), 0);
		/* What changed while it was copied from a shared ring is not said, but written. One assertion: each is counted, and a hundred thousand of them take most of the test. */
		cr_assert(play->ring || got == len ||
				  (buffer[got] == 0x55 && memcmp(buffer + got, buffer + got + 1,
								  len - got - 1) == 0),
			"more than it said");
		atomic_fetch_add(&play->cached_len, got);
	} else {
		size_t unread = image_read_around(play->image, offset, buffer, len);

		cr_assert_eq(unread, ranges_overlap(play->broken, offset, len));
		got = len;
	}
	cr_assert_eq(memcmp(buffer, play->bytes + offset, got), 0, "%zu bytes at %zu", got,
		(size_t)offset);
}

static void *look(void *arg)
{
	struct play *play = arg;
	unsigned state = atomic_fetch_add((_Atomic unsigned *)&play->seed, 1);
	uint8_t *buffer = malloc(300000);

	while (!atomic_load(&play->over))
		look_once(play, &state, buffer);
	free(buffer);
	return NULL;
}

static size_t copy(void *context, uint64_t offset, void *buffer, size_t len)
{
	return reader_copy(context, offset, buffer, len);
}

/* In slots of this length at least, the last byte was read for the slot itself, and not carried over: longer than overlap and read unit. */
#define LENGTH_READ_ITSELF 40000

/* The ring has what the caller holds. */
static void look_at_held(struct play *play, const struct reader_slot *slot)
{
	uint64_t last = slot->offset + slot->len - 1;
	uint8_t byte;

	if (slot->len < LENGTH_READ_ITSELF)
		return;
	cr_assert_eq(
		reader_copy(play->reader, last, &byte, 1), !ranges_overlap(play->broken, last, 1));
}

/* Takes the slots in order, holds some, and releases them in any order. Ends when others have read from the ring. */
static void run_ring(struct play *play, unsigned hold, bool others_find_something)
{
	struct reader_slot *held[16], *slot;
	unsigned count = 0;
	int rc;

	while ((rc = reader_next(play->reader, &slot)) == 1) {
		cr_assert_arr_eq(
			slot->data, play->bytes + slot->offset, slot->len + slot->tail_len);
		look_at_held(play, slot);
		atomic_store(&play->position, slot->offset);
		held[count++] = slot;
		if (count > hold) {
			unsigned i = (unsigned)rand() % count;

			reader_release(play->reader, held[i]);
			held[i] = held[--count];
		}
		if (rand() % 3 == 0)
			usleep((unsigned)rand() % 200);
	}
	cr_assert_eq(rc, 0);
	while (others_find_something && !atomic_load(&play->cached_len))
		sched_yield();
	while (count)
		reader_release(play->reader, held[--count]);
}

static void play_all(struct play *play, const struct reader_options *options)
{
	struct error error = { 0 };
	pthread_t lookers[LOOKERS];

	cr_assert_eq(reader_open(&play->reader, play->image, options, &error), 0, "%s", error.text);
	image_set_cache(play->image, copy, play->reader);
	if (reader_descriptor(play->reader) >= 0)
		cr_assert((play->ring = shared_ring_open(reader_descriptor(play->reader))));
	for (unsigned i = 0; i < LOOKERS; i++)
		cr_assert_eq(pthread_create(&lookers[i], NULL, look, play), 0);
	run_ring(play, (unsigned)rand() % options->slots, options->slot_len >= LENGTH_READ_ITSELF);
	atomic_store(&play->over, true);
	for (unsigned i = 0; i < LOOKERS; i++)
		pthread_join(lookers[i], NULL);
	image_set_cache(play->image, NULL, NULL);
	shared_ring_free(play->ring);
	reader_close(play->reader);
}

static const struct reader_options ways[] = {
	{ .method = READER_THREADS, .cache = READER_BUFFERED },
	{ .method = READER_THREADS, .cache = READER_DIRECT },
	{ .method = READER_URING, .cache = READER_BUFFERED },
	{ .method = READER_URING, .cache = READER_DIRECT },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static unsigned begin_random(void)
{
	unsigned seed = (unsigned)test_seed();

	printf("seed %u\n", seed);
	srand(seed);
	return seed;
}

static struct reader_options draw_options(const struct reader_options *way)
{
	struct reader_options options = *way;

	options.slot_len = 3000 + (size_t)rand() % (rand() % 2 ? 700000 : 9000);
	options.overlap = (size_t)rand() % (rand() % 2 ? 20 : 3000);
	options.slots = 2 + (unsigned)rand() % 4;
	options.cache_len = options.slot_len * ((size_t)rand() % 4);
	options.shared = rand() % 2;
	return options;
}

static void play_image(struct image *image, const uint8_t *bytes, const struct ranges *broken,
	const struct reader_options *way)
{
	struct reader_options options = draw_options(way);
	struct play play = { .image = image,
		.bytes = bytes,
		.broken = broken,
		.size = image_info(image)->size,
		.seed = (unsigned)rand() };

	play_all(&play, &options);
}

Test(reader_cache, broken_images)
{
	begin_random();
	for (unsigned round = 0; round < test_tier(2, 4, 80); round++) {
		struct fake fake;

		fake_init(&fake, 2 * MIB + (unsigned)rand() % 100000);
		for (int i = rand() % 30; i > 0; i--)
			fake_break(&fake,
				(unsigned)rand() % (fake.image.info.size / SECTOR - 8) * SECTOR,
				(1 + (unsigned)rand() % 8) * SECTOR);
		play_image(&fake.image, fake.bytes, &fake.broken, &ways[0]);
		fake_free(&fake);
	}
}

Test(reader_cache, files_in_every_way)
{
	const struct ranges none = { 0 };
	size_t len = 5 * MIB + 1234;
	uint8_t *bytes = malloc(len);
	struct image *image;

	begin_random();
	e01_fill(bytes, len, 3);
	temp_write("image.raw", bytes, len);
	image = opened(temp_at("image.raw"));
	for (unsigned round = 0; round < test_tier(2, 4, 80); round++)
		play_image(image, bytes, &none, &ways[(size_t)round % WAYS]);
	image_close(image);
	free(bytes);
}

/* Holes are zeros in the ring as well, also in an entry that has held something else. */
Test(reader_cache, sparse_files)
{
	const struct ranges none = { 0 };
	size_t len = 6 * MIB, part_len = 300000;
	uint8_t *bytes = calloc(1, len);
	struct image *image;
	int fd;

	begin_random();
	fd = open(temp_at("image.raw"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(ftruncate(fd, (off_t)len), 0);
	for (size_t at = 0; at + part_len < len; at += 2 * MIB) {
		e01_fill(bytes + at, part_len, at);
		cr_assert_eq(pwrite(fd, bytes + at, part_len, (off_t)at), (ssize_t)part_len);
	}
	close(fd);
	image = opened(temp_at("image.raw"));
	for (unsigned round = 0; round < test_tier(2, 4, 80); round++)
		play_image(image, bytes, &none, &ways[(size_t)round % WAYS]);
	image_close(image);
	free(bytes);
}

Test(reader_cache, e01)
{
	const struct ranges none = { 0 };
	size_t len = 3 * MIB + 512;
	uint8_t *bytes = malloc(len);
	struct image *image;

	begin_random();
	e01_fill(bytes, len, 4);
	temp_write("raw", bytes, len);
	image = opened(e01_acquire("raw", "set", "-c deflate:fast"));
	for (unsigned round = 0; round < test_tier(2, 3, 60); round++)
		play_image(image, bytes, &none, &ways[0]);
	image_close(image);
	free(bytes);
}

/* ---- what the ring keeps ------------------------------------------------------------------- */

enum { SLOT = 16384 };

static void take_and_release(struct reader *reader, unsigned count)
{
	struct reader_slot *slot;

	for (unsigned i = 0; i < count; i++) {
		cr_assert_eq(reader_next(reader, &slot), 1);
		reader_release(reader, slot);
	}
}

Test(reader_cache, the_last_slots_stay_and_those_before_are_gone)
{
	static uint8_t buffer[16 * SLOT];
	struct reader_options options = {
		.slot_len = SLOT, .slots = 2, .cache_len = 3 * SLOT, .method = READER_THREADS
	};
	struct reader *reader;
	struct fake fake;

	fake_init(&fake, 16 * SLOT);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, NULL), 0);
	take_and_release(reader, 8);
	/* 5, 6 and 7 were released last, 8 and 9 are being read. */
	cr_assert_eq(reader_copy(reader, 4 * SLOT, buffer, SLOT), 0);
	cr_assert_eq(reader_copy(reader, 5 * SLOT - 1, buffer, 2), 0);
	cr_assert_eq(reader_copy(reader, 5 * SLOT, buffer, sizeof(buffer)), 5 * SLOT);
	cr_assert_arr_eq(buffer, fake.bytes + 5 * SLOT, 5 * SLOT);
	cr_assert_eq(reader_copy(reader, 10 * SLOT, buffer, 1), 0);
	reader_close(reader);
	fake_free(&fake);
}

/* It can be read again there: memory for it would only have to be zeroed. */
Test(reader_cache, what_the_page_cache_has_does_not_stay)
{
	static uint8_t bytes[16 * SLOT], buffer[SLOT];
	struct reader_options options = { .slot_len = SLOT,
		.slots = 2,
		.cache_len = 3 * SLOT,
		.method = READER_THREADS,
		.cache = READER_BUFFERED };
	struct reader *reader;
	struct image *image;

	e01_fill(bytes, sizeof(bytes), 5);
	temp_write("image.raw", bytes, sizeof(bytes));
	image = opened(temp_at("image.raw"));
	cr_assert_eq(reader_open(&reader, image, &options, NULL), 0);
	cr_assert(!reader_saves_reading(reader));
	take_and_release(reader, 8);
	/* 8 and 9 are being read. */
	cr_assert_eq(reader_copy(reader, 7 * SLOT, buffer, SLOT), 0);
	reader_close(reader);
	image_close(image);
}

Test(reader_cache, another_process_sees_what_was_read_and_can_write_nothing)
{
	static uint8_t buffer[8 * SLOT];
	struct reader_options options = { .slot_len = SLOT,
		.slots = 2,
		.cache_len = SLOT,
		.method = READER_THREADS,
		.shared = true };
	struct shared_ring *ring;
	struct reader *reader;
	struct fake fake;
	int fd;

	fake_init(&fake, 8 * SLOT);
	fake_break(&fake, 4 * SLOT, SECTOR);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, NULL), 0);
	fd = reader_descriptor(reader);
	cr_assert((ring = shared_ring_open(fd)));
	take_and_release(reader, 4);
	/* 3 was released last, 4, of which a part can't be read, and 5 are being read. */
	while (reader_copy(reader, 5 * SLOT, buffer, SLOT) < SLOT)
		;
	cr_assert_eq(shared_ring_copy(ring, 2 * SLOT, buffer, SLOT), 0);
	cr_assert_eq(shared_ring_copy(ring, 3 * SLOT + 1, buffer, 2 * SLOT), SLOT - 1);
	cr_assert_arr_eq(buffer, fake.bytes + 3 * SLOT + 1, SLOT - 1);
	cr_assert_eq(shared_ring_copy(ring, 5 * SLOT, buffer, 2 * SLOT), SLOT);
	cr_assert_arr_eq(buffer, fake.bytes + 5 * SLOT, SLOT);
	cr_assert_eq(mmap(NULL, SLOT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	cr_assert_eq(pwrite(fd, "x", 1, 0), -1);
	cr_assert_eq(ftruncate(fd, 0), -1);
	reader_close(reader);
	cr_assert_eq(shared_ring_copy(ring, 3 * SLOT, buffer, 1), 1); /* it lasts */
	shared_ring_free(ring);
	fake_free(&fake);
}

Test(reader_cache, without_warm_slots_what_is_read_ahead_is_lent)
{
	static uint8_t buffer[16 * SLOT];
	struct reader_options options = { .slot_len = SLOT, .slots = 3, .method = READER_THREADS };
	struct reader *reader;
	struct fake fake;

	fake_init(&fake, 16 * SLOT);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, NULL), 0);
	take_and_release(reader, 2);
	cr_assert_eq(reader_copy(reader, SLOT, buffer, SLOT), 0);
	cr_assert_eq(reader_copy(reader, 2 * SLOT, buffer, sizeof(buffer)), 3 * SLOT);
	cr_assert_arr_eq(buffer, fake.bytes + 2 * SLOT, 3 * SLOT);
	reader_close(reader);
	fake_free(&fake);
}

Test(reader_cache, what_can_not_be_read_is_left_to_the_image)
{
	static uint8_t buffer[4 * SLOT];
	struct reader_options options = { .slot_len = SLOT, .slots = 4, .method = READER_THREADS };
	struct reader *reader;
	struct fake fake;

	fake_init(&fake, 4 * SLOT);
	fake_break(&fake, SLOT + SECTOR, SECTOR);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, NULL), 0);
	for (int taken = 0; taken < 2; taken++) { /* before it is handed out, and after */
		cr_assert_eq(reader_copy(reader, SLOT, buffer, SECTOR), SECTOR);
		cr_assert_eq(reader_copy(reader, SLOT, buffer, SECTOR + 1), 0);
		cr_assert_eq(reader_copy(reader, SLOT + SECTOR, buffer, 1), 0);
		cr_assert_eq(reader_copy(reader, SLOT + 2 * SECTOR, buffer, 10), 10);
		cr_assert_eq(reader_copy(reader, 0, buffer, 2 * SLOT), SLOT);
		take_and_release(reader, 2);
	}
	image_set_cache(&fake.image, copy, reader);
	cr_assert_eq(image_read_around(&fake.image, 0, buffer, 4 * SLOT), SECTOR);
	cr_assert_arr_eq(buffer, fake.bytes, 4 * SLOT);
	cr_assert_eq(image_read_around(&fake.image, 3 * SLOT, buffer, 2 * SLOT), SLOT);
	reader_close(reader);
	fake_free(&fake);
}

/* ---- waiting for what is being read -------------------------------------------------------- */

struct waiting {
	struct reader *reader;
	uint8_t buffer[SLOT];
	_Atomic size_t got;
	atomic_bool done;
};

static void *wait_for_slot(void *arg)
{
	struct waiting *waiting = arg;

	waiting->got = reader_copy(waiting->reader, SLOT, waiting->buffer, SLOT);
	atomic_store(&waiting->done, true);
	return NULL;
}

Test(reader_cache, who_wants_what_is_being_read_waits_and_asks_nobody_else)
{
	struct reader_options options = { .slot_len = SLOT, .slots = 2, .method = READER_THREADS };
	struct waiting waiting = { .done = false };
	struct fake fake;
	pthread_t thread;

	fake_init(&fake, 4 * SLOT);
	fake.gate_from = SLOT;
	cr_assert_eq(reader_open(&waiting.reader, &fake.image, &options, NULL), 0);
	cr_assert_eq(pthread_create(&thread, NULL, wait_for_slot, &waiting), 0);
	usleep(30000);
	cr_assert_not(waiting.done);
	sem_post(&fake.gate);
	pthread_join(thread, NULL);
	cr_assert_eq(waiting.got, SLOT);
	cr_assert_arr_eq(waiting.buffer, fake.bytes + SLOT, SLOT);
	cr_assert_eq(fake.read_len, 2 * SLOT);
	reader_close(waiting.reader);
	fake_free(&fake);
}

/* ---- a part of the evidence ---------------------------------------------------------------- */

Test(reader_cache, places_of_the_evidence_are_found_in_a_part_of_it)
{
	struct ranges part = { 0 };
	struct image *image;
	struct fake fake;
	uint64_t offset, len;

	fake_init(&fake, 10000);
	ranges_add(&part, 1000, 500);
	ranges_add(&part, 3000, 7000);
	image = extent_image_open(&fake.image, NULL, &part);
	cr_assert_not(extent_image_find(image, 999, &offset, &len));
	cr_assert(extent_image_find(image, 1000, &offset, &len));
	cr_assert_eq(offset, 0);
	cr_assert_eq(len, 500);
	cr_assert(extent_image_find(image, 1499, &offset, &len));
	cr_assert_eq(offset, 499);
	cr_assert_eq(len, 1);
	cr_assert_not(extent_image_find(image, 1500, &offset, &len));
	cr_assert(extent_image_find(image, 9999, &offset, &len));
	cr_assert_eq(offset, 7499);
	cr_assert_eq(len, 1);
	cr_assert_not(extent_image_find(image, 10000, &offset, &len));
	cr_assert(extent_image_find(&fake.image, 3, &offset, &len));
	cr_assert_eq(offset, 3);
	cr_assert_eq(len, 9997);
	cr_assert_not(extent_image_find(&fake.image, 10000, &offset, &len));
	image_close(image);
	ranges_free(&part);
	fake_free(&fake);
}
