package main

import (
	"log/slog"
	"os"

	"github.com/walbridge/walbridge/cmd/walbridge/config"
)

// newLogger logs to standard error; level can be changed while it is in use.
func newLogger(c config.Log) (_ *slog.Logger, l *slog.LevelVar) {
	l = new(slog.LevelVar)
	l.Set(level(c))
	opts := &slog.HandlerOptions{Level: l}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, opts)), l
	}
	return slog.New(slog.NewTextHandler(os.Stderr, opts)), l
}

func level(c config.Log) (l slog.Level) {
	_ = l.UnmarshalText([]byte(c.Level)) // The configuration was checked.
	return l
}
