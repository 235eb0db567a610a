// Writes with an Idempotency-Key: how tests of the stage send them, and an upstream that executes every request, each time anew.

import { randomUUID } from 'node:crypto';
import type { Answer } from '../../support/connection.ts';
import type { GatewayOptions } from '../../support/gateway.ts';
import { httpAnswer, type Script } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

export interface KeyedWorld extends World {
  /** POST /v1/things, each time with a new key unless one is given. */
  post(options?: KeyedRequest): Promise<Answer>;
}

export interface KeyedRequest {
  readonly key?: string;
  readonly line?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

export const newKey = (): string => randomUUID();

/** The one thing in these tests; the upstream does not read it. */
export const THING = '{"name":"a"}';

/** Every request makes another record, so that a second run cannot be mistaken for a replay. */
export const creates: Script = (socket) => socket.write(created());

export function created(headers: Readonly<Record<string, string>> = {}): string {
  return httpAnswer(201, JSON.stringify({ id: randomUUID() }), headers);
}

export async function createKeyedWorld(
  options: GatewayOptions = {},
  entry: object = {},
  paths: Record<string, object> = {},
): Promise<KeyedWorld> {
  const world = await createWorld(options, entry, paths);
  world.upstream.plays(creates);
  return {
    ...world,
    post: ({ key = newKey(), line = 'POST /v1/things', headers = {}, body = THING } = {}) =>
      world.call(line, { 'Content-Type': 'application/json', 'Idempotency-Key': key, ...headers }, body),
  };
}
