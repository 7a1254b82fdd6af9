#include "run/secret_files.h"

#include "evidence/secrets.h"

int secret_files_read(const struct secret_files *files, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < files->passwords.count && !status; i++)
		status = secrets_add_passwords(files->passwords.items[i], error);
	for (size_t i = 0; i < files->keys.count && !status; i++)
		status = secrets_add_key(files->keys.items[i], error);
	return status;
}
