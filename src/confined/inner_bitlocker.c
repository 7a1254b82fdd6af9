/*
 * BitLocker, through libbde. A secret may be a password, a recovery key of eight groups of digits, or
 * a startup key (a .BEK file). Each is tried with a handle of its own, because libbde adds what it is
 * given to what it has.
 */
#include "confined/served_work.h"

#include <errno.h>
#include <stdio.h>

#ifdef HAVE_LIBBDE
#include <libbde.h>

#include "base/endian.h"
#include "evidence/secrets.h"
#include "confined/yal_source.h"

#define KEY_HEAD_LEN 48

/* libbde reads as many bytes as a key file says that it has, whether it has them or not. */
static bool is_startup_key(const struct secret *secret)
{
	return secret->len >= KEY_HEAD_LEN && endian_u32(secret->bytes) <= secret->len;
}

/* 1: it fits, 0: it does not. */
static int set_secret(libbde_volume_t *volume, const struct secret *secret)
{
	if (secret->is_key)
		return is_startup_key(secret) &&
		       libbde_volume_read_startup_key_file_io_handle(
			       volume, yal_source_of(secret->bytes, secret->len), NULL) == 1;
	if (libbde_volume_set_utf8_recovery_password(volume, secret->bytes, secret->len, NULL) == 1)
		return 1;
	return libbde_volume_set_utf8_password(volume, secret->bytes, secret->len, NULL) == 1;
}

/* NULL: the secret does not open it. The last error is kept. */
static libbde_volume_t *try_secret(
	struct served *served, const struct secret *secret, libbfio_error_t **error)
{
	libbde_volume_t *volume = NULL;

	if (*error)
		libbfio_error_free(error);
	if (libbde_volume_initialize(&volume, NULL) != 1)
		return NULL;
	if ((!secret || set_secret(volume, secret)) &&
		libbde_volume_open_file_io_handle(volume, yal_source_open(served), LIBBDE_OPEN_READ,
			(libbde_error_t **)error) == 1 &&
		libbde_volume_is_locked(volume, NULL) == 0)
		return volume;
	libbde_volume_free(&volume, NULL);
	return NULL;
}

static void *bitlocker_open(struct served *served, void *arg)
{
	libbfio_error_t *error = NULL;
	libbde_volume_t *volume = try_secret(served, NULL, &error); /* a clear key */
	const struct secret *secrets;
	size_t count, i = 0;
	size64_t size;
	char how[256] = "with the clear key that it stores";

	(void)arg;
	secrets = secrets_list(&count);
	for (; i < count && !volume; i++) {
		volume = try_secret(served, &secrets[i], &error);
		snprintf(how, sizeof(how), "with a %s of %s",
			secrets[i].is_key ? "startup key" : "password or recovery key",
			secrets[i].path);
	}
	if (!volume) {
		served_refuse(
			served, "no password, recovery key or startup key that was given opens it");
		yal_source_refuse(served, &error);
		return NULL;
	}
	if (libbde_volume_get_size(volume, &size, NULL) != 1)
		return NULL;
	served_set_how(served, how);
	served_set_size(served, size, 512);
	return volume;
}

static int bitlocker_read_at(void *handle, uint64_t offset, void *buffer, size_t len)
{
	return libbde_volume_read_buffer_at_offset(handle, buffer, len, (off64_t)offset, NULL) ==
			       (ssize_t)len
		       ? 0
		       : -EIO;
}

const struct served_kind served_bitlocker = {
	.name = "bitlocker",
	.memory = (uint64_t)1 << 30,
	.open = bitlocker_open,
	.read_at = bitlocker_read_at,
};

#else
const struct served_kind served_bitlocker = { .name = "bitlocker" };
#endif
