package linear

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// wasmPage is by how much a guest's memory grows.
const wasmPage = 64 << 10

// kinds are the memories that there are on this system.
func kinds(t *testing.T) map[string]func(most uint64) Memory {
	all := map[string]func(uint64) Memory{"plain": newPlain}
	if m := newMapped(wasmPage); m != nil {
		m.Free()
		all["mapped"], all["mapped, of an older kernel"] = newMapped, newOlder
	} else {
		t.Log("this system does not tell what is written to")
	}
	return all
}

// newOlder makes memory as where the kernel cannot be asked for pages of a kind.
var newOlder = newMapped

// Whatever is written, read and added between, Restore brings back what was kept,
// and what is added again is zero.
func TestRestoreBringsBackWhatWasKept(t *testing.T) {
	for name, make := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				if err := churn(rand.New(rand.NewPCG(seed, 0)), make, &Shared{}); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

func churn(r *rand.Rand, make func(uint64) Memory, shared *Shared) error {
	const most = 200
	m := make(most * wasmPage)
	defer m.Free()
	size := uint64(r.IntN(20)) * wasmPage
	now := m.Reallocate(size)
	scribble(r, now, r.IntN(50))
	if err := m.Keep(shared); err != nil {
		return err
	}
	now = m.Reallocate(size)
	want := bytes.Clone(now)
	for round := range 20 {
		for range r.IntN(3) {
			size := uint64(len(now)) + uint64(r.IntN(30))*wasmPage
			grown := m.Reallocate(size)
			if grown == nil && size > most*wasmPage {
				continue
			}
			if uint64(len(grown)) != size {
				return fmt.Errorf("round %d: %d bytes instead of %d", round, len(grown), size)
			}
			if !bytes.Equal(grown[len(now):], zeroes(len(grown)-len(now))) {
				return fmt.Errorf("round %d: what is new is not zero", round)
			}
			now = grown
		}
		scribble(r, now, r.IntN(100))
		grown, err := m.Restore()
		if err != nil {
			return err
		}
		if grown != (len(now) != len(want)) {
			return fmt.Errorf("round %d: grown is %v, from %d to %d", round, grown, len(want), len(now))
		}
		if now = now[:len(want)]; grown {
			now = m.Reallocate(uint64(len(want)) + wasmPage)
		}
		if !bytes.Equal(now, want) {
			return fmt.Errorf("round %d: %d bytes are not the %d that were kept", round, len(now), len(want))
		}
	}
	return nil
}

func zeroes(n int) []byte { return make([]byte, n) }

// scribble writes some runs of bytes.
func scribble(r *rand.Rand, memory []byte, runs int) {
	for range runs {
		if len(memory) == 0 {
			return
		}
		at := r.IntN(len(memory))
		run := bytes.Repeat([]byte{byte(r.Uint32())}, 1+r.IntN(20_000))
		copy(memory[at:], run)
	}
}

// Memories of one module do not see each other, also where they share what was
// kept, and go in any order.
func TestMemoriesThatShareAreApart(t *testing.T) {
	for name, make := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			var shared Shared
			kept := bytes.Repeat([]byte("kept"), wasmPage/4)
			var all []Memory
			for n := range 4 {
				m := make(4 * wasmPage)
				copy(m.Reallocate(wasmPage), kept)
				if n == 3 { // one that started otherwise
					m.Reallocate(wasmPage)[0] = 'x'
				}
				if err := m.Keep(&shared); err != nil {
					t.Fatal(err)
				}
				all = append(all, m)
			}
			for n, m := range all {
				m.Reallocate(2 * wasmPage)[5] = byte(n)
			}
			for n, m := range all {
				if now := m.Reallocate(2 * wasmPage); now[5] != byte(n) {
					t.Errorf("memory %d has %d", n, now[5])
				}
			}
			for _, n := range []int{0, 2, 3, 1} {
				m := all[n]
				if grown, err := m.Restore(); !grown || err != nil {
					t.Error(grown, err)
				}
				want := bytes.Clone(kept)
				if n == 3 {
					want[0] = 'x'
				}
				if now := m.Reallocate(9 * wasmPage); !bytes.Equal(now, want) {
					t.Errorf("memory %d has %q...", n, now[:10])
				}
				m.Free()
				m.Free()
				if m.Resident() != 0 {
					t.Errorf("%d bytes after the end", m.Resident())
				}
			}
		})
	}
}

