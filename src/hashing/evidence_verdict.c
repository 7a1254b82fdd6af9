#include "hashing/evidence_verdict.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *evidence_state_name(enum evidence_state state)
{
	static const char *const names[] = { "none", "hashed", "match", "mismatch", "partial" };

	return names[state];
}

enum evidence_state evidence_state_find(const char *name)
{
	enum evidence_state state = EVIDENCE_PARTIAL;

	while (state && strcmp(evidence_state_name(state), name) != 0)
		state--;
	return state;
}

struct comparison {
	const char *name, *stored, *computed;
};

static bool is_compared(const struct comparison *row)
{
	return *row->stored && *row->computed;
}

static void set_mismatch(struct evidence_record *record, const struct comparison *row)
{
	record->state = EVIDENCE_MISMATCH;
	snprintf(record->sentence, sizeof(record->sentence),
		"THE EVIDENCE IS NOT WHAT WAS ACQUIRED: it stores the %s %s, but its bytes have %s",
		row->name, row->stored, row->computed);
}

void evidence_compare(struct evidence_record *record, const char *stored_md5,
	const char *stored_sha1, const struct hashes *computed, uint64_t unread)
{
	const struct comparison rows[] = {
		{ "MD5", stored_md5, computed->md5 },
		{ "SHA-1", stored_sha1, computed->sha1 },
	};
	bool md5 = is_compared(&rows[0]), sha1 = is_compared(&rows[1]);

	*record = (struct evidence_record){ .state = EVIDENCE_PARTIAL };
	if (unread) {
		snprintf(record->sentence, sizeof(record->sentence),
			"the evidence can't be compared with its hash, because some of it can't be "
			"read");
		return;
	}
	record->hashes = *computed;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (is_compared(&rows[i]) && strcmp(rows[i].stored, rows[i].computed) != 0) {
			set_mismatch(record, &rows[i]);
			return;
		}
	record->state = md5 || sha1 ? EVIDENCE_MATCH : EVIDENCE_HASHED;
	if (md5 || sha1)
		snprintf(record->sentence, sizeof(record->sentence),
			"the evidence matches its stored %s%s%s", md5 ? "MD5" : "",
			md5 && sha1 ? " and " : "", sha1 ? "SHA-1" : "");
	else
		snprintf(record->sentence, sizeof(record->sentence),
			"the evidence was hashed; it stores no such hash to compare with");
}
