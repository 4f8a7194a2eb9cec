/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* bench-linked: links what the launcher links, and ends. No launcher that links it starts faster. */

#include <cjson/cJSON.h>
#include <glib.h>
#include <systemd/sd-bus.h>

int main(void) {
        /* Each of them is called, or the linker leaves it out; none of them does anything. */
        g_free(NULL);
        cJSON_Delete(NULL);
        return sd_bus_unref(NULL) != NULL;
}
