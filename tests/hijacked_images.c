/*
 * A burin-evidence that an image in blocks, an E01 that only libewf reads, or a member of an array has taken over: it does
 * what the file's name says, up to its first dot, or the member's first line, and apart from that what the real one does. It crashes, hangs or breaks the
 * protocol where the byte FAULT_AT is read or looked up, or lies about where bytes are and how many there are. For
 * tests/cli/hijacked_images.sh.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#define served_blocks real_blocks
#define served_ewf real_ewf
#define served_md real_md
#include "confined/block_container.c"
#include "confined/ewf_library.c"
#include "confined/md_member.c"
#undef served_blocks
#undef served_ewf
#undef served_md

#define FAULT_AT 524288
/* Not a multiple of any entry's length. */
#define ODD_LEN 17

static char order[64];

/* As served_work.c has it mapped, too. */
static struct served_shared *shared(void)
{
	static struct served_shared *mapped;

	if (!mapped)
		mapped = mmap(NULL, sizeof(*mapped), PROT_READ | PROT_WRITE, MAP_SHARED,
			SANDBOX_SHARED_FD, 0);
	return mapped;
}

static bool told(const char *what)
{
	return !strcmp(order, what);
}

static void take_order(const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(order, sizeof(order), "%s", slash ? slash + 1 : path);
	order[strcspn(order, ".")] = 0;
}

static void lift_limits(void)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_CPU, &none);
	signal(SIGALRM, SIG_IGN);
}

static void say(uint32_t kind)
{
	const struct served_message message = { .kind = kind, .len = 4096 };

	sandbox_send(SANDBOX_FD, &message, sizeof(message));
	for (;;)
		pause();
}

static void eat(void)
{
	while (malloc(1 << 20))
		;
	abort();
}

/* In the middle of reading. */
static void obey(void)
{
	volatile uint8_t *nowhere = NULL;

	lift_limits();
	if (told("crash"))
		*nowhere = 0;
	else if (told("leave"))
		_exit(0);
	else if (told("eat"))
		eat();
	else if (told("babble"))
		say(99);
	else if (told("want")) /* nothing is around this image */
		say(SERVED_WANT);
	else if (told("sleep"))
		for (;;)
			usleep(100000);
	else if (told("hang"))
		for (;;)
			;
}

static bool has_fault(uint64_t offset, uint64_t len)
{
	return offset <= FAULT_AT && FAULT_AT - offset < len;
}

/* ---- images in blocks ---------------------------------------------------------------------- */

static void lie_about(struct block_about *about)
{
	if (told("nothing"))
		shared()->size = 0;
	else if (told("everything"))
		shared()->size = UINT64_MAX;
	else if (told("shorter"))
		shared()->size = FAULT_AT;
	else if (told("unit_zero"))
		about->unit_len = 0;
	else if (told("unit_one"))
		about->unit_len = 1;
	else if (told("unit_all"))
		about->unit_len = UINT64_MAX;
	else if (told("text"))
		memset(about->damage, 0x1b, 8);
	else if (told("parent_name"))
		memset(about->name, '\n', 8);
	else if (told("parent_out"))
		strcpy(about->name, "../other");
	if (told("parent_name") || told("parent_out"))
		about->parent = BLOCK_PARENT_NAME;
	if (told("parent_odd"))
		about->parent = 77;
}

static void *hijacked_open(struct served *served, void *arg)
{
	const struct block_job *job = arg;
	void *handle = open_file(served, arg);
	struct block_about about;

	take_order(job->path);
	if (told("crash_opening"))
		abort();
	if (!handle)
		return NULL;
	memcpy(&about, shared()->data, sizeof(about));
	lie_about(&about);
	served_answer_open(served, &about, sizeof(about));
	return handle;
}

static int hijacked_read(void *handle, uint64_t offset, void *buffer, size_t len)
{
	if (!has_fault(offset, len))
		return read_file(handle, offset, buffer, len);
	obey();
	if (told("status"))
		return 12345;
	return read_file(handle, offset, buffer, len);
}

