/*
 * Databases of known programs, by the tables that their schemas have. A name is given when a database has all the tables of a
 * row.
 */
#include <string.h>

#include "sqlite_file.h"
#include "title.h"

#define TABLES 3

static const struct {
	const char *title, *tables[TABLES];
} known[] = {
	{ "WhatsApp messages", { "jid", "chat", "message" } },
	{ "WhatsApp messages", { "messages", "chat_list", "message_thumbnails" } },
	{ "WhatsApp messages", { "ZWAMESSAGE", "ZWACHATSESSION" } },
	{ "WhatsApp contacts", { "wa_contacts" } },
	{ "Telegram messages", { "messages_v2", "dialogs" } },
	{ "Telegram messages", { "messages", "dialogs", "enc_chats" } },
	{ "Signal messages", { "message", "thread", "recipient" } },
	{ "Signal messages", { "messages", "conversations", "unprocessed" } },
	{ "Skype messages", { "Messages", "Conversations", "CallMembers" } },
	{ "Apple messages", { "message", "chat", "chat_message_join" } },
	{ "Apple calls", { "ZCALLRECORD" } },
	{ "Apple contacts", { "ABPerson", "ABMultiValue" } },
	{ "Apple calendar", { "CalendarItem", "Calendar", "Participant" } },
	{ "Apple photos", { "ZASSET", "ZADDITIONALASSETATTRIBUTES" } },
	{ "Apple photos", { "ZGENERICASSET", "ZADDITIONALASSETATTRIBUTES" } },
	{ "Apple notes", { "ZICCLOUDSYNCINGOBJECT" } },
	{ "Apple activities", { "ZOBJECT", "ZSTRUCTUREDMETADATA" } },
	{ "iOS backup manifest", { "Files", "Properties" } },
	{ "Android messages", { "sms", "pdu", "threads" } },
	{ "Android contacts", { "raw_contacts", "mimetypes" } },
	{ "Android calls", { "calls", "voicemail_status" } },
	{ "Chrome history", { "urls", "visits", "keyword_search_terms" } },
	{ "Chrome logins", { "logins", "stats" } },
	{ "Chrome form data", { "autofill", "credit_cards" } },
	{ "Chrome cookies", { "cookies", "meta" } },
	{ "Firefox history", { "moz_places", "moz_historyvisits" } },
	{ "Firefox cookies", { "moz_cookies" } },
	{ "Firefox form data", { "moz_formhistory" } },
	{ "Safari history", { "history_items", "history_visits" } },
	{ "IndexedDB", { "database", "object_store", "object_data" } },
	{ "IndexedDB", { "IDBDatabaseInfo", "ObjectStoreInfo", "Records" } },
	{ "Windows activities", { "Activity", "ActivityOperation", "Activity_PackageId" } },
	{ "Windows notifications", { "Notification", "NotificationHandler" } },
};

#define KNOWN (sizeof(known) / sizeof(*known))

_Static_assert(KNOWN <= SQLITE_KNOWN_MAX, "room for each row's tables");

void sqlite_note_table(struct sqlite *db, const uint8_t *name, uint64_t len)
{
	for (size_t i = 0; i < KNOWN; i++)
		for (unsigned t = 0; t < TABLES && known[i].tables[t]; t++)
			if (strlen(known[i].tables[t]) == len &&
				memcmp(known[i].tables[t], name, (size_t)len) == 0)
				db->tables[i] |= (uint8_t)(1 << t);
}

void sqlite_name_known(struct sqlite *db)
{
	for (size_t i = 0; i < KNOWN; i++) {
		unsigned wanted = 0;

		for (unsigned t = 0; t < TABLES && known[i].tables[t]; t++)
			wanted |= 1u << t;
		if (db->tables[i] != wanted)
			continue;
		finding_set_title(
			db->finding, (const uint8_t *)known[i].title, strlen(known[i].title));
		return;
	}
}
