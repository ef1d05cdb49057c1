package pod

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// decode reads the options of a connection from a query, as kube-apiserver reads
// them: what options do not have does not matter.
func decode(query url.Values, options any) error {
	v := reflect.ValueOf(options).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		said, ok := query[name]
		if !ok || name == "" || len(said) == 0 {
			continue
		}
		switch field := v.Field(i).Addr().Interface().(type) {
		case *string:
			*field = said[0]
		case *[]string:
			*field = said
		case *bool: // all but these two words, nothing among them, say yes
			*field = !strings.EqualFold(said[0], "false") && said[0] != "0"
		case *[]int32:
			numbers, err := parse(said)
			if err != nil {
				return err
			}
			*field = numbers
		}
	}
	return nil
}

// parse reads numbers, of which a text may have several with commas.
func parse(said []string) (out []int32, err error) {
	for _, text := range said {
		for _, one := range strings.Split(text, ",") {
			n, err := strconv.ParseUint(one, 10, 16)
			if err != nil {
				return nil, fmt.Errorf("cannot convert to []int32: %w", err)
			}
			out = append(out, int32(n))
		}
	}
	return out, nil
}
