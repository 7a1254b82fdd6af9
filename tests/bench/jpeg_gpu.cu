/*
 * A probe: how fast a GPU decodes the Huffman codes of whole photographs, many at a time, in parallel within
 * each scan: not for users, and nothing depends on it. After `make CUDA=1`:
 *
 *     nvcc -std=c++17 -O3 -arch=sm_90 -Isrc -I. -Xcompiler -fPIE -c -o jpeg_gpu.o tests/bench/jpeg_gpu.cu
 *     g++ -o jpeg_gpu jpeg_gpu.o build/obj/libburin.a -lcudart_static LIBRARIES       (those that make V=1 names)
 *     jpeg_gpu TIMES FILE...
 *
 * A scan without its stuffing is cut into subsequences of SUB_BITS bits, one a thread. Each is decoded from its
 * first bit as if a block of the first component began there. Codes synchronise themselves: soon after a wrong
 * start most symbols are the right ones, and what is left wrong is corrected by decoding a subsequence again
 * from where the one before really ended, until nothing changes. Each thread keeps the number of blocks, and the
 * sum, least and greatest value of the predictions of each component: with them a pass over the subsequences
 * decides whether all of the scan is valid, as the carver does, without decoding it once more.
 *
 * Not counted: removing the stuffing, and the segments before the scan. So what it shows is an upper bound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>

#include "carvers/coded.h"

extern "C" {
#include "base/clock.h"
#include "carve/view.h"
}

#define SUB_BITS 1024u
#define THREADS 128
#define ROUNDS_MAX 200
#define BOTH static __host__ __device__

struct photo {
	uint32_t description;
	uint32_t first, count; /* subsequences */
	uint64_t start;        /* of its bits, in all bytes: a multiple of 4 */
	uint64_t bits;
};

/* Where a subsequence ends. */
struct place {
	uint32_t over;  /* bits past its end */
	uint16_t block; /* of the MCU */
	uint16_t k;     /* coefficient; 0: a block begins */
};

/* What it has. */
struct part {
	uint32_t blocks;
	int32_t sum[3], least[3], most[3];
	uint32_t bad;
};

BOTH uint32_t word_at(const uint8_t *bytes, uint64_t word)
{
#ifdef __CUDA_ARCH__
	return __byte_perm(((const uint32_t *)bytes)[word], 0, 0x0123);
#else
	return be32(bytes + word * 4);
#endif
}

struct reader {
	uint64_t held;
	int32_t count;
	uint64_t next; /* word */
};

BOTH void refill(struct reader *r, const uint8_t *bytes)
{
	if (r->count < 32) {
		r->held |= (uint64_t)word_at(bytes, r->next++) << (32 - r->count);
		r->count += 32;
	}
}

BOTH void skip(struct reader *r, uint32_t bits)
{
	r->held <<= bits;
	r->count -= (int32_t)bits;
}

BOTH int take(const struct coded_table *table, struct reader *r)
{
	uint32_t entry = table->fast[r->held >> (64 - CODED_BITS)], code;
	if (entry) {
		skip(r, entry >> 8);
		return (int)(entry & 0xff);
	}
	code = (uint32_t)(r->held >> 48);
	for (uint32_t bits = CODED_BITS + 1; bits <= 16; bits++)
		if (code < table->limit[bits]) {
			skip(r, bits);
			return table->values[(table->first[bits] + (int32_t)(code >> (16 - bits))) &
					     0xff];
		}
	skip(r, 1); /* anything, to go on */
	return -1;
}

