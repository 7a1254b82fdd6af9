/* What an image holds, as fields of the run's record. Only output/ sees this header. */
#ifndef BURIN_REPORT_VOLUMES_JSON_H
#define BURIN_REPORT_VOLUMES_JSON_H

#include <jansson.h>

#include "evidence/volumes.h"

/* Adds "partition_table" and "volumes" to the object. */
void volumes_json(json_t *object, const struct volumes *volumes);

#endif
