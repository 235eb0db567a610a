// Checks from outside which configuration is in force: one that was on the disk of its process and had no mistake, and soon after a change,
// or when an operator who asked for it is told, the latest; and whether the status tells of a failure. It knows the disks and what was out
// of order, and nothing of loads and watches.

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
  #askedMs = 0;

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

  /** A process that ends has put a version in force. */
  stopped(version: string): void {
    this.#world.violate('configuration', `${this.#place} puts version ${version} in force, although it ends`);
  }

  /** An operator asks for a reload. */
  ask(): void {
    this.#askedMs = this.#world.now();
  }

  /** An operator who had asked for this state is told that it is loaded, and the disk has not changed since. */
  asked({ version, isGood }: DiskState, isFailing: boolean): void {
    // Files that could not be read are a failure, too.
    if (isFailing || (isGood && this.#inForce === version)) return;
    this.#world.violate('configuration', `${this.#place} says that version ${version} is loaded, and it is not`);
  }

  /**
   * @param runsSinceMs since when the process has run without a pause; undefined: it does not run
   * @param isFailing whether its status tells of a failure
   */
  look(runsSinceMs: number | undefined, isFailing: boolean): void {
    const latest = this.#states.at(-1);
    if (latest === undefined || runsSinceMs === undefined) return;
    if (this.#world.now() - Math.max(latest.sinceMs, runsSinceMs) < IN_FORCE_MS) return;
    // A load that was asked for may find files that cannot be read for a moment.
    if (latest.isGood === isFailing && this.#world.now() - this.#askedMs >= IN_FORCE_MS)
      this.#world.violate(
        'status',
        `${this.#place} tells of ${isFailing ? 'a' : 'no'} failure of version ${latest.version}`,
      );
    const wanted = this.#states.findLast(({ isGood }) => isGood)?.version;
    if (latest.isGood && this.#inForce !== wanted)
      this.#world.violate(
        'configuration',
        `${this.#place} has version ${this.#inForce} in force, and ${wanted} lies on its disk`,
      );
  }
}
