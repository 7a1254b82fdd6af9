/*
 * The gpu engine: chunks in, hits out.
 *
 * The caller's ring is registered with the driver, so that the device fetches the text from where
 * the reader put it: no second copy on the host. Where that is refused, or a chunk is elsewhere, it
 * goes through a pinned buffer of the slot. A chunk belongs to a slot (slot.cuh), and the slots are
 * used in turn: while chunk i is searched, i + 1 comes in and the hits of i - 1 go out, which is
 * strategy B of Zha and Sahni (IEEE Transactions on Computers 62(6), 2013) without its barriers. Their
 * strategy A keeps all segments on the device (transfer.cu); there is no use for that here. With
 * several devices the slots alternate between them; chunks come back in the order of submission.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/text_store.cuh"
#include "gpu/probe.cuh"
#include "gpu/slot.cuh"

extern "C" {
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "patterns/prefix.h"
}

#define STREAM_SLOTS \
	4 /* a device, unless there are to be many: one each way, one searched, one in the caller's \
	     hands */
#define RING_CHUNKS (2 * STREAM_SLOTS) /* as many again are being read... */
#define READ_CHUNKS 2 /* ...or, where several devices share the ring, at least these */
#define RING_CHUNK_LEN \
	((size_t)16 \
		<< 20) /* whole runs are 1.1 times as fast as with 32 MiB (tests/bench/RESULTS.md) */
/* A thread of the processors searches about two thirds of this until a GPU has started. */
#define LATE_LEN ((uint64_t)192 << 20)
#define KEY_CAPACITY (1u << 20)
/* Where coded data is decoded, a slot more keeps the text that was searched last until the one after it was:
 * photographs begin in the one and end in the other. */
#define KEPT_SLOTS 1

struct scan {
	const struct gpu_kernel *kernel; /* NULL when there are no patterns */
	struct gpu_program *program;
	const struct pattern_set *set; /* the caller's */
	struct prefix_set searched;    /* what the kernel searches for */
	struct gpu_device *devices;
	unsigned device_count;
	struct gpu_slot *slots; /* those of one device are device_count apart */
	unsigned slot_count;
	unsigned next, oldest; /* running numbers of chunks: slot number % slot_count */
	const uint8_t *ring;   /* registered memory, or NULL */
	size_t ring_len;
	size_t chunk_len;
	bool decodes;
	struct kept_text *kept_text; /* or NULL */
	double density;              /* hits a byte in the last chunk */
	bool warned;
	char description[512];
};

/* ---- opening ---- */

/* Registers the ring; if that fails, chunks go through the slots' own buffers, which costs speed and is
 * said in the log and, with the description, in the report. */
static void register_ring(struct scan *scan, const struct scan_options *options)
{
	if (!options->ring || !options->ring_len)
		return;
	cudaError_t error =
		cudaHostRegister(options->ring, options->ring_len, cudaHostRegisterPortable);
	if (error) {
		(void)cudaGetLastError();
		size_t used = strlen(scan->description);
		const char *why = cudaGetErrorString(error);
		log_warn("gpu: the driver cannot pin the reader's memory (%s): chunks are copied "
			 "once more, which takes longer",
			why);
		snprintf(scan->description + used, sizeof(scan->description) - used,
			"; memory not pinned (%s)", why);
		return;
	}
	scan->ring = (const uint8_t *)options->ring;
	scan->ring_len = options->ring_len;
}

/* Has the driver make the devices' contexts, a tenth of a second each: while this process makes tables of the patterns,
 * which takes as long. What goes wrong is found again by open_devices. */
static void *wake_devices(void *names)
{
	int ids[GPU_DEVICES_MAX];
	char reason[256];
	int count = gpu_devices(ids, (const char *)names, reason, sizeof(reason));
	for (int i = 0; i < count; i++)
		if (!cudaSetDevice(ids[i]))
			cudaFree(NULL);
	(void)cudaGetLastError();
	return NULL;
}

/* A device that has no memory for it still searches. */
static cudaError_t open_decoder(struct scan *scan, struct gpu_device *device)
{
	cudaError_t failed = photo_decoder_open(&device->photos, scan->chunk_len);
	if (failed != cudaErrorMemoryAllocation)
		return failed;
	(void)cudaGetLastError();
	scan->decodes = false;
	return cudaSuccess;
}

