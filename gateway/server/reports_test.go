package server

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is reported and stored nowhere is listed like anything else: by shards, which
// the list then says, and without items for its count. Reports have no uid, whose hash is in the upper half.
func TestReportsAreListedByShards(t *testing.T) {
	g := start(t, servingIn(filepath.Join(t.TempDir(), "data")))
	for shard, some := range map[string]bool{"'0x0000000000000000', '0x8000000000000000'": false, "'0x8000000000000000', '0x10000000000000000'": true} {
		selector := "shardRange(object.metadata.uid, " + shard + ")"
		got := g.do("GET", "/api/v1/componentstatuses?shardSelector="+url.QueryEscape(selector), "")
		var list metav1.PartialObjectMetadataList
		if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.code != 200 {
			t.Fatalf("%d %s: %v", got.code, got.body, err)
		}
		if list.ShardInfo == nil || (len(list.Items) > 0) != some {
			t.Errorf("%s: %s", selector, got.body)
		}
	}
	count := g.do("GET", "/api/v1/componentstatuses", "", "Accept: application/json;count=only")
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal([]byte(count.body), &list); err != nil || list.RemainingItemCount == nil || *list.RemainingItemCount == 0 {
		t.Errorf("%d %s: %v", count.code, count.body, err)
	}
}
