#include "assemble/pass_work.h"

/* Units of work a pass: FIRST_FACTOR for each byte of the image up to WORK_BASE, and BASE_FACTOR for each up to
 * WORK_BASE_MAX together, then WORK_FACTOR for each byte; and at most for one file. WORK_FILE_MIN: at least for one
 * file, as long as all files together take no more than FILES_FACTOR for each byte, nor WORK_BASE_MAX. */
#define WORK_BASE ((uint64_t)1 << 33)
#define FIRST_FACTOR 2048
#define BASE_FACTOR 5120
#define WORK_BASE_MAX ((uint64_t)3 << 34)
#define WORK_FACTOR 64
#define WORK_FILE_MAX ((uint64_t)1 << 32)
#define WORK_FILE_MIN ((uint64_t)1 << 22)
#define FILES_FACTOR 256

/* size * factor, at most `most`. */
static uint64_t up_to(uint64_t most, uint64_t size, uint64_t factor)
{
	return size < most / factor ? size * factor : most;
}

uint64_t pass_work_most(uint64_t size)
{
	uint64_t base = up_to(WORK_BASE, size, FIRST_FACTOR) +
			up_to(WORK_BASE_MAX - WORK_BASE, size, BASE_FACTOR);

	return base + up_to(UINT64_MAX - WORK_BASE_MAX, size, WORK_FACTOR);
}

uint64_t pass_work(uint64_t size, uint64_t files, unsigned share)
{
	uint64_t most = WORK_FILE_MAX, work;
	uint64_t least = up_to(WORK_BASE_MAX, size, FILES_FACTOR) / files;

	if (least > WORK_FILE_MIN)
		least = WORK_FILE_MIN;
	work = pass_work_most(size) / files / 100 * share;
	if (work > most)
		return most;
	return work < least ? least : work;
}
