# SPDX-License-Identifier: GPL-2.0-only
# For the tests of tools/.

comma := ,
tools := ../../tools
# command NAME...: the paths of these files of the command
command = $(foreach name,$(1),$(wildcard $(addsuffix /$(name),$(addprefix $(tools)/hyptrace,/. /* /*/*))))
# library NAME...: the same of the library
library = $(foreach name,$(1),$(wildcard $(addsuffix /$(name),$(addprefix $(tools)/lib,/. /* /*/*))))
tools-cflags := -I$(tools) -I$(tools)/hyptrace -I$(tools)/lib -I../../uapi -idirafter ../../uapi/compat \
	$(shell $(PKG_CONFIG) --cflags libnl-genl-3.0 libtraceevent)
tools-libs := $(shell $(PKG_CONFIG) --libs libnl-genl-3.0 libtraceevent)

# Allocations that fail: the linker redirects these calls of a test's sources to fail_alloc.c.
fail-alloc-names := malloc calloc reallocarray strdup strndup asprintf vasprintf open_memstream fclose \
	tep_alloc nl_socket_alloc nl_cb_alloc nlmsg_alloc_size genlmsg_put nla_put nla_put_u8 nla_put_u32 nla_put_u64 \
	nla_put_string nla_nest_start
fail-alloc := $(patsubst %,-Wl$(comma)--wrap=%,$(fail-alloc-names))

# A fake kernel that answers netlink requests, and a recorded conversation with a real one.
fake-netlink-srcs := fake_netlink.c conversation.c fail_alloc.c
fake-netlink-cflags = -DDATA='"$(CURDIR)/data"'
netlink-srcs := $(call library,query.c describe.c netlink.c error.c field.c control.c notify.c)

test_tools_args-srcs := $(call command,args.c) $(call command,die.c)
test_tools_args-cflags := $(tools-cflags)

test_tools_decode-srcs := $(call library,decode.c error.c)
test_tools_decode-cflags := $(tools-cflags)
test_tools_decode-libs := $(tools-libs)

test_tools_decode_any-srcs := $(call library,decode.c error.c)
test_tools_decode_any-cflags := $(tools-cflags)
test_tools_decode_any-libs := $(tools-libs)

test_tools_describe-srcs := $(call library,describe.c error.c field.c) fail_alloc.c
test_tools_describe-cflags := $(tools-cflags)
test_tools_describe-libs := $(tools-libs) $(fail-alloc)

test_tools_device-srcs := $(call library,device.c error.c) fail_alloc.c
test_tools_device-cflags := $(tools-cflags)
test_tools_device-libs := $(tools-libs) $(fail-alloc) \
	$(patsubst %,-Wl$(comma)--wrap=%,open close ioctl stat mmap munmap sysconf usleep)

test_tools_extack-srcs := $(call library,describe.c error.c)
test_tools_extack-cflags := $(tools-cflags)
test_tools_extack-libs := $(tools-libs)

tools-print-srcs := $(call library,field.c format.c format_check.c format_foreign.c model.c model_names.c \
	names.c print.c sentence.c sentence_printk.c)
tools-format-srcs := $(tools-print-srcs) $(call library,describe.c error.c)
tools-model-srcs := $(call library,nest.c nest_function.c nest_stack.c)

test_tools_model-srcs := $(tools-format-srcs) $(tools-model-srcs) fail_alloc.c
test_tools_model-cflags := $(tools-cflags)
test_tools_model-libs := $(tools-libs) $(fail-alloc)
test_tools_nest-srcs := $(tools-format-srcs) $(tools-model-srcs)
test_tools_nest-cflags := $(tools-cflags)
test_tools_nest-libs := $(tools-libs)
test_tools_nest_function-srcs := $(test_tools_nest-srcs)
test_tools_nest_function-cflags := $(test_tools_nest-cflags)
test_tools_nest_function-libs := $(test_tools_nest-libs)

