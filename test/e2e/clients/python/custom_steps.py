"""Steps with a definition and its objects: the definition through the typed
API, the objects through the typed and through the dynamic one.
"""

from kubernetes import client, dynamic
from kubernetes.client.rest import ApiException

from harness import equal, eventually, refused

SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {"size": {"type": "integer", "minimum": 0}, "color": {"type": "string", "default": "red"}},
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}


def steps(namespace, group):
    extensions = client.ApiextensionsV1Api()
    custom = client.CustomObjectsApi()
    where = (group, "v1", namespace, "widgets")
    definition = "widgets." + group

    def widget(name, **fields):
        return dict(apiVersion=group + "/v1", kind="Widget", metadata={"name": name, "namespace": namespace}, **fields)

    def established():
        status = extensions.read_custom_resource_definition(definition).status
        return any(c.type == "Established" and c.status == "True" for c in status.conditions or [])

    def define():
        extensions.create_custom_resource_definition({
            "metadata": {"name": definition},
            "spec": {
                "group": group, "scope": "Namespaced",
                "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
                "versions": [{
                    "name": "v1", "served": True, "storage": True,
                    "subresources": {"status": {}}, "schema": {"openAPIV3Schema": SCHEMA},
                }],
            },
        })
        eventually("Established", established)

    def typed():
        made = custom.create_namespaced_custom_object(*where, widget("typed", spec={"size": 1}))
        equal(made["spec"], {"size": 1, "color": "red"})
        name = "typed"
        # The client sends an object as a merge patch here.
        got = custom.patch_namespaced_custom_object(*where, name, {"spec": {"color": None, "size": 3}})
        equal(got["spec"], {"size": 3, "color": "red"})
        got = custom.patch_namespaced_custom_object_status(*where, name, {"status": {"phase": "Ready"}})
        equal(got["status"], {"phase": "Ready"})
        refused(409, "Conflict", lambda: custom.replace_namespaced_custom_object(*where, name, made))
        refused(422, "Invalid", lambda: custom.create_namespaced_custom_object(*where, widget("bad", spec={"size": -1})))
        listed = custom.list_namespaced_custom_object(*where, limit=10)
        equal((listed["kind"], [i["metadata"]["name"] for i in listed["items"]]), ("WidgetList", ["typed"]))

    def bare():
        refused(400, "BadRequest", lambda: custom.create_namespaced_custom_object(*where, {"metadata": {"name": "bare"}}))

    def dynamically():
        api = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version=group + "/v1", kind="Widget")
        made = api.create(body=widget("dynamic", spec={"size": 1}), namespace=namespace)
        equal(made.spec.color, "red")
        equal(api.get(name="dynamic", namespace=namespace).metadata.uid, made.metadata.uid)
        got = api.patch(body=widget("dynamic", spec={"size": 5}), namespace=namespace, content_type="application/merge-patch+json")
        equal(got.spec.size, 5)
        got = api.patch(name="dynamic", body=[{"op": "replace", "path": "/spec/size", "value": 6}], namespace=namespace,
                        content_type="application/json-patch+json")
        equal(got.spec.size, 6)
        refused(409, "Conflict", lambda: api.replace(body=made, namespace=namespace))
        current = got.to_dict()
        current["spec"]["size"] = 7
        equal(api.replace(body=current, namespace=namespace).spec.size, 7)
        page = api.get(namespace=namespace, limit=1)
        equal([i.metadata.name for i in page.items], ["dynamic"])
        rest = api.get(namespace=namespace, limit=1, _continue=page.metadata["continue"])
        equal([i.metadata.name for i in rest.items], ["typed"])
        event = next(iter(api.watch(namespace=namespace, field_selector="metadata.name=dynamic", timeout=10)))
        equal((event["type"], event["object"].metadata.name), ("ADDED", "dynamic"))
        api.delete(name="dynamic", namespace=namespace)
        refused(404, "NotFound", lambda: api.get(name="dynamic", namespace=namespace))

    def gone():
        try:
            custom.list_namespaced_custom_object(*where)
        except ApiException as err:
            if err.status == 404:
                return True
            raise
        return False

    def undefine():
        extensions.delete_custom_resource_definition(definition)
        eventually("the definition has gone", gone)

    return [
        ("create a definition", define),
        ("typed API: custom objects", typed),
        ("a custom object without apiVersion and kind is refused", bare),
        ("dynamic API: custom objects", dynamically),
        ("delete the definition", undefine),
    ]
