/* The options of every command that opens encrypted volumes: --password-file and --key. */
#ifndef BURIN_RUN_SECRET_FILES_H
#define BURIN_RUN_SECRET_FILES_H

#include <stddef.h>

#include "base/options.h"

struct secret_files {
	struct option_list passwords, keys;
};

/* The rows, for a member of a command's settings; heading: their group, or NULL. */
#define SECRET_FILE_ROWS(settings, member, heading) \
	{ .name = "password-file", \
		.command_only = true, \
		.kind = OPTION_LIST, \
		.metavar = "FILE", \
		.offset = offsetof(settings, member.passwords), \
		.group = heading, \
		.help = "Open encrypted volumes (BitLocker, LUKS, FileVault) with the passwords " \
			"and " \
			"recovery keys in FILE, one per line" }, \
	{ \
		.name = "key", .command_only = true, .kind = OPTION_LIST, .metavar = "FILE", \
		.offset = offsetof(settings, member.keys), .group = heading, \
		.help = "Open encrypted volumes with the key in FILE: BitLocker's startup key, " \
			"or " \
			"LUKS's key file or volume key" \
	}

/* Reads the files into evidence/secrets.h. Returns 0 or a negative errno with error set (EXIT_USAGE). */
int secret_files_read(const struct secret_files *files, struct error *error);

#endif