test_tools_format-srcs := $(tools-format-srcs) fail_alloc.c
test_tools_format-cflags := $(tools-cflags)
test_tools_format-libs := $(tools-libs) $(fail-alloc)

test_tools_field-srcs := $(call library,field.c error.c)
test_tools_field-cflags := $(tools-cflags)
test_tools_field-libs := $(tools-libs)
test_tools_format_check-srcs := $(call library,format_check.c error.c)
test_tools_format_check-cflags := $(tools-cflags)
test_tools_format_check-libs := $(tools-libs)

test_tools_foreign-srcs := $(tools-format-srcs) fail_alloc.c
test_tools_foreign-cflags := $(tools-cflags)
test_tools_foreign-libs := $(tools-libs) $(fail-alloc)

filter-srcs := $(sort $(tools-format-srcs) $(call library,filter.c filter_parse.c))
test_tools_filter-srcs := $(filter-srcs) fail_alloc.c
test_tools_filter-cflags := $(tools-cflags)
test_tools_filter-libs := $(tools-libs) $(fail-alloc)
test_tools_filter_text-srcs := $(test_tools_filter-srcs)
test_tools_filter_text-cflags := $(test_tools_filter-cflags)
test_tools_filter_text-libs := $(test_tools_filter-libs)
test_tools_filter_any-srcs := $(test_tools_filter-srcs)
test_tools_filter_result-srcs := $(test_tools_filter-srcs)
test_tools_filter_result-cflags := $(test_tools_filter-cflags)
test_tools_filter_result-libs := $(test_tools_filter-libs)
test_tools_filter_any-cflags := $(test_tools_filter-cflags)
test_tools_filter_any-libs := $(test_tools_filter-libs)

test_tools_lines-srcs := $(call command,lines.c json_rows.c row.c map.c clock.c \
	csv.c printer.c columns.c out.c die.c) $(filter-srcs) $(tools-model-srcs)
test_tools_lines-cflags := $(tools-cflags)
test_tools_lines-libs := $(tools-libs)

test_tools_loop-srcs := $(call command,loop.c clock.c printer.c columns.c out.c die.c)
test_tools_loop-cflags := $(tools-cflags)

test_tools_strace-srcs := $(test_tools_lines-srcs) $(call command,strace_print.c)
test_tools_strace-cflags := $(test_tools_lines-cflags)
# the other functions are not called
test_tools_strace-libs := $(test_tools_lines-libs) $(patsubst %,-Wl$(comma)--defsym=%=die_no_memory,cmd_note choice_list session_fail)
test_tools_strace_choice-srcs := $(filter-srcs) $(tools-model-srcs) $(call command,strace_choice.c out.c die.c)
test_tools_strace_choice-cflags := $(test_tools_lines-cflags)
test_tools_strace_choice-libs := $(test_tools_lines-libs)
test_tools_graph-srcs := $(test_tools_lines-srcs) $(call command,graph_run.c graph_print.c graph_sums.c functions.c)
test_tools_graph-cflags := $(test_tools_lines-cflags)
# the other functions are not called
test_tools_graph-libs := $(test_tools_lines-libs) $(patsubst %,-Wl$(comma)--defsym=%=die_no_memory,choice_list \
	cmd_fail_verb event_hold filter_parse session_hold session_run)
test_tools_catch-srcs := $(call command,catch_find.c die.c)
test_tools_catch-cflags := $(tools-cflags)
# the other functions are not called
test_tools_catch_read-srcs := $(call command,catch_stream.c die.c)
test_tools_catch_read-cflags := $(tools-cflags)
test_tools_catch_read-libs := \
	$(patsubst %,-Wl$(comma)--wrap=%,clock_now poll hyptrace_stream_next catch_take catch_has_enough) \
	$(patsubst %,-Wl$(comma)--defsym=%=die_no_memory,catch_add_cpu cmd_get_cpus cmd_leave_out_func hyptrace_file_write \
	hyptrace_free_cpus ring_counts_of session_hold session_start hyptrace_stream_options)
