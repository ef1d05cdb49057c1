package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Links remembers to which object of another kind each object of one kind refers, by
// name, for a controller that reconciles what is referred to. The zero value refers to
// nothing. Its methods may be called concurrently.
type Links struct {
	mu sync.Mutex
	to map[string]string // guarded by mu
}

// Set notes to which object of gr the one called from refers now, "" for none, and asks q
// for that one, and for the one that it referred to before.
func (l *Links) Set(q Queue, from string, gr schema.GroupResource, to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range []string{l.to[from], to} {
		if name != "" {
			q.Add(Key{GroupResource: gr, Name: name})
		}
	}
	if to == "" {
		delete(l.to, from)
		return
	}
	if l.to == nil {
		l.to = map[string]string{}
	}
	l.to[from] = to
}