/* Decodes a subsequence from where the one before ended. */
BOTH void decode_part(const struct carve_coded *coded, const uint8_t *bytes, uint64_t from_bit,
	uint64_t to_bit, uint32_t block, uint32_t k, struct place *place, struct part *part)
{
	struct reader r = { 0, 0, from_bit / 32 };
	uint64_t at = from_bit;
	int32_t sum[3] = { 0, 0, 0 }, least[3] = { 0, 0, 0 }, most[3] = { 0, 0, 0 };
	uint32_t blocks = 0, bad = 0;
	refill(&r, bytes);
	skip(&r, from_bit % 32);
	refill(&r, bytes);
	while (at < to_bit) {
		const struct coded_block *now = &coded->blocks[block];
		int32_t before = r.count + 0;
		int code = take(&coded->tables[k ? now->ac : now->dc], &r);
		if (k == 0) {
			uint32_t size = (uint32_t)code & 15;
			bad |= code < 0 || code > 15;
			if (size) {
				int32_t value = (int32_t)(r.held >> (64 - size));
				int c = now->component;
				skip(&r, size);
				value = value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
#pragma unroll
				for (int i = 0; i < 3; i++)
					if (i == c) {
						sum[i] += value;
						least[i] = min(least[i], sum[i]);
						most[i] = max(most[i], sum[i]);
					}
			}
			k = 1;
		} else if (code == 0) {
			k = 64;
		} else {
			bad |= code < 0 || ((code & 15) == 0 && code != 0xf0);
			skip(&r, (uint32_t)code & 15);
			k += ((uint32_t)code >> 4 & 15) + 1;
			bad |= k > 64;
		}
		at += (uint64_t)(before - r.count);
		refill(&r, bytes);
		if (k >= 64) {
			k = 0;
			blocks++;
			if (++block == coded->block_count)
				block = 0;
		}
	}
	place->over = (uint32_t)(at - to_bit);
	place->block = (uint16_t)block;
	place->k = (uint16_t)k;
	part->blocks = blocks;
	part->bad = bad;
	for (int i = 0; i < 3; i++) {
		part->sum[i] = sum[i];
		part->least[i] = least[i];
		part->most[i] = most[i];
	}
}

/* Decodes subsequence `index` of a photo. Whether it ends elsewhere than before. */
BOTH bool decode_one(const struct photo *photo, const struct carve_coded *coded,
	const uint8_t *bytes, uint32_t index, const struct place *before, struct place *place,
	struct part *part)
{
	uint64_t from = (uint64_t)index * SUB_BITS, to = from + SUB_BITS;
	struct place old = *place;
	to = to < photo->bits ? to : photo->bits;
	from += before ? before->over : 0;
	decode_part(coded, bytes + photo->start, from, to, before ? before->block : 0,
		before ? before->k : 0, place, part);
	return place->over != old.over || place->block != old.block || place->k != old.k;
}

__global__ void __launch_bounds__(THREADS) first_kernel(const struct photo *photos,
	const uint32_t *photo_of, uint32_t count, const struct carve_coded *coded,
	const uint8_t *bytes, struct place *places, struct part *parts, uint8_t *changed)
{
	uint32_t i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= count)
		return;
	const struct photo *photo = &photos[photo_of[i]];
	decode_one(photo, &coded[photo->description], bytes, i - photo->first, NULL, &places[i],
		&parts[i]);
	changed[i] = 1;
}

/* Places are read from the round before, and written for this one. */
__global__ void __launch_bounds__(THREADS) round_kernel(const struct photo *photos,
	const uint32_t *photo_of, uint32_t count, const struct carve_coded *coded,
	const uint8_t *bytes, const struct place *old, struct place *places, struct part *parts,
	const uint8_t *was, uint8_t *changed, uint32_t *any)
{
	uint32_t i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= count)
		return;
	struct place place = old[i];
	bool change = false;
	if (i && was[i - 1]) {
		const struct photo *photo = &photos[photo_of[i]];
		if (i > photo->first)
			change = decode_one(photo, &coded[photo->description], bytes,
				i - photo->first, &old[i - 1], &place, &parts[i]);
	}
	places[i] = place;
	changed[i] = change;
	if (change)
		*any = 1;
}

/* Whether a photo's scan is valid: as many blocks as it must have, and predictions in bounds. */
BOTH bool judge(
	const struct photo *photo, const struct carve_coded *coded, const struct part *parts)
{
	int64_t dc[3] = { 0, 0, 0 };
	uint64_t blocks = 0;
	bool good = true;
	for (uint32_t i = photo->first; i < photo->first + photo->count; i++) {
		const struct part *part = &parts[i];
		/* Bits that fill the last byte may look like anything. */
		bool is_last = i + 1 == photo->first + photo->count;
		good &= !part->bad || is_last;
		blocks += part->blocks;
		for (int c = 0; c < 3; c++) {
			good &= dc[c] + part->least[c] >= -(int64_t)coded->bound[c] || is_last;
			good &= dc[c] + part->most[c] <= (int64_t)coded->bound[c] || is_last;
			dc[c] += part->sum[c];
		}
	}
	return good && blocks >= coded->mcus * coded->block_count;
}

