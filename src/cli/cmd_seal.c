/* `burin seal`: a manifest of an output folder, and its signature. */
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "base/size.h"
#include "cli/command.h"
#include "report/seal.h"

struct seal_settings {
	const char *key;
};

static int run_seal(void *arg, int argc, char **argv)
{
	const struct seal_settings *settings = arg;
	struct seal_counts counts;
	struct error error = { 0 };
	char size[16];

	(void)argc;
	if (seal_write(argv[0], settings->key, &counts, &error)) {
		log_error("%s", error.text);
		return error.code;
	}
	printf("%" PRIu64 " file%s, %s sealed\nSHA-256 of %s: %s\n", counts.files,
		counts.files == 1 ? "" : "s", size_print(counts.bytes, size), SEAL_MANIFEST,
		counts.manifest.sha256);
	if (*counts.key_id)
		printf("signed with key %s\n", counts.key_id);
	else
		puts("not signed: write this hash down where nobody can change it, or use --key");
	return EXIT_CLEAN;
}

static const struct option_row seal_options[] = {
	{ .name = "key",
		.kind = OPTION_STRING,
		.metavar = "FILE",
		.offset = offsetof(struct seal_settings, key),
		.help = "Sign with the private key in FILE: Ed25519, PEM" },
	{ 0 },
};

static const struct example seal_examples[] = {
	{ "openssl genpkey -algorithm ed25519 -out my.pem", "makes a key, once" },
	{ "burin seal --key my.pem out", "seals and signs the results" },
	{ "burin verify --key seal.pub out",
		"verifies them with the public key, as it was handed over before" },
	{ NULL, NULL },
};

const struct command seal_command = {
	.name = "seal",
	.summary = "Seal results, so that later changes can be detected",
	.arguments = "OUT",
	.min_arguments = 1,
	.max_arguments = 1,
	.description =
		"Writes the SHA-256 of every file in OUT, reports included, to `OUT/seal.sha256`, "
		"which `sha256sum -c` can check, too. OUT is an output folder or the folder of a "
		"batch. With a key, burin also signs this manifest: `seal.sha256.minisig` and the "
		"public key `seal.pub` have minisign's format, so that `minisign -V -p seal.pub -m "
		"seal.sha256` verifies them. Hand over the public key separately from the "
		"results.\n\n`burin verify` checks the seal. A time stamp of the manifest (RFC "
		"3161) can be stored beside it as `seal.sha256.tsr`: verify says whether it is one "
		"of this manifest, and `openssl ts -verify -data seal.sha256 -in seal.sha256.tsr` "
		"who made it.",
	.options = seal_options,
	.settings_size = sizeof(struct seal_settings),
	.run = run_seal,
	.examples = seal_examples,
};
