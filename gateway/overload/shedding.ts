// What is refused because there is too much of it: counted by reason, and told when it begins and when it is over.

/** Why a request was refused at once. `upstream_wait`: it had waited for an upstream as long as it could. */
export type ShedReason =
  | 'event_loop'
  | 'in_flight'
  | 'organization'
  | 'buffered_bytes'
  | 'upstream_queue'
  | 'upstream_wait';

/** Between two refusals of one overload there may be this much time. */
const QUIET_MS = 2000;
const CHECKED_EVERY_MS = 500;

export interface SheddingOptions {
  /** @param upstream undefined: the gateway itself has too much to do */
  onBegin(upstream: string | undefined, reason: ShedReason): void;
  /** @param shed how many were refused from beginning to end */
  onEnd(upstream: string | undefined, shed: number, durationMs: number): void;
  onShed(reason: ShedReason): void;
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
}

export interface Shedding {
  note(reason: ShedReason, upstream?: string): void;
  /** Whether requests are refused these days: toward an upstream, or by the gateway itself. */
  isShedding(upstream?: string): boolean;
  stop(): void;
}

interface Episode {
  readonly beganAtMs: number;
  lastAtMs: number;
  shed: number;
}

export function createShedding({ onBegin, onEnd, onShed, now }: SheddingOptions): Shedding {
  const episodes = new Map<string | undefined, Episode>();
  let checking: NodeJS.Timeout | undefined;

  function check(): void {
    const nowMs = now();
    for (const [upstream, { beganAtMs, lastAtMs, shed }] of episodes) {
      if (nowMs - lastAtMs < QUIET_MS) continue;
      episodes.delete(upstream);
      onEnd(upstream, shed, lastAtMs - beganAtMs);
    }
    if (episodes.size === 0) stop();
  }

  function stop(): void {
    clearInterval(checking);
    checking = undefined;
  }

  return {
    note(reason, upstream) {
      const nowMs = now();
      onShed(reason);
      const known = episodes.get(upstream);
      if (known !== undefined) {
        known.shed += 1;
        known.lastAtMs = nowMs;
        return;
      }
      episodes.set(upstream, { beganAtMs: nowMs, lastAtMs: nowMs, shed: 1 });
      checking ??= setInterval(check, CHECKED_EVERY_MS).unref();
      onBegin(upstream, reason);
    },
    isShedding: (upstream) => episodes.has(upstream),
    stop,
  };
}
