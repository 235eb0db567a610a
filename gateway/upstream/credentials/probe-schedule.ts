// The schedule of the probes of one latched credential: when a process may send the next one. Pure.

import { DAY_MS } from '../../shared/durations.ts';

const FIRST_WAIT_MS = 30_000;
/** The longest wait between two probes. */
export const LONGEST_WAIT_MS = 3 * 3_600_000;
/** Maximum number of probes in 24 hours, over all instances. An upstream may ban a client by the number of refused requests in a day. */
const PROBES_A_DAY_MAX = 12;

/** The schedule of one upstream. */
export interface ProbeState {
  /** Probes since the credential was latched; undefined while it is not. */
  readonly probes?: number | undefined;
  readonly nextAtMs?: number | undefined;
  /** Epoch milliseconds of the probes of the last 24 hours. */
  readonly sentAtMs: readonly number[];
  /** When a probe was last accepted. */
  readonly healedAtMs?: number | undefined;
}

/** `probe`: this process may send one request. `healed`: the probe of another process was accepted. */
export interface ProbeTurn {
  readonly kind: 'wait' | 'probe' | 'healed';
  /** When the process may ask again. */
  readonly nextAtMs: number;
}

/** Returns the turn of a process, and the schedule after it. */
export function probeTurnAt(
  state: ProbeState,
  latchedAtMs: number,
  nowMs: number,
): { turn: ProbeTurn; after: ProbeState } {
  const sentAtMs = state.sentAtMs.filter((at) => at <= nowMs && at > nowMs - DAY_MS);
  const { probes, healedAtMs = 0 } = state;
  // A process whose clock was wrong may have stored this time, so a time more than a day ahead is treated as due.
  const nextAtMs = (state.nextAtMs ?? 0) > nowMs + DAY_MS ? 0 : (state.nextAtMs ?? 0);
  if (healedAtMs > latchedAtMs && healedAtMs <= nowMs)
    return { turn: { kind: 'healed', nextAtMs: nowMs }, after: state };
  const waitUntil = (at: number, count: number) => ({
    turn: { kind: 'wait', nextAtMs: at } as const,
    after: { ...state, sentAtMs, probes: count, nextAtMs: at },
  });
  if (probes === undefined) return waitUntil(nowMs + FIRST_WAIT_MS, 0);
  if (nowMs < nextAtMs) return waitUntil(nextAtMs, probes);
  if (sentAtMs.length >= PROBES_A_DAY_MAX) return waitUntil((sentAtMs[0] as number) + DAY_MS, probes);
  const at = nowMs + Math.min(FIRST_WAIT_MS * 2 ** (probes + 1), LONGEST_WAIT_MS);
  const after = { ...state, probes: probes + 1, nextAtMs: at, sentAtMs: [...sentAtMs, nowMs] };
  return { turn: { kind: 'probe', nextAtMs: at }, after };
}

/** Returns the schedule after a probe was accepted, or after the secret was replaced. */
export function healedAt({ sentAtMs }: ProbeState, nowMs: number): ProbeState {
  return { sentAtMs, healedAtMs: nowMs };
}

/** Parses a stored schedule. Returns an empty schedule if the text cannot be parsed. */
export function parseProbeState(text: string | null): ProbeState {
  try {
    const state = JSON.parse(text ?? '') as ProbeState;
    return Array.isArray(state.sentAtMs) ? state : { sentAtMs: [] };
  } catch {
    return { sentAtMs: [] };
  }
}