test_tools_metrics-srcs := $(call command,stat_metrics.c counters.c out.c message.c die.c)
test_tools_metrics-cflags := $(tools-cflags) -DHYPTRACE_VERSION='"1"'
test_tools_pmu-srcs := $(call command,pmu.c message.c out.c die.c) $(tools-format-srcs) $(tools-model-srcs)
test_tools_pmu-cflags := $(tools-cflags)
test_tools_pmu-libs := $(tools-libs)
test_tools_loglin-srcs := $(call command,stat_rows.c map.c die.c)
test_tools_loglin-cflags := $(tools-cflags)
test_tools_stat_times-srcs := $(call command,stat_rows.c map.c die.c)
test_tools_stat_times-cflags := $(tools-cflags)

test_tools_top-srcs := $(call command,top_screen.c clock.c stat_columns.c \
	stat_rows.c map.c printer.c columns.c out.c die.c) \
	$(sort $(tools-format-srcs) $(tools-model-srcs))
test_tools_top-cflags := $(test_tools_lines-cflags)
# the other functions are not called
test_tools_top-libs := $(tools-libs) $(patsubst %,-Wl$(comma)--defsym=%=die_no_memory,cmd_note parse_duration)

# image_build() takes the answers of a driver; nothing else of the fake kernel is used.
dump-srcs := $(netlink-srcs) $(call library,dump.c memory.c device.c) dump_image.c conversation.c fail_alloc.c
dump-libs := $(tools-libs) $(fail-alloc) -Wl$(comma)--defsym=fake_netlink_reply=conversation_read
test_tools_dump-srcs := $(dump-srcs)
test_tools_dump-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_dump-libs := $(dump-libs)
test_tools_dump_damage-srcs := $(dump-srcs)
test_tools_dump_damage-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_dump_damage-libs := $(dump-libs)
test_tools_dump_limits-srcs := $(dump-srcs)
test_tools_dump_limits-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_dump_limits-libs := $(dump-libs)
test_tools_dump_map-srcs := $(dump-srcs)
test_tools_dump_map-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_dump_map-libs := $(dump-libs) $(patsubst %,-Wl$(comma)--wrap=%,mmap munmap)
# The test needs the header of libkdumpfile, and has its functions.
kdumpfile := $(shell $(PKG_CONFIG) --exists libkdumpfile && echo libkdumpfile)
test_tools_dump_kdump-srcs := $(dump-srcs) $(if $(kdumpfile),fake_kdumpfile.c)
test_tools_dump_kdump-cflags = $(tools-cflags) $(fake-netlink-cflags) \
	$(if $(kdumpfile),-DKDUMPFILE $(shell $(PKG_CONFIG) --cflags libkdumpfile))
test_tools_dump_kdump-libs := $(dump-libs) \
	$(if $(kdumpfile),$(patsubst %,-Wl$(comma)--wrap=%,dlopen dlsym dlerror fstat fstatfs))

test_tools_merge-srcs := $(call library,merge.c) fail_alloc.c
test_tools_merge-cflags := $(tools-cflags)
test_tools_merge-libs := $(tools-libs) $(fail-alloc)

test_tools_page-srcs := $(netlink-srcs) $(fake-netlink-srcs)
test_tools_page-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_page-libs := $(tools-libs) $(fail-alloc)
test_tools_visit-srcs := $(netlink-srcs) $(fake-netlink-srcs)
test_tools_visit-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_visit-libs := $(tools-libs) $(fail-alloc)
test_tools_page_history-srcs := $(call command,page_history.c die.c) $(tools-format-srcs) $(tools-model-srcs)
test_tools_page_history-cflags := $(tools-cflags)
test_tools_page_history-libs := $(tools-libs)
test_tools_page_leaks-srcs := $(call command,page_leaks.c page_history.c map.c die.c) \
	$(tools-format-srcs) $(tools-model-srcs)
test_tools_page_leaks-cflags := $(tools-cflags)
test_tools_page_leaks-libs := $(tools-libs)

