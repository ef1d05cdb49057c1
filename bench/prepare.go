package main

import (
	"encoding/json"
	"fmt"

	"github.com/wasmgate/wasmgate/bench/workload"
)

const (
	crdPath  = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	jsonType = "application/json"
	merge    = "application/merge-patch+json"

	applyPatch = "application/apply-patch+yaml"
)

// prepare gives a target the definition and its converter, and waits until
// both versions are served.
func prepare(c config, t *target) error {
	if err := t.wait("/readyz", 200); err != nil {
		return err
	}
	t.idle = t.usage().rss
	if _, _, err := t.do("DELETE", crdPath+"/"+workload.Definition, "", "", nil); err != nil {
		return err
	}
	if err := t.wait(crdPath+"/"+workload.Definition, 404); err != nil {
		return err
	}
	clientConfig, err := converter(c, t)
	if err != nil {
		return err
	}
	if _, _, err := t.do("POST", "/api/v1/namespaces", jsonType, "", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`)); err != nil {
		return err
	}
	if err := t.ok("POST", crdPath, jsonType, "", workload.CRD(clientConfig)); err != nil {
		return err
	}
	for _, v := range []string{"v1", "v2"} {
		if err := t.wait(workload.Collection(v), 200); err != nil {
			return err
		}
	}
	t.before = t.usage().rss
	return check(t)
}

// check makes sure that the objects convert at all: without that the numbers
// mean nothing.
func check(t *target) error {
	if err := t.ok("POST", workload.Collection("v1"), jsonType, jsonType, workload.Object(-1, 0)); err != nil {
		return err
	}
	defer t.do("DELETE", workload.Path("v1", -1), "", "", nil)
	_, reply, err := t.do("GET", workload.Path("v2", -1), "", jsonType, nil)
	if err != nil {
		return err
	}
	var o struct {
		APIVersion string
		Spec       struct{ Host, HostPort string }
	}
	if err := json.Unmarshal(reply, &o); err != nil || o.APIVersion != workload.Group+"/v2" {
		return fmt.Errorf("no object at v2: %v %.300s", err, reply)
	}
	return nil
}
