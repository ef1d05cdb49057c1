# Drives a server with the official Ruby client, as its users do.
#
#     ruby -I CHECKOUT/kubernetes/lib -I CHECKOUT/kubernetes/src main.rb NAMESPACE GROUP [KUBECONFIG]
#
# The server is named by the environment variable KUBECONFIG; the user of the other one
# has a certificate. The namespace exists and is empty; the group
# has no definition yet.

require_relative 'old_ruby'
require 'kubernetes'
require_relative 'harness'
require_relative 'builtin_steps'
require_relative 'custom_steps'
require_relative 'raw_steps'
require_relative 'watch_steps'

abort('usage: main.rb NAMESPACE GROUP [KUBECONFIG]') unless ARGV.size >= 2
namespace, group, certificate = ARGV
client = Kubernetes::ApiClient.new(Kubernetes::Configuration.default_config)

[BuiltinSteps.new(client, namespace), CustomSteps.new(client, namespace, group),
 RawSteps.new(client, namespace, certificate), WatchSteps.new(client, namespace)].each do |steps|
  steps.all.each { |name, run| Harness.step(name, run) }
end
Harness.say(finished: true)
