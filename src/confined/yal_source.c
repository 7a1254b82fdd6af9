#ifdef HAVE_LIBYAL

#include "confined/yal_source.h"

#include <string.h>

#include "base/memory.h"

struct source {
	struct served *served;
	uint64_t at;
};

static ssize_t read_source(intptr_t *handle, uint8_t *buffer, size_t len, libbfio_error_t **error)
{
	struct source *source = (struct source *)handle;
	uint64_t size = served_outer_size(source->served);
	uint64_t left = source->at < size ? size - source->at : 0;

	(void)error;
	if (len > left)
		len = (size_t)left;
	if (served_outer_read(source->served, source->at, buffer, len))
		return -1;
	source->at += len;
	return (ssize_t)len;
}

static off64_t seek_source(intptr_t *handle, off64_t offset, int whence, libbfio_error_t **error)
{
	struct source *source = (struct source *)handle;
	uint64_t base = whence == SEEK_SET   ? 0
			: whence == SEEK_CUR ? source->at
					     : served_outer_size(source->served);

	(void)error;
	if (__builtin_add_overflow(base, offset, &source->at) || source->at > INT64_MAX)
		return -1;
	return (off64_t)source->at;
}

static int size_source(intptr_t *handle, size64_t *size, libbfio_error_t **error)
{
	(void)error;
	*size = served_outer_size(((struct source *)handle)->served);
	return 1;
}

static int open_source(intptr_t *handle, int flags, libbfio_error_t **error)
{
	(void)flags;
	(void)error;
	((struct source *)handle)->at = 0;
	return 1;
}

static int is_there(intptr_t *handle, libbfio_error_t **error)
{
	(void)handle;
	(void)error;
	return 1;
}

static int close_source(intptr_t *handle, libbfio_error_t **error)
{
	(void)handle;
	(void)error;
	return 0;
}

static int free_source(intptr_t **handle, libbfio_error_t **error)
{
	(void)error;
	*handle = NULL;
	return 1;
}

static int clone_source(intptr_t **clone, intptr_t *handle, libbfio_error_t **error)
{
	struct source *copy = xmalloc(sizeof(*copy));

	(void)error;
	*copy = *(struct source *)handle;
	*clone = (intptr_t *)copy;
	return 1;
}

libbfio_handle_t *yal_source_open(struct served *served)
{
	struct source *source = xcalloc(1, sizeof(*source));
	libbfio_handle_t *handle = NULL;

	source->served = served;
	if (libbfio_handle_initialize(&handle, (intptr_t *)source, free_source, clone_source,
		    open_source, close_source, read_source, NULL, seek_source, is_there, is_there,
		    size_source, LIBBFIO_FLAG_IO_HANDLE_MANAGED, NULL) != 1)
		return NULL;
	return handle;
}

libbfio_handle_t *yal_source_of(const uint8_t *bytes, size_t len)
{
	libbfio_handle_t *handle = NULL;

	if (libbfio_memory_range_initialize(&handle, NULL) != 1 ||
		libbfio_memory_range_set(handle, (uint8_t *)bytes, len, NULL) != 1)
		return NULL;
	return handle;
}

void yal_source_refuse(struct served *served, libbfio_error_t **error)
{
	char text[2048] = "", *colon;

	if (!*error || libbfio_error_backtrace_sprint(*error, text, sizeof(text)) < 1)
		return;
	text[strcspn(text, "\n")] = 0;
	colon = strstr(text, ": ");
	served_refuse(served, "its library says: %s", colon ? colon + 2 : text);
	libbfio_error_free(error);
}

#else
typedef int yal_source_is_not_built;
#endif
