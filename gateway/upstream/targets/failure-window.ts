// How many attempts of the last seconds were sent, and how many failed. Constant work per attempt, no timers.

/** The window advances by one slot at a time. */
const SLOTS = 10;

export class FailureWindow {
  /** Attempts in the window. */
  sent = 0;
  /** Those of them that failed. */
  failed = 0;
  readonly #sentBySlot = new Array<number>(SLOTS).fill(0);
  readonly #failedBySlot = new Array<number>(SLOTS).fill(0);
  #slot = 0;

  add(nowMs: number, windowSeconds: number, hasFailed: boolean): void {
    this.#moveTo(Math.floor((nowMs * SLOTS) / (windowSeconds * 1000)));
    const at = this.#slot % SLOTS;
    this.#sentBySlot[at] = (this.#sentBySlot[at] as number) + 1;
    this.sent += 1;
    if (!hasFailed) return;
    this.#failedBySlot[at] = (this.#failedBySlot[at] as number) + 1;
    this.failed += 1;
  }

  empty(): void {
    this.#sentBySlot.fill(0);
    this.#failedBySlot.fill(0);
    this.sent = 0;
    this.failed = 0;
  }

  /** Removes the counts of slots that have left the window. */
  #moveTo(slot: number): void {
    for (let left = Math.min(SLOTS, slot - this.#slot); left > 0; left--) {
      const leaving = (slot - left + 1) % SLOTS;
      this.sent -= this.#sentBySlot[leaving] as number;
      this.failed -= this.#failedBySlot[leaving] as number;
      this.#sentBySlot[leaving] = 0;
      this.#failedBySlot[leaving] = 0;
    }
    this.#slot = slot;
  }
}
