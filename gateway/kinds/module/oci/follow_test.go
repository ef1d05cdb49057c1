package oci_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
)

// Trouble with the file is told once, and again when it is another, or there again after the
// file was as before. That one is in force is told each time.
func TestTroubleWithRegistriesIsToldOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "registries.yaml")
	text := func(prefix string) string {
		return "apiVersion: wasmgate.dev/v1\nkind: ModuleRegistries\nregistries:\n- prefix: " + prefix + "\n"
	}
	write(t, file, text("one.example.com"))
	r := &oci.Registries{}
	if _, err := r.Read(file); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex // the detector does not know that the clock orders them
		var told []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.Follow(ctx, file, func(err error) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, fmt.Sprint(err))
			})
		}()
		for _, step := range []struct{ name, text, want string }{
			{"as it was", text("one.example.com"), ""},
			{"missing", "", "no such file"},
			{"as it was again", text("one.example.com"), ""},
			{"missing again", "", "no such file"},
			{"another", text("two.example.com"), "<nil>"},
			{"missing once more", "", "no such file"},
			{"of another kind", "kind: Other\n", "it is no ModuleRegistries"},
			{"good", text("one.example.com"), "<nil>"},
		} {
			mu.Lock()
			told = nil
			mu.Unlock()
			if step.text != "" {
				write(t, file, step.text)
			} else if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Minute) // by the bubble's clock: time enough to tell twice
			synctest.Wait()
			mu.Lock()
			if got := strings.Join(told, "\n"); len(told) != min(1, len(step.want)) || !strings.Contains(got, step.want) {
				t.Errorf("%s: told %q, want %q", step.name, told, step.want)
			}
			mu.Unlock()
		}
		cancel()
		<-done
	})
}
