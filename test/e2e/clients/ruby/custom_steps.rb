# Steps with a definition and its objects, all through the API of custom objects:
# the client's own API of definitions is v1beta1, which is no longer served.

class CustomSteps
  include Harness

  DEFINITIONS = %w[apiextensions.k8s.io v1 customresourcedefinitions].freeze
  SCHEMA = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { size: { type: 'integer', minimum: 0 }, color: { type: 'string', default: 'red' } }
      },
      status: { type: 'object', properties: { phase: { type: 'string' } } }
    }
  }.freeze

  def initialize(client, namespace, group)
    @custom = Kubernetes::CustomObjectsApi.new(client)
    @namespace = namespace
    @group = group
    @where = [group, 'v1', namespace, 'widgets']
    @definition = "widgets.#{group}"
  end

  def all
    {
      'create a definition' => method(:define),
      'custom objects' => method(:objects),
      'list custom objects' => method(:list),
      'a custom object without apiVersion and kind is refused' => method(:bare),
      'delete a custom object' => method(:delete),
      'delete the definition' => method(:undefine)
    }
  end

  private

  def widget(name, fields)
    { apiVersion: "#{@group}/v1", kind: 'Widget', metadata: { name: name, namespace: @namespace } }.merge(fields)
  end

  def define
    names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
    version = { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: SCHEMA } }
    @custom.create_cluster_custom_object(
      *DEFINITIONS,
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: @definition },
        spec: { group: @group, scope: 'Namespaced', names: names, versions: [version] } }
    )
    eventually('Established') do
      got = @custom.get_cluster_custom_object(*DEFINITIONS, @definition)
      got.dig(:status, :conditions).to_a.any? { |c| c[:type] == 'Established' && c[:status] == 'True' }
    end
  end

  # The client sends every patch of a custom object as a merge patch.
  def objects
    made = @custom.create_namespaced_custom_object(*@where, widget('one', spec: { size: 1 }))
    equal(made[:spec], { size: 1, color: 'red' })
    got = @custom.patch_namespaced_custom_object(*@where, 'one', { spec: { color: nil, size: 3 } })
    equal(got[:spec], { size: 3, color: 'red' })
    got = @custom.patch_namespaced_custom_object_status(*@where, 'one', { status: { phase: 'Ready' } })
    equal(got[:status], { phase: 'Ready' })
    refused(409, 'Conflict') { @custom.replace_namespaced_custom_object(*@where, 'one', made) }
    got = @custom.replace_namespaced_custom_object(*@where, 'one', got.merge(spec: { size: 4 }))
    equal([got[:spec], got[:status]], [{ size: 4, color: 'red' }, { phase: 'Ready' }])
    refused(422, 'Invalid') { @custom.create_namespaced_custom_object(*@where, widget('bad', spec: { size: -1 })) }
  end

  def list
    @custom.create_namespaced_custom_object(*@where, widget('two', { metadata: { name: 'two', labels: { is: 'two' } } }))
    listed = @custom.list_namespaced_custom_object(*@where)
    equal([listed[:kind], listed[:items].map { |i| i[:metadata][:name] }], ['WidgetList', %w[one two]])
    listed = @custom.list_namespaced_custom_object(*@where, label_selector: 'is=two', pretty: 'true')
    equal(listed[:items].map { |i| i[:metadata][:name] }, %w[two])
  end

  def bare
    refused(400, 'BadRequest') { @custom.create_namespaced_custom_object(*@where, { metadata: { name: 'bare' } }) }
  end

  def delete
    @custom.delete_namespaced_custom_object(*@where, 'one', { propagationPolicy: 'Background' }, grace_period_seconds: 0)
    eventually('the object has gone') { gone { @custom.get_namespaced_custom_object(*@where, 'one') } }
  end

  def undefine
    @custom.delete_cluster_custom_object(*DEFINITIONS, @definition, {})
    eventually('the definition has gone') { gone { @custom.list_namespaced_custom_object(*@where) } }
  end

  def gone
    yield
    false
  rescue Kubernetes::ApiError => e
    raise unless e.code == 404

    true
  end
end
