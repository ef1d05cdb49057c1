package sdk

import (
	"errors"
	"testing"
)

func TestGet(t *testing.T) {
	before := Lookup
	defer func() { Lookup = before }()
	if o, err := Get("", "configmaps", "a", "b"); o != nil || !errors.Is(err, ErrNotFound) {
		t.Errorf("%v, %v", o, err)
	}
	Lookup = func(object string) ([]byte, error) {
		if object != "apps/deployments/shop/web" {
			t.Errorf("asked for %s", object)
		}
		return []byte(`{"kind":"Deployment"}`), nil
	}
	if o, err := Get("apps", "deployments", "shop", "web"); err != nil || o.Kind() != "Deployment" {
		t.Errorf("%v, %v", o, err)
	}
}
