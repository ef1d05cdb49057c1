package managedfields_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

var (
	oracleSequences = flag.Uint64("oracle.sequences", 1000, "how many random sequences of writes are compared")
	oracleFirst     = flag.Uint64("oracle.first", 0, "the seed of the first")
	oracleKeep      = flag.String("oracle.keep", "", "a directory that gets the cases that differ")
)

const (
	oracleWorkers = 2
	// enough sequences come to everything.
	enough = 1000
)

// Random sequences of writes give what apimachinery's field manager gives.
func TestOracle_SSA(t *testing.T) {
	var failed atomic.Int32
	settings := make([]*setting, oracleWorkers)
	t.Run("sequences", func(t *testing.T) {
		for worker := range uint64(oracleWorkers) {
			at := &setting{}
			settings[worker] = at
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				for i := uint64(0); i < *oracleSequences && failed.Load() < 10; i++ {
					seed := *oracleFirst + i
					number := seed / perSetting
					if number%oracleShare == 0 && number/oracleShare%oracleWorkers == worker && !runOracleSeed(t, seed, at) {
						failed.Add(1)
					}
				}
			})
		}
	})
	if *oracleFirst == 0 && *oracleSequences >= enough {
		ofEveryKind(t, settings)
	}
}

// runOracleSeed reports a difference as the smallest case that shows it.
func runOracleSeed(t *testing.T, seed uint64, at *setting) (ok bool) {
	var c *oracleCase
	var d *difference
	var err error
	synctest.Test(t, func(*testing.T) {
		if c, d, err = runSeed(seed, at); err != nil || d == nil {
			return
		}
		c = shrink(c, d, 4000)
		if smaller, err := runCase(c); err == nil && smaller != nil {
			d = smaller
		}
	})
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return false
	}
	if d == nil {
		return true
	}
	c.Note = fmt.Sprintf("seed %d: %s", seed, d.What)
	t.Errorf("seed %d: %v\n%s", seed, d, indented(c))
	if *oracleKeep != "" {
		name := fmt.Sprintf("%s-%d.json", strings.ReplaceAll(d.What, " ", "-"), seed)
		if err := os.WriteFile(filepath.Join(*oracleKeep, name), indented(c), 0o644); err != nil {
			t.Error(err)
		}
	}
	return false
}

func indented(c *oracleCase) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(asJSON(c)), "", "  "); err != nil {
		return []byte(err.Error())
	}
	return append(out.Bytes(), '\n')
}

// Any seed makes a sequence in which both say the same.
func FuzzOracle_SSA(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { runOracleSeed(t, seed, &setting{}) })
}
