package daemoncases

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// configurationMistakes: whoever edits the example wrongly is told where and what would be right, by check as by serve.
func configurationMistakes(ctx context.Context, r *rig) error {
	for _, m := range []struct {
		name, old, new string
		want           []string
	}{
		{"an unknown key", "broker_id: 1", "broker_id: 1\nbrokr: 2", []string{":3:1", "brokr", "no such key", "broker_id"}},
		{"a size without a unit", "broker_id: 1", "broker_id: 1\nlimits: {copy_bytes: 8}", []string{":3:22", "limits.copy_bytes", `"8"`, "MiB"}},
		{"a quorum of too many", "broker_id: 1", "broker_id: 1\nquorum: 4", []string{":3:9", "quorum", `"4"`, "at most all"}},
		{"one bucket twice", r.path("zone-b"), r.path("zone-a"), []string{":6:", "zones[1].url", "no other zone"}},
		{"a zone's unknown parameter", "file://" + r.path("zone-b"), "s3://bucket?regoin=x", []string{":6:", "zones[1].url", "regoin"}},
		{"TCP for everyone", "unix://" + r.socket(), "tcp://0.0.0.0:9476", []string{":3:9", "loopback", "tls.certificate"}},
		{"writers older than the grace window", "broker_id: 1", "broker_id: 1\npool: {max_item_age: 3h}",
			[]string{":3:22", "pool.max_item_age", "lifecycle.grace_window"}},
	} {
		text := strings.Replace(r.configuration(""), m.old, m.new, 1)
		if err := r.configure(text); err != nil {
			return err
		}
		want := append(m.want, r.path("w.yaml"))
		for _, args := range [][]string{{"config", "check", r.path("w.yaml")}, {"serve", "--config", r.path("w.yaml")}} {
			if err := r.expect(ctx, 2, args, want...); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return nil
}

// exitCodes are those that docs/operations.md lists for serve.
func exitCodes(ctx context.Context, r *rig) error {
	p, err := r.start(ctx, r.configuration(""))
	if err != nil {
		return err
	}
	if err := r.expect(ctx, 1, []string{"serve", "--config", r.path("w.yaml")}, "another process serves"); err != nil {
		return err
	}
	if err := p.Stop(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(r.socket()); !os.IsNotExist(err) {
		return fmt.Errorf("a stop leaves the socket: %v", err)
	}
	for _, zone := range []string{"zone-a", "zone-b"} {
		if err := os.RemoveAll(r.path(zone)); err != nil {
			return err
		}
	}
	return r.expect(ctx, 1, []string{"serve", "--config", r.path("w.yaml")}, "1 of 3 zones can be opened", "quorum is 2")
}

// reload: SIGHUP takes what can be taken, says what waits, and a mistake changes nothing.
func reload(ctx context.Context, r *rig) error {
	p, err := r.start(ctx, r.configuration(""))
	if err != nil {
		return err
	}
	for _, step := range []struct {
		text string
		want []string
	}{
		{r.configuration("log: {level: debug}\ncombine: {linger: 1ms}\n"),
			[]string{"msg=reloaded", "applied=log.level", "wait_for_restart=combine.linger"}},
		{r.configuration("log: {level: loud}\n"), []string{"not reloaded, nothing changed", "log.level", "loud"}},
	} {
		if err := r.configure(step.text); err != nil {
			return err
		}
		if err := syscall.Kill(p.PID(), syscall.SIGHUP); err != nil {
			return err
		}
		if err := r.awaitLog(ctx, p, step.want...); err != nil {
			return err
		}
	}
	// Debug is in force: a request has its line.
	if code, output := r.walbridge(ctx, "status", "--target", r.target()); code != 0 {
		return fmt.Errorf("status after the reloads: %d, %s", code, output)
	}
	return r.awaitLog(ctx, p, "level=DEBUG", "GetStatus")
}

// secretsStaySecret: what comes from the environment is in no log, status or finding, not even at debug.
func secretsStaySecret(ctx context.Context, r *rig) error {
	const secret = "hushhush"
	p, err := r.start(ctx, r.configuration("log: {level: debug}\ntracing: {endpoint: \"http://127.0.0.1:9\", sample: 1}\n"),
		"WALBRIDGE_TRACING_HEADERS=authorization="+secret,
		"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY="+secret, "AWS_ENDPOINT_URL=http://127.0.0.1:9",
		"WALBRIDGE_ZONE_C_URL=s3://walbridge-no-such-bucket?region=eu-west-1&role_arn=arn:aws:iam::123456789012:role/w&external_id="+secret)
	if err != nil {
		return err
	}
	_, output := r.walbridge(ctx, "status", "--target", r.target(), "--output", "json")
	if err := contains(output, `"name": "c"`, "external_id=xxxxx"); err != nil {
		return err
	}
	if err := p.Stop(ctx); err != nil {
		return err
	}
	log, err := os.ReadFile(r.log())
	if err != nil {
		return err
	}
	if strings.Contains(string(log), secret) || strings.Contains(output, secret) {
		return fmt.Errorf("the secret shows in the log or the status: %s%s", log, output)
	}
	return nil
}
