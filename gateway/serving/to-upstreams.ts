// What sends requests to upstreams under one configuration: their targets, rules, credentials and assertions.

import type { Assertions } from '../auth/assertions/assertions.ts';
import { GatewayError } from '../catalogue/errors.ts';
import type { Configuration } from '../configuration.ts';
import { createAnswerCheck } from '../contract/answer.ts';
import type { TlsSettings } from '../http1/client/connect.ts';
import { entryOfUpstream } from '../shared/upstream-names.ts';
import type { OpenStreams } from '../streams/open-streams.ts';
import type { Accesses } from '../upstream/access.ts';
import { createForward, type ForwardOptions } from '../upstream/forward.ts';
import { createHandshake } from '../upstream/handshake.ts';
import { createUpstreamRoutes, type UpstreamRoute } from '../upstream/routes.ts';
import { Targets, type TargetsOptions } from '../upstream/targets/targets.ts';
import type { OpenStream } from './open-stream.ts';

/** What executes the operations that the gateway answers itself, by the address of their upstream. */
export type Executors = Readonly<Record<string, ForwardOptions['execute'] | undefined>>;

/** Parts that live from start to end of the process. */
export interface UpstreamParts {
  readonly access: Accesses;
  readonly assertions: Pick<Assertions, 'assertionFor'>;
  readonly recordLocks: ForwardOptions['locks'];
  readonly sandbox: Pick<TargetsOptions, 'originOf'>;
  readonly targets: Pick<TargetsOptions, 'pools' | 'targetSets' | 'clock'>;
  /** Upstream → TLS settings for one configuration. */
  tlsSettingsOf(configuration: Configuration): ReadonlyMap<string, TlsSettings>;
}

interface SharedParts {
  readonly options: { now(): number };
  readonly observation: Pick<ForwardOptions, 'traceparentFor'>;
  readonly upstreams: UpstreamParts;
  readonly callers: { readonly streams: Pick<OpenStreams, 'refuseIfFull'> };
  readonly traffic: { readonly executors: Executors };
}

export function createToUpstreams(
  configuration: Configuration,
  { options, observation, upstreams: parts, callers, traffic }: SharedParts,
  openStream: OpenStream,
) {
  const { access, assertions } = parts;
  const { traceparentFor } = observation;
  const { upstreams } = configuration.config;
  const { operations, schemas } = configuration.contracts;
  const tls = parts.tlsSettingsOf(configuration);
  const tlsOf = (upstream: string) => tls.get(upstream);
  const targets = new Targets({ ...parts.targets, originOf: parts.sandbox.originOf, upstreams, tlsOf });
  const routes = createUpstreamRoutes(upstreams, access, () => performance.now());
  const routeTo = (upstream: string) => routes.get(upstream) as UpstreamRoute;
  const execute: ForwardOptions['execute'] = async (fresh) => {
    const executor = traffic.executors[upstreams[fresh.operation.upstream]?.live[0] ?? ''];
    if (executor === undefined) throw new GatewayError('operation_unsupported');
    return executor(fresh);
  };
  // An assertion is for the entry as a whole.
  const assertionFor: typeof assertions.assertionFor = (caller, upstream) =>
    assertions.assertionFor(caller, entryOfUpstream(upstream));
  return {
    tlsOf,
    forward: createForward({
      targets,
      routeTo,
      assertionFor,
      traceparentFor,
      openStream,
      execute,
      locks: parts.recordLocks,
      contractCheck: createAnswerCheck(operations, schemas, options.now),
      refuseIfFull: ({ caller, clientAddress }) => callers.streams.refuseIfFull(caller, clientAddress),
    }),
    handshake: createHandshake({ targets, routeTo, assertionFor, traceparentFor }),
    close: () => targets.close(),
  };
}
