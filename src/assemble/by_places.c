/*
 * Formats whose tables show what kind of bytes is at each place (struct carve_places), though not which: an allocation table, the
 * lengths of streams, where pages of formats are. Each free cluster around the file gets bits for each place, and the likeliest
 * row of clusters is the path through them with the most bits, of which each jump costs some, more for a longer one (the
 * algorithm of Viterbi). It has the tables, if they are near, which show more of the other places: so paths are sought until they
 * show nothing new. Then the carver checks the path. The cluster in which it notices something is less likely at its place from
 * then on, what follows there a little, too, and the next path is sought.
 *
 * Nothing of that proves a joint: the carver does, or the file stays unverified.
 */
#include "assemble/strategies.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/seam.h"
#include "base/memory.h"

#define AROUND 2048                 /* free clusters on each side that are looked at */
#define CELLS_MAX ((size_t)1 << 22) /* of places and clusters */
#define ROWS_MAX ((size_t)1 << 16)
#define SIZE_MAX_LEN ((uint64_t)65536)
#define SCALE 64              /* parts of a bit */
#define BIT 8                 /* of what carvers say */
#define BITS_MAX (100 * BIT)  /* of one cluster at one place */
#define JUMP (10 * SCALE)     /* what a jump costs, */
#define JUMP_FAR (16 * SCALE) /* and at most more by its distance... */
#define JUMP_SLOPE 8          /* ...for each cluster */
#define START_COST (20 * BIT) /* bits against a cluster in which another file begins */
#define ROUNDS 8              /* in which tables may show something new */
#define TRIALS 32
#define FAULT (12 * BIT)      /* bits against the cluster that is noticed... */
#define FAULT_AFTER (2 * BIT) /* ...and against what follows it, and what is before it */
#define LOSS (2 * BIT)        /* of a joint elsewhere that may be as good */
#define WORSE (14 * SCALE)    /* than the best path: it is none of the file's */
#define ASKS 10               /* of all clusters, on one side, that the work is for */
#define LIST_WORK 64          /* units to look whether a cluster is free */
#define CELL_WORK 2           /* units for a step of a path */
#define NONE INT32_MIN

/* A cluster that is less likely at a place. */
struct fault {
	uint32_t row, column;
	int bits;
};

struct placing {
	struct workbench *bench;
	const struct broken *broken;
	uint64_t size;
	uint64_t *places;    /* of clusters in the evidence, in order */
	size_t count, start; /* of them; which begins the file */
	size_t rows;         /* clusters of the file, as far as is known */
	uint64_t length;     /* of it */
	bool is_whole;
	int16_t *bits; /* of each row, for each cluster */
	int32_t *best, *next;
	uint32_t *from; /* of each row, for each cluster: that before it */
	uint32_t *path;
	size_t path_rows;
	struct fault *faults;
	size_t fault_count, fault_capacity;
	int64_t sum, most; /* bits of the path, without faults, and of the best so far */
	uint64_t known;    /* what bits were asked with */
};

/* ---- clusters ------------------------------------------------------------------------------ */

static bool is_free(const struct placing *placing, uint64_t place)
{
	const struct clusters *clusters = placing->bench->clusters;

	return place < clusters->end && clusters->end - place >= SECTOR &&
	       clusters_are_free(clusters, place,
		       clusters->end - place < placing->size ? clusters->end - place
							     : placing->size);
}

/* Units to ask of a cluster, which is read, at all places. */
static uint64_t ask_work(const struct placing *placing)
{
	return placing->size / 2 + 4 * placing->rows * (placing->size / SECTOR);
}

/* The free clusters on both sides of the file's first one, as many as the work allows to ask of a few times. */
static void list_clusters(struct placing *placing)
{
	uint64_t start = placing->broken->start, size = placing->size;
	size_t before = 0;
	uint64_t place = start;

	uint64_t most = placing->bench->work_left / ASKS / ask_work(placing);
	size_t around = most < AROUND ? (size_t)most : AROUND;

	placing->places = xcalloc(2 * around + 1, sizeof(*placing->places));
	while (place >= size && before < around) {
		place -= size;
		before += is_free(placing, place);
	}
	for (; placing->count < before + 1 + around && place < placing->bench->clusters->end;
		place += size) {
		if (place != start && !is_free(placing, place))
			continue;
		if (place == start)
			placing->start = placing->count;
		placing->places[placing->count++] = place;
	}
	workbench_spend(placing->bench, LIST_WORK * (uint64_t)placing->count);
}

