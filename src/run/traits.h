/*
 * What determines a run's result: burin's version, the evidence, the rules and the options, as pairs
 * of a name and a text. They must be the same when a run is resumed, and in all processes that
 * share one.
 */
#ifndef BURIN_RUN_TRAITS_H
#define BURIN_RUN_TRAITS_H

#include "run/run_options.h"

#define TRAITS_MAX 48

/* Zero-initialise; traits_free when done. */
struct traits {
	char *names[TRAITS_MAX];  /* for people: "the image's size", "--align" */
	char *values[TRAITS_MAX]; /* "" for what is not known */
	size_t count;
};

/* Adds those of a run with these options over the evidence. */
void traits_find(struct traits *traits, const struct run_options *options, struct image *evidence);
/* Whether a value found elsewhere differs. What is not known, there or here, does not. */
bool traits_differ(const struct traits *traits, size_t number, const char *value);
void traits_free(struct traits *traits);

#endif
