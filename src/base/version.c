#include "base/version.h"

const char burin_version[] = BURIN_VERSION;
const char burin_commit[] = BURIN_COMMIT;
const char burin_libraries[] = BURIN_LIBRARIES;
const char burin_installed_rules[] = BURIN_PREFIX "/share/burin/burin.conf";
