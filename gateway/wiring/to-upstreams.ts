// Creates the function that sends requests to upstreams by one configuration, with its targets, rules, credentials and assertions.

import type { Configuration } from '../configuration.ts';
import { createAnswerCheck } from '../contract/answer.ts';
import type { TlsSettings } from '../http1/client/connect.ts';
import type { OpenStream } from '../serving/open-stream.ts';
import { createForward } from '../upstream/forward.ts';
import { createHandshake } from '../upstream/handshake.ts';
import { createUpstreamRoutes } from '../upstream/routes.ts';
import { Targets } from '../upstream/targets/targets.ts';
import type { Sections } from './sections.ts';

/** Returns the TLS settings of an upstream; undefined for an upstream without TLS. */
export type TlsOf = (upstream: string) => TlsSettings | undefined;

export function createToUpstreams(
  configuration: Configuration,
  { options, observation, upstreams: parts, callers, traffic }: Sections,
  openStream: OpenStream,
) {
  const { upstreams } = configuration.config;
  const { operations, schemas } = configuration.contracts;
  const tls = parts.tlsSettingsOf(configuration);
  const tlsOf: TlsOf = (upstream) => tls.get(upstream);
  const targets = new Targets({ ...parts.targets, originOf: parts.sandbox.originOf, upstreams, tlsOf });
  const routes = createUpstreamRoutes(upstreams, parts.access, traffic.executors, () => performance.now());
  for (const [upstream, { execute, deadlines }] of routes) {
    // Operations of the gateway may take as long as their client wants to wait for confirmations.
    if (execute === undefined) parts.access.find(upstream)?.sent.add(deadlines);
  }
  const sending = {
    targets,
    routes,
    assertionFor: parts.assertions.assertionFor,
    traceparentFor: observation.traceparentFor,
  };
  return {
    tlsOf,
    forward: createForward({
      ...sending,
      openStream,
      locks: parts.recordLocks,
      answerCheck: createAnswerCheck(operations, schemas, options.now),
      refuseIfFull: ({ caller, clientAddress }) => callers.streams.refuseIfFull(caller, clientAddress),
    }),
    handshake: createHandshake(sending),
    close: () => targets.close(),
  };
}
