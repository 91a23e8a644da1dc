package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// loseZone takes the zone away from the daemon.
func (s *system) loseZone(zone string) error {
	if s.gcs != nil {
		return s.gcs.loseLast()
	}
	return loseDir(s.daemon.ZoneDir(zone))
}

// loseDir makes a zone's directory unusable, for root too: what was there is gone, and a file stands in its place.
func loseDir(dir string) error {
	lost := dir + ".lost"
	err := errors.Join(os.Rename(dir, lost), os.WriteFile(dir, []byte("not a directory\n"), 0o444))
	if err == nil {
		err = removeAll(lost)
	}
	if err != nil {
		return fmt.Errorf("lose zone %s: %w", dir, err)
	}
	return nil
}

// removeAll removes a directory in which files may still be created for a moment, by one who has it open.
func removeAll(dir string) (err error) {
	for range 10 {
		if err = os.RemoveAll(dir); err == nil {
			break
		}
	}
	return err
}

// awaitLostZone waits until the daemon says that exactly one zone is down.
func (s *system) awaitLostZone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		status, err := s.status(ctx)
		if err == nil && healthy(status) == len(zones)-1 {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("the daemon calls %d of %d zones healthy, after one was lost", healthy(status), len(zones))
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}
