// The connections to upstreams, for tests that need only their places.

import { AccessTable } from '../../../gateway/upstream/access.ts';
import { NO_PROBES } from '../../../gateway/upstream/credentials/latch-probes.ts';

export const openAccesses = (workers = 1) =>
  new AccessTable({
    readSecret: () => 'user:password',
    workers,
    onWaited: () => undefined,
    onShed: () => undefined,
    isShedding: () => false,
    secretWrittenAt: () => undefined,
    probes: NO_PROBES,
    onSuspended: () => undefined,
    onHealed: () => undefined,
    now: Date.now,
  });