test_tools_print-srcs := $(tools-format-srcs)
test_tools_print-cflags := $(tools-cflags)
test_tools_print-libs := $(tools-libs)

test_tools_sentence-srcs := $(tools-format-srcs) fail_alloc.c
test_tools_sentence-cflags := $(tools-cflags)
test_tools_sentence-libs := $(tools-libs) $(fail-alloc)
test_tools_hypercall-srcs := $(test_tools_sentence-srcs)
test_tools_hypercall-cflags := $(test_tools_sentence-cflags)
test_tools_hypercall-libs := $(test_tools_sentence-libs)
test_tools_printk-srcs := $(tools-format-srcs)
test_tools_printk-cflags := $(tools-cflags)
test_tools_printk-libs := $(tools-libs)
test_tools_export-srcs := $(call command,export.c export_parts.c export_chrome.c \
	export_collapsed.c export_csv.c export_ctf.c export_ctf_event.c export_ctf_meta.c functions.c origin.c \
	map.c csv.c json_rows.c row.c printer.c \
	columns.c out.c die.c) $(tools-format-srcs) $(tools-model-srcs)
test_tools_export-cflags := $(tools-cflags)
test_tools_export-libs := $(tools-libs)

test_tools_perfetto-srcs := $(call command,export.c export_parts.c export_perfetto.c export_perfetto_event.c \
	export_perfetto_ftrace.c functions.c \
	export_perfetto_track.c origin.c map.c out.c die.c) $(tools-format-srcs) $(tools-model-srcs) \
	perfetto_text.c
test_tools_perfetto-cflags := $(tools-cflags)
test_tools_perfetto-libs := $(tools-libs)
test_tools_error-srcs := $(call library,error.c)
test_tools_error-cflags := $(tools-cflags)
test_tools_nearest-srcs := $(call library,error.c)
test_tools_nearest-cflags := $(tools-cflags)

test_tools_control-srcs := $(sort $(netlink-srcs) $(filter-srcs) $(fake-netlink-srcs))
test_tools_control-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_control-libs := $(tools-libs) $(fail-alloc)

test_tools_counter-srcs := $(sort $(netlink-srcs) $(filter-srcs)) $(fake-netlink-srcs) \
	$(call command,counters.c die.c)
test_tools_counter-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_counter-libs := $(tools-libs) $(fail-alloc)

test_tools_netlink-srcs := $(netlink-srcs) $(fake-netlink-srcs)
test_tools_netlink-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_netlink-libs := $(tools-libs) $(fail-alloc)

test_tools_notify-srcs := $(netlink-srcs) $(fake-netlink-srcs)
test_tools_notify-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_notify-libs := $(tools-libs) $(fail-alloc) -Wl,--wrap=uname

test_tools_printer-srcs := $(call command,printer.c columns.c \
	out.c die.c)
test_tools_printer-cflags := $(tools-cflags)
test_tools_printer-libs :=


test_tools_query-srcs := $(netlink-srcs) $(fake-netlink-srcs)
test_tools_query-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_query-libs := $(tools-libs) $(fail-alloc)

# A driver with rings that a test fills.
stream-srcs := $(call library,stream.c stream_open.c stream_source.c \
	device.c decode.c merge.c) $(tools-print-srcs) $(netlink-srcs)
fake-device-names := open close ioctl read clock_gettime epoll_create1 epoll_ctl epoll_wait timerfd_create \
	timerfd_settime
fake-device := $(patsubst %,-Wl$(comma)--wrap=%,$(fake-device-names))
test_tools_stream-srcs := $(sort $(stream-srcs) $(fake-netlink-srcs) fake_device.c)
test_tools_stream-cflags = $(tools-cflags) $(fake-netlink-cflags)
test_tools_stream-libs := $(tools-libs) $(fail-alloc) $(fake-device)
test_tools_stream_end-srcs := $(test_tools_stream-srcs)
test_tools_stream_end-cflags = $(test_tools_stream-cflags)
test_tools_stream_end-libs := $(test_tools_stream-libs)
test_tools_stream_open-srcs := $(test_tools_stream-srcs)
test_tools_stream_open-cflags = $(test_tools_stream-cflags)
test_tools_stream_open-libs := $(test_tools_stream-libs)

