// The probes of a latched credential: asks for turns by the schedule of latch-probes.ts, which all instances share, and knows the header of
// the probe in progress.

import type { CredentialHeader } from './credential-kinds.ts';
import type { ProbeTurn } from './latch-probes.ts';

/** The statuses by which an upstream refuses a login. It may count them toward a ban, so they are never probed. */
const loginStatuses = new Set([401, 407]);

/** Milliseconds until the next question for a turn, after the store of the turns did not answer. */
const ASK_AGAIN_MS = 30_000;

export interface ProbeOptions {
  /** Asks for a turn to probe the latched credential. */
  takeTurn?(latchedAtMs: number): Promise<ProbeTurn>;
  /** Epoch milliseconds. */
  now(): number;
}

export class ProbeTurns {
  readonly #options: ProbeOptions;
  readonly #onHealed: () => void;
  #latchedAtMs = 0;
  #isLoginRefused = false;
  /** The time at which to ask for a turn; infinite while the credential is not latched or must not be probed. */
  #askAtMs = Number.POSITIVE_INFINITY;
  #hasTurn = false;
  /** The header of the probe in progress. */
  #probe: CredentialHeader | undefined;

  /** @param onHealed called when the probe of another process was accepted */
  constructor(options: ProbeOptions, onHealed: () => void) {
    this.#options = options;
    this.#onHealed = onHealed;
  }

  /** Call it when the upstream has refused the credential with this status. */
  latched(status: number): void {
    this.#hasTurn = false;
    this.#isLoginRefused ||= loginStatuses.has(status);
    if (this.#isLoginRefused) this.#askAtMs = Number.POSITIVE_INFINITY;
    else if (this.#askAtMs === Number.POSITIVE_INFINITY) {
      this.#latchedAtMs = this.#options.now();
      void this.#ask();
    }
  }

  /** Call it when the credential is not latched any more. */
  end(): void {
    this.#askAtMs = Number.POSITIVE_INFINITY;
    this.#hasTurn = false;
    this.#probe = undefined;
    this.#isLoginRefused = false;
  }

  /** Asks for a turn if one may be due. Never rejects. */
  askIfDue(): Promise<void> | undefined {
    const mayAsk = this.#askAtMs !== Number.POSITIVE_INFINITY && this.#options.now() >= this.#askAtMs;
    return mayAsk ? this.#ask() : undefined;
  }

  /** Returns the header of the probe, if this process has a turn. It is a new object, by whose identity the answer is recognized. */
  take(header: CredentialHeader): CredentialHeader | undefined {
    if (!this.#hasTurn) return undefined;
    this.#hasTurn = false;
    this.#probe = { ...header };
    return this.#probe;
  }

  isProbe(header: CredentialHeader): boolean {
    return header === this.#probe;
  }

  /** Call it at each answer: if the header is that of the probe, no probe is in progress any more. */
  answered(header: CredentialHeader): void {
    if (this.isProbe(header)) this.#probe = undefined;
  }

  async #ask(): Promise<void> {
    const { takeTurn, now } = this.#options;
    if (takeTurn === undefined) return;
    // Other requests do not ask before this question is answered.
    this.#askAtMs = now() + ASK_AGAIN_MS;
    const turn = await takeTurn(this.#latchedAtMs).catch(() => undefined);
    if (turn === undefined || this.#askAtMs === Number.POSITIVE_INFINITY) return;
    this.#askAtMs = turn.nextAtMs;
    this.#hasTurn = turn.kind === 'probe';
    if (turn.kind === 'healed') this.#onHealed();
  }
}
