/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A stream that belongs to the caller and to whom he shares it with, read or written without ever waiting. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct {
        int fd;          /* for poll(2), too; −1: none */
        bool is_own;     /* opened anew, so that O_NONBLOCK is ours alone */
        bool is_changed; /* it is set on what everybody has, until outlet_rest() */
        bool is_socket;
} Outlet;

#define OUTLET_INIT ((Outlet){ .fd = -1 })

/* For O_RDONLY or O_WRONLY. −1 is none. */
void outlet_open(Outlet *outlet, int fd, int mode);
void outlet_close(Outlet *outlet);

/* As read(2) and write(2); EAGAIN: not now. */
ssize_t outlet_read(const Outlet *outlet, void *data, size_t size);
ssize_t outlet_write(const Outlet *outlet, const void *data, size_t size);

/* While we are stopped others use it as it was. */
void outlet_rest(Outlet *outlet);
void outlet_resume(Outlet *outlet);
