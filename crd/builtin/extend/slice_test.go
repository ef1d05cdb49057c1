package extend_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

const notLabel = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`

// slice is a slice of devices, which says something.
func slice(said string) string {
	return `{"metadata":{"name":"x"},"spec":{"driver":"d","pool":{"name":"p","resourceSliceCount":1},` + said + `}}`
}

// What drivers may say of their devices.
func TestSlicesOfDevices(t *testing.T) {
	const d = `"devices":[{"name":"a",`
	defs := builtintest.Definitions(t)
	for _, c := range []struct{ said, want string }{
		{`"nodeName":"n",` + d + `"consumesCounters":[{"counterSet":"a","counters":{"a":{"value":"1"}}},{"counterSet":"b","counters":{"a":{"value":"1"}}},{"counterSet":"c","counters":{"a":{"value":"1"}}}]}]`, `spec.devices[0].consumesCounters: Too many: 3: must have at most 2 items`},
		{`"nodeName":"n",` + d + `"consumesCounters":[{"counterSet":"a","counters":{"a":{"value":"1"}}},{"counterSet":"a","counters":{"a":{"value":"1"}}}]}]`, `spec.devices[0].consumesCounters[1]: Duplicate value: "a"`},
		{`"nodeName":"n",` + d + `"consumesCounters":[{"counterSet":"s","counters":{"A_":{"value":"1"}}}]}]`, `spec.devices[0].consumesCounters[0].counters: Invalid value: "A_": ` + notLabel},
		{`"nodeName":"n",` + d + `"consumesCounters":[{"counterSet":"","counters":{}}]}]`, `[spec.devices[0].consumesCounters[0].counterSet: Required value, spec.devices[0].consumesCounters[0].counters: Required value]`},
		{`"nodeName":"n","sharedCounters":[{"name":"s1","counters":{"a":{"value":"1"}}},{"name":"s1","counters":{"a":{"value":"1"}}}]`, `spec.sharedCounters[1]: Duplicate value: "s1"`},
		{`"nodeName":"n","sharedCounters":[{"name":"s","counters":{"A_":{"value":"1"}}}]`, `spec.sharedCounters[0].counters: Invalid value: "A_": ` + notLabel},
		{`"nodeName":"n","sharedCounters":[{"name":"s"}]`, `spec.sharedCounters[0].counters: Required value`},
		{`"nodeName":"n","sharedCounters":[{"name":"s","counters":{"a":{"value":"1"}}}],"devices":[{"name":"a"}]`, "spec: Invalid value: \"\": only one of `sharedCounters` or `devices` is allowed"},
		{`"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]},{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}`, `spec.nodeSelector.nodeSelectorTerms: Invalid value: [{"MatchExpressions":[{"Key":"a","Operator":"Exists","Values":null}],"MatchFields":null},{"MatchExpressions":[{"Key":"a","Operator":"Exists","Values":null}],"MatchFields":null}]: must have exactly one node selector term`},
		{`"nodeSelector":{"nodeSelectorTerms":[]}`, `[spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term, spec.nodeSelector.nodeSelectorTerms: Invalid value: []: must have exactly one node selector term]`},
		{`"nodeSelector":{"nodeSelectorTerms":[{}]}`, ``},
		{`"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a b","operator":"Odd"}]}]}`, `[spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator, spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]`},
		{`"nodeName":"n","allNodes":false`, `spec.allNodes: Invalid value: false: must be either unset or set to true`},
		{`"allNodes":false`, "[spec.allNodes: Invalid value: false: must be either unset or set to true, spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required]"},
		{`"nodeName":"n","perDeviceNodeSelection":false`, `spec.perDeviceNodeSelection: Invalid value: false: must be either unset or set to true`},
		{`"nodeName":"","allNodes":true`, `spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string`},
		{`"nodeName":""`, "[spec.nodeName: Invalid value: \"\": must be either unset or set to a non-empty string, spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required]"},
		{`"nodeName":"A_"`, `spec.nodeName: Invalid value: "A_": ` + notSubdomain},
		{`"nodeName":"n","allNodes":true`, "spec: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set"},
		{`"nodeName":"n","allNodes":true,"perDeviceNodeSelection":true,"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}`, "spec: Invalid value: \"{`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`}\": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set"},
		{`` + d + `"nodeName":"n","allNodes":true}],"perDeviceNodeSelection":true`, "spec.devices[0]: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"},
		{`` + d + `"nodeName":""}],"perDeviceNodeSelection":true`, "[spec.devices[0].nodeName: Invalid value: \"\": must not be empty, spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec]"},
		{`` + d + `"allNodes":false}],"perDeviceNodeSelection":true`, "[spec.devices[0].allNodes: Invalid value: false: must be either unset or set to true, spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec]"},
		{`"devices":[{"name":"a"}],"perDeviceNodeSelection":true`, "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"},
		{`` + d + `"nodeName":"n"}],"perDeviceNodeSelection":true`, ``},
		{`` + d + `"nodeName":"A_"}],"perDeviceNodeSelection":true`, `spec.devices[0].nodeName: Invalid value: "A_": ` + notSubdomain},
		{`` + d + `"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]},{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}],"perDeviceNodeSelection":true`, ``},
		{`` + d + `"nodeSelector":{"nodeSelectorTerms":[]}}],"perDeviceNodeSelection":true`, `spec.devices[0].nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term`},
		{`"nodeName":"n",` + d + `"nodeName":"n"}]`, "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"},
		{`"nodeName":"n",` + d + `"allNodes":false}]`, "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"},
		{`"nodeName":"n",` + d + `"bindingConditions":["a","a"],"bindingFailureConditions":["b"]}]`, `spec.devices[0].bindingConditions[1]: Duplicate value: "a"`},
		{`"nodeName":"n",` + d + `"bindingConditions":["a"],"bindingFailureConditions":["b","b"]}]`, `spec.devices[0].bindingFailureConditions[1]: Duplicate value: "b"`},
		{`"nodeName":"n",` + d + `"bindingConditions":["a"],"bindingFailureConditions":["a"]}]`, `spec.devices[0].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions`},
		{`"nodeName":"n",` + d + `"bindingConditions":["a"]}]`, `spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions`},
		{`"nodeName":"n",` + d + `"bindingFailureConditions":["a"]}]`, `spec.devices[0].bindingConditions: Invalid value: null: bindingConditions are required to use bindingFailureConditions`},
		{`"nodeName":"n",` + d + `"bindingConditions":["a","b","c","d","e"],"bindingFailureConditions":["f"]}]`, `spec.devices[0].bindingConditions: Too many: 5: must have at most 4 items`},
		{`"nodeName":"n",` + d + `"bindingConditions":["a b"],"bindingFailureConditions":["f",""]}]`, `[spec.devices[0].bindingConditions[0]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), spec.devices[0].bindingFailureConditions[1]: Invalid value: "": name part must be non-empty, spec.devices[0].bindingFailureConditions[1]: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]`},
	} {
		asked{"resourceslice", slice(c.said), c.want}.ask(t, defs)
	}
}

