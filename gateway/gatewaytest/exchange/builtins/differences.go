package builtins

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Difference is one reason for which a gateway answers otherwise than
// kube-apiserver.
type Difference struct {
	Why string `json:"why"`
	// Count is the number of rows.
	Count int `json:"count"`
	// Rows are, by the names of stories, the steps that the gateway answers
	// otherwise, counted from 0, as in "3,7-9".
	Rows map[string]string `json:"rows"`
}

// Known are the differences that are known.
type Known []Difference

// LoadKnown reads them from a file.
func LoadKnown(path string) (Known, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var k Known
	if err := json.Unmarshal(b, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, d := range k {
		n := 0
		for story, rows := range d.Rows {
			list, err := parseRows(rows)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %s: %w", path, d.Why, story, err)
			}
			n += len(list)
		}
		if d.Why == "" || n == 0 || n != d.Count {
			return nil, fmt.Errorf("%s: %q has %d rows, and says %d", path, d.Why, n, d.Count)
		}
	}
	return k, nil
}

// Of are the steps of a story that differ, with the reasons.
func (k Known) Of(story string) map[int]string {
	out := map[int]string{}
	for _, d := range k {
		rows, _ := parseRows(d.Rows[story]) // as LoadKnown checked
		for _, row := range rows {
			out[row] = d.Why
		}
	}
	return out
}

// Without is k without the rows that mended holds, by the names of stories.
func (k Known) Without(mended map[string][]int) Known {
	var out Known
	for _, d := range k {
		left := Difference{Why: d.Why, Rows: map[string]string{}}
		for story, text := range d.Rows {
			rows, _ := parseRows(text)
			rows = slices.DeleteFunc(rows, func(row int) bool { return slices.Contains(mended[story], row) })
			if left.Count += len(rows); len(rows) > 0 {
				left.Rows[story] = formatRows(rows)
			}
		}
		if left.Count > 0 {
			out = append(out, left)
		}
	}
	return out
}

// Save writes the differences to a file.
func (k Known) Save(path string) error {
	b, err := json.MarshalIndent(k, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// mostRows bounds a range.
const mostRows = 10000

func parseRows(text string) ([]int, error) {
	var rows []int
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		if err != nil {
			return nil, err
		}
		to, err := strconv.Atoi(last)
		if err != nil {
			return nil, err
		}
		if from > to || to >= mostRows {
			return nil, fmt.Errorf("%q is no range", part)
		}
		for row := from; row <= to; row++ {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// formatRows is the reverse of parseRows; rows are sorted.
func formatRows(rows []int) string {
	var parts []string
	for i := 0; i < len(rows); {
		j := i
		for j+1 < len(rows) && rows[j+1] == rows[j]+1 {
			j++
		}
		part := strconv.Itoa(rows[i])
		if j > i {
			part += "-" + strconv.Itoa(rows[j])
		}
		parts, i = append(parts, part), j+1
	}
	return strings.Join(parts, ",")
}
