package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// beside answers what fakeGateway does not: a definition, and its objects in two pages, of
// which the second is of a state that is not kept, and may fail with a status.
func beside(g *fakeGateway, definition, fails string, listed *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		version, isList := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/apis/example.com/"), "/crontabs")
		switch {
		case strings.HasSuffix(r.URL.Path, "/customresourcedefinitions/crontabs.example.com") && definition != "":
			fmt.Fprintf(w, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"crontabs.example.com"},"spec":{"versions":[%s]}}`, definition)
		case !isList:
			g.ServeHTTP(w, r)
		case r.URL.Query().Get("continue") == "":
			*listed = append(*listed, version)
			_, _ = fmt.Fprintf(w, `{"apiVersion":"example.com/%s","kind":"CronTabList","metadata":{"resourceVersion":"5","continue":"next","remainingItemCount":1},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`, version)
		case r.URL.Query().Get("continue") == "next":
			w.WriteHeader(http.StatusGone)
			_, _ = fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","metadata":{"continue":"newest"},"status":"Failure","reason":"Expired","code":410,"message":"too old"}`)
		case fails != "":
			code := map[string]int{"InternalError": 500, "Forbidden": 403}[fails]
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":%q,"code":%d,"message":"conversion webhook for CronTab c failed"}`, fails, code)
		default:
			_, _ = fmt.Fprintf(w, `{"apiVersion":"example.com/%s","kind":"CronTabList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"c"}}]}`, version)
		}
	}
}

// A migration is tried by reading all objects at the version that is stored, and writes
// nothing; what does not convert is told.
func TestMigrateDryRun(t *testing.T) {
	const stored = `{"name":"v2","served":true,"storage":false},{"name":"v1","served":true,"storage":true}`
	for name, c := range map[string]struct {
		definition, fails string
		at, want          string
	}{
		"all convert":       {stored, "", "v1", "crontabs.example.com can be migrated (dry run): 3 objects converted to v1\n"},
		"another version":   {strings.Replace(strings.ReplaceAll(stored, `"storage":true`, `"storage":false`), `"storage":false`, `"storage":true`, 1), "", "v2", "3 objects converted to v2\n"},
		"no definition":     {"", "", "v1", "3 objects converted to v1\n"},
		"one does not":      {stored, "InternalError", "v1", "crontabs.example.com cannot be migrated to v1: after 2 objects: conversion webhook for CronTab c failed"},
		"who may not read":  {stored, "Forbidden", "v1", "crontabs.example.com cannot be read to try it at v1: after 2 objects: conversion webhook for CronTab c failed"},
		"it is not served":  {`{"name":"v0","served":false,"storage":true}`, "", "", "objects of crontabs.example.com are stored at v0, which is not served"},
		"nothing is stored": {`{"name":"v2","served":true,"storage":false}`, "", "v1", "converted to v1"},
	} {
		g := newFakeGateway(t)
		var listed []string
		g.Config.Handler = beside(g, c.definition, c.fails, &listed)
		out, err := command(t, "migrate", "ct", "--dry-run", "--kubeconfig", g.kubeconfig)
		if err != nil {
			out += err.Error()
		}
		if failed := c.fails != "" || c.at == ""; failed != (err != nil) || !strings.Contains(out, c.want) || strings.Join(listed, " ") != c.at {
			t.Errorf("%s: %v, listed %q\n%s", name, err, listed, out)
		}
		g.mu.Lock()
		if len(g.objects) != 0 {
			t.Errorf("%s: a migration was made", name)
		}
		g.mu.Unlock()
	}
	g := newFakeGateway(t)
	var listed []string
	g.Config.Handler = beside(g, stored, "", &listed)
	if out, err := command(t, "migrate", "ct", "--dry-run", "-o", "name", "--kubeconfig", g.kubeconfig); err != nil || !strings.Contains(out, "storageversionmigration.storagemigration.k8s.io/") {
		t.Errorf("for programs: %q, %v", out, err)
	}
}
