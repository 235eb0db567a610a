// A server of Redis in a simulated world: the model behind connections, with a replica that lags behind, and the faults that a server has:
// it stands still, restarts with a part of its data, hands over to its replica, runs full, deletes keys, or has its clock set.

import type { Network } from '../engine/network.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import { BEGINNING_MS, type World } from '../engine/world.ts';
import { Dataset } from './dataset.ts';
import { RedisModel, repeat } from './model.ts';
import type { Reply } from './reply.ts';

/** How much of the latest writes the replica lacks. */
const LAG_MS = { least: 1, most: 50 } as const;

/** A log of so many writes is replicated as far as the lag allows. */
const LOG_MAX = 5000;

export interface ServerConnection {
  /** Name of the process that opened it. */
  readonly process: string;
  readonly channels: Set<string>;
  /** Another number after each reconnect. */
  readonly session: number;
  reply(value: Reply): void;
  message(channel: string, text: string): void;
  /** The server has closed the connection. */
  closed(reason: string): void;
  /** No answer will come while the server is out of reach: the client notices after a while. */
  silent(): void;
}

interface LoggedWrite {
  readonly atMs: number;
  /** By the clock of the server. */
  readonly clockMs: number;
  readonly command: readonly string[];
}

/** Data was lost. Times are true times. */
export interface Loss {
  readonly atMs: number;
  /** Writes from here on were lost. */
  readonly sinceMs: number;
  /** How much was lost: the time from then on until the server stopped, or handed over. */
  readonly tailMs: number;
}

/** The server answered nothing. Times are true times. */
export interface Outage {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface ClockJump {
  readonly atMs: number;
  readonly byMs: number;
}

/** What a restart keeps: nothing, everything but the last writes, or everything. */
export type Kept = 'nothing' | 'all but the tail' | 'everything';

export class SimulatedRedis {
  readonly name: string;
  readonly world: World;
  readonly network: Network;
  readonly model: RedisModel;
  readonly #random: Random;
  readonly #connections = new Set<ServerConnection>();
  readonly #losses: Loss[] = [];
  readonly #jumps: ClockJump[] = [];
  #onHandedOver: () => void = () => undefined;
  readonly #outages: Outage[] = [];
  #awaySinceMs = 0;
  #offsetMs = 0;
  #behindUntilMs = 0;
  #state: 'up' | 'paused' | 'down' = 'up';
  /** Commands behind one that waits for a replica. */
  readonly #blocked = new WeakMap<ServerConnection, (() => void)[]>();
  /** Commands that wait while the server stands still. */
  #waiting: (() => void)[] = [];
  /** Writes that the replica does not have yet, oldest first. */
  #log: LoggedWrite[] = [];
  /** Number of all writes. */
  #written = 0;
  #replica: Dataset;
  /** A replica lets keys expire when its master does: at the time of each write. */
  #replicaClockMs = 0;
  #lagMs: number;
  /** Since when nothing reaches the disk and the replica; Infinity: it is not down. */
  #stoppedMs = Number.POSITIVE_INFINITY;

  constructor(network: Network, name: string) {
    this.world = network.world;
    this.network = network;
    this.name = name;
    this.#random = network.world.random.named(`redis ${name}`);
    this.#lagMs = this.#random.between(LAG_MS.least, LAG_MS.most);
    this.model = new RedisModel({
      now: () => this.now(),
      onWrite: (command) => this.#logWrite(command),
      onPublish: (channel, text) => this.#publish(channel, text),
    });
    this.#replica = new Dataset(() => this.#replicaClockMs);
  }

