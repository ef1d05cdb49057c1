package resource

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

type waited []time.Duration

func (w *waited) Waited(d time.Duration) { *w = append(*w, d) }

type anyRoom struct{}

func (anyRoom) Room(context.Context, int) error { return nil }

// What writes of one request tell side by side is told one by one, and what nobody wants to
// hear is dropped.
func TestSharedOptions(t *testing.T) {
	none := WriteOptions{}.Shared()
	none.AddWarning("a")
	none.AddAnnotation("example.com/a", "b")
	none.NoteDecoded("c")
	if none.Waiting != nil {
		t.Error("somebody is told of waits whom nobody named")
	}
	var warned, annotated, decoded []string
	var waits waited
	shared := WriteOptions{
		Room: anyRoom{}, Waiting: &waits,
		Warn:     func(text string) { warned = append(warned, text) },
		Annotate: func(key, value string) { annotated = append(annotated, key+"="+value) },
		Decoded:  func(object any) { decoded = append(decoded, object.(string)) },
	}.Shared()
	if shared.Room != nil {
		t.Error("replies that are not sent take room")
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			shared.AddWarning("w")
			shared.AddAnnotation("example.com/a", "b")
			shared.Waiting.Waited(time.Hour)
		})
	}
	all.Wait()
	shared.NoteDecoded("d")
	if len(warned) != 8 || len(annotated) != 8 || len(waits) != 8 || !slices.Equal(decoded, []string{"d"}) {
		t.Errorf("told were %q, %q, %v, %q", warned, annotated, waits, decoded)
	}
	// Who waits for several at a time waits no longer than the time that passes.
	longest := 0
	for _, d := range waits {
		if d == time.Hour {
			longest++
		}
	}
	if longest != 1 {
		t.Errorf("it waited %v", waits)
	}
}
