// The set-up of most tests of the request path: a gateway before a scripted upstream, and an accepted caller.

import { type Answer, ask, requestOf } from './connection.ts';
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts';
import { type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.ts';
import { thingsAt } from './things.ts';

export interface World {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  readonly authorization: string;
  /** One request of the caller on a connection of its own. */
  call(
    line: string,
    headers?: Record<string, string | readonly string[] | undefined>,
    body?: string | Buffer,
  ): Promise<Answer>;
  close(): Promise<void>;
}

export async function createWorld(
  options: GatewayOptions = {},
  entry: object = {},
  paths: Record<string, object> = {},
): Promise<World> {
  const upstream = await startScriptedUpstream();
  const gateway = await startGateway({ ...thingsAt(upstream.url, entry, paths), ...options });
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
