/* Memory that the checks of this process together may have reserved (view_reserve). Thread-safe. */
#ifndef BURIN_CARVE_RESERVE_H
#define BURIN_CARVE_RESERVE_H

#include <stdint.h>

/* Waits until all together have at most 1 GiB, these bytes included; for more than that until they are all there are. The
 * caller has nothing reserved: so those that have something go on, and end. */
void reserve_take(uint64_t bytes);
void reserve_give_back(uint64_t bytes);

#endif
