# Steps through the client's call_api, for what has no method of its own: apply,
# tables, paths that are not resources, and the token of a service account.

require 'tempfile'

class RawSteps
  include Harness

  FIELD_MANAGER = { fieldManager: 'ruby', force: 'true' }.freeze

  def initialize(client, namespace, certificate)
    @client = client
    @certificate = certificate
    @namespace = namespace
    @path = "/api/v1/namespaces/#{namespace}"
  end

  def all
    {
      'a kubeconfig with a certificate' => method(:certified),
      'apply' => method(:apply),
      'a table' => method(:table),
      'paths that are not resources' => method(:paths),
      "a service account's token" => method(:token),
      'the configuration of a pod' => method(:in_cluster)
    }
  end

  private

  def call(method, path, body = nil, headers: {}, query: {}, type: 'Object', by: @client)
    by.call_api(method, path, header_params: { 'Accept' => 'application/json' }.merge(headers), query_params: query,
                              body: body, auth_names: ['BearerToken'], return_type: type).first
  end

  def certified
    return Skipped.new('this server signs no certificates') unless @certificate

    review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    other = Kubernetes.new_client_from_config(@certificate)
    got = call(:POST, '/apis/authentication.k8s.io/v1/selfsubjectreviews', review, by: other)
    equal(got[:status][:userInfo][:username], 'certified')
  end

  def apply
    map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { 'a' => '1', 'b' => '2' } }
    as = { headers: { 'Content-Type' => 'application/apply-patch+yaml' }, type: 'V1ConfigMap' }
    path = "#{@path}/configmaps/applied"
    equal(call(:PATCH, path, map, query: FIELD_MANAGER, **as).data, { 'a' => '1', 'b' => '2' })
    tried = call(:PATCH, path, map.merge(data: {}), query: FIELD_MANAGER.merge(dryRun: 'All'), **as)
    equal(tried.data, nil)
    equal(call(:PATCH, path, map.merge(data: { 'a' => '2' }), query: FIELD_MANAGER, **as).data, { 'a' => '2' })
    other = { fieldManager: 'other' }
    refused(409, 'Conflict') { call(:PATCH, path, map.merge(data: { 'a' => '3' }), query: other, **as) }
  end

  def table
    accept = { 'Accept' => 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    got = call(:GET, "#{@path}/configmaps", headers: accept, query: { fieldSelector: 'metadata.name=applied' })
    equal([got[:kind], got[:columnDefinitions].map { |c| c[:name] }], ['Table', %w[Name Data Age]])
    equal(got[:rows].map { |r| r[:cells][0, 2] }, [['applied', 1]])
  end

  def paths
    raise 'no gitVersion' unless Kubernetes::VersionApi.new(@client).get_code.git_version.start_with?('v1.')

    groups = Kubernetes::ApisApi.new(@client).get_api_versions
    raise 'no group apps' unless groups.groups.any? { |g| g.name == 'apps' }

    equal(call(:GET, '/readyz', headers: { 'Accept' => '*/*' }, type: 'String'), 'ok')
  end

  # token has the server make a token, and an account that may read one ConfigMap.
  def token
    Kubernetes::CoreV1Api.new(@client).create_namespaced_service_account(@namespace, { metadata: { name: 'reader' } })
    request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } }
    @token = call(:POST, "#{@path}/serviceaccounts/reader/token", request)[:status][:token]
    reader = reading_with { |config| config.api_key['authorization'] = "Bearer #{@token}" }
    status = refused(403, 'Forbidden', &reader)
    who = "system:serviceaccount:#{@namespace}:reader"
    raise status['message'] unless status['message'].include?("User \"#{who}\" cannot get resource \"configmaps\"")

    rbac = Kubernetes::RbacAuthorizationV1Api.new(@client)
    rule = { apiGroups: [''], resources: ['configmaps'], resourceNames: ['applied'], verbs: ['get'] }
    rbac.create_namespaced_role(@namespace, { metadata: { name: 'reader' }, rules: [rule] })
    rbac.create_namespaced_role_binding(
      @namespace, { metadata: { name: 'reader' }, subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: @namespace }],
                    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' } }
    )
    eventually('the account may read') { allowed(&reader) }
  end

  # in_cluster is what the client does in a pod, whose files are elsewhere here.
  def in_cluster
    ca = @client.config.ssl_ca_cert
    return Skipped.new('the server has no certificate to verify') unless ca

    file = Tempfile.new('token').tap { |f| f.write(@token) && f.close }
    host, port = @client.config.host.split(':')
    pod = Kubernetes::InClusterConfig.new
    pod.instance_variable_set(:@env, { 'KUBERNETES_SERVICE_HOST' => host, 'KUBERNETES_SERVICE_PORT' => port })
    pod.instance_variable_set(:@token_file, file.path)
    pod.instance_variable_set(:@ca_cert, ca)
    equal(reading_with { |config| pod.configure(config, try_refresh_token: false) }.call.data, { 'a' => '2' })
  end

  # reading_with returns what reads the ConfigMap as somebody else, over a verified connection.
  def reading_with
    config = Kubernetes::Configuration.new
    config.scheme = 'https'
    config.host = @client.config.host
    config.ssl_ca_cert = @client.config.ssl_ca_cert
    config.verify_ssl = config.verify_ssl_host = !config.ssl_ca_cert.nil?
    yield(config)
    core = Kubernetes::CoreV1Api.new(Kubernetes::ApiClient.new(config))
    -> { core.read_namespaced_config_map('applied', @namespace) }
  end

  def allowed
    yield
  rescue Kubernetes::ApiError => e
    raise unless e.code == 403
  end
end
