package main

import (
	"fmt"
	"io"
)

// report is what came out of a pair, or of all.
type report struct {
	name   string
	fields []field
	// changed are the fields that the converters change, of which dropped ones go nowhere.
	// Each is right, with a mark or without, or wrong; unseen ones are wrong without a mark,
	// and are alike in both schemas.
	changed, dropped, right, rightMarked, wrongMarked, wrong, unseen int
	// broken are fields that the converters do not change and the draft does.
	broken, brokenMarked int
	// refused are leaves with which the converters refused all objects.
	refused, pairs int
}

// head is above the lines of a table of reports.
const head = "| versions | changed fields | of these dropped | right | right, marked | wrong, marked | wrong without a mark | of these alike in both schemas | changed by the draft alone | of these without a mark | not asked |\n|---|---|---|---|---|---|---|---|---|---|---|\n"

// count makes the figures of the fields.
func (r *report) count() {
	for _, f := range r.fields {
		if f.what == "unchanged" {
			if f.verdict == "wrong, marked" {
				r.brokenMarked++
			} else {
				r.broken++
			}
			continue
		}
		r.changed++
		if f.what == "dropped" {
			r.dropped++
		}
		switch f.verdict {
		case "right":
			r.right++
		case "right, marked":
			r.rightMarked++
		case "wrong, marked":
			r.wrongMarked++
		default:
			r.wrong++
			if f.unseen {
				r.unseen++
			}
		}
	}
	if r.changed > 0 {
		r.pairs = 1
	}
}

func (r *report) include(o report) {
	r.changed, r.dropped, r.right, r.rightMarked = r.changed+o.changed, r.dropped+o.dropped, r.right+o.right, r.rightMarked+o.rightMarked
	r.wrongMarked, r.wrong, r.unseen = r.wrongMarked+o.wrongMarked, r.wrong+o.wrong, r.unseen+o.unseen
	r.broken, r.brokenMarked, r.refused, r.pairs = r.broken+o.broken, r.brokenMarked+o.brokenMarked, r.refused+o.refused, r.pairs+o.pairs
}

func (r *report) print(w io.Writer, verbose bool) {
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", r.name, r.changed, r.dropped, r.right, r.rightMarked, r.wrongMarked, r.wrong, r.unseen, r.broken+r.brokenMarked, r.broken, r.refused)
	if !verbose {
		return
	}
	for _, f := range r.fields {
		fmt.Fprintf(w, "  %-22s %-13s %s: %s", f.verdict, f.what, f.at, f.theirs)
		if f.theirs != f.ours {
			fmt.Fprintf(w, ", drafted: %s", f.ours)
		}
		fmt.Fprintln(w)
	}
}