__global__ void judge_kernel(const struct photo *photos, uint32_t count,
	const struct carve_coded *coded, const struct part *parts, uint8_t *good)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		good[i] = judge(&photos[i], &coded[photos[i].description], parts);
}

/* ---- the host ---- */

static void check(cudaError_t failed)
{
	if (failed) {
		printf("CUDA: %s\n", cudaGetErrorString(failed));
		exit(1);
	}
}

struct all {
	struct photo *photos;
	struct carve_coded *coded;
	uint32_t *photo_of;
	uint8_t *bytes;
	uint64_t len, raw_len;
	uint32_t photo_count, parts;
};

/* Adds a file's scan, as often as asked. */
static void add(struct all *all, const char *path, uint32_t times)
{
	static uint8_t file[1 << 24];
	FILE *in = fopen(path, "rb");
	size_t len = in ? fread(file, 1, sizeof(file), in) : 0, at = 2;
	if (in)
		fclose(in);
	while (at + 4 < len && file[at] == 0xff && file[at + 1] != 0xda)
		at += 2 + be16(file + at + 2);
	if (at + 4 >= len)
		return;
	at += 2 + be16(file + at + 2);
	struct carve_coded *coded = &all->coded[all->photo_count];
	struct view *view = view_new_memory(file, at);
	bool described = carver_find("jpeg")->coded(view, NULL, coded);
	view_free(view);
	if (!described || coded->interval)
		return;
	for (uint32_t n = 0; n < times; n++) {
		uint64_t start = all->len;
		size_t i = at;
		for (; i < len; i++) {
			if (file[i] == 0xff && file[i + 1] != 0)
				break;
			all->bytes[all->len++] = file[i];
			i += file[i] == 0xff;
		}
		all->raw_len += i - at;
		struct photo *photo = &all->photos[all->photo_count];
		all->coded[all->photo_count] = *coded;
		*photo = { all->photo_count, all->parts, 0, start, (all->len - start) * 8 };
		photo->count = (uint32_t)((photo->bits + SUB_BITS - 1) / SUB_BITS);
		for (uint32_t p = 0; p < photo->count; p++)
			all->photo_of[all->parts++] = all->photo_count;
		all->photo_count++;
		all->len = (all->len + 3 + 64) & ~3ull;
	}
}

static void run_host(const struct all *all)
{
	struct part *parts = (struct part *)calloc(all->parts, sizeof(*parts));
	struct place *places = (struct place *)calloc(all->parts, sizeof(*places));
	uint32_t good = 0, again = 0;
	for (uint32_t p = 0; p < all->photo_count; p++) {
		const struct photo *photo = &all->photos[p];
		for (uint32_t i = 0; i < photo->count; i++)
			decode_one(photo, &all->coded[p], all->bytes, i, NULL,
				&places[photo->first + i], &parts[photo->first + i]);
		for (uint32_t i = 1; i < photo->count; i++)
			again += decode_one(photo, &all->coded[p], all->bytes, i,
				&places[photo->first + i - 1], &places[photo->first + i],
				&parts[photo->first + i]);
		good += judge(photo, &all->coded[p], parts);
	}
	printf("host: %u of %u photographs are valid; %u of %u subsequences ended elsewhere at "
	       "first\n",
		good, all->photo_count, again, all->parts);
	free(places);
	free(parts);
}

template <typename T> static T *on_device(const T *from, size_t count)
{
	T *copy;
	check(cudaMalloc((void **)&copy, count * sizeof(T)));
	if (from)
		check(cudaMemcpy(copy, from, count * sizeof(T), cudaMemcpyHostToDevice));
	return copy;
}

