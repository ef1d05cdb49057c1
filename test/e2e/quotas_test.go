package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/story/quotas"
)

// TestTableOfQuotas_ADM01_ADM02 tells what LimitRanges and ResourceQuotas decide,
// and compares each reply with kube-apiserver's.
func TestTableOfQuotas_ADM01_ADM02(t *testing.T) {
	tellAll(t, quotas.Stories(), quotas.Table)
}
