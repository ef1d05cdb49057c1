package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"

	"github.com/wasmgate/wasmgate/test/story/models"
)

// recordModels records what the documents say of built-in kinds.
func recordModels(ctx context.Context, s *server) error {
	lines, err := models.Tell(ctx, func(ctx context.Context, path string) ([]byte, error) {
		return s.want(ctx, []int{http.StatusOK}, http.MethodGet, path, "")
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("test/recorded", models.Table, models.Table+".txt"), []byte(models.Write(lines)), 0o644)
}
