# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Run jobs, the longest first and three for two processors at a time, and count their tests. A job is a command whose last
# line is "N passed, N failed". A line "# time: SECONDS NAME" of its output gives the time of one file of tests.
#
# If JOBS_FILE is set, jobs_run only adds the jobs to that file: check.sh runs the jobs of all suites together.
# BOOTS="NAME..." runs only the jobs of these names. The file jobs_results, if it is set, keeps the newest result of each job.
# jobs_most is how many run at a time. A job may be a function, which sees the local
# variables of jobs_run and jobs_one in place of others of these names. To be sourced.

jobs=()
jobs_results=''
jobs_most=$((($(nproc) * 3 + 1) / 2))

# job SECONDS NAME COMMAND...: add a job. The order of the jobs depends on how long it takes on an idle machine.
job()
{
	local command
	[[ -z ${BOOTS:-} || " $BOOTS " == *" $2 "* ]] || return 0
	printf -v command '%q ' "${@:3}"
	jobs+=("$1 $2 $command")
}

# jobs_one FOLDER NAME COMMAND: run a job, and then print its output and add its row to the summary.
jobs_one()
{
	local log=$1/log.$BASHPID start=$SECONDS code=0 nr_good=0 nr_bad=1 fd cpu
	(eval "$3") >"$log" 2>&1 </dev/null || code=$?
	if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		nr_good=${BASH_REMATCH[1]} nr_bad=${BASH_REMATCH[2]}
		if ((code && nr_bad == 0)); then
			echo "not ok # $2: its tests passed, but it ended with $code" >>"$log"
			nr_bad=1
		fi
	else
		echo "not ok # $2 could not run: it ended with $code, without the line \"N passed, N failed\"" >>"$log"
	fi
	exec {fd}>"$1/lock"
	flock "$fd"
	echo "=== $2"
	cat "$log"
	# the second line that times prints is that of the processes that have ended
	times >"$log.times"
	cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$log.times")
	printf '%-20s %5d passed, %3d failed, %4d s, %4d of CPU\n' "$2" "$nr_good" "$nr_bad" $((SECONDS - start)) "$cpu" >>"$1/rows"
	sed -n "s,^# time: \([0-9]*\) \(.*\),\1 \2 ($2),p" "$log" >>"$1/times"
	((!nr_bad)) || grep -a -B 3 -A 12 '^not ok' "$log" | head -n 40 | cut -c 1-160 | sed "s,^,$2: ," >>"$1/failed"
}

# keep_results ROWS: replace the results of these jobs in the file
keep_results()
{
	{
		printf '# SPDX-License-Identifier: GPL-2.0-only\n# Written by check.sh: the newest result of each job with FULL=1\n'
		awk -v date="$(date -u +%F)" 'FNR == NR { row[$1] = sprintf("%-20s %s %5d passed, %3d failed", $1, date, $2, $4) }
			FNR != NR && !/^#/ && !($1 in row) { row[$1] = $0 } END { for (name in row) print row[name] }' "$1" "$jobs_results" | sort
	} >"$jobs_results.new"
	mv "$jobs_results.new" "$jobs_results"
}

# Run all jobs, print the slowest files, what has failed and, as the last line, the sum of the tests. Fail if a test did.
jobs_run()
{
	local jobs_work code=0 running=0 line name command sorted
	if [[ -n ${JOBS_FILE:-} ]]; then
		((!${#jobs[@]})) || printf '%s\n' "${jobs[@]}" >>"$JOBS_FILE"
		return
	elif ((!${#jobs[@]})); then
		echo "0 passed, 0 failed"
		return
	fi
	jobs_work=$(mktemp -d)
	# each job in a process group of its own, so that a signal ends all of its processes
	set -m
	# shellcheck disable=SC2064 # the folder of now
	trap "jobs_kill; rm -rf '$jobs_work'; exit 130" INT TERM
	mapfile -t sorted < <(printf '%s\n' "${jobs[@]}" | sort -rn)
	for line in "${sorted[@]}"; do
		read -r _ name command <<<"$line"
		# a test that waits leaves its processor to others
		((running < jobs_most)) || { wait -n || true; ((running--)); }
		echo "=== $name begins"
		jobs_one "$jobs_work" "$name" "$command" &
		((++running))
	done
	wait
	set +m
	trap - INT TERM
	echo
	echo "the slowest files:"
	sort -rn "$jobs_work/times" | head -n 10 | while read -r line name; do
		printf '%6d s  %s\n' "$line" "$name"
	done
	echo
	sort "$jobs_work/rows"
	# again, since somebody may see only the end
	[[ ! -s $jobs_work/failed ]] || cat "$jobs_work/failed"
	awk '{ passed += $2; failed += $4 } END { printf "%d passed, %d failed\n", passed, failed
		exit failed || !passed }' "$jobs_work/rows" || code=1
	[[ -z ${jobs_results:-} ]] || keep_results "$jobs_work/rows"
	rm -rf "$jobs_work"
	return "$code"
}

jobs_kill()
{
	local pid
	for pid in $(builtin jobs -p); do
		kill -TERM -- "-$pid" 2>/dev/null
	done
}
