// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control requests: change a remote and its settings.
 */
#include "message.h"

static struct nl_msg *request(struct hyptrace *h, int cmd, const char *remote)
{
	return hyptrace_nl_msg(h, cmd, 0, HYPTRACE_A_CONTROL_REMOTE, remote);
}

static int control(struct hyptrace *h, int cmd, const char *remote,
		   const struct hyptrace_settings *settings, struct hyptrace_error *err)
{
	const uint32_t changes = settings ? settings->changes : 0;
	struct nl_msg *msg = request(h, cmd, remote);

	if (changes & HYPTRACE_SETTING_SIZE)
		hyptrace_nl_put_u64(&msg, HYPTRACE_A_CONTROL_SIZE, settings->size);
	if (changes & HYPTRACE_SETTING_MODE)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_MODE, settings->mode);
	if (changes & HYPTRACE_SETTING_RATE)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_RATE, settings->rate);
	return hyptrace_nl_send(h, msg, NULL, NULL, err);
}

/**
 * hyptrace_start - start tracing
 * @h:		the connection
 * @remote:	the remote's name
 * @err:	the reason if it fails; may be NULL
 *
 * The driver loads the rings if they are not loaded. It is no error if tracing is on already.
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_start(struct hyptrace *h, const char *remote, struct hyptrace_error *err)
{
	return control(h, HYPTRACE_CMD_START, remote, NULL, err);
}

/**
 * hyptrace_stop - stop tracing
 * @h:		the connection
 * @remote:	the remote's name
 * @err:	the reason if it fails; may be NULL
 *
 * The events that are in the rings can still be read. It is no error if tracing is off already.
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_stop(struct hyptrace *h, const char *remote, struct hyptrace_error *err)
{
	return control(h, HYPTRACE_CMD_STOP, remote, NULL, err);
}

/**
 * hyptrace_load - load the rings
 * @h:		the connection
 * @remote:	the remote's name
 * @settings:	size and mode to set first; NULL to change nothing
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -EBUSY if the rings are loaded already.
 */
int hyptrace_load(struct hyptrace *h, const char *remote,
		  const struct hyptrace_settings *settings, struct hyptrace_error *err)
{
	return control(h, HYPTRACE_CMD_LOAD, remote, settings, err);
}

/**
 * hyptrace_unload - stop tracing, unload the rings and free them
 * @h:		the connection
 * @remote:	the remote's name
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -EBUSY while a descriptor is attached.
 */
int hyptrace_unload(struct hyptrace *h, const char *remote, struct hyptrace_error *err)
{
	return control(h, HYPTRACE_CMD_UNLOAD, remote, NULL, err);
}

/**
 * hyptrace_reset - unload the rings, disable all events and restore the default settings
 * @h:		the connection
 * @remote:	the remote's name
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -EBUSY while a descriptor is attached.
 */
int hyptrace_reset(struct hyptrace *h, const char *remote, struct hyptrace_error *err)
{
	return control(h, HYPTRACE_CMD_RESET, remote, NULL, err);
}

/**
 * hyptrace_set - change settings of a remote
 * @h:		the connection
 * @remote:	the remote's name
 * @settings:	the settings
 * @err:	the reason if it fails; may be NULL
 *
 * The driver resizes rings that are loaded.
 *
 * Return: 0 or a negative errno. On failure nothing has changed, unless the remote failed half
 * way.
 */
int hyptrace_set(struct hyptrace *h, const char *remote, const struct hyptrace_settings *settings,
		 struct hyptrace_error *err)
{
	return control(h, HYPTRACE_CMD_SET, remote, settings, err);
}

/**
 * hyptrace_clear - throw away the events and counters of rings
 * @h:		the connection
 * @remote:	the remote's name
 * @cpu:	the CPU of the ring, or HYPTRACE_CPU_ALL
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_clear(struct hyptrace *h, const char *remote, int cpu, struct hyptrace_error *err)
{
	struct nl_msg *msg = request(h, HYPTRACE_CMD_CLEAR, remote);

	if (cpu != HYPTRACE_CPU_ALL)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_CPU, cpu);
	return hyptrace_nl_send(h, msg, NULL, NULL, err);
}

/**
 * hyptrace_mark - have the remote write selftest events
 * @h:		the connection
 * @remote:	the remote's name
 * @cpu:	the CPU that writes them, or HYPTRACE_CPU_CURRENT
 * @value:	number that the first event carries; the others count upwards from it
 * @count:	number of events, 1 to HYPTRACE_MARK_COUNT_MAX
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -EINTR if a signal came after some of the events.
 */
int hyptrace_mark(struct hyptrace *h, const char *remote, int cpu, uint64_t value, uint32_t count,
		  struct hyptrace_error *err)
{
	struct nl_msg *msg = request(h, HYPTRACE_CMD_MARK, remote);

	if (cpu != HYPTRACE_CPU_CURRENT)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_CPU, cpu);
	hyptrace_nl_put_u64(&msg, HYPTRACE_A_CONTROL_VALUE, value);
	hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_COUNT, count);
	return hyptrace_nl_send(h, msg, NULL, NULL, err);
}
