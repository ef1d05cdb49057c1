package differences

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Rows are the digests of replies by the steps that are answered with them,
// counted from 0. As text they are "3:d1 7-9:d2": rows 7 to 9 have one reply.
type Rows map[int]string

// mostRows bounds the number of a row.
const mostRows = 10000

// MarshalText writes them in order.
func (r Rows) MarshalText() ([]byte, error) {
	rows := slices.Sorted(maps.Keys(r))
	var parts []string
	for i := 0; i < len(rows); {
		j := i
		for j+1 < len(rows) && rows[j+1] == rows[j]+1 && r[rows[j+1]] == r[rows[i]] {
			j++
		}
		part := strconv.Itoa(rows[i])
		if j > i {
			part += "-" + strconv.Itoa(rows[j])
		}
		parts, i = append(parts, part+":"+r[rows[i]]), j+1
	}
	return []byte(strings.Join(parts, " ")), nil
}

// UnmarshalText reads what MarshalText wrote, and refuses a row that is there twice.
func (r *Rows) UnmarshalText(text []byte) error {
	*r = Rows{}
	for part := range strings.FieldsSeq(string(text)) {
		span, digest, _ := strings.Cut(part, ":")
		first, last, isRange := strings.Cut(span, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		if err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		to, err := strconv.Atoi(last)
		if err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		if from < 0 || from > to || to >= mostRows || digest == "" {
			return fmt.Errorf("%q is no rows with a digest", part)
		}
		for row := from; row <= to; row++ {
			if _, twice := (*r)[row]; twice {
				return fmt.Errorf("row %d is there twice", row)
			}
			(*r)[row] = digest
		}
	}
	return nil
}
