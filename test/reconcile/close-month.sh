#!/bin/sh
# Closes a month: close-month.sh <statement.csv> <directory for the results>
set -u
statement=$1
results=$2

# 1. Compare each line of the statement with the ledger.
lenden reconcile "$statement" --mapping provider --yes --output csv > "$results/differences.csv"
echo "reconcile: exit $?" # 0: all explained, 5: contradictions, 6: open items

# 2. Compare each recorded operation with the API.
lenden ledger audit --json > "$results/audit.json"
echo "audit: exit $?" # 0: no difference

# 3. Write the sums, and the journal for the accounting program.
lenden report --since yesterday --output csv > "$results/report.csv"
lenden ledger export --since yesterday --output hledger > "$results/month.journal"

# 4. The net of the month: with the opening balance, it is the closing balance.
awk -F, 'NR > 1 { net += $11 } END { printf "net: %.2f\n", net }' "$results/report.csv"
