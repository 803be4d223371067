# The completion of lenden for PowerShell 5.1 or later.
#
# Commands, flags and their words are written down below, so that a Tab on them starts no program.
# Profiles, methods, ids and batches are asked of lenden, which reads them from this machine alone.

Register-ArgumentCompleter -Native -CommandName lenden -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { Get-LendenText $_.Extent.Text })
    $found = @(Get-LendenCandidates (Get-LendenState $words) (Get-LendenText "$wordToComplete"))
    # An empty text keeps PowerShell from offering files where they mean nothing.
    if ($found.Count -gt 0) { $found } else { '' }
}

function Get-LendenText([string]$word) {
    $word.Trim([char[]]@([char]39, [char]34))
}

# Follows the words before the cursor: where they lead, and which flags are among them.
function Get-LendenState([string[]]$words) {
    $state = @{ Place = ''; Position = 0; IsHelp = $false; Awaited = ''; After = -1; Given = @(); Account = @() }
    foreach ($word in $words) {
        if ($state.After -ge 0) { $state.After += 1 }
        elseif ($state.Awaited) {
            $state.Account += @(Get-LendenAccount $state.Awaited $word)
            $state.Awaited = ''
        }
        elseif ($word -ceq '--') { $state.After = 0 }
        elseif ($word -like '--*=*') {
            $name, $value = $word -split '=', 2
            $state.Given += $name
            $state.Account += @(Get-LendenAccount $name $value)
        }
        elseif ($word -like '-*') {
            $state.Given += $word
            if ($null -ne (Get-LendenTakes $state.Place $word)) { $state.Awaited = $word }
        }
        else { Step-LendenState $state $word }
    }
    $state
}

function Step-LendenState($state, [string]$word) {
    $members = @(Get-LendenList $state.Place 'members' | ForEach-Object { ($_ -split ' ', 2)[0] })
    if ($word -ceq 'help' -and $state.Place -eq '' -and -not $state.IsHelp) { $state.IsHelp = $true }
    elseif ($members -ccontains $word) { $state.Place = "$($state.Place) $word".Trim() }
    else { $state.Position += 1 }
}

# Whose ids are meant is said by these two flags.
function Get-LendenAccount([string]$name, [string]$value) {
    if ($name -ceq '--profile' -or $name -ceq '--base-url') { "$name=$value" }
}

function Get-LendenList([string]$place, [string]$name) {
    $known = $global:LendenPlaces[$place]
    if ($known -and $known.ContainsKey($name)) { $known[$name] }
}

# Name, sentence, what it takes (nothing: $null), and whether it can be given again.
function Get-LendenFlags([string]$place) {
    foreach ($flag in @(Get-LendenList $place 'flags') + $global:LendenEverywhere) {
        $usage, $about = $flag -split ' ', 2
        $names, $takes = $usage -split ':', 2
        @{ Names = $names.TrimEnd('+') -split ','; About = $about; Takes = $takes; IsMany = $names.EndsWith('+') }
    }
}

function Get-LendenTakes([string]$place, [string]$name) {
    foreach ($flag in Get-LendenFlags $place) {
        if ($flag.Names -ccontains $name) { return $flag.Takes }
    }
}

function Get-LendenCandidates($state, [string]$typed) {
    $operands = @(Get-LendenList $state.Place 'operands')
    $members = @(Get-LendenList $state.Place 'members')
    if ($state.After -ge 0) {
        if ($operands -ccontains '@command') { Get-LendenForeign $state.After $typed }
    }
    elseif ($state.Awaited) {
        Get-LendenValues (Get-LendenTakes $state.Place $state.Awaited) '' $typed $state.Account
    }
    elseif ($typed -like '--*=*') {
        $name, $value = $typed -split '=', 2
        Get-LendenValues (Get-LendenTakes $state.Place $name) "$name=" $value $state.Account
    }
    elseif ($typed -like '-*') { Get-LendenOpenFlags $state $typed }
    elseif ($state.IsHelp -or ($members.Count -gt 0 -and $state.Position -eq 0)) {
        foreach ($member in $members) {
            $name, $about = $member -split ' ', 2
            if (-not ($state.IsHelp -and $name -ceq 'help')) { New-LendenResult $name $about $typed }
        }
    }
    elseif ($state.Position -lt $operands.Count -and $operands[$state.Position] -cne '@command') {
        Get-LendenValues $operands[$state.Position] '' $typed $state.Account
    }
    elseif ($typed -eq '') { Get-LendenOpenFlags $state $typed }
}

