package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/file"
)

// openZone opens the store that a zone's URL names. This is the only place that names concrete stores.
func openZone(ctx context.Context, zoneURL string) (backends.Bucket, error) {
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
	default:
		return nil, coded{exitUsage, fmt.Errorf("zone %q: unknown scheme %q: must be file", zoneURL, u.Scheme)}
	}
}