static bool follows(const struct placing *placing, size_t column)
{
	return column && placing->places[column] == placing->places[column - 1] + placing->size;
}

/* ---- bits ---------------------------------------------------------------------------------- */

static void apply_fault(struct placing *placing, const struct fault *fault)
{
	int16_t *cell;

	if (fault->row >= placing->rows)
		return;
	cell = &placing->bits[fault->row * placing->count + fault->column];
	*cell = (int16_t)(*cell - fault->bits);
}

/* Asks of all clusters. False: there are too many, or no work is left. */
static bool ask(struct placing *placing, const void *known)
{
	const struct carve_places *map = placing->bench->rule->carver->places;
	size_t rows = (size_t)((placing->length + placing->size - 1) / placing->size);
	uint8_t *bytes;
	int *bits;

	placing->rows = rows;
	if (!placing->places && rows <= ROWS_MAX)
		list_clusters(placing);
	if (rows < 2 || rows > ROWS_MAX || placing->count < 2 || rows > CELLS_MAX / placing->count)
		return false;
	placing->bits = xreallocarray(placing->bits, rows * placing->count, sizeof(*placing->bits));
	bytes = xmalloc(placing->size);
	bits = xcalloc(rows, sizeof(*bits));
	if (placing->bench->compared < placing->count)
		placing->bench->compared = placing->count;
	for (size_t c = 0; c < placing->count && workbench_goes_on(placing->bench); c++) {
		uint64_t place = placing->places[c], left = placing->bench->clusters->end - place;
		size_t len = (size_t)(left < placing->size ? left : placing->size);
		bool starts =
			c != placing->start && clusters_is_start(placing->bench->clusters, place);

		memset(bytes, 0, placing->size);
		if (!workbench_read(placing->bench, place, bytes, len))
			break;
		map->ask(known, 0, rows, bytes, placing->size, bits);
		workbench_spend(placing->bench, ask_work(placing));
		for (size_t r = 0; r < rows; r++) {
			int some = bits[r] - (starts ? START_COST : 0);

			some = some > BITS_MAX ? BITS_MAX : some < -BITS_MAX ? -BITS_MAX : some;
			placing->bits[r * placing->count + c] = (int16_t)some;
		}
	}
	free(bits);
	free(bytes);
	for (size_t i = 0; i < placing->fault_count; i++)
		apply_fault(placing, &placing->faults[i]);
	return workbench_goes_on(placing->bench);
}

/* ---- the path ------------------------------------------------------------------------------ */

/* A way to come to a column: from which, with how much. */
struct way {
	int32_t sum;
	uint32_t from;
};

static void improve(struct way *way, int32_t sum, uint32_t from)
{
	if (sum > way->sum)
		*way = (struct way){ sum, from };
}

/* The ways to all columns of a row from those of the row before. */
static void step(struct placing *placing, size_t row)
{
	size_t count = placing->count;
	const int32_t *before = placing->best;
	uint32_t *from = placing->from + row * count;
	struct way any = { NONE, 0 }, near = { NONE, 0 };

	for (size_t c = 0; c < count; c++)
		improve(&any, before[c], (uint32_t)c);
	for (size_t c = 0; c < count; c++) {
		struct way way = { any.sum - JUMP - JUMP_FAR, any.from };

		improve(&way, near.sum == NONE ? NONE : near.sum - JUMP, near.from);
		if (follows(placing, c) && before[c - 1] != NONE)
			improve(&way, before[c - 1], (uint32_t)c - 1);
		placing->next[c] = way.sum;
		from[c] = way.from;
		near.sum = near.sum == NONE ? NONE : near.sum - JUMP_SLOPE;
		improve(&near, before[c], (uint32_t)c);
	}
	near = (struct way){ NONE, 0 };
	for (size_t c = count; c-- > 0;) {
		struct way way = { placing->next[c], from[c] };

		improve(&way, near.sum == NONE ? NONE : near.sum - JUMP, near.from);
		placing->next[c] = way.sum + SCALE / BIT * placing->bits[row * count + c];
		from[c] = way.from;
		near.sum = near.sum == NONE ? NONE : near.sum - JUMP_SLOPE;
		improve(&near, before[c], (uint32_t)c);
	}
	placing->next[placing->start] = NONE;
	memcpy(placing->best, placing->next, count * sizeof(*placing->best));
}

