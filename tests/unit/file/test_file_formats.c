// SPDX-License-Identifier: GPL-2.0-only
/* How much of the formats and names in the headers is used: just up to each limit. */
#include <event-parse.h>

#include "file_sections.h"

#define FORMAT_MAX	(64 << 10)
#define FORMATS_MAX	(5 << 20)
#define FUNCTIONS_MAX	(160 << 10)
#define TEXT_MAX	(8 << 20)

static char content[(24 << 20) + 64];

/* Add a format to those of a system. Return where the next one begins. */
static char *add_format(char *to, const char *text, size_t size)
{
	const uint64_t says = size;

	memcpy(to, &says, 8);
	memset(to + 8, 'x', size);
	memcpy(to + 8, text, strlen(text));
	return to + 8 + size;
}

/* The events of a system that has so many formats, which end before @behind */
static struct hyptrace_file *open_system(uint32_t nr, const char *behind)
{
	const uint32_t one = 1;

	memcpy(content, &one, 4);
	strcpy(content + 4, "test");
	memcpy(content + 9, &nr, 4);
	begin("none", "");
	pointer(OPTION_EVENT_FORMATS,
		section(OPTION_EVENT_FORMATS, content, behind - content, false));
	end();
	return good();
}

/* All formats together: one that is too much is left out, also if smaller ones follow. */
static void size_of_formats(void **state)
{
	struct hyptrace_file *file;
	unsigned int more, i;
	char *to;

	(void)state;
	for (more = 0; more < 2; more++) {
		to = content + 13;
		for (i = 0; i < FORMATS_MAX / FORMAT_MAX - 1; i++)
			to = add_format(to, "", FORMAT_MAX);
		to = add_format(to, "", FORMAT_MAX - strlen(TICK) + more);
		to = add_format(to, TICK, strlen(TICK));
		file = open_system(i + 2, to);
		assert_int_equal(hyptrace_file_info(file)->nr_events, !more);
		hyptrace_file_close(file);
	}
}

static void number_of_events(void **state)
{
	struct hyptrace_file *file;
	char text[256], *to = content + 13;
	unsigned int i;

	(void)state;
	for (i = 0; i < 16386; i++) {
		snprintf(text, sizeof(text), "name: e%u\nID: %u\nformat:\n"
			 "\tfield:u16 common_type;\toffset:0;\tsize:2;\n\nprint fmt: \"\"\n",
			 i, i + 1);
		to = add_format(to, text, strlen(text));
	}
	file = open_system(i, to);
	assert_int_equal(hyptrace_file_info(file)->nr_events, 16384);
	hyptrace_file_close(file);
}

/* Nothing is printed about a format that libtraceevent does not understand. */
static void silent(void **state)
{
	const char *text = "name: tick\nID: 7\nformat:\n"
		"\tfield:u16 common_type;\toffset:0;\tsize:2;\n\n"
		"\tfield:int nr;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%d\", kernel_function(REC->nr)\n";
	struct hyptrace_file *file;
	FILE *said = tmpfile();
	int old = dup(STDERR_FILENO);

	(void)state;
	assert_non_null(said);
	tep_set_loglevel(TEP_LOG_ALL);
	assert_int_equal(dup2(fileno(said), STDERR_FILENO), STDERR_FILENO);
	file = open_system(1, add_format(content + 13, text, strlen(text)));
	dup2(old, STDERR_FILENO);
	close(old);
	assert_int_equal(hyptrace_file_info(file)->nr_events, 1);
	hyptrace_file_close(file);
	assert_int_equal(lseek(fileno(said), 0, SEEK_END), 0);
	fclose(said);
}