  /** The clock of the server, epoch milliseconds. */
  now(): number {
    return Math.floor(BEGINNING_MS + this.world.now() + this.#offsetMs);
  }

  isUp(): boolean {
    return this.#state !== 'down';
  }

  losses(): readonly Loss[] {
    return this.#losses;
  }

  jumps(): readonly ClockJump[] {
    return this.#jumps;
  }

  /** Those that are over. */
  outages(): readonly Outage[] {
    return this.#outages;
  }

  /** The true time from which on the clock shows times that it has not shown before. */
  behindUntil(): number {
    return this.#behindUntilMs;
  }

  open(connection: ServerConnection): void {
    this.#blocked.delete(connection);
    this.#connections.add(connection);
  }

  forget(connection: ServerConnection): void {
    this.#connections.delete(connection);
  }

  /** Runs a command that has arrived, and answers it. */
  receive(connection: ServerConnection, command: readonly string[]): void {
    const { session } = connection;
    const work = () => {
      if (!this.#isOpen(connection, session)) return;
      const behind = this.#blocked.get(connection);
      if (behind !== undefined) return void behind.push(work);
      const [name = '', ...args] = command;
      if (name === 'wait') return this.#wait(connection, Number(args[0]), Number(args[1]));
      if (name === 'subscribe') {
        for (const channel of args) connection.channels.add(channel);
        return connection.reply(args.length);
      }
      connection.reply(this.model.execute(command));
    };
    if (this.#state === 'paused') this.#waiting.push(work);
    else if (this.#state === 'up') work();
  }

  pause(): void {
    if (this.#state !== 'up') return;
    this.world.note(this.name, 'stands still');
    this.#state = 'paused';
    this.#awaySinceMs = this.world.now();
    for (const connection of this.#connections) connection.silent();
  }

  /** The process no longer reaches the server, although no connection is closed. */
  cut(process: SimulatedProcess): void {
    this.network.cut(this.name, process);
    for (const connection of this.#connections) if (connection.process === process.name) connection.silent();
  }

  heal(process: SimulatedProcess): void {
    this.network.heal(this.name, process);
  }

  /** The longest time for which the process has not reached the server since a true time. */
  longestCutMs(process: SimulatedProcess, fromMs: number): number {
    return this.network.longestCutMs(this.name, process.name, fromMs);
  }

  /** Whether the process would get an answer now. */
  answers(process: SimulatedProcess): boolean {
    return this.#state === 'up' && !this.network.isCut(this.name, process.name);
  }

  /** Breaks the connections of a process: what is on its way is lost, in one direction or the other. */
  breakConnections(process: SimulatedProcess): void {
    this.world.note(this.name, `connections of ${process.name} break`);
    for (const connection of [...this.#connections]) {
      if (connection.process !== process.name) continue;
      this.#connections.delete(connection);
      connection.closed('read ECONNRESET');
    }
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.world.note(this.name, 'goes on');
    this.#state = 'up';
    this.#noteOutage();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) work();
  }

  stop(): void {
    if (this.#state === 'down') return;
    this.world.note(this.name, 'stops');
    if (this.#state === 'up') this.#awaySinceMs = this.world.now();
    this.#state = 'down';
    this.#stoppedMs = this.world.now();
    this.#waiting = [];
    this.#closeAll('the connection was closed');
  }

  start(kept: Kept): void {
    if (this.#state !== 'down') return;
    this.world.note(this.name, `starts with ${kept}`);
    this.#state = 'up';
    this.#noteOutage();
    if (kept === 'nothing') this.#take(new Dataset(() => this.now()), 0);
    else if (kept === 'all but the tail') this.#takeReplica();
    else this.model.restart(this.model.data);
    this.#stoppedMs = Number.POSITIVE_INFINITY;
  }

  /** Calls it after each failover. */
  whenHandedOver(run: () => void): void {
    this.#onHandedOver = run;
  }

  /** The replica takes over, with the clock of another machine. */
  failOver(clockDiffersMs: number): void {
    this.world.note(this.name, `hands over to its replica`);
    this.resume();
    this.#closeAll('READONLY');
    this.#takeReplica();
    this.jump(Math.round(clockDiffersMs));
    this.#onHandedOver();
  }

  /** The replica falls back: it has the writes of so long ago. */
  lag(ms: number): void {
    this.#advanceReplica();
    this.world.note(this.name, `its replica lags by ${ms.toFixed(0)} ms`);
    this.#lagMs = ms;
  }

  jump(ms: number): void {
    this.world.note(this.name, `its clock jumps by ${ms} ms`);
    // Once the clock has been at some time, it is behind until it has been there again.
    const furthestMs = Math.max(this.#behindUntilMs, this.world.now());
    this.#offsetMs += ms;
    this.#behindUntilMs = furthestMs - ms;
    this.#jumps.push({ atMs: this.world.now(), byMs: ms });
  }

  setFull(isFull: boolean): void {
    this.world.note(this.name, isFull ? 'is full' : 'has room');
    this.model.isFull = isFull;
  }

  /** As a server at its limit does whose policy allows it. */
  evict(): void {
    const keys = this.model.data.keys();
    if (keys.length === 0) return;
    const key = this.#random.pick(keys);
    this.world.note(this.name, `evicts ${key}`);
    this.model.data.remove(key);
    this.#logWrite(['del', key]);
    this.#noteLoss(0);
  }

  #publish(channel: string, text: string): void {
    for (const connection of this.#connections) if (connection.channels.has(channel)) connection.message(channel, text);
  }

  /** WAIT: how many replicas have everything that was written before. There is one. */
  #wait(connection: ServerConnection, wanted: number, timeoutMs: number): void {
    const position = this.#written;
    const endsMs = this.world.now() + timeoutMs;
    const { session } = connection;
    const look = () => {
      if (this.#state === 'down' || !this.#isOpen(connection, session)) return;
      this.#advanceReplica();
      const isThere = this.#written - this.#log.length >= position;
      if (wanted <= 0 || isThere || this.world.now() >= endsMs) return this.#unblock(connection, isThere ? 1 : 0);
      this.world.after(Math.min(this.#lagMs, endsMs - this.world.now()), look);
    };
    this.#blocked.set(connection, []);
    look();
  }

  #isOpen(connection: ServerConnection, session: number): boolean {
    return connection.session === session && this.#connections.has(connection);
  }

  /** Runs what came behind the command that had to wait. */
  #unblock(connection: ServerConnection, reply: number): void {
    const behind = this.#blocked.get(connection) ?? [];
    this.#blocked.delete(connection);
    connection.reply(reply);
    for (const work of behind) work();
  }

  #logWrite(command: readonly string[]): void {
    this.#log.push({ atMs: this.world.now(), clockMs: this.now(), command });
    this.#written += 1;
    if (this.#log.length > LOG_MAX && this.#written % 1000 === 0) this.#advanceReplica();
  }

  #closeAll(reason: string): void {
    const connections = [...this.#connections];
    this.#connections.clear();
    for (const connection of connections) connection.closed(reason);
  }

  #takeReplica(): void {
    this.#advanceReplica();
    const replica = this.#replica.copy(() => this.now());
    this.#take(replica, this.#log[0]?.atMs);
  }

  /** @param lostSinceMs writes from here on are gone; undefined: none is */
  #take(data: Dataset, lostSinceMs: number | undefined): void {
    this.model.restart(data);
    this.#log = [];
    this.#replica = data.copy(() => this.#replicaClockMs);
    if (lostSinceMs !== undefined) this.#noteLoss(lostSinceMs);
  }

  #advanceReplica(): void {
    const untilMs = Math.min(this.world.now(), this.#stoppedMs) - this.#lagMs;
    const found = this.#log.findIndex(({ atMs }) => atMs > untilMs);
    for (const { clockMs, command } of this.#log.splice(0, found < 0 ? this.#log.length : found)) {
      this.#replicaClockMs = clockMs;
      repeat(this.#replica, command);
    }
  }

  #noteOutage(): void {
    this.#outages.push({ fromMs: this.#awaySinceMs, untilMs: this.world.now() });
  }

  #noteLoss(sinceMs: number): void {
    const atMs = this.world.now();
    this.#losses.push({ atMs, sinceMs, tailMs: Math.min(atMs, this.#stoppedMs) - sinceMs });
  }
}
