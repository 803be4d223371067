# The completion of lenden for bash 4.3 or later.
#
# Commands, flags and their words are written down below, so that a Tab on them starts no program.
# Profiles, methods, ids and batches are asked of lenden, which reads them from this machine alone.

_lenden() {
  local IFS=$' \t\n' members flags operands
  local words=() place='' isHelp='' position=0 given=' ' account=() awaited='' after='' takes cur
  # bash takes a word apart at these, and replaces no more than what follows the last of them.
  local breaks=${COMP_WORDBREAKS//[^=:]/} head=''
  COMPREPLY=()
  _lenden_split
  cur=${words[-1]}
  [[ $breaks ]] && head=${cur%"${cur##*[$breaks]}"}
  _lenden_walk
  if [[ $after ]]; then
    _lenden_operand "$operands"
  elif [[ $awaited ]]; then
    _lenden_flag "$awaited" && _lenden_values "${takes#:}" ''
  elif [[ $cur == --*=* ]]; then
    _lenden_flag "${cur%%=*}" && _lenden_values "${takes#:}" "${cur%%=*}="
  elif [[ $cur == -* ]]; then
    _lenden_flags
  else
    _lenden_next
  fi
}

# The words up to the cursor; what stood together in the line is put together again.
_lenden_split() {
  local line=${COMP_LINE:0:COMP_POINT} word
  for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    [[ ${#words[@]} -eq 0 || $line == [[:space:]]* ]] && words+=('')
    line=${line#"${line%%[![:space:]]*}"}
    [[ $line == "$word"* ]] || word=$line
    words[-1]+=$word
    line=${line#"$word"}
  done
}

# Follows the words before the cursor: where they lead, and which flags are among them.
_lenden_walk() {
  local word
  _lenden_known ''
  for word in "${words[@]:1:${#words[@]}-2}"; do
    if [[ $after ]]; then
      after+=x
    elif [[ $awaited ]]; then
      _lenden_account "$awaited" "$word"
      awaited=''
    elif [[ $word == -- ]]; then
      after=x
    elif [[ $word == --*=* ]]; then
      given+="${word%%=*} "
      _lenden_account "${word%%=*}" "${word#*=}"
    elif [[ $word == -* ]]; then
      given+="$word "
      _lenden_flag "$word" && [[ $takes ]] && awaited=$word
    elif [[ " $members " == *" $word "* && ($place || $word != help) ]]; then
      place="${place:+$place }$word"
      _lenden_known "$place"
    elif [[ $word == help && ! $place && ! $isHelp ]]; then
      isHelp=x
    else
      position=$((position + 1))
    fi
  done
}

# Whose ids are meant is said by these two flags.
_lenden_account() {
  [[ $1 == --profile || $1 == --base-url ]] && account+=("$1=$2")
}

# Finds a flag by one of its names: what it takes begins with a colon, if it takes something.
_lenden_flag() {
  local flag names
  for flag in $flags $_lenden_everywhere; do
    names=${flag%%:*}
    if [[ ",${names%+}," == *",$1,"* ]]; then
      takes=${flag#"$names"}
      return 0
    fi
  done
  return 1
}

_lenden_next() {
  local operand=($operands)
  if [[ $isHelp || $members && $position -eq 0 ]]; then
    [[ $isHelp ]] && members=${members% help}
    _lenden_offer '' $members
  elif [[ ${operand[position]-@command} != @command ]]; then
    _lenden_values "${operand[position]}" ''
  elif [[ ! $cur ]]; then
    _lenden_flags
  fi
}

# Those that were not given yet, or can be given again.
_lenden_flags() {
  local flag names name isGiven
  [[ $isHelp ]] && return
  for flag in $flags $_lenden_everywhere; do
    names=${flag%%:*} isGiven=''
    for name in ${names//[,+]/ }; do
      [[ $given == *" $name "* && $names != *+ ]] && isGiven=x
    done
    [[ $isGiven ]] || _lenden_offer '' ${names//[,+]/ }
  done
}

# After -- there is either another program's command line, or nothing of ours.
_lenden_operand() {
  local index
  [[ $1 == @command ]] || return
  for ((index = 0; index < COMP_CWORD; index++)); do
    [[ ${COMP_WORDS[index]} == -- ]] && break
  done
  if declare -F _command_offset >/dev/null; then
    _command_offset $((index + 1))
  elif [[ $after == x ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    compopt -o default
  fi
}

# $1: what can stand there. $2: what of the word comes before it: '' or --flag=
_lenden_values() {
  local value
  for value in ${1//,/ }; do
    case $value in
      @file) [[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default ;;
      @*) _lenden_ask "${value#@}" "$2" ;;
      *) _lenden_offer "$2" "$value" ;;
    esac
  done
}

_lenden_ask() {
  local value
  while IFS=$'\t' read -r value _; do
    _lenden_offer "$2" "$value"
  done < <(lenden __complete "$1" "--typed=${cur#"$2"}" ${account[@]+"${account[@]}"} 2>/dev/null </dev/null)
  compopt -o nosort 2>/dev/null
}

_lenden_offer() {
  local value before=$1
  shift
  for value in "$@"; do
    value=$before$value
    [[ $value == "$cur"* ]] && COMPREPLY+=("${value#"$head"}")
  done
}

# Made from the command list by `npm run completions`:
_lenden_everywhere='--profile:@profile --base-url: -o,--output:table,json,ndjson,csv --json -q,--quiet --yes --no-input --timeout: --color:auto,always,never -v,--verbose --version -h,--help'

_lenden_known() {
  members='' flags='' operands=''
  case $1 in
    '')
      members='methods pay payout refund sandbox profile ledger doctor callback api completion demo help'
      ;;
    'pay')
      members='create get wait list'
      ;;
    'pay create')
      flags='--amount: --description: --method:@method --method-id: --redirect-url: --callback-url: --payer: --gateway-type: --note: --again --wait --wait-timeout: --interval: --open --qr --dry-run'
      ;;
    'pay get')
      operands='@payment'
      ;;
    'pay wait')
      flags='--wait-timeout: --interval:'
      operands='@payment'
      ;;
    'pay list')
      flags='--status:Processing,Completed,Cancelled --since: --until: --limit: --refresh'
      ;;
    'payout')
      members='send get wait list batch sign verify'
      ;;
    'payout send')
      flags='--amount: --to: --method:@method --method-id: --ref: --name: --description: --again --wait --wait-timeout: --interval: --dry-run'
      ;;
    'payout get')
      operands='@payout'
      ;;
    'payout wait')
      flags='--wait-timeout: --interval:'
      operands='@payout'
      ;;
    'payout list')
      flags='--status:Processing,Completed,Cancelled --since: --until: --limit: --refresh'
      ;;
    'payout batch')
      members='template check send status list export resolve cancel'
      ;;
    'payout batch template')
      flags='--method:@method'
      operands='@file'
      ;;
    'payout batch check')
      flags='--delimiter:comma,semicolon,tab --method:@method --method-id: --name: --allow-duplicates'
      operands='@file'
      ;;
    'payout batch send')
      flags='--delimiter:comma,semicolon,tab --method:@method --method-id: --name: --allow-duplicates --concurrency: --rate: --expect-total: --expect-count: --wait --wait-timeout: --interval: --dry-run'
      operands='@file'
      ;;
    'payout batch status')
      flags='--refresh --watch --wait --wait-timeout: --interval:'
      operands='@batch,@file'
      ;;
    'payout batch list')
      flags='--limit:'
      ;;
    'payout batch export')
      flags='--only:failed,completed,processing,cancelled,refused,conflict,uncertain,unsent --exact'
      operands='@batch,@file'
      ;;
    'payout batch resolve')
      flags='--not-created --rows:'
      operands='@batch,@file'
      ;;
    'payout batch cancel')
      operands='@batch,@file'
      ;;
    'payout sign')
      flags='--amount: --ref: --timestamp:'
      ;;
    'payout verify')
      flags='--amount: --ref: --timestamp: --signature:'
      ;;
    'refund')
      members='create get wait list cancel'
      ;;
    'refund create')
      flags='--payment:@payment --amount: --account-type:personal,business --account-number: --note: --again --wait --wait-timeout: --interval: --dry-run'
      ;;
    'refund get')
      operands='@refund'
      ;;
    'refund wait')
      flags='--wait-timeout: --interval:'
      operands='@refund'
      ;;
    'refund list')
      flags='--status:Processing,Completed,Cancelled --since: --until: --limit: --refresh'
      ;;
    'refund cancel')
      flags='--note: --dry-run'
      operands='@refund'
      ;;
    'sandbox')
      members='start exec trigger set requests info'
      ;;
    'sandbox start')
      flags='--port: --data:@file --auto-complete: --latency: --fault+: --callback-fault+: --refund-callback-url: --seed:'
      ;;
    'sandbox exec')
      flags='--port: --data:@file --auto-complete: --latency: --fault+: --callback-fault+: --refund-callback-url: --seed:'
      operands='@command'
      ;;
    'sandbox trigger')
      members='payment payout'
      ;;
    'sandbox trigger payment')
      flags='--dry-run'
      operands='@payment'
      ;;
    'sandbox trigger payout')
      flags='--dry-run'
      operands='@payout'
      ;;
    'sandbox set')
      operands='payment,payout,refund , Completed,Cancelled'
      ;;
    'sandbox requests')
      flags='--follow'
      ;;
    'profile')
      members='add list show use set rename remove'
      ;;
    'profile add')
      flags='--key-stdin --secret-stdin --key-file:@file --secret-file:@file --key-command: --secret-command: --keychain --environment:sandbox,production --redirect-url: --callback-url: --method:@method --number-format:local,e164,as-is --confirm-above: --replace'
      operands=','
      ;;
    'profile show')
      operands='@profile'
      ;;
    'profile use')
      operands='@profile'
      ;;
    'profile set')
      operands='base-url,redirect-url,callback-url,method,number-format,confirm-above ,'
      ;;
    'profile rename')
      operands='@profile ,'
      ;;
    'profile remove')
      operands='@profile'
      ;;
    'ledger')
      members='show list resolve export check backup restore'
      ;;
    'ledger show')
      operands='@operation'
      ;;
    'ledger list')
      flags='--unknown --limit:'
      ;;
    'ledger resolve')
      flags='--created: --not-created'
      operands='@operation'
      ;;
    'ledger export')
      flags='--exact'
      ;;
    'ledger check')
      flags='--accept --accept-hash:'
      ;;
    'ledger backup')
      operands='@file'
      ;;
    'ledger restore')
      operands='@file'
      ;;
    'callback')
      members='listen verify list show replay test'
      ;;
    'callback listen')
      flags='--port: --forward-to: --poll --print-json --once --for:@payment'
      ;;
    'callback verify')
      flags='--expect-amount: --expect-ref:'
      operands='@file'
      ;;
    'callback list')
      flags='--verdict:verified,forged,mismatched,unknown,unchecked --limit:'
      ;;
    'callback show')
      operands=','
      ;;
    'callback replay')
      flags='--forward-to:'
      operands=','
      ;;
    'callback test')
      flags='--orders: --only+:genuine,forged-id,forged-status,wrong-amount,other-order,replay,duplicates,out-of-order,then-cancelled,unknown-status,slow-body,huge-body --answer-within: --settle: --own-host: --junit:@file'
      operands=','
      ;;
    'api')
      flags='-f,--field+: --input:@file --include --again --dry-run'
      operands='GET,POST,PATCH,PUT,DELETE ,'
      ;;
    'completion')
      flags='--install --uninstall'
      operands='bash,zsh,fish,powershell'
      ;;
  esac
}
# End of what is made.

complete -F _lenden lenden