# Those that were not given yet, or can be given again.
function Get-LendenOpenFlags($state, [string]$typed) {
    if ($state.IsHelp) { return }
    foreach ($flag in Get-LendenFlags $state.Place) {
        $isGiven = @($flag.Names | Where-Object { $state.Given -ccontains $_ }).Count -gt 0
        if ($isGiven -and -not $flag.IsMany) { continue }
        foreach ($name in $flag.Names) { New-LendenResult $name $flag.About $typed }
    }
}

# What can stand there; what of the word comes before it ('' or --flag=), and what of it is typed.
function Get-LendenValues([string]$values, [string]$before, [string]$typed, [string[]]$account) {
    foreach ($value in $values -split ',' | Where-Object { $_ }) {
        if ($value -ceq '@file') { Get-LendenFiles $before $typed }
        elseif ($value -like '@*') {
            $ask = @('__complete', $value.Substring(1), "--typed=$typed") + $account
            foreach ($line in & lenden @ask 2>$null) {
                $found, $about = $line -split "`t", 2
                New-LendenResult "$before$found" $about "$before$typed"
            }
        }
        else { New-LendenResult "$before$value" $value "$before$typed" }
    }
}

function Get-LendenFiles([string]$before, [string]$typed) {
    foreach ($file in [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed)) {
        [System.Management.Automation.CompletionResult]::new(
            $before + $file.CompletionText, $file.ListItemText, 'ParameterValue', $file.ToolTip)
    }
}

# After -- there is another program's command line.
function Get-LendenForeign([int]$position, [string]$typed) {
    if ($position -gt 0) { Get-LendenFiles '' $typed }
    else { [System.Management.Automation.CompletionCompleters]::CompleteCommand($typed) }
}

# A text that begins with @ would mean something to PowerShell; a tooltip must not be empty.
function New-LendenResult([string]$text, [string]$about, [string]$typed) {
    if (-not $text.StartsWith($typed, [System.StringComparison]::Ordinal)) { return }
    $written = if ($text.StartsWith('@')) { "'$text'" } else { $text }
    $tooltip = if ($about) { $about } else { $text }
    [System.Management.Automation.CompletionResult]::new($written, $text, 'ParameterValue', $tooltip)
}

# Made from the command list by `npm run completions`:
$global:LendenEverywhere = @(
    '--profile:@profile The account to use, of those that ''lenden profile list'' shows'
    '--base-url: The service''s address, instead of the profile''s'
    '-o,--output:table,json,ndjson,csv How to print the result: table, json, ndjson, csv'
    '--json The same as --output json'
    '-q,--quiet Print the id alone; of a list, one id a line'
    '--yes Do not ask; needed for production off a terminal'
    '--no-input Never ask for anything; fail instead'
    '--timeout: For the whole command, for example 90s (default 60s)'
    '--color:auto,always,never Colours: auto, always, never'
    '-v,--verbose Show requests and answers on stderr, secrets masked'
    '--version Print the version'
    '-h,--help Show help'
)

