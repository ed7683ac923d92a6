// SPDX-License-Identifier: GPL-2.0-only
/* A library that reads dumps as libkdumpfile does, or does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump_image.h"
#include "fake_kdumpfile.h"

#define LINE	"linux.vmcoreinfo.lines.HYPTRACE"

struct fake_kdumpfile lib;

static struct _kdump_ctx {
	int	fd;
} context;

kdump_ctx_t *kdump_new(void)
{
	lib.nr_open += !lib.has_no_memory;
	return lib.has_no_memory ? NULL : &context;
}

void kdump_free(kdump_ctx_t *ctx)
{
	assert_ptr_equal(ctx, &context);
	lib.nr_open--;
}

kdump_status kdump_open_fdset(kdump_ctx_t *ctx, unsigned int nr, const int *fds)
{
	assert_int_equal(nr, 1);
	assert_int_equal(lib.policy, KDUMP_MMAP_NEVER);
	assert_true(fcntl(*fds, F_GETFD) & FD_CLOEXEC);
	ctx->fd = *fds;
	return lib.cannot_open ? KDUMP_ERR_CORRUPT : KDUMP_OK;
}

const char *kdump_get_err(kdump_ctx_t *ctx)
{
	assert_ptr_equal(ctx, &context);
	return "it is odd";
}

/* As libkdumpfile, read zeros where the file was cut. */
kdump_status kdump_read(kdump_ctx_t *ctx, kdump_addrspace_t space, kdump_addr_t address, void *to,
			size_t *size)
{
	assert_int_equal(space, KDUMP_MACHPHYSADDR);
	if (address < BASE || address + *size > BASE + IMAGE_PAGES * PAGE)
		return KDUMP_ERR_NODATA;
	memset(to, 0, *size);
	assert_true(pread(ctx->fd, to, *size, PAGE + address - BASE) >= 0);
	*size -= lib.is_short;
	return KDUMP_OK;
}

static bool is_refused(const char *key)
{
	return lib.refused && !strcmp(lib.refused, key);
}

kdump_status kdump_get_typed_attr(kdump_ctx_t *ctx, const char *key, kdump_attr_t *value)
{
	assert_ptr_equal(ctx, &context);
	if (is_refused(key))
		return KDUMP_ERR_NOKEY;
	if (!strcmp(key, LINE)) {
		assert_int_equal(value->type, KDUMP_STRING);
		value->val.string = lib.line;
		return lib.line ? KDUMP_OK : KDUMP_ERR_NOKEY;
	}
	if (!strcmp(key, KDUMP_ATTR_PAGE_SIZE)) {
		assert_int_equal(value->type, KDUMP_NUMBER);
		value->val.number = lib.page_size;
		return lib.page_size ? KDUMP_OK : KDUMP_ERR_NOKEY;
	}
	assert_string_equal(key, KDUMP_ATTR_FILE_PAGEMAP);
	assert_int_equal(value->type, KDUMP_BITMAP);
	value->val.bitmap = &lib.map;
	return KDUMP_OK;
}

kdump_status kdump_set_attr(kdump_ctx_t *ctx, const char *key, const kdump_attr_t *value)
{
	assert_ptr_equal(ctx, &context);
	assert_int_equal(value->type, KDUMP_NUMBER);
	if (is_refused(key))
		return KDUMP_ERR_NOTIMPL;
	if (!strcmp(key, KDUMP_ATTR_PAGE_SIZE)) {
		lib.page_size = value->val.number;
	} else {
		assert_string_equal(key, KDUMP_ATTR_FILE_MMAP_POLICY);
		lib.policy = value->val.number;
	}
	return KDUMP_OK;
}

unsigned long kdump_bmp_incref(kdump_bmp_t *map)
{
	return ++map->users;
}

unsigned long kdump_bmp_decref(kdump_bmp_t *map)
{
	return --map->users;
}

kdump_status kdump_bmp_find_set(kdump_bmp_t *map, kdump_addr_t *number)
{
	assert_int_equal(map->users, 1);
	*number = *number < map->from ? map->from : *number;
	return *number < map->to ? KDUMP_OK : KDUMP_ERR_NODATA;
}

const char *const fake_kdumpfile_functions[] = {
	"kdump_new", "kdump_free", "kdump_open_fdset", "kdump_get_err", "kdump_read",
	"kdump_get_typed_attr", "kdump_set_attr", "kdump_bmp_incref", "kdump_bmp_decref",
	"kdump_bmp_find_set", NULL,
};

/* In the same order */
static void *const functions[] = {
	kdump_new, kdump_free, kdump_open_fdset, kdump_get_err, kdump_read,
	kdump_get_typed_attr, kdump_set_attr, kdump_bmp_incref, kdump_bmp_decref,
	kdump_bmp_find_set,
};

/* The calls of hyptrace are redirected to these by the linker. */
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
	assert_string_equal(name, "libkdumpfile.so.10");
	assert_int_equal(flags, RTLD_NOW | RTLD_LOCAL);
	return lib.missing && !*lib.missing ? NULL : &lib;
}

void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name)
{
	unsigned int i = 0;

	assert_ptr_equal(library, &lib);
	if (lib.missing && !strcmp(lib.missing, name))
		return NULL;
	while (strcmp(fake_kdumpfile_functions[i], name))
		assert_non_null(fake_kdumpfile_functions[++i]);
	return functions[i];
}

char *__wrap_dlerror(void);
char *__wrap_dlerror(void)
{
	return "it is not there";
}

int __real_fstat(int fd, struct stat *found);
int __wrap_fstat(int fd, struct stat *found);
int __wrap_fstat(int fd, struct stat *found)
{
	int ret = __real_fstat(fd, found);

	found->st_mode = lib.mode;
	return lib.no_stat ? lib.no_stat : ret;
}

int __wrap_fstatfs(int fd, struct statfs *found);
int __wrap_fstatfs(int fd, struct statfs *found)
{
	(void)fd;
	found->f_type = lib.magic;
	return lib.no_statfs;
}
