// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: which machine, boot and kernel the events are from. Perfetto has them in its
 * table metadata. Versions that do not know attributes yet show the kernel only.
 */
#include "sink/origin.h"
#include "export_perfetto.h"

/* Trace, and TracePacket */
#define TRACE_PACKET		1
#define SYSTEM_INFO		45
#define TRACE_ATTRIBUTES	126

/* SystemInfo, and its message Utsname */
#define INFO_UTSNAME		1
#define UTSNAME_SYSTEM		1
#define UTSNAME_VERSION		2
#define UTSNAME_RELEASE		3
#define UTSNAME_MACHINE		4

/* TraceAttributes, and its message Attribute */
#define ATTRIBUTE		1
#define ATTRIBUTE_KEY		1
#define ATTRIBUTE_TEXT		3

/* Bytes of a text, and of a packet with four of them, at most */
#define TEXT_MAX		256
#define PACKET_MAX		2048

static uint8_t *put_info(uint8_t *to, const struct origin *origin)
{
	uint8_t *info = protobuf_open(to, SYSTEM_INFO), *names = protobuf_open(info, INFO_UTSNAME);

	to = protobuf_text(names, UTSNAME_SYSTEM, origin->system, TEXT_MAX);
	to = protobuf_text(to, UTSNAME_VERSION, origin->version, TEXT_MAX);
	to = protobuf_text(to, UTSNAME_RELEASE, origin->kernel, TEXT_MAX);
	to = protobuf_text(to, UTSNAME_MACHINE, origin->arch, TEXT_MAX);
	return protobuf_close(info, protobuf_close(names, to));
}

static uint8_t *put_attribute(uint8_t *to, const char *key, const char *value)
{
	uint8_t *attribute = protobuf_open(to, ATTRIBUTE);

	if (!*value)
		return to;
	to = protobuf_text(attribute, ATTRIBUTE_KEY, key, TEXT_MAX);
	return protobuf_close(attribute, protobuf_text(to, ATTRIBUTE_TEXT, value, TEXT_MAX));
}

static uint8_t *put_attributes(uint8_t *to, const struct origin *origin)
{
	uint8_t *attributes = protobuf_open(to, TRACE_ATTRIBUTES);

	to = put_attribute(attributes, "machine", origin->machine);
	to = put_attribute(to, "boot", origin->boot);
	return protobuf_close(attributes, put_attribute(to, "kernel", origin->kernel));
}

static void put_packet(struct out *out, const struct origin *origin,
		       uint8_t *(*put)(uint8_t *to, const struct origin *origin))
{
	uint8_t *start = protobuf_open((uint8_t *)out_room(out, PACKET_MAX), TRACE_PACKET);

	out_put_to(out, (char *)protobuf_close(start, put(start, origin)));
}

void perfetto_put_origin(const struct export *x)
{
	if (!*x->origin->json)
		return;
	put_packet(x->out, x->origin, put_info);
	put_packet(x->out, x->origin, put_attributes);
}