/* Bits by which faults make the path worse. */
static int64_t faults_of(const struct placing *placing)
{
	int64_t sum = 0;

	for (size_t i = 0; i < placing->fault_count; i++) {
		const struct fault *fault = &placing->faults[i];

		if (fault->row < placing->path_rows && placing->path[fault->row] == fault->column)
			sum += fault->bits;
	}
	return sum;
}

/* Bits of the file as if it were in one piece; INT64_MIN: it is not. */
static int64_t sum_in_one(const struct placing *placing)
{
	int64_t sum = 0;

	for (size_t r = 1; r < placing->rows; r++) {
		size_t column = placing->start + r;

		if (column >= placing->count || !follows(placing, column))
			return INT64_MIN;
		sum += placing->bits[r * placing->count + column];
	}
	for (size_t i = 0; i < placing->fault_count; i++)
		if (placing->faults[i].column == placing->start + placing->faults[i].row)
			sum += placing->faults[i].bits;
	return SCALE / BIT * sum;
}

/* Finds the best path. Returns whether it is another one than before. */
static bool find_path(struct placing *placing)
{
	size_t count = placing->count, rows = placing->rows, at = 0;
	bool is_new = rows != placing->path_rows;

	workbench_spend(placing->bench, CELL_WORK * (uint64_t)rows * count);
	placing->best = xreallocarray(placing->best, count, sizeof(*placing->best));
	placing->next = xreallocarray(placing->next, count, sizeof(*placing->next));
	placing->from = xreallocarray(placing->from, rows * count, sizeof(*placing->from));
	placing->path = xreallocarray(placing->path, rows, sizeof(*placing->path));
	for (size_t c = 0; c < count; c++)
		placing->best[c] = c == placing->start ? 0 : NONE;
	for (size_t r = 1; r < rows; r++)
		step(placing, r);
	for (size_t c = 1; c < count; c++)
		if (placing->best[c] > placing->best[at])
			at = c;
	placing->sum = placing->best[at];
	for (size_t r = rows; r-- > 0;) {
		is_new |= r < placing->path_rows && placing->path[r] != at;
		placing->path[r] = (uint32_t)at;
		at = r ? placing->from[r * count + at] : at;
	}
	placing->path_rows = rows;
	placing->sum += SCALE / BIT * faults_of(placing);
	placing->most = placing->sum > placing->most ? placing->sum : placing->most;
	return is_new;
}

/* The path as extents, up to the file's length. */
static void lay_out(const struct placing *placing, struct extents *extents)
{
	uint64_t end = placing->bench->clusters->end;

	extents_clear(extents);
	for (size_t r = 0; r < placing->path_rows; r++) {
		uint64_t place = placing->places[placing->path[r]];
		uint64_t len = placing->length - r * placing->size;

		len = len < placing->size ? len : placing->size;
		extents_add(extents, place, len < end - place ? len : end - place);
	}
}

/* ---- faults -------------------------------------------------------------------------------- */

static void add_fault(struct placing *placing, size_t row, size_t column, int bits)
{
	struct fault fault = { (uint32_t)row, (uint32_t)column, bits };

	if (column == placing->start)
		return;
	placing->faults = xgrow(placing->faults, &placing->fault_capacity, placing->fault_count,
		sizeof(*placing->faults));
	placing->faults[placing->fault_count++] = fault;
	apply_fault(placing, &fault);
}

