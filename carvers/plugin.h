/*
 * A plug-in is a shared library with carvers, which `--plugin FILE.so` adds to those of the program:
 * rules then name them like any other. It exports one symbol, burin_plugin, and uses nothing of burin
 * but the functions of carver.h. carvers/TEMPLATE.c is one, and says how it is built.
 *
 * Its code runs where burin's own carvers run: in burin, and with --sandbox=require in the confined
 * processes that check candidates, which load it before they are confined.
 */
#ifndef BURIN_PLUGIN_H
#define BURIN_PLUGIN_H

#include "carver.h"

struct carver_plugin {
	uint32_t contract; /* CARVER_CONTRACT; the first in every version of this struct */
	const struct carver *const *carvers; /* ended by NULL */
};

extern const struct carver_plugin burin_plugin;

#endif
