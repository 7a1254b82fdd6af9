/* An image's volumes, as fields of the run's record. */
#ifndef BURIN_REPORT_VOLUMES_JSON_H
#define BURIN_REPORT_VOLUMES_JSON_H

#include <jansson.h>

#include "evidence/volumes.h"

/* Adds "partition_table" and "volumes" to the object. */
void volumes_json(json_t *object, const struct volumes *volumes);

#endif
