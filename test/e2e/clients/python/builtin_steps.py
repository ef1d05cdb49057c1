"""Steps with built-in kinds through the typed API, whose bodies never carry
apiVersion and kind unless the user writes them.
"""

import base64
import datetime

from kubernetes import client

from harness import equal, refused

PAGED = "page=yes"


def steps(namespace, group):
    core = client.CoreV1Api()
    leases = client.CoordinationV1Api()

    def meta(name, **more):
        return client.V1ObjectMeta(name=name, **more)

    def create():
        made = core.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta("one"), data={"a": "1"}))
        equal((made.kind, made.api_version, made.data), ("ConfigMap", "v1", {"a": "1"}))
        assert made.metadata.uid and made.metadata.resource_version
        assert isinstance(made.metadata.creation_timestamp, datetime.datetime)

    def get():
        equal(core.read_namespaced_config_map("one", namespace).data, {"a": "1"})
        refused(404, "NotFound", lambda: core.read_namespaced_config_map("nothing", namespace))

    def secrets():
        data = {"key": base64.b64encode(b"\x00\xff\n").decode()}
        core.create_namespaced_secret(namespace, client.V1Secret(metadata=meta("one"), data=data))
        equal(core.read_namespaced_secret("one", namespace).data, data)

    def lease():
        at = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.timezone.utc)
        spec = client.V1LeaseSpec(holder_identity="me", renew_time=at)
        leases.create_namespaced_lease(namespace, client.V1Lease(metadata=meta("one"), spec=spec))
        equal(leases.read_namespaced_lease("one", namespace).spec.renew_time, at)

    def chunks():
        wanted = ["page-%d" % i for i in range(7)]
        for name in wanted:
            core.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta(name, labels={"page": "yes"})))
        names, sizes, token = [], [], None
        while True:
            page = core.list_namespaced_config_map(namespace, label_selector=PAGED, limit=3, _continue=token)
            names += [i.metadata.name for i in page.items]
            sizes.append(len(page.items))
            token = page.metadata._continue
            if not token:
                break
        equal((names, sizes), (wanted, [3, 3, 1]))

    def json_patch():
        # The client sends a list as a JSON patch.
        test, add = {"op": "test", "path": "/data/a", "value": "1"}, {"op": "add", "path": "/data/b", "value": "2"}
        equal(core.patch_namespaced_config_map("one", namespace, [test, add]).data, {"a": "1", "b": "2"})
        test["value"] = "other"
        refused(422, "Invalid", lambda: core.patch_namespaced_config_map("one", namespace, [test, add]))

    def strategic_patch():
        # The client sends an object as a strategic merge patch.
        accounts = client.V1ServiceAccount(metadata=meta("one"), secrets=[client.V1ObjectReference(name=n) for n in "ab"])
        core.create_namespaced_service_account(namespace, accounts)
        patch = {"secrets": [{"name": "a", "$patch": "delete"}, {"name": "c"}]}
        got = core.patch_namespaced_service_account("one", namespace, patch)
        equal(sorted(s.name for s in got.secrets), ["b", "c"])
        equal(core.patch_namespaced_config_map("one", namespace, {"data": {"a": None}}).data, {"b": "2"})

    def replace():
        old = core.read_namespaced_config_map("one", namespace)
        stale = old.metadata.resource_version
        old.data = {"d": "4"}
        new = core.replace_namespaced_config_map("one", namespace, old)
        assert new.metadata.resource_version != stale
        old.data = {}
        status = refused(409, "Conflict", lambda: core.replace_namespaced_config_map("one", namespace, old))
        assert "the object has been modified" in status["message"], status
        equal(core.read_namespaced_config_map("one", namespace).data, {"d": "4"})

    def delete():
        options = client.V1DeleteOptions(grace_period_seconds=0, propagation_policy="Background")
        equal(core.delete_namespaced_config_map("one", namespace, body=options).status, "Success")
        core.delete_collection_namespaced_config_map(namespace, label_selector=PAGED)
        equal(core.list_namespaced_config_map(namespace, label_selector=PAGED).items, [])

    return [
        ("create a built-in object without apiVersion and kind", create),
        ("get", get),
        ("secrets keep their bytes", secrets),
        ("leases keep their microseconds", lease),
        ("list in chunks", chunks),
        ("json patch", json_patch),
        ("strategic merge patch", strategic_patch),
        ("replace, and replace with a stale resourceVersion", replace),
        ("delete, one and many", delete),
    ]
