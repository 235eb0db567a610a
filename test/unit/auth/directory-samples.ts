// A directory on a real store that can be taken away, for tests.

import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Directory } from '../../../gateway/auth/directory.ts';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { REAL_MACHINE } from '../../../gateway/shared/machine.ts';
import { digestOf, fakeClock } from './samples.ts';

export const POLL_MS = 5;
export const GRACE_MS = 60_000;

export type Needed = Pick<KeyStore, 'keys' | 'organizations' | 'audit' | 'instances'>;

/** The real store behind a switch, and counting its look-ups. */
export function switchable(store: KeyStore) {
  const state = { away: false, unlisted: false, reports: 0, lookUps: 0 };
  function reachable<T>(answer: () => T): T {
    if (state.away) throw new Error('the store is away');
    return answer();
  }
  const needed: Needed = {
    keys: {
      ...store.keys,
      findByDigest(digest) {
        state.lookUps += 1;
        return reachable(() => store.keys.findByDigest(digest));
      },
    },
    organizations: {
      ...store.organizations,
      get(id) {
        state.lookUps += 1;
        return reachable(() => store.organizations.get(id));
      },
    },
    instances: {
      ...store.instances,
      report(instance) {
        if (state.unlisted) throw new Error('the report is lost');
        state.reports += 1;
        return reachable(() => store.instances.report(instance));
      },
    },
    audit: { ...store.audit, since: (sequence, limit) => reachable(() => store.audit.since(sequence, limit)) },
  };
  return { state, needed };
}

export function follow(
  test: TestContext,
  store: Needed,
  clock = fakeClock(),
  bounds = { positiveMax: 100, negativeMax: 100 },
  machine = REAL_MACHINE,
) {
  const times = { now: clock.now, pollMs: POLL_MS, graceMs: GRACE_MS };
  const directory = new Directory({ store, digestOf, host: 'here', pid: 1, machine, ...times, ...bounds });
  test.after(() => directory.close());
  return directory;
}

/** Past the first poll, which drops everything learned before it. */
export async function settled(directory: Directory, key: string): Promise<void> {
  await setTimeout(POLL_MS * 2);
  await directory.callerOf(key);
}
