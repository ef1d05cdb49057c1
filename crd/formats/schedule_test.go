package formats

import "testing"

func TestSchedules(t *testing.T) {
	for _, s := range []string{"* * * * *", "0 0 1 1 *", "*/5 0-6/2 ?  jan,MAR-dec sun", "@daily", "@every 1h30m", "TZ=UTC 0 0 * * 0", "CRON_TZ=UTC @hourly", "59 23 31 12 6"} {
		if problems := schedule(s); problems != nil {
			t.Errorf("%q is refused: %v", s, problems)
		}
	}
	for _, s := range []string{"Odd one", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7", "5-2 * * * *", "*/0 * * * *", "*/x * * * *", "a * * * *", "-1 * * * *", "1,,2 * * * *", "@never", "@every hour", "TZ=0", "TZ=Nowhere/None * * * * *"} {
		if schedule(s) == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}
