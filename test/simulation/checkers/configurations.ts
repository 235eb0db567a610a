// Checks from outside which configuration is in force: one that was on the disk of its process and had no mistake, and soon after a change the latest. It
// knows the disks and what was out of order, and nothing of loads and watches.

import type { World } from '../engine/world.ts';

/** In order, saved files are in force within this time: they have to lie still, are read, and checked. */
const IN_FORCE_MS = 10_000;

export interface DiskState {
  readonly version: number;
  readonly isGood: boolean;
}

export class ConfigurationChecker {
  readonly #world: World;
  readonly #place: string;
  /** The states of the disk, latest last, with the times at which they began. */
  readonly #states: (DiskState & { readonly sinceMs: number })[] = [];
  #inForce: number | undefined;

  constructor(world: World, place: string) {
    this.#world = world;
    this.#place = place;
  }

  saved(state: DiskState): void {
    this.#states.push({ ...state, sinceMs: this.#world.now() });
  }

  putInForce(version: number): void {
    const index = this.#states.findIndex((state) => state.version === version);
    const former = this.#states.findIndex((state) => state.version === this.#inForce);
    this.#inForce = version;
    if (this.#states[index]?.isGood !== true)
      this.#world.violate('configuration', `${this.#place} puts version ${version} in force, which has a mistake`);
    if (index < former) this.#world.violate('configuration', `${this.#place} goes back to version ${version}`);
  }

  /** @param runsSinceMs since when the process has run without a pause; undefined: it does not run */
  look(runsSinceMs: number | undefined): void {
    const latest = this.#states.at(-1);
    if (latest === undefined || runsSinceMs === undefined) return;
    if (this.#world.now() - Math.max(latest.sinceMs, runsSinceMs) < IN_FORCE_MS) return;
    const wanted = this.#states.findLast(({ isGood }) => isGood)?.version;
    if (latest.isGood && this.#inForce !== wanted)
      this.#world.violate(
        'configuration',
        `${this.#place} has version ${this.#inForce} in force, and ${wanted} lies on its disk`,
      );
  }
}
