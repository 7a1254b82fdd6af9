#include "evidence/signatures.h"

#include <string.h>

struct signature {
	const char *name;
	size_t offset;
	const char *magic;
	size_t magic_len;
	bool encrypted;
};

#define CORE_STORAGE_AT 88
/* For random bytes chi-squared has a mean of 255 and a standard deviation of 23. */
#define RANDOM_MIN 150
#define RANDOM_MAX 370
#define RANDOM_LEN 16384 /* fewer bytes prove nothing */

#define MAGIC(text) text, sizeof(text) - 1

static const struct signature signatures[] = {
	{ "LUKS", 0, MAGIC("LUKS\xba\xbe"), true },
	{ "BitLocker", 3, MAGIC("-FVE-FS-"), true },
	/* BitLocker To Go looks like FAT; its identifier comes later. */
	{ "BitLocker To Go", 424,
		MAGIC("\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01"), true },
	{ "CoreStorage (FileVault 2)", CORE_STORAGE_AT, MAGIC("CS"), true },
	{ "APFS container", 32, MAGIC("NXSB"), false },
	{ "XFS", 0, MAGIC("XFSB"), false },
	{ "Btrfs", 65600, MAGIC("_BHRfS_M"), false },
	{ "ReFS", 3, MAGIC("ReFS\0\0\0\0"), false },
	{ "F2FS", 1024, MAGIC("\x10\x20\xf5\xf2"), false },
	{ "LVM2", 536, MAGIC("LVM2 001"), false },
	{ "LVM2", 24, MAGIC("LVM2 001"), false },
	{ "Linux RAID", 0, MAGIC("\xfc\x4e\x2b\xa9"), false },
	{ "Linux RAID", 4096, MAGIC("\xfc\x4e\x2b\xa9"), false },
	{ "Linux swap space", 4086, MAGIC("SWAPSPACE2"), false },
	{ "SquashFS", 0, MAGIC("hsqs"), false },
	{ "EROFS", 1024, MAGIC("\xe2\xe1\xf5\xe0"), false },
	{ "ReiserFS", 65588, MAGIC("ReIsEr"), false },
	{ "JFS", 32768, MAGIC("JFS1"), false },
	{ "bcachefs", 4120, MAGIC("\xc6\x85\x73\xf6\x4e\x1a\x45\xca"), false },
	{ "UDF", 32769, MAGIC("BEA01"), false },
};

/* Two letters prove nothing: the header's version and the type of its block must match too. */
static bool is_core_storage(const uint8_t *bytes)
{
	return !memcmp(bytes + 8, "\x01\x00\x10\x00", 4);
}

const char *signatures_find(const uint8_t *bytes, size_t len, bool *encrypted)
{
	for (size_t i = 0; i < sizeof(signatures) / sizeof(*signatures); i++) {
		const struct signature *signature = &signatures[i];

		if (len < signature->offset + signature->magic_len ||
			memcmp(bytes + signature->offset, signature->magic, signature->magic_len))
			continue;
		if (signature->offset == CORE_STORAGE_AT && !is_core_storage(bytes))
			continue;
		*encrypted = signature->encrypted;
		return signature->name;
	}
	return NULL;
}

bool signatures_look_random(const uint8_t *bytes, size_t len)
{
	uint64_t counts[256] = { 0 }, squares = 0, chi;

	if (len < RANDOM_LEN)
		return false;
	for (size_t i = 0; i < len; i++)
		counts[bytes[i]]++;
	for (size_t i = 0; i < 256; i++)
		squares += counts[i] * counts[i];
	chi = squares * 256 / len - len;
	return chi >= RANDOM_MIN && chi <= RANDOM_MAX;
}
