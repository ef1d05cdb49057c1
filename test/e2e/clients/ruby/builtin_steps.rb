# Steps with built-in kinds through the typed API, whose bodies do not carry
# apiVersion and kind.

require 'base64'

class BuiltinSteps
  include Harness

  PAGED = 'page=yes'.freeze

  def initialize(client, namespace)
    @core = Kubernetes::CoreV1Api.new(client)
    @namespace = namespace
  end

  def all
    {
      'create a built-in object without apiVersion and kind' => method(:create),
      'get' => method(:get),
      'secrets keep their bytes' => method(:secrets),
      'list in chunks' => method(:chunks),
      'json patch' => method(:json_patch),
      'replace, and replace with a stale resourceVersion' => method(:replace),
      'dry run' => method(:dry_run),
      'delete, one and many' => method(:delete)
    }
  end

  private

  # config_map makes a model. Its constructor takes no data.
  def config_map(name, data = {}, labels = nil)
    Kubernetes::V1ConfigMap.new(metadata: { name: name, labels: labels }.compact).tap { |m| m.data = data }
  end

  def read(name = 'one') = @core.read_namespaced_config_map(name, @namespace)

  def create
    made = @core.create_namespaced_config_map(@namespace, config_map('one', { 'a' => '1' }))
    equal([made.kind, made.api_version, made.data], ['ConfigMap', 'v1', { 'a' => '1' }])
    equal([made.metadata.uid.empty?, made.metadata.resource_version.empty?], [false, false])
    equal(made.metadata.creation_timestamp.class, DateTime)
  end

  def get
    equal(read.data, { 'a' => '1' })
    refused(404, 'NotFound') { read('nothing') }
  end

  def secrets
    secret = Kubernetes::V1Secret.new(metadata: { name: 'one' })
    secret.data = { 'key' => Base64.strict_encode64("\x00\xff\n".b) }
    @core.create_namespaced_secret(@namespace, secret)
    equal(@core.read_namespaced_secret('one', @namespace).data, secret.data)
  end

  def chunks
    wanted = (0...7).map { |i| "page-#{i}" }
    wanted.each { |name| @core.create_namespaced_config_map(@namespace, config_map(name, {}, { page: 'yes' })) }
    pages = []
    options = { label_selector: PAGED, limit: 3 }
    loop do
      page = @core.list_namespaced_config_map(@namespace, options)
      pages << page.items.map { |i| i.metadata.name }
      options[:continue] = page.metadata.continue
      break if options[:continue].to_s.empty?
    end
    equal([pages.flatten, pages.map(&:size)], [wanted, [3, 3, 1]])
  end

  # The client sends every patch of a built-in kind as a JSON patch.
  def json_patch
    test = { op: 'test', path: '/data/a', value: '1' }
    patch = [test, { op: 'add', path: '/data/b', value: '2' }]
    equal(@core.patch_namespaced_config_map('one', @namespace, patch).data, { 'a' => '1', 'b' => '2' })
    test[:value] = 'other'
    refused(422, 'Invalid') { @core.patch_namespaced_config_map('one', @namespace, patch) }
  end

  def replace
    old = read
    old.data = { 'd' => '4' }
    replaced = @core.replace_namespaced_config_map('one', @namespace, old)
    raise 'the resourceVersion stayed' if replaced.metadata.resource_version == old.metadata.resource_version

    old.data = {}
    status = refused(409, 'Conflict') { @core.replace_namespaced_config_map('one', @namespace, old) }
    raise status['message'] unless status['message'].include?('the object has been modified')

    equal(read.data, { 'd' => '4' })
  end

  def dry_run
    made = @core.create_namespaced_config_map(@namespace, config_map('dry', { 'a' => '1' }), dry_run: 'All')
    equal([made.data, made.metadata.uid.empty?], [{ 'a' => '1' }, false])
    refused(404, 'NotFound') { read('dry') }
  end

  def delete
    options = { body: { gracePeriodSeconds: 0, propagationPolicy: 'Background' } }
    equal(@core.delete_namespaced_config_map('one', @namespace, options).status, 'Success')
    @core.delete_collection_namespaced_config_map(@namespace, label_selector: PAGED)
    equal(@core.list_namespaced_config_map(@namespace, label_selector: PAGED).items, [])
  end
end
