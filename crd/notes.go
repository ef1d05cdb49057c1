package crd

import "context"

// Notes are what a [Strategy] keeps from one of its methods for the next ones of
// the same write, which ask about the same states: what took long to read. They
// are used by one goroutine.
type Notes struct{ kept any }

type notesKey struct{}

// WithNotes returns a context for the judgement of one write, with empty notes.
func WithNotes(ctx context.Context) context.Context {
	return context.WithValue(ctx, notesKey{}, &Notes{})
}

// NotesOf are the notes of a context; of one without any, they go nowhere.
func NotesOf(ctx context.Context) *Notes {
	if n, ok := ctx.Value(notesKey{}).(*Notes); ok {
		return n
	}
	return &Notes{}
}

// Keep replaces what is kept.
func (n *Notes) Keep(what any) { n.kept = what }

// Kept is what was kept last, nil for nothing.
func (n *Notes) Kept() any { return n.kept }
