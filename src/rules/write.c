/* Writes a rule set in burin's format, without settings that have their default values. Sizes are
 * written as strings, because libconfig's integers end at 2^63 - 1. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "carvers/carver.h"
#include "patterns/byteset.h"
#include "rules/rules.h"

static void write_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((uint8_t)*text < 0x20 || *text == 0x7f)
			fprintf(out, "\\x%02x", (unsigned)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void write_size(FILE *out, const char *name, uint64_t size)
{
	static const char units[] = "KMGT";
	int unit = -1;

	while (unit < 3 && size && size % 1024 == 0) {
		size /= 1024;
		unit++;
	}
	if (unit < 0 && size <= INT32_MAX)
		fprintf(out, "%s = %" PRIu64 ";", name, size);
	else
		fprintf(out, "%s = \"%" PRIu64 "%.*s\";", name, size, unit >= 0,
			units + (unit >= 0 ? unit : 0));
}

static void write_patterns(FILE *out, const struct rules *rules, const char *name,
	const uint32_t *list, uint32_t count)
{
	if (!count)
		return;
	fprintf(out, "\t\t%s = %s", name, count > 1 ? "( " : "");
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", out);
		write_text(out, rules->patterns.patterns[list[i]].text);
	}
	fputs(count > 1 ? " );\n" : ";\n", out);
}

static void write_length(FILE *out, const struct length_field *length)
{
	if (!length->width)
		return;
	fputs("\t\tlength = { ", out);
	write_size(out, "at", length->at);
	fprintf(out, " type = \"u%d%s\";", length->width * 8,
		length->width == 1   ? ""
		: length->big_endian ? "be"
				     : "le");
	if (length->multiply != 1) {
		fputc(' ', out);
		write_size(out, "multiply", length->multiply);
	}
	if (length->add)
		fprintf(out, " add = %" PRId64 "L;", length->add);
	fputs(" };\n", out);
}

static void write_musts(FILE *out, const struct rule *rule)
{
	if (!rule->must_count)
		return;
	fputs("\t\tmust = (\n", out);
	for (uint32_t i = 0; i < rule->must_count; i++) {
		fputs("\t\t\t{ ", out);
		write_size(out, "at", rule->musts[i].at);
		fputs(" bytes = ", out);
		write_text(out, rule->musts[i].pattern.text);
		fputs(i + 1 < rule->must_count ? "; },\n" : "; }\n", out);
	}
	fputs("\t\t);\n", out);
}

static void write_size_line(FILE *out, const char *name, uint64_t size)
{
	fputs("\t\t", out);
	write_size(out, name, size);
	fputc('\n', out);
}

static void write_rule(FILE *out, const struct rules *rules, const struct rule *rule)
{
	fprintf(out, "\t{\n\t\tname = \"%s\";\n", rule->name);
	if (strcmp(rule->name, rule->extension) != 0)
		fprintf(out, "\t\textension = \"%s\";\n", rule->extension);
	write_patterns(out, rules, "header", rule->headers, rule->header_count);
	if (rule->header_offset)
		write_size_line(out, "header_offset", rule->header_offset);
	write_patterns(out, rules, "footer", rule->footers, rule->footer_count);
	if (rule->pair != PAIR_FORWARD)
		fprintf(out, "\t\tpair = \"%s\";\n", pair_mode_name(rule->pair));
	if (rule->include_footer != (rule->pair != PAIR_NEXT))
		fprintf(out, "\t\tinclude_footer = %s;\n", rule->include_footer ? "true" : "false");
	if (rule->min_size)
		write_size_line(out, "min_size", rule->min_size);
	write_size_line(out, "max_size", rule->max_size);
	write_length(out, &rule->length);
	write_musts(out, rule);
	if (rule->align)
		write_size_line(out, "align", rule->align);
	if (rule->carver)
		fprintf(out, "\t\tcarver = \"%s\";\n", rule->carver->name);
	for (uint32_t i = 0; i < rule->kind_count; i++)
		fprintf(out, "%s%s%s", i ? " " : "\t\tkinds = \"", rule->kinds[i],
			i + 1 == rule->kind_count ? "\";\n" : "");
	fputs("\t}", out);
}

int rules_write(const struct rules *rules, FILE *stream)
{
	errno = 0;
	fputs("types = (\n", stream);
	for (uint32_t i = 0; i < rules->count; i++) {
		write_rule(stream, rules, &rules->rules[i]);
		fputs(i + 1 < rules->count ? ",\n" : "\n", stream);
	}
	fputs(");\n", stream);
	if (fflush(stream) || ferror(stream))
		return errno ? -errno : -EIO;
	return 0;
}
