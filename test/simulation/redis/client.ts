// The client of Redis that a simulated process gets in place of `gateway/redis/client.ts`: the same methods, events and failures, as far as
// the gateway uses them. It connects by itself, never waits for a reconnect, and never sends a command twice.

import type { Redis, RedisOptions } from '../../../gateway/redis/client.ts';
import { Lane } from '../engine/network.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import { RedisError, type Reply, Status } from './reply.ts';
import type { ServerConnection, SimulatedRedis } from './server.ts';

const RECONNECT_MS = { first: 50, longest: 500 } as const;
const CONNECT_TIMEOUT_MS = 1000;
const SILENCE_MAX_MS = 1000;
/** The client asks that often whether the server is there. */
const ASK_EVERY_MS = 500;

interface Pending {
  readonly isBuffer: boolean;
  resolve(value: unknown): void;
  reject(cause: Error): void;
}

/** A command that the gateway encodes itself. */
interface EncodedCommand {
  toWritable(): string;
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

type Listener = (...values: string[]) => void;

/** As `connectRedis`, for one process and one server. */
export function createConnect(process: SimulatedProcess, server: SimulatedRedis) {
  return (options: RedisOptions): Redis => new SimulatedClient(process, server, options) as unknown as Redis;
}

class SimulatedClient implements ServerConnection {
  readonly options = {};
  readonly channels = new Set<string>();
  readonly process: string;
  session = 0;
  status: 'connecting' | 'ready' | 'reconnecting' | 'end' = 'connecting';
  readonly #owner: SimulatedProcess;
  readonly #server: SimulatedRedis;
  readonly #settings: RedisOptions;
  readonly #listeners: Listener[] = [];
  #pending: Pending[] = [];
  #toServer: Lane;
  #toClient: Lane;
  #attempts = 0;

  constructor(owner: SimulatedProcess, server: SimulatedRedis, settings: RedisOptions) {
    this.#owner = owner;
    this.process = owner.name;
    this.#server = server;
    this.#settings = settings;
    this.#toServer = this.#lane();
    this.#toClient = this.#lane();
    this.#connect();
  }

  call(name: string, args: readonly (string | number | Buffer)[] = []): Promise<unknown> {
    return this.#send([name, ...args], false);
  }

  callBuffer(name: string, args: readonly (string | number | Buffer)[] = []): Promise<unknown> {
    return this.#send([name, ...args], true);
  }

  sendCommand(command: EncodedCommand): void {
    this.#send(argumentsIn(command.toWritable()), true).then(
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

  wait(replicas: number, timeoutMs: number): Promise<unknown> {
    return this.call('wait', [replicas, timeoutMs]);
  }

  info(): Promise<unknown> {
    return this.call('info');
  }

  subscribe(...channels: string[]): Promise<unknown> {
    return this.call('subscribe', channels);
  }

  on(event: string, listener: Listener): this {
    if (event === 'message') this.#listeners.push(listener);
    return this;
  }

  disconnect(reconnect = false): void {
    if (this.status === 'end') return;
    if (reconnect) this.#drop('the connection was closed');
    else {
      this.status = 'end';
      this.#leave('Connection is closed.');
    }
  }

  /** From the server: a reply to the oldest command. */
  reply(value: Reply): void {
    this.#toClient.send(() => {
      this.#owner.enter('message', () => this.#take(value));
    });
  }

