package api

import (
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shardOf selects by a range of hashes of a field of objects, in the words of KEP-5866.
func shardOf(field, from, to string) string {
	return fmt.Sprintf("shardRange(object.metadata.%s, '0x%s', '0x%s')", field, from, to)
}

const zero, half, quarter, end = "0000000000000000", "8000000000000000", "c000000000000000", "10000000000000000"

// upper tells the half that the hash of a value is in.
func upper(value string) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(value))
	return h.Sum64()>>63 == 1
}

// Of a collection a client gets the objects whose hashes are in its ranges, which the
// list names, in every encoding and form, by pages and at once, at every version.
func TestShardsOfLists(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{configMaps, widgets} {
		want := map[bool][]string{}
		for i := range 12 {
			name, body := fmt.Sprintf("n%02d", i), ""
			if body = configMap(name, "v"); path == widgets {
				body = a(name, `"size":1`)
			}
			o := unstructured.Unstructured{Object: w.do("POST", path, body).want(201, "").tree()}
			in := upper(string(o.GetUID()))
			want[in] = append(want[in], name)
		}
		for in, shard := range map[bool]string{false: shardOf("uid", zero, half), true: shardOf("uid", half, quarter) + " || " + shardOf("uid", quarter, end)} {
			query := "?shardSelector=" + url.QueryEscape(shard)
			pages := ""
			for token := " "; token != ""; {
				r := w.do("GET", path+query+"&limit=2&continue="+strings.TrimSpace(token), "").want(200, shard)
				token = (&unstructured.UnstructuredList{Object: r.tree()}).GetContinue()
				pages += r.body
			}
			for _, media := range []string{"application/json", "application/yaml", "application/json" + partMeta, "application/json" + partTable} {
				r := w.do("GET", path+query, "", "Accept: "+media).want(200, "shardRange(object.metadata.uid, ")
				for _, body := range []string{r.body, pages} {
					if got := slices.DeleteFunc(slices.Concat(want[false], want[true]), func(name string) bool { return !strings.Contains(body, name) }); !slices.Equal(got, want[in]) {
						t.Errorf("%s %s: %v, want %v", path, media, got, want[in])
					}
				}
			}
			w.do("GET", path+query, "", "Accept: application/json;count=only").want(200, fmt.Sprintf(`"remainingItemCount":%d`, len(want[in]))).want(200, shard)
		}
		w.do("GET", path, "").want(200, "").without("shardInfo")
	}
	shard := shardOf("uid", half, end)
	var all corev1.ConfigMapList
	w.do("GET", configMaps+"?shardSelector="+url.QueryEscape(shard), "", asMessage).want(200, "").message(&all)
	if all.ShardInfo == nil || all.ShardInfo.Selector != shard || len(all.Items) == 0 || len(all.Items) == 12 {
		t.Errorf("%+v", all.ListMeta)
	}
	for in, shard := range map[bool]string{false: shardOf("namespace", zero, half), true: shardOf("namespace", half, end)} {
		r := w.do("GET", configMaps+"?shardSelector="+url.QueryEscape(shard), "").want(200, shard)
		if got := strings.Contains(r.body, "n00"); got != (in == upper("default")) {
			t.Errorf("%s: %s", shard, r.body)
		}
	}
}

// A watch tells of the changes to the objects of its shard, and a deletion of a
// collection is about those.
func TestShardsOfWatches(t *testing.T) {
	w := newWorld(t)
	query := "?shardSelector=" + url.QueryEscape(shardOf("uid", half, end))
	f := w.watch(t, configMaps+query+"&watch=1", nil)
	left := 0
	for i := range 12 {
		name := fmt.Sprintf("n%02d", i)
		o := unstructured.Unstructured{Object: w.do("POST", configMaps, configMap(name, "v")).want(201, "").tree()}
		w.do("PATCH", configMaps+"/"+name, `{"data":{"k":"changed"}}`, "Content-Type: application/merge-patch+json").want(200, "")
		if !upper(string(o.GetUID())) {
			left++
			continue
		}
		f.want("ADDED", name)
		f.want("MODIFIED", name)
	}
	w.do("DELETE", configMaps+query, "").want(200, "")
	w.do("GET", configMaps, "", "Accept: application/json;count=only").want(200, fmt.Sprintf(`"remainingItemCount":%d`, left))
}

// What is no shard is refused, and not taken for everything.
func TestWhatIsNoShardIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, shard := range []string{"x", " ", shardOf("name", zero, half), shardOf("uid", half, zero), shardOf("uid", "0", half), shardOf("uid", zero, half) + " && true", shardOf("uid", zero, half) + " || " + shardOf("namespace", half, end)} {
		for _, method := range []string{"GET", "DELETE"} {
			w.do(method, configMaps+"?shardSelector="+url.QueryEscape(shard), "").want(400, "invalid shard selector: ")
		}
		w.do("GET", configMaps+"?watch=1&shardSelector="+url.QueryEscape(shard), "").want(400, "invalid shard selector: ")
	}
}
