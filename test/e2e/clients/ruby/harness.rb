# Runs named steps and tells the Go test that started this program about them:
# one JSON document a line on standard output, replies on standard input.

require 'json'

module Harness
  module_function

  def say(document)
    puts(JSON.generate(document))
    $stdout.flush
  end

  # step runs one step and reports how it went; a failure does not end the program.
  # A step that cannot be run returns the reason as a Skipped.
  def step(name, run)
    result = run.call
    say(step: name, ok: true, skipped: result.is_a?(Skipped) ? result.reason : '')
  rescue StandardError => e
    body = e.response_body if e.is_a?(Kubernetes::ApiError)
    say(step: name, ok: false, message: "#{e.full_message(highlight: false)}\n#{body}")
  end

  Skipped = Struct.new(:reason)

  # ask has the Go test do something to the server, and tells whether it could.
  def ask(what)
    say(ask: what)
    $stdin.gets.to_s.strip == 'done'
  end

  def equal(got, want)
    raise "got #{got.inspect}, want #{want.inspect}" unless got == want
  end

  # refused makes a request that has to fail with this code and reason; returns the Status.
  def refused(code, reason)
    made = yield
  rescue Kubernetes::ApiError => e
    status = JSON.parse(e.response_body)
    equal([e.code, status.values_at('kind', 'code', 'reason')], [code, ['Status', code, reason]])
    status
  else
    raise "not refused: #{made.inspect}"
  end

  # eventually waits until the block returns something true, and returns that.
  def eventually(what, seconds = 60)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    loop do
      got = yield
      return got if got
      raise "#{what}: not after #{seconds} s" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep(0.05)
    end
  end
end
