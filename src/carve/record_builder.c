#include "carve/record_builder.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "evidence/extent_image.h"

#define SCALPEL_FOLDER_FILES 1000

struct record_builder {
	const struct rules *rules;
	struct output_dir *output_dir;
	struct image *image;
	struct volumes *volumes; /* or NULL */
	pthread_mutex_t paths;   /* only one thread at a time may ask volumes for them */
	enum carving_names names;
	struct record_style style;
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

struct record_builder *record_builder_new(const struct rules *rules, struct output_dir *output_dir,
	enum carving_names names, struct record_style style, struct image *image,
	struct volumes *volumes)
{
	struct record_builder *builder = xcalloc(1, sizeof(*builder));

	builder->rules = rules;
	builder->output_dir = output_dir;
	builder->names = names;
	builder->style = style;
	builder->image = image;
	builder->volumes = volumes;
	pthread_mutex_init(&builder->paths, NULL);
	builder->digits = digits_of(image_info(extent_image_evidence(image))->size);
	builder->scalpel_counts =
		xcalloc(rules ? rules->count : 0, sizeof(*builder->scalpel_counts));
	return builder;
}

void record_builder_free(struct record_builder *builder)
{
	if (!builder)
		return;
	pthread_mutex_destroy(&builder->paths);
	free(builder->scalpel_counts);
	free(builder);
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

/* Copies as much as fits. snprintf would be the slowest part of making a record. */
static void copy_text(char *to, size_t len, const char *text)
{
	size_t text_len = strlen(text);

	if (text_len >= len)
		text_len = len - 1;
	memcpy(to, text, text_len);
	to[text_len] = '\0';
}

/* As Scalpel 1.60: a folder for every 1,000 files of a rule; one number counts through all rules. */
static char *scalpel_name(const struct record_builder *builder, const struct record_plan *plan,
	const struct file_record *record)
{
	const char *dot = *record->extension ? "." : "";
	char *folder = builder->names == NAMES_SCALPEL_FLAT
			       ? xstrdup("")
			       : xasprintf("%s-%" PRIu32 "-%" PRIu64 "/", record->type,
					 record->rule, plan->count / SCALPEL_FOLDER_FILES);
	char *name = xasprintf("%s%08" PRIu64 "%s%s", folder, plan->number, dot, record->extension);

	free(folder);
	return name;
}

#define PATH_LABEL_MAX 64

/* The end of the file's path in its file system, without an extension that the name has anyway; whole
 * folders, unless the last part is too long by itself. The caller frees it. */
static char *path_label(const struct file_record *record)
{
	const char *path = record->fs_path ? record->fs_path : "";
	size_t len = strlen(path), extension_len = strlen(record->extension);
	const char *from = path, *slash;
	const char *prefix = !len                              ? ""
			     : record->space == SPACE_SLACK    ? "slack-of-"
			     : file_record_is_original(record) ? ""
							       : "in-";

	if (extension_len && len > extension_len + 1 && path[len - extension_len - 1] == '.' &&
		!strcasecmp(path + len - extension_len, record->extension))
		len -= extension_len + 1;
	while ((size_t)(path + len - from) > PATH_LABEL_MAX &&
		(slash = memchr(from, '/', (size_t)(path + len - from))))
		from = slash + 1;
	return xasprintf("%s%.*s", prefix, (int)(path + len - from), from);
}

static bool has_scalpel_names(const struct record_builder *builder)
{
	return builder->names >= NAMES_SCALPEL;
}

/* Allocates the name of a file at that offset of the evidence. */
static void claim_name(struct record_builder *builder, uint32_t rule, const char *kind,
	const char *extension, uint64_t offset, struct record_plan *plan)
{
	if (has_scalpel_names(builder)) {
		plan->count = builder->scalpel_counts[rule]++;
		plan->number = builder->scalpel_number++;
		return;
	}
	output_dir_claim(builder->output_dir,
		builder->names == NAMES_FLAT      ? ""
		: builder->names == NAMES_BY_KIND ? kind
						  : builder->rules->rules[rule].name,
		offset, extension, &plan->path);
}

/* pieces: the file was put together, and its name says so. room: NULL for none. */
static char *make_name(const struct record_builder *builder, const struct record_plan *plan,
	const struct file_record *record, bool pieces, struct record_room *room)
{
	char stamp[TEXT_TIME_LEN] = "";
	const char *label = builder->style.label == LABEL_TITLE ? record->title : "";
	char *full = NULL, *name, *path = NULL;

	if (has_scalpel_names(builder))
		return scalpel_name(builder, plan, record);
	if (builder->style.label == LABEL_PATH)
		label = path = path_label(record);
	if (builder->style.label == LABEL_TIME && record->time && text_time(record->time, stamp))
		label = stamp;
	if (pieces)
		label = full = xasprintf("pieces%s%s", *label ? "-" : "", label);
	name = output_dir_claimed_name(&plan->path, record->offset, label, record->extension,
		builder->digits, room ? room->path : NULL, room ? sizeof(room->path) : 0);
	free(full);
	free(path);
	return name;
}

/* Most files are contiguous; their run needs no memory of its own. */
static void find_runs(struct record_builder *builder, uint64_t start, struct file_record *record,
	struct range *run)
{
	size_t count;

	record->runs = run;
	record->run_count = 1;
	if (extent_image_run(builder->image, start, record->length, run))
		return;
	record->runs = extent_image_runs(builder->image, start, record->length, &count);
	record->run_count = (uint32_t)count;
}

static void find_file(struct record_builder *builder, struct file_record *record)
{
	if (!volumes_find(builder->volumes, record->offset, &record->fs))
		return;
	pthread_mutex_lock(&builder->paths);
	volumes_add_path(builder->volumes, &record->fs);
	pthread_mutex_unlock(&builder->paths);
	record->fs_path = record->fs.path;
	if (volumes_is_reallocated(builder->volumes, &record->fs))
		record->fs.flags |= FS_REALLOCATED;
}

/* Why a file that its carver could not follow is not as it was written. */
static void note_storage(struct file_record *record)
{
	if (record->status == FILE_COMPLETE || !record->fs_path)
		return;
	if (record->fs.flags & FS_COMPRESSED)
		check_name_cause(record->reason, sizeof(record->reason),
			"in a file that the file system compressed");
	else if (record->fs.flags & FS_ENCRYPTED)
		check_name_cause(record->reason, sizeof(record->reason),
			"in a file that the file system encrypted");
}

/* Whether file systems use its bytes, and for which file. */
static void find_owner(struct record_builder *builder, struct file_record *record)
{
	const struct ranges *in_use = builder->volumes ? volumes_in_use(builder->volumes) : NULL;
	uint64_t used = 0, slack = 0;

	if (!in_use)
		return;
	find_file(builder, record);
	note_storage(record);
	for (uint32_t i = 0; i < record->run_count; i++) {
		uint64_t offset = record->runs[i].offset, length = record->runs[i].length;

		if (volumes_unknown(builder->volumes, offset, length))
			return;
		used += ranges_overlap(in_use, offset, length);
		slack += ranges_overlap(volumes_slack(builder->volumes), offset, length);
	}
	if (used == slack)
		record->space = slack ? SPACE_SLACK : SPACE_FREE;
	else
		record->space = used - slack == record->length ? SPACE_IN_USE : SPACE_PARTLY;
}

static enum file_status status_of(const struct outcome *outcome)
{
	static const enum file_status statuses[] = { [CARVE_COMPLETE] = FILE_COMPLETE,
		[CARVE_TRUNCATED] = FILE_TRUNCATED,
		[CARVE_UNVERIFIED] = FILE_UNVERIFIED };

	return statuses[outcome->verdict];
}

/* A JPEG's extension is the rule's jpg, and says nothing that its type does not. */
static const char *kind_of(const struct rule *rule, const struct finding *finding)
{
	return finding->extension && strcmp(finding->extension, rule->extension) != 0
		       ? finding->extension
		       : rule->name;
}

static const char *extension_of(
	const struct record_builder *builder, uint32_t rule, const struct finding *finding)
{
	return builder->style.no_extension ? ""
	       : finding->extension        ? finding->extension
					   : builder->rules->rules[rule].extension;
}

/* What the rule and the outcome show. */
static void begin_record(const struct record_builder *builder, uint32_t rule_index,
	const struct outcome *outcome, struct file_record *record)
{
	const struct rule *rule = &builder->rules->rules[rule_index];
	const struct finding *finding = &outcome->finding;

	file_record_clear(record);
	record->type = rule->name;
	record->kind = kind_of(rule, finding);
	record->rule = rule_index;
	record->length = outcome->length;
	record->extension = extension_of(builder, rule_index, finding);
	record->status = status_of(outcome);
	record->end = outcome->end;
	record->time = finding->time;
	copy_text(record->reason, sizeof(record->reason), reason_of(outcome));
	copy_text(record->title, sizeof(finding->title), finding->title);
}

const char *record_builder_kind(
	const struct record_builder *builder, uint32_t rule, const struct outcome *outcome)
{
	return kind_of(&builder->rules->rules[rule], &outcome->finding);
}

void record_builder_plan(struct record_builder *builder, const struct decision *decision,
	struct outcome *outcome, struct record_plan *plan)
{
	const struct candidate *candidate = decision->candidate;
	const struct finding *finding = &decision->outcome->finding;
	uint64_t offset = extent_image_to_evidence(builder->image, candidate->start);

	plan->candidate = *candidate;
	plan->outcome = outcome;
	plan->overlaps = decision->overlaps;
	plan->outer = decision->outer;
	claim_name(builder, candidate->rule,
		record_builder_kind(builder, candidate->rule, decision->outcome),
		extension_of(builder, candidate->rule, finding), offset, plan);
	builder->files++;
	builder->last_offset = offset;
}

void record_builder_build(struct record_builder *builder, const struct record_plan *plan,
	struct file_record *record, struct record_room *room)
{
	const struct candidate *candidate = &plan->candidate;
	const struct outcome *outcome = plan->outcome;
	struct outcome unchecked;

	if (!outcome) {
		unchecked = (struct outcome){ 0 };
		check_nothing(builder->image, candidate, &unchecked);
		outcome = &unchecked;
	}
	begin_record(builder, candidate->rule, outcome, record);
	record->offset = extent_image_to_evidence(builder->image, candidate->start);
	record->overlaps = plan->overlaps;
	record->outer = extent_image_to_evidence(builder->image, plan->outer);
	record->chop = candidate->chop && outcome->end != END_CARVER && outcome->end != END_LENGTH;
	find_runs(builder, candidate->start, record, &room->run);
	find_owner(builder, record);
	record->file_time = builder->style.no_times ? 0 : file_record_time(record);
	record->path = make_name(builder, plan, record, false, room);
}

void record_note_unreadable(struct file_record *record)
{
	char place[80];

	if (!record->unreadable)
		return;
	if (record->status == FILE_COMPLETE)
		record->status = FILE_UNVERIFIED;
	snprintf(place, sizeof(place),
		"unreadable at image offset %" PRIu64 " (%" PRIu64 " bytes in all)",
		record->unreadable_at, record->unreadable);
	/* The record of a file that is extracted again has it already. */
	if (strncmp(record->reason, place, strlen(place)) != 0)
		check_name_cause(record->reason, sizeof(record->reason), place);
}

void record_builder_build_pieces(struct record_builder *builder, uint32_t rule,
	const struct range *runs, uint32_t run_count, const struct outcome *outcome,
	const struct assembly *assembly, struct file_record *record)
{
	struct record_plan plan;

	begin_record(builder, rule, outcome, record);
	record->offset = runs[0].offset;
	record->run_count = run_count;
	record->runs = memcpy(xcalloc(run_count, sizeof(*runs)), runs, run_count * sizeof(*runs));
	record->assembly = *assembly;
	find_owner(builder, record);
	record->file_time = builder->style.no_times ? 0 : file_record_time(record);
	claim_name(builder, rule, record->kind, record->extension, record->offset, &plan);
	record->path = make_name(builder, &plan, record, true, NULL);
}

void record_builder_release(struct file_record *record, struct record_room *room)
{
	if (record->runs != &room->run)
		free(record->runs);
	if (record->path != room->path)
		free(record->path);
}

void record_builder_save(const struct record_builder *builder, struct codec_writer *writer)
{
	codec_put(writer, builder->files);
	codec_put(writer, builder->last_offset);
	codec_put(writer, builder->scalpel_number);
	for (uint32_t r = 0; r < builder->rules->count; r++)
		codec_put(writer, builder->scalpel_counts[r]);
	output_dir_save_names(builder->output_dir, writer);
}

void record_builder_load(struct record_builder *builder, struct codec_reader *reader)
{
	builder->files = codec_get(reader, UINT64_MAX);
	builder->last_offset = codec_get(reader, UINT64_MAX);
	builder->scalpel_number = codec_get(reader, UINT64_MAX);
	for (uint32_t r = 0; r < builder->rules->count; r++)
		builder->scalpel_counts[r] = codec_get(reader, UINT64_MAX);
	output_dir_load_names(builder->output_dir, reader);
}

bool record_builder_is_later(
	const struct record_builder *builder, const char *folder, const char *name)
{
	bool flat = builder->names == NAMES_FLAT || builder->names == NAMES_SCALPEL_FLAT;
	unsigned width = builder->names >= NAMES_SCALPEL ? 8 : builder->digits;
	uint64_t number = 0, at, last, len;
	unsigned digits = 0;

	for (; isdigit((unsigned char)name[digits]) && digits < 19; digits++)
		number = number * 10 + (uint64_t)(name[digits] - '0');
	if (flat != !*folder || digits < width || !strchr(".-_", name[digits]))
		return false;
	if (builder->names >= NAMES_SCALPEL)
		return number >= builder->scalpel_number;
	if (!builder->files)
		return true;
	/* In the order of what is searched, which may not be that of the evidence. */
	return extent_image_find(builder->image, number, &at, &len) &&
	       extent_image_find(builder->image, builder->last_offset, &last, &len) && at > last;
}
