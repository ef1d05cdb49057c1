package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// writesFile lists writes of built-in objects and what came of each.
const writesFile = builtIns + "/writes/writes.json"

// tried is a creation of body, or with old an update of it, and what
// kube-apiserver made of it.
type tried struct {
	Kind    string          `json:"kind"`
	Old     json.RawMessage `json:"old,omitempty"`
	Body    json.RawMessage `json:"body"`
	Code    int             `json:"code"`
	Message string          `json:"message,omitempty"`
	Object  map[string]any  `json:"object,omitempty"`
}

const admissionKinds = "/apis/admissionregistration.k8s.io/v1/"

var writePaths = map[string]string{
	"namespace": namespaces, "lease": "/apis/coordination.k8s.io/v1/namespaces/" + builtInsSpace + "/leases",
	"configmap": namespaces + "/" + builtInsSpace + "/configmaps", "secret": namespaces + "/" + builtInsSpace + "/secrets",
	"validatingwebhookconfiguration":   admissionKinds + "validatingwebhookconfigurations",
	"mutatingwebhookconfiguration":     admissionKinds + "mutatingwebhookconfigurations",
	"validatingadmissionpolicy":        admissionKinds + "validatingadmissionpolicies",
	"validatingadmissionpolicybinding": admissionKinds + "validatingadmissionpolicybindings",
	"mutatingadmissionpolicy":          admissionKinds + "mutatingadmissionpolicies",
	"mutatingadmissionpolicybinding":   admissionKinds + "mutatingadmissionpolicybindings",
	"serviceaccount":                   namespaces + "/" + builtInsSpace + "/serviceaccounts", "event": namespaces + "/" + builtInsSpace + "/events",
}

// recordWrites sends each of the writes, as dry runs, so that nothing is left.
func recordWrites(ctx context.Context, s *server) error {
	b, err := os.ReadFile(writesFile)
	if err != nil {
		return err
	}
	var all []*tried
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	if err := s.create(ctx, namespaces, `{"metadata":{"name":"`+builtInsSpace+`"}}`); err != nil {
		return err
	}
	for i, w := range all {
		if err := s.try(ctx, w); err != nil {
			return fmt.Errorf("write %d: %w", i, err)
		}
	}
	return write(filepath.FromSlash(writesFile), all)
}

func (s *server) try(ctx context.Context, w *tried) error {
	path := writePaths[w.Kind]
	if len(w.Old) > 0 {
		old, err := parse(w.Old)
		if err != nil {
			return err
		}
		meta, _ := old["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		item := path + "/" + url.PathEscape(name)
		if err := s.remove(ctx, item); err != nil {
			return err
		}
		if err := s.create(ctx, path, string(w.Old)); err != nil {
			return err
		}
		body, err := s.current(ctx, item, w.Body)
		if err != nil {
			return err
		}
		if err := s.send(ctx, w, "PUT", item, body); err != nil {
			return err
		}
		return s.remove(ctx, item)
	}
	return s.send(ctx, w, "POST", path, string(w.Body))
}

// current is body with the resourceVersion of what is there, without which
// some kinds are not updated.
func (s *server) current(ctx context.Context, item string, body []byte) (string, error) {
	b, err := s.get(ctx, item, "")
	if err != nil {
		return "", err
	}
	there, err := parse(b)
	if err != nil {
		return "", err
	}
	out, err := parse(body)
	if err != nil {
		return "", err
	}
	from, _ := there["metadata"].(map[string]any)
	meta, _ := out["metadata"].(map[string]any)
	meta["resourceVersion"] = from["resourceVersion"]
	return text(out), nil
}

func (s *server) send(ctx context.Context, w *tried, method, path, body string) error {
	code, b, err := s.do(ctx, method, path+"?dryRun=All&fieldManager=m", body, "Content-Type", "application/json")
	if err != nil {
		return err
	}
	reply, err := parse(b)
	if err != nil {
		return err
	}
	w.Code, w.Message, w.Object = code, "", nil
	if code >= 300 {
		_, message, found := strings.Cut(str(reply, "message"), " is invalid: ")
		if !found {
			message = str(reply, "message")
		}
		w.Message = message
		return nil
	}
	meta, _ := reply["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(meta, field)
	}
	w.Object = reply
	return nil
}
