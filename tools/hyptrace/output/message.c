// SPDX-License-Identifier: GPL-2.0-only
/* Notes and errors on stderr. */
#include "lib/hyptrace.h"
#include "die.h"
#include "out.h"

/* Takes all notes in place of stderr while a verb uses the whole terminal */
void (*cmd_note_to)(const char *text);

void cmd_note(const char *fmt, ...)
{
	auto_free char *text = NULL, *plain = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	/* names may hold control characters */
	plain = text_copy_plain(text);
	/* in one write: other processes may write there, too */
	if (cmd_note_to)
		cmd_note_to(plain);
	else
		fprintf(stderr, "hyptrace: %s\n", plain);
}

int cmd_fail_verb(const char *verb, const char *subject, const struct hyptrace_error *err)
{
	const char *reason = err->text;
	size_t len = strlen(reason), name;

	if (err->subject[0])
		subject = err->subject;
	name = strlen(subject);
	/* the name is not needed twice, such as: no such event "foo" */
	if (len > name + 3 && reason[len - 1] == '"' &&
	    !memcmp(reason + len - 1 - name, subject, name) &&
	    !memcmp(reason + len - name - 3, " \"", 2))
		len -= name + 3;
	return cmd_fail("cannot %s \"%s\": %.*s", verb, subject, (int)len, reason);
}
