package apiservice

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

var configMaps = schema.GroupResource{Resource: "configmaps"}

// Authentication keeps the ConfigMap by which extension servers know whose certificates,
// and whose headers, they may believe.
type Authentication struct {
	objects Objects
	options options.Serve
	// proxy are the authorities of this gateway's own certificate for servers behind it.
	proxy []byte
	// clients are the files of the authorities that sign certificates of clients.
	clients []string
}

// NewAuthentication makes who keeps it.
func NewAuthentication(objects Objects, o options.Serve, proxy []byte, clients []string) *Authentication {
	return &Authentication{objects, o, proxy, clients}
}

const authentication = "extension-apiserver-authentication"

// Keep has the ConfigMap say what has to be in it by now. Authorities that are there
// stay, as they may be another gateway's.
func (a *Authentication) Keep(ctx context.Context) error {
	obj, err := a.objects.Get(ctx, configMaps, metav1.NamespaceSystem, authentication)
	there := err == nil
	if !there && !apierrors.IsNotFound(err) {
		return err
	}
	if !there {
		obj = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": authentication, "namespace": metav1.NamespaceSystem},
		}}
	}
	had, _, err := unstructured.NestedStringMap(obj.Object, "data")
	if err != nil {
		return err
	}
	data, err := a.data(had)
	if err != nil || there && equality.Semantic.DeepEqual(had, data) {
		return err
	}
	if err := unstructured.SetNestedStringMap(obj.Object, data, "data"); err != nil {
		return err
	}
	if there {
		_, err = a.objects.Update(ctx, configMaps, "", obj)
	} else {
		_, err = a.objects.Create(ctx, configMaps, obj)
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		return nil // another gateway wrote; the next time
	}
	return err
}

// data is what the ConfigMap says, given what it said.
func (a *Authentication) data(had map[string]string) (map[string]string, error) {
	p := a.options.Proxy
	names, trusted := p.AllowedNames, [][]byte{[]byte(had["requestheader-client-ca-file"]), a.proxy}
	if p.HeaderCAFile == "" {
		names = []string{"front-proxy-client"}
	} else {
		text, err := os.ReadFile(p.HeaderCAFile)
		if err != nil {
			return nil, err
		}
		trusted = append(trusted, text)
		if len(names) > 0 && len(a.proxy) > 0 && !slices.Contains(names, "front-proxy-client") {
			names = append(slices.Clone(names), "front-proxy-client")
		}
	}
	out := map[string]string{"requestheader-client-ca-file": string(pki.Bundle(trusted...))}
	signers := [][]byte{[]byte(had["client-ca-file"])}
	for _, file := range a.clients {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		signers = append(signers, text)
	}
	if text := pki.Bundle(signers...); len(text) > 0 {
		out["client-ca-file"] = string(text)
	}
	for key, list := range map[string][]string{
		"requestheader-allowed-names": names, "requestheader-username-headers": p.UsernameHeaders, "requestheader-uid-headers": p.UIDHeaders,
		"requestheader-group-headers": p.GroupHeaders, "requestheader-extra-headers-prefix": p.ExtraHeaderPrefixes,
	} {
		text, err := json.Marshal(append([]string{}, list...))
		if err != nil {
			return nil, err
		}
		out[key] = string(text)
	}
	return out, nil
}
