package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
)

// Pair is two versions of a kind: from one to the other, and back.
type Pair struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// String is the pair as commands take it.
func (p Pair) String() string { return p.From + ":" + p.To }

// Options bound a proof. A zero field means its default.
type Options struct {
	// Seed begins what is random: the same seed tries the same objects.
	Seed uint64
	// Budget is how long all pairs may take together, by default 5 seconds. It
	// is work of one goroutine, so it bounds the processor time, too.
	Budget time.Duration
	// Objects is how many objects are tried for each pair at most, by default 1000.
	Objects int
	// Pairs are those to look at; nil means each version with each other.
	Pairs []Pair
	// Stored are versions, by name, that objects may be stored at (status.storedVersions).
	// One that is neither served nor written any more is converted from all the same.
	Stored []string
	// Acknowledged are paths of fields whose loss is meant; see [Covers].
	Acknowledged []string
	// PerSecond is how many conversions there may be in a second, so that who does them
	// for others, too, is not kept from it; 0 means any number.
	PerSecond int
	// Temporary tells that a failed conversion says nothing of the converter; nil
	// means that none is.
	Temporary func(error) bool
	// BackToAll takes a failed way back for a loss of a version that is neither served nor
	// stored at, too. Nobody reads there any more, so such a version may have no way back;
	// where there is one, it is compared all the same.
	BackToAll bool
	// Branches guide the search to code that it did not reach, with as many objects
	// again, in what is left of the budget; nil for a converter that tells nothing.
	Branches Branches
}

// The most that a proof reports of one pair, and what it takes by default.
const (
	maxLosses      = 8
	defaultBudget  = 5 * time.Second
	defaultObjects = 1000
)

// Verdict is what a proof came to.
type Verdict string

// The verdicts. Unknown is for what was not looked at enough: [Report.Why] says
// what was missing.
const (
	Lossless Verdict = "True"
	Lossy    Verdict = "False"
	Unknown  Verdict = "Unknown"
)

// Loss is one field that a pair of versions loses, with an object that shows it.
type Loss struct {
	Pair
	// Problem is what goes wrong.
	Problem Problem `json:"problem"`
	// Field is the path of the field, with [*] for any item of a list and any key
	// of a map; it is one of To for a [Refused] field, else one of From.
	Field string `json:"field"`
	// Place is the field in the example, with numbers and keys.
	Place string `json:"place"`
	// Had is what the example has there, and Got what came back, as JSON; "" is
	// for what is not there.
	Had string `json:"had,omitempty"`
	Got string `json:"got,omitempty"`
	// Message is what the converter or the validation said, if it was one of them.
	Message string `json:"message,omitempty"`
	// Example is the object, as YAML or JSON of at most 15 lines.
	Example string `json:"example"`
	// Back tells that it is the way back which fails.
	Back bool `json:"-"`

	shape string // of the example, as paths and types
}

// Report is the outcome of a proof.
type Report struct {
	Verdict Verdict `json:"lossless"`
	// Why says what was missing when the verdict is Unknown.
	Why string `json:"why,omitempty"`
	// Again tells that another try may come to more: the time was up, or a conversion
	// failed in a way that is [Options.Temporary].
	Again bool `json:"-"`
	// Losses are the fields that are lost, each once for a pair.
	Losses []Loss `json:"losses,omitempty"`
	// Tried is how many objects were converted there and back.
	Tried int `json:"tried"`
	// Reached are how many fields there were objects for, of all Fields.
	Reached int `json:"reached"`
	Fields  int `json:"fields"`
	// Coverage is how much of the converter's code was run, nil where it does not tell.
	Coverage *Coverage `json:"coverage,omitempty"`
}

// PairsOf are all pairs of the versions of a definition that objects can be read or
// stored at, those from the version that objects are stored at first; and those from
// other versions, by name, that objects are stored at since these were.
func PairsOf(d *crd.Definition, stored ...string) []Pair {
	var all []Pair
	for _, from := range d.Versions {
		for _, to := range d.Versions {
			if from != to && (here(d, from) || slices.Contains(stored, from.Name)) && here(d, to) {
				all = append(all, Pair{from.Name, to.Name})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Pair) int {
		if (a.From == d.StorageVersion) == (b.From == d.StorageVersion) {
			return 0
		}
		if a.From == d.StorageVersion {
			return -1
		}
		return 1
	})
	return all
}

// pairsFrom are the ways of an object that is at a version, which may be one that is only
// read any more.
func pairsFrom(d *crd.Definition, version string) []Pair {
	return slices.DeleteFunc(PairsOf(d, version), func(p Pair) bool { return p.From != version })
}

// here tells that objects are read or written at a version.
func here(d *crd.Definition, v *crd.Version) bool {
	return v.Served || v.Name == d.StorageVersion
}

// Prove looks for what a converter loses between the versions of a definition. It
// ends with ctx, and then says what it found until then.
func Prove(ctx context.Context, d *crd.Definition, c conversion.Converter, o Options) Report {
	if o.Budget <= 0 {
		o.Budget = defaultBudget
	}
	if o.Objects <= 0 {
		o.Objects = defaultObjects
	}
	pairs := o.Pairs
	if pairs == nil {
		pairs = PairsOf(d, o.Stored...)
	}
	c = paced(conversion.Checked(c), o.PerSecond)
	end := time.Now().Add(o.Budget)
	var out Report
	var missing []string
	again := false
	var searches []*search
	for i, p := range pairs {
		s, err := newSearch(d, c, p, o)
		if err == nil {
			err = shared(ctx, end, len(pairs)-i, s.run)
			searches = append(searches, s)
		}
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s: %v", p, err))
			again = again || errors.Is(err, errBudget) || errors.Is(err, errInterrupted) || o.Temporary != nil && o.Temporary(err)
		}
	}
	for i, s := range searches {
		_ = shared(ctx, end, len(searches)-i, s.follow)
		out.Losses = append(out.Losses, s.losses...)
		out.Tried += s.tried
		out.Reached += s.reached()
		out.Fields += len(s.fields)
	}
	out.Coverage = coverageOf(o.Branches)
	switch {
	case len(out.Losses) > 0:
		out.Verdict = Lossy
	case len(missing) > 0:
		out.Verdict, out.Why, out.Again = Unknown, strings.Join(missing[:min(len(missing), 3)], "; "), again
	default:
		out.Verdict = Lossless
	}
	return out
}

// shared runs something for its share of the time that is left: one of so many.
func shared(ctx context.Context, end time.Time, of int, run func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, max(time.Until(end)/time.Duration(of), 0))
	defer cancel()
	return run(ctx)
}

// Covers tells whether a list of acknowledged paths names a field or one above it.
// A path says [*], or nothing but [], for the items of a list.
func Covers(acknowledged []string, fieldPath string) bool {
	return slices.ContainsFunc(acknowledged, func(a string) bool {
		a = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(a), "."), "[]", "[*]")
		rest, ok := strings.CutPrefix(fieldPath, a)
		return ok && a != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}
