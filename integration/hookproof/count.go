package hookproof

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/walbridge/walbridge/integration/jmx"
)

const (
	proofBean  = "walbridge:type=FollowerProof"
	bytesOut   = "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesOutPerSec"
	expired    = "kafka.server:type=DelayedFetchMetrics,name=ExpiresPerSec,fetcherType=follower"
	ticksOfCPU = 100 // USER_HZ, the unit of /proc/PID/stat on every Linux
)

// counts are numbers of brokers 1 and 2, each the sum of both. They begin anew when a broker starts.
type counts map[string]float64

func (r *Rig) counts(ctx context.Context) (counts, error) {
	sum := counts{}
	for id := 1; id <= 2; id++ {
		numbers, err := jmx.Read(ctx, r.jmx[id-1], proofBean, bytesOut, expired)
		if err != nil {
			return nil, fmt.Errorf("broker %d: %w", id, err)
		}
		if numbers[proofBean] == nil {
			return nil, r.feedsNobody(id)
		}
		for name, value := range numbers[proofBean] {
			sum[name] += value
			sum[fmt.Sprintf("%s.%d", name, id)] = value
		}
		sum["ReplicationBytesOut"] += numbers[bytesOut]["Count"]
		sum[fmt.Sprintf("ReplicationBytesOut.%d", id)] = numbers[bytesOut]["Count"]
		sum["ExpiredFetches"] += numbers[expired]["Count"]
		cpu, err := r.cpu(id)
		if err != nil {
			return nil, err
		}
		sum["CPUSeconds"] += cpu
	}
	return sum, nil
}

// feedsNobody says what the broker logged last of Walbridge: its agent is not there, or still starting.
func (r *Rig) feedsNobody(id int) error {
	log, err := os.ReadFile(r.broker(id).LogFile())
	if err != nil {
		return fmt.Errorf("broker %d: %w", id, err)
	}
	last := "nothing"
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "Walbridge") {
			last = strings.TrimSpace(line)
		}
	}
	return fmt.Errorf("broker %d feeds no followers; its agent logged last: %s", id, last)
}

// since is how much each has grown.
func (c counts) since(before counts) counts {
	grown := counts{}
	for name, value := range c {
		grown[name] = value - before[name]
	}
	return grown
}

// cpu is the processor time that the broker has used, in seconds.
func (r *Rig) cpu(id int) (float64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.broker(id).PID()))
	if err != nil {
		return 0, fmt.Errorf("broker %d: %w", id, err)
	}
	// After the name, which is in parentheses, the 12th and 13th field are user and system time.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var user, system float64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, fmt.Errorf("processor time of broker %d: %w", id, err)
	}
	return (user + system) / ticksOfCPU, nil
}
