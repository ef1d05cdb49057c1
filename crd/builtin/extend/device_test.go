package extend

import (
	"fmt"
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
)

func treeOf(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Taints without a time begin now, others when they say; what is no taint is left alone.
func TestTaintsOfDevicesHaveATime(t *testing.T) {
	slice := treeOf(t, `{"spec":{"devices":[{"name":"a","taints":[{"key":"a"},{"key":"b","timeAdded":"2026-01-01T00:00:00Z"},"c"]},"d",{"taints":"e"}]}}`)
	dateTaints(slice)
	taints := slice["spec"].(map[string]any)["devices"].([]any)[0].(map[string]any)["taints"].([]any)
	at, err := time.Parse(time.RFC3339, fmt.Sprint(taints[0].(map[string]any)["timeAdded"]))
	if since := time.Since(at); err != nil || since < 0 || since > time.Minute || taints[1].(map[string]any)["timeAdded"] != "2026-01-01T00:00:00Z" {
		t.Errorf("%v, %v", taints, err)
	}
	for _, odd := range []string{`{}`, `{"spec":null}`, `{"spec":{"devices":{}}}`} {
		dateTaints(treeOf(t, odd))
	}
}

// What is said of devices goes with their allocation, and only then.
func TestReportsGoWithTheirAllocation(t *testing.T) {
	const one, two, other = `{"driver":"d","pool":"p","device":"one"}`, `{"driver":"d","pool":"p","device":"two","shareID":"s"}`, `{"driver":"d","pool":"p","device":"two"}`
	claim := func(results, devices string) map[string]any {
		return treeOf(t, `{"status":{"allocation":{"devices":{"results":[`+results+`]}},"devices":[`+devices+`]}}`)
	}
	for _, c := range []struct {
		subresource, before, now, said string
		want                           int
	}{
		{"status", one + "," + two, one, one + "," + two, 1},
		{"status", one + "," + two, one, one + "," + other, 2}, // which nobody has allocated: a mistake
		{"status", one + "," + two, "", one + "," + two, 0},
		{"status", "", one, one, 1},
		{"", one, "", one, 1},
	} {
		now := claim(c.now, c.said)
		dropDeallocated(c.subresource, now, claim(c.before, ""))
		left, there := now["status"].(map[string]any)["devices"].([]any)
		if len(left) != c.want || there != (c.want > 0) {
			t.Errorf("%+v: %v", c, left)
		}
	}
	for _, odd := range []string{`{}`, `{"status":[]}`, `{"status":{"devices":[1]}}`, `{"status":{"devices":[{}],"allocation":{"devices":{"results":[null,{}]}}}}`} {
		dropDeallocated("status", treeOf(t, odd), treeOf(t, odd))
	}
}

// An allocation stays as it is; lists have bounds, and what is above is not looked through.
func TestStatusOfClaims(t *testing.T) {
	claim := func(change func(*resourcev1.ResourceClaim)) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{}
		c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "s"}}}}
		c.Status.Allocation = &resourcev1.AllocationResult{}
		c.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "r/s", Driver: "d", Pool: "p", Device: "one"}}
		change(c)
		return c
	}
	same := claim(func(*resourcev1.ResourceClaim) {})
	for what, c := range map[string]struct {
		now, before *resourcev1.ResourceClaim
		want        string
	}{
		"the same":  {same, same, ""},
		"allocated": {same, &resourcev1.ResourceClaim{}, ""},
		"changed":   {claim(func(c *resourcev1.ResourceClaim) { c.Status.Allocation.Devices.Results[0].Pool = "q" }), same, "status.allocation: field is immutable"},
		"many consumers": {claim(func(c *resourcev1.ResourceClaim) {
			for i := range 257 {
				c.Status.ReservedFor = append(c.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{UID: types.UID(fmt.Sprint(i))})
			}
		}), same, "status.reservedFor: must have at most 256 items"},
		"many results": {claim(func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation.Devices.Results = make([]resourcev1.DeviceRequestAllocationResult, 33)
		}), &resourcev1.ResourceClaim{}, "status.allocation.devices.results: must have at most 32 items"},
		"much configuration": {claim(func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation.Devices.Config = make([]resourcev1.DeviceAllocationConfiguration, 65)
		}), &resourcev1.ResourceClaim{}, "status.allocation.devices.config: must have at most 64 items"},
		"long names": {claim(func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation.Devices.Results[0].Driver, c.Status.Allocation.Devices.Results[0].Pool = strings.Repeat("d", 64), strings.Repeat("p.", 127)+"p"
		}), &resourcev1.ResourceClaim{}, "status.allocation.devices.results[0].driver: may not be more than 63 bytes;status.allocation.devices.results[0].pool: may not be more than 253 bytes"},
	} {
		var got []string
		for _, e := range validateClaimStatus(c.now, c.before) {
			if !strings.Contains(e.Detail, "subdomain") && !strings.Contains(e.Detail, "characters") {
				got = append(got, e.Field+": "+e.Detail)
			}
		}
		if all := strings.Join(got, ";"); all != c.want {
			t.Errorf("%s: %s", what, all)
		}
	}
}

// Hundreds of thousands of conditions are looked through once.
func TestManyBindingConditions(t *testing.T) {
	many := func(letter string) (out []string) {
		for i := range 300000 {
			out = append(out, fmt.Sprint(letter, i))
		}
		return out
	}
	if errs := validateBindingConditions(many("a"), many("b"), nil); len(errs) != 2 {
		t.Errorf("%d mistakes", len(errs))
	}
}
