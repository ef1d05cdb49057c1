package managedfields_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// Every difference that was ever found stays away.
func TestOracleCases_SSA(t *testing.T) {
	names, err := filepath.Glob("testdata/oracle/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c := &oracleCase{}
			if err := json.Unmarshal(text, c); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				switch d, err := runCase(c); {
				case err != nil:
					t.Error(err)
				case d != nil:
					t.Errorf("%s: %v", c.Note, d)
				}
			})
		})
	}
}