// What devices have, and how much of it may be requested at a time.
func TestAttributesAndCapacitiesOfDevices(t *testing.T) {
	const d = `"devices":[{"name":"a",`
	defs := builtintest.Definitions(t)
	for _, c := range []struct{ said, want string }{
		{`"nodeName":"n",` + d + `"attributes":{"a":{"version":"1.0.0-01"}}}]`, `spec.devices[0].attributes[a].version: Invalid value: "1.0.0-01": must be a string compatible with semver.org spec 2.0.0`},
		{`"nodeName":"n",` + d + `"attributes":{"a":{"version":"1.0.0"}}}]`, ``},
		{`"nodeName":"n",` + d + `"attributes":{"a":{"version":"1.0.0-a.b"}}}]`, ``},
		{`"nodeName":"n",` + d + `"attributes":{"a":{"version":"1.0.0-a..b"}}}]`, `spec.devices[0].attributes[a].version: Invalid value: "1.0.0-a..b": must be a string compatible with semver.org spec 2.0.0`},
		{`"nodeName":"n",` + d + `"attributes":{"a":{"version":"1.0.0+a..b"}}}]`, `spec.devices[0].attributes[a].version: Invalid value: "1.0.0+a..b": must be a string compatible with semver.org spec 2.0.0`},
		{`"nodeName":"n",` + d + `"attributes":{"a":{"version":"1.0"}}}]`, `spec.devices[0].attributes[a].version: Invalid value: "1.0": must be a string compatible with semver.org spec 2.0.0`},
		{`"nodeName":"n",` + d + `"attributes":{"a":{"version":"1.0.0-` + strings.Repeat("a", 70) + `"}}}]`, `spec.devices[0].attributes[a].version: Too long: may not be more than 64 bytes`},
		{`"nodeName":"n",` + d + `"attributes":{"a":{"string":"` + strings.Repeat("a", 65) + `"}}}]`, `spec.devices[0].attributes[a].string: Too long: may not be more than 64 bytes`},
		{`"nodeName":"n",` + d + `"attributes":{"Example.com/a":{"int":1}}}]`, ``},
		{`"nodeName":"n",` + d + `"capacity":{"Example.com/a":{"value":"1"}}}]`, ``},
		{`"nodeName":"n",` + d + `"attributes":{"example.com/A":{"int":1}}}]`, ``},
		{`"nodeName":"n",` + d + `"capacity":{"example.com/A":{"value":"1"}}}]`, ``},
		{`"nodeName":"n",` + d + `"attributes":{"/a":{"int":1}}}]`, `spec.devices[0].attributes: Invalid value: "": the domain must not be empty`},
		{`"nodeName":"n",` + d + `"capacity":{"/a":{"value":"1"}}}]`, `spec.devices[0].capacity: Invalid value: "": the domain must not be empty`},
		{`"nodeName":"n",` + d + `"attributes":{"a/":{"int":1}}}]`, `spec.devices[0].attributes: Invalid value: "": the name must not be empty`},
		{`"nodeName":"n",` + d + `"capacity":{"a/":{"value":"1"}}}]`, `spec.devices[0].capacity: Invalid value: "": the name must not be empty`},
		{`"nodeName":"n",` + d + `"attributes":{"a-b":{"int":1}}}]`, `spec.devices[0].attributes: Invalid value: "a-b": ` + notIdentifier},
		{`"nodeName":"n",` + d + `"capacity":{"a-b":{"value":"1"}}}]`, `spec.devices[0].capacity: Invalid value: "a-b": ` + notIdentifier},
		{`"nodeName":"n",` + d + `"attributes":{"` + strings.Repeat("a", 33) + `":{"int":1}}}]`, `spec.devices[0].attributes: Too long: may not be more than 32 bytes`},
		{`"nodeName":"n",` + d + `"capacity":{"` + strings.Repeat("a", 33) + `":{"value":"1"}}}]`, `spec.devices[0].capacity: Too long: may not be more than 32 bytes`},
		{`"nodeName":"n",` + d + `"attributes":{"` + strings.Repeat("a", 64) + `/a":{"int":1}}}]`, `spec.devices[0].attributes: Too long: may not be more than 63 bytes`},
		{`"nodeName":"n",` + d + `"capacity":{"` + strings.Repeat("a", 64) + `/a":{"value":"1"}}}]`, `spec.devices[0].capacity: Too long: may not be more than 63 bytes`},
		{`"nodeName":"n",` + d + `"attributes":{"a/b/c":{"int":1}}}]`, ``},
		{`"nodeName":"n",` + d + `"capacity":{"a/b/c":{"value":"1"}}}]`, ``},
		{`"nodeName":"n",` + d + `"attributes":{"a_/b":{"int":1}}}]`, `spec.devices[0].attributes: Invalid value: "a_": ` + notSubdomain},
		{`"nodeName":"n",` + d + `"capacity":{"a_/b":{"value":"1"}}}]`, `spec.devices[0].capacity: Invalid value: "a_": ` + notSubdomain},
		{`"nodeName":"n",` + d + `"attributes":{"":{"int":1}}}]`, `spec.devices[0].attributes: Invalid value: "": ` + notIdentifier},
		{`"nodeName":"n",` + d + `"capacity":{"":{"value":"1"}}}]`, `spec.devices[0].capacity: Invalid value: "": ` + notIdentifier},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{}}}}]`, ``},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1"}}}}]`, ``},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validRange":{"step":"1"}}}}}]`, `spec.devices[0].capacity[a].requestPolicy.validRange.min: Required value: required when validRange is defined`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"validRange":{"min":"1"}}}}}]`, `spec.devices[0].capacity[a].requestPolicy.default: Required value: required when validRange is defined`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"validValues":["1"]}}}}]`, `spec.devices[0].capacity[a].requestPolicy.default: Required value: required when validValues is defined`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validValues":["1"],"validRange":{"min":"1"}}}}}]`, `spec.devices[0].capacity[a].requestPolicy: Forbidden: exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validValues":["2","1"]}}}}]`, `spec.devices[0].capacity[a].requestPolicy.validValues[1]: Invalid value: "1": values must be sorted in ascending order`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"3","validValues":["1","2"]}}}}]`, `spec.devices[0].capacity[a].requestPolicy.validValues: Invalid value: "3": default value is not valid according to the requestPolicy`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validValues":["1","1","11"]}}}}]`, `[spec.devices[0].capacity[a].requestPolicy.validValues[2]: Invalid value: "11": option is larger than capacity value: 10, spec.devices[0].capacity[a].requestPolicy.validValues[1]: Duplicate value: "1"]`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"20","requestPolicy":{"default":"1","validValues":["1","2","3","4","5","6","7","8","9","10","11"]}}}}]`, `[spec.devices[0].capacity[a].requestPolicy.validValues: Too many: 11: must have at most 10 items, spec.devices[0].capacity[a].requestPolicy.validValues: Invalid value: "1": default value is not valid according to the requestPolicy]`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validRange":{"min":"2"}}}}}]`, `spec.devices[0].capacity[a].requestPolicy.validRange.min: Invalid value: "1": default is less than min: 2`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validRange":{"min":"11"}}}}}]`, `[spec.devices[0].capacity[a].requestPolicy.validRange.min: Invalid value: "11": min is larger than capacity value: 10, spec.devices[0].capacity[a].requestPolicy.validRange.min: Invalid value: "1": default is less than min: 11]`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"3","validRange":{"min":"1","max":"2"}}}}}]`, `spec.devices[0].capacity[a].requestPolicy.validRange.max: Invalid value: "3": default is more than max: 2`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validRange":{"min":"1","max":"11"}}}}}]`, `spec.devices[0].capacity[a].requestPolicy.validRange.max: Invalid value: "11": max is larger than capacity value: 10`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"3","validRange":{"min":"3","max":"2"}}}}}]`, `[spec.devices[0].capacity[a].requestPolicy.validRange.max: Invalid value: "3": min is larger than max: 2, spec.devices[0].capacity[a].requestPolicy.validRange.max: Invalid value: "3": default is more than max: 2]`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"2","validRange":{"min":"1","step":"2"}}}}}]`, `spec.devices[0].capacity[a].requestPolicy.validRange.step: Invalid value: "2": value is not a multiple of a given step (2) from (1)`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validRange":{"min":"1","max":"4","step":"2"}}}}}]`, `spec.devices[0].capacity[a].requestPolicy.validRange.step: Invalid value: "4": value is not a multiple of a given step (2) from (1)`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validRange":{"min":"1","step":"20"}}}}}]`, `spec.devices[0].capacity[a].requestPolicy.validRange.step: Invalid value: "20": one step 21 is larger than capacity value: 10`},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"3","validRange":{"min":"1","max":"7","step":"2"}}}}}]`, ``},
		{`"nodeName":"n",` + d + `"allowMultipleAllocations":false,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1"}}}}]`, `spec.devices[0].capacity[a].requestPolicy: Forbidden: allowMultipleAllocations must be true`},
		{`"nodeName":"n",` + d + `"taints":[{"key":"a b","effect":"Odd","value":"a b"}]}]`, `[spec.devices[0].taints[0].key: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), spec.devices[0].taints[0].value: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), spec.devices[0].taints[0].effect: Unsupported value: "Odd": supported values: "NoExecute", "NoSchedule", "None"]`},
		{`"nodeName":"n","devices":[{"name":"A_"}]`, `spec.devices[0].name: Invalid value: "A_": ` + notLabel},
		{`"nodeName":"n","devices":[{"name":""}]`, `spec.devices[0].name: Invalid value: "": ` + notLabel},
		{`"nodeName":"n","devices":[{"name":"a"},{"name":"a"}]`, `spec.devices[1]: Duplicate value: "a"`},
	} {
		asked{"resourceslice", slice(c.said), c.want}.ask(t, defs)
	}
}

