#include "carve/record_builder.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "evidence/extent_image.h"

#define SCALPEL_FOLDER_FILES 1000

struct filing {
	const struct rules *rules;
	struct sink *sink;
	struct image *image;
	struct volumes *volumes; /* or NULL */
	enum carving_names names;
	enum carving_label label;
	bool no_extension;
	unsigned digits;             /* width of offsets in names */
	uint64_t scalpel_number;     /* counts through all rules */
	uint64_t *scalpel_counts;    /* files of a rule */
	uint64_t files, last_offset; /* so far; of the last of them */
};

static unsigned digits_of(uint64_t number)
{
	unsigned digits = 1;

	while (number >= 10) {
		number /= 10;
		digits++;
	}
	return digits < 10 ? 10 : digits;
}

struct filing *filing_new(const struct rules *rules, struct sink *sink, enum carving_names names,
	enum carving_label label, bool no_extension, struct image *image, struct volumes *volumes)
{
	struct filing *filing = xcalloc(1, sizeof(*filing));

	filing->rules = rules;
	filing->sink = sink;
	filing->names = names;
	filing->label = label;
	filing->no_extension = no_extension;
	filing->image = image;
	filing->volumes = volumes;
	filing->digits = digits_of(image_info(gathered_evidence(image))->size);
	filing->scalpel_counts = xcalloc(rules ? rules->count : 0, sizeof(*filing->scalpel_counts));
	return filing;
}

void filing_free(struct filing *filing)
{
	if (!filing)
		return;
	free(filing->scalpel_counts);
	free(filing);
}

static const char *reason_of(const struct outcome *outcome)
{
	if (outcome->finding.why[0])
		return outcome->finding.why;
	if (outcome->end == END_IMAGE)
		return "the image ends here";
	if (outcome->end == END_MAX_SIZE)
		return "cut at max_size";
	return "";
}

/* As much as fits; printf would be the slowest part of a record. */
static void copy_text(char *to, size_t len, const char *text)
{
	size_t text_len = strnlen(text, len - 1);

	memcpy(to, text, text_len);
	to[text_len] = '\0';
}

/* Scalpel 1.60: a folder for every 1,000 files of a rule; one number counts through all rules. */
static char *scalpel_name(struct filing *filing, const struct file_record *record)
{
	uint64_t count = filing->scalpel_counts[record->rule]++;
	const char *dot = *record->extension ? "." : "";
	char *folder = filing->names == NAMES_SCALPEL_FLAT
			       ? xstrdup("")
			       : xasprintf("%s-%" PRIu32 "-%" PRIu64 "/", record->type,
					 record->rule, count / SCALPEL_FOLDER_FILES);
	char *name = xasprintf("%s%08" PRIu64 "%s%s", folder, filing->scalpel_number++, dot,
		record->extension);

	free(folder);
	return name;
}

static char *make_name(struct filing *filing, const struct file_record *record)
{
	const char *type = filing->names == NAMES_FLAT ? "" : record->type;
	char stamp[TEXT_TIME_LEN] = "";
	const char *label = filing->label == LABEL_TITLE ? record->title : "";

	if (filing->names >= NAMES_SCALPEL)
		return scalpel_name(filing, record);
	if (filing->label == LABEL_TIME && record->time && text_time(record->time, stamp))
		label = stamp;
	return sink_name(filing->sink, type, record->offset, label, record->extension,
		filing->digits);
}

/* Most files lie in one piece, for which there is room already. */
static void place_runs(
	struct filing *filing, uint64_t start, struct file_record *record, struct range *run)
{
	size_t count;
	struct range *runs = gathered_runs(filing->image, start, record->length, &count);

	record->run_count = (uint32_t)count;
	record->runs = runs;
	if (count != 1)
		return;
	*run = *runs;
	record->runs = run;
	free(runs);
}

/* Whether file systems use its bytes, and for which file. */
static void ask_volumes(struct filing *filing, struct file_record *record)
{
	const struct ranges *in_use = filing->volumes ? volumes_in_use(filing->volumes) : NULL;
	uint64_t used = 0;

	if (!in_use)
		return;
	record->fs_path = volumes_owner(filing->volumes, record->offset);
	for (uint32_t i = 0; i < record->run_count; i++) {
		if (volumes_unknown(
			    filing->volumes, record->runs[i].offset, record->runs[i].length))
			return;
		used += ranges_overlap(in_use, record->runs[i].offset, record->runs[i].length);
	}
	record->space = !used ? SPACE_FREE : used == record->length ? SPACE_IN_USE : SPACE_PARTLY;
}

void filing_record(struct filing *filing, const struct candidate *candidate, const struct outcome *outcome,
	struct file_record *record, struct range *run)
{
	static const enum file_status statuses[] = { [CARVE_COMPLETE] = FILE_COMPLETE,
		[CARVE_TRUNCATED] = FILE_TRUNCATED,
		[CARVE_UNVERIFIED] = FILE_UNVERIFIED };
	const struct rule *rule = &filing->rules->rules[candidate->rule];

	*record = (struct file_record){
		.type = rule->name,
		.rule = candidate->rule,
		.offset = gathered_place(filing->image, candidate->start),
		.length = outcome->length,
		.extension = outcome->finding.extension ? outcome->finding.extension : rule->extension,
		.status = statuses[outcome->verdict],
		.end = outcome->end,
		.run_count = 1,
		.time = outcome->finding.time,
		.chop = candidate->chop && outcome->end != END_CARVER && outcome->end != END_LENGTH,
	};
	place_runs(filing, candidate->start, record, run);
	ask_volumes(filing, record);
	if (filing->no_extension)
		record->extension = "";
	copy_text(record->reason, sizeof(record->reason), reason_of(outcome));
	memcpy(record->title, outcome->finding.title, sizeof(record->title));
	record->title[sizeof(record->title) - 1] = '\0';
	record->path = make_name(filing, record);
	filing->files++;
	filing->last_offset = record->offset;
}

void filing_save(const struct filing *filing, struct state_writer *writer)
{
	state_put(writer, filing->files);
	state_put(writer, filing->last_offset);
	state_put(writer, filing->scalpel_number);
	for (uint32_t r = 0; r < filing->rules->count; r++)
		state_put(writer, filing->scalpel_counts[r]);
	sink_save_names(filing->sink, writer);
}

void filing_load(struct filing *filing, struct state_reader *reader)
{
	filing->files = state_get(reader, UINT64_MAX);
	filing->last_offset = state_get(reader, UINT64_MAX);
	filing->scalpel_number = state_get(reader, UINT64_MAX);
	for (uint32_t r = 0; r < filing->rules->count; r++)
		filing->scalpel_counts[r] = state_get(reader, UINT64_MAX);
	sink_load_names(filing->sink, reader);
}

bool filing_is_later(const struct filing *filing, const char *folder, const char *name)
{
	bool flat = filing->names == NAMES_FLAT || filing->names == NAMES_SCALPEL_FLAT;
	unsigned width = filing->names >= NAMES_SCALPEL ? 8 : filing->digits;
	uint64_t number = 0;
	unsigned digits = 0;

	for (; isdigit((unsigned char)name[digits]) && digits < 19; digits++)
		number = number * 10 + (uint64_t)(name[digits] - '0');
	if (flat != !*folder || digits < width || !strchr(".-_", name[digits]))
		return false;
	if (filing->names >= NAMES_SCALPEL)
		return number >= filing->scalpel_number;
	return !filing->files || number > filing->last_offset;
}
