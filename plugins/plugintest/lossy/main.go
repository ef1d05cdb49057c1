// Command lossy is a module for tests of what conversions lose: v1 has a list of
// networks, of which v2 has one. It keeps the others in an annotation only if it is
// configured with {"keep": true}. Between v1alpha1 and v2alpha1 its structs lack fields,
// and between v1beta1 and v2beta1 it loses something of hardly any object. It is one
// module because compiling takes longest of all. It owns those losses and must not know
// the gateway.
package main

import (
	"encoding/json"

	"github.com/wasmgate/wasmgate/sdk"
)

const kept = "example.com/networks"

var keep bool

func init() {
	sdk.Configure("", func(config []byte) error {
		var c struct{ Keep bool }
		err := json.Unmarshal(config, &c)
		keep = c.Keep
		return err
	})
	sdk.Convert("v1", "v2", toV2)
	sdk.Convert("v2", "v1", toV1)
}

func toV2(o *sdk.Object) error {
	field := o.At("networks")
	if !field.Exists() {
		return nil
	}
	raw := append([]byte(nil), field.Raw()...)
	var all []string
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	field.Delete()
	if keep && len(all) != 1 {
		if err := o.At("metadata", "annotations", kept).SetString(string(raw)); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		return o.At("network").SetString(all[0])
	}
	return nil
}

func toV1(o *sdk.Object) error {
	network, has := o.At("network").String()
	o.At("network").Delete()
	if raw, ok := o.At("metadata", "annotations", kept).String(); ok {
		o.At("metadata", "annotations", kept).Delete()
		return o.At("networks").SetRaw([]byte(raw))
	}
	if !has {
		return nil
	}
	raw, err := json.Marshal([]string{network})
	if err != nil {
		return err
	}
	return o.At("networks").SetRaw(raw)
}

func main() {}