# The writer (from hyp.mk) and the snapshot code, both as they ship.
snapshot-srcs := $(call library,snapshot.c decode.c error.c)
test_tools_snapshot-srcs := $(snapshot-srcs) $(call library,device.c)
test_tools_snapshot-cflags := $(tools-cflags)

test_tools_snapshot_any-srcs := $(snapshot-srcs) $(call library,device.c) fail_alloc.c
test_tools_snapshot_any-cflags := $(tools-cflags)
test_tools_snapshot_any-libs := $(tools-libs) $(fail-alloc)

test_ring_snapshot-srcs += $(snapshot-srcs)
test_ring_snapshot-cflags += $(tools-cflags)
test_ring_snapshot_tsan-srcs += $(snapshot-srcs)
test_ring_snapshot_tsan-cflags += $(tools-cflags) $(hyp-tsan)

# The file writer, on files of their own.
file-write-srcs := $(call library,file_write.c file_write_head.c file_write_part.c file_write_finish.c \
	file_write_zstd.c file_meta.c decode.c query.c netlink.c) \
	$(tools-format-srcs)
file-write-cflags := $(tools-cflags) -DHYPTRACE_VERSION='"1"' $(shell $(PKG_CONFIG) --cflags libzstd)
file-write-libs := $(tools-libs) $(shell $(PKG_CONFIG) --libs libzstd) -lpthread
test_file_write-srcs := $(file-write-srcs) fail_alloc.c
test_file_write-cflags := $(file-write-cflags)
test_file_write-libs := $(file-write-libs) $(fail-alloc)
test_file_outputs-srcs := $(file-write-srcs)
test_file_outputs-cflags := $(file-write-cflags)
test_file_outputs-libs := $(file-write-libs) $(patsubst %,-Wl$(comma)--wrap=%,fallocate fstatvfs pipe2 pthread_create)
test_file_end-srcs := $(file-write-srcs)
test_file_end-cflags := $(file-write-cflags)
test_file_end-libs := $(file-write-libs) $(patsubst %,-Wl$(comma)--wrap=%,pwrite copy_file_range fallocate close flock)
test_file_compress-srcs := $(file-write-srcs)
test_file_compress-cflags := $(file-write-cflags)
test_file_compress-libs := $(file-write-libs) $(patsubst %,-Wl$(comma)--wrap=%,pthread_mutex_init pthread_mutex_destroy \
	pthread_mutex_lock pthread_mutex_unlock pthread_cond_init pthread_cond_destroy pthread_cond_wait \
	pthread_cond_signal pthread_join ZSTD_compressCCtx)
test_file_options-srcs := $(file-write-srcs)
test_file_options-cflags := $(file-write-cflags)
test_file_options-libs := $(file-write-libs)
test_file_join-srcs := $(file-write-srcs)
test_file_join-cflags := $(file-write-cflags)
test_file_join-libs := $(file-write-libs) $(patsubst %,-Wl$(comma)--wrap=%,clock_gettime pread pwrite)

# Trace files made by hand, and the reader.
file-read-srcs := $(call library,file_begin.c file_cursor.c file_data.c file_formats.c file_head.c file_meta.c \
	file_next.c file_read.c file_run.c file_source.c decode.c) $(tools-format-srcs) $(netlink-srcs)