func TestOnlyWhatWasKeptIsRestored(t *testing.T) {
	for name, make := range kinds(t) {
		m := make(wasmPage)
		if grown, err := m.Restore(); grown || err == nil {
			t.Errorf("%s: restored what was never kept", name)
		}
		if m.Reallocate(2*wasmPage) != nil {
			t.Errorf("%s: gives more than the most", name)
		}
		m.Free()
	}
}

// A memory may have had nothing when it was kept, and has nothing again.
func TestNothingIsKeptToo(t *testing.T) {
	for name, make := range kinds(t) {
		m := make(2 * wasmPage)
		if now := m.Reallocate(0); len(now) != 0 {
			t.Errorf("%s: %d bytes", name, len(now))
		}
		if err := m.Keep(&Shared{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for range 2 {
			copy(m.Reallocate(wasmPage), "written")
			if grown, err := m.Restore(); !grown || err != nil {
				t.Errorf("%s: grown %t, %v", name, grown, err)
			}
			if now := m.Reallocate(wasmPage); len(now) != 0 {
				t.Errorf("%s: %d bytes after nothing was kept", name, len(now))
			}
			if now := m.Reallocate(wasmPage); !bytes.Equal(now, zeroes(wasmPage)) {
				t.Errorf("%s: %q... is left", name, now[:min(len(now), 10)])
			}
		}
		m.Free()
	}
}

// BenchmarkRestore puts back what calls touched of 6 MB: some pages in any case,
// and in the second one half of the pages too, which a call before wrote to.
func BenchmarkRestore(b *testing.B) {
	for _, before := range []int{0, 500} {
		b.Run(fmt.Sprintf("24 pages, %d before", before), func(b *testing.B) {
			m := New(64 << 20)
			defer m.Free()
			memory := m.Reallocate(96 * wasmPage)
			for at := 0; at < len(memory); at += 100 {
				memory[at] = byte(at)
			}
			if err := m.Keep(&Shared{}); err != nil {
				b.Fatal(err)
			}
			touch := func(pages, apart int) {
				for n := range pages {
					memory[n*apart*4096]++
				}
			}
			for n := 0; b.Loop(); n++ {
				if n%100 == 0 {
					touch(before, 3)
				}
				touch(24, 60)
				if _, err := m.Restore(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// purse is a room of so many bytes.
type purse struct{ left int }

func (p *purse) Take(n int) bool {
	if n > p.left {
		return false
	}
	p.left -= n
	return true
}

func (p *purse) Give(n int) { p.left += n }

// What is kept is taken from the room, once for what is shared, and given back with the
// last memory that has it; without room nothing is kept.
func TestWhatIsKeptTakesRoom(t *testing.T) {
	const size = 2 * wasmPage
	for name, make := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			room := &purse{left: 3 * size}
			shared := &Shared{Room: room}
			keep := func(shared *Shared, with byte) (Memory, error) {
				m := make(4 * size)
				t.Cleanup(m.Free)
				for n := range m.Reallocate(size) {
					m.Reallocate(size)[n] = with
				}
				return m, m.Keep(shared)
			}
			one, err := keep(shared, 1)
			if err != nil || room.left != 2*size {
				t.Fatalf("%d bytes are left: %v", room.left, err)
			}
			two, err := keep(shared, 1)
			if err != nil {
				t.Fatal(err)
			}
			if want := 2 * size; name != "plain" && room.left != want || name == "plain" && room.left != size {
				t.Errorf("%d bytes are left for two that are alike", room.left)
			}
			room.left = size
			three, err := keep(shared, 3)
			if err != nil || room.left != 0 {
				t.Errorf("%d bytes are left for one that is not alike: %v", room.left, err)
			}
			if _, err := keep(&Shared{Room: room}, 1); !errors.Is(err, ErrNoRoom) || room.left != 0 {
				t.Errorf("it is kept without room, %d bytes are left: %v", room.left, err)
			}
			three.Free()
			if room.left != size {
				t.Errorf("%d bytes are left after the last of its kind", room.left)
			}
			one.Free()
			two.Free()
			two.Free()
			if want := map[bool]int{false: 2 * size, true: 3 * size}[name == "plain"]; room.left != want {
				t.Errorf("%d bytes are left in the end, want %d", room.left, want)
			}
		})
	}
}
