package excerpt

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestErrors(t *testing.T) {
	if err := Errors[error](nil); err != nil {
		t.Errorf("none: %v", err)
	}
	if err := Errors(field.ErrorList{}); err != nil {
		t.Errorf("no fields: %v", err)
	}
	if err := Errors([]error{nil, nil}); err != nil {
		t.Errorf("nils: %v", err)
	}
	if err := Errors([]error{nil, io.EOF, nil}); err.Error() != "EOF" || !errors.Is(err, io.EOF) {
		t.Errorf("one: %v", err)
	}
	if err := Errors([]error{errors.New("a"), errors.New("b"), errors.New("a")}); err.Error() != "[a, b]" {
		t.Errorf("one twice: %v", err)
	}
	if err := Errors([]error{errors.New("a"), errors.New("a")}); err.Error() != "a" {
		t.Errorf("the same twice: %v", err)
	}
	if err := Errors(field.ErrorList{field.Required(field.NewPath("a"), ""), field.Invalid(field.NewPath("b"), 1, "c")}); err.Error() != "[a: Required value, b: Invalid value: 1: c]" {
		t.Errorf("fields: %v", err)
	}
}

// Of very many some are told, so that the text is short and made in no time.
func TestErrors_ofVeryMany(t *testing.T) {
	for long, want := range map[int]int{1: mostErrors, 5000: 5} {
		var many []error
		for n := range 2000 {
			many = append(many, fmt.Errorf("%d%s", n, strings.Repeat("x", long)))
		}
		many[1] = io.EOF
		err := Errors(many)
		if text := err.Error(); strings.Count(text, ",") != want-1 || !strings.HasSuffix(text, fmt.Sprintf("] and %d more", len(many)-want)) || !errors.Is(err, io.EOF) {
			t.Errorf("of %d bytes: %d bytes, %.80s", long, len(text), text)
		}
	}
	exactly := make([]error, mostErrors)
	for n := range exactly {
		exactly[n] = fmt.Errorf("%d", n)
	}
	if text := Errors(exactly).Error(); !strings.HasSuffix(text, ", 99]") {
		t.Errorf("%d: %s", mostErrors, text)
	}
}
