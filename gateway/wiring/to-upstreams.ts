// What sends requests to upstreams under one configuration: their targets, rules, credentials and assertions.

import { GatewayError } from '../catalogue/errors.ts';
import type { Configuration } from '../configuration.ts';
import { createAnswerCheck } from '../contract/answer.ts';
import type { OpenStream } from '../serving/open-stream.ts';
import { entryOfUpstream } from '../shared/contracts/upstreams.ts';
import { createForward, type ForwardOptions } from '../upstream/forward.ts';
import { createHandshake } from '../upstream/handshake.ts';
import { createUpstreamRoutes, type UpstreamRoute } from '../upstream/routes.ts';
import { Targets } from '../upstream/targets/targets.ts';
import type { CallersSection, SectionsAboveCallers } from './sections/callers.ts';

/** What executes the operations that the gateway answers itself, by the address of their upstream. */
export type Executors = Readonly<Record<string, ForwardOptions['execute'] | undefined>>;

interface UsedSections extends SectionsAboveCallers {
  readonly callers: CallersSection;
  readonly traffic: { readonly executors: Executors };
}

export function createToUpstreams(
  configuration: Configuration,
  { options, observation, upstreams: parts, callers, traffic }: UsedSections,
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
