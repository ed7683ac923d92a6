// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of values: those that the driver does not name (errnos, error codes of firmware, fault
 * status codes), and those of the remote (values of a field, hypercalls, exception classes).
 */
#include "meaning.h"

/* Those of arm64 (asm-generic/errno.h): a record may be printed on another architecture. */
static const char *const errnos[] = {
	[1] = "-EPERM", "-ENOENT", "-ESRCH", "-EINTR", "-EIO", "-ENXIO", "-E2BIG", "-ENOEXEC",
	[9] = "-EBADF", "-ECHILD", "-EAGAIN", "-ENOMEM", "-EACCES", "-EFAULT", "-ENOTBLK",
	[16] = "-EBUSY", "-EEXIST", "-EXDEV", "-ENODEV", "-ENOTDIR", "-EISDIR", "-EINVAL",
	[23] = "-ENFILE", "-EMFILE", "-ENOTTY", "-ETXTBSY", "-EFBIG", "-ENOSPC", "-ESPIPE",
	[30] = "-EROFS", "-EMLINK", "-EPIPE", "-EDOM", "-ERANGE", "-EDEADLK", "-ENAMETOOLONG",
	[37] = "-ENOLCK", "-ENOSYS", "-ENOTEMPTY", "-ELOOP", NULL, "-ENOMSG", "-EIDRM",
	[44] = "-ECHRNG", "-EL2NSYNC", "-EL3HLT", "-EL3RST", "-ELNRNG", "-EUNATCH", "-ENOCSI",
	[51] = "-EL2HLT", "-EBADE", "-EBADR", "-EXFULL", "-ENOANO", "-EBADRQC", "-EBADSLT",
	[58] = NULL, "-EBFONT", "-ENOSTR", "-ENODATA", "-ETIME", "-ENOSR", "-ENONET",
	[65] = "-ENOPKG", "-EREMOTE", "-ENOLINK", "-EADV", "-ESRMNT", "-ECOMM", "-EPROTO",
	[72] = "-EMULTIHOP", "-EDOTDOT", "-EBADMSG", "-EOVERFLOW", "-ENOTUNIQ", "-EBADFD",
	[78] = "-EREMCHG", "-ELIBACC", "-ELIBBAD", "-ELIBSCN", "-ELIBMAX", "-ELIBEXEC",
	[84] = "-EILSEQ", "-ERESTART", "-ESTRPIPE", "-EUSERS", "-ENOTSOCK", "-EDESTADDRREQ",
	[90] = "-EMSGSIZE", "-EPROTOTYPE", "-ENOPROTOOPT", "-EPROTONOSUPPORT",
	[94] = "-ESOCKTNOSUPPORT", "-EOPNOTSUPP", "-EPFNOSUPPORT", "-EAFNOSUPPORT",
	[98] = "-EADDRINUSE", "-EADDRNOTAVAIL", "-ENETDOWN", "-ENETUNREACH", "-ENETRESET",
	[103] = "-ECONNABORTED", "-ECONNRESET", "-ENOBUFS", "-EISCONN", "-ENOTCONN",
	[108] = "-ESHUTDOWN", "-ETOOMANYREFS", "-ETIMEDOUT", "-ECONNREFUSED", "-EHOSTDOWN",
	[113] = "-EHOSTUNREACH", "-EALREADY", "-EINPROGRESS", "-ESTALE", "-EUCLEAN",
	[118] = "-ENOTNAM", "-ENAVAIL", "-EISNAM", "-EREMOTEIO", "-EDQUOT", "-ENOMEDIUM",
	[124] = "-EMEDIUMTYPE", "-ECANCELED", "-ENOKEY", "-EKEYEXPIRED", "-EKEYREVOKED",
	[129] = "-EKEYREJECTED", "-EOWNERDEAD", "-ENOTRECOVERABLE", "-ERFKILL", "-EHWPOISON",
	/* those that only the kernel uses (linux/errno.h) */
	[512] = "-ERESTARTSYS", "-ERESTARTNOINTR", "-ERESTARTNOHAND", "-ENOIOCTLCMD",
	[516] = "-ERESTART_RESTARTBLOCK", "-EPROBE_DEFER", "-EOPENSTALE", "-ENOPARAM",
	[521] = "-EBADHANDLE", "-ENOTSYNC", "-EBADCOOKIE", "-ENOTSUPP", "-ETOOSMALL",
	[526] = "-ESERVERFAULT", "-EBADTYPE", "-EJUKEBOX", "-EIOCBQUEUED", "-ERECALLCONFLICT",
	[531] = "-ENOGRACE",
};

