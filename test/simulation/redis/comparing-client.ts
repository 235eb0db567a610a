// A client of Redis that runs each command on a real server and on the model, and tells if their replies differ: the stores of the gateway
// run on it as they are, so that their scripts are compared with what they really send.

import type { ConnectRedis, Redis } from '../../../gateway/redis/client.ts';
import { argumentsIn, toBytes, toValue } from './client.ts';
import type { Comparison } from './comparison.ts';
import { RedisError, type Reply } from './reply.ts';

interface EncodedCommand {
  toWritable(): string;
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

type Part = string | number | Buffer;

/**
 * As `connectRedis`.
 *
 * @param onDifference called with a sentence; a store may take an error for an outage
 */
export function createComparingConnect(
  comparison: Pick<Comparison, 'run'>,
  onDifference: (sentence: string) => void,
): ConnectRedis {
  return ({ onReady }) => {
    queueMicrotask(() => onReady?.());
    return new ComparingClient(comparison, onDifference) as unknown as Redis;
  };
}

class ComparingClient {
  readonly options = {};
  readonly status = 'ready';
  readonly #comparison: Pick<Comparison, 'run'>;
  readonly #onDifference: (sentence: string) => void;

  constructor(comparison: Pick<Comparison, 'run'>, onDifference: (sentence: string) => void) {
    this.#comparison = comparison;
    this.#onDifference = onDifference;
  }

  call(name: string, args: readonly Part[] = []): Promise<unknown> {
    return this.#run([name, ...args], false);
  }

  callBuffer(name: string, args: readonly Part[] = []): Promise<unknown> {
    return this.#run([name, ...args], true);
  }

  sendCommand(command: EncodedCommand): void {
    this.#run(argumentsIn(command.toWritable()), true).then(
      (reply) => command.resolve(reply),
      (error) => command.reject(error as Error),
    );
  }

  del(...keys: string[]): Promise<unknown> {
    return this.call('del', keys);
  }

  zrem(key: string, ...members: string[]): Promise<unknown> {
    return this.call('zrem', [key, ...members]);
  }

  set(key: string, value: string, ...options: Part[]): Promise<unknown> {
    return this.call('set', [key, value, ...options]);
  }

  hmget(key: string, ...fields: string[]): Promise<unknown> {
    return this.call('hmget', [key, ...fields]);
  }

  async hgetall(key: string): Promise<Record<string, string>> {
    const parts = (await this.call('hgetall', [key])) as string[];
    return Object.fromEntries(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1] ?? '']] : [])));
  }

  info(): Promise<string> {
    return Promise.resolve('redis_version:7.0.15\r\n');
  }

  subscribe(...channels: string[]): Promise<number> {
    return Promise.resolve(channels.length);
  }

  on(): this {
    return this;
  }

  disconnect(): void {}

  async #run(parts: readonly Part[], isBuffer: boolean): Promise<unknown> {
    const { reply, difference } = await this.#comparison.run(parts.map(toBytes));
    if (difference !== undefined) this.#onDifference(difference);
    return settled(reply, isBuffer);
  }
}

function settled(reply: Reply, isBuffer: boolean): unknown {
  if (reply instanceof RedisError) throw Object.assign(new Error(reply.message), { name: 'ReplyError' });
  return toValue(reply, isBuffer);
}
