package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// histKind is a kind whose objects a history is about. Each holds one value,
// which every version says in its own way.
type histKind struct {
	// letter begins the names of its objects.
	letter   string
	versions []string
	// list is the path of the collection at a version, prefix where etcd has it.
	list   func(version string) string
	prefix string
	// body is an object, fields a merge patch that gives it a value.
	body   func(version, name, rv, value string) string
	fields func(version, value string) string
}

// histObject is what replies, events and etcd say of an object of any kind.
type histObject struct {
	APIVersion string
	Metadata   struct{ Name, ResourceVersion string }
	Data       struct{ V string }

	HostPort, Host, Port string
}

// value is that of an object that was asked for at a version. One with fields of
// another version has a value that nobody wrote.
func (o histObject) value(k *histKind, version string) string {
	if k.letter == "m" {
		return o.Data.V
	}
	said := [4]string{o.APIVersion[strings.Index(o.APIVersion, "/")+1:], o.HostPort, o.Host, o.Port}
	if value := strings.TrimSuffix(o.HostPort, ":80"); said == [4]string{"v1beta1", value + ":80", "", ""} && version == "v1beta1" {
		return value
	}
	if said == [4]string{"v1", "", o.Host, "80"} && version == "v1" {
		return o.Host
	}
	return fmt.Sprintf("%q for %s", said, version)
}

func histMaps(ns string) *histKind {
	return &histKind{
		letter: "m", versions: []string{"v1"}, prefix: "/registry/configmaps/" + ns + "/",
		list: func(string) string { return configMaps(ns) },
		body: func(_, name, rv, value string) string {
			return fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":%q},"data":{"v":%q}}`, name, rv, value)
		},
		fields: func(_, value string) string { return fmt.Sprintf(`{"data":{"v":%q}}`, value) },
	}
}

// histTabs are CronTabs, which a module converts.
func histTabs(group, ns string) *histKind {
	fields := func(version, value string) string {
		if version == "v1" {
			return fmt.Sprintf(`"host":%q,"port":"80"`, value)
		}
		return fmt.Sprintf(`"hostPort":"%s:80"`, value)
	}
	return &histKind{
		letter: "c", versions: []string{"v1", "v1beta1"}, prefix: "/registry/" + group + "/crontabs/" + ns + "/",
		list: func(version string) string {
			return "/apis/" + group + "/" + version + "/namespaces/" + ns + "/crontabs"
		},
		body: func(version, name, rv, value string) string {
			return fmt.Sprintf(`{"apiVersion":"%s/%s","kind":"CronTab","metadata":{"name":%q,"resourceVersion":%q},%s}`,
				group, version, name, rv, fields(version, value))
		},
		fields: func(version, value string) string { return "{" + fields(version, value) + "}" },
	}
}

// asSeen is the event that watchers get of a change in etcd.
func (k *histKind) asSeen(t *testing.T, ev *clientv3.Event) histEvent {
	t.Helper()
	kind, stored := "MODIFIED", ev.Kv.Value
	switch {
	case ev.Type == clientv3.EventTypeDelete:
		kind, stored = "DELETED", ev.PrevKv.Value
	case ev.IsCreate():
		kind = "ADDED"
	}
	e := histEvent{rv: ev.Kv.ModRevision, kind: kind, name: strings.TrimPrefix(string(ev.Kv.Key), k.prefix)}
	if k.letter == "m" {
		o, _, err := scheme.Codecs.UniversalDeserializer().Decode(stored, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		e.value = o.(*corev1.ConfigMap).Data["v"]
		return e
	}
	var o histObject
	if err := json.Unmarshal(stored, &o); err != nil {
		t.Fatal(err)
	}
	e.value = o.value(k, "v1beta1")
	return e
}
