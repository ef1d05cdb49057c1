package apply

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// conflicts are the fields that an apply would change and others own, ordered
// by owner.
type conflicts struct{ list []conflict }

type conflict struct {
	owner string // as the client is told
	path  fieldpath.Path
}

// conflictsOf gathers the conflicts in claims, nil for none.
func conflictsOf(es entries, claims []claim) *conflicts {
	claims = slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return c.conflicts.Empty() })
	if len(claims) == 0 {
		return nil
	}
	slices.SortFunc(claims, func(a, b claim) int {
		return cmp.Compare(es[a.entry].id.text(), es[b.entry].id.text())
	})
	out := &conflicts{}
	for _, c := range claims {
		owner := es[c.entry].id.String()
		c.conflicts.Iterate(func(p fieldpath.Path) {
			out.list = append(out.list, conflict{owner, p.Copy()})
		})
	}
	return out
}

// String is the owner as conflicts name it.
func (id identity) String() string {
	s := fmt.Sprintf("%q", id.manager)
	if id.subresource != "" {
		s = fmt.Sprintf("%s with subresource %q", s, id.subresource)
	}
	if id.operation == opUpdate {
		s = fmt.Sprintf("%s using %v", s, id.version)
	}
	return s
}

// Error implements error.
func (c *conflicts) Error() string {
	if len(c.list) == 1 {
		return fmt.Sprintf("Apply failed with 1 conflict: conflict with %v: %v", c.list[0].owner, c.list[0].path)
	}
	var lines []string
	for i, one := range c.list {
		if i == 0 || c.list[i-1].owner != one.owner {
			lines = append(lines, fmt.Sprintf("conflicts with %v:", one.owner))
		}
		lines = append(lines, fmt.Sprintf("- %v", one.path))
	}
	return fmt.Sprintf("Apply failed with %d conflicts: %s", len(c.list), strings.Join(lines, "\n"))
}

// status is what the client gets.
func (c *conflicts) status() error {
	causes := make([]metav1.StatusCause, 0, len(c.list))
	for _, one := range c.list {
		causes = append(causes, metav1.StatusCause{
			Type:    metav1.CauseTypeFieldManagerConflict,
			Message: fmt.Sprintf("conflict with %v", one.owner),
			Field:   one.path.String(),
		})
	}
	return apierrors.NewApplyConflict(causes, c.Error())
}

// without are the conflicts that are not in a set.
func (c *conflicts) without(set *fieldpath.Set) *conflicts {
	return &conflicts{slices.DeleteFunc(slices.Clone(c.list), func(one conflict) bool { return set.Has(one.path) })}
}

// failure is an error of an apply as kube-apiserver reports it: what has no
// status of its own is an internal error with just its text.
func failure(err error) error {
	if _, ok := err.(apierrors.APIStatus); ok || err == nil {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInternalServerError,
		Message: err.Error(),
	}}
}
