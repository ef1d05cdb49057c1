package cli

import (
	"strings"
	"testing"
)

// What there is no help and no script for is said, as for any command.
func TestHelpAndCompletionOfWhatThereIsNot(t *testing.T) {
	b := &bench{}
	for line, want := range map[string]string{
		"completion tcsh":                   "unknown command \"tcsh\"; did you mean bash or zsh or fish?\nSee 'wasmgate completion --help'",
		"completion bash now":               "unexpected argument \"now\"\nUsage: wasmgate completion bash",
		"help sreve":                        "unknown command \"sreve\"; did you mean serve?\nSee 'wasmgate --help'",
		"help module psh":                   "unknown command \"psh\"; did you mean push?\nSee 'wasmgate module --help'",
		"help module push here":             "unexpected argument \"here\"\nUsage: wasmgate module push NAME FILE.wasm",
		"push m m.wasm":                     "unknown command \"push\"; did you mean module push?\nSee 'wasmgate --help'",
		"preview":                           "unknown command \"preview\"; did you mean version-priority preview?",
		"convert --to v1":                   "unknown flag: --to; did you mean --to-version?\nSee 'wasmgate convert --help'",
		"serve -secure-port=1":              "unknown shorthand flag: 's' in -secure-port=1; did you mean --secure-port?\nSee 'wasmgate serve --help'",
		"serve -secure-prt 1":               "unknown shorthand flag: 's' in -secure-prt\nSee 'wasmgate serve --help'",
		"serve --audit 1":                   "unknown flag: --audit\nSee 'wasmgate serve --help'",
		"hlep":                              "unknown command \"hlep\"; did you mean help?",
		"serve --profiling off":             "unexpected argument \"off\"\nUsage",
		"serve --profiling 0":               "unexpected argument \"0\"; to set --profiling write --profiling=0\nUsage",
		"module push --wait false m m.wasm": "unexpected argument \"m.wasm\"; to set --wait write --wait=false\nUsage",
		"lint crd.yaml":                     "unexpected argument \"crd.yaml\"; files are named with -f\nUsage",
	} {
		if out, exit, err := b.run(t, strings.Fields(line)...); exit != statusMistake || err == nil || !strings.HasPrefix(err.Error(), want) || out != "" {
			t.Errorf("%s: %d, %v\n%s", line, exit, err, out)
		}
	}
}

// What there is help and a script for is printed where the command prints.
func TestHelpAndCompletion(t *testing.T) {
	b := &bench{}
	for line, want := range map[string]string{
		"help":                               "Available Commands:",
		"help module":                        "Available Commands:",
		"help module push":                   "--dry-run",
		"help serve":                         "--secure-port",
		"completion":                         "Available Commands:",
		"completion bash":                    "__start_wasmgate",
		"completion zsh":                     "#compdef wasmgate",
		"completion fish":                    "complete -c wasmgate",
		"completion powershell":              "Register-ArgumentCompleter",
		"completion bash --no-descriptions":  "__completeNoDesc",
		"completion zsh --no-descriptions":   "__completeNoDesc",
		"completion fish --no-descriptions":  "__completeNoDesc",
		"completion powershell -h":           "Out-String | Invoke-Expression",
		"__complete help mod":                "module\tCreate",
		"__complete help module pus":         "push\tUpload",
		"__completeNoDesc completion powers": "powershell\n",
	} {
		if out, exit, err := b.run(t, strings.Fields(line)...); exit != 0 || err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %d, %v\n%.2000s", line, exit, err, out)
		}
	}
	if out, _, _ := b.run(t, "completion", "powershell", "--no-descriptions"); !strings.Contains(out, "__completeNoDesc") {
		t.Error("PowerShell gets descriptions")
	}
}
