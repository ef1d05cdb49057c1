package managedfields_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/managedfields"
)

// difference is where ours does not do as the oracle does.
type difference struct {
	What string // tree, managedFields, refusal, same owners, input
	Text string
}

func (d *difference) Error() string { return d.What + ": " + d.Text }

func differ(what, format string, args ...any) error {
	return &difference{What: what, Text: fmt.Sprintf(format, args...)}
}

// notDifference is err if it is something else.
func notDifference(err error) error {
	if isDifference(err) {
		return nil
	}
	return err
}

func isDifference(err error) bool {
	var d *difference
	return errors.As(err, &d)
}

// compare tells how what ours said differs from what the oracle said.
func compare(op *oracleOp, c managedfields.Change, got managedfields.Outcome, err error, want answer) error {
	switch {
	case isDifference(err):
		return err
	case op.Do == "apply" && (err != nil || want.err != nil):
		return compareRefusals(err, want.err)
	case op.Do == "apply" && !sameTree(got.Tree, want.tree):
		return differ("tree", "\nours   %s\noracle %s", asJSON(got.Tree), asJSON(want.tree))
	case op.Do != "apply" && err != nil:
		return differ("refusal", "an update is never refused, but ours says: %v", err)
	case op.Do != "apply" && got.Tree != nil:
		return differ("tree", "an update has no tree of its own: %s", asJSON(got.Tree))
	}
	return compareManaged(got, c.LiveManaged, want.managed)
}

func compareRefusals(got, want error) error {
	if got == nil || want == nil {
		return differ("refusal", "ours says %v, the oracle says %v", got, want)
	}
	a, b := statusOf(got), statusOf(want)
	if sameMistakes(a.Message, b.Message) || a.Code == http.StatusInternalServerError && cause(a.Message) == cause(b.Message) {
		a.Message = b.Message
	}
	if !reflect.DeepEqual(a, b) {
		return differ("refusal", "\nours   %s\noracle %s", asJSON(a), asJSON(b))
	}
	return nil
}

// statusOf is what a client is told. The oracle's causes come from a map of
// managers: only the order of those of one manager means something.
func statusOf(err error) metav1.Status {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		out := status.Status()
		if out.Details != nil {
			slices.SortStableFunc(out.Details.Causes, func(a, b metav1.StatusCause) int { return strings.Compare(a.Message, b.Message) })
		}
		return out
	}
	return metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
}

// cause is what went wrong in the end: which of several conversions came upon
// it is not the same on both sides.
func cause(message string) string {
	for {
		step, rest, ok := strings.Cut(message, ": ")
		if !ok || !strings.HasPrefix(step, "failed ") {
			return message
		}
		message = rest
	}
}

// sameMistakes tells that two messages say of the same object what is wrong
// with it. Of several mistakes the oracle finds now these, now those first,
// since it walks maps.
func sameMistakes(a, b string) bool {
	if sorted(a) == sorted(b) {
		return true // a map is printed in any order, too
	}
	prefix, of := mistakes(a)
	other, those := mistakes(b)
	return prefix == other && (containsAll(of, those) || containsAll(those, of) || undeclared(of) || undeclared(those))
}

func sorted(s string) string {
	bytes := []byte(s)
	slices.Sort(bytes)
	return string(bytes)
}

func mistakes(message string) (string, []string) {
	prefix, list, ok := strings.Cut(message, "): ")
	if !ok {
		return message, nil
	}
	var out []string
	for _, line := range strings.Split(strings.TrimPrefix(list, "errors:\n"), "\n") {
		out = append(out, strings.TrimSpace(line))
	}
	return prefix, out
}

// undeclared: an unknown field ends the search for others.
func undeclared(mistakes []string) bool {
	return slices.ContainsFunc(mistakes, func(m string) bool { return strings.HasSuffix(m, "field not declared in schema") })
}

func containsAll(list, part []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(list, s) })
}

func compareManaged(got managedfields.Outcome, live, want []byte) error {
	if bytes.Equal(got.Managed, want) && bytes.Equal(live, want) && got.SameOwners {
		return nil
	}
	a, err := canonical(got.Managed)
	if err != nil {
		return differ("managedFields", "no JSON: %v: %s", err, got.Managed)
	}
	b, _ := canonical(want)
	if !bytes.Equal(a, b) {
		return differ("managedFields", "\nours   %s\noracle %s\nlive   %s", a, b, live)
	}
	exact, err := asStored(want)
	if err != nil {
		return differ("bytes", "no set: %v: %s", err, want)
	}
	if again, _ := canonical(exact); !bytes.Equal(again, b) {
		return nil // it has numbers that do not survive the library's reading
	}
	if !bytes.Equal(got.Managed, exact) && !bytes.Equal(got.Managed, live) {
		return differ("bytes", "\nours   %s\nshould %s", got.Managed, exact)
	}
	if same := withoutTimes(live) == withoutTimes(want); same != got.SameOwners {
		return differ("same owners", "ours says %v; live %s, now %s", got.SameOwners, live, want)
	}
	return nil
}

// asStored are managedFields in the form that is stored: the members of entries
// in order, sets as structured-merge-diff writes them, and nothing else.
func asStored(managed []byte) ([]byte, error) {
	if len(managed) == 0 {
		return nil, nil
	}
	var entries []map[string]json.RawMessage
	if err := json.Unmarshal(managed, &entries); err != nil {
		return nil, err
	}
	for _, e := range entries {
		set := &fieldpath.Set{}
		if err := set.FromJSON(bytes.NewReader(e["fieldsV1"])); err != nil {
			return nil, err
		}
		raw, err := set.ToJSON()
		if err != nil {
			return nil, err
		}
		e["fieldsV1"] = raw
	}
	var out bytes.Buffer
	json.HTMLEscape(&out, []byte(asJSON(entries)))
	return out.Bytes(), nil
}

// withoutTimes are managedFields as a text that has no times.
func withoutTimes(managed []byte) string {
	var entries []metav1.ManagedFieldsEntry
	if len(managed) > 0 {
		if err := json.Unmarshal(managed, &entries); err != nil {
			return err.Error()
		}
	}
	for i := range entries {
		entries[i].Time = nil
	}
	if len(entries) == 0 {
		return "" // none, however written
	}
	out, _ := canonical([]byte(asJSON(entries)))
	return string(out)
}

// safely makes a difference of a panic of ours.
func safely(f func() (*difference, error)) (d *difference, err error) {
	defer func() {
		if p := recover(); p != nil {
			d = &difference{"panic", fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	return f()
}
