# SPDX-License-Identifier: GPL-2.0-only
# Completion of hyptrace in fish. The verbs and options are those that "hyptrace help" prints when fish loads this file.

# Run the command. After "sudo" also run it by sudo, unless that needs a password.
function __hyptrace_run
    command -q hyptrace; or return
    command hyptrace $argv 2>/dev/null; and return
    status stack-trace | string match -q '*__fish_complete_sudo*'; and command sudo -n hyptrace $argv 2>/dev/null
end

# Print the verbs, or the formats of the verb "export", and what they do, separated by tabs.
function __hyptrace_listed
    __hyptrace_run help $argv | string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
end

# Run "list" for the remote of the command line.
function __hyptrace_list
    set -l line (commandline -opc | string join ' ')
    set -l remote (string match -r -- ' (?:-r|--remote)[ =](\S+)' $line)[2]
    set -q remote[1]; and set remote --remote=$remote
    __hyptrace_run $remote list $argv
end

# Print the names that the key $argv[1] follows in JSON: "id" follows an event's, "description" a remote's.
# Only plain names: a print format may have any text as the name of a value.
function __hyptrace_names
    __hyptrace_list -j | string match -ra '"name":"[A-Za-z0-9_-]*","'$argv[1]'"' | string split -f 4 '"'
end

# Print the calls of "strace": the values of the fields that name them, and their events.
function __hyptrace_calls
    string split ' ' 'host_hcall host_smc psci_call host_ffa_call guest_exit guest_fixup'
    __hyptrace_list -vj | string match -ra '"name":"(?:id|func|func_id|code|ec)","type"[^}]*}' |
        string match -rag '"[0-9]+":"([A-Za-z0-9_-]*)"'
end

# Print the functions of "graph".
function __hyptrace_functions
    __hyptrace_list -vj func | string match -rag '"[0-9]+":"([A-Za-z0-9_-]*)"'
end

# Print the filter of the command line with its last name completed: a field, or after an operator a value of the field
# before it.
function __hyptrace_filter
    set -l text (commandline -ct | string replace -r '^--filter=' '' | string replace -r '^[\'"]' '')
    set -l head (string replace -r '\w*$' '' -- $text)
    set -l field (string match -r -- '([A-Za-z_]\w*)\s*(?:[=!<>]=|[<>&])\s*$' $head)[2]
    if set -q field[1]
        __hyptrace_list -vj | string match -ra '"name":"'$field'","type"[^}]*}' |
            string match -rag '"[0-9]+":"([A-Za-z0-9_-]*)"' | string replace -r '^' -- $head
    else if string match -rq -- '(?:^|&&|\|\||\()\s*$' $head
        __hyptrace_list -vj | string match -rag '"name":"([A-Za-z0-9_-]*)","type"' | string replace -r '^' -- $head
    end
end

# Print the verb of the command line.
function __hyptrace_verb
    set -l words (commandline -opc)[2..]
    while set -q words[1]
        switch $words[1]
            case -r -C -F -d -e -f -i -k -n -o --remote --after --by --cpu --color --columns --duration --event --file --limit --rotate --size --mode --rate --count --delay --filter --format --from --host --input --idle --interval --keep --key --order-bound --out --pid --pmu --time --timeout --to --trace --with
                set -e words[1]
            case '-*'
            case '*'
                echo $words[1]
                return
        end
        set -e words[1]
    end
    return 1
end

# __hyptrace_verb_is VERB...
function __hyptrace_verb_is
    contains -- (__hyptrace_verb) $argv
end

# __hyptrace_options CONDITION [VERB]: complete the options of a verb, or those before a verb.
function __hyptrace_options
    for line in (__hyptrace_run help $argv[2])
        string match -rq -- '^ +(?:-(?<short>\w), )? *--(?<long>[a-z-]+)(?<value>=\S+)?  +(?<text>.*)' $line; or continue
        set -l option -n $argv[1] -l $long -d $text
        test -n "$short"; and set -a option -s $short
        # the arguments of these options are files: the command completes no files elsewhere
        if contains -- $long file input out with
            set -a option -r -F
        else if test -n "$value"
            set -a option -x
        end
        switch $long
            case remote
                set -a option -a '(__hyptrace_names description)'
            case cpu
                set -a option -a 'all (seq 0 (math (getconf _NPROCESSORS_CONF) - 1))'
            case color
                set -a option -a 'auto always never'
            case mode
                set -a option -a 'overwrite discard'
            case size
                set -a option -a '64K 1M 16M'
            case event
                if test "$argv[2]" = graph
                    set -a option -a '(__hyptrace_functions)'
                else
                    set -a option -a 'all (__hyptrace_names id)'
                end
            case trace
                set -a option -a '(__hyptrace_calls)'
            case format
                set -a option -a '(__hyptrace_listed export)'
            case host
                set -a option -a '(ls -p /sys/kernel/tracing/events 2>/dev/null | string replace -fr "/\$" "")'
            case filter
                set -a option -a '(__hyptrace_filter)'
            case by
                set -a option -a 'reason hcall exit vcpu vm cpu memory lock'
            case pmu
                set -a option -a 'cycles instructions l1i_cache_refill l1d_cache_refill l1d_tlb_refill br_mis_pred mem_access'
            case key
                if test "$argv[2]" = top
                    set -a option -a 'name rate time mean max p99 samples total guest'
                else
                    set -a option -a 'samples time min max mean p50 p90 p99 p99.9 guest name'
                end
            case time
                set -a option -a 'abs rel delta wall'
        end
        complete -c hyptrace $option
    end
end

complete -c hyptrace -e
complete -c hyptrace -f
complete -c hyptrace -n 'not __hyptrace_verb; or __hyptrace_verb_is help' -a '(__hyptrace_listed)'
complete -c hyptrace -n '__hyptrace_verb_is list enable disable stream' -a 'all (__hyptrace_names id)'
complete -c hyptrace -n '__hyptrace_verb_is catch' -a '(__hyptrace_names id)'
complete -c hyptrace -n '__hyptrace_verb_is report dump export page leaks who' -F
# what follows the name of an event that can be counted
set -g __hyptrace_countable 'id"[^}]*"counted":[a-z]*e,'
complete -c hyptrace -n '__hyptrace_verb_is count' -a 'all (__hyptrace_names $__hyptrace_countable)'
__hyptrace_options 'not __hyptrace_verb'
for verb in (__hyptrace_listed | string split -f 1 \t)
    __hyptrace_options "__hyptrace_verb_is $verb" $verb
end