static int open_devices(struct scan *scan, const struct gpu_options *options,
	uint32_t pattern_count, struct error *error)
{
	int ids[GPU_DEVICES_MAX];
	char reason[256];
	int count = gpu_devices(ids, options->devices, reason, sizeof(reason));
	if (count < 0)
		return error_set(error, count == -EINVAL ? EXIT_USAGE : EXIT_NO_ENGINE, -count,
			"the gpu engine cannot be used: %s", reason);
	scan->devices = (struct gpu_device *)xcalloc(count, sizeof(*scan->devices));
	for (int i = 0; i < count; i++) {
		struct gpu_device *device = &scan->devices[i];
		device->id = ids[i];
		device->kept_text = scan->kept_text;
		scan->device_count++;
		cudaError_t failed = cudaSetDevice(device->id);
		if (!failed)
			failed = gpu_device_open(device,
				pattern_count > KEY_CAPACITY ? pattern_count : KEY_CAPACITY);
		if (!failed && scan->kernel)
			failed = scan->kernel->load(&device->tables, scan->program);
		if (!failed && scan->decodes)
			failed = open_decoder(scan, device);
		if (failed)
			return gpu_failed(error, failed, "loading the pattern tables");
	}
	return 0;
}

/* Opens the slots: if there are to be many, as many as memory allows; at least two a device. */
static int open_slots(struct scan *scan, const struct gpu_options *gpu,
	const struct scan_options *options, struct error *error)
{
	unsigned each = STREAM_SLOTS + (scan->decodes ? KEPT_SLOTS : 0);
	unsigned in_flight = options->chunks ? options->chunks : 1;
	bool many = gpu->transfer == GPU_TRANSFER_MANY;
	unsigned searched =
		many || in_flight <= 2 * READ_CHUNKS ? in_flight : in_flight - READ_CHUNKS;
	if (many || each * scan->device_count > searched)
		each = (searched + scan->device_count - 1) / scan->device_count;
	unsigned wanted = each * scan->device_count;
	scan->slots = (struct gpu_slot *)xcalloc(wanted, sizeof(*scan->slots));
	while (scan->slot_count < wanted) {
		struct gpu_slot *slot = &scan->slots[scan->slot_count];
		slot->device = &scan->devices[scan->slot_count % scan->device_count];
		slot->kernel = scan->kernel;
		slot->regexes = scan->searched.any_regex ? scan->set : NULL;
		slot->longest = scan->set->count ? scan->searched.set.longest : 1;
		slot->text_capacity = options->chunk_len;
		cudaError_t failed = cudaSetDevice(slot->device->id);
		if (!failed)
			failed = gpu_slot_open(slot, !scan->ring, scan->decodes);
		if (failed) {
			gpu_slot_close(slot);
			if (failed != cudaErrorMemoryAllocation ||
				scan->slot_count < 2 * scan->device_count)
				return gpu_failed(error, failed, "taking memory for the chunks");
			(void)cudaGetLastError();
			scan->slot_count -= scan->slot_count % scan->device_count;
			break;
		}
		scan->slot_count++;
	}
	return 0;
}

static void gpu_close(struct scan *scan)
{
	if (!scan)
		return;
	for (unsigned i = 0; i < scan->slot_count; i++) {
		cudaSetDevice(scan->slots[i].device->id);
		gpu_slot_close(&scan->slots[i]);
	}
	for (unsigned i = 0; i < scan->device_count; i++) {
		cudaSetDevice(scan->devices[i].id);
		if (scan->kernel)
			scan->kernel->unload(scan->devices[i].tables);
		photo_decoder_close(scan->devices[i].photos);
		gpu_device_close(&scan->devices[i]);
	}
	if (scan->ring)
		cudaHostUnregister((void *)scan->ring);
	if (scan->kernel)
		scan->kernel->free(scan->program);
	prefix_set_free(&scan->searched, scan->set);
	(void)cudaGetLastError();
	free(scan->slots);
	free(scan->devices);
	free(scan);
}

static int gpu_open(struct scan **result, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	static const struct gpu_options defaults = { NULL, GPU_TRANSFER_AUTO, {} };
	const struct gpu_options *gpu = options->gpu ? options->gpu : &defaults;
	if (options->chunk_len >= UINT32_MAX - 2 * GPU_TEXT_PAD)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the gpu engine takes chunks of less than 4 GiB; use a smaller "
			"--chunk-size");
	struct scan *scan = (struct scan *)xcalloc(1, sizeof(*scan));
	scan->set = set;
	scan->chunk_len = options->chunk_len;
	scan->decodes = options->decodes;
	scan->kept_text = options->kept_text;
	pthread_t waker;
	bool waking = !thread_start(&waker, wake_devices, (void *)gpu->devices);
	int status = prefix_set_make(&scan->searched, set, error);
	snprintf(scan->description, sizeof(scan->description), "nothing to search for");
	if (!status && set->count)
		status = gpu_kernel_pick(&scan->kernel, &scan->program, options->kernel,
			&scan->searched.set, &gpu->tuning, scan->description,
			sizeof(scan->description), error);
	if (waking)
		pthread_join(waker, NULL);
	if (!status)
		status = open_devices(scan, gpu, set->count, error);
	if (!status) {
		register_ring(scan, options);
		status = open_slots(scan, gpu, options, error);
	}
	if (status) {
		gpu_close(scan);
		return status;
	}
	*result = scan;
	return 0;
}

