package main

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"time"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// daemon asks the running daemon, if there is one.
func (e *examination) daemon(ctx context.Context) {
	c := e.client
	if c.target == "" {
		c.target = reachable(e.config.Listen)
	}
	if e.config.TLS.Enabled() && !c.tls() {
		e.warn("daemon", "give --cacert, --cert and --key, of a client that tls.client_ca signed",
			"not asked: it listens on %s with TLS, and this command has no certificate", e.config.Listen)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := c.dial()
	if err != nil {
		e.wrong("daemon", "correct --target, --cacert, --cert or --key", "%v", err)
		return
	}
	defer conn.Close()
	began := time.Now()
	s, err := walbridgev1.NewWalServiceClient(conn).GetStatus(ctx, &walbridgev1.GetStatusRequest{})
	if err != nil {
		e.wrong("daemon", "systemctl status walbridge, and journalctl -u walbridge for why; join the socket's group if it "+
			"is permission that is missing", "no answer at %s: %v%s", c.target, err, c.hint(err))
		return
	}
	e.fine("daemon", "%s answers within %v, incarnation %d, up %v", s.GetVersion(),
		time.Since(began).Round(100*time.Microsecond), s.GetIncarnation(), s.GetUptime().AsDuration().Round(time.Second))
	if s.GetClusterId() != e.config.ClusterID || s.GetBrokerId() != e.config.BrokerID {
		e.wrong("daemon", "restart it after a change of its configuration", "it serves broker %d of cluster %s, not what "+
			"the configuration says", s.GetBrokerId(), s.GetClusterId())
	}
	if s.GetVersion() != buildVersion() {
		e.warn("daemon", "restart it after an upgrade", "it runs %s, this command is %s", s.GetVersion(), buildVersion())
	}
	for _, z := range s.GetZones() {
		if z.GetState() == walbridgev1.ZoneState_ZONE_STATE_DOWN {
			e.wrong("daemon", "see what is said of the zone below; it comes back by itself",
				"zone %s is down: %s", z.GetName(), z.GetLastError())
		}
	}
}

// reachable is where a listener is reached from its own host.
func reachable(listen string) string {
	u, err := url.Parse(listen)
	if err != nil || u.Scheme != "tcp" {
		return listen
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "" || ip != nil && ip.IsUnspecified() {
		return "tcp://" + net.JoinHostPort("localhost", u.Port())
	}
	return listen
}

// agentVersion compares the agent's release with ours: they are made and tested together.
func (e *examination) agentVersion() {
	v, err := jarVersion(e.agent)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.warn("agent", "give the jar's path with --agent", "%s is not there: the agent's version is not checked", e.agent)
	case err != nil:
		e.wrong("agent", "install the jar of this release", "%s: %v", e.agent, err)
	case strings.HasPrefix(buildVersion(), "dev"):
		e.fine("agent", "%s is %s; this daemon is no release, so that they are not compared", e.agent, v)
	case v != buildVersion():
		e.wrong("agent", "install daemon and agent of one release, and restart the broker", "%s is %s, the daemon %s",
			e.agent, v, buildVersion())
	default:
		e.fine("agent", "%s is %s, as the daemon", e.agent, v)
	}
}

// jarVersion reads Implementation-Version of a jar's manifest.
func jarVersion(path string) (string, error) {
	jar, err := zip.OpenReader(path)
	if err != nil {
		return "", err
	}
	defer jar.Close()
	manifest, err := jar.Open("META-INF/MANIFEST.MF")
	if err != nil {
		return "", fmt.Errorf("no manifest: %w", err)
	}
	defer manifest.Close()
	for lines := bufio.NewScanner(manifest); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "Implementation-Version: "); ok {
			return strings.TrimSpace(v), nil
		}
	}
	return "", errors.New("its manifest has no Implementation-Version")
}
