package api

import (
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// unmanaged asks for objects without managedFields, in the words of KEP-5958.
const unmanaged = ";drop=metadata.managedFields"

// Who asks for it gets objects, lists and watches without managedFields, in every
// encoding and form, and of every kind; everybody else gets them.
func TestManagedFieldsAreLeftOut(t *testing.T) {
	w := newWorld(t)
	w.do("POST", configMaps, configMap("one", "v"), "Accept: application/json"+unmanaged).want(201, `"k":"v"`).without("managedFields")
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "managedFields")
	table, ages := ";as=Table;v=v1;g=meta.k8s.io", regexp.MustCompile(`"[0-9]+s"`) // which go on
	for path, medias := range map[string][]string{
		configMaps: {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json" + partMeta, "application/vnd.kubernetes.protobuf" + partMeta, "application/json" + table},
		widgets:    {"application/json", "application/yaml", "application/json" + partMeta, "application/vnd.kubernetes.protobuf" + partMeta, "application/json" + table},
	} {
		for _, media := range medias {
			for _, url := range []string{path + "/one", path, path + "?pretty=true", path + "/one?includeObject=Object", path + "?includeObject=Object"} {
				// The manager is called so in each of them, also where fields have numbers.
				w.do("GET", url, "", "Accept: "+media).want(200, "unknown")
				got := w.do("GET", url, "", "Accept: "+media+unmanaged).want(200, "one").without("unknown")
				other := w.do("GET", url, "", "Accept: "+media+";drop=spec+metadata.managedFields+x").want(200, "one")
				if ages.ReplaceAllString(other.body, `"1s"`) != ages.ReplaceAllString(got.body, `"1s"`) {
					t.Errorf("%s: beside other fields %q, alone %q", url, other.body, got.body)
				}
			}
			w.do("GET", path+"/one", "", "Accept: "+media+";drop=spec").want(200, "unknown")
		}
	}
	w.do("PATCH", widgets+"/one", `{"spec":{"size":2}}`, "Content-Type: application/merge-patch+json", "Accept: application/json"+partMeta+unmanaged).
		want(200, `"resourceVersion"`).without("managedFields")
}

// A watch without managedFields is one to its end: the deletion, too, has its own
// revision.
func TestWatchesWithoutManagedFields(t *testing.T) {
	w := newWorld(t)
	w.do("POST", configMaps, configMap("one", "v")).want(201, "")
	const initial = "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
	g := w.gather(t, configMaps+initial, asMessage+unmanaged)
	var added, deleted corev1.ConfigMap
	if k, data := g.event(t); k != "ADDED" || opened(t, data, &added) != "v1 ConfigMap" || added.Name != "one" || added.ManagedFields != nil {
		t.Fatalf("%s %+v", k, added)
	}
	f := w.watch(t, configMaps+initial, nil, "Accept: application/json"+unmanaged)
	if o := string(f.want("ADDED", "one").raw); strings.Contains(o, "managedFields") {
		t.Error(o)
	}
	w.do("DELETE", configMaps+"/one", "").want(200, "")
	if o := string(f.want("DELETED", "one").raw); strings.Contains(o, "managedFields") || strings.Contains(o, `"resourceVersion":"`+added.ResourceVersion+`"`) {
		t.Error(o)
	}
	if k, data := g.event(t); k != "DELETED" || opened(t, data, &deleted) == "" || deleted.ManagedFields != nil || deleted.ResourceVersion == added.ResourceVersion {
		t.Errorf("%s %+v", k, deleted)
	}
}
