// Events by time; those of the same time in the order in which they were added.

export interface ScheduledEvent {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  isCancelled: boolean;
}

/** A binary heap. */
export class EventQueue {
  readonly #heap: ScheduledEvent[] = [];
  #order = 0;

  add(atMs: number, run: () => void): ScheduledEvent {
    this.#order += 1;
    const event = { atMs, order: this.#order, run, isCancelled: false };
    this.#heap.push(event);
    this.#rise(this.#heap.length - 1);
    return event;
  }

  /** The next event that is not cancelled, if it is due by then. */
  take(untilMs: number): ScheduledEvent | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.atMs > untilMs) return undefined;
      const last = this.#heap.pop() as ScheduledEvent;
      if (last !== first) {
        this.#heap[0] = last;
        this.#sink(0);
      }
      if (!first.isCancelled) return first;
    }
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(from: number): void {
    let at = from;
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < this.#heap.length && this.#isBefore(child, least)) least = child;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one] as ScheduledEvent, this.#heap[other] as ScheduledEvent];
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  #swap(one: number, other: number): void {
    const held = this.#heap[one] as ScheduledEvent;
    this.#heap[one] = this.#heap[other] as ScheduledEvent;
    this.#heap[other] = held;
  }
}
