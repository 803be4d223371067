<?php
// Runs the job of docs/from-your-code.md with stand-ins for what it uses of Laravel, and prints what came of it.
// php laravel.php SendPayout.php <order> <amount> <recipient>

namespace Illuminate\Contracts\Queue {
    interface ShouldQueue {}
}

namespace Illuminate\Foundation\Queue {
    trait Queueable
    {
        public function release(int $seconds): void
        {
            echo "retry: in $seconds s\n";
        }

        public function fail(string $reason): void
        {
            echo "person: $reason\n";
        }
    }
}

namespace Illuminate\Support\Facades {
    class Process
    {
        public static function timeout(int $seconds): self
        {
            return new self();
        }

        public function run(array $command): object
        {
            $process = proc_open($command, [1 => $output = tmpfile(), 2 => $errors = tmpfile()], $pipes);
            return new class (proc_close($process), $output, $errors) {
                public function __construct(private int $code, private $output, private $errors) {}

                public function exitCode(): int
                {
                    return $this->code;
                }

                public function output(): string
                {
                    rewind($this->output);
                    return stream_get_contents($this->output);
                }

                public function errorOutput(): string
                {
                    rewind($this->errors);
                    return stream_get_contents($this->errors);
                }
            };
        }
    }
}

namespace App\Models {
    class Order
    {
        public function __construct(public string $number, public string $amount, public string $recipient) {}

        public function update(array $columns): void
        {
            echo "accepted: {$columns['payout_status']}\n";
        }
    }
}

namespace {
    require $argv[1];
    (new App\Jobs\SendPayout(new App\Models\Order($argv[2], $argv[3], $argv[4])))->handle();
}