/* Error codes of firmware, without their signs: linux/psci.h, linux/arm_ffa.h, linux/arm-smccc.h */
static const char *const firmware_errors[][11] = {
	[FIRMWARE_PSCI] = {
		NULL, "NOT_SUPPORTED", "INVALID_PARAMETERS", "DENIED", "ALREADY_ON", "ON_PENDING",
		"INTERNAL_FAILURE", "NOT_PRESENT", "DISABLED", "INVALID_ADDRESS",
	},
	[FIRMWARE_FFA] = {
		NULL, "NOT_SUPPORTED", "INVALID_PARAMETERS", "NO_MEMORY", "BUSY", "INTERRUPTED",
		"DENIED", "RETRY", "ABORTED", "NO_DATA", "NOT_READY",
	},
	[FIRMWARE_SMCCC] = { NULL, "NOT_SUPPORTED", "NOT_REQUIRED", "INVALID_PARAMETER" },
};

static const char *name_of(const char *const *names, uint64_t nr, uint64_t index)
{
	return index < nr ? names[index] : NULL;
}

const char *hyptrace_errno_name(int64_t value)
{
	return name_of(errnos, COUNT(errnos), -(uint64_t)value);
}

const char *hyptrace_firmware_error_name(enum firmware firmware, int64_t value)
{
	return name_of(firmware_errors[firmware], COUNT(firmware_errors[0]), -(uint64_t)value);
}

/* Codes of the same name; @level is that of @first, and each next code has the next level. */
struct faults {
	uint8_t		first;
	uint8_t		last;
	int8_t		level;
	const char	*name;
};

/* DFSC and IFSC of ESR_EL2 in the Arm ARM: the same for data and instructions */
static const struct faults faults[] = {
	{ 0x00, 0x03, 0, "address size fault" },
	{ 0x04, 0x07, 0, "translation fault" },
	{ 0x08, 0x0b, 0, "access flag fault" },
	{ 0x0c, 0x0f, 0, "permission fault" },
	{ 0x10, 0x10, NO_LEVEL, "external abort" },
	{ 0x11, 0x11, NO_LEVEL, "tag check fault" },
	{ 0x12, 0x17, -2, "external abort on table walk" },
	{ 0x18, 0x18, NO_LEVEL, "parity error" },
	{ 0x1b, 0x1f, -1, "parity error on table walk" },
	{ 0x21, 0x21, NO_LEVEL, "alignment fault" },
	{ 0x22, 0x27, -2, "granule protection fault on table walk" },
	{ 0x28, 0x28, NO_LEVEL, "granule protection fault" },
	{ 0x29, 0x29, -1, "address size fault" },
	{ 0x2a, 0x2b, -2, "translation fault" },
	{ 0x2c, 0x2c, -2, "address size fault" },
	{ 0x30, 0x30, NO_LEVEL, "TLB conflict" },
	{ 0x31, 0x31, NO_LEVEL, "unsupported atomic update" },
	{ 0x34, 0x34, NO_LEVEL, "lockdown fault" },
	{ 0x35, 0x35, NO_LEVEL, "unsupported exclusive access" },
};

struct fault_status hyptrace_fault_status(unsigned int code)
{
	struct fault_status status = { NULL, NO_LEVEL };
	unsigned int i;

	for (i = 0; i < COUNT(faults); i++) {
		if (code < faults[i].first || code > faults[i].last)
			continue;
		status.name = faults[i].name;
		if (faults[i].level != NO_LEVEL)
			status.level = faults[i].level + (int)(code - faults[i].first);
		return status;
	}
	return status;
}

/* The table has at least so many places for a name: most lookups look at one place. */
#define SPARE	2

struct sentence_symbols *hyptrace_symbols_alloc(unsigned int nr)
{
	struct sentence_symbols *symbols;
	unsigned int bits = 1;

	while (1U << bits < nr * SPARE)
		bits++;
	symbols = calloc(1, sizeof(*symbols) + sizeof(symbols->table[0]) * (1UL << bits));
	if (symbols)
		symbols->bits = bits;
	return symbols;
}

/* Return false if there is no memory. The first name of a value is used. */
bool hyptrace_symbols_add(struct sentence_symbols *symbols, uint64_t value, const char *name)
{
	struct sentence_symbol *symbol =
		(struct sentence_symbol *)sentence_find_symbol(symbols, value);
	size_t len = strlen(name);
	char *text;

	if (symbol->text)
		return true;
	text = calloc(1, len + DIGITS_SLACK);
	if (!text)
		return false;
	memcpy(text, name, len);
	symbol->value = value;
	symbol->text = text;
	symbol->len = len;
	return true;
}

