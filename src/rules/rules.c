/*
 * Loads rule sets of all formats. The format is detected from the first token in the file that is
 * neither blank nor a comment: burin's starts with `@`, or with a word followed by `=`, `:` or a
 * brace; a line of scalpel.conf starts with an extension and a case column, so it never looks like
 * that.
 */
#include "rules/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "patterns/byteset.h"
#include "rules/load.h"

const char *pair_mode_name(enum pair_mode mode)
{
	static const char *const names[] = { "forward", "reverse", "next" };

	return names[mode];
}

const char *rules_format_name(enum rules_format format)
{
	static const char *const names[] = { "auto", "burin", "scalpel", "foremost" };

	return names[format];
}

bool rules_have_carver(const struct rules *rules)
{
	for (uint32_t i = 0; rules && i < rules->count; i++)
		if (rules->rules[i].carver)
			return true;
	return false;
}

/* ---- what readers use ---------------------------------------------------------------------- */

int loader_fail(struct loader *loader, const char *file, unsigned line, const char *format, ...)
{
	char why[sizeof(loader->error->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return error_set(loader->error, EXIT_USAGE, EINVAL, "%s:%u: %s", file, line, why);
}

static unsigned line_of(const char *text, const char *at)
{
	unsigned line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

const char *loader_add_file(struct loader *loader, const char *path, const char *text, size_t len)
{
	struct rules *rules = loader->rules;
	const char *zero = memchr(text, '\0', len);

	rules->files = xgrow(
		rules->files, &loader->file_capacity, rules->file_count, sizeof(*rules->files));
	rules->files[rules->file_count++] = xstrdup(path);
	EVP_DigestUpdate(loader->digest, text, len);
	if (zero) {
		loader_fail(
			loader, path, line_of(text, zero), "a zero byte: this is not a text file");
		return NULL;
	}
	return rules->files[rules->file_count - 1];
}

static int read_all(int fd, struct strbuf *text)
{
	char piece[65536];
	ssize_t got;

	strbuf_bytes(text, "", 0);
	while ((got = read(fd, piece, sizeof(piece))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (text->len + (size_t)got > RULES_MAX_TEXT)
			return -EFBIG;
		strbuf_bytes(text, piece, (size_t)got);
	}
	return 0;
}

int loader_read_file(const char *path, struct strbuf *text, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int status = fd < 0 ? -errno : read_all(fd, text);

	if (fd >= 0)
		close(fd);
	if (status)
		*why = status == -EFBIG ? "it is longer than 64 MiB" : strerror(-status);
	return status;
}

void loader_add_pattern(
	struct loader *loader, uint32_t **list, uint32_t *count, struct pattern *pattern)
{
	uint32_t before = loader->rules->patterns.count;
	uint32_t index = pattern_set_add(&loader->rules->patterns, pattern);

	for (uint32_t i = 0; index < before && i < *count; i++)
		if ((*list)[i] == index)
			return;
	*list = xreallocarray(*list, (size_t)*count + 1, sizeof(**list));
	(*list)[(*count)++] = index;
}

void loader_add_rule(struct loader *loader, struct rule *rule)
{
	struct rules *rules = loader->rules;

	rules->rules =
		xgrow(rules->rules, &loader->rule_capacity, rules->count, sizeof(*rules->rules));
	rules->rules[rules->count++] = *rule;
	*rule = (struct rule){ 0 };
}

void rule_free(struct rule *rule)
{
	free(rule->name);
	free(rule->extension);
	free(rule->headers);
	free(rule->footers);
	for (uint32_t i = 0; i < rule->must_count; i++)
		pattern_free(&rule->musts[i].pattern);
	free(rule->musts);
	for (uint32_t i = 0; i < rule->kind_count; i++)
		free(rule->kinds[i]);
	free(rule->kinds);
	free(rule->kinds_off);
	*rule = (struct rule){ 0 };
}

bool rule_name_valid(const char *name)
{
	size_t len = 0;

	for (; name[len]; len++)
		if (!ascii_is_alnum((uint8_t)name[len]) && !strchr("._-", name[len]))
			return false;
	return len > 0 && len <= RULE_NAME_MAX && name[0] != '.';
}

/* ---- which format -------------------------------------------------------------------------- */

/* Skips blanks and comments: libconfig's, which include Scalpel's. */
static const char *skip_comments(const char *at)
{
	for (;;) {
		at += strspn(at, " \t\r\n");
		if (*at == '#' || (at[0] == '/' && at[1] == '/')) {
			at += strcspn(at, "\n");
		} else if (at[0] == '/' && at[1] == '*') {
			const char *end = strstr(at + 2, "*/");

			at = end ? end + 2 : at + strlen(at);
		} else {
			return at;
		}
	}
}

static enum rules_format detect_format(const char *text)
{
	const char *at = skip_comments(text), *word = at;

	while (ascii_is_alnum((uint8_t)*at) || (*at && strchr("_-*", *at)))
		at++;
	if (at == word)
		return *at == '@' || *at == '{' ? RULES_BURIN : RULES_SCALPEL;
	at = skip_comments(at);
	return *at == '=' || *at == ':' || *at == '{' ? RULES_BURIN : RULES_SCALPEL;
}

/* The two programs' files are alike, but Foremost ends files elsewhere; its own file says in its
 * first comments whose it is. */
static void warn_of_foremost(struct loader *loader, const char *file, const char *text)
{
	const char *name = strstr(text, "Foremost configuration file");

	if (loader->rules->format == RULES_SCALPEL && name && name < skip_comments(text))
		lint_add(loader->rules->notes, LINT_WARN, file, 0, NULL,
			"the file calls itself Foremost's, but is read as Scalpel's; choose with "
			"--rules-format foremost or --rules-format scalpel");
}

/* ---- loading ------------------------------------------------------------------------------- */

static int parse(struct loader *loader, const char *file, const char *text, size_t len)
{
	struct rules *rules = loader->rules;
	int status;

	if (rules->format == RULES_AUTO) {
		rules->format = detect_format(text);
		warn_of_foremost(loader, file, text);
	}
	status = rules->format == RULES_BURIN
			 ? libconfig_read(loader, file, text, len)
			 : scalpel_read(loader, file, text, rules->format == RULES_FOREMOST);
	if (status || rules->count)
		return status;
	return error_set(loader->error, EXIT_USAGE, EINVAL, "%s: there are no rules in this file%s",
		file,
		*text && rules->format != RULES_BURIN
			? "; remove the # before the types that you want"
			: "");
}

/* Splits a comma-separated list in place. The caller frees only the array. */
static char **split_names(char *text, size_t *count)
{
	char **names = NULL;
	size_t capacity = 0;
	char *save = NULL;

	*count = 0;
	for (char *name = strtok_r(text, ", \t", &save); name;
		name = strtok_r(NULL, ", \t", &save)) {
		names = xgrow(names, &capacity, *count, sizeof(*names));
		names[(*count)++] = name;
	}
	return names;
}

static int select_types(struct loader *loader, const char *only)
{
	struct rules *rules = loader->rules;
	int status = 0;

	if (loader->only_count) {
		char *where = xasprintf("%s: only", rules->path);

		status = rules_select(
			rules, loader->only, loader->only_count, false, where, loader->error);
		free(where);
	}
	if (!status && only) {
		char *text = xstrdup(only);
		size_t count;
		char **names = split_names(text, &count);

		status = count ? rules_select(rules, names, count, true, "the selection of types",
					 loader->error)
			       : error_set(loader->error, EXIT_USAGE, EINVAL,
					 "the selection of types is empty; give names separated by "
					 "commas");
		free(names);
		free(text);
	}
	return status;
}

static void finish_digest(struct loader *loader)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	EVP_DigestFinal_ex(loader->digest, digest, &len);
	for (unsigned i = 0; i < len && i < 32; i++)
		snprintf(loader->rules->sha256 + 2 * i, 3, "%02x", digest[i]);
}

static void loader_close(struct loader *loader)
{
	for (size_t i = 0; i < loader->only_count; i++)
		free(loader->only[i]);
	free(loader->only);
	EVP_MD_CTX_free(loader->digest);
}

int rules_load_text(struct rules **rules, const char *path, const char *text, size_t len,
	enum rules_format format, const char *only, struct error *error)
{
	struct loader loader = { .may_include = path != NULL, .error = error };
	struct error unread;
	const char *file;
	int status = -EINVAL;

	if (!error)
		loader.error = &unread;
	loader.digest = EVP_MD_CTX_new();
	if (!loader.digest || !EVP_DigestInit_ex(loader.digest, EVP_sha256(), NULL)) {
		loader_close(&loader);
		return error_set(error, EXIT_USAGE, ENOTSUP, "libcrypto has no SHA-256");
	}
	loader.rules = xcalloc(1, sizeof(*loader.rules));
	loader.rules->selection = only ? xstrdup(only) : NULL;
	loader.rules->path = xstrdup(path ? path : "(text)");
	loader.rules->format = format;
	loader.rules->notes = xcalloc(1, sizeof(*loader.rules->notes));
	file = loader_add_file(&loader, loader.rules->path, text, len);
	if (file) {
		size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

		status = parse(&loader, file, text + mark, len - mark);
	}
	if (!status)
		status = select_types(&loader, only);
	finish_digest(&loader);
	loader_close(&loader);
	if (status)
		rules_free(loader.rules);
	else
		*rules = loader.rules;
	return status;
}

int rules_load(struct rules **rules, const char *path, enum rules_format format, const char *only,
	struct error *error)
{
	struct strbuf text = { 0 };
	const char *why;
	int status = loader_read_file(path, &text, &why);

	if (status)
		status = error_set(
			error, EXIT_USAGE, -status, "can't read the rule file %s: %s", path, why);
	else
		status = rules_load_text(rules, path, text.bytes, text.len, format, only, error);
	free(text.bytes);
	return status;
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (uint32_t i = 0; i < rules->count; i++)
		rule_free(&rules->rules[i]);
	free(rules->rules);
	pattern_set_free(&rules->patterns);
	lint_free(rules->notes);
	free(rules->notes);
	for (uint32_t i = 0; i < rules->file_count; i++)
		free(rules->files[i]);
	free(rules->files);
	free(rules->path);
	free(rules->selection);
	free(rules);
}
