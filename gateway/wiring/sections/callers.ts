// The parts that know callers: their open streams, their keys and tokens, their idempotent answers, their calls of deprecated operations,
// their use.

import type { Caller } from '../../caller.ts';
import { replicaMistakes } from '../../config/settings.ts';
import { openAnswerStore } from '../../idempotency/open-store.ts';
import type { AnswerStore } from '../../idempotency/store.ts';
import { createThrottle, type Throttle } from '../../limits/addresses/throttle.ts';
import { openStreamsMaxOf } from '../../limits/limit-rules.ts';
import { logStoreState } from '../../observe/log.ts';
import type { Parts } from '../../parts.ts';
import { createOpenStreams, type OpenStreams } from '../../streams/open-streams.ts';
import { openUsage, type Usage } from '../../usage/usage.ts';
import { openVersionUses, type VersionUses } from '../../versions/version-uses.ts';
import type { AppOptions } from '../app-options.ts';
import { type Identity, openIdentity } from '../identity.ts';
import { openSessions, type SessionServices } from '../sessions.ts';
import { type BaseSection, operationsServed } from './base.ts';
import type { CountersSection } from './counters.ts';
import type { ObservationSection } from './observation.ts';
import type { UpstreamsSection } from './upstreams.ts';

export interface CallersSection {
  readonly streams: OpenStreams;
  readonly tunnelStreams: OpenStreams;
  readonly identity: Identity;
  readonly answerStore: AnswerStore;
  readonly versionUses: VersionUses;
  readonly usage: Usage;
  readonly throttle: Throttle;
  /** Undefined: people cannot sign in. */
  readonly sessionServices: SessionServices | undefined;
  /** Calls back when the session of a caller ends, on whichever instance, unless the returned function is called before. */
  onSessionEnded(caller: Caller, listener: () => void): () => void;
}

/** Rejects with a sentence if the store of answers or that of use cannot be opened. */
export async function openCallers(
  { configuration, settings, secrets, store, digestOf, now }: AppOptions,
  { gateway, inForce, forwardNow }: BaseSection,
  { log }: ObservationSection,
  counters: CountersSection,
  { access, assertions, sandbox }: UpstreamsSection,
  parts: Parts,
): Promise<CallersSection> {
  const streams = createOpenStreams({
    mostOf: (caller) => openStreamsMaxOf(inForce().config.limits, caller),
    now,
  });
  parts.add({
    name: 'streams',
    use: (next) => streams.use(operationsServed(next)),
    status: streams.status,
    drain: streams.drain,
    close: streams.close,
  });
  // No limit and no operation applies to the streams of tunnels; only their credential may end.
  const tunnelStreams = createOpenStreams({ mostOf: () => Number.POSITIVE_INFINITY, now });
  parts.add({ name: 'tunnel streams', close: tunnelStreams.close });
  const sessions = await openSessions({ gateway, settings, secrets, log, now });
  if (sessions !== undefined) parts.add({ name: 'sessions', status: sessions.status, close: sessions.close });
  const identity = openIdentity({
    gateway,
    secrets,
    store,
    digestOf,
    assertions,
    matchesBasic: (upstream, user, password) => access.of(upstream)?.credential?.matches(user, password) === true,
    log,
    redisUrl: settings.redisUrl,
    inForce,
    now,
    sessionReaderOf: sessions?.readerOf,
    onAssertionKeys: () => sandbox.process?.renewTrust(),
    onChange({ kind, key, organization }) {
      if (kind === 'limits.reset') counters.requests.clearRefusals();
      else if (kind !== 'configuration.changed')
        for (const open of [streams, tunnelStreams]) open.identityChanged({ key, organization });
    },
    onReplaced() {
      for (const open of [streams, tunnelStreams]) open.identityChanged({});
    },
  });
  parts.add({
    name: 'identity',
    status: () => ({ keys: identity.keysStatus(), issuers: identity.issuersStatus() }),
    close: identity.close,
  });
  counters.live.begin();
  const answerStore = await openAnswerStore({
    redisUrl: settings.redisUrl,
    dataDirectory: settings.dataDirectory,
    acceptOneWay: settings.acceptOneWay,
    now,
    onChange: logStoreState(log, 'idempotent answers'),
  });
  parts.add({
    name: 'idempotency',
    check: ({ config }) => replicaMistakes(config, settings),
    status: () => ({ idempotency: answerStore.status() }),
    close: answerStore.close,
  });
  const versionUses = openVersionUses({
    settings,
    organizations: store.organizations.list,
    onChange: (state) =>
      log.logger[state.state === 'up' ? 'debug' : 'error'](state, 'the store of deprecated calls changed its state'),
    publicUrl: () => gateway.publicUrl,
    now,
  });
  parts.add({
    name: 'version uses',
    status: () => ({ deprecated_uses: versionUses.status() }),
    close: versionUses.close,
  });
  const usage = await openUsage({
    redisUrl: settings.redisUrl,
    dataDirectory: settings.dataDirectory,
    acceptOneWay: settings.acceptOneWay,
    keepDays: () => inForce().config.gateway.usage.keepDays,
    now,
    onChange: logStoreState(log, 'use of organizations'),
  });
  parts.add({ name: 'usage', status: () => ({ usage: usage.status() }), drain: usage.drain, close: usage.close });

  const throttle = createThrottle({
    ...configuration.config.limits.addresses,
    counters: counters.failures,
    isKnownCaller: identity.isKnownCaller,
    now: forwardNow,
  });
  parts.add({ name: 'throttle', use: ({ config }) => throttle.useRules(config.limits.addresses) });

  return {
    streams,
    tunnelStreams,
    identity,
    answerStore,
    versionUses,
    usage,
    throttle,
    sessionServices: sessions?.servicesOf(identity),
    onSessionEnded(caller: Caller, listener: () => void): () => void {
      const session = identity.sessionReader?.sessionOf(caller);
      return sessions === undefined || session === undefined ? () => undefined : sessions.onEnded(session, listener);
    },
  };
}
