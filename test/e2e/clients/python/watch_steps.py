"""Steps that follow changes: a watch, and one whose history is gone, which its
user recovers from by listing again.
"""

from kubernetes import client, watch
from kubernetes.client.rest import ApiException

from harness import ask, equal

SELECTOR = "watched=yes"


def steps(namespace, group):
    core = client.CoreV1Api()

    def create(name):
        meta = client.V1ObjectMeta(name=name, labels={"watched": "yes"})
        return core.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta))

    def listed():
        return core.list_namespaced_config_map(namespace, label_selector=SELECTOR)

    def follow(revision, until, **options):
        """Watches from a revision until one event, and returns all of them."""
        seen, watcher = [], watch.Watch()
        for event in watcher.stream(core.list_namespaced_config_map, namespace, label_selector=SELECTOR,
                                    resource_version=revision, _request_timeout=30, **options):
            seen.append(event["type"] + " " + event["object"].metadata.name)
            if seen[-1] == until:
                watcher.stop()
        return seen

    def changes():
        start = listed().metadata.resource_version
        create("seen")
        core.patch_namespaced_config_map("seen", namespace, {"data": {"value": "1"}})
        core.delete_namespaced_config_map("seen", namespace)
        equal(follow(start, "DELETED seen"), ["ADDED seen", "MODIFIED seen", "DELETED seen"])

    def timeout():
        equal(follow(listed().metadata.resource_version, None, timeout_seconds=1), [])

    def recovery():
        create("stays")
        create("goes")
        old = listed().metadata.resource_version
        core.delete_namespaced_config_map("goes", namespace)
        create("comes")
        if not ask("lose history"):
            return "the history of this server cannot be taken away"
        try:
            raise AssertionError("a watch without history saw %s" % follow(old, None))
        except ApiException as err:
            equal(err.status, 410)
        again = listed()
        equal(sorted(i.metadata.name for i in again.items), ["comes", "stays"])
        core.patch_namespaced_config_map("stays", namespace, {"data": {"value": "2"}})
        equal(follow(again.metadata.resource_version, "MODIFIED stays"), ["MODIFIED stays"])

    return [
        ("watch", changes),
        ("watch ends after timeoutSeconds", timeout),
        ("recovery from 410", recovery),
    ]
