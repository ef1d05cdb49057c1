package formats

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// part is a field of a schedule: the numbers it may have, and names for them, of
// which the first stands for low.
type part struct {
	low, high int
	names     []string
}

var parts = []part{
	{0, 59, nil}, {0, 23, nil}, {1, 31, nil},
	{1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// descriptors are schedules with a name.
var descriptors = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// schedule checks when a CronJob runs: five fields as cron has them, or a
// descriptor; a time zone may stand before them.
func schedule(s string) []string {
	if rest, ok := strings.CutPrefix(s, "CRON_"); ok && strings.HasPrefix(rest, "TZ=") {
		s = rest
	}
	if zone, ok := strings.CutPrefix(s, "TZ="); ok {
		name, rest, _ := strings.Cut(zone, " ")
		if _, err := time.LoadLocation(name); err != nil {
			return []string{fmt.Sprintf("provided bad location %s: %v", name, err)}
		}
		s = strings.TrimSpace(rest)
	}
	if every, ok := strings.CutPrefix(s, "@every "); ok {
		if _, err := time.ParseDuration(every); err != nil {
			return []string{fmt.Sprintf("failed to parse duration %s: %s", s, err)}
		}
		return nil
	}
	if strings.HasPrefix(s, "@") {
		if !slices.Contains(descriptors, s) {
			return []string{"unrecognized descriptor: " + s}
		}
		return nil
	}
	fields := strings.Fields(s)
	if len(fields) != len(parts) {
		return []string{fmt.Sprintf("expected exactly %d fields, found %d: %v", len(parts), len(fields), fields)}
	}
	for i, f := range fields {
		for one := range strings.SplitSeq(f, ",") {
			if problem := parts[i].check(one); problem != "" {
				return []string{problem}
			}
		}
	}
	return nil
}

// check says what is wrong with one of the ranges of a field: a number, two with a
// hyphen between, or a star; and a step after a slash.
func (p part) check(text string) string {
	between, step, stepped := strings.Cut(text, "/")
	if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1) {
		return fmt.Sprintf("step of range should be a positive number: %s", text)
	}
	if between == "*" || between == "?" {
		return ""
	}
	first, last, isRange := strings.Cut(between, "-")
	from, ok := p.number(first)
	if !ok {
		return "failed to parse number: " + first
	}
	to := from
	if isRange {
		if to, ok = p.number(last); !ok {
			return "failed to parse number: " + last
		}
	}
	switch {
	case from < p.low:
		return fmt.Sprintf("beginning of range (%d) below minimum (%d): %s", from, p.low, text)
	case to > p.high:
		return fmt.Sprintf("end of range (%d) above maximum (%d): %s", to, p.high, text)
	case from > to:
		return fmt.Sprintf("beginning of range (%d) beyond end of range (%d): %s", from, to, text)
	}
	return ""
}

func (p part) number(text string) (int, bool) {
	if i := slices.Index(p.names, strings.ToLower(text)); i >= 0 {
		return p.low + i, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}

// zonePart is a part of the name of a time zone.
var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

// timeZone checks the name of a time zone that everybody has.
func timeZone(s string) []string {
	for _, part := range strings.Split(s, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part) {
			return []string{"unknown time zone " + s}
		}
	}
	var problems []string
	if strings.EqualFold(s, "Local") {
		problems = append(problems, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(s); err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}
