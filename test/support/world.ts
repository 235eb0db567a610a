// The set-up of most tests of the request path: a gateway before a scripted upstream, and an accepted caller.

import { type Answer, ask, requestOf } from './connection.ts';
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts';
import { type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.ts';
import { thingsAt } from './things.ts';

export interface World {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  readonly authorization: string;
  /** Sends a request of the caller on a new connection. */
  call(
    line: string,
    headers?: Record<string, string | readonly string[] | undefined>,
    body?: string | Buffer,
  ): Promise<Answer>;
  close(): Promise<void>;
}

export function createWorld(
  options: GatewayOptions = {},
  entry: object = {},
  paths: Record<string, object> = {},
): Promise<World> {
  return createWorldWith((url) => ({ ...thingsAt(url, entry, paths), ...options }));
}

/** @param optionsFor returns the options of the gateway for the address of the upstream */
export async function createWorldWith(optionsFor: (url: string) => GatewayOptions): Promise<World> {
  const upstream = await startScriptedUpstream();
  const gateway = await startGateway(optionsFor(upstream.url));
  const { authorization } = await gateway.authorize();
  return {
    gateway,
    upstream,
    authorization,
    call: (line, headers = {}, body = undefined) =>
      ask(gateway.port, requestOf(line, { Authorization: authorization, ...headers }, body)),
    async close() {
      await gateway.stop();
      await upstream.close();
    },
  };
}
