// The network between processes and servers: each direction of a connection keeps its order, and takes its time. Connections break, and
// what was on its way then is lost. Servers can be out of reach for some processes: what is sent arrives later, if the connection lasts so
// long.

import type { SimulatedProcess } from './process.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Milliseconds that a message takes. Rarely it takes much longer. */
const DELAY_MS = { least: 0.1, most: 1.5, rare: 40 } as const;
const RARE = 0.005;

export class Network {
  readonly world: World;
  readonly #random: Random;
  /** Names of servers that a process does not reach, with the process: `server process`. */
  readonly #cut = new Set<string>();
  /** When which of them began and ended, true times. */
  readonly #cuts: { readonly pair: string; readonly fromMs: number; untilMs: number }[] = [];
  /** Lanes with messages that wait, by the same names. */
  readonly #held = new Map<string, Set<Lane>>();
  /** Slows every message down by a factor. */
  slowness = 1;
  /** Slows messages to and from single processes down by another factor, by their names. */
  readonly slownessOf = new Map<string, number>();

  constructor(world: World) {
    this.world = world;
    this.#random = world.random.named('network');
  }

  delayMs(): number {
    const isRare = this.#random.chance(RARE);
    return (
      (isRare
        ? this.#random.between(DELAY_MS.most, DELAY_MS.rare)
        : this.#random.between(DELAY_MS.least, DELAY_MS.most)) * this.slowness
    );
  }

  /** Messages between the two do not arrive from now on; the connections stay open. */
  cut(server: string, process: SimulatedProcess): void {
    this.world.note('network', `${process.name} no longer reaches ${server}`);
    const pair = `${server} ${process.name}`;
    if (!this.#cut.has(pair)) this.#cuts.push({ pair, fromMs: this.world.now(), untilMs: Number.POSITIVE_INFINITY });
    this.#cut.add(pair);
  }

  heal(server: string, process: SimulatedProcess): void {
    const pair = `${server} ${process.name}`;
    if (!this.#cut.delete(pair)) return;
    this.world.note('network', `${process.name} reaches ${server} again`);
    for (const cut of this.#cuts) if (cut.pair === pair) cut.untilMs = Math.min(cut.untilMs, this.world.now());
    const held = this.#held.get(pair) ?? [];
    this.#held.delete(pair);
    for (const lane of held) lane.resume();
  }

  /** Lets a lane go on when the two reach each other again. */
  hold(server: string, process: string, lane: Lane): void {
    const pair = `${server} ${process}`;
    const held = this.#held.get(pair) ?? new Set();
    this.#held.set(pair, held.add(lane));
  }

  /** The longest time for which the two have not reached each other since a true time. */
  longestCutMs(server: string, process: string, fromMs: number): number {
    const ofBoth = this.#cuts.filter(({ pair }) => pair === `${server} ${process}`);
    return Math.max(0, ...ofBoth.map((cut) => Math.min(cut.untilMs, this.world.now()) - Math.max(cut.fromMs, fromMs)));
  }

  isCut(server: string, process: string): boolean {
    return this.#cut.has(`${server} ${process}`);
  }
}

/** One direction of a connection. */
export class Lane {
  readonly #network: Network;
  readonly #server: string;
  readonly #process: string;
  #lastMs = 0;
  /** On their way, oldest first. */
  #messages: (() => void)[] = [];
  /** How many have to wait until the network is whole again. */
  #held = 0;
  #isOpen = true;

  constructor(network: Network, server: string, process: string) {
    this.#network = network;
    this.#server = server;
    this.#process = process;
  }

  /** Delivers a message behind those before it. */
  send(deliver: () => void): void {
    if (!this.#isOpen) return;
    this.#messages.push(deliver);
    this.#scheduleArrival();
  }

  /** What was held is sent again. */
  resume(): void {
    const held = this.#held;
    this.#held = 0;
    for (let count = 0; count < held; count += 1) this.#scheduleArrival();
  }

  /** What is on its way is lost. */
  close(): void {
    this.#isOpen = false;
    this.#messages = [];
  }

  #scheduleArrival(): void {
    const { world } = this.#network;
    const delayMs = this.#network.delayMs() * (this.#network.slownessOf.get(this.#process) ?? 1);
    this.#lastMs = Math.max(this.#lastMs, world.now() + delayMs);
    world.after(this.#lastMs - world.now(), () => this.#arrive());
  }

  /** Whenever something arrives, it is the oldest message. */
  #arrive(): void {
    if (!this.#isOpen) return;
    if (this.#network.isCut(this.#server, this.#process)) {
      this.#held += 1;
      this.#network.hold(this.#server, this.#process, this);
    } else this.#messages.shift()?.();
  }
}
