// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the events of an export are from, as a file says it.
 */
#include "output/die.h"
#include "export.h"

static char *cut_word(char **text)
{
	char *word = *text, *end = word + strcspn(word, " ");

	*text = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static char *make_csv(const struct origin *origin)
{
	auto_free char *machine = text_copy_csv(origin->machine);
	auto_free char *boot = text_copy_csv(origin->boot);
	auto_free char *kernel = text_copy_csv(origin->kernel);

	return xasprintf("%s,%s,%s", machine, boot, kernel);
}

static void put_member(struct out *out, const char *key, const char *value)
{
	if (!*value)
		return;
	out_printf(out, "%s\"%s\":", out->len ? "," : "", key);
	text_put_json(out, value);
}

static char *make_json(const struct origin *origin)
{
	struct out out;
	char *json;

	out_init_memory(&out);
	put_member(&out, "machine", origin->machine);
	put_member(&out, "boot", origin->boot);
	put_member(&out, "kernel", origin->kernel);
	out_putc(&out, '\0');
	json = xstrdup(out.buf);
	out_free(&out);
	return json;
}

struct origin *origin_new(const struct hyptrace_file_info *info)
{
	struct origin *origin = xcalloc(1, sizeof(*origin));
	char *text = xstrdup(info->uname ? info->uname : ""), *blank;

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
	origin->csv = make_csv(origin);
	origin->json = make_json(origin);
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