// How many there may be of what a slice has.
func TestHowMuchASliceSays(t *testing.T) {
	// list is n of an item, whose number is %d.
	list := func(n int, item string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(item, i))
		}
		return strings.Join(all, ",")
	}
	const device, counter, set = `{"name":"d%d"}`, `"a%d":{"value":"1"}`, `{"name":"s%d","counters":{"a":{"value":"1"}}}`
	with := func(said string) string { return `"nodeName":"n","devices":[{"name":"a",` + said + `}` }
	defs := builtintest.Definitions(t)
	for _, c := range []struct{ said, want string }{
		{`"nodeName":"n","devices":[` + list(128, device) + `]`, ``},
		{`"nodeName":"n","devices":[` + list(129, device) + `]`, `spec.devices: Too many: 129: must have at most 128 items`},
		{with(`"taints":[{"key":"k","effect":"None"}]`) + `,` + list(63, device) + `]`, ``},
		{with(`"taints":[{"key":"k","effect":"None"}]`) + `,` + list(64, device) + `]`, `spec.devices: Too many: 65: must have at most 64 items`},
		{with(`"consumesCounters":[{"counterSet":"s","counters":{"a":{"value":"1"}}}]`) + `,` + list(64, device) + `]`, `spec.devices: Too many: 65: must have at most 64 items`},
		{with(`"attributes":{`+list(20, `"a%d":{"int":1}`)+`},"capacity":{`+list(12, counter)+`}`) + `]`, ``},
		{with(`"attributes":{`+list(20, `"a%d":{"int":1}`)+`},"capacity":{`+list(13, counter)+`}`) + `]`, `spec.devices[0]: Invalid value: 33: the total number of attributes and capacities must not exceed 32`},
		{with(`"consumesCounters":[{"counterSet":"s","counters":{`+list(33, counter)+`}}]`) + `]`, `spec.devices[0].consumesCounters[0].counters: Too many: 33: must have at most 32 items`},
		{`"nodeName":"n","sharedCounters":[` + list(8, set) + `]`, ``},
		{`"nodeName":"n","sharedCounters":[` + list(9, set) + `]`, `spec.sharedCounters: Too many: 9: must have at most 8 items`},
		{`"nodeName":"n","sharedCounters":[{"name":"s","counters":{` + list(33, counter) + `}}]`, `spec.sharedCounters[0].counters: Too many: 33: must have at most 32 items`},
	} {
		asked{"resourceslice", slice(c.said), c.want}.ask(t, defs)
	}
	pool := strings.Replace(slice(`"nodeName":"n"`), `"p"`, `"`+strings.Repeat("a.", 127)+`a"`, 1)
	asked{"resourceslice", pool, `[spec.pool.name: Too long: may not be more than 253 bytes, spec.pool.name: Invalid value: "` + strings.Repeat("a.", 127) + `a": must be no more than 253 characters]`}.ask(t, defs)
	zero := with(`"allowMultipleAllocations":true,"capacity":{"a":{"value":"10","requestPolicy":{"default":"1","validRange":{"min":"1","step":"0"}}}}`) + `]`
	asked{"resourceslice", slice(zero), `spec.devices[0].capacity[a].requestPolicy.validRange.step: Invalid value: "0": must not be zero`}.ask(t, defs)
}

