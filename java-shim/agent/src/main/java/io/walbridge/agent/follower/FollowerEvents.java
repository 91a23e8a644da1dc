// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import org.slf4j.LoggerFactory;

/**
 * What the woven classes call: public, since the calls come from Kafka's own packages. Nothing happens before
 * {@link #turnOn} and after {@link #turnOff}.
 */
public final class FollowerEvents {
    private static volatile LeaderSide leader;
    private static volatile FollowerSide follower;

    private FollowerEvents() {}

    static void turnOn(LeaderSide leaderSide, FollowerSide followerSide) {
        leader = leaderSide;
        follower = followerSide;
    }

    static void turnOff() {
        leader = null;
        follower = null;
    }

    /** One of the others has thrown: all of it is off from here on, and the broker's log says why. */
    public static void failed(Throwable thrown) {
        turnOff();
        LoggerFactory.getLogger(FollowerEvents.class).error("Walbridge no longer feeds followers", thrown);
    }

    /** ReplicaManager.readFromLog begins. Returns what {@link #readEnds} wants. */
    public static Object readBegins(Object fetchParams) {
        LeaderSide side = leader;
        return side == null ? null : side.readBegins(fetchParams);
    }

    /** ReplicaManager.readFromLog ends. */
    public static void readEnds(Object call, Throwable thrown) {
        LeaderSide side = leader;
        if (side != null && call != null) {
            side.readEnds((FetchCalls.Call) call, thrown == null);
        }
    }

    /** Partition.fetchRecords has returned. */
    public static void partitionRead(Object partition, Object asked) {
        LeaderSide side = leader;
        if (side != null) {
            side.partitionRead(partition, asked);
        }
    }

    /** ReplicaManager.shouldLeaderThrottle returns. Returns what it is to return. */
    public static boolean keepsBack(Object partition, int followerId, boolean throttled) {
        LeaderSide side = leader;
        return side == null ? throttled : side.keepsBack(partition, followerId, throttled);
    }

    /** ReplicaManager.fetchMessages ends. */
    public static void fetchMessagesEnds() {
        LeaderSide side = leader;
        if (side != null) {
            side.fetchEnds();
        }
    }

    /** FetchResponse.of has made a response. */
    public static void responseMade(Object response) {
        LeaderSide side = leader;
        if (side != null) {
            side.answered(response);
        }
    }

    /** RemoteLeaderEndPoint.fetch begins. */
    public static void fetchBegins(Object builder) {
        FollowerSide side = follower;
        if (side != null) {
            side.fetchBegins(builder);
        }
    }

    /** FetchSessionHandler.handleResponse has accepted a response. */
    public static void responseTaken(Object handler, Object response) {
        FollowerSide side = follower;
        if (side != null) {
            side.responseTaken(handler, response);
        }
    }

    /** RemoteLeaderEndPoint.fetch returns. */
    public static void fetchEnds(Object result) {
        FollowerSide side = follower;
        if (side != null) {
            side.fetchEnds(result);
        }
    }
}
