// The parts that know callers: their open streams, sessions, keys and tokens.

import type { Caller } from '../../exchange/caller.ts';
import { openStreamsMaxOf } from '../../limits/limit-rules.ts';
import { OpenStreams } from '../../streams/open-streams.ts';
import { type Identity, openIdentity } from '../identity.ts';
import type { Parts } from '../parts.ts';
import { openSessions, type SessionServices, type Sessions } from '../sessions.ts';
import { operationsServed } from './base.ts';
import type { CountersSection } from './counters.ts';
import type { FirstSections } from './observation.ts';
import type { UpstreamsSection } from './upstreams.ts';

export interface CallersSection {
  readonly identity: Identity;
  readonly streams: OpenStreams;
  readonly tunnelStreams: OpenStreams;
  /** The services of sessions; undefined if people cannot sign in. */
  readonly sessionServices: SessionServices | undefined;
  /** Calls back when the session of a caller ends, on any instance, unless the returned function is called before. */
  onSessionEnded(caller: Caller, listener: () => void): () => void;
}

interface EarlierSections extends FirstSections {
  readonly counters: CountersSection;
  readonly upstreams: UpstreamsSection;
}

export async function openCallers(above: EarlierSections, parts: Parts): Promise<CallersSection> {
  const streams = openStreams(above, parts);
  const tunnelStreams = openTunnelStreams(above, parts);
  const sessions = await openSessionsPart(above, parts);
  const identity = openIdentityPart(above, sessions, [streams, tunnelStreams], parts);
  above.counters.live.begin();
  return {
    streams,
    tunnelStreams,
    identity,
    sessionServices: sessions?.servicesOf(identity),
    onSessionEnded(caller: Caller, listener: () => void): () => void {
      const session = identity.sessionReader?.sessionOf(caller);
      return sessions === undefined || session === undefined ? () => undefined : sessions.onEnded(session, listener);
    },
  };
}

function openStreams({ options: { now }, base: { inForce } }: EarlierSections, parts: Parts): OpenStreams {
  const streams = new OpenStreams({
    mostOf: (caller) => openStreamsMaxOf(inForce().config.limits, caller),
    now,
  });
  parts.add({
    name: 'streams',
    apply: (next) => streams.keepOnly(operationsServed(next)),
    status: () => streams.status(),
    drain: (drainMs) => streams.drain(drainMs),
    close: () => streams.close(),
  });
  return streams;
}

/** Opens the part that follows the streams of tunnels. These streams have no limit and no operation, and end when their credential ends. */
function openTunnelStreams({ options: { now } }: EarlierSections, parts: Parts): OpenStreams {
  const streams = new OpenStreams({ mostOf: () => Number.POSITIVE_INFINITY, now });
  parts.add({ name: 'tunnel streams', close: () => streams.close() });
  return streams;
}

async function openSessionsPart(
  { options: { settings, secrets, now }, base: { gateway, inForce }, observation: { log } }: EarlierSections,
  parts: Parts,
): Promise<Sessions | undefined> {
  const sessions = await openSessions({ gateway, settings, secrets, log, inForce, now });
  if (sessions !== undefined) parts.add({ name: 'sessions', status: sessions.status, close: sessions.close });
  return sessions;
}

function openIdentityPart(
  { options, base: { gateway, inForce }, observation: { log }, counters, upstreams }: EarlierSections,
  sessions: Sessions | undefined,
  streams: readonly OpenStreams[],
  parts: Parts,
): Identity {
  const { settings, secrets, store, digestOf, now } = options;
  const { access, assertions, sandbox } = upstreams;
  const identity = openIdentity({
    gateway,
    secrets,
    store,
    digestOf,
    assertions,
    matchesBasic: (upstream, user, password) => access.find(upstream)?.credential?.matches(user, password) === true,
    log,
    redisUrl: settings.redisUrl,
    inForce,
    now,
    sessionReaderOf: sessions?.readerOf,
    onAssertionKeys: () => sandbox.process?.renewTrust(),
    onChange({ kind, key, organization }) {
      if (kind === 'limits.reset') counters.requests.clearRefusals();
      else if (kind !== 'configuration.changed')
        for (const open of streams) open.identityChanged({ key, organization });
    },
    onReplaced() {
      for (const open of streams) open.identityChanged({});
    },
  });
  parts.add({
    name: 'identity',
    status: () => ({ keys: identity.keysStatus(), issuers: identity.issuersStatus() }),
    close: identity.close,
  });
  return identity;
}
