package e2e

import (
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/quotas"
)

// TestTableOfQuotas_ADM01_ADM02 tells what LimitRanges and ResourceQuotas decide,
// and compares each reply with kube-apiserver's.
func TestTableOfQuotas_ADM01_ADM02(t *testing.T) {
	stories := quotas.Stories()
	if err := exchange.Differ(stories, filepath.Join("..", "..", quotas.Differences)); err != nil {
		t.Fatal(err)
	}
	tellAll(t, stories, quotas.File)
}
