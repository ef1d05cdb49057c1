// Command golang owns the module of test/sdks in Go. It must not do more than those in
// other languages, nor know what it is asked.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/sdk"
)

func main() {}

var suffix string

func init() {
	sdk.For("Gadget").Convert("v1alpha1", "v1beta1", func(o *sdk.Object) error {
		return o.At("spec", "size").MoveTo("spec", "dimensions", "size")
	})
	sdk.For("Gadget").Convert("v1beta1", "v1", toV1)
	sdk.For("Gadget").Convert("v1", "v1beta1", func(o *sdk.Object) error {
		o.At("spec", "list", "0").Delete()
		return o.At("spec", "list", "0").MoveTo("spec", "first")
	})
	sdk.Convert("v1", "v2", func(o *sdk.Object) error {
		whole, ok := o.At("hostPort").String()
		host, port, found := strings.Cut(whole, ":")
		if !ok || !found {
			return errors.New("hostPort has no colon")
		}
		o.At("hostPort").Delete()
		if err := o.At("host").SetString(host); err != nil {
			return err
		}
		return o.At("port").SetString(port)
	})
	sdk.Admit(admit)
	sdk.Prioritize(func(group string, versions []string) []string {
		if group == "reversed.example.com" {
			slices.Reverse(versions)
		}
		return versions
	})
	sdk.Configure(`{"type":"object","required":["suffix"],"properties":{"suffix":{"type":"string"}}}`, func(config []byte) error {
		var c struct{ Suffix string }
		if err := json.Unmarshal(config, &c); err != nil {
			return err
		}
		if c.Suffix == "refused" {
			return errors.New("such a suffix is refused")
		}
		suffix = c.Suffix
		return nil
	})
}

func toV1(o *sdk.Object) error {
	label, _ := o.At("spec", "label").String()
	n, _ := o.At("spec", "count").Int()
	yes, _ := o.At("spec", "yes").Bool()
	x, isNumber := o.At("spec", "ratio").Float()
	for _, err := range []error{
		o.At("spec", "label").SetString(label + suffix),
		o.At("spec", "next").SetInt(n + 1),
		o.At("spec", "no").SetBool(!yes),
		o.At("spec", "half").SetBool(isNumber && x < 1),
		o.At("spec", "items").SetInt(int64(o.At("spec", "list").Len())),
		o.At("metadata", "annotations", `a/b~"\c`).SetString("☂ \u0001 \n 😀"),
	} {
		if err != nil {
			return err
		}
	}
	o.At("spec", "old").Delete()
	return o.At("spec", "list").Each(func(i int, item *sdk.Object) error {
		if item.At("fail").Exists() {
			return fmt.Errorf("item %d cannot be converted", i)
		}
		return item.At("key").MoveTo("name")
	})
}

func admit(r *sdk.Review) error {
	if r.Object == nil {
		name := "" // of a review that has neither
		if r.Old != nil {
			name = r.Old.Name()
		}
		r.Warn(r.Operation + " of " + name)
		return nil
	}
	team, ok := r.Object.At("metadata", "labels", "team").String()
	if !ok {
		return errors.New(r.Object.Kind() + " " + r.Object.Name() + ` needs a label "team"`)
	}
	switch known, err := sdk.Get("", "configmaps", "policies", team); {
	case err == sdk.ErrNotFound:
		r.Warn("nobody knows " + team)
	case err != nil:
		return err
	default:
		lead, _ := known.At("data", "lead").String()
		r.Annotate("lead", lead)
	}
	user, _ := r.Request("userInfo", "username").String()
	r.Annotate("by", user)
	if r.DryRun {
		return nil
	}
	r.Object.At("metadata", "annotations", "drop/this").Delete()
	if err := r.Object.At("metadata", "labels", "tier").SetString("standard"); err != nil {
		return err
	}
	return r.Object.At("spec", "n").SetInt(7)
}