$global:LendenPlaces = @{
    '' = @{
        members = @(
            'methods List the payment methods of the account'
            'pay Take payments from customers, and see whether they have paid'
            'payout Send money to mobile wallets, each payout once'
            'refund Pay back a completed payment, in whole or in part'
            'sandbox Try everything out without real money'
            'profile Keep accounts under names of your choice'
            'ledger List, resolve and check what was sent from this machine'
            'doctor Check configuration, connectivity and credentials'
            'callback Receive the service''s callbacks, and believe none of them unseen'
            'api Make a raw call, signed when the path needs it'
            'completion Print a shell''s completion script, or install it'
            'demo Tell the whole story, on a sandbox of its own'
            'help Show the help of a command'
        )
    }
    'pay' = @{
        members = @(
            'create Create a payment and get the page where the customer pays'
            'get Show a payment and its status, as the service has it now'
            'wait Wait until a payment is Completed or Cancelled'
            'list List the payments that this machine sent, newest first'
        )
    }
    'pay create' = @{
        flags = @(
            '--amount: The amount in taka, for example 1250.50'
            '--description: What it is for, for example the order''s number'
            '--method:@method The payment method, as ''lenden methods'' shows it; a profile can hold it'
            '--method-id: The method''s id, sent without looking it up'
            '--redirect-url: Where the customer goes after paying; a profile can hold it'
            '--callback-url: Where the service reports changes of status; a profile can hold it'
            '--payer: The customer''s mobile number, filled in on the page'
            '--gateway-type: The gateway type, where the service gave you one'
            '--note: A note, kept with it'
            '--again Send it even if the ledger already has the same one'
            '--wait Wait until it is Completed or Cancelled'
            '--wait-timeout: Wait at most this long (default 10m)'
            '--interval: Look this often (growing from 0.5s to 10s, if left out)'
            '--open Open the page in the browser'
            '--qr Show the page''s address as a QR code, on stderr'
            '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        )
    }
    'pay get' = @{
        operands = @(
            '@payment'
        )
    }
    'pay wait' = @{
        flags = @(
            '--wait-timeout: Wait at most this long (default 10m)'
            '--interval: Look this often (growing from 0.5s to 10s, if left out)'
        )
        operands = @(
            '@payment'
        )
    }
    'pay list' = @{
        flags = @(
            '--status:Processing,Completed,Cancelled Only those last seen with this status'
            '--since: Only those sent at this time or later: 2026-11-20, today, 2h ago'
            '--until: Only those sent at this time or earlier'
            '--limit: At most this many (default 50)'
            '--refresh Ask the service for each that is still Processing'
        )
    }
    'payout' = @{
        members = @(
            'send Send money to a mobile wallet, once'
            'get Show a payout and its status, as the service has it now'
            'wait Wait until a payout is Completed or Cancelled'
            'list List the payouts that this machine sent, newest first'
            'batch Pay everybody in a CSV file, each row once'
            'sign Make a payout''s signature, without sending anything'
            'verify Check a payout''s signature and say what is wrong with it'
        )
    }
    'payout send' = @{
        flags = @(
            '--amount: The amount in taka, for example 1250.50'
            '--to: The recipient''s mobile number, 01XXXXXXXXX'
            '--method:@method The payment method, as ''lenden methods'' shows it; a profile can hold it'
            '--method-id: The method''s id, sent without looking it up'
            '--ref: Your reference: letters, digits, - and _ (made for you if left out)'
            '--name: The recipient''s name'
            '--description: What it is for'
            '--again Send it even if the ledger already has the same one'
            '--wait Wait until it is Completed or Cancelled'
            '--wait-timeout: Wait at most this long (default 10m)'
            '--interval: Look this often (growing from 0.5s to 10s, if left out)'
            '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        )
    }
    'payout get' = @{
        operands = @(
            '@payout'
        )
    }
    'payout wait' = @{
        flags = @(
            '--wait-timeout: Wait at most this long (default 10m)'
            '--interval: Look this often (growing from 0.5s to 10s, if left out)'
        )
        operands = @(
            '@payout'
        )
    }
    'payout list' = @{
        flags = @(
            '--status:Processing,Completed,Cancelled Only those last seen with this status'
            '--since: Only those sent at this time or later: 2026-11-20, today, 2h ago'
            '--until: Only those sent at this time or earlier'
            '--limit: At most this many (default 50)'
            '--refresh Ask the service for each that is still Processing'
        )
    }
    'payout batch' = @{
        members = @(
            'template Write a file of payouts to start from'
            'check Look for everything that is wrong with a file of payouts'
            'send Pay everybody in a file, each row once'
            'status Show where the rows of a batch stand, and what they come to'
            'list List the batches that were sent from this machine, newest first'
            'export Write out a batch: the file''s columns, and what came of each row'
            'resolve Record rows with an unknown outcome as not created'
            'cancel Cancel the rows of a batch that were not sent'
        )
    }
    'payout batch template' = @{
        flags = @(
            '--method:@method The method of the examples'
        )
        operands = @(
            '@file'
        )
    }
    'payout batch check' = @{
        flags = @(
            '--delimiter:comma,semicolon,tab What stands between the cells (comma, if left out)'
            '--method:@method The method of rows that name none; a profile can hold it'
            '--method-id: The method''s id, sent without looking it up'
            '--name: A name that makes it a separate batch (default: the file''s)'
            '--allow-duplicates Accept rows that repeat a payout: in the file, within 24 hours, in another batch'
        )
        operands = @(
            '@file'
        )
    }
    'payout batch send' = @{
        flags = @(
            '--delimiter:comma,semicolon,tab What stands between the cells (comma, if left out)'
            '--method:@method The method of rows that name none; a profile can hold it'
            '--method-id: The method''s id, sent without looking it up'
            '--name: A name that makes it a separate batch (default: the file''s)'
            '--allow-duplicates Accept rows that repeat a payout: in the file, within 24 hours, in another batch'
            '--concurrency: Rows at a time (default 4, at most 64)'
            '--rate: At most so many requests a second'
            '--expect-total: Send only if this is the file''s total'
            '--expect-count: Send only if the file has so many rows'
            '--wait Wait until it is Completed or Cancelled'
            '--wait-timeout: Wait at most this long (default 10m)'
            '--interval: Look this often (growing from 0.5s to 10s, if left out)'
            '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        )
        operands = @(
            '@file'
        )
    }
    'payout batch status' = @{
        flags = @(
            '--refresh Ask the service for every row that has not ended'
            '--watch Follow the process that sends it, until it ends'
            '--wait Wait until it is Completed or Cancelled'
            '--wait-timeout: Wait at most this long (default 10m)'
            '--interval: Look this often (growing from 0.5s to 10s, if left out)'
        )
        operands = @(
            '@batch,@file'
        )
    }
    'payout batch list' = @{
        flags = @(
            '--limit: At most this many (default 50)'
        )
    }
    'payout batch export' = @{
        flags = @(
            '--only:failed,completed,processing,cancelled,refused,conflict,uncertain,unsent Only the rows that stand there: failed, completed, processing, cancelled, refused, conflict, uncertain, unsent'
            '--exact Write CSV cells unchanged; a spreadsheet may run them as formulas'
        )
        operands = @(
            '@batch,@file'
        )
    }
    'payout batch resolve' = @{
        flags = @(
            '--not-created The dashboard does not show these rows (required)'
            '--rows: Only these line numbers of the file (its header is line 1): 3,7-9'
        )
        operands = @(
            '@batch,@file'
        )
    }
    'payout batch cancel' = @{
        operands = @(
            '@batch,@file'
        )
    }
    'payout sign' = @{
        flags = @(
            '--amount: The amount in taka, for example 1250.50'
            '--ref: The payout''s reference'
            '--timestamp: The request''s timestamp (now, if left out)'
        )
    }
    'payout verify' = @{
        flags = @(
            '--amount: The amount in taka, for example 1250.50'
            '--ref: The payout''s reference'
            '--timestamp: The request''s timestamp'
            '--signature: The signature to check'
        )
    }
    'refund' = @{
        members = @(
            'create Pay back a completed payment, in whole or in part'
            'get Show a refund and its status, as the service has it now'
            'wait Wait until a refund is Completed or Cancelled'
            'list List the refunds that this machine sent, newest first'
            'cancel Cancel a refund that is still Processing'
        )
    }
    'refund create' = @{
        flags = @(
            '--payment:@payment The payment to pay back, or @last'
            '--amount: The amount in taka, for example 1250.50'
            '--account-type:personal,business The kind of account that receives it'
            '--account-number: The account that receives it, sent as you type it'
            '--note: A note, kept with it'
            '--again Send it even if the ledger already has the same one'
            '--wait Wait until it is Completed or Cancelled'
            '--wait-timeout: Wait at most this long (default 10m)'
            '--interval: Look this often (growing from 0.5s to 10s, if left out)'
            '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        )
    }
    'refund get' = @{
        operands = @(
            '@refund'
        )
    }
    'refund wait' = @{
        flags = @(
            '--wait-timeout: Wait at most this long (default 10m)'
            '--interval: Look this often (growing from 0.5s to 10s, if left out)'
        )
        operands = @(
            '@refund'
        )
    }
    'refund list' = @{
        flags = @(
            '--status:Processing,Completed,Cancelled Only those last seen with this status'
            '--since: Only those sent at this time or later: 2026-11-20, today, 2h ago'
            '--until: Only those sent at this time or earlier'
            '--limit: At most this many (default 50)'
            '--refresh Ask the service for each that is still Processing'
        )
    }
    'refund cancel' = @{
        flags = @(
            '--note: A note, kept with it'
            '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        )
        operands = @(
            '@refund'
        )
    }
    'sandbox' = @{
        members = @(
            'start Start a local sandbox'
            'exec Run a command against a temporary sandbox'
            'trigger Play the customer who pays, or the recipient who gets the money'
            'set Set the status of a local sandbox record'
            'requests Show the local sandbox''s request log'
            'info Show sandbox account details'
        )
    }
    'sandbox start' = @{
        flags = @(
            '--port: Port on 127.0.0.1; 0 for any free port'
            '--data:@file Store records and keys in this file (default: in memory)'
            '--auto-complete: Complete Processing records after this time, for example 2s'
            '--latency: Delay of each response, for example 100ms'
            '--fault+: Inject a fault: <endpoint>:<kind>[:<rate>], as createPayout:reset:0.3'
            '--callback-fault+: Inject a fault into callbacks: <kind>[:<rate>], as lost:0.2'
            '--refund-callback-url: Callback URL for refunds (payments set their own)'
            '--seed: Make IDs, keys and faults the same in every run'
        )
    }
    'sandbox exec' = @{
        flags = @(
            '--port: Port on 127.0.0.1; 0 for any free port'
            '--data:@file Store records and keys in this file (default: in memory)'
            '--auto-complete: Complete Processing records after this time, for example 2s'
            '--latency: Delay of each response, for example 100ms'
            '--fault+: Inject a fault: <endpoint>:<kind>[:<rate>], as createPayout:reset:0.3'
            '--callback-fault+: Inject a fault into callbacks: <kind>[:<rate>], as lost:0.2'
            '--refund-callback-url: Callback URL for refunds (payments set their own)'
            '--seed: Make IDs, keys and faults the same in every run'
        )
        operands = @(
            '@command'
        )
    }
    'sandbox trigger' = @{
        members = @(
            'payment Complete a sandbox payment'
            'payout Complete a sandbox payout'
        )
    }
    'sandbox trigger payment' = @{
        flags = @(
            '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        )
        operands = @(
            '@payment'
        )
    }
    'sandbox trigger payout' = @{
        flags = @(
            '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        )
        operands = @(
            '@payout'
        )
    }
    'sandbox set' = @{
        operands = @(
            'payment,payout,refund'
            ','
            'Completed,Cancelled'
        )
    }
    'sandbox requests' = @{
        flags = @(
            '--follow Continue and show new requests as they arrive'
        )
    }
    'profile' = @{
        members = @(
            'add Add or replace a profile'
            'list List profiles'
            'show Show the effective configuration and its sources'
            'use Set the default profile'
            'set Change a profile setting'
            'rename Rename a profile'
            'remove Remove a profile and its credentials'
        )
    }
    'profile add' = @{
        flags = @(
            '--key-stdin Read the API key from standard input'
            '--secret-stdin Read the payout secret from standard input'
            '--key-file:@file Read the API key from a file'
            '--secret-file:@file Read the payout secret from a file'
            '--key-command: Command that prints the API key, run when needed'
            '--secret-command: Command that prints the payout secret, run when needed'
            '--keychain Store both in the operating system''s keychain'
            '--environment:sandbox,production Environment that the key must be for (default: the key''s)'
            '--redirect-url: Where customers return to'
            '--callback-url: Where the API sends callbacks'
            '--method:@method Default payment method'
            '--number-format:local,e164,as-is Format in which mobile numbers are sent (default: local)'
            '--confirm-above: In production, type amounts above this to confirm (default: 10000)'
            '--replace Replace the profile of this name'
        )
        operands = @(
            ','
        )
    }
    'profile show' = @{
        operands = @(
            '@profile'
        )
    }
    'profile use' = @{
        operands = @(
            '@profile'
        )
    }
    'profile set' = @{
        operands = @(
            'base-url,redirect-url,callback-url,method,number-format,confirm-above'
            ','
        )
    }
    'profile rename' = @{
        operands = @(
            '@profile'
            ','
        )
    }
    'profile remove' = @{
        operands = @(
            '@profile'
        )
    }
    'ledger' = @{
        members = @(
            'show Show an operation and everything that happened to it'
            'list List operations, newest first'
            'resolve Resolve operations whose outcome is unknown'
            'export Write out the whole ledger of the account, oldest first'
            'check Verify that the ledger was not modified'
            'backup Write a copy of the ledger to a file'
            'restore Replace the ledger with a backup'
        )
    }
    'ledger show' = @{
        operands = @(
            '@operation'
        )
    }
    'ledger list' = @{
        flags = @(
            '--unknown Only operations whose outcome is unknown'
            '--limit: At most this many (default: 50; all with --unknown)'
        )
    }
    'ledger resolve' = @{
        flags = @(
            '--created: It was created, and the API has it with this ID'
            '--not-created It was not created, as the dashboard shows'
        )
        operands = @(
            '@operation'
        )
    }
    'ledger export' = @{
        flags = @(
            '--exact Write CSV cells unchanged; a spreadsheet may run them as formulas'
        )
    }
    'ledger check' = @{
        flags = @(
            '--accept Accept the ledger as it is, after you reviewed it'
            '--accept-hash: The same non-interactively, if its newest event has this hash'
        )
    }
    'ledger backup' = @{
        operands = @(
            '@file'
        )
    }
    'ledger restore' = @{
        operands = @(
            '@file'
        )
    }
    'callback' = @{
        members = @(
            'listen Receive callbacks on this machine, verify each, and pass it on'
            'verify Hold a callback against the service: verified, forged, mismatched or unknown'
            'list List the callbacks that came to this machine, newest first'
            'show Show a callback as it came, and what the service said of it'
            'replay Verify a callback of the ledger anew, and pass it on again'
            'test Find out which false callbacks your own handler believes'
        )
    }
    'callback listen' = @{
        flags = @(
            '--port: The port on 127.0.0.1 (default 4343); 0 takes any free one'
            '--forward-to: Where to pass each callback on to'
            '--poll Ask the service about all that is Processing in the ledger; listens too only with --port'
            '--print-json Print one JSON document a line, as --json does'
            '--once End after the first verified one'
            '--for:@payment End when this payment is Completed or Cancelled, as the service has it'
        )
    }
    'callback verify' = @{
        flags = @(
            '--expect-amount: The amount that the service must have, whatever is claimed'
            '--expect-ref: The description that the service must have, for example an order''s number'
        )
        operands = @(
            '@file'
        )
    }
    'callback list' = @{
        flags = @(
            '--verdict:verified,forged,mismatched,unknown,unchecked Only those that came out like this'
            '--limit: At most this many (default 50)'
        )
    }
    'callback show' = @{
        operands = @(
            ','
        )
    }
    'callback replay' = @{
        flags = @(
            '--forward-to: Where to pass it on to'
        )
        operands = @(
            ','
        )
    }
    'callback test' = @{
        flags = @(
            '--orders: Your shop''s book, with {id} for the transaction id'
            '--only+:genuine,forged-id,forged-status,wrong-amount,other-order,replay,duplicates,out-of-order,then-cancelled,unknown-status,slow-body,huge-body Only this one beside genuine: forged-id, forged-status, wrong-amount, other-order, replay, duplicates, out-of-order, then-cancelled, unknown-status, slow-body, huge-body'
            '--answer-within: How long an answer may take (default 10s, as the local sandbox waits)'
            '--settle: How long your handler may go on after its answers (default 1s)'
            '--own-host: Send to this host although it is another machine: the one that <url> names'
            '--junit:@file Write a JUnit report too'
        )
        operands = @(
            ','
        )
    }
    'api' = @{
        flags = @(
            '-f,--field+: A field of the body or the query'
            '--input:@file A JSON body from a file, or from standard input with -'
            '--include Show the answer''s status and headers too'
            '--again Send it even if the ledger already has the same one'
            '--dry-run Print the request that would be sent, secrets masked, and send nothing'
        )
        operands = @(
            'GET,POST,PATCH,PUT,DELETE'
            ','
        )
    }
    'completion' = @{
        flags = @(
            '--install Write it to where the shell finds it'
            '--uninstall Remove what --install wrote'
        )
        operands = @(
            'bash,zsh,fish,powershell'
        )
    }
}
# End of what is made.
