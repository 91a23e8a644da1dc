package daemoncases

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// patience is how long a case waits for what must come.
const patience = time.Minute

// watchdogPeriod is within which systemd wants a sign of life from the cases' daemons.
const watchdogPeriod = 900 * time.Millisecond

// notifications are what systemd is told; see sd_notify(3).
type notifications struct{ *net.UnixConn }

func listenForNotifications(path string) (notifications, error) {
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	return notifications{l}, err
}

// env is what systemd gives the daemon.
func (n notifications) env(watchdog time.Duration) []string {
	return []string{"NOTIFY_SOCKET=" + n.LocalAddr().String(), fmt.Sprintf("WATCHDOG_USEC=%d", watchdog.Microseconds())}
}

// await reads messages until one starts with what is wanted.
func (n notifications) await(want string, within time.Duration) error {
	if err := n.SetReadDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	b := make([]byte, 4096)
	for {
		length, err := n.Read(b)
		if err != nil {
			return fmt.Errorf("no %s: %w", want, err)
		}
		if strings.HasPrefix(string(b[:length]), want) {
			return nil
		}
	}
}
