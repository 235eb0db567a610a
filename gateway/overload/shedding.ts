// Counts requests shed by overload, by reason, and reports the beginning and end of each overload.

/** The reason for the refusal. `upstream_wait`: the request had waited for an upstream until its limit. */
export type ShedReason =
  | 'event_loop'
  | 'in_flight'
  | 'organization'
  | 'buffered_bytes'
  | 'upstream_queue'
  | 'upstream_wait';

/** An overload has ended after this time without a refusal. */
const QUIET_MS = 2000;
const CHECKED_EVERY_MS = 500;

interface SheddingOptions {
  /** Called when an overload begins. @param upstream undefined if the gateway itself is overloaded */
  onBegin(upstream: string | undefined, reason: ShedReason): void;
  /** Called when an overload ends. @param shed number of requests refused during the overload */
  onEnd(upstream: string | undefined, shed: number, durationMs: number): void;
  onShed(reason: ShedReason): void;
  /** Milliseconds of a monotonic clock. */
  now(): number;
}

export interface Shedding {
  note(reason: ShedReason, upstream?: string): void;
  /** Whether an overload is in progress: of an upstream, or of the gateway itself. */
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
