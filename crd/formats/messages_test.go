package formats

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Long messages of apimachinery.
const (
	notQualified        = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
	notLabel            = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
	notSubdomain        = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	containerFieldNames = `"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`
)

// checked are values of formats and what is said of them: the words are kube-apiserver's,
// as clients see them. None stands for a value that is fine.
var checked = []struct{ format, value, want string }{
	{"qualified-attribute", `"` + strings.Repeat("a", 63) + "/" + strings.Repeat("b", 32) + `"`, ""},
	{"qualified-attribute", `"` + strings.Repeat("a", 31) + "." + strings.Repeat("a", 32) + `/b"`, `at: Too long: may not be more than 63 bytes`},
	{"qualified-attribute", `"a/` + strings.Repeat("b", 33) + `"`, `at: Too long: may not be more than 32 bytes`},
	{"qualified-attribute", `"A_/b"`, `at: Invalid value: "A_": ` + notSubdomain},
	{"qualified-attribute", `"a/"`, `at: Invalid value: "": the name must not be empty`},
	{"qualified-attribute", `"model"`, `at: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash`},
	{"qualified-attribute", `"Example.com/model"`, ""},
	{"generated-subdomain", `"a-"`, ""},
	{"windows-user!", `""`, `at: Invalid value: "": runAsUserName cannot be an empty string`},
	{"windows-user", `"D\\u v"`, ""},
	{"windows-user", `"a.b-C\\u"`, ""},
	{"windows-user", `".a\\u"`, `at: Invalid value: ".a\\u": runAsUserName's Domain doesn't match the NetBios nor the DNS format`},
	{"windows-user", `"D\\"`, `at: Invalid value: "D\\": runAsUserName's User cannot be empty`},
	{"windows-user", `". ."`, `at: Invalid value: ". .": runAsUserName's User cannot contain only periods or spaces`},
	{"windows-user", `"a\tb"`, `at: Invalid value: "a\tb": runAsUserName cannot contain control characters`},
	{"qualified-attribute", `"example.com/a-b"`, `at: Invalid value: "a-b": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')`},
	{"qualified-attribute", `"/model"`, `at: Invalid value: "": the domain must not be empty`},
	{"qualified-attribute", `"a/b/c"`, ""},
	{"device-toleration", `{"key":"a b"}`, `at.key: Invalid value: "a b": ` + notQualified},
	{"device-toleration", `{"operator":"Odd"}`, `at.operator: Unsupported value: "Odd": supported values: "Equal", "Exists"`},
	{"device-toleration", `{"operator":"Exists","value":"a"}`, "at.value: Invalid value: \"a\": must be empty for operator `Exists`"},
	{"device-toleration", `{"operator":"Exists"}`, ""},
	{"device-toleration", `{"operator":"Equal","value":"a b"}`, `at.value: Invalid value: "a b": ` + notLabel},
	{"device-toleration", `{"key":"a","value":"b","effect":"None"}`, ""},
	{"device-toleration", `{"effect":"Odd"}`, `at.effect: Unsupported value: "Odd": supported values: "NoExecute", "NoSchedule", "None"`},
	{"resource-field", `{}`, "at.resource: Required value"},
	{"resource-field", `{"resource":"limits.odd"}`, `at.resource: Unsupported value: "limits.odd": supported values: ` + containerFieldNames},
	{"resource-field", `{"resource":"hugepages-2Mi"}`, `at.resource: Unsupported value: "hugepages-2Mi": supported values: ` + containerFieldNames},
	{"resource-field", `{"resource":"odd.hugepages-2Mi"}`, `at.resource: Unsupported value: "odd.hugepages-2Mi": supported values: ` + containerFieldNames},
	{"resource-field", `{"resource":"limits.hugepages-2Mi","divisor":"1Mi"}`, ""},
	{"resource-field", `{"resource":"requests.hugepages-2Mi","divisor":"1m"}`, `at.divisor: Invalid value: "requests.hugepages-2Mi": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the hugepages resource`},
	{"resource-field", `{"resource":"limits.cpu","divisor":"1m"}`, ""},
	{"resource-field", `{"resource":"limits.cpu","divisor":"0"}`, ""},
	{"resource-field", `{"resource":"limits.cpu","divisor":"2"}`, `at.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`},
	{"resource-field", `{"resource":"limits.memory","divisor":"1m"}`, `at.divisor: Invalid value: "limits.memory": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource`},
	{"resource-field", `{"resource":"limits.memory","divisor":"1Gi"}`, ""},
	{"resource-field", `{"resource":"requests.ephemeral-storage","divisor":"2"}`, `at.divisor: Invalid value: "requests.ephemeral-storage": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource`},
	{"projected-paths", `{"sources":[{"secret":{"items":[{"path":"a"},{"path":""},{"path":""}]}},{"configMap":{"items":[{"path":"a"}]}}]}`, `at: Invalid value: "a": conflicting duplicate paths`},
	{"projected-paths", `{"sources":[{"configMap":{"name":"n","items":[{"path":"a"}]}},{"downwardAPI":{"name":"m","items":[{"path":"b"}]}},{"clusterTrustBundle":{"path":"b"}}]}`, `at: Invalid value: "b": conflicting duplicate paths`},
	{"projected-paths", `{"sources":[{"secret":{"name":"n","items":[{"path":"a"},{"path":"a"}]}}]}`, `at: Invalid value: "n": conflicting duplicate paths`},
	{"projected-paths", `{"sources":[{"podCertificate":{"keyPath":"k","certificateChainPath":"c"}},{"podCertificate":{"credentialBundlePath":"k"}}]}`, `at: Invalid value: "k": conflicting duplicate paths`},
	{"template-metadata", `{"labels":{"a b":""},"annotations":{"c d":""},"name":"n","uid":null}`, `at.annotations: Invalid value: "c d": ` + notQualified + "\nat.labels: Invalid value: \"a b\": " + notQualified + "\nat.name: Forbidden: cannot be set"},
	{"env-var", `{"value":"a"}`, ""},
	{"env-var", `{"valueFrom":{}}`, "at.valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"},
	{"env-var", `{"valueFrom":{"fieldRef":{}}}`, ""},
	{"env-var", `{"value":"a","valueFrom":{"fieldRef":{}}}`, "at.valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"},
	{"env-var", `{"valueFrom":{"fieldRef":{},"secretKeyRef":{}}}`, `at.valueFrom: Invalid value: "": may not have more than one field specified at a time`},
	{"ip", `""`, ""},
	{"ip", `"1.2.3.4"`, ""},
	{"ip", `"01.2.3.4"`, `at: Invalid value: "01.2.3.4": must not have leading 0s`},
	{"ip", `"::ffff:1.2.3.4"`, `at: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address`},
	{"cidr", `""`, ""},
	{"cidr", `"1.2.3.4/8"`, `at: Invalid value: "1.2.3.4/8": must not have bits set beyond the prefix length`},
	{"cidr", `"10.0.0.0/8"`, ""},
	{"cidr", `"10.0.0.0"`, `at: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
	{"domain-path", `""`, ""},
	{"domain-path", `"example.com/a"`, ""},
	{"domain-path!", `""`, "at: Required value"},
	{"up-to-all", `"100%"`, ""},
	{"up-to-all", `"101%"`, `at: Invalid value: "101%": must not be greater than 100%`},
	{"up-to-all", `101`, ""},
	{"up-to-all", `-1`, "at: Invalid value: -1: must be greater than or equal to 0"},
	{"up-to-all", `"101"`, `at: Invalid value: "101": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`},
	{"percent-or-count", `0`, ""},
	{"percent-or-count", `"101%"`, ""},
	{"percent-or-count", `true`, ""},
	{"quantity", `"0"`, ""},
	{"quantity", `"-1"`, `at: Invalid value: "-1": must be greater than or equal to 0`},
	{"quantity", `"x"`, ""},
	{"port-or-name", `0`, "at: Invalid value: 0: must be between 1 and 65535, inclusive"},
	{"port-or-name", `"http"`, ""},
	{"port-or-name", `"80"`, `at: Invalid value: "80": must contain at least one letter (a-z)`},
	{"port-or-name", `true`, ""},
	{"label-selector", `1`, ""},
	{"label-selector", `{"matchLabels":{"a":"b"}}`, ""},
	{"label-selector", `{"matchLabels":{"a b":"b"}}`, `at.matchLabels: Invalid value: "a b": ` + notQualified},
	{"label-selector", `{"matchLabels":1}`, "at: Internal error: cannot restore map from int64"},
	{"pod-template", `{"metadata":{"labels":{"a b":""},"annotations":{"c d":""}}}`, `at.labels: Invalid value: "a b": ` + notQualified + "\nat.annotations: Invalid value: \"c d\": " + notQualified},
	{"host", `"a.b"`, ""},
	{"host", `"*.b"`, ""},
	{"host", `"a.*"`, `at: Invalid value: "a.*": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
	{"node-requirement", `{"key":"a","operator":"In","values":["b"]}`, ""},
	{"node-requirement", `{"key":"a","operator":"NotIn"}`, "at.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
	{"node-requirement", `{"key":"a","operator":"Exists"}`, ""},
	{"node-requirement", `{"key":"a","operator":"DoesNotExist","values":["b"]}`, "at.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"},
	{"node-requirement", `{"key":"a","operator":"Gt","values":["1"]}`, ""},
	{"node-requirement", `{"key":"a","operator":"Lt","values":["1","2"]}`, "at.values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"},
	{"node-requirement", `{"key":"a b","operator":"Odd"}`, "at.operator: Invalid value: \"Odd\": not a valid selector operator\nat.key: Invalid value: \"a b\": " + notQualified},
	{"node-field", `{"key":"metadata.name","operator":"In","values":["n"]}`, ""},
	{"node-field", `{"key":"metadata.name","operator":"In","values":["N","m"]}`, "at.values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector\nat.values[0]: Invalid value: \"N\": " + notSubdomain},
	{"node-field", `{"key":"spec.x","operator":"Exists","values":["N"]}`, "at.operator: Invalid value: \"Exists\": not a valid selector operator\nat.key: Invalid value: \"spec.x\": not a valid field selector key"},
	{"toleration", `{}`, "at.operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all values and all keys\""},
	{"toleration", `{"operator":"Exists"}`, ""},
	{"toleration", `{"key":"a b"}`, `at.key: Invalid value: "a b": ` + notQualified},
	{"toleration", `{"key":"a","tolerationSeconds":1,"effect":"NoExecute"}`, ""},
	{"toleration", `{"key":"a","tolerationSeconds":1,"effect":"NoSchedule"}`, "at.effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"},
	{"toleration", `{"key":"a","operator":"Exists","value":"b"}`, "at.operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"},
	{"toleration", `{"key":"a","value":"b c"}`, `at.operator: Invalid value: "b c": ` + notLabel},
	{"toleration", `{"key":"a","operator":"Equal","value":"b c"}`, `at.operator: Invalid value: "b c": ` + notLabel},
	{"toleration", `{"key":"a","operator":"Odd","value":"b c","effect":"None"}`, "at.operator: Unsupported value: \"Odd\": supported values: \"Equal\", \"Exists\"\nat.effect: Unsupported value: \"None\": supported values: \"NoExecute\", \"NoSchedule\", \"PreferNoSchedule\""},
	{"local-path", `"a/b"`, ""},
	{"local-path", `"/a/../b"`, "at: Invalid value: \"/a/../b\": must be a relative path\nat: Invalid value: \"/a/../b\": must not contain '..'"},
	{"file-path", `"..a"`, `at: Invalid value: "..a": must not start with '..'`},
	{"file-path", `"../a"`, `at: Invalid value: "../a": must not contain '..'`},
	{"absolute-path", `"a"`, `at: Invalid value: "a": must be an absolute path`},
	{"absolute-path", `"/a"`, ""},
	{"dns-search", `"."`, ""},
	{"dns-search", `"a_b.c."`, ""},
	{"dns-search", `"a.."`, `at: Invalid value: "a..": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')`},
	{"iscsi-name", `"iq"`, `at: Invalid value: "iq": must be valid format starting with iqn, eui, or naa`},
	{"iscsi-name", `"iqn.2001-04.com.example:a"`, ""},
	{"iscsi-name", `"eui.1"`, `at: Invalid value: "eui.1": must be valid format`},
	{"csi-driver", `""`, ""},
	{"csi-driver", `"Csi.example.com"`, ""},
	{"csi-driver", `"` + strings.Repeat("a", 63) + `"`, ""},
	{"csi-driver", `"` + strings.Repeat("a", 64) + `"`, "at: Too long: may not be more than 63 bytes"},
	{"signer-name", `""`, ""},
	{"signer-name", `"example.com"`, `at: Invalid value: "example.com": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
	{"signer-name", `"example.com/a/b"`, `at: Invalid value: "example.com/a/b": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
	{"signer-name", `"example/a"`, `at: Invalid value: "example/a": should be a domain with at least two segments separated by dots`},
	{"signer-name", `"example.com/` + strings.Repeat("a", 253) + `"`, ""},
	{"ip-address", `""`, `at: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
	{"endpoint-ip", `"1.2.3.4"`, ""},
	{"endpoint-ip", `"01.2.3.4"`, `at: Invalid value: "01.2.3.4": must not have leading 0s`},
	{"endpoint-ip", `"0.0.0.0"`, `at: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)`},
	{"endpoint-ip", `"::1"`, `at: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)`},
	{"endpoint-ip", `"169.254.1.1"`, `at: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`},
	{"endpoint-ip", `"224.0.0.1"`, `at: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)`},
	{"endpoint-ip", `"odd"`, `at: Invalid value: "odd": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
	{"time-zone", `"Etc/UTC"`, ""},
	{"time-zone", `"local"`, "at: Invalid value: \"local\": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones\nat: Invalid value: \"local\": unknown time zone local"},
	{"time-zone", `"a/.."`, `at: Invalid value: "a/..": unknown time zone a/..`},
	{"time-zone", `"a/."`, `at: Invalid value: "a/.": unknown time zone a/.`},
	{"time-zone", `"-a"`, `at: Invalid value: "-a": unknown time zone -a`},
	{"time-zone", `"a b"`, `at: Invalid value: "a b": unknown time zone a b`},
	{"resource", `"a b"`, `at: Invalid value: "a b": ` + notQualified},
	{"resource", `"odd"`, `at: Invalid value: "odd": must be a standard resource type or fully qualified`},
	{"resource", `"requests.hugepages-2Mi"`, ""},
	{"resource", `"pods"`, ""},
	{"resource", `"example.com/a"`, ""},
	{"container-resource", `"pods"`, `at: Invalid value: "pods": must be a standard resource for containers`},
	{"container-resource", `"requests.example.com/a"`, `at: Invalid value: "requests.example.com/a": doesn't follow extended resource name standard`},
	{"container-resource", `"kubernetes.io/a"`, ""},
	{"container-resource", `"hugepages-2Mi"`, ""},
	{"container-resources", `{}`, ""},
	{"container-resources", `{"requests":{"cpu":"1","memory":"2"},"limits":{"cpu":1,"memory":"1"}}`, `at.requests: Invalid value: "2": must be less than or equal to memory limit of 1`},
	{"container-resources", `{"requests":{"example.com/a":"1"}}`, "at.limits: Required value: Limit must be set for non overcommitable resources"},
	{"container-resources", `{"requests":{"example.com/a":"1"},"limits":{"example.com/a":"2"}}`, `at.requests: Invalid value: "1": must be equal to example.com/a limit of 2`},
	{"container-resources", `{"requests":{"example.com/a":"1"},"limits":{"example.com/a":"1"}}`, ""},
	{"container-resources", `{"limits":{"hugepages-2Mi":"2Mi"}}`, "at: Forbidden: HugePages require cpu or memory"},
	{"container-resources", `{"limits":{"hugepages-2Mi":"2Mi","memory":"1"}}`, ""},
	{"container-resources", `{"limits":{"hugepages-2Mi":"2Mi","cpu":"1"}}`, ""},
	{"container-resources", `{"limits":{"cpu":"-1","memory":"odd"}}`, `at.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
	{"container-limits", `{"pods":"1500m"}`, "at.limits[pods]: Invalid value: \"pods\": must be a standard resource for containers\nat.limits[pods]: Invalid value: \"1500m\": must be an integer"},
	{"pod-resources", `{"limits":{"cpu":"1","memory":"1","ephemeral-storage":"1","hugepages-2Mi":"2Mi"},"claims":[]}`, "at.limits[ephemeral-storage]: Unsupported value: \"ephemeral-storage\": supported values: \"cpu\", \"hugepages-\", \"memory\"\nat.claims: Forbidden: claims may not be set for Resources at pod-level"},
	{"amounts", `{"pods":"500m","cpu":"500m","memory":"-1"}`, "at.memory: Invalid value: \"-1\": must be greater than or equal to 0\nat.pods: Invalid value: \"500m\": must be an integer"},
	{"schedule", `"* * * *"`, `at: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]`},
	{"schedule", `"@never"`, `at: Invalid value: "@never": unrecognized descriptor: @never`},
	{"schedule", `"*/0 * * * *"`, `at: Invalid value: "*/0 * * * *": step of range should be a positive number: */0`},
	{"schedule", `"*/1 * * * *"`, ""},
	{"schedule", `"a * * * *"`, `at: Invalid value: "a * * * *": failed to parse number: a`},
	{"schedule", `"1-a * * * *"`, `at: Invalid value: "1-a * * * *": failed to parse number: a`},
	{"schedule", `"* * 0 * *"`, `at: Invalid value: "* * 0 * *": beginning of range (0) below minimum (1): 0`},
	{"schedule", `"60 * * * *"`, `at: Invalid value: "60 * * * *": end of range (60) above maximum (59): 60`},
	{"schedule", `"5-2 * * * *"`, `at: Invalid value: "5-2 * * * *": beginning of range (5) beyond end of range (2): 5-2`},
	{"schedule", `"5-5 0 * * *"`, ""},
	{"schedule", `"-1 * * * *"`, `at: Invalid value: "-1 * * * *": failed to parse number: `},
}

// A name that is too long for a signer is so besides what is wrong with its domain, which
// cannot be that long.
func TestLongNamesOfSigners(t *testing.T) {
	for n, want := range map[int]int{247: 1, 248: 2} {
		name := strings.Repeat("a.", 160) + "com/" + strings.Repeat("a", n)
		if errs := signerName(name, field.NewPath("at")); len(errs) != want {
			t.Errorf("%d bytes: %v", len(name), errs)
		}
	}
}

// Each value of the table has what is said of it.
func TestWhatIsSaidOfValues(t *testing.T) {
	for _, c := range checked {
		var v any
		if err := json.Unmarshal([]byte(c.value), &v); err != nil {
			t.Fatalf("%s: %v", c.value, err)
		}
		f, err := Of(c.format)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, e := range f(v, field.NewPath("at")) {
			said = append(said, e.Error())
		}
		if got := strings.Join(said, "\n"); got != c.want {
			t.Errorf("%s as %s:\n%s\nwant\n%s", c.value, c.format, got, c.want)
		}
	}
}