/* ---- working ---- */

static bool is_pinned(const struct scan *scan, const struct chunk *chunk)
{
	return scan->ring && chunk->data >= scan->ring &&
	       chunk->data + chunk->len + chunk->tail_len <= scan->ring + scan->ring_len;
}

/* Of the chunk that was reaped last. */
static const struct gpu_slot *last_slot(const struct scan *scan)
{
	return &scan->slots[(scan->oldest - 1) % scan->slot_count];
}

static int gpu_submit(struct scan *scan, struct chunk *chunk)
{
	struct gpu_slot *slot = &scan->slots[scan->next % scan->slot_count];
	if (slot->chunk || (scan->decodes && scan->next - scan->oldest == scan->slot_count - 1))
		return -EAGAIN;
	bool pinned = is_pinned(scan, chunk);
	if (chunk->len + chunk->tail_len > scan->chunk_len || (!pinned && !slot->bounce))
		return -EINVAL;
	slot->error = cudaSetDevice(slot->device->id);
	if (!slot->error && scan->decodes)
		slot->error = photo_hold_back(slot->device->photos, slot->stream);
	gpu_slot_start(slot, chunk, pinned, scan->density);
	scan->next++;
	return 0;
}

static int gpu_reap(struct scan *scan, struct chunk **chunk)
{
	if (scan->oldest == scan->next)
		return -EAGAIN;
	struct gpu_slot *slot = &scan->slots[scan->oldest++ % scan->slot_count];
	assert(slot->chunk); /* submit took it, and only this gives it back */
	*chunk = slot->chunk;
	cudaSetDevice(slot->device->id);
	scan->density = gpu_slot_finish(slot, is_pinned(scan, *chunk));
	if ((*chunk)->status && scan->kept_text)
		kept_text_forget(scan->kept_text);
	if ((*chunk)->status && !scan->warned) {
		scan->warned = true;
		log_warn("GPU %d failed at offset %llu of the image: %s", slot->device->id,
			(unsigned long long)(*chunk)->offset, cudaGetErrorString(slot->error));
	}
	return 0;
}

/* The text of the chunk that was reaped last, and the one before it if it is on the same device. */
static unsigned kept_texts(const struct scan *scan, struct photo_text texts[2])
{
	unsigned count = 0;
	for (unsigned back = 2; back > 0; back--) {
		const struct gpu_slot *slot =
			&scan->slots[(scan->oldest - back) % scan->slot_count];
		if (scan->oldest < back || !slot->kept.len ||
			slot->device->id != last_slot(scan)->device->id)
			continue;
		if (count && texts[0].offset + texts[0].len != slot->kept.offset)
			count = 0;
		texts[count++] = slot->kept;
	}
	return count;
}

static struct coded_batch *gpu_decode_begin(
	struct scan *scan, struct coded_scan *scans, size_t count)
{
	struct photo_text texts[2];
	struct gpu_device *device = last_slot(scan)->device;
	for (size_t i = 0; i < count; i++)
		scans[i].end = 0, scans[i].cut = false;
	if (!scan->decodes || !scan->oldest || cudaSetDevice(device->id))
		return NULL;
	unsigned text_count = kept_texts(scan, texts);
	return photo_begin(device->photos, texts, text_count, scans, count);
}

static void gpu_decode_end(struct scan *scan, struct coded_batch *batch)
{
	(void)scan;
	photo_end(batch);
}

/* Where there may be a driver: it takes a quarter of a second to start, even to be asked for its version, and tables and
 * contexts take as long. */
static bool gpu_starts_late(void)
{
	return !access("/dev/nvidiactl", F_OK) || !access("/dev/dxg", F_OK);
}

static const char *gpu_kernel_name(const struct scan *scan)
{
	return scan->description;
}

extern "C" const struct scan_engine gpu_engine = {
	"gpu",
	"CUDA, on NVIDIA GPUs",
	gpu_probe,
	gpu_open,
	gpu_submit,
	gpu_reap,
	gpu_close,
	gpu_kernel_name,
	gpu_decode_begin,
	gpu_decode_end,
	RING_CHUNKS,
	RING_CHUNK_LEN,
	false,
	gpu_starts_late,
	LATE_LEN,
};