/* Of the first extent, which is where the process fails. Returns how many bytes it answers. */
static size_t lie(struct block_extent *extent, size_t len)
{
	if (told("list_gap"))
		extent->offset += 4096;
	else if (told("list_past"))
		extent->len = UINT64_MAX;
	else if (told("list_empty"))
		extent->len = 0;
	else if (told("list_kind"))
		extent->kind = 77;
	else if (told("list_at"))
		*extent =
			(struct block_extent){ extent->offset, 4096, UINT64_MAX, BLOCK_STORED, 0 };
	else if (told("list_elsewhere")) /* after the end of the file */
		*extent = (struct block_extent){ extent->offset, 4096, INT64_MAX, BLOCK_STORED, 0 };
	else if (told("list_fault"))
		*extent = (struct block_extent){ extent->offset, 4096, 0, BLOCK_LOST, 9999 };
	else if (told("list_parent")) /* of which there is none */
		*extent = (struct block_extent){ extent->offset, 4096, 0, BLOCK_PARENT, 0 };
	else if (told("list_long"))
		return SIZE_MAX;
	else if (told("list_odd"))
		return ODD_LEN;
	else if (told("list_none"))
		return 0;
	else
		return len;
	return sizeof(*extent);
}

/* One that crashes does so in any list that has the byte, as it would for an entry of the table. */
static size_t hijacked_list(void *handle, uint64_t offset, uint64_t effort, void *buffer)
{
	size_t len = list_file(handle, offset, effort, buffer);
	struct block_extent *extents = buffer;

	for (size_t i = 0; i < len / sizeof(*extents); i++) {
		if (!has_fault(extents[i].offset, extents[i].len))
			continue;
		if (told("list_crash"))
			abort();
		if (offset == FAULT_AT)
			return lie(extents, len);
		extents[i].len = FAULT_AT - extents[i].offset;
		return extents[i].len ? (i + 1) * sizeof(*extents) : i * sizeof(*extents);
	}
	return len;
}

const struct served_kind served_blocks = {
	.name = "blocks",
	.memory = (uint64_t)1 << 29,
	.folder = file_path,
	.open = hijacked_open,
	.read_at = hijacked_read,
	.list_at = hijacked_list,
};

/* ---- E01 ----------------------------------------------------------------------------------- */

static void lie_about_set(struct served *served)
{
	if (told("nothing"))
		shared()->size = 0;
	else if (told("everything"))
		shared()->size = UINT64_MAX;
	else if (told("sector"))
		shared()->sector_size = UINT32_MAX;
	else if (told("chunk"))
		served_name(served, EWF_CHUNK_LEN " 1");
	else if (told("words"))
		memset(shared()->names, 'v', SERVED_NAMES_LEN);
}

static void *hijacked_open_set(struct served *served, void *arg)
{
	const struct ewf_job *job = arg;
	void *handle;

	if (job->path_count)
		take_order(job->bytes);
	handle = open_set(served, arg);
	if (told("crash_opening"))
		abort();
	if (handle)
		lie_about_set(served);
	return handle;
}

static int hijacked_read_set(void *handle, uint64_t offset, void *buffer, size_t len)
{
	if (has_fault(offset, len))
		obey();
	return read_set(handle, offset, buffer, len);
}

const struct served_kind served_ewf = {
	.name = "ewf",
	.memory = (uint64_t)1 << 29,
	.confines_itself = true,
	.open = hijacked_open_set,
	.read_at = hijacked_read_set,
	.list = list_descriptions,
};

/* ---- members of arrays --------------------------------------------------------------------- */

static void lie_about_member(struct md_superblock *superblock)
{
	if (told("no_disks"))
		superblock->disks = 0;
	else if (told("disks"))
		superblock->disks = UINT32_MAX;
	else if (told("role"))
		superblock->role = superblock->disks;
	else if (told("level"))
		superblock->level = 77;
	else if (told("layout"))
		superblock->layout = UINT32_MAX;
	else if (told("no_chunk"))
		superblock->chunk_len = 0;
	else if (told("chunk"))
		superblock->chunk_len = UINT64_MAX;
	else if (told("data_at"))
		superblock->data_at = UINT64_MAX;
	else if (told("data_len"))
		superblock->data_len = UINT64_MAX;
	else if (told("no_data"))
		superblock->data_len = 0;
	else if (told("longer")) /* than the member */
		superblock->data_len *= 4;
	else if (told("array"))
		memset(superblock->array, 0xff, sizeof(superblock->array));
	else if (told("short"))
		shared()->size = ODD_LEN;
	else if (told("huge"))
		shared()->size = INT64_MAX;
}

static void *hijacked_open_member(struct served *served, void *arg)
{
	void *member = open_member(served, arg);

	served_outer_read(served, 0, order, sizeof(order) - 1);
	order[strcspn(order, "\n")] = 0;
	if (told("crash"))
		abort();
	if (member)
		lie_about_member(member);
	return member;
}

const struct served_kind served_md = {
	.name = "md",
	.memory = (uint64_t)1 << 28,
	.open = hijacked_open_member,
	.read_at = served_read_memory,
};
