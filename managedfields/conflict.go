package managedfields

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// conflicts are the fields that an apply would change and others own, ordered
// by owner.
type conflicts struct{ list []conflict }

type conflict struct {
	owner string // as the client is told
	set   *fieldpath.Set
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
		out.list = append(out.list, conflict{es[c.entry].id.String(), c.conflicts})
	}
	return out
}

func (c *conflicts) size() (n int) {
	for _, one := range c.list {
		n += one.set.Size()
	}
	return n
}

// maxTold is how many bytes of paths clients are told of conflicts, and some
// more. Paths repeat the names on their way: all of them may be far longer than
// what was sent.
const maxTold = 1 << 20

// each calls told with the conflicts that clients are told of.
func (c *conflicts) each(told func(owner, path string)) {
	left := maxTold
	for _, one := range c.list {
		one.set.Iterate(func(p fieldpath.Path) {
			if left <= 0 {
				return
			}
			path := p.String()
			left -= len(path)
			told(one.owner, path)
		})
	}
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
	n, told := c.size(), 0
	var lines []string
	last := ""
	c.each(func(owner, path string) {
		if n == 1 {
			last = fmt.Sprintf("conflict with %v: %v", owner, path)
			return
		}
		if told == 0 || last != owner {
			lines = append(lines, fmt.Sprintf("conflicts with %v:", owner))
		}
		lines = append(lines, fmt.Sprintf("- %v", path))
		last = owner
		told++
	})
	if n == 1 {
		return "Apply failed with 1 conflict: " + last
	}
	if told < n {
		lines = append(lines, fmt.Sprintf("and %d more", n-told))
	}
	return fmt.Sprintf("Apply failed with %d conflicts: %s", n, strings.Join(lines, "\n"))
}

// status is what the client gets.
func (c *conflicts) status() error {
	var causes []metav1.StatusCause
	c.each(func(owner, path string) {
		causes = append(causes, metav1.StatusCause{
			Type:    metav1.CauseTypeFieldManagerConflict,
			Message: fmt.Sprintf("conflict with %v", owner),
			Field:   path,
		})
	})
	return apierrors.NewApplyConflict(causes, c.Error())
}

// without are the conflicts that are not in a set.
func (c *conflicts) without(set *fieldpath.Set) *conflicts {
	out := &conflicts{}
	for _, one := range c.list {
		if rest := one.set.Difference(set); !rest.Empty() {
			out.list = append(out.list, conflict{one.owner, rest})
		}
	}
	return out
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
