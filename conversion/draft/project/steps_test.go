package project

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// splits does the step split to objects, each in the place of a project's main.go, and prints
// what is not as it should be.
const splits = `package main

import (
	"fmt"
	"os"

	"github.com/wasmgate/wasmgate/sdk"
)

func main() {
	hp, p := at("s", "hp"), at("s", "p")
	for _, c := range []struct {
		do         step
		spec, want string
	}{
		{split(hp, ":", true, at("s", "h"), p), "{\"hp\":\"[::1]:80\"}", "{\"h\":\"[::1]\",\"p\":\"80\"}"},
		{split(hp, ":", true, hp, p), "{\"hp\":\"a:b\"}", "{\"hp\":\"a\",\"p\":\"b\"}"},
		{split(hp, ":", true, at("s", "hp", "h"), p), "{\"hp\":\"a:b\"}", "{\"hp\":{\"h\":\"a\"},\"p\":\"b\"}"},
		{split(at("s", "hp", "x"), ":", true, hp, p), "{\"hp\":{\"x\":\"a:b\"}}", "{\"hp\":\"a\",\"p\":\"b\"}"},
		{split(hp, ":", false, at("s", "h"), hp), "{\"hp\":\"a\"}", "{\"h\":\"a\"}"},
		{split(at("s", "x", "hp"), ":", false, p, at("s", "q")), "{\"x\":{\"hp\":\"a:b\"}}", "{\"p\":\"a\",\"q\":\"b\"}"},
	} {
		o, err := sdk.Parse([]byte("{\"s\":" + c.spec + "}"))
		if err == nil {
			err = c.do(o, nil)
		}
		if got := string(o.At("s").Raw()); err != nil || got != c.want {
			fmt.Println(c.spec, "became", got, err, "and should be", c.want)
			defer os.Exit(1)
		}
	}
}
`

// The step split in Go makes the same of a text as the rule does, where one of the parts has
// the place of the whole, too: the SDKs for Rust and AssemblyScript have tests of theirs.
func TestSplitsInGo(t *testing.T) {
	dir := t.TempDir()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "main.go")
	if err := os.WriteFile(program, []byte(splits), 0o600); err != nil {
		t.Fatal(err)
	}
	// The program is built as if it were in a folder of this module.
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(here, "splits", "main.go"):  program,
		filepath.Join(here, "splits", "steps.go"): filepath.Join(here, "steps.go.txt"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-overlay", filepath.Join(dir, "overlay.json"), "./splits")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