test_file_read-srcs := file_image.c $(sort $(file-read-srcs))
test_file_read-cflags := $(tools-cflags)
test_file_read-libs := $(tools-libs) $(shell $(PKG_CONFIG) --libs libzstd)
test_file_losses-srcs := $(test_file_read-srcs)
test_file_losses-cflags := $(test_file_read-cflags)
test_file_losses-libs := $(test_file_read-libs)
test_file_part-srcs := $(test_file_read-srcs)
test_file_part-cflags := $(test_file_read-cflags)
test_file_part-libs := $(test_file_read-libs)
test_file_hostile-srcs := $(test_file_read-srcs)
test_file_hostile-cflags = $(tools-cflags) -DDATA='"$(CURDIR)/data"'
test_file_hostile-libs := $(test_file_read-libs)
test_file_host-srcs := $(test_file_read-srcs) fail_alloc.c
test_file_host-cflags = $(tools-cflags) -DDATA='"$(CURDIR)/data"'
test_file_host-libs := $(test_file_read-libs) $(fail-alloc)
test_file_meta-srcs := $(sort $(tools-format-srcs) $(netlink-srcs) $(call library,file_meta.c)) fail_alloc.c
test_file_meta-cflags := $(tools-cflags)
test_file_meta-libs := $(tools-libs) $(fail-alloc)
test_file_refuse-srcs := $(test_file_read-srcs)
test_file_refuse-cflags := $(test_file_read-cflags)
test_file_refuse-libs := $(test_file_read-libs)
test_file_head-srcs := $(test_file_read-srcs)
test_file_head-cflags := $(test_file_read-cflags)
test_file_head-libs := $(test_file_read-libs)
test_file_missing-srcs := $(test_file_read-srcs)
test_file_missing-cflags := $(test_file_read-cflags)
test_file_missing-libs := $(test_file_read-libs)
test_file_sections-srcs := $(test_file_read-srcs)
test_file_sections-cflags := $(test_file_read-cflags)
test_file_sections-libs := $(test_file_read-libs)
test_file_walk-srcs := $(test_file_read-srcs)
test_file_walk-cflags := $(test_file_read-cflags)
test_file_walk-libs := $(test_file_read-libs)
test_file_chunks-srcs := $(test_file_read-srcs) fail_alloc.c
test_file_chunks-cflags := $(test_file_read-cflags)
test_file_chunks-libs := $(test_file_read-libs) $(fail-alloc)
test_file_begin-srcs := $(test_file_read-srcs)
test_file_begin-cflags := $(test_file_read-cflags)
test_file_begin-libs := $(test_file_read-libs)
test_file_formats-srcs := $(test_file_read-srcs)
test_file_formats-cflags := $(test_file_read-cflags)
test_file_formats-libs := $(test_file_read-libs)
test_file_convert-srcs := $(test_file_read-srcs)
test_file_convert-cflags := $(test_file_read-cflags)
test_file_convert-libs := $(test_file_read-libs)
test_file_cursor-srcs := $(test_file_read-srcs)
test_file_cursor-cflags := $(test_file_read-cflags)
test_file_cursor-libs := $(test_file_read-libs)
test_file_data-srcs := $(test_file_read-srcs)
test_file_data-cflags := $(test_file_read-cflags)
test_file_data-libs := $(test_file_read-libs)
test_file_io-srcs := $(test_file_read-srcs)
test_file_io-cflags = $(tools-cflags) -DDATA='"$(CURDIR)/data"'
test_file_io-libs := $(test_file_read-libs) -Wl$(comma)--wrap=pread
test_file_threads-srcs := $(test_file_read-srcs) fail_alloc.c
test_file_threads-cflags := $(test_file_read-cflags)
test_file_threads-libs := $(test_file_read-libs) $(fail-alloc) \
	$(patsubst %,-Wl$(comma)--wrap=%,pread pthread_create pthread_join sched_getaffinity)

# The file writer and the reader together.
file-both-srcs := $(sort $(file-write-srcs) $(file-read-srcs))
test_file_power-srcs := $(file-both-srcs)
test_file_power-cflags := $(file-write-cflags)
test_file_power-libs := $(file-write-libs) \
	$(patsubst %,-Wl$(comma)--wrap=%,pwrite copy_file_range fdatasync fsync fallocate unlink rename)
