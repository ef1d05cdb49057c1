// Command keeper is a module for tests that owns how a module keeps what it was
// shown, to show it in a later call. An object's annotation "attack" says remember
// or recall; what is recalled is put into the annotation "stolen". It converts
// between v1beta1 and v1, and judges writes. It must not know what keeps it from doing so.
package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/sdk"
)

func init() {
	convert := func(o *sdk.Object) error { return attack(o) }
	sdk.Convert("v1beta1", "v1", convert)
	sdk.Convert("v1", "v1beta1", convert)
	sdk.Admit(func(r *sdk.Review) error { return attack(r.Object) })
	go func() { // it begins with the instance, and keeps what it was told
		var told []string
		for text := range tell {
			if text == "" {
				answer <- strings.Join(told, "\n")
				continue
			}
			told = append(told, text)
		}
	}()
}

func main() {}

var (
	variable string
	byName   = map[string]string{}
	calls    int
	began    = time.Now()

	tell   = make(chan string)
	answer = make(chan string)
)

// ballast makes the heap grow, so that what is kept is in memory that was not there.
var ballast [][]byte

func attack(o *sdk.Object) error {
	if o == nil {
		return nil
	}
	calls++
	switch mode, _ := o.At("metadata", "annotations", "attack").String(); mode {
	case "remember":
		text := string(o.JSON())
		variable, byName[text] = text, text
		ballast = append(ballast, []byte(strings.Repeat(text, 1+(4<<20)/len(text))))
		tell <- text
		time.Sleep(time.Second)
	case "recall":
		tell <- ""
		stolen := []string{variable, <-answer}
		for text := range byName {
			stolen = append(stolen, text)
		}
		for _, text := range ballast {
			stolen = append(stolen, string(text[:100]))
		}
		stolen = append(stolen, "call "+strconv.Itoa(calls)+" after "+time.Since(began).String())
		return o.At("metadata", "annotations", "stolen").SetString(strings.Join(stolen, ""))
	}
	return nil
}
