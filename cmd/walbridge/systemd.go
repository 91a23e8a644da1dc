package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// What systemd is told; see sd_notify(3). Without systemd nothing is sent.
const (
	notifyReady    = daemon.SdNotifyReady
	notifyStopping = daemon.SdNotifyStopping
	notifyAlive    = daemon.SdNotifyWatchdog
)

func notify(logger *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		logger.Warn("systemd was not told", "state", state, "err", err)
	}
}

// notifyReloading begins a reload, which notifyReady ends. systemd wants to know when, to tell it from an older one.
func notifyReloading(logger *slog.Logger) {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // It cannot fail for this clock.
	notify(logger, fmt.Sprintf("%s\nMONOTONIC_USEC=%d", daemon.SdNotifyReloading, now.Nano()/1000))
}

// watchdogPeriod is how often systemd wants a sign of life; 0 is never.
func watchdogPeriod() (time.Duration, error) {
	d, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0, fmt.Errorf("WATCHDOG_USEC: %w", err)
	}
	return d / 3, nil
}