static void run_device(const struct all *all)
{
	struct photo *photos = on_device(all->photos, all->photo_count);
	struct carve_coded *coded = on_device(all->coded, all->photo_count);
	uint32_t *photo_of = on_device(all->photo_of, all->parts);
	uint8_t *bytes = on_device((uint8_t *)NULL, all->len + 4096);
	struct place *places[2] = { on_device((struct place *)NULL, all->parts),
		on_device((struct place *)NULL, all->parts) };
	struct part *parts = on_device((struct part *)NULL, all->parts);
	uint8_t *changed[2] = { on_device((uint8_t *)NULL, all->parts),
		on_device((uint8_t *)NULL, all->parts) };
	uint32_t *any = on_device((uint32_t *)NULL, 1), still;
	uint8_t *good = on_device((uint8_t *)NULL, all->photo_count), *pinned, *answers;
	check(cudaMallocHost((void **)&pinned, all->len + 4096));
	memcpy(pinned, all->bytes, all->len + 4096);
	answers = (uint8_t *)calloc(all->photo_count, 1);
	uint32_t blocks = (all->parts + THREADS - 1) / THREADS;
	for (int repeat = 0; repeat < 4; repeat++) {
		double start = clock_seconds(), copied, decoded;
		check(cudaMemcpy(bytes, pinned, all->len + 4096, cudaMemcpyHostToDevice));
		copied = clock_seconds();
		first_kernel<<<blocks, THREADS>>>(
			photos, photo_of, all->parts, coded, bytes, places[0], parts, changed[0]);
		check(cudaDeviceSynchronize());
		double first = clock_seconds();
		int round = 0;
		for (still = 1; still && round < ROUNDS_MAX; round++) {
			check(cudaMemsetAsync(any, 0, sizeof(*any)));
			round_kernel<<<blocks, THREADS>>>(photos, photo_of, all->parts, coded,
				bytes, places[round % 2], places[1 - round % 2], parts,
				changed[round % 2], changed[1 - round % 2], any);
			check(cudaMemcpy(&still, any, sizeof(still), cudaMemcpyDeviceToHost));
		}
		judge_kernel<<<(all->photo_count + 31) / 32, 32>>>(
			photos, all->photo_count, coded, parts, good);
		check(cudaMemcpy(answers, good, all->photo_count, cudaMemcpyDeviceToHost));
		decoded = clock_seconds();
		uint32_t valid = 0;
		for (uint32_t i = 0; i < all->photo_count; i++)
			valid += answers[i];
		printf("gpu: %u of %u valid; copy %.2f ms (%.1f GB/s), first pass %.2f ms (%.1f "
		       "GB/s), %d rounds and judging %.2f ms; decoding %.2f GB/s, with the copy "
		       "%.2f GB/s\n",
			valid, all->photo_count, (copied - start) * 1e3,
			(double)all->raw_len / (copied - start) / 1e9, (first - copied) * 1e3,
			(double)all->raw_len / (first - copied) / 1e9, round,
			(decoded - first) * 1e3, (double)all->raw_len / (decoded - copied) / 1e9,
			(double)all->raw_len / (decoded - start) / 1e9);
	}
}

/* jpeg_gpu TIMES FILE...: each photograph TIMES times. */
int main(int argc, char **argv)
{
	uint32_t times = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	size_t photos = (size_t)argc * times, room = photos * 400000 + (1 << 24);
	struct all all = { (struct photo *)calloc(photos, sizeof(struct photo)),
		(struct carve_coded *)calloc(photos, sizeof(struct carve_coded)),
		(uint32_t *)calloc(room / (SUB_BITS / 8), sizeof(uint32_t)),
		(uint8_t *)calloc(room, 1) };
	int devices = 0;
	for (int i = 2; i < argc; i++)
		add(&all, argv[i], times);
	printf("%u photographs, %.1f MB of coded data, %u subsequences of %u bits\n",
		all.photo_count, (double)all.raw_len / 1e6, all.parts, SUB_BITS);
	if (times == 1)
		run_host(&all);
	if (!cudaGetDeviceCount(&devices) && devices)
		run_device(&all);
	return 0;
}
