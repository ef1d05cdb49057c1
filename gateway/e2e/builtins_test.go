package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/builtins"
)

var (
	shrink = flag.Bool("builtins.shrink", false, "take the rows that agree by now from the list of differences")
	differ = flag.String("builtins.differ", "", "write all that differs, listed or not, to this file")
)

// mostTold bounds the new differences of a kind that are told at length.
const mostTold = 3

// TestTableOfBuiltInRequests_VERB01 makes the same requests and mistakes of
// every built-in kind, and compares each reply with kube-apiserver's. The steps
// that are known to differ are listed with the reasons; the list may only shrink.
func TestTableOfBuiltInRequests_VERB01(t *testing.T) {
	stories, err := builtins.Stories()
	if err != nil {
		t.Fatal(err)
	}
	known, err := builtins.LoadKnown(filepath.Join("..", "..", builtins.Differences))
	if err != nil {
		t.Fatal(err)
	}
	all := &differences{mended: map[string][]int{}}
	t.Run("kinds", func(t *testing.T) {
		for resource, stories := range byResource(stories) {
			t.Run(resource, func(t *testing.T) {
				t.Parallel()
				for _, story := range stories {
					t.Run(story.Name, func(t *testing.T) { all.compare(t, story, known.Of(story.Name)) })
				}
			})
		}
	})
	all.report(t, known)
}

// byResource are stories by the name of their resource, which begins theirs: two of
// one name may be about the same objects, seen at different versions, and would
// find each other's.
func byResource(stories []exchange.Story) map[string][]exchange.Story {
	out := map[string][]exchange.Story{}
	for _, s := range stories {
		resource, _, _ := strings.Cut(s.Name, ".")
		out[resource] = append(out[resource], s)
	}
	return out
}

// differences are those that were found in all stories.
type differences struct {
	mu     sync.Mutex
	found  []difference
	mended map[string][]int
	rows   int
}

// difference is one of them, as it is written for who wants to mend it.
type difference struct {
	Story     string
	Row       int
	Step      exchange.Step
	Want, Own json.RawMessage
	Why       string
}

// compare tells a story and compares it with its recording, but for the rows
// that are known to differ.
func (d *differences) compare(t *testing.T, story exchange.Story, known map[int]string) {
	want, err := story.Unpack(filepath.Join("..", "..", builtins.Recordings, story.Name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	server := gatewaytest.Shared(t)
	client, err := rest.HTTPClientFor(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	replies, err := story.Tell(context.Background(), exchange.HTTP(client, server.URL, server.Token))
	if err != nil {
		t.Fatal(err)
	}
	texts, err := builtins.Texts(replies)
	if err != nil {
		t.Fatal(err)
	}
	fresh := 0
	for i, own := range texts {
		step, why := story.Steps[i], known[i]
		d.add(story.Name, i, own == want[i], difference{story.Name, i, step, json.RawMessage(want[i]), json.RawMessage(own), why})
		switch {
		case own == want[i] && why != "" && !*shrink && !gatewaytest.Shared(t).External:
			t.Logf("row %d, %s %s, agrees by now: take it from the list (-builtins.shrink)", i, step.Method, step.Path)
		case own != want[i] && why == "":
			if fresh++; fresh <= mostTold {
				t.Errorf("row %d: %s %s %s\n%s\nis answered\n%s\nand should be\n%s", i, step.Method, step.Path, step.Type, step.Body, own, want[i])
			}
		}
	}
	if fresh > mostTold {
		t.Errorf("%d rows differ that did not", fresh)
	}
}

func (d *differences) add(story string, row int, agree bool, one difference) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rows++
	switch {
	case !agree:
		d.found = append(d.found, one)
	case one.Why != "":
		d.mended[story] = append(d.mended[story], row)
	}
}

// report tells the counts, and writes what is asked for.
func (d *differences) report(t *testing.T, known builtins.Known) {
	t.Logf("%d requests, %d differ", d.rows, len(d.found))
	if *shrink {
		if err := known.Without(d.mended).Save(filepath.Join("..", "..", builtins.Differences)); err != nil {
			t.Error(err)
		}
	}
	if *differ == "" {
		return
	}
	b, err := json.MarshalIndent(d.found, "", " ")
	if err == nil {
		err = os.WriteFile(*differ, b, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}
