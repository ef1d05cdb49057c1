package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/lifecycle"
)

// serve runs `wasmgate serve` with a runner that only notes its options.
func serve(t *testing.T, args ...string) (got *options.Serve, out string, err error) {
	t.Helper()
	root := New(Parts{Serve: func(ctx context.Context, o options.Serve, log zerolog.Logger, started func(options.Started)) error {
		got = &o
		log.Info().Msg("hello")
		log.Debug().Msg("details")
		started(options.Started{URL: "https://127.0.0.1:6443", Kubeconfig: "/tmp/a b/admin.kubeconfig", DataDir: o.DataDir, Embedded: o.Embedded()})
		return o.LogCheck(ctx)
	}})
	var buf bytes.Buffer
	root.SetOut(&buf)
	root.SetErr(&buf)
	root.SetArgs(append([]string{"serve"}, args...))
	err = root.ExecuteContext(context.Background())
	return got, buf.String(), err
}

func TestServe_Defaults(t *testing.T) {
	got, out, err := serve(t)
	if err != nil {
		t.Fatal(err)
	}
	want := options.Default()
	if got.DataDir != want.DataDir || got.BindAddress != "127.0.0.1" || got.SecurePort != 6443 || got.EtcdPrefix != "/registry" || !got.Embedded() {
		t.Errorf("%+v", got)
	}
	for _, line := range []string{
		"wasmgate serves https://127.0.0.1:6443 (embedded etcd in ./wasmgate-data)",
		"export KUBECONFIG='/tmp/a b/admin.kubeconfig'", "kubectl api-resources", "INF hello",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("missing %q in\n%s", line, out)
		}
	}
	if !regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\S+ INF hello$`).MatchString(out) {
		t.Errorf("the log has no date and milliseconds:\n%s", out)
	}
	if strings.Contains(out, "details") {
		t.Error("debug messages without -v")
	}
}

func TestServe_FlagsAndEnvironment(t *testing.T) {
	t.Setenv("WASMGATE_ETCD_SERVERS", "http://a:2379,http://b:2379")
	t.Setenv("WASMGATE_SECURE_PORT", "7443")
	t.Setenv("WASMGATE_EVENT_TTL", "10m")
	t.Setenv("WASMGATE_VERSION", "0.4.1") // of an image, which is no flag's
	got, out, err := serve(t, "--secure-port=0", "--bind-address=0.0.0.0", "--etcd-prefix=some//where/", "-v4", "--log-format=json")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.EtcdServers) != 2 || got.Embedded() || got.EventTTL != 10*time.Minute {
		t.Errorf("from the environment: %+v", got)
	}
	if got.SecurePort != 0 || got.BindAddress != "0.0.0.0" {
		t.Errorf("a flag must win over the environment: %+v", got)
	}
	if got.EtcdPrefix != "/some/where" {
		t.Errorf("keys begin with %q", got.EtcdPrefix)
	}
	if !strings.Contains(out, `"message":"details"`) {
		t.Errorf("no JSON debug log:\n%s", out)
	}
	t.Setenv("WASMGATE_LOG_FORMAT", "text")
	if _, out, err = serve(t, "-v4", "--logging-format=json"); err != nil || !strings.Contains(out, `"message":"details"`) {
		t.Errorf("kube-apiserver's name of --log-format: %v\n%s", err, out)
	}
	t.Setenv("WASMGATE_SECURE_PORT", "many")
	if _, _, err := serve(t); err == nil || !strings.Contains(err.Error(), "WASMGATE_SECURE_PORT") {
		t.Errorf("a bad variable: %v", err)
	}
}

func TestServe_RefusesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"unknown flag":       {[]string{"--etcd-server=x"}, []string{"unknown flag: --etcd-server", "did you mean --etcd-servers?"}},
		"nothing like it":    {[]string{"--quux"}, []string{"unknown flag: --quux", "--help"}},
		"two bad values":     {[]string{"--secure-port=70000", "--bind-address=x"}, []string{"--secure-port: must be", "--bind-address: "}},
		"not a number":       {[]string{"--secure-port=x"}, []string{"--secure-port"}},
		"log format":         {[]string{"--log-format=xml"}, []string{"--log-format: want text or json"}},
		"an argument":        {[]string{"now"}, []string{"now"}},
		"half a certificate": {[]string{"--tls-cert-file=c"}, []string{"--tls-private-key-file"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := serve(t, c.args...)
			if err == nil || got != nil {
				t.Fatalf("started with %+v, %v", got, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("missing %q in %v", want, err)
				}
			}
		})
	}
}

func TestServe_HelpGroupsEveryFlag(t *testing.T) {
	_, out, err := serve(t, "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Storage:", "Serving:", "Access:", "Lifetimes:", "Logging:",
		"--etcd-servers", "--etcd-prefix", "--etcd-cafile", "--data-dir", "--bind-address", "--secure-port", "--tls-cert-file",
		"--token-auth-file", "--client-ca-file", "--write-kubeconfig", "--shutdown-delay-duration", "--event-ttl",
		"--etcd-compaction-interval", "--request-timeout", "--min-request-timeout", "WASMGATE_DATA_DIR"} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %s", want)
		}
	}
	cmd, _, err := New(Parts{}).Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !strings.Contains(out, "--"+f.Name) {
			t.Errorf("--%s is in no group", f.Name)
		}
	})
}

func TestServe_ReportsTheRunnersError(t *testing.T) {
	failed := errors.New("port taken")
	root := New(Parts{Serve: func(context.Context, options.Serve, zerolog.Logger, func(options.Started)) error { return failed }})
	root.SetArgs([]string{"serve"})
	if err := root.ExecuteContext(context.Background()); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

// What URLs tell of credentials is in no log, of whatever form, and in no error that is printed.
func TestCredentialsInURLsAreNotTold(t *testing.T) {
	failed := &url.Error{Op: "Post", URL: "https://secret:***@audit.example/events?token=secret", Err: errors.New("refused")}
	for _, format := range []string{"text", "json"} {
		root := New(Parts{Serve: func(_ context.Context, o options.Serve, log zerolog.Logger, _ func(options.Started)) error {
			log.Warn().Err(failed).Strs("servers", o.EtcdServers).Msg("told")
			klog.Errorf("of a library: %v", failed)
			return failed
		}})
		var out bytes.Buffer
		root.SetErr(&out)
		root.SetArgs([]string{"serve", "-v4", "--log-format=" + format, "--etcd-servers=https://me:secret@a:2379,https://me:secret@b:2379"})
		printError(&out, root.ExecuteContext(t.Context()))
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 3 || strings.Contains(out.String(), "secret") || strings.Count(out.String(), "https://...@audit.example/events?...") != 3 || !strings.Contains(lines[0], "https://...@b:2379") {
			t.Errorf("%s:\n%s", format, out.String())
		}
		if format == "json" && (!json.Valid([]byte(lines[0])) || !json.Valid([]byte(lines[1]))) {
			t.Errorf("the log is no JSON:\n%s", out.String())
		}
	}
}

func TestVersionCompletionAndSuggestions(t *testing.T) {
	if out, err := command(t, "version"); err != nil || !strings.HasPrefix(out, "wasmgate ") {
		t.Errorf("version: %v %q", err, out)
	}
	if out, err := command(t, "serve", "--version"); err != nil || out != "Kubernetes "+lifecycle.GitVersion+"\n" {
		t.Errorf("serve --version: %v %q", err, out)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out, err := command(t, "completion", shell); err != nil || !strings.Contains(out, "wasmgate") {
			t.Errorf("completion %s: %v", shell, err)
		}
	}
	if out, err := command(t, "__complete", "module", "pu"); err != nil || !strings.Contains(out, "push") {
		t.Errorf("completing: %v %q", err, out)
	}
	for line, want := range map[string]string{
		"module psh":           "unknown command \"psh\"; did you mean push?\nSee 'wasmgate module --help'",
		"quux":                 "unknown command \"quux\"\nSee 'wasmgate --help'",
		"module push":          "an argument is missing\nUsage: wasmgate module push NAME FILE.wasm",
		"module push a b c":    "unexpected argument \"c\"\nUsage: wasmgate module push NAME FILE.wasm",
		"migrate":              "an argument is missing\nUsage: wasmgate migrate RESOURCE.GROUP",
		"version now":          "unexpected argument \"now\"\nUsage: wasmgate version",
		"version-priority prv": "unknown command \"prv\"",
	} {
		if _, err := command(t, strings.Fields(line)...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := command(t, "serv"); err == nil || !strings.Contains(err.Error(), "serve") {
		t.Errorf("a misspelled command: %v", err)
	}
}

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Now()
	p := &progressBar{out: &out, title: "crontabs.example.com", now: func() time.Time { return now }}
	p.show(progress{Total: 100, Done: 25, Rate: 25})
	p.show(progress{Total: 100, Done: 26, Rate: 25}) // too soon for a line
	now = now.Add(plainEvery)
	p.show(progress{Total: 100, Done: 50, Failed: 2, paused: true})
	now = now.Add(plainEvery)
	p.show(progress{Total: 1})
	p.end()
	want := "crontabs.example.com: 25/100 objects (25%) 25/s 3s left\ncrontabs.example.com: 50/100 objects (50%) PAUSED 2 FAILED\ncrontabs.example.com: 0/1 object (0%)\n"
	if out.String() != want {
		t.Errorf("plain:\n%q\nwant\n%q", out.String(), want)
	}

	out.Reset()
	p = &progressBar{out: &out, title: "crontabs.example.com", now: time.Now, width: 80}
	p.show(progress{Total: 100, Done: 50})
	if s := out.String(); !strings.Contains(s, "[=================>  ") || !strings.HasPrefix(s, "\r") || len(s) > 80+5 {
		t.Errorf("terminal: %q", s)
	}
	for _, width := range []int{1, 10, 30, 300} {
		p.width = width
		for _, g := range []progress{{}, {Total: 5, Done: 9}, {Total: -1, Done: -1, Rate: 1e-9}, {Total: 1 << 60, Done: 3, Rate: 0.001}} {
			out.Reset()
			p.show(g)
			if s := strings.TrimSuffix(strings.TrimPrefix(out.String(), "\r"), "\x1b[K"); len(s) >= max(width, 1) && width > 1 {
				t.Errorf("width %d: %q", width, s)
			}
		}
	}
}
