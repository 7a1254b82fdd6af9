/*
 * Carvers from shared libraries (carvers/plugin.h), which rules name like those of the program. A
 * plug-in stays for the life of the process; loading one again changes nothing. Not thread-safe:
 * plug-ins are loaded before any rules are read.
 */
#ifndef BURIN_RULES_PLUGINS_H
#define BURIN_RULES_PLUGINS_H

#include "base/codec.h"
#include "base/error.h"
#include "base/options.h"
#include "carvers/carver.h"

/* The option of every command whose rules may name them; heading: its group, or NULL. */
#define PLUGIN_ROW(settings, member, heading) \
	{ \
		.name = "plugin", .command_only = true, .kind = OPTION_LIST, .metavar = "FILE", \
		.offset = offsetof(settings, member), .group = heading, \
		.help = "Load carvers for the rules from FILE, a shared library" \
	}

/* Loads those that a command line names. Returns 0, or -EINVAL with error set (EXIT_USAGE). */
int plugins_open(const struct option_list *paths, struct error *error);
/* The absolute path of plug-in `number`, in order of loading; NULL past the last. */
const char *plugin_path(size_t number);

/* A carver of the program or of a plug-in; NULL: there is none of that name. */
const struct carver *rule_carver_find(const char *name);

/* For another process, which loads the same files; others of the same names fail the reader. */
void plugins_save(struct codec_writer *writer);
void plugins_load(struct codec_reader *reader);

#endif
