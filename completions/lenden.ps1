# The completion of lenden for PowerShell 5.1 or later.
#
# lenden itself knows what can follow: `lenden __complete` prints one word per line, a tab before what it
# means, or a line that begins with a colon if the shell has to complete a file or a program.

Register-ArgumentCompleter -Native -CommandName lenden -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $typed = Get-LendenText "$wordToComplete"
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { Get-LendenText $_.Extent.Text })
    $ask = @('__complete', "--typed=$typed") + $words
    $found = @(foreach ($line in & lenden @ask 2>$null) {
        $text, $about = $line -split "`t", 2
        switch -Wildcard ($text) {
            ':file*' { Get-LendenFiles $typed '*' }
            ':csv*' { Get-LendenFiles $typed '*.csv', '*.xlsx', '*.xls', '*.ods' }
            ':program*' {
                if ($words[-1] -ceq '--') {
                    [System.Management.Automation.CompletionCompleters]::CompleteCommand($typed)
                } else { Get-LendenFiles $typed '*' }
            }
            default { New-LendenResult $text $about }
        }
    })
    # An empty text keeps PowerShell from offering files where they mean nothing.
    if ($found.Count -gt 0) { $found } else { '' }
}

function Get-LendenText([string]$word) {
    $word.Trim([char[]]@([char]39, [char]34))
}

# A file may follow --flag= directly. Directories are offered too: they may contain the file.
function Get-LendenFiles([string]$typed, [string[]]$patterns) {
    $flag = if ($typed -match '^--[^=]+=') { $Matches[0] } else { '' }
    $path = $typed.Substring($flag.Length)
    foreach ($file in [System.Management.Automation.CompletionCompleters]::CompleteFilename($path)) {
        $isMeant = @($patterns | Where-Object { $file.ListItemText -like $_ }).Count -gt 0
        if ($file.ResultType -eq 'ProviderItem' -and -not $isMeant) { continue }
        [System.Management.Automation.CompletionResult]::new(
            $flag + $file.CompletionText, $file.ListItemText, 'ParameterValue', $file.ToolTip)
    }
}

# A text that begins with @ would mean something to PowerShell; a tooltip must not be empty.
function New-LendenResult([string]$text, [string]$about) {
    $written = if ($text.StartsWith('@')) { "'$text'" } else { $text }
    $tooltip = if ($about) { $about } else { $text }
    [System.Management.Automation.CompletionResult]::new($written, $text, 'ParameterValue', $tooltip)
}
