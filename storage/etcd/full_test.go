package etcd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

// fill writes until nothing more is taken, and returns what was acknowledged and
// what was refused.
func fill(t *testing.T, s *Store) (taken, refused map[string]int64) {
	t.Helper()
	taken, refused = map[string]int64{}, map[string]int64{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("/t/%02d-%04d", w, i)
				rev, err := s.Create(t.Context(), key, make([]byte, 200<<10), 0)
				if storage.KindOf(err) == storage.Unavailable { // a busy disk: whether it was taken nobody knows
					continue
				}
				mu.Lock()
				if err == nil {
					taken[key] = rev
				} else {
					refused[key] = 0
				}
				mu.Unlock()
				if err != nil {
					if storage.KindOf(err) != storage.Full {
						t.Errorf("%s: %v", key, err)
					}
					return
				}
			}
		})
	}
	wg.Wait()
	return taken, refused
}

// What a full store refuses it has not kept, and what it acknowledged it has;
// deletions go on. The embedded server makes room by itself when history is
// compacted; a cluster serves on as soon as its alarm is lowered.
func TestFullStoreRecovers_PER01(t *testing.T) {
	for name, remote := range map[string]bool{"embedded": false, "remote": true} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			e := startWith(t, EmbeddedConfig{Dir: filepath.Join(t.TempDir(), "data"), ListenClientURL: "http://127.0.0.1:0", QuotaBytes: 32 << 20})
			s := e.Store()
			if remote {
				s = connect(t, e)
			}
			taken, refused := fill(t, s)
			for key, rev := range taken {
				if kv, err := s.Get(ctx, key); err != nil || kv.Revision != rev {
					t.Errorf("%s was acknowledged at %d and is at %d, %v", key, rev, kv.Revision, err)
				}
			}
			for key := range refused {
				if _, err := s.Get(ctx, key); storage.KindOf(err) != storage.NotFound {
					t.Errorf("%s was refused and is there: %v", key, err)
				}
			}
			for key, rev := range taken {
				if _, err := s.Delete(ctx, key, rev); err != nil {
					t.Errorf("deleting %s: %v", key, err)
				}
			}
			turn, err := s.compactor.compact(ctx, compactTurn{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Create(ctx, "/early", []byte("x"), 0); storage.KindOf(err) != storage.Full {
				t.Errorf("before anything was compacted: %v", err)
			}
			if _, err = s.compactor.compact(ctx, turn); err != nil {
				t.Fatal(err)
			}
			if remote {
				operator := operate(t, e)
				if _, err := operator.Defragment(ctx, e.ClientURL()); err != nil {
					t.Fatal(err)
				}
				if _, err := operator.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Create(ctx, "/late", []byte("x"), 0); err != nil {
				t.Errorf("after room was made: %v", err)
			}
			if _, err = s.compactor.compact(ctx, turn); err != nil {
				t.Errorf("the turn after that: %v", err)
			}
		})
	}
}

// Room that was made ends the alarm about space, and not one about damage.
func TestOtherAlarmsStay(t *testing.T) {
	e := startWith(t, EmbeddedConfig{Dir: filepath.Join(t.TempDir(), "data"), ListenClientURL: "http://127.0.0.1:0"})
	maintenance := etcdserverpb.NewMaintenanceClient(operate(t, e).ActiveConnection())
	for _, alarm := range []etcdserverpb.AlarmType{etcdserverpb.AlarmType_NOSPACE, etcdserverpb.AlarmType_CORRUPT} {
		if _, err := maintenance.Alarm(t.Context(), &etcdserverpb.AlarmRequest{Action: etcdserverpb.AlarmRequest_ACTIVATE, Alarm: alarm}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Store().compactor.disarm(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := e.Store().client.AlarmList(t.Context())
	if err != nil || len(left.Alarms) != 1 || left.Alarms[0].Alarm != etcdserverpb.AlarmType_CORRUPT {
		t.Errorf("%v, %v", left, err)
	}
}

// stiff is a cluster that has an alarm, which it does not tell or does not lower.
type stiff struct {
	clientv3.Maintenance
	list, lower error
}

func (s stiff) AlarmList(context.Context) (*clientv3.AlarmResponse, error) {
	return &clientv3.AlarmResponse{Alarms: []*etcdserverpb.AlarmMember{{Alarm: etcdserverpb.AlarmType_NOSPACE}}}, s.list
}

func (s stiff) AlarmDisarm(context.Context, *clientv3.AlarmMember) (*clientv3.AlarmResponse, error) {
	return nil, s.lower
}

// Of an alarm that stays nobody says that there is room again.
func TestAlarmsThatStayAreTold(t *testing.T) {
	away := errors.New("away")
	for _, m := range []stiff{{list: away}, {lower: away}, {}} {
		c := &compactor{client: &clientv3.Client{Maintenance: m}}
		if err := c.disarm(t.Context()); (err != nil) != (m != stiff{}) || err != nil && !errors.Is(err, away) {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
