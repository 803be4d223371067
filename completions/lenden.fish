# The completion of lenden for fish.
#
# lenden itself knows what can follow: `lenden __complete` prints one word per line, a tab before what it
# means, or a line that begins with a colon if the shell has to complete a file or a program.

function __lenden_complete
    set -l before (commandline -opc)
    set -l typed (commandline -ct)
    for line in (lenden __complete "--typed=$typed" $before[2..-1] 2>/dev/null </dev/null)
        switch $line
            case ':file*'
                __lenden_files $typed
            case ':csv*'
                __lenden_files $typed | string match -r '^.*(?:/|\.(?:csv|xlsx|xls|ods))(?:\t.*)?$'
            case ':program*'
                set -l at (contains -i -- -- $before)
                complete -C (string join ' ' -- (string escape -- $before[(math $at + 1)..-1]) "$typed")
            case '*'
                printf '%s\n' $line
        end
    end
end

# A file may follow --flag= directly.
function __lenden_files
    set -l flag (string match -r -- '^--[^=]+=' "$argv[1]")
    set -l path (string replace -r -- '^--[^=]+=' '' "$argv[1]")
    string replace -r '^' -- "$flag" (__fish_complete_path "$path")
end

complete -c lenden -f -k -a '(__lenden_complete)'