// What is said to drivers is bounded, and a device is asked for in one way.
func TestWhatClaimsSayToDrivers(t *testing.T) {
	defs := builtintest.Definitions(t)
	opaque := func(bytes int) string {
		return `"config":[{"opaque":{"driver":"d","parameters":{"a":"` + strings.Repeat("x", bytes-len(`{"a":""}`)) + `"}}}]`
	}
	claim := func(more string) string {
		return `{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}],` + more + `}}`
	}
	const most, long = 10240, `opaque.parameters: Too long: may not be more than 10240 bytes`
	for _, c := range []asked{
		{"deviceclass", `{"metadata":{"name":"x"},"spec":{` + opaque(most) + `}}`, ``},
		{"deviceclass", `{"metadata":{"name":"x"},"spec":{` + opaque(most+1) + `}}`, `spec.config[0].` + long},
		{"resourceclaim", `{"metadata":{"name":"x"},"spec":` + claim(opaque(most)) + `}`, ``},
		{"resourceclaim", `{"metadata":{"name":"x"},"spec":` + claim(opaque(most+1)) + `}`, `spec.devices.config[0].` + long},
		{"resourceclaimtemplate", `{"metadata":{"name":"x"},"spec":{"spec":` + claim(opaque(most+1)) + `}}`, `spec.spec.devices.config[0].` + long},
		{"resourceclaim", `{"metadata":{"name":"x"},"spec":{"devices":{"requests":[{"name":"r","firstAvailable":[{"name":"s","deviceClassName":"c","allocationMode":"All","count":2}]}]}}}`,
			`spec.devices.requests[0].firstAvailable[0].count: Invalid value: 2: must not be specified when allocationMode is 'All'`},
	} {
		c.ask(t, defs)
	}
	large := `{"metadata":{"name":"x"},"spec":{` + opaque(most+1) + `}}`
	if err := crdtest.Change(t, defs["deviceclass"], "", large, large); err != nil {
		t.Errorf("of what was there: %v", err)
	}
}
