package cli

import (
	"io"

	"github.com/go-logr/logr/funcr"
	"github.com/rs/zerolog"
	"google.golang.org/grpc/grpclog"
	"k8s.io/klog/v2"
)

// quietLibraries sends what libraries say into the one log, at debug level:
// they speak of what the gateway reports itself, or of single requests.
func quietLibraries(log zerolog.Logger) {
	log = log.With().Str("component", "library").Logger()
	klog.SetLogger(funcr.New(func(_, args string) { log.Debug().Msg(args) }, funcr.Options{}))
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
}