struct sentence_symbols *hyptrace_symbols_new(const struct hyptrace_field *field)
{
	struct sentence_symbols *symbols = hyptrace_symbols_alloc(field->nr_symbols);
	unsigned int i;

	for (i = 0; symbols && i < field->nr_symbols; i++) {
		if (hyptrace_symbols_add(symbols, field->symbols[i]->value,
					 field->symbols[i]->name))
			continue;
		hyptrace_symbols_free(symbols);
		return NULL;
	}
	return symbols;
}

void hyptrace_symbols_free(struct sentence_symbols *symbols)
{
	unsigned long i;

	for (i = 0; symbols && i < 1UL << symbols->bits; i++)
		free((char *)symbols->table[i].text);
	free(symbols);
}

/* Number of a hypercall: the low 16 bits of the function id */
#define CALL_ID_MAX	UINT16_MAX

/*
 * Types of less than 64 bits. The enums are not here: enum kvm_pgtable_prot has bits above 32.
 * pkvm_handle_t has 32 bits in 6.12 and 16 in 7.3: all that any kernel reads is printed.
 */
static const struct {
	const char		*type;
	struct sentence_arg	arg;
} small_types[] = {
	{ "bool", { 1, false, true } },
	{ "unsigned short", { 16, false, true } },
	{ "u32", { 32, false, true } },
	{ "unsigned int", { 32, false, true } },
	{ "int", { 32, true, true } },
	{ "pkvm_handle_t", { 32, false, false } },
};

/* Names of arguments that are counts or numbers of something, though their types are wide */
static const char *const count_names[] = { "pages", "id", "op" };

static struct sentence_arg describe_arg(const struct hyptrace_hypercall_arg *from)
{
	struct sentence_arg arg = { .bits = 64 };
	unsigned int i;

	for (i = 0; i < COUNT(small_types); i++)
		if (!strcmp(from->type, small_types[i].type))
			arg = small_types[i].arg;
	arg.is_count |= !strncmp(from->name, "nr_", 3);
	for (i = 0; i < COUNT(count_names); i++)
		arg.is_count |= !strcmp(from->name, count_names[i]);
	return arg;
}

/* Only printable ASCII, and no backslash: nothing here interprets escapes. */
bool hyptrace_is_plain(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '\\')
			return false;
	return true;
}

bool hyptrace_is_name(const char *text)
{
	const size_t len = strlen(text);

	return len <= SENTENCE_NAME_MAX && hyptrace_is_plain(text, len);
}

static bool is_call_plain(const struct hyptrace_hypercall *call)
{
	unsigned int i;

	for (i = 0; i < call->nr_args; i++)
		if (!hyptrace_is_name(call->args[i]->name))
			return false;
	return hyptrace_is_name(call->name);
}

/* Set the hypercalls. Return 0 or -ENOMEM; then nothing has changed. */
int hyptrace_names_set_calls(struct sentence_names *names,
			     struct hyptrace_hypercall *const *calls, unsigned int nr)
{
	struct sentence_call *table;
	unsigned int i, j, nr_ids = 0;

	for (i = 0; i < nr; i++)
		if (calls[i]->id <= CALL_ID_MAX && calls[i]->id >= nr_ids)
			nr_ids = calls[i]->id + 1;
	table = calloc(nr_ids ? nr_ids : 1, sizeof(*table));
	if (!table)
		return -ENOMEM;

	for (i = 0; i < nr; i++) {
		const struct hyptrace_hypercall *call = calls[i];

		if (call->id >= nr_ids || !is_call_plain(call))
			continue;
		table[call->id].call = call;
		table[call->id].runs_guest = !strcmp(call->name, "__kvm_vcpu_run");
		for (j = 0; j < call->nr_args && j < SENTENCE_ARGS; j++)
			table[call->id].args[j] = describe_arg(call->args[j]);
	}
	free(names->calls);
	names->calls = table;
	names->nr_calls = nr_ids;
	return 0;
}

const struct sentence_call *hyptrace_find_call(const struct sentence_names *names, uint64_t id)
{
	return id < names->nr_calls && names->calls[id].call ? &names->calls[id] : NULL;
}

const char *hyptrace_class_name(const struct sentence_names *names, uint64_t class)
{
	return names->classes ? sentence_find_symbol(names->classes, class)->text : NULL;
}
