// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.List;

/** Is told how copies to the WAL end, on the threads that copy. It must not throw, and ought not to wait. */
public interface CopyListener {
    /** One that does nothing. */
    CopyListener NONE = new CopyListener() {
        @Override
        public void stored(List<StoredSection> sections) {}

        @Override
        public void failed() {}
    };

    /** A copy has succeeded, of these sections. They are what the logs hold where the partition is still led. */
    void stored(List<StoredSection> sections);

    /** A copy has failed and is tried again, or none are made any more. */
    void failed();
}
