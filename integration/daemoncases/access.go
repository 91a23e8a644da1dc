package daemoncases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
)

// nobody is the user that must not get in.
const nobody = 65534

// socketMode: the socket has the configured mode and group.
func socketMode(ctx context.Context, r *rig) error {
	group := os.Getgid()
	if os.Getuid() == 0 {
		group = nobody
	}
	_, err := r.start(ctx, r.configuration(fmt.Sprintf("socket: {mode: \"0620\", group: %d}\n", group)))
	if err != nil {
		return err
	}
	info, err := os.Stat(r.socket())
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode().Perm() != 0o620 || int(owner.Gid) != group {
		return fmt.Errorf("the socket has mode %04o and group %d, want 0620 and %d", info.Mode().Perm(), owner.Gid, group)
	}
	return nil
}

// peerCredentials: whom the kernel names and the configuration does not is refused, logged, and let in once it does.
func peerCredentials(ctx context.Context, r *rig) error {
	if os.Getuid() != 0 {
		return fmt.Errorf("%w: only root can be another user", ErrSkipped)
	}
	// Another user must be able to run the binary and to reach the socket.
	b, err := os.ReadFile(r.binary)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.path("walbridge"), b, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(r.dir, 0o755); err != nil {
		return err
	}
	other := &rig{binary: r.path("walbridge"), dir: r.dir}
	who := &syscall.Credential{Uid: nobody, Gid: nobody}
	ask := []string{"status", "--target", r.target(), "--timeout", "10s"}

	text := r.configuration(fmt.Sprintf("socket: {mode: \"0660\", group: %d, allow_users: [4711]}\n", nobody))
	p, err := r.start(ctx, text)
	if err != nil {
		return err
	}
	if code, output := other.walbridgeAs(ctx, who, ask...); code != 1 {
		return fmt.Errorf("user %d was let in: %d, %s", nobody, code, output)
	}
	if err := r.awaitLog(ctx, p, "connection refused", fmt.Sprintf(`peer="uid %d"`, nobody), "reason=not_allowed"); err != nil {
		return err
	}
	text = r.configuration(fmt.Sprintf("socket: {mode: \"0660\", group: %d, allow_groups: [%d]}\n", nobody, nobody))
	if err := r.configure(text); err != nil {
		return err
	}
	if err := syscall.Kill(p.PID(), syscall.SIGHUP); err != nil {
		return err
	}
	if err := r.awaitLog(ctx, p, "socket.allow_groups socket.allow_users"); err != nil {
		return err
	}
	if code, output := other.walbridgeAs(ctx, who, ask...); code != 0 {
		return fmt.Errorf("user %d is not let in after the reload: %d, %s", nobody, code, output)
	}
	return nil
}

// profiles are on the admin socket, which is its owner's alone, and not where the metrics are.
func profiles(ctx context.Context, r *rig) error {
	admin, port := r.path("admin.sock"), freePort()
	_, err := r.start(ctx, r.configuration(fmt.Sprintf("admin_listen: unix://%s\nmetrics_listen: %s\n", admin, port)))
	if err != nil {
		return err
	}
	if info, err := os.Stat(admin); err != nil || info.Mode().Perm() != 0o600 {
		return fmt.Errorf("the admin socket: %v, mode %v", err, info)
	}
	local := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", admin)
		},
	}}
	defer local.CloseIdleConnections()
	for _, q := range []struct {
		client *http.Client
		url    string
		code   int
	}{
		{local, "http://admin/debug/pprof/goroutine?debug=1", 200},
		{local, "http://admin/metrics", 200},
		{http.DefaultClient, "http://" + port + "/metrics", 200},
		{http.DefaultClient, "http://" + port + "/debug/pprof/", 404},
	} {
		if _, err := get(ctx, q.client, q.url, q.code); err != nil {
			return err
		}
	}
	return nil
}

func get(ctx context.Context, client *http.Client, url string, code int) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return "", err
	}
	if response.StatusCode != code {
		return "", fmt.Errorf("GET %s: %s, want %d", url, response.Status, code)
	}
	return string(body), nil
}

// freePort is a loopback address that nobody listened on a moment ago.
func freePort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer l.Close()
	return l.Addr().String()
}
