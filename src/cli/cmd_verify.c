/* `burin verify`: compares an output folder with its report. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_value.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/runs.h"
#include "report/seal.h"
#include "report/verify.h"

struct verify_settings {
	const char *key;
	bool verbose, json;
};

/* What take_file needs. */
struct listing {
	const struct verify_settings *settings;
	bool seal;          /* it is compared with its seal, not with its report */
	const char *prefix; /* of a batch: the run's folder and a slash; "" */
	json_t *files;      /* with --json */
};

static bool is_fine(enum verify_state state)
{
	return state == VERIFY_OK || state == VERIFY_SIZE_ONLY;
}

static const char *state_words(const struct listing *listing, enum verify_state state)
{
	return listing->seal && state == VERIFY_UNLISTED ? "added since" : verify_state_name(state);
}

/* Names come from the report, which is untrusted. */
static void print_file(const struct listing *listing, const char *name, enum verify_state state,
	const char *detail)
{
	char *clean_name = text_clean_copy(name), *clean_detail = text_clean_copy(detail);

	printf("%s%s: %s%s%s\n", listing->prefix, clean_name, state_words(listing, state),
		*detail ? ": " : "", clean_detail);
	free(clean_detail);
	free(clean_name);
}

static void take_file(void *context, const char *name, enum verify_state state, const char *detail)
{
	const struct listing *listing = context;
	json_t *object;

	if (is_fine(state) && !listing->settings->verbose)
		return;
	if (!listing->settings->json) {
		print_file(listing, name, state, detail);
		return;
	}
	object = json_object();
	json_object_set_new(object, "path", json_text(name));
	json_object_set_new(object, "state", json_text(state_words(listing, state)));
	json_object_set_new(object, "detail", json_text(detail));
	json_array_append_new(listing->files, object);
}

static void print_summary(const char *before, const struct verify_counts *counts)
{
	uint64_t files = 0;
	char size[16];

	for (int state = 0; state < VERIFY_STATES; state++)
		files += counts->files[state];
	printf("%s%" PRIu64 " file%s, %s hashed", before, files, files == 1 ? "" : "s",
		size_print(counts->bytes, size));
	for (int state = 0; state < VERIFY_STATES; state++)
		if (counts->files[state])
			printf(", %" PRIu64 " %s", counts->files[state], verify_state_name(state));
	putchar('\n');
	if (!counts->run_was_complete)
		puts("The report has no summary: its run did not finish, or lines were removed.");
}

static json_t *run_json(const struct verify_counts *counts, const char *path, json_t *files)
{
	json_t *object = json_object(), *states = json_object();

	for (int state = 0; state < VERIFY_STATES; state++)
		json_object_set_new(states, verify_state_name(state),
			json_integer((json_int_t)counts->files[state]));
	json_object_set_new(object, "path", json_text(path));
	json_object_set_new(object, "clean", json_boolean(verify_is_clean(counts)));
	json_object_set_new(object, "run_was_complete", json_boolean(counts->run_was_complete));
	json_object_set_new(object, "bytes", json_integer((json_int_t)counts->bytes));
	json_object_set_new(object, "counts", states);
	json_object_set_new(object, "files", files);
	return object;
}

/* A sealed dry run has reports to verify, if no files. */
static int run_exit(int status, const struct verify_counts *counts, int code, bool sealed)
{
	if (status < 0)
		return sealed && code == EXIT_USAGE ? EXIT_CLEAN : EXIT_IO;
	return verify_is_clean(counts) ? EXIT_CLEAN : EXIT_PROBLEMS;
}

/* Adds what was found to all. Returns the exit code. */
static int verify_run(const struct verify_settings *settings, const char *folder, bool batch,
	bool sealed, json_t *all)
{
	char *prefix = batch ? xasprintf("%s/", folder) : xstrdup("");
	char *before = batch ? xasprintf("%s: ", folder) : xstrdup("");
	struct listing listing = { settings, false, prefix, json_array() };
	struct verify_counts counts;
	struct error error = { 0 };
	int status = verify_folder(folder, take_file, &listing, &counts, &error);

	if (status < 0) {
		json_decref(listing.files);
		log_print(sealed && error.code == EXIT_USAGE ? LOG_INFO : LOG_ERROR, "%s",
			error.text);
	} else if (settings->json) {
		json_array_append_new(all, run_json(&counts, folder, listing.files));
	} else {
		print_summary(before, &counts);
		json_decref(listing.files);
	}
	free(before);
	free(prefix);
	return run_exit(status, &counts, error.code, sealed);
}

static const char *signature_words(enum seal_signature signature)
{
	static const char *const words[] = { "not signed",
		"signed with the key in seal.pub (give the key that you know with --key)",
		"signed with the given key", "the signature is NOT valid" };

	return words[signature];
}

