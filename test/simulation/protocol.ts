// What a protocol under simulation is: the real code in simulated processes, its clients, and the checkers of its promises.

import type { Deployment } from './deployment.ts';
import type { World } from './engine/world.ts';
import type { FaultWeights } from './faults.ts';

export interface Protocol {
  readonly name: string;
  /** What can go wrong here, and how often. */
  readonly faults: FaultWeights;
  /** The share of faults that wait until a process is in the middle of its work (`Deployment.asks`). Default: none. */
  readonly aimed?: number;
  readonly processesMax: number;
  /** How long the calm at the end has to be, for everything to come to rest. */
  readonly calmMs: number;
  /** Starts the processes and the clients. */
  start(world: World, processes: number): Running;
}

export interface Running {
  readonly deployment: Deployment;
  /** The end, after a calm: what has to be true then. */
  finish(): void;
  /** Frees what the simulation holds outside, such as files. */
  close?(): void;
}
