/* What a worker of a cluster does with checks that it is asked for: burin-mpi's own code, with this program as the coordinator. */
#include "carver_case.h"

#include <errno.h>

#include "carve/candidate.h"
#include "cluster/rpc_server.h"
#include "evidence/backend.h"
#include "rules/load.h"

#define FILES 10000 /* of aac, one after the other, which are one: far more than is read at once */

static struct bytes content;
static size_t bytes_read;
static unsigned reached;
static int status = 1;

static int read_content(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	(void)image;
	memcpy(buffer, content.data + offset, len);
	bytes_read += len;
	return 0;
}

static const struct image_backend backend = { .name = "memory", .read_at = read_content };

unsigned transport_rank(void)
{
	return 0;
}

/* What the worker says, in its own thread. */
void transport_send(unsigned to, enum message_kind kind, struct codec_writer *writer)
{
	struct codec_reader reader = codec_reader_from(writer->bytes, writer->len);

	cr_expect_eq(to, 0);
	cr_expect_eq(codec_get(&reader, UINT64_MAX), 7, "the request");
	if (kind == MESSAGE_REACHED) {
		reached++;
		rpc_server_cancel();
	} else {
		cr_expect_eq(kind, MESSAGE_CHECKED);
		status = -(int)codec_get(&reader, INT32_MAX);
	}
	free(writer->bytes);
}

/* A check ends when the run is cancelled, and not when it has read its file. */
Test(rpc_server, a_check_under_way_ends_when_the_run_is_cancelled)
{
	static const char text[] = "types = ( { name = \"aac\"; header = \"FF F1\"; carver = "
				   "\"adts\"; max_size = \"1G\"; } );";
	struct image image = { .backend = &backend, .read_unit = 512 };
	struct candidate candidate = { 0 };
	struct message message = { .kind = MESSAGE_CHECK };
	struct codec_writer writer = { 0 };
	struct error error = { 0 };
	struct rules *rules;
	struct pool *pool = pool_new(1);

	for (unsigned i = 0; i < FILES; i++)
		bytes_add_file(&content, "tests/golden/adts/mono.aac");
	image.info =
		(struct image_info){ .format = "raw", .size = content.len, .sector_size = 512 };
	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0,
		"%s", error.text);
	cr_assert_eq(rpc_server_begin(&(struct rpc_server_options){ &image, rules, pool, NULL, 0,
					      false, NULL },
			     "", &error),
		0);
	candidate.length = content.len;
	codec_put(&writer, 7); /* the request */
	codec_put(&writer, 0); /* nothing is hidden */
	codec_put(&writer, 1); /* candidates */
	codec_put(&writer, 1); /* it is to be checked at once */
	codec_put(&writer, UINT64_MAX);
	candidate_save(&candidate, &writer);
	message.bytes = writer.bytes;
	message.len = writer.len;
	rpc_server_deliver(&message);
	rpc_server_end();
	cr_expect_eq(reached, 1, "it has told how far it read");
	cr_expect_eq(status, -ECANCELED, "%d", status);
	cr_expect_gt(bytes_read, 0);
	cr_expect_lt(bytes_read, content.len / 4, "%zu of %zu bytes", bytes_read, content.len);
	pool_free(pool);
	rules_free(rules);
	free(content.data);
}
