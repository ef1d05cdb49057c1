package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A value that a flag cannot have is told by flag and value, and what it may be, in the
// words of people and not of the functions that read it, whichever the flag.
func TestValuesOfFlagsAreRefusedInPlainWords(t *testing.T) {
	b, all := &bench{}, map[string]int{}
	walk(New(Parts{Tools: b}), nil, func(cmd *cobra.Command, typed []string) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			of := f.Value.Type()
			if of == "string" || of == "stringSlice" || of == "stringArray" || f.Name == "help" {
				return // which any value is one of
			}
			all[of]++
			for _, value := range []string{"abc", "", "1.2.3"} {
				_, exit, err := b.run(t, append(typed[:len(typed):len(typed)], "--"+f.Name+"="+value)...)
				if exit != statusMistake || err == nil || !strings.HasPrefix(err.Error(), "--"+f.Name+`: "`+value+`"`) || technical(err) {
					t.Errorf("%v --%s=%s: %d, %v", typed, f.Name, value, exit, err)
				}
			}
		})
	})
	for _, of := range []string{"bool", "int", "int64", "uint64", "float32", "float64", "duration", "intSlice", "stringToString", "format"} {
		if all[of] == 0 {
			t.Errorf("there is no flag of the type %s", of)
		}
	}
}

func technical(err error) bool {
	for _, words := range []string{"strconv", "parsing", "invalid", "csv", "parse error"} {
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}

func TestValuesOfFlags(t *testing.T) {
	for line, want := range map[string]string{
		"serve --secure-port abc":                            `--secure-port: "abc" is no whole number`,
		"serve --secure-port 99999999999999999999":           "--secure-port: 99999999999999999999 is not between -9223372036854775808 and 9223372036854775807",
		"serve --profiling=maybe":                            `--profiling: "maybe" is neither true nor false`,
		"serve --event-ttl 10":                               `--event-ttl: "10" is no time with its unit, such as 300ms, 30s, 5m or 1h30m`,
		"serve --audit-log-batch-throttle-qps 1e99":          `--audit-log-batch-throttle-qps: "1e99" is no number that can be used, such as 10 or 0.5`,
		"serve --oidc-required-claim a":                      `--oidc-required-claim: "a" is not of the form NAME=VALUE`,
		`serve --etcd-servers a"b`:                           `--etcd-servers: "a\"b" is no list of values with commas between them`,
		"module fuzz a --seed -1":                            `--seed: "-1" is no whole number from 0 on`,
		"module fuzz a --seed 99999999999999999999999999999": "--seed: 99999999999999999999999999999 is more than 18446744073709551615",
		"module bench a --batch 1,b":                         `--batch: "1,b" is no list of whole numbers with commas between them`,
		"module list -o xml":                                 `--output: "xml": want one of: json, yaml, name, wide`,
	} {
		_, exit, err := (&bench{}).run(t, strings.Fields(line)...)
		if exit != statusMistake || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %d, %v", line, exit, err)
		}
	}
	t.Setenv("WASMGATE_SECURE_PORT", "abc")
	if _, exit, err := (&bench{}).run(t, "serve"); exit != statusMistake || err == nil || err.Error() != `environment variable WASMGATE_SECURE_PORT: "abc" is no whole number` {
		t.Errorf("by its variable: %d, %v", exit, err)
	}
}
