// Package query owns what the parameters of a request mean: they are parsed once, and
// read as the options of each verb. What is wrong is told in kube-apiserver's words
// and order.
//
// It must not know bodies, paths, nor what is done with the options.
package query

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/fields"
)

// Parameters are those of one request.
type Parameters struct {
	// values are those that can be read.
	values url.Values
	// err tells why others cannot; nil when all can.
	err error
}

// Parse reads a raw query. What is wrong with it is told to who needs all of it.
func Parse(raw string) Parameters {
	if raw == "" {
		return Parameters{}
	}
	v, err := url.ParseQuery(raw)
	if err != nil {
		err = apierrors.NewBadRequest(err.Error())
	}
	withoutBareDryRun(raw, v)
	return Parameters{v, err}
}

// withoutBareDryRun takes a dryRun without "=" from the parameters: the
// documentation says that it asks for nothing (row DRY-03). One that is empty
// stays, and is refused: whoever left out what belongs there did not mean to write.
func withoutBareDryRun(raw string, v url.Values) {
	const name = "dryRun"
	if !slices.Contains(v[name], "") {
		return
	}
	delete(v, name)
	for part := range strings.SplitSeq(raw, "&") {
		key, value, given := strings.Cut(part, "=")
		if key, err := url.QueryUnescape(key); err != nil || key != name || !given {
			continue
		}
		if value, err := url.QueryUnescape(value); err == nil {
			v.Add(name, value)
		}
	}
}

// Values are the parameters of a request that must not be misread.
func (p Parameters) Values() (url.Values, error) { return p.values, p.err }

// Watch reads the watch parameter as kube-apiserver does: anything but "0"
// and "false" asks for one.
func (p Parameters) Watch() bool {
	if p.err != nil || !p.values.Has("watch") {
		return false
	}
	v := p.values.Get("watch")
	return v != "0" && !strings.EqualFold(v, "false")
}

// SelectedName is the name of the one object that a list or a watch is about by its
// selector of fields; "" is none.
func (p Parameters) SelectedName() string {
	name := p.Selected("metadata.name")
	if name == "" || len(content.IsPathSegmentName(name)) > 0 {
		return ""
	}
	return name
}

// Selected is the one value that the selector of fields lets a field have; "" is any.
func (p Parameters) Selected(field string) string {
	all := p.values["fieldSelector"]
	if len(all) == 0 {
		return ""
	}
	selector, err := fields.ParseSelector(all[0])
	if err != nil {
		return ""
	}
	value, _ := selector.RequiresExactMatch(field)
	return value
}

// Selectors are the first selectors of fields and of labels, as they are; "" is none.
func (p Parameters) Selectors() (ofFields, ofLabels string) {
	return p.values.Get("fieldSelector"), p.values.Get("labelSelector")
}

// Limit is how many objects a list may have at most; 0 is any number, also where what
// is said cannot be read.
func (p Parameters) Limit() int64 {
	v := p.values.Get("limit")
	if v == "" { // an error takes memory
		return 0
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// BeginsWithAll reports whether a watch begins with what exists. What is neither "0" nor
// "false" says so, as for [Parameters.Watch].
func (p Parameters) BeginsWithAll() bool {
	if p.values.Has("sendInitialEvents") {
		v := p.values.Get("sendInitialEvents")
		return v != "0" && !strings.EqualFold(v, "false")
	}
	from := p.values.Get("resourceVersion")
	return from == "" || from == "0"
}

// DryRun reports whether the client says that nothing shall be written.
func (p Parameters) DryRun() bool { return slices.Contains(p.values["dryRun"], "All") }

// Pretty reports whether the client says how the reply is to be indented, and
// whether it is.
func (p Parameters) Pretty() (on, said bool) {
	v := p.values.Get("pretty")
	if v == "" {
		return false, false
	}
	on, err := strconv.ParseBool(v)
	return err == nil && on, true
}

// Timeout is how long a request other than a watch may take: what the client
// allows, and never more than most.
func (p Parameters) Timeout(most time.Duration) (time.Duration, error) {
	v := p.values.Get("timeout")
	if v == "" {
		return most, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid timeout specified in the request URL - %v", err))
	}
	if d <= 0 {
		return most, nil
	}
	return min(d, most), nil
}
