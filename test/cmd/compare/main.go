// Command compare tells generated stories to two servers and prints where their
// answers differ.
//
//	go run ./test/cmd/compare --one https://127.0.0.1:6443 --one-token TOKEN \
//	    --other https://127.0.0.1:8443 --other-token TOKEN --seed 100 --count 500
//
// It owns only that the same stories are told twice; stories, and what counts as
// a difference, are test/story's. It must not know which server
// is which. Both are for trying out: the program makes and deletes definitions on
// them. It exits with 1 when they differ anywhere.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/generated"
	"github.com/wasmgate/wasmgate/test/story/mistakes"
)

func main() {
	one, oneToken := flag.String("one", "", "address of a server; its certificate is not verified"), flag.String("one-token", "", "an administrator's bearer token")
	other, otherToken := flag.String("other", "", "address of the other server"), flag.String("other-token", "", "an administrator's bearer token")
	seed := flag.Uint64("seed", 1, "seed of the first story")
	count := flag.Int("count", 100, "number of stories, one definition each")
	told := flag.String("stories", "generated", "which stories: generated, or mistakes, the wrong objects of built-in kinds")
	only := flag.String("only", "", "tell only stories whose name begins with this text")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	c := comparison{one: story.HTTP(client, *one, *oneToken), other: story.HTTP(client, *other, *otherToken)}
	stories := slices.Concat(generated.Stories(*seed, *count), generated.VersionsStories(*seed, *count))
	if *told == "mistakes" {
		var err error
		if stories, err = mistakes.Stories(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	for _, told := range stories {
		if !strings.HasPrefix(told.Name, *only) {
			continue
		}
		if err := c.compare(ctx, told); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", told.Name, err)
			os.Exit(1)
		}
	}
	fmt.Printf("%d stories, %d of them with a definition that is refused; %d replies, %d of them refusals; %d differ\n", len(stories), c.undefined, c.replies, c.refusals, c.differences)
	if c.differences > 0 {
		os.Exit(1)
	}
}

// comparison is the two servers and what was seen so far.
type comparison struct {
	one, other                                story.Send
	undefined, replies, refusals, differences int
}

// compare tells one story to both servers.
func (c *comparison) compare(ctx context.Context, told story.Story) error {
	first, err := told.Tell(ctx, c.one)
	if err != nil {
		return fmt.Errorf("the one server: %w", err)
	}
	second, err := told.Tell(ctx, c.other)
	if err != nil {
		return fmt.Errorf("the other server: %w", err)
	}
	steps := told.Steps
	if told.Definition != "" {
		steps = append([]story.Step{{Method: "POST", Path: story.Definitions, Body: told.Definition}}, steps...)
	}
	if len(first) < len(steps) {
		c.undefined++
	}
	for i := range min(len(first), len(second)) {
		a, err := first[i].Texts()
		if err != nil {
			return err
		}
		b, err := second[i].Texts()
		if err != nil {
			return err
		}
		c.replies++
		if first[i].Code >= http.StatusBadRequest {
			c.refusals++
		}
		if _, err := a.Merge(b); err != nil {
			c.differences++
			fmt.Printf("%s, step %d: %s %s\n%s\n<<< %s\n>>> %s\n\n", told.Name, i, steps[i].Method, steps[i].Path, steps[i].Body, a.Ordered, b.Ordered)
		}
	}
	return nil
}
