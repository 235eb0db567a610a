// The connections of a pool that carry no request.

import type { Connection } from './connection.ts';

export class FreeConnections {
  /** The connection that was used last is taken first, so that the others stay idle and close. */
  readonly #free: Connection[] = [];
  /**
   * The connections that became free in this turn. They are reused in the next turn, because an upstream often closes the connection after
   * its answer, and the pool notices that only in the next turn.
   */
  readonly #resting: Connection[] = [];
  /** Connections that were established since requests were last sent. */
  readonly #fresh: Connection[] = [];

  add(established: Connection): void {
    this.#free.push(established);
    this.#fresh.push(established);
  }

  rest(connection: Connection): void {
    this.#resting.push(connection);
  }

  remove(connection: Connection): void {
    for (const list of [this.#free, this.#resting]) {
      const at = list.indexOf(connection);
      if (at !== -1) list.splice(at, 1);
    }
  }

  /** Takes a connection; undefined if all rest, or if there is none. */
  take(): Connection | undefined {
    return this.#free.pop();
  }

  get restingCount(): number {
    return this.#resting.length;
  }

  get count(): number {
    return this.#free.length + this.#resting.length;
  }

  isFresh(connection: Connection): boolean {
    return this.#fresh.includes(connection);
  }

  /** Call it when requests have been sent. */
  forgetFresh(): void {
    this.#fresh.length = 0;
  }

  /** Ends the rest of all resting connections, and frees them. Returns false if there were none. */
  endRest(): boolean {
    if (this.#resting.length === 0) return false;
    for (const connection of this.#resting.splice(0)) {
      if (connection.isDrained) this.#free.push(connection);
      else connection.end();
    }
    return true;
  }

  endAll(): void {
    for (const connection of [...this.#free, ...this.#resting]) connection.end();
  }

  /** Ends the connections that may have carried a request. */
  endUsed(): void {
    for (const connection of [...this.#free, ...this.#resting]) if (!this.isFresh(connection)) connection.end();
  }
}
