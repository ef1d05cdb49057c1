package apply_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"

	"github.com/wasmgate/wasmgate/apply"
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

func isDifference(err error) bool {
	var d *difference
	return errors.As(err, &d)
}

func compareRefusals(got, want error) error {
	if got == nil || want == nil {
		return differ("refusal", "ours says %v, the oracle says %v", got, want)
	}
	a, b := responsewriters.ErrorToAPIStatus(got), responsewriters.ErrorToAPIStatus(want)
	if !reflect.DeepEqual(a, b) {
		return differ("refusal", "\nours   %s\noracle %s", asJSON(a), asJSON(b))
	}
	return nil
}

func compareManaged(got apply.Outcome, live, want []byte) error {
	a, err := canonical(got.Managed)
	if err != nil {
		return differ("managedFields", "no JSON: %v: %s", err, got.Managed)
	}
	b, _ := canonical(want)
	if !bytes.Equal(a, b) {
		return differ("managedFields", "\nours   %s\noracle %s\nlive   %s", a, b, live)
	}
	if same := withoutTimes(live) == withoutTimes(want); same != got.SameOwners {
		return differ("same owners", "ours says %v; live %s, now %s", got.SameOwners, live, want)
	}
	return nil
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

// count notes what the oracle said.
func (r *run) count(op *oracleOp, failed error, before, after []byte) {
	what := strings.TrimSpace(op.Do + " " + op.Subresource)
	switch {
	case apierrors.IsConflict(failed):
		what += " conflict"
	case failed != nil:
		what += " failed"
	case op.Do == "update" && withoutTimes(before) == withoutTimes(after):
		what += " same owners"
	}
	r.seen[what]++
}
