# The completion of lenden for fish.
#
# Commands, flags and their words are written down below, so that a Tab on them starts no program.
# Profiles, methods, ids and batches are asked of lenden, which reads them from this machine alone.

function __lenden_complete
    set -l place ''
    set -l position 1
    set -l is_help ''
    set -l awaited ''
    set -l after
    set -l given
    set -l account
    set -l members
    set -l flags
    set -l operands
    set -l takes
    set -l tokens (commandline -opc)
    set -l cur (commandline -ct)
    __lenden_walk $tokens[2..-1]
    if set -q after[1]
        test "$operands" = @command
        and complete -C (string join ' ' -- (string escape -- $after[2..-1]) "$cur")
    else if test -n "$awaited"
        __lenden_flag $awaited
        and __lenden_values '' $cur (string split -n , -- $takes)
    else if string match -q -- '--*=*' $cur
        set -l parts (string split -m 1 = -- $cur)
        __lenden_flag $parts[1]
        and __lenden_values $parts[1]= $parts[2] (string split -n , -- $takes)
    else if string match -q -- '-*' $cur
        __lenden_flags
    else
        __lenden_next
    end
end

# Follows the words before the cursor: where they lead, and which flags are among them.
function __lenden_walk --no-scope-shadowing
    __lenden_known ''
    for index in (seq (count $argv))
        set -l word $argv[$index]
        if test -n "$awaited"
            __lenden_account $awaited $word
            set awaited ''
        else if test "$word" = --
            set after $argv[$index..-1]
            break
        else if string match -q -- '--*=*' $word
            set -l parts (string split -m 1 = -- $word)
            set -a given $parts[1]
            __lenden_account $parts
        else if string match -q -- '-*' $word
            set -a given $word
            __lenden_flag $word
            and set awaited $word
        else if test "$word" = help -a -z "$place$is_help"
            set is_help x
        else if contains -- $word (string replace -r ' .*' '' -- $members)
            set place (string trim -- "$place $word")
            __lenden_known $place
        else
            set position (math $position + 1)
        end
    end
end

# Whose ids are meant is said by these two flags.
function __lenden_account --no-scope-shadowing
    contains -- $argv[1] --profile --base-url
    and set -a account "$argv[1]=$argv[2]"
end

# Finds a flag that takes something, by one of its names: what it takes is in $takes then.
function __lenden_flag --no-scope-shadowing
    for flag in $flags $__lenden_everywhere
        set -l parts (string split -m 1 : -- (string replace -r ' .*' '' -- $flag))
        if contains -- $argv[1] (string split , -- (string trim -r -c + -- $parts[1]))
            set takes $parts[2]
            test (count $parts) -eq 2
            return
        end
    end
    return 1
end

function __lenden_next --no-scope-shadowing
    set -l operand $operands[$position]
    if test -n "$is_help" -o $position -eq 1 -a (count $members) -gt 0
        for member in $members
            test -n "$is_help"
            and string match -q 'help *' -- $member
            or __lenden_offer (string split -m 1 ' ' -- $member)
        end
    else if test -n "$operand" -a "$operand" != @command
        __lenden_values '' $cur (string split -n , -- $operand)
    else if test -z "$cur"
        __lenden_flags
    end
end

# Those that were not given yet, or can be given again.
function __lenden_flags --no-scope-shadowing
    test -n "$is_help"
    and return
    for flag in $flags $__lenden_everywhere
        set -l parts (string split -m 1 ' ' -- $flag)
        set -l names (string split , -- (string replace -r '\+?(:.*)?$' '' -- $parts[1]))
        set -l is_given ''
        for name in $names
            contains -- $name $given
            and not string match -qr '\+(:|$)' -- $parts[1]
            and set is_given x
        end
        if test -z "$is_given"
            for name in $names
                __lenden_offer $name $parts[2]
            end
        end
    end
end

# What of the word comes before the value ('' or --flag=), what of the value is typed, what it can be.
function __lenden_values --no-scope-shadowing
    for value in $argv[3..-1]
        switch $value
            case @file
                string replace -r '^' -- $argv[1] (__fish_complete_path $argv[2])
            case '@*'
                string replace -r '^' -- $argv[1] (__lenden_ask (string sub -s 2 -- $value) "--typed=$argv[2]" $account)
            case '*'
                __lenden_offer $argv[1]$value
        end
    end
end

function __lenden_ask
    lenden __complete $argv 2>/dev/null </dev/null
end

# fish itself would look for what is typed in the descriptions as well.
function __lenden_offer --no-scope-shadowing
    string match -qr -- '^'(string escape --style=regex -- "$cur") $argv[1]
    and printf '%s\t%s\n' $argv[1] "$argv[2]"