/* Something was noticed in a row. */
static void blame(struct placing *placing, size_t row)
{
	if (!row)
		row = 1;
	if (row >= placing->path_rows)
		row = placing->path_rows - 1;
	add_fault(placing, row, placing->path[row], FAULT);
	if (row > 1)
		add_fault(placing, row - 1, placing->path[row - 1], FAULT_AFTER);
	for (size_t r = row + 1;
		r < placing->path_rows && placing->path[r] == placing->path[r - 1] + 1 &&
		follows(placing, placing->path[r]);
		r++)
		add_fault(placing, r, placing->path[r], FAULT_AFTER);
}

/* A cluster is only in one place: less likely is where its bits are fewer. Returns whether one was in two. */
static bool blame_twins(struct placing *placing)
{
	uint32_t *row_of = xcalloc(placing->count, sizeof(*row_of));
	bool found = false;

	for (size_t r = 0; r < placing->path_rows; r++) {
		uint32_t c = placing->path[r], other = row_of[c];

		if (other) {
			int16_t here = placing->bits[r * placing->count + c];
			int16_t there = placing->bits[(other - 1) * placing->count + c];

			add_fault(placing, here < there ? r : other - 1, c, FAULT);
			found = true;
		}
		row_of[c] = (uint32_t)r + 1;
	}
	free(row_of);
	return found;
}

/* ---- all ----------------------------------------------------------------------------------- */

/* Reads the tables as the extents have them, and asks if they show something else than before. False: they show nothing. */
static bool read_tables(struct placing *placing, const struct extents *extents, bool *is_new)
{
	const struct carve_places *map = placing->bench->rule->carver->places;
	uint64_t known = 0;
	void *places;
	bool good;

	workbench_open(placing->bench, extents);
	places = map->begin(placing->bench->view, &placing->length, &placing->is_whole, &known);
	workbench_close(placing->bench);
	if (!places)
		return false;
	*is_new = !placing->bits || known != placing->known;
	placing->known = known;
	good = !*is_new || ask(placing, places);
	map->end(places);
	if (*is_new)
		placing->most = INT64_MIN;
	return good;
}

/* Whether the carver finds the file as it is laid out complete. */
static bool try_layout(struct placing *placing, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	uint32_t bits;

	if (!workbench_try(placing->bench, extents, outcome))
		return false;
	if (extents->count < 2 || !workbench_prove(placing->bench, extents, outcome, &bits, NULL)) {
		outcome_free(outcome);
		return false;
	}
	assembly->evidence = bits;
	return true;
}

