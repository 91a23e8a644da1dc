// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import org.apache.kafka.common.Uuid;

import java.util.List;

/**
 * What a leader sends of one partition instead of its records.
 *
 * @param leaderEpoch the epoch that it leads in; to a follower in any other the offer means nothing
 * @param highWatermark the leader's, as it would be in the partition's own part of the response
 * @param logStartOffset the leader's, likewise
 * @param pointers in the order of their offsets, without a gap between them
 */
record Offer(Uuid topicId, int partition, int leaderEpoch, long highWatermark, long logStartOffset,
             List<Pointer> pointers) {}