test_file_both-srcs := $(file-both-srcs)
test_file_both-cflags := $(file-write-cflags)
test_file_both-libs := $(file-write-libs)
# image_build() takes the answers of a driver; nothing else of the fake kernel is used.
test_file_create-srcs := $(sort $(file-both-srcs) $(call library,dump.c memory.c device.c)) dump_image.c conversation.c \
	fail_alloc.c
test_file_create-cflags = $(file-write-cflags) $(fake-netlink-cflags)
test_file_create-libs := $(file-write-libs) $(fail-alloc) -Wl$(comma)--defsym=fake_netlink_reply=conversation_read
test_file_splice-srcs := $(file-both-srcs)
test_file_splice-cflags := $(file-write-cflags)
test_file_splice-libs := $(file-write-libs) $(patsubst %,-Wl$(comma)--wrap=%,fcntl pread pwrite splice copy_file_range)
test_file_errors-srcs := $(file-both-srcs)
test_file_errors-cflags := $(file-write-cflags)
test_file_errors-libs := $(file-write-libs) $(patsubst %,-Wl$(comma)--wrap=%,pread pwrite copy_file_range fdatasync rename)
test_file_disk-srcs := $(file-both-srcs) fail_alloc.c
test_file_disk-cflags := $(file-write-cflags)
test_file_disk-libs := $(file-write-libs) $(fail-alloc) $(patsubst %,-Wl$(comma)--wrap=%,open pread pwrite splice \
	copy_file_range fallocate fstatvfs clock_gettime pthread_join ZSTD_compressCCtx)
test_file_memory-srcs := $(file-both-srcs)
test_file_memory-cflags := $(file-write-cflags)
test_file_memory-libs := $(file-write-libs) $(patsubst %,-Wl$(comma)--wrap=%,malloc realloc pwrite splice)
test_file_bounds-srcs := file_image.c $(file-both-srcs)
test_file_bounds-cflags := $(file-write-cflags)
test_file_bounds-libs := $(file-write-libs) -Wl,--wrap=pread

tracefs-srcs := $(netlink-srcs) $(call library,tracefs.c tracefs_format.c tracefs_page.c tracefs_pump.c tracefs_state.c \
	decode.c device.c) fail_alloc.c
test_tools_tracefs_query-srcs := $(tracefs-srcs)
test_tools_tracefs_query-cflags := $(tools-cflags)
test_tools_tracefs_query-libs := $(tools-libs) $(fail-alloc) -Wl,--wrap=uname
test_tools_tracefs_state-srcs := $(tracefs-srcs)
test_tools_tracefs_state-cflags := $(tools-cflags)
test_tools_tracefs_state-libs := $(tools-libs) $(fail-alloc)
test_tools_tracefs_read-srcs := $(sort $(tracefs-srcs) $(stream-srcs))
test_tools_tracefs_read-cflags := $(tools-cflags)
test_tools_tracefs_read-libs := $(tools-libs) $(fail-alloc)
test_tools_tracefs_errors-srcs := $(tracefs-srcs)
test_tools_tracefs_errors-cflags := $(tools-cflags)
test_tools_tracefs_errors-libs := $(tools-libs) $(fail-alloc) $(patsubst %,-Wl$(comma)--wrap=%,open statfs openat read \
	write fork pipe2 socketpair poll clock_gettime)
test_tools_tracefs_pump-srcs := $(tracefs-srcs)
test_tools_tracefs_pump-cflags := $(tools-cflags)
test_tools_tracefs_pump-libs := $(tools-libs) $(fail-alloc) $(patsubst %,-Wl$(comma)--wrap=%,getpagesize openat \
	memfd_create mmap munmap usleep)
test_tools_tracefs-srcs := $(call library,tracefs_format.c tracefs_page.c decode.c error.c)
test_tools_tracefs-cflags := $(tools-cflags)
test_tools_tracefs-libs := $(tools-libs)
test_tools_tracefs_edges-srcs := $(test_tools_tracefs-srcs)
test_tools_tracefs_edges-cflags := $(tools-cflags)
test_tools_tracefs_edges-libs := $(tools-libs)
