// The stores of what callers did: stored answers, their calls of deprecated operations, their usage, and the failures of their addresses.

import { replicaMistakes } from '../../config/settings.ts';
import { createThrottle, type Throttle } from '../../limits/addresses/throttle.ts';
import { logStoreState } from '../../observe/log/store-state.ts';
import { createRedisReplayStore } from '../../replay/redis-store.ts';
import type { ReplayStore } from '../../replay/replay-store.ts';
import { createSqliteReplayStore } from '../../replay/sqlite-store.ts';
import { diskRoom } from '../../shared/disk.ts';
import { shownPath } from '../../shared/file-text.ts';
import { openUsage, type Usage } from '../../usage/usage.ts';
import { DeprecatedCalls, openUseStore } from '../../versions/deprecated-calls.ts';
import type { Parts } from '../parts.ts';
import type { CallersSection } from './callers.ts';
import type { CountersSection } from './counters.ts';
import type { FirstSections } from './observation.ts';

export interface StoresSection {
  /** The stored answers to requests with an Idempotency-Key. */
  readonly replayStore: ReplayStore;
  readonly deprecatedCalls: DeprecatedCalls;
  readonly usage: Usage;
  readonly throttle: Throttle;
}

interface EarlierSections extends FirstSections {
  readonly counters: CountersSection;
  readonly callers: CallersSection;
}

/** Rejects with an Error for operators if the replay store or the usage store cannot be opened. */
export async function openStores(above: EarlierSections, parts: Parts): Promise<StoresSection> {
  const { dataDirectory } = above.options.settings;
  parts.add({ name: 'disk', status: () => diskStatus(dataDirectory) });
  const replayStore = await openReplayStorePart(above, parts);
  const deprecatedCalls = openDeprecatedCallsPart(above, parts);
  const usage = await openUsagePart(above, parts);
  const throttle = throttleFor(above);
  return { replayStore, deprecatedCalls, usage, throttle };
}

function diskStatus(directory: string): { readonly disk?: object } {
  try {
    const { freeBytes, totalBytes } = diskRoom(directory);
    return { disk: { directory: shownPath(directory), free_bytes: freeBytes, total_bytes: totalBytes } };
  } catch {
    return {};
  }
}

async function openReplayStorePart(
  { options: { settings, now }, observation: { log } }: EarlierSections,
  parts: Parts,
): Promise<ReplayStore> {
  const { redisUrl: url, dataDirectory: directory, acceptOneWay } = settings;
  // The log calls the replay store by the name that operators know.
  const onChange = logStoreState(log, 'the idempotent answers');
  const replayStore =
    url === undefined
      ? createSqliteReplayStore({ directory, acceptOneWay, now, onChange })
      : await createRedisReplayStore({ url, onChange });
  parts.add({
    name: 'replay store',
    check: ({ config }) => replicaMistakes(config, settings),
    status: () => ({ idempotency: replayStore.status() }),
    close: replayStore.close,
  });
  return replayStore;
}

function openDeprecatedCallsPart(
  { options: { settings, store, now }, base: { gateway }, observation: { log } }: EarlierSections,
  parts: Parts,
): DeprecatedCalls {
  const deprecatedCalls = new DeprecatedCalls({
    open: () => openUseStore({ ...settings, now }),
    organizations: store.organizations.list,
    onChange: logStoreState(log, 'deprecated calls', 'debug'),
    publicUrl: () => gateway.publicUrl,
    now,
  });
  parts.add({
    name: 'deprecated calls',
    status: () => ({ deprecated_uses: deprecatedCalls.status() }),
    close: () => deprecatedCalls.close(),
  });
  return deprecatedCalls;
}

async function openUsagePart(
  { options: { settings, now }, base: { inForce }, observation: { log } }: EarlierSections,
  parts: Parts,
): Promise<Usage> {
  const usage = await openUsage({
    redisUrl: settings.redisUrl,
    dataDirectory: settings.dataDirectory,
    acceptOneWay: settings.acceptOneWay,
    keepDays: () => inForce().config.gateway.usage.keepDays,
    now,
    onChange: logStoreState(log, 'the use of organizations'),
  });
  parts.add({ name: 'usage', status: () => ({ usage: usage.status() }), drain: usage.drain, close: usage.close });
  return usage;
}

function throttleFor({ base: { inForce, forwardNow }, counters, callers }: EarlierSections): Throttle {
  return createThrottle({
    rules: () => inForce().config.limits.addresses,
    counters: counters.failures,
    isKnownCaller: callers.identity.isKnownCaller,
    mayLackKeys: callers.identity.mayLackKeys,
    now: forwardNow,
  });
}
