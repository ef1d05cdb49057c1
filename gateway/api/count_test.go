package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A count is a list of the kind without items, in every encoding and form: it is of
// what selectors leave, and of all pages.
func TestCollectionsAreCounted(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"one", "two", "three"} {
		w.do("POST", configMaps, configMap(name, "v")).want(201, "")
		w.do("POST", widgets, a(name, `"size":1`)).want(201, "")
	}
	table := ";as=Table;v=v1;g=meta.k8s.io"
	for _, path := range []string{configMaps, widgets} {
		w.do("GET", path, "").want(200, "") // from here on the cache has all of them
		for query, want := range map[string]string{"": "3", "?limit=1": "3", "?limit=1&fieldSelector=metadata.namespace%3Ddefault": "3", "?fieldSelector=metadata.name%3Dtwo": "1", "?labelSelector=l%3Dnone": "0", "?resourceVersion=0": "3"} {
			for media, says := range map[string]string{
				"application/json": `"remainingItemCount":` + want, "application/yaml": "remainingItemCount: " + want,
				"application/json" + partMeta: `"remainingItemCount":` + want, "application/json" + table: `"remainingItemCount":` + want,
			} {
				r := w.do("GET", path+query, "", "Accept: "+media+";count=only").want(200, says).without("two").without("continue")
				if !strings.Contains(r.body, "resourceVersion") {
					t.Errorf("%s: %s", media, r.body)
				}
			}
		}
		w.do("GET", path, "", "Accept: application/json;count=all").want(200, "two").without("remainingItemCount")
		w.do("GET", path+"/two", "", "Accept: application/json;count=only").want(200, `"name":"two"`)
	}
	var all corev1.ConfigMapList
	if w.do("GET", configMaps, "", asMessage+";count=only").want(200, "").message(&all); len(all.Items) != 0 || *all.RemainingItemCount != 3 || all.ResourceVersion == "" {
		t.Errorf("%+v", all)
	}
	var metadata metav1.PartialObjectMetadataList
	if w.do("GET", widgets, "", asMessage+partMeta+";count=only").want(200, "").message(&metadata); len(metadata.Items) != 0 || *metadata.RemainingItemCount != 3 {
		t.Errorf("%+v", metadata)
	}
	w.do("DELETE", configMaps+"?limit=1", "", "Accept: application/json;count=only").want(200, `"continue":"`).want(200, `"remainingItemCount":1`)
	w.do("DELETE", widgets, "", "Accept: application/json;count=only").want(200, `"items":[],`).want(200, `"remainingItemCount":3`)
}

// A count of a revision is of exactly that one where a page of it would be.
func TestCountsAreOfTheRevisionAskedFor(t *testing.T) {
	w := newWorld(t)
	w.do("POST", configMaps, configMap("one", "v")).want(201, "")
	var then corev1.ConfigMapList
	w.do("GET", configMaps, "", asMessage+";count=only").want(200, "").message(&then)
	w.do("POST", configMaps, configMap("two", "v")).want(201, "")
	w.do("GET", configMaps, "", "Accept: application/json;count=only").want(200, `"remainingItemCount":2`)
	at := configMaps + "?resourceVersion=" + then.ResourceVersion
	w.do("GET", at+"&limit=1", "", "Accept: application/json;count=only").want(200, `"remainingItemCount":1`)
	w.do("GET", at, "", "Accept: application/json;count=only").want(200, `"remainingItemCount":2`)
}