/* The cluster of the row with the same displacement as another row's; count: it is not free. */
static size_t column_at(const struct placing *placing, size_t row, size_t of)
{
	uint64_t place = placing->places[placing->path[of]] + (row - of) * placing->size;
	size_t low = 0, high = placing->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (placing->places[middle] < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low < placing->count && placing->places[low] == place && low != placing->start
		       ? low
		       : placing->count;
}

static int bits_at(const struct placing *placing, size_t row, size_t column)
{
	return placing->bits[row * placing->count + column];
}

static bool is_joint(const struct placing *placing, size_t row)
{
	return placing->path[row] != placing->path[row - 1] + 1 ||
	       !follows(placing, placing->path[row]);
}

/* The rows around a joint in which it may be as well by the bits: from *least to *most. */
static void find_range(const struct placing *placing, size_t joint, size_t *least, size_t *most)
{
	int sum = 0;

	*least = *most = joint;
	for (size_t r = joint - 1; r > 1 && !is_joint(placing, r); r--) {
		size_t other = column_at(placing, r, joint);

		if (other == placing->count)
			break;
		sum += bits_at(placing, r, other) - bits_at(placing, r, placing->path[r]);
		if (sum < -LOSS)
			break;
		*least = r;
	}
	sum = 0;
	for (size_t r = joint; r + 1 < placing->path_rows && (r == joint || !is_joint(placing, r));
		r++) {
		size_t other = column_at(placing, r, joint - 1);

		if (other == placing->count)
			break;
		sum += bits_at(placing, r, other) - bits_at(placing, r, placing->path[r]);
		if (sum < -LOSS)
			break;
		*most = r + 1;
	}
}

/* Where a joint may be at several places the content chooses one; if it can't, there is a doubt. Returns whether one was moved. */
static bool find_joints(struct placing *placing, struct assembly *assembly)
{
	uint64_t size = placing->size;
	bool moved = false;

	for (size_t r = 1; r < placing->path_rows; r++) {
		size_t least, most, row;
		struct seam seam = { .grid = size, .length = placing->length };
		uint64_t at;

		if (!is_joint(placing, r))
			continue;
		find_range(placing, r, &least, &most);
		if (least == most)
			continue;
		seam.least = least * size;
		seam.most = most * size;
		seam.before = placing->places[placing->path[r - 1]] - (r - 1) * size;
		seam.after = placing->places[placing->path[r]] - r * size;
		if (!seam_find(placing->bench, &seam, &at)) {
			workbench_doubt(assembly, seam.least, seam.most);
			continue;
		}
		row = (size_t)(at / size);
		moved |= row != r;
		for (size_t k = r; k > row; k--)
			placing->path[k - 1] = (uint32_t)column_at(placing, k - 1, r);
		for (size_t k = r; k < row; k++)
			placing->path[k] = (uint32_t)column_at(placing, k, r - 1);
		r = row > r ? row : r;
	}
	return moved;
}

/* The path was accepted: its joints may be better elsewhere. */
static void improve_joints(struct placing *placing, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	struct extents better = { 0 };
	struct outcome other;

	if (!find_joints(placing, assembly))
		return;
	lay_out(placing, &better);
	if (try_layout(placing, &better, &other, assembly)) {
		outcome_free(outcome);
		*outcome = other;
		extents_set(extents, better.runs, better.count);
	}
	extents_free(&better);
}

/* Whether nothing is wrong with the file as the scan found it, though nothing proves its end. */
static bool may_be_in_one(struct placing *placing, const struct extents *extents)
{
	struct outcome outcome;
	bool may;

	if (placing->broken->verdict != CARVE_UNVERIFIED ||
		!workbench_look(placing->bench, extents, &outcome))
		return false;
	may = outcome.verdict == CARVE_UNVERIFIED;
	outcome_free(&outcome);
	return may;
}

static bool search(struct placing *placing, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct workbench *bench = placing->bench;
	unsigned rounds = 0;
	bool may_be_one;

	extents_add(extents, placing->broken->start, bench->clusters->end - placing->broken->start);
	may_be_one = may_be_in_one(placing, extents);
	for (unsigned trials = 0; trials < TRIALS && workbench_goes_on(bench);) {
		bool is_new;

		if (!read_tables(placing, extents, &is_new))
			return false;
		if (find_path(placing) && ++rounds % ROUNDS) {
			lay_out(placing, extents);
			continue;
		}
		rounds = 0;
		if (!placing->is_whole || placing->sum + WORSE < placing->most) {
			return false;
		}
		trials++;
		lay_out(placing, extents);
		if (may_be_one && placing->sum <= sum_in_one(placing))
			return false; /* as the scan found it */
		if (blame_twins(placing))
			continue;
		if (try_layout(placing, extents, outcome, assembly)) {
			if (extents->count == 1) {
				outcome_free(outcome);
				return false;
			}
			/* What is proved is nowhere else. */
			if (!workbench_is_proof(bench, assembly->evidence))
				improve_joints(placing, extents, outcome, assembly);
			return true;
		}
		blame(placing, (size_t)(bench->reached / placing->size));
	}
	return false;
}

bool find_by_places(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	struct placing placing = {
		.bench = bench, .broken = broken, .size = bench->clusters->size
	};
	bool found;

	if (!bench->rule->carver->places || placing.size > SIZE_MAX_LEN ||
		broken->start % placing.size != bench->clusters->origin)
		return false; /* or inside another file */
	found = search(&placing, extents, outcome, assembly);
	if (!found)
		extents_clear(extents);
	free(placing.places);
	free(placing.bits);
	free(placing.best);
	free(placing.next);
	free(placing.from);
	free(placing.path);
	free(placing.faults);
	return found;
}
