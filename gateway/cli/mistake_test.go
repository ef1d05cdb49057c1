package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// walk calls fn for all commands that do something, with what is typed to name them.
func walk(cmd *cobra.Command, typed []string, fn func(cmd *cobra.Command, typed []string)) {
	for _, of := range cmd.Commands() {
		path := append(typed[:len(typed):len(typed)], of.Name())
		if of.Runnable() && of.Name() != "help" {
			fn(of, path)
		}
		walk(of, path, fn)
	}
}

// What is wrong with a command line exits with 2, whichever the command.
func TestMistakesExitWithTwo(t *testing.T) {
	b, all := &bench{}, 0
	walk(New(Parts{Tools: b}), nil, func(cmd *cobra.Command, typed []string) {
		all++
		name := strings.Join(typed, " ")
		if _, exit, err := b.run(t, append(typed, "--no-such-flag")...); exit != statusMistake || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
			t.Errorf("%s --no-such-flag: %d, %v", name, exit, err)
		}
		six := strings.Fields("one two three four five six")
		if cmd.ValidateArgs(six) == nil {
			return // as many as one likes
		}
		if _, exit, err := b.run(t, append(typed, six...)...); exit != statusMistake || err == nil {
			t.Errorf("%s with six arguments: %d, %v", name, exit, err)
		}
	})
	if all < 25 {
		t.Errorf("there are %d commands", all)
	}
	withoutKubeconfig(t)
	missing, empty, odd := filepath.Join(t.TempDir(), "missing"), written(t, "empty", ""), written(t, "odd", "{odd: [")
	crd := written(t, "crd.yaml", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.example.com}}")
	for line, want := range map[string]string{
		"no-such-command":                                                  "unknown command",
		"module no-such-command":                                           "unknown command",
		"module push":                                                      "an argument is missing",
		"module push -s 127.0.0.1:1 a " + missing:                          missing,
		"module list --kubeconfig " + missing:                              missing,
		"module list --kubeconfig " + filepath.Dir(empty):                  filepath.Dir(empty) + " is a folder, not a file",
		"module list --timeout soon":                                       `--timeout: "soon" is no time`,
		"module list -s 127.0.0.1:1 --timeout 0":                           "--timeout: must be greater than 0, got 0s",
		"module list -s ::":                                                "--server: \"https://::\" is no URL",
		"module list -s 127.0.0.1:1 --certificate-authority " + missing:    "--certificate-authority: " + missing,
		"module list -s 127.0.0.1:1 --client-key " + missing:               "--client-key: " + missing,
		"migrate a -s 127.0.0.1:1 --rate -1":                               "--rate: must be a number of objects, and not negative, got -1",
		"migrate a -s 127.0.0.1:1 --rate Inf":                              "got +Inf",
		"module record -s 127.0.0.1:1 a.example.com -l a=b=c":              "--selector: ",
		"module push a " + missing:                                         missing,
		"module push a " + empty:                                           empty + " is empty",
		"module push a " + odd + " --config " + odd:                        odd + ": ",
		"module replay -s 127.0.0.1:1 a.1 " + missing:                      missing,
		"version-priority preview -f " + odd:                               odd + ": ",
		"lint --stored -f " + missing:                                      missing + ": no such file or directory\n-f names the file",
		"lint --against " + missing + " -f " + crd:                         missing + ": no such file or directory\n--against names the file",
		"version-priority preview -s 127.0.0.1:1 -f " + missing:            missing,
		"version-priority preview -s 127.0.0.1:1":                          "a module and at least one group are needed",
		"version-priority preview -s 127.0.0.1:1 --module m -f " + missing: "either --module and groups, or -f",
		"module sign " + missing:                                           "--key is missing",
		"module sign --key " + missing + " " + missing:                     missing,
		"module replay -s 127.0.0.1:1 a":                                   "is no ID of a call",
		"module record -s 127.0.0.1:1 --samples 0 a":                       "have to be more than 0",
		"plan -s 127.0.0.1:1 --versions v1":                                "name it",
		"module inspect " + missing:                                        missing,
		"convert --to-version v1 --module " + missing + " -f " + missing:   missing,
	} {
		if _, exit, err := b.run(t, strings.Fields(line)...); exit != statusMistake || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d, %v", line, exit, err)
		}
	}
	t.Setenv("WASMGATE_TIMEOUT", "soon")
	if _, exit, err := b.run(t, "module", "list"); exit != statusMistake || !strings.Contains(err.Error(), "WASMGATE_TIMEOUT") {
		t.Errorf("an environment variable: %d, %v", exit, err)
	}
}

// What was tried and failed exits with 1, and says what to do.
func TestFailuresExitWithOne(t *testing.T) {
	b, crd := &bench{}, written(t, "crd.yaml", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.example.com}}")
	for line, want := range map[string]string{
		"module list -s 127.0.0.1:1":                                     "Nothing listens at https://127.0.0.1:1, which --server names",
		"module list -s https://127.0.0.1:1":                             "Nothing listens at https://127.0.0.1:1, which --server names",
		"module list -s 127.0.0.1:1 --timeout 1ns":                       "https://127.0.0.1:1 had 1ns in all, as --timeout says",
		"migrate crontabs.example.com -s 127.0.0.1:1":                    "Nothing listens at",
		"version-priority preview --module m example.com -s 127.0.0.1:1": "Nothing listens at",
		"module replay a.1 -s 127.0.0.1:1":                               "Nothing listens at",
		"module record a.example.com -s 127.0.0.1:1":                     "Nothing listens at",
		"plan -s 127.0.0.1:1":                                            "Nothing listens at",
		"lint --stored -s 127.0.0.1:1 -f " + crd:                         "Nothing listens at",
	} {
		if _, exit, err := b.run(t, strings.Fields(line)...); exit != 1 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d, %v", line, exit, err)
		}
	}
}
