package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestCompilerBombs uploads modules that are well-formed, and cost the compiler
// more than the gateway allows: the process that compiles ends, and nothing else.
func TestCompilerBombs(t *testing.T) {
	harness.SkipExternal(t)
	data := filepath.Join(t.TempDir(), "data")
	g := harness.Start(t, harness.Options{DataDir: data, Args: []string{"--module-compile-memory=268435456", "--module-compile-time=7s"}})
	api := g.API(t)
	good := "good-" + unique()
	pushModule(t, api, good, harness.Module(t, crontabModule))
	c := newWasmCronTabs(t, &g.Server, good)
	whole := t // the modules stay, for the restart
	// serves shows that the gateway converts: what it converts is new each time.
	n := 0
	serves := func(t *testing.T) {
		t.Helper()
		n++
		name := fmt.Sprint("tab", n)
		o := c.object("v1", name, `{}`)
		o["host"], o["port"] = "h", "1"
		c.api.Post(c.list("v1"), o).Want(201)
		c.api.Get(c.path("v1beta1", name)).Want(200).Equal("hostPort", "h:1")
	}
	var bombs []string
	for reason, bomb := range map[string]struct {
		wasm []byte
		says string
	}{
		"CompileMemory": {plugintest.Hungry(), "more memory than the 268435456 bytes"},
		"CompileTime":   {plugintest.Slow(14), "more than the 7s of processor time"},
	} {
		t.Run("WP-01 a bomb for the compiler ends the compiler: "+reason, func(t *testing.T) {
			api := g.API(t)
			module := "bomb-" + unique()
			bombs = append(bombs, module)
			upload(whole, api, module, bomb.wasm)
			serves(t)
			if refused := awaitRefused(api, module); refused.Str("reason") != reason || !strings.Contains(refused.Str("message"), bomb.says) {
				t.Errorf("refused %v, want %s", refused, reason)
			}
			awaitCondition(api, modulePath+"/"+module, "Ready", "False")
			serves(t)
		})
	}
	t.Run("WP-01 the revision before a bomb keeps serving", func(t *testing.T) {
		content(api, good, plugintest.Hungry()).Want(200, 201)
		if refused := awaitRefused(api, good); refused.Str("reason") != "CompileMemory" {
			t.Errorf("refused %v", refused)
		}
		awaitCondition(api, modulePath+"/"+good, "Ready", "True")
		serves(t)
	})
	startsAfterBombs(t, data, g, good, c, serves, bombs)
	compilesApart(t, g, serves)
}

// startsAfterBombs shows that a start serves what served, and compiles nothing twice.
func startsAfterBombs(t *testing.T, data string, g *harness.Gateway, good string, c *cronTabs, serves func(t *testing.T), bombs []string) {
	t.Helper()
	t.Run("WP-01 a start brings back what served, and tries no bomb again", func(t *testing.T) {
		g.Terminate(t)
		g.Restart(t)
		c.api = g.API(t)
		serves(t)
		refusals := func() (all string) { // written when a compilation has ended so
			files, err := filepath.Glob(filepath.Join(data, "wasm-cache", "refused", "*"))
			if err != nil || len(files) != len(bombs) { // two modules have the same content
				t.Errorf("%q is remembered, %v", files, err)
			}
			for _, path := range files {
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				all += fmt.Sprintln(path, info.ModTime())
			}
			return all
		}
		before := refusals()
		for _, name := range append(bombs, good) { // until it was looked at
			generation := c.api.Merge(modulePath+"/"+name, object{"spec": object{"revisionHistoryLimit": 3}}).Want(200).Object().At("metadata.generation")
			c.api.Eventually(modulePath+"/"+name, func(r *harness.Reply) bool {
				return r.Object().At("status.observedGeneration") == generation
			})
		}
		if after := refusals(); after != before {
			t.Errorf("something was compiled after the start:\n%s%s", before, after)
		}
		c.api.Merge(modulePath+"/"+bombs[0], object{"metadata": object{"annotations": object{"wasmgate.dev/retry": "1"}}}).Want(200)
		harness.Eventually(t, "another try", func() bool { return refusals() != before })
	})
}

// compilesApart shows what the compiler's process sees, and when it ends.
func compilesApart(t *testing.T, g *harness.Gateway, serves func(t *testing.T)) {
	t.Helper()
	t.Run("WP-01 the compiler sees nothing of the gateway, and ends with it", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("needs /proc")
		}
		upload(t, g.API(t), "slow-"+unique(), plugintest.Slow(13)) // another: what was refused is not compiled again
		child := awaitChild(t, g.PID())
		environment, err := os.ReadFile(filepath.Join(child, "environ"))
		if want := "GOMAXPROCS=1\x00GOTRACEBACK=none\x00"; err != nil || string(environment) != want {
			t.Errorf("its environment is %q, %v", environment, err)
		}
		files, err := os.ReadDir(filepath.Join(child, "fd"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			open, _ := os.Readlink(filepath.Join(child, "fd", f.Name()))
			own := strings.HasPrefix(open, "anon_inode:") || strings.HasPrefix(open, "/sys/") || strings.Contains(open, "/scratch-") || strings.HasPrefix(open, "/proc/")
			if !own && (f.Name() > "2" || !strings.HasPrefix(open, "pipe:")) {
				t.Errorf("it has the file %s open, %s", f.Name(), open)
			}
		}
		serves(t)
		g.Kill(t)
		harness.Eventually(t, "the end of the compiler", func() bool {
			state, err := os.ReadFile(filepath.Join(child, "stat"))
			return err != nil || strings.Contains(string(state), ") Z ")
		})
	})
}

// awaitChild waits until a process has a child, and returns its folder in /proc.
func awaitChild(t *testing.T, pid int) (proc string) {
	t.Helper()
	harness.Eventually(t, "a process that compiles", func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		for _, file := range threads {
			children, _ := os.ReadFile(file)
			for _, child := range strings.Fields(string(children)) {
				proc = "/proc/" + child
				command, _ := os.ReadFile(proc + "/cmdline")
				if strings.Contains(string(command), "compile-module") {
					return true
				}
			}
		}
		return false
	})
	return proc
}
