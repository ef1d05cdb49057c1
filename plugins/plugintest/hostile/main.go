// Command hostile is a conversion module for tests that owns what a module can
// do wrong while it runs; the object's field "mode" says which. It must not know
// how it is stopped.
package main

import (
	"encoding/json"
	"errors"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/sdk"
)

func init() {
	sdk.Convert("v1beta1", "v1", misbehave)
	sdk.Convert("v1", "v1beta1", func(*sdk.Object) error { return nil })
}

func main() {}

var hoard [][]byte

func misbehave(o *sdk.Object) error {
	mode, _ := o.At("mode").String()
	switch mode {
	case "fail":
		return errors.New("it is not my day")
	case "panic":
		panic("something is wrong")
	case "exit":
		os.Exit(3)
	case "loop":
		for {
			time.Sleep(time.Hour)
		}
	case "memory":
		for {
			hoard = append(hoard, make([]byte, 1<<20))
		}
	case "huge":
		return o.At("data").SetString(strings.Repeat("x", 8<<20))
	case "log":
		sdk.Log("from the import")
		_, _ = os.Stderr.WriteString("from stderr\n")
	case "nested": // not hostile either
		const depth = 9_999 // as deep as that reads
		var value any
		return json.Unmarshal([]byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)), &value)
	case "managed": // not hostile: it tells whether it sees managedFields
		return o.At("sees").SetBool(o.At("metadata", "managedFields").Exists())
	case "world":
		return world(o)
	case "uid", "name", "namespace":
		return o.At("metadata", mode).SetString("changed")
	case "kind":
		return o.At("kind").SetString("Other")
	case "metadata":
		for _, f := range []string{"resourceVersion", "ownerReferences", "finalizers", "generation"} {
			if err := o.At("metadata", f).SetString("changed"); err != nil {
				return err
			}
		}
		return o.At("metadata", "labels", "added").SetString("yes")
	}
	return nil
}

// world reports what the module can learn of the outside.
func world(o *sdk.Object) error {
	_, openErr := os.Open("/etc/passwd")
	facts := []string{
		time.Now().UTC().Format(time.RFC3339),
		strconv.Itoa(len(os.Environ())),
		strconv.Itoa(len(os.Args)),
		strconv.FormatBool(openErr != nil),
		strconv.FormatInt(rand.New(rand.NewSource(time.Now().UnixNano())).Int63(), 16),
	}
	return o.At("world").SetString(strings.Join(facts, " "))
}
