package e2e

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// storedObject is a custom resource as etcd holds it.
type storedObject struct {
	object
	revision int64
}

// stored reads one custom resource from etcd.
func stored(t testing.TB, etcd *clientv3.Client, key string) storedObject {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	resp, err := etcd.Get(ctx, key)
	if err != nil {
		t.Fatalf("etcd: get %s: %v", key, err)
	}
	if len(resp.Kvs) != 1 {
		t.Fatalf("etcd: %s does not exist", key)
	}
	return storedObject{parse(t, string(resp.Kvs[0].Value)), resp.Kvs[0].ModRevision}
}

// storedVersions counts the objects below a prefix by their apiVersion.
func storedVersions(t testing.TB, etcd *clientv3.Client, prefix string) map[string]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	resp, err := etcd.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatalf("etcd: get %s: %v", prefix, err)
	}
	count := map[string]int{}
	for _, kv := range resp.Kvs {
		var o struct {
			APIVersion string `json:"apiVersion"`
		}
		if err := json.Unmarshal(kv.Value, &o); err != nil {
			t.Fatalf("etcd: %s: %v", kv.Key, err)
		}
		count[o.APIVersion]++
	}
	return count
}
