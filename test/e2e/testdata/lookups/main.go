// Command lookups is a module for tests that looks up what an object names in
// data.look (GROUP/RESOURCE/NAMESPACE/NAME), and puts what that says into
// data.said.
package main

import (
	"strings"

	"github.com/wasmgate/wasmgate/sdk"
)

func init() { sdk.Admit(admit) }

func main() {}

func admit(r *sdk.Review) error {
	look, _ := r.Object.At("data", "look").String()
	p := strings.Split(look, "/")
	if len(p) != 4 {
		return nil
	}
	found, err := sdk.Get(p[0], p[1], p[2], p[3])
	if err == sdk.ErrNotFound {
		return r.Object.At("data", "said").SetString("there is none")
	}
	if err != nil {
		return err
	}
	says, _ := found.At("data", "say").String()
	return r.Object.At("data", "said").SetString(found.Kind() + " " + says)
}