static const char *stamp_words(enum seal_stamp stamp)
{
	static const char *const words[] = { "",
		"; " SEAL_TIME_STAMP " is of this manifest (openssl ts -verify shows by whom)",
		"; " SEAL_TIME_STAMP " is NOT of this manifest" };

	return words[stamp];
}

/* Nothing has changed, and, where a key was given, that is proved by it. */
static bool is_intact(const struct verify_settings *settings, const struct seal_check *check)
{
	return !check->different && check->stamp != SEAL_STAMPED_ELSE &&
	       (settings->key ? check->signature == SEAL_GIVEN_KEY
			      : check->signature != SEAL_INVALID);
}

static json_t *seal_json(
	const struct verify_settings *settings, const struct seal_check *check, json_t *files)
{
	static const char *const words[] = { "none", "own key", "given key", "invalid" };
	static const char *const stamps[] = { "none", "of this manifest", "of something else" };

	return json_pack("{s:b, s:s, s:s, s:s, s:s, s:o}", "clean", is_intact(settings, check),
		"signature", words[check->signature], "time_stamp", stamps[check->stamp], "key",
		check->counts.key_id, "sha256", check->counts.manifest.sha256, "files", files);
}

/* Returns the exit code. *sealed: whether there is a seal. *object: with --json, what was found; else as it was. */
static int verify_seal(
	const struct verify_settings *settings, const char *folder, bool *sealed, json_t **object)
{
	struct listing listing = { settings, true, "seal: ", json_array() };
	struct seal_check check;
	struct error error = { 0 };
	int status = seal_verify(folder, settings->key, take_file, &listing, &check, &error);

	if (!status && check.sealed && settings->json)
		*object = seal_json(settings, &check, json_incref(listing.files));
	else if (!status && check.sealed)
		printf("seal: %" PRIu64 " file%s, %" PRIu64 " changed since; %s%s%s%s\n",
			check.counts.files, check.counts.files == 1 ? "" : "s", check.different,
			signature_words(check.signature), *check.counts.key_id ? ", " : "",
			check.counts.key_id, stamp_words(check.stamp));
	json_decref(listing.files);
	*sealed = check.sealed;
	if (status)
		log_error("%s", error.text);
	else if (!check.sealed && settings->key)
		log_error("'%s' is not sealed, but a key was given", folder);
	if (status)
		return error.code;
	return is_intact(settings, &check) ? EXIT_CLEAN : EXIT_PROBLEMS;
}

/* Of a single run its object, of a batch that of all; with the seal's, if there is one. */
static void print_json(bool batch, json_t *all, json_t *seal)
{
	json_t *object =
		batch ? json_pack("{s:O}", "runs", all) : json_incref(json_array_get(all, 0));

	if (seal && !object) /* of a dry run */
		object = json_object();
	if (seal)
		json_object_set_new(object, "seal", seal);
	if (object)
		json_print(object);
}

static int run_verify(void *arg, int argc, char **argv)
{
	const struct verify_settings *settings = arg;
	json_t *all = json_array(), *seal = NULL;
	struct runs runs = { 0 };
	bool sealed;
	int worst = verify_seal(settings, argv[0], &sealed, &seal);

	(void)argc;
	runs_find(&runs, argv[0]);
	for (size_t i = 0; i < runs.count; i++) {
		int code = verify_run(settings, runs.folders[i], runs.batch, sealed, all);

		worst = code > worst ? code : worst;
	}
	if (settings->json)
		print_json(runs.batch, all, seal);
	json_decref(all);
	runs_free(&runs);
	return worst;
}

static const struct option_row verify_options[] = {
	{ .name = "key",
		.kind = OPTION_STRING,
		.metavar = "FILE",
		.offset = offsetof(struct verify_settings, key),
		.help = "Verify the signature of the seal with this public key (minisign's, or "
			"PEM)" },
	{ .name = "verbose",
		.letter = 'v',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct verify_settings, verbose),
		.help = "Also list the files that match the report" },
	{ .name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct verify_settings, json),
		.help = "Print JSON" },
	{ 0 },
};

static const struct example verify_examples[] = {
	{ "burin verify out", "hashes all carved files again and lists those that have changed" },
	{ NULL, NULL },
};

const struct command verify_command = {
	.name = "verify",
	.summary = "Compare an output folder with its report",
	.arguments = "OUT",
	.min_arguments = 1,
	.max_arguments = 1,
	.description =
		"Reads the folder's report.jsonl, hashes every file that it lists, and prints "
		"those that are missing, too long, too short or changed, and files in the folder "
		"that are not in the report. For a batch, it verifies each image's folder. If the "
		"folder is sealed (burin seal), burin also compares everything with the "
		"seal.\n\nThe exit code is 0 if everything matches the report, 1 if something does "
		"not, 3 if the folder or the report can't be read.",
	.options = verify_options,
	.settings_size = sizeof(struct verify_settings),
	.run = run_verify,
	.examples = verify_examples,
};
