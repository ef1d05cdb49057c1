"""Steps through the API client itself and the dynamic one, for what typed methods do
not do: apply, tables, paths that are not resources, and the token of somebody else.
"""

import json

from kubernetes import client, dynamic

from harness import equal, eventually, refused

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def steps(namespace, group):
    api = client.ApiClient()
    core = client.CoreV1Api(api)
    path = "/api/v1/namespaces/%s/configmaps" % namespace

    def call(path, accept, kind, **query):
        return api.call_api(path, "GET", query_params=list(query.items()), header_params={"Accept": accept},
                            response_type=kind, auth_settings=["BearerToken"], _return_http_data_only=True)

    def apply():
        maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")

        def applied(data, manager, force=None, **query):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": data}
            # The client sends a text as it is, and writes no object itself here.
            return maps.server_side_apply(body=json.dumps(body), name="applied", namespace=namespace, field_manager=manager,
                                          force_conflicts=force, **query)

        equal(applied({"a": "1", "b": "2"}, "python").to_dict()["data"], {"a": "1", "b": "2"})
        equal(applied({"a": "3"}, "python", dry_run="All").to_dict()["data"], {"a": "3"})
        equal(applied({"a": "2"}, "python").to_dict()["data"], {"a": "2"})
        refused(409, "Conflict", lambda: applied({"a": "3"}, "other"))
        equal(applied({"a": "4"}, "other", force=True).to_dict()["data"], {"a": "4"})

    def dry_run():
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="dry"), data={"a": "1"})
        assert core.create_namespaced_config_map(namespace, body, dry_run="All").metadata.uid
        refused(404, "NotFound", lambda: core.read_namespaced_config_map("dry", namespace))

    def table():
        got = call(path, TABLE, "object", fieldSelector="metadata.name=applied")
        equal((got["kind"], [c["name"] for c in got["columnDefinitions"]]), ("Table", ["Name", "Data", "Age"]))
        equal([r["cells"][:2] for r in got["rows"]], [["applied", 1]])

    def paths():
        assert client.VersionApi(api).get_code().git_version.startswith("v1.")
        equal(call("/readyz", "*/*", "str"), "ok")

    def token():
        core.create_namespaced_service_account(namespace, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="reader")))
        request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=3600))
        made = core.create_namespaced_service_account_token("reader", namespace, request)
        settings = client.Configuration.get_default_copy()
        settings.api_key = {"authorization": "Bearer " + made.status.token}
        reader = client.CoreV1Api(client.ApiClient(settings))
        status = refused(403, "Forbidden", lambda: reader.read_namespaced_config_map("applied", namespace))
        assert 'User "system:serviceaccount:%s:reader" cannot get' % namespace in status["message"], status
        let_read()

        def allowed():
            try:
                return reader.read_namespaced_config_map("applied", namespace).data
            except client.ApiException as err:
                if err.status != 403:
                    raise

        equal(eventually("the account may read", allowed), {"a": "4"})

    def let_read():
        rbac = client.RbacAuthorizationV1Api(api)
        meta = client.V1ObjectMeta(name="reader")
        rule = client.V1PolicyRule(api_groups=[""], resources=["configmaps"], resource_names=["applied"], verbs=["get"])
        rbac.create_namespaced_role(namespace, client.V1Role(metadata=meta, rules=[rule]))
        rbac.create_namespaced_role_binding(namespace, {
            "metadata": {"name": "reader"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": namespace}],
        })

    return [
        ("apply", apply),
        ("dry run", dry_run),
        ("a table", table),
        ("paths that are not resources", paths),
        ("a service account's token", token),
    ]
