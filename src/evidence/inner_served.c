/* The kinds of volumes that burin-evidence opens, through libraries. */
#include "evidence/inner_kind.h"

#include <stddef.h>

/* Hashing a password a million times takes a second, for each password and each key that protects it. */
#define BITLOCKER_CPU_SECONDS 600
/* Argon2 takes seconds on each of several processors, as the volume's head says. */
#define ARGON2_CPU_SECONDS 1200

static const char *const bitlocker_systems[] = { "BitLocker", "BitLocker To Go", NULL };
static const char *const luks_systems[] = { "LUKS", NULL };
static const char *const filevault_systems[] = { "CoreStorage (FileVault 2)", NULL };
static const char *const shadow_systems[] = { "ntfs", NULL };
static const char *const streams_systems[] = { "ntfs", "ext2", "ext3", "ext4", "hfsp", "ufs1",
	"ufs2", NULL };

const struct inner_kind inner_bitlocker = {
	.name = "bitlocker",
	.file_systems = bitlocker_systems,
	.library = "libbde",
	.needs_secret = true,
	.served = "bitlocker",
	.open_cpu_seconds = BITLOCKER_CPU_SECONDS,
};

const struct inner_kind inner_luks = {
	.name = "luks",
	.file_systems = luks_systems,
	.library = "libcryptsetup",
	.needs_secret = true,
	.served = "luks",
	.open_cpu_seconds = ARGON2_CPU_SECONDS,
};

const struct inner_kind inner_filevault = {
	.name = "filevault",
	.file_systems = filevault_systems,
	.library = "libcryptsetup",
	.needs_secret = true,
	.served = "filevault",
	.open_cpu_seconds = ARGON2_CPU_SECONDS,
};

const struct inner_kind inner_shadow = {
	.name = "shadow",
	.file_systems = shadow_systems,
	.library = "libvshadow",
	.only_on_request = true,
	.served = "shadow",
	.changed = "shadow changes",
	.served_lists = true,
};

const struct inner_kind inner_streams = {
	.name = "streams",
	.file_systems = streams_systems,
	.library = "libtsk",
	.whole = true,
	.served = "streams",
	.served_lists = true,
};
