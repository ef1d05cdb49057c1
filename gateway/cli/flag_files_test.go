package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/wasmgate/wasmgate/gateway/options"
)

// server runs a command line of a server, whose runner returns an error, and reports
// whether it was called.
func server(t *testing.T, failed error, line ...string) (called bool, exit int, err error) {
	t.Helper()
	root := New(Parts{
		Serve: func(context.Context, options.Serve, zerolog.Logger, func(options.Started)) error {
			called = true
			return failed
		},
		Webhook: func(context.Context, options.Webhooks, zerolog.Logger, func(options.WebhookStarted)) error {
			called = true
			return failed
		},
	})
	root.SetArgs(line)
	cmd, err := root.ExecuteContextC(t.Context())
	return called, exitStatus(cmd, err), err
}

// A file of a flag, whichever it is, that cannot be read is told by the flag before
// anything is started.
func TestServers_LookForTheFilesOfFlags(t *testing.T) {
	dir, missing := t.TempDir(), filepath.Join(t.TempDir(), "missing")
	for _, typed := range [][]string{{"serve"}, {"webhook", dir}} {
		all := 0
		cmd, _, err := New(Parts{}).Find(typed[:1])
		if err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			what, _ := pflag.UnquoteUsage(f)
			if what != "file" || f.Name == "write-kubeconfig" || f.Name == "audit-log-path" {
				return
			}
			all++
			for file, want := range map[string]string{missing: missing + ": file does not exist", dir: dir + " is a folder, not a file"} {
				called, exit, err := server(t, nil, append(slices.Clone(typed), "--"+f.Name, file)...)
				if called || exit != statusMistake || err == nil || !strings.Contains(err.Error(), "--"+f.Name+": "+want) {
					t.Errorf("%s --%s %s: %d, %v", typed[0], f.Name, file, exit, err)
				}
			}
		})
		if want := map[string]int{"serve": 25, "webhook": 4}[typed[0]]; all < want {
			t.Errorf("%s has %d flags that name files, fewer than %d", typed[0], all, want)
		}
	}
}

// What servers refuse about their command line are mistakes, and what their runner tells is
// one if it says so.
func TestServers_MistakesExitWithTwo(t *testing.T) {
	file := written(t, "file", "")
	for line, want := range map[string]string{
		"serve --secure-port 99999999":              "--secure-port: must be between 0 and 65535, got 99999999",
		"serve --log-format xml":                    `--log-format: want text or json, got "xml"`,
		"serve --data-dir " + file:                  "--data-dir: " + file + " is a file, not a folder",
		"serve --write-kubeconfig " + file + "/a/b": "--write-kubeconfig: " + file + " is a file, not a folder",
		"serve --audit-log-path /":                  "--audit-log-path: / is a folder, not a file",
		"serve --cert-dir " + file:                  "--cert-dir: ",
		"webhook":                                   "a file or folder with modules or ConversionRules is needed",
		"webhook " + file + "x":                     file + "x: file does not exist",
		"webhook -v3 --secure-port -1 .":            "--secure-port must be between 0 and 65535",
		"envtest " + file:                           file + " is a file: name a directory",
		"envtest a b":                               `unexpected argument "b"`,
	} {
		if called, exit, err := server(t, nil, strings.Fields(line)...); called || exit != statusMistake || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d, %v", line, exit, err)
		}
	}
	for failed, want := range map[error]int{errors.New("no"): 1, options.Mistake{Err: errors.New("no")}: statusMistake, nil: 0} {
		if called, exit, err := server(t, failed, "serve"); !called || exit != want {
			t.Errorf("%v: %d, %v", failed, exit, err)
		}
	}
}

// Programs that are in a folder already are not replaced unless that is said.
func TestEnvtest_ProgramsThatAreThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "etcd"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, exit, err := server(t, nil, "envtest", dir); exit != statusMistake || err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("%d, %v", exit, err)
	}
}

// The gateway makes files in its data directory, and what is no file can be read once.
func TestServe_FilesThatAreNotLookedFor(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, flag := range []string{"--audit-log-path=-", "--audit-log-path=" + filepath.Join(data, "a", "b"), "--write-kubeconfig=a/b", "--write-kubeconfig=/none/a"} {
		if called, exit, err := server(t, nil, "serve", "--data-dir", data, flag); !called || exit != 0 {
			t.Errorf("%s: %d, %v", flag, exit, err)
		}
	}
	for _, file := range []string{filepath.Join(data, "pki", "ca.crt"), os.DevNull} {
		if called, exit, err := server(t, nil, "serve", "--data-dir", data, "--client-ca-file", file); !called || exit != 0 {
			t.Errorf("%s: %d, %v", file, exit, err)
		}
	}
	if called, exit, err := server(t, nil, "serve", "--data-dir", data, "--client-ca-file", data+"/../ca.crt"); called || exit != statusMistake {
		t.Errorf("beside the directory: %d, %v", exit, err)
	}
}

// A file that would be below another one is told as that.
func TestFilesBelowFiles(t *testing.T) {
	below := filepath.Join(written(t, "file", ""), "x")
	if out, err := command(t, "module", "list", "--kubeconfig", below); err == nil || !strings.Contains(err.Error(), "--kubeconfig: stat "+below+": not a directory") || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
}