  message(channel: string, text: string): void {
    this.#toClient.send(() => {
      this.#owner.enter('message', () => {
        if (this.status === 'ready') for (const listener of this.#listeners) listener(channel, text);
      });
    });
  }

  closed(reason: string): void {
    const toClient = this.#toClient;
    this.#toServer.close();
    // It arrives behind the replies that are on their way, unless the connection was broken.
    if (reason === 'read ECONNRESET') toClient.close();
    this.#server.world.after(this.#server.network.delayMs(), () => {
      this.#owner.enter('message', () => {
        if (this.#toClient === toClient && this.status === 'ready') this.#drop(reason);
      });
    });
  }

  silent(): void {
    const toClient = this.#toClient;
    const noticeMs = (this.#settings.silenceMaxMs ?? SILENCE_MAX_MS) + ASK_EVERY_MS * this.#owner.machine.random();
    this.#owner.machine.setTimeout(() => {
      if (this.#toClient !== toClient || this.status !== 'ready' || this.#server.answers(this.#owner)) return;
      this.#drop(`Redis gave no right answer for ${this.#settings.silenceMaxMs ?? SILENCE_MAX_MS} ms`);
    }, noticeMs);
  }

  #lane(): Lane {
    return new Lane(this.#server.network, this.#server.name, this.#owner.name);
  }

  #connect(): void {
    const { machine } = this.#owner;
    const fails = !this.#server.answers(this.#owner);
    const tookMs = fails && this.#server.isUp() ? CONNECT_TIMEOUT_MS : 3 * this.#server.network.delayMs();
    machine.setTimeout(() => {
      if (this.status === 'end') return;
      if (fails || !this.#server.answers(this.#owner)) return this.#drop('connect ECONNREFUSED');
      this.#toServer = this.#lane();
      this.#toClient = this.#lane();
      this.session += 1;
      this.#server.open(this);
      this.status = 'ready';
      this.#attempts = 0;
      this.#settings.onReady?.();
    }, tookMs);
  }

  #drop(reason: string): void {
    this.#leave(reason);
    this.status = 'reconnecting';
    this.#settings.onLost?.(new Error(reason));
    this.#attempts += 1;
    const waitMs = Math.min(RECONNECT_MS.first * 2 ** (this.#attempts - 1), RECONNECT_MS.longest);
    this.#owner.machine.setTimeout(() => {
      if (this.status === 'reconnecting') this.#connect();
    }, waitMs);
  }

  #leave(reason: string): void {
    this.#server.forget(this);
    this.#toServer.close();
    this.#toClient.close();
    this.channels.clear();
    const pending = this.#pending;
    this.#pending = [];
    for (const { reject } of pending) reject(new Error(reason));
  }

  #send(parts: readonly (string | number | Buffer)[], isBuffer: boolean): Promise<unknown> {
    if (this.status !== 'ready')
      return Promise.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
    const command = parts.map(toBytes);
    return new Promise((resolve, reject) => {
      const { commandTimeoutMs } = this.#settings;
      const { machine } = this.#owner;
      const late = () => reject(new Error('Command timed out'));
      const timer = commandTimeoutMs === undefined ? undefined : machine.setTimeout(late, commandTimeoutMs);
      const settle = () => machine.clearTimeout(timer);
      this.#pending.push({
        isBuffer,
        resolve(value) {
          settle();
          resolve(value);
        },
        reject(cause) {
          settle();
          reject(cause);
        },
      });
      this.#toServer.send(() => {
        this.#server.world.note(this.#server.name, `${this.process}: ${command[0]} ${shownOf(command)}`);
        this.#server.receive(this, command);
      });
    });
  }

  #take(value: Reply): void {
    const pending = this.#pending.shift();
    if (pending === undefined) return;
    if (value instanceof RedisError) pending.reject(Object.assign(new Error(value.message), { name: 'ReplyError' }));
    else pending.resolve(toValue(value, pending.isBuffer));
  }
}

/** What tells one command from another in a trace: the digest of a script, or the first argument. */
function shownOf([name = '', first = '', second = '']: readonly string[]): string {
  if (name === 'eval') return `${first.length} bytes`;
  return name === 'evalsha' ? first.slice(0, 8) : `${first} ${second}`.slice(0, 40);
}

export function toBytes(part: string | number | Buffer): string {
  if (Buffer.isBuffer(part)) return part.toString('latin1');
  const text = String(part);
  return isPlain(text) ? text : Buffer.from(text).toString('latin1');
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) return false;
  return true;
}

export function toValue(reply: Reply, isBuffer: boolean): unknown {
  if (reply instanceof Status) return toValue(reply.text, isBuffer);
  if (typeof reply === 'string') {
    if (isBuffer) return Buffer.from(reply, 'latin1');
    return isPlain(reply) ? reply : Buffer.from(reply, 'latin1').toString();
  }
  if (typeof reply === 'number' || reply === null) return reply;
  if (reply instanceof RedisError) return new Error(reply.message);
  return reply.map((each) => toValue(each, isBuffer));
}

/** Reads a command in the form of the protocol. */
export function argumentsIn(encoded: string): string[] {
  const bytes = isPlain(encoded) ? encoded : Buffer.from(encoded).toString('latin1');
  const args: string[] = [];
  let at = bytes.indexOf('\r\n') + 2;
  while (at < bytes.length) {
    const end = bytes.indexOf('\r\n', at);
    const length = Number(bytes.slice(at + 1, end));
    args.push(bytes.slice(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return args;
}
