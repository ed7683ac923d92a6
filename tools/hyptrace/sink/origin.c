// SPDX-License-Identifier: GPL-2.0-only
/* Where the events of an export are from, as a file says it. */
#include "output/die.h"
#include "export.h"

static char *cut_word(char **text)
{
	char *word = *text, *end = word + strcspn(word, " ");

	*text = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static void put_member(struct out *out, const char *key, const char *value)
{
	if (!*value)
		return;
	out_printf(out, "%s\"%s\":", out->len ? "," : "", key);
	text_put_json(out, value);
}

struct origin *origin_new(const struct hyptrace_file_info *info)
{
	auto_free char *machine = NULL, *boot = NULL, *kernel = NULL;
	struct origin *origin = xcalloc(1, sizeof(*origin));
	char *text = xstrdup(info->uname ? info->uname : ""), *blank;
	struct out json;

	origin->uname = text;
	origin->boot = xstrdup(info->boot ? info->boot : "");
	/* only the version has blanks */
	origin->system = cut_word(&text);
	origin->machine = cut_word(&text);
	origin->kernel = cut_word(&text);
	origin->version = text;
	blank = strrchr(text, ' ');
	origin->arch = blank ? blank + 1 : text + strlen(text);
	if (blank)
		*blank = '\0';
	machine = text_copy_csv(origin->machine);
	boot = text_copy_csv(origin->boot);
	kernel = text_copy_csv(origin->kernel);
	origin->csv = xasprintf("%s,%s,%s", machine, boot, kernel);
	out_init_memory(&json);
	put_member(&json, "machine", origin->machine);
	put_member(&json, "boot", origin->boot);
	put_member(&json, "kernel", origin->kernel);
	out_putc(&json, '\0');
	origin->json = json.buf;
	return origin;
}

void origin_free(struct origin *origin)
{
	if (!origin)
		return;
	free(origin->uname);
	free(origin->boot);
	free(origin->csv);
	free(origin->json);
	free(origin);
}
