# Steps that follow changes: a watch, and one whose history is gone, which its
# user recovers from by listing again.

class WatchSteps
  include Harness

  # Seen ends a watch: the client has no other way to.
  class Seen < StandardError; end

  def initialize(client, namespace)
    @client = client
    @core = Kubernetes::CoreV1Api.new(client)
    @namespace = namespace
    @path = "/api/v1/namespaces/#{namespace}/services"
  end

  def all
    {
      'watch' => method(:changes),
      'watch ends after timeoutSeconds' => method(:timeout),
      'recovery from 410' => method(:recovery)
    }
  end

  private

  # The client's watch takes no selector: these are the only Services of the namespace.
  def create(name)
    @core.create_namespaced_service(@namespace, { metadata: { name: name }, spec: { clusterIP: 'None' } })
  end

  def touch(name)
    @core.patch_namespaced_service(name, @namespace, [{ op: 'add', path: '/metadata/labels', value: { touched: 'yes' } }])
  end

  def remove(name) = @core.delete_namespaced_service(name, @namespace)

  def list = @core.list_namespaced_service(@namespace)

  # follow watches from a revision until one event, and returns all of them.
  def follow(revision, wanted)
    seen = []
    Kubernetes::Watch.new(@client).connect(@path, revision) do |event|
      object = event['object']
      seen << "#{event['type']} #{object['code'] || object['metadata']['name']}"
      raise Seen if seen.last == wanted
    end
    seen
  rescue Seen
    seen
  end

  def changes
    start = list.metadata.resource_version
    create('seen')
    touch('seen')
    remove('seen')
    equal(follow(start, 'DELETED seen'), ['ADDED seen', 'MODIFIED seen', 'DELETED seen'])
  end

  def timeout
    revision = list.metadata.resource_version
    equal(@core.list_namespaced_service(@namespace, resource_version: revision, watch: true, timeout_seconds: 1), nil)
  end

  def recovery
    create('stays')
    create('goes')
    old = list.metadata.resource_version
    remove('goes')
    create('comes')
    return Skipped.new('the history of this server cannot be taken away') unless ask('lose history')

    equal(follow(old, 'ERROR 410'), ['ERROR 410'])
    again = list
    equal(again.items.map { |i| i.metadata.name }.sort, %w[comes stays])
    touch('stays')
    equal(follow(again.metadata.resource_version, 'MODIFIED stays'), ['MODIFIED stays'])
  end
end
