// What a simulated protocol runs on: some gateway processes and one Redis in a network. A process that was killed starts again with its
// disk.

import type { ConnectRedis } from '../../gateway/redis/client.ts';
import { Disturbances } from './disturbances.ts';
import { Network } from './engine/network.ts';
import { SimulatedProcess } from './engine/process.ts';
import type { World } from './engine/world.ts';
import { createConnect } from './redis/client.ts';
import { SimulatedRedis } from './redis/server.ts';

/** What the machines of a deployment differ in at most: clocks, milliseconds, and how fast they run. */
const CLOCKS_DIFFER_MS = 1000;
const DRIFT_MAX = 0.0001;

/** A place for a process: its name, its clock and its disk outlive the process. */
export interface Place {
  readonly index: number;
  readonly name: string;
  /** The process that runs here, or ran here last. */
  process: SimulatedProcess;
  /** How often a process has started here. */
  starts: number;
  /** Takes no more work, and resolves when the process may end. */
  stop?: (() => Promise<unknown>) | undefined;
}

/** Starts the code under test in a process. */
export type Boot = (place: Place, process: SimulatedProcess, connect: ConnectRedis) => void;

/** A process has asked a service outside for something: it is in the middle of its work. Or it has confirmed that something has ended. */
export type Moment = 'question' | 'end';

/** Something that waits for a moment of a process. */
interface Waiting {
  readonly at: Moment;
  /** How many it leaves out before. */
  leftOut: number;
  begin(place: Place): void;
}

export class Deployment {
  readonly world: World;
  readonly redis: SimulatedRedis;
  readonly disturbances: Disturbances;
  readonly places: readonly Place[];
  readonly #boot: Boot;
  /** True times at which clocks of processes were set. */
  readonly clockJumpsMs: number[] = [];
  #waiting: Waiting[] = [];

  constructor(world: World, processes: number, boot: Boot) {
    this.world = world;
    this.disturbances = new Disturbances(world);
    this.redis = new SimulatedRedis(new Network(world), 'redis');
    this.#boot = boot;
    this.places = Array.from({ length: processes }, (_, index) => {
      const name = `gateway-${index + 1}`;
      return { index, name, process: new SimulatedProcess(world, name, this.#clockOf(name)), starts: 0 };
    });
    for (const place of this.places) this.#start(place);
  }

  /** A process apart from the gateways, such as a command. */
  helper(name: string): SimulatedProcess {
    return new SimulatedProcess(this.world, name, this.#clockOf(name));
  }

  connect(process: SimulatedProcess): ConnectRedis {
    return createConnect(process, this.redis);
  }

  asks(process: SimulatedProcess): void {
    this.#reach('question', process);
  }

  confirmsEnd(process: SimulatedProcess): void {
    this.#reach('end', process);
  }

  /** Calls it at such a moment of a process, after so many that are left out. */
  afterMoments(at: Moment, leftOut: number, begin: Waiting['begin']): void {
    this.#waiting.push({ at, leftOut, begin });
  }

  #reach(moment: Moment, process: SimulatedProcess): void {
    const place = this.places.find((one) => one.process === process);
    if (place === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ at, leftOut }) => at !== moment || leftOut > 0);
    for (const one of waiting) {
      if (one.at !== moment) continue;
      if (one.leftOut === 0) one.begin(place);
      one.leftOut -= 1;
    }
  }

  /** As SIGTERM does it. What is lost with a process that ends while something else is out of order, may be lost. */
  stop({ process, name, stop }: Place): void {
    this.world.note(name, 'is told to end');
    const isAlone = this.disturbances.since(this.world.now()) === 1;
    const before = this.disturbances.count();
    process.enter('message', () => {
      const end = () => (isAlone && this.disturbances.count() === before ? process.end() : process.kill());
      stop?.().then(end, () => process.kill());
    });
  }

  /** Starts a process again that was killed. */
  startAgain(place: Place): void {
    if (place.process.isAlive()) return;
    place.process = new SimulatedProcess(this.world, place.name, this.#clockOf(place.name));
    this.world.note(place.name, 'starts again');
    this.#start(place);
  }

  #start(place: Place): void {
    place.starts += 1;
    place.stop = undefined;
    this.#boot(place, place.process, this.connect(place.process));
  }

  #clockOf(name: string) {
    const random = this.world.random.named(`clock of ${name}`);
    return {
      offsetMs: Math.round(random.between(-CLOCKS_DIFFER_MS, CLOCKS_DIFFER_MS)),
      drift: random.between(-DRIFT_MAX, DRIFT_MAX),
    };
  }
}
