package folder

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
)

// noting is a runtime that notes what it is asked for.
type noting struct{ asked []string }

func (n *noting) note(what, name string) { n.asked = append(n.asked, what+" "+name) }

func (n *noting) Set(_ context.Context, name string, _ plugins.Revision) error {
	n.note("set", name)
	return nil
}

func (n *noting) Status(name string) (plugins.Status, bool) {
	n.note("status", name)
	return plugins.Status{}, true
}

func (n *noting) Grant(name string, _ []plugins.Grant)       { n.note("grant", name) }
func (n *noting) Withdraw(name string, _ *plugins.LoadError) { n.note("withdraw", name) }
func (n *noting) Remove(name string)                         { n.note("remove", name) }

// The modules of the API take nothing from those of the folder: neither their name nor
// what they may do, and they end none of them.
func TestModulesOfTheAPIAreBesideThoseOfTheFolder(t *testing.T) {
	runtime := &noting{}
	b := (&Folder{modules: runtime, loaded: map[string]fixed{"mine": {}}}).Beside()
	for _, name := range []string{"mine", "other"} {
		err := b.Set(t.Context(), name, plugins.Revision{})
		var refused *plugins.LoadError
		if taken := errors.As(err, &refused) && refused.Reason == "NameTaken"; taken != (name == "mine") || !taken && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := b.Status(name); ok != (name == "other") {
			t.Errorf("%s has a status: %v", name, ok)
		}
		b.Grant(name, nil)
		b.Withdraw(name, nil)
		b.Remove(name)
	}
	if want := []string{"set other", "status other", "grant other", "withdraw other", "remove other"}; !slices.Equal(runtime.asked, want) {
		t.Errorf("the runtime was asked to %q, want %q", runtime.asked, want)
	}
}
