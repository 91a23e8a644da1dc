package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/walbridge/walbridge/cmd/walbridge/config"
	"github.com/walbridge/walbridge/server/peer"
)

// reloader takes a changed configuration file into the running daemon, as far as it can be taken.
type reloader struct {
	path string
	// running is the configuration that is in force.
	running      config.Config
	level        *slog.LevelVar
	listener     *peer.Listener
	certificates *certificates // nil without TLS
	logger       *slog.Logger
}

// run reloads on every SIGHUP until ctx ends.
func (r *reloader) run(ctx context.Context) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-hangups:
			notifyReloading(r.logger)
			r.reload()
			notify(r.logger, notifyReady)
		case <-ctx.Done():
			return
		}
	}
}

// reload does all of it, or nothing where the file has a mistake.
func (r *reloader) reload() {
	c, allow, err := r.read()
	if err != nil {
		r.logger.Error("not reloaded, nothing changed", "err", err)
		return
	}
	applied, waiting := config.Changes(&r.running, c)
	r.running.Log.Level, r.running.Socket.AllowUsers, r.running.Socket.AllowGroups =
		c.Log.Level, c.Socket.AllowUsers, c.Socket.AllowGroups
	r.level.Set(level(c.Log))
	r.listener.SetAllow(allow)
	r.logger.Info("reloaded", "applied", strings.Join(applied, " "), "wait_for_restart", strings.Join(waiting, " "),
		"certificates", r.certificates != nil)
}

func (r *reloader) read() (*config.Config, peer.Allow, error) {
	c, err := config.Load(r.path, checkZone)
	if err != nil {
		return nil, peer.Allow{}, err
	}
	allow, err := allowed(c.Socket)
	if err != nil {
		return nil, peer.Allow{}, err
	}
	if r.certificates != nil {
		err = r.certificates.reload()
	}
	return c, allow, err
}