/* The field is where the format says, up to 65535 bytes. */
static void far_fields(void **state)
{
	static const struct {
		int	offset, size;
		bool	is_far;
	} cases[] = {
		{ 65535, 4, false }, { 65536, 4, true }, { 4, 65535, false }, { 4, 65536, true },
		{ 0, 0, false },
	};
	const struct hyptrace_event *event;
	struct hyptrace_file *file;
	char text[512];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text), "name: tick\nID: 7\nformat:\n"
			 "\tfield:u16 common_type;\toffset:0;\tsize:2;\n\n"
			 "\tfield:int nr;\toffset:%d;\tsize:%d;\tsigned:1;\n\n"
			 "print fmt: \"\"\n", cases[i].offset, cases[i].size);
		file = open_system(1, add_format(content + 13, text, strlen(text)));
		event = hyptrace_file_info(file)->events[0];
		assert_int_equal(event->nr_fields, 1);
		assert_int_equal(event->fields[0]->offset, cases[i].is_far ? 0 : cases[i].offset);
		assert_int_equal(event->fields[0]->size, cases[i].is_far ? 0 : cases[i].size);
		assert_true(event->fields[0]->is_signed);
		assert_int_equal(event->size, cases[i].is_far ? 2 :
				 MAX(2, cases[i].offset + cases[i].size));
		hyptrace_file_close(file);
	}
}

/* A file whose section of names is the content, of which its size has so many bytes */
static struct hyptrace_file *open_names(uint16_t id, size_t bytes, uint64_t size)
{
	memcpy(content, &size, bytes);
	begin("none", "");
	pointer(id, section(id, content, bytes + size, false));
	end();
	return good();
}

/* Is the address inside this function? NULL: no function is known there. */
static void is_function(struct hyptrace_file *file, uint64_t address, const char *name)
{
	const char *found = tep_find_function(file->tep, address);

	if (!name)
		assert_null(found);
	else
		assert_string_equal(found ? found : "none", name);
}

/* So many functions are known. libtraceevent knows where one ends by the next one. */
static void number_of_functions(void **state)
{
	struct hyptrace_file *file;
	unsigned int more, i;
	char *to;

	(void)state;
	for (more = 0; more < 2; more++) {
		to = content + 4;
		for (i = 0; i < FUNCTIONS_MAX - 2 + more; i++)
			to += sprintf(to, "1 T f\n");
		to += sprintf(to, "1000 T fun\n2000 T end\n");
		file = open_names(OPTION_KALLSYMS, 4, to - content - 4);
		is_function(file, 0x1010, more ? NULL : "fun");
		hyptrace_file_close(file);
	}
}

/* Names of 512 bytes, until so many bytes are used */
static void size_of_names(void **state)
{
	struct hyptrace_file *file;
	unsigned int more, i;
	char *to;

	(void)state;
	for (more = 0; more < 2; more++) {
		to = content + 8;
		for (i = 0; i < TEXT_MAX / 512 - 1; i++)
			to += sprintf(to, "7 %0512u\n", i);
		to += sprintf(to, "8 %0*u\n9 bash\n", 512 - 4 + more, 0);
		file = open_names(OPTION_CMDLINES, 8, to - content - 8);
		assert_string_equal(tep_data_comm_from_pid(file->tep, 9), more ? "<...>" : "bash");
		hyptrace_file_close(file);
	}
}

/* A text that is longer is skipped. */
static void size_of_text(void **state)
{
	const size_t max = 24 << 20;
	struct hyptrace_file *file;
	unsigned int more;

	(void)state;
	for (more = 0; more < 2; more++) {
		memset(content, ' ', sizeof(content));
		memcpy(content + 8 + max - 6, "9 bash", 6);
		file = open_names(OPTION_CMDLINES, 8, max + more);
		assert_string_equal(tep_data_comm_from_pid(file->tep, 9), more ? "<...>" : "bash");
		hyptrace_file_close(file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_of_formats), cmocka_unit_test(number_of_events),
		cmocka_unit_test(silent),
		cmocka_unit_test(far_fields), cmocka_unit_test(number_of_functions),
		cmocka_unit_test(size_of_names), cmocka_unit_test(size_of_text),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