end

# Made from the command list by `npm run completions`:
set -g __lenden_everywhere \
    '--profile:@profile The account to use, of those that \'lenden profile list\' shows' \
    '--base-url: The service\'s address, instead of the profile\'s' \
    '-o,--output:table,json,ndjson,csv How to print the result: table, json, ndjson, csv' \
    '--json The same as --output json' \
    '-q,--quiet Print the id alone; of a list, one id a line' \
    '--yes Do not ask; needed for production off a terminal' \
    '--no-input Never ask for anything; fail instead' \
    '--timeout: For the whole command, for example 90s (default 60s)' \
    '--color:auto,always,never Colours: auto, always, never' \
    '-v,--verbose Show requests and answers on stderr, secrets masked' \
    '--version Print the version' \
    '-h,--help Show help'

function __lenden_known --no-scope-shadowing
    set members
    set flags
    set operands
    switch $argv[1]
        case ''
            set members \
                'methods List the payment methods of the account' \
                'pay Take payments from customers, and see whether they have paid' \
                'payout Send money to mobile wallets, each payout once' \
                'refund Pay back a completed payment, in whole or in part' \
                'sandbox Try everything out without real money' \
                'profile Keep accounts under names of your choice' \
                'ledger List, resolve and check what was sent from this machine' \
                'doctor Check configuration, connectivity and credentials' \
                'callback Receive the service\'s callbacks, and believe none of them unseen' \
                'api Make a raw call, signed when the path needs it' \
                'completion Print a shell\'s completion script, or install it' \
                'demo Tell the whole story, on a sandbox of its own' \
                'help Show the help of a command'
        case 'pay'
            set members \
                'create Create a payment and get the page where the customer pays' \
                'get Show a payment and its status, as the service has it now' \
                'wait Wait until a payment is Completed or Cancelled' \
                'list List the payments that this machine sent, newest first'
        case 'pay create'
            set flags \
                '--amount: The amount in taka, for example 1250.50' \
                '--description: What it is for, for example the order\'s number' \
                '--method:@method The payment method, as \'lenden methods\' shows it; a profile can hold it' \
                '--method-id: The method\'s id, sent without looking it up' \
                '--redirect-url: Where the customer goes after paying; a profile can hold it' \
                '--callback-url: Where the service reports changes of status; a profile can hold it' \
                '--payer: The customer\'s mobile number, filled in on the page' \
                '--gateway-type: The gateway type, where the service gave you one' \
                '--note: A note, kept with it' \
                '--again Send it even if the ledger already has the same one' \
                '--wait Wait until it is Completed or Cancelled' \
                '--wait-timeout: Wait at most this long (default 10m)' \
                '--interval: Look this often (growing from 0.5s to 10s, if left out)' \
                '--open Open the page in the browser' \
                '--qr Show the page\'s address as a QR code, on stderr' \
                '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        case 'pay get'
            set operands \
                '@payment'
        case 'pay wait'
            set flags \
                '--wait-timeout: Wait at most this long (default 10m)' \
                '--interval: Look this often (growing from 0.5s to 10s, if left out)'
            set operands \
                '@payment'
        case 'pay list'
            set flags \
                '--status:Processing,Completed,Cancelled Only those last seen with this status' \
                '--since: Only those sent at this time or later: 2026-11-20, today, 2h ago' \
                '--until: Only those sent at this time or earlier' \
                '--limit: At most this many (default 50)' \
                '--refresh Ask the service for each that is still Processing'
        case 'payout'
            set members \
                'send Send money to a mobile wallet, once' \
                'get Show a payout and its status, as the service has it now' \
                'wait Wait until a payout is Completed or Cancelled' \
                'list List the payouts that this machine sent, newest first' \
                'batch Pay everybody in a CSV file, each row once' \
                'sign Make a payout\'s signature, without sending anything' \
                'verify Check a payout\'s signature and say what is wrong with it'
        case 'payout send'
            set flags \
                '--amount: The amount in taka, for example 1250.50' \
                '--to: The recipient\'s mobile number, 01XXXXXXXXX' \
                '--method:@method The payment method, as \'lenden methods\' shows it; a profile can hold it' \
                '--method-id: The method\'s id, sent without looking it up' \
                '--ref: Your reference: letters, digits, - and _ (made for you if left out)' \
                '--name: The recipient\'s name' \
                '--description: What it is for' \
                '--again Send it even if the ledger already has the same one' \
                '--wait Wait until it is Completed or Cancelled' \
                '--wait-timeout: Wait at most this long (default 10m)' \
                '--interval: Look this often (growing from 0.5s to 10s, if left out)' \
                '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        case 'payout get'
            set operands \
                '@payout'
        case 'payout wait'
            set flags \
                '--wait-timeout: Wait at most this long (default 10m)' \
                '--interval: Look this often (growing from 0.5s to 10s, if left out)'
            set operands \
                '@payout'
        case 'payout list'
            set flags \
                '--status:Processing,Completed,Cancelled Only those last seen with this status' \
                '--since: Only those sent at this time or later: 2026-11-20, today, 2h ago' \
                '--until: Only those sent at this time or earlier' \
                '--limit: At most this many (default 50)' \
                '--refresh Ask the service for each that is still Processing'
        case 'payout batch'
            set members \
                'template Write a file of payouts to start from' \
                'check Look for everything that is wrong with a file of payouts' \
                'send Pay everybody in a file, each row once' \
                'status Show where the rows of a batch stand, and what they come to' \
                'list List the batches that were sent from this machine, newest first' \
                'export Write out a batch: the file\'s columns, and what came of each row' \
                'resolve Record rows with an unknown outcome as not created' \
                'cancel Cancel the rows of a batch that were not sent'
        case 'payout batch template'
            set flags \
                '--method:@method The method of the examples'
            set operands \
                '@file'
        case 'payout batch check'
            set flags \
                '--delimiter:comma,semicolon,tab What stands between the cells (comma, if left out)' \
                '--method:@method The method of rows that name none; a profile can hold it' \
                '--method-id: The method\'s id, sent without looking it up' \
                '--name: A name that makes it a separate batch (default: the file\'s)' \
                '--allow-duplicates Accept rows that repeat a payout: in the file, within 24 hours, in another batch'
            set operands \
                '@file'
        case 'payout batch send'
            set flags \
                '--delimiter:comma,semicolon,tab What stands between the cells (comma, if left out)' \
                '--method:@method The method of rows that name none; a profile can hold it' \
                '--method-id: The method\'s id, sent without looking it up' \
                '--name: A name that makes it a separate batch (default: the file\'s)' \
                '--allow-duplicates Accept rows that repeat a payout: in the file, within 24 hours, in another batch' \
                '--concurrency: Rows at a time (default 4, at most 64)' \
                '--rate: At most so many requests a second' \
                '--expect-total: Send only if this is the file\'s total' \
                '--expect-count: Send only if the file has so many rows' \
                '--wait Wait until it is Completed or Cancelled' \
                '--wait-timeout: Wait at most this long (default 10m)' \
                '--interval: Look this often (growing from 0.5s to 10s, if left out)' \
                '--dry-run Print the request that would be sent, secrets masked, and send nothing'
            set operands \
                '@file'
        case 'payout batch status'
            set flags \
                '--refresh Ask the service for every row that has not ended' \
                '--watch Follow the process that sends it, until it ends' \
                '--wait Wait until it is Completed or Cancelled' \
                '--wait-timeout: Wait at most this long (default 10m)' \
                '--interval: Look this often (growing from 0.5s to 10s, if left out)'
            set operands \
                '@batch,@file'
        case 'payout batch list'
            set flags \
                '--limit: At most this many (default 50)'
        case 'payout batch export'
            set flags \
                '--only:failed,completed,processing,cancelled,refused,conflict,uncertain,unsent Only the rows that stand there: failed, completed, processing, cancelled, refused, conflict, uncertain, unsent' \
                '--exact Write CSV cells unchanged; a spreadsheet may run them as formulas'
            set operands \
                '@batch,@file'
        case 'payout batch resolve'
            set flags \
                '--not-created The dashboard does not show these rows (required)' \
                '--rows: Only these line numbers of the file (its header is line 1): 3,7-9'
            set operands \
                '@batch,@file'
        case 'payout batch cancel'
            set operands \
                '@batch,@file'
        case 'payout sign'
            set flags \
                '--amount: The amount in taka, for example 1250.50' \
                '--ref: The payout\'s reference' \
                '--timestamp: The request\'s timestamp (now, if left out)'
        case 'payout verify'
            set flags \
                '--amount: The amount in taka, for example 1250.50' \
                '--ref: The payout\'s reference' \
                '--timestamp: The request\'s timestamp' \
                '--signature: The signature to check'
        case 'refund'
            set members \
                'create Pay back a completed payment, in whole or in part' \
                'get Show a refund and its status, as the service has it now' \
                'wait Wait until a refund is Completed or Cancelled' \
                'list List the refunds that this machine sent, newest first' \
                'cancel Cancel a refund that is still Processing'
        case 'refund create'
            set flags \
                '--payment:@payment The payment to pay back, or @last' \
                '--amount: The amount in taka, for example 1250.50' \
                '--account-type:personal,business The kind of account that receives it' \
                '--account-number: The account that receives it, sent as you type it' \
                '--note: A note, kept with it' \
                '--again Send it even if the ledger already has the same one' \
                '--wait Wait until it is Completed or Cancelled' \
                '--wait-timeout: Wait at most this long (default 10m)' \
                '--interval: Look this often (growing from 0.5s to 10s, if left out)' \
                '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        case 'refund get'
            set operands \
                '@refund'
        case 'refund wait'
            set flags \
                '--wait-timeout: Wait at most this long (default 10m)' \
                '--interval: Look this often (growing from 0.5s to 10s, if left out)'
            set operands \
                '@refund'
        case 'refund list'
            set flags \
                '--status:Processing,Completed,Cancelled Only those last seen with this status' \
                '--since: Only those sent at this time or later: 2026-11-20, today, 2h ago' \
                '--until: Only those sent at this time or earlier' \
                '--limit: At most this many (default 50)' \
                '--refresh Ask the service for each that is still Processing'
        case 'refund cancel'
            set flags \
                '--note: A note, kept with it' \
                '--dry-run Print the request that would be sent, secrets masked, and send nothing'
            set operands \
                '@refund'
        case 'sandbox'
            set members \
                'start Start a local sandbox' \
                'exec Run a command against a temporary sandbox' \
                'trigger Play the customer who pays, or the recipient who gets the money' \
                'set Set the status of a local sandbox record' \
                'requests Show the local sandbox\'s request log' \
                'info Show sandbox account details'
        case 'sandbox start'
            set flags \
                '--port: Port on 127.0.0.1; 0 for any free port' \
                '--data:@file Store records and keys in this file (default: in memory)' \
                '--auto-complete: Complete Processing records after this time, for example 2s' \
                '--latency: Delay of each response, for example 100ms' \
                '--fault+: Inject a fault: <endpoint>:<kind>[:<rate>], as createPayout:reset:0.3' \
                '--callback-fault+: Inject a fault into callbacks: <kind>[:<rate>], as lost:0.2' \
                '--refund-callback-url: Callback URL for refunds (payments set their own)' \
                '--seed: Make IDs, keys and faults the same in every run'
        case 'sandbox exec'
            set flags \
                '--port: Port on 127.0.0.1; 0 for any free port' \
                '--data:@file Store records and keys in this file (default: in memory)' \
                '--auto-complete: Complete Processing records after this time, for example 2s' \
                '--latency: Delay of each response, for example 100ms' \
                '--fault+: Inject a fault: <endpoint>:<kind>[:<rate>], as createPayout:reset:0.3' \
                '--callback-fault+: Inject a fault into callbacks: <kind>[:<rate>], as lost:0.2' \
                '--refund-callback-url: Callback URL for refunds (payments set their own)' \
                '--seed: Make IDs, keys and faults the same in every run'
            set operands \
                '@command'
        case 'sandbox trigger'
            set members \
                'payment Complete a sandbox payment' \
                'payout Complete a sandbox payout'
        case 'sandbox trigger payment'
            set flags \
                '--dry-run Print the request that would be sent, secrets masked, and send nothing'
            set operands \
                '@payment'
        case 'sandbox trigger payout'
            set flags \
                '--dry-run Print the request that would be sent, secrets masked, and send nothing'
            set operands \
                '@payout'
        case 'sandbox set'
            set operands \
                'payment,payout,refund' \
                ',' \
                'Completed,Cancelled'
        case 'sandbox requests'
            set flags \
                '--follow Continue and show new requests as they arrive'
        case 'profile'
            set members \
                'add Add or replace a profile' \
                'list List profiles' \
                'show Show the effective configuration and its sources' \
                'use Set the default profile' \
                'set Change a profile setting' \
                'rename Rename a profile' \
                'remove Remove a profile and its credentials'
        case 'profile add'
            set flags \
                '--key-stdin Read the API key from standard input' \
                '--secret-stdin Read the payout secret from standard input' \
                '--key-file:@file Read the API key from a file' \
                '--secret-file:@file Read the payout secret from a file' \
                '--key-command: Command that prints the API key, run when needed' \
                '--secret-command: Command that prints the payout secret, run when needed' \
                '--keychain Store both in the operating system\'s keychain' \
                '--environment:sandbox,production Environment that the key must be for (default: the key\'s)' \
                '--redirect-url: Where customers return to' \
                '--callback-url: Where the API sends callbacks' \
                '--method:@method Default payment method' \
                '--number-format:local,e164,as-is Format in which mobile numbers are sent (default: local)' \
                '--confirm-above: In production, type amounts above this to confirm (default: 10000)' \
                '--replace Replace the profile of this name'
            set operands \
                ','
        case 'profile show'
            set operands \
                '@profile'
        case 'profile use'
            set operands \
                '@profile'
        case 'profile set'
            set operands \
                'base-url,redirect-url,callback-url,method,number-format,confirm-above' \
                ','
        case 'profile rename'
            set operands \
                '@profile' \
                ','
        case 'profile remove'
            set operands \
                '@profile'
        case 'ledger'
            set members \
                'show Show an operation and everything that happened to it' \
                'list List operations, newest first' \
                'resolve Resolve operations whose outcome is unknown' \
                'export Write out the whole ledger of the account, oldest first' \
                'check Verify that the ledger was not modified' \
                'backup Write a copy of the ledger to a file' \
                'restore Replace the ledger with a backup'
        case 'ledger show'
            set operands \
                '@operation'
        case 'ledger list'
            set flags \
                '--unknown Only operations whose outcome is unknown' \
                '--limit: At most this many (default: 50; all with --unknown)'
        case 'ledger resolve'
            set flags \
                '--created: It was created, and the API has it with this ID' \
                '--not-created It was not created, as the dashboard shows'
            set operands \
                '@operation'
        case 'ledger export'
            set flags \
                '--exact Write CSV cells unchanged; a spreadsheet may run them as formulas'
        case 'ledger check'
            set flags \
                '--accept Accept the ledger as it is, after you reviewed it' \
                '--accept-hash: The same non-interactively, if its newest event has this hash'
        case 'ledger backup'
            set operands \
                '@file'
        case 'ledger restore'
            set operands \
                '@file'
        case 'callback'
            set members \
                'listen Receive callbacks on this machine, verify each, and pass it on' \
                'verify Hold a callback against the service: verified, forged, mismatched or unknown' \
                'list List the callbacks that came to this machine, newest first' \
                'show Show a callback as it came, and what the service said of it' \
                'replay Verify a callback of the ledger anew, and pass it on again' \
                'test Find out which false callbacks your own handler believes'
        case 'callback listen'
            set flags \
                '--port: The port on 127.0.0.1 (default 4343); 0 takes any free one' \
                '--forward-to: Where to pass each callback on to' \
                '--poll Ask the service about all that is Processing in the ledger; listens too only with --port' \
                '--print-json Print one JSON document a line, as --json does' \
                '--once End after the first verified one' \
                '--for:@payment End when this payment is Completed or Cancelled, as the service has it'
        case 'callback verify'
            set flags \
                '--expect-amount: The amount that the service must have, whatever is claimed' \
                '--expect-ref: The description that the service must have, for example an order\'s number'
            set operands \
                '@file'
        case 'callback list'
            set flags \
                '--verdict:verified,forged,mismatched,unknown,unchecked Only those that came out like this' \
                '--limit: At most this many (default 50)'
        case 'callback show'
            set operands \
                ','
        case 'callback replay'
            set flags \
                '--forward-to: Where to pass it on to'
            set operands \
                ','
        case 'callback test'
            set flags \
                '--orders: Your shop\'s book, with {id} for the transaction id' \
                '--only+:genuine,forged-id,forged-status,wrong-amount,other-order,replay,duplicates,out-of-order,then-cancelled,unknown-status,slow-body,huge-body Only this one beside genuine: forged-id, forged-status, wrong-amount, other-order, replay, duplicates, out-of-order, then-cancelled, unknown-status, slow-body, huge-body' \
                '--answer-within: How long an answer may take (default 10s, as the local sandbox waits)' \
                '--settle: How long your handler may go on after its answers (default 1s)' \
                '--own-host: Send to this host although it is another machine: the one that <url> names' \
                '--junit:@file Write a JUnit report too'
            set operands \
                ','
        case 'api'
            set flags \
                '-f,--field+: A field of the body or the query' \
                '--input:@file A JSON body from a file, or from standard input with -' \
                '--include Show the answer\'s status and headers too' \
                '--again Send it even if the ledger already has the same one' \
                '--dry-run Print the request that would be sent, secrets masked, and send nothing'
            set operands \
                'GET,POST,PATCH,PUT,DELETE' \
                ','
        case 'completion'
            set flags \
                '--install Write it to where the shell finds it' \
                '--uninstall Remove what --install wrote'
            set operands \
                'bash,zsh,fish,powershell'
    end
end
# End of what is made.

complete -c lenden -f -k -a '(__lenden_complete)'
