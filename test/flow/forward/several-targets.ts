// The set-up for tests of targets: a gateway before several upstreams, whose health the test controls.

import { ask, requestOf } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { httpAnswer, type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';

export interface SeveralTargets {
  readonly gateway: TestGateway;
  readonly upstreams: readonly ScriptedUpstream[];
  /** Requests that each upstream got, health checks aside. */
  counts(): number[];
  call(): ReturnType<typeof ask>;
  /** One call after the other; their statuses. */
  calls(times: number): Promise<number[]>;
  /** The upstream in /status. */
  status(): Promise<UpstreamStatus>;
  metrics(): Promise<string>;
  close(): Promise<void>;
}

interface UpstreamStatus {
  readonly targets: readonly {
    readonly origin: string;
    readonly state: string;
    readonly outstanding: number;
    readonly consecutive_failures: number;
    readonly ejected_until: string | null;
    readonly last_check?: { readonly result: string; readonly status?: number } | null;
  }[];
  readonly breaker: { readonly live: string };
}

export async function createSeveralTargets(count: number, entry: object = {}): Promise<SeveralTargets> {
  const upstreams = await Promise.all(Array.from({ length: count }, () => startScriptedUpstream()));
  const urls = upstreams.map(({ url }) => url);
  const gateway = await startGateway(thingsAt(urls, entry));
  const { authorization } = await gateway.authorize();
  const call = () => ask(gateway.port, requestOf('GET /v1/things', { Authorization: authorization }));
  return {
    gateway,
    upstreams,
    counts: () => upstreams.map(({ received }) => received.filter((text) => text.includes('/v1/things')).length),
    call,
    async calls(times) {
      const statuses: number[] = [];
      for (let i = 0; i < times; i++) statuses.push((await call()).status);
      return statuses;
    },
    async status() {
      const answer = await fetch(`${gateway.adminUrl}/status`);
      const { upstreams } = (await answer.json()) as { upstreams: { things: UpstreamStatus } };
      return upstreams.things;
    },
    metrics: async () => (await fetch(`${gateway.adminUrl}/metrics`)).text(),
    async close() {
      await gateway.stop();
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}

/** Fails with this status from now on. */
export function fails(upstream: ScriptedUpstream | undefined, status = 503): void {
  upstream?.plays((socket) => socket.write(httpAnswer(status, '{}')));
}

export function works(upstream: ScriptedUpstream | undefined): void {
  upstream?.plays((socket) => socket.write(httpAnswer(200, '{}')));
}
