// The ordered list of the gateway's long-lived parts, opened from top to bottom and closed in reverse. Reload, `/status` and shutdown are
// loops over it.

import type { Configuration } from '../configuration.ts';
import type { StoreStates } from '../console/stores.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import type { Mistake } from '../shared/mistakes.ts';

/** The members of `/status` that are not about stores. */
type OtherMember =
  | 'certificates'
  | 'configuration'
  | 'disk'
  | 'issuers'
  | 'missing_tiers'
  | 'open_streams'
  | 'operations'
  | 'overload'
  | 'redis'
  | 'upstreams';

type StatusMembers = { readonly [Name in keyof StoreStates | OtherMember]?: unknown };

export interface Part {
  readonly name: string;
  /** Finds mistakes that depend on more than the configuration files, such as a missing secret. */
  check?(next: Configuration): readonly Mistake[];
  /** Puts a checked configuration in force, in one synchronous step. Called with the earlier one again if a later part throws. */
  apply?(next: Configuration): void;
  /** Returns the members that this part adds to `/status`. console/stores.ts lists the members about stores. */
  status?(): StatusMembers;
  /** Finishes work in progress, within `drainMs`. */
  drain?(drainMs: number): Awaitable<void>;
  close?(): Awaitable<unknown>;
}

export interface Parts {
  /** Adds the next part, which may use the parts before it. */
  add(part: Part): void;
  check(next: Configuration): Mistake[];
  /** Puts a configuration in force in every part. If a part throws, puts `inForce` in force again and throws that error. */
  apply(next: Configuration, inForce: Configuration): void;
  status(): object;
  drain(drainMs: number): Promise<void>;
  /** Closes every part, the last one first. Continues after a failure, and then rejects with the first error. */
  close(): Promise<void>;
}

export function createParts(): Parts {
  const parts: Part[] = [];
  const inReverse = () => parts.toReversed();

  return {
    add: (part) => void parts.push(part),
    check: (next) => parts.flatMap((part) => part.check?.(next) ?? []),
    apply(next, inForce) {
      try {
        for (const part of parts) part.apply?.(next);
      } catch (error) {
        // All parts switch back, including the part that threw, which may have switched a part of its state.
        for (const part of parts) {
          try {
            part.apply?.(inForce);
          } catch {
            // The error is dropped, because the first one is the reason to report, and the other parts still have to switch back.
          }
        }
        throw error;
      }
    },
    status: () => Object.assign({}, ...parts.map((part) => part.status?.())),
    async drain(drainMs) {
      await Promise.all(inReverse().map((part) => part.drain?.(drainMs)));
    },
    async close() {
      const failures: unknown[] = [];
      for (const part of inReverse()) {
        try {
          await part.close?.();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
