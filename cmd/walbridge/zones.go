package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"strings"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/file"
	"github.com/walbridge/walbridge/backends/gcs"
	"github.com/walbridge/walbridge/backends/s3"
)

// openZone opens the store that a zone's URL names. This is the only place that names concrete stores.
func openZone(ctx context.Context, zoneURL string, logger *slog.Logger) (backends.Bucket, error) {
	u, err := url.Parse(zoneURL)
	if err != nil {
		return nil, coded{exitUsage, fmt.Errorf("zone %q: %w", zoneURL, err)}
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" || !strings.HasPrefix(u.Path, "/") {
			return nil, coded{exitUsage, fmt.Errorf("zone %q: a file zone is file:///absolute/path", zoneURL)}
		}
		return file.Open(ctx, u.Path)
	case "s3":
		o, err := s3.ParseURL(zoneURL)
		if err != nil {
			return nil, coded{exitUsage, err}
		}
		o.Logger = logger
		return s3.Open(ctx, o)
	case "gs":
		o, err := gcs.ParseURL(zoneURL)
		if err != nil {
			return nil, coded{exitUsage, err}
		}
		o.Logger = logger
		return gcs.Open(ctx, o)
	default:
		return nil, coded{exitUsage, fmt.Errorf("zone %q: unknown scheme %q: must be file, s3 or gs", zoneURL, u.Scheme)}
	}
}

// capsOf are what the store of a zone's URL can do as far as that is known before it was opened. Whether a bucket of GCS
// takes appends it alone tells, unless the URL says so; until then it gets what any bucket takes.
func capsOf(zoneURL string) backends.Caps {
	const maxAppend = 1 << 30 // of every store
	if strings.HasPrefix(zoneURL, "file:") {
		return backends.Caps{Appends: math.MaxInt, MaxAppend: maxAppend}
	}
	if o, err := gcs.ParseURL(zoneURL); err == nil && o.Mode == gcs.Zonal {
		return backends.Caps{Appends: math.MaxInt, MaxAppend: maxAppend}
	}
	return backends.Caps{Appends: 1, MaxAppend: maxAppend}
}
