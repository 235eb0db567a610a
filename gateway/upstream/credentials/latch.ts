// What the upstream has said about the gateway's credential. A refused one is latched: it is not sent again, except by probes.
//
//   state      meaning                                     event                                            next state
//   unproven   nothing was said: access.ts lets one        a request is accepted                            proven
//              request at a time pass                      a request is refused                             refused
//   proven     the secret was accepted                     a request is refused                             refused
//   refused    the secret was refused: single requests     a probe is accepted                              proven
//              probe it (probe-turns.ts), unless the       the probe of another process is accepted, the    unproven
//              login itself was wrong                      secret is written again, or an operator asks
//
// In each state, another secret is unproven. A secret that is missing or cannot be parsed latches the credential in each state
// (credential-secret.ts).

import type { CredentialHeader } from './credential-kinds.ts';
import { type ProbeOptions, ProbeTurns } from './probe-turns.ts';

export interface LatchOptions extends ProbeOptions {
  /** Called when the upstream accepts requests again, for the first time since a refusal. */
  onAccepted?(): void;
}

export class Latch {
  state: 'unproven' | 'proven' | 'refused' = 'unproven';
  readonly #options: LatchOptions;
  readonly #turns: ProbeTurns;
  /** The time of writing of the refused secret. */
  #refusedWrittenAt: number | undefined;
  /** Whether the upstream has accepted nothing since the last refusal. */
  #isAfterRefusal = false;

  /** @param onHealed called when the probe of another process was accepted */
  constructor(options: LatchOptions, onHealed: () => void) {
    this.#options = options;
    this.#turns = new ProbeTurns(options, () => {
      this.beginAnew();
      onHealed();
    });
  }

  /** Call it when there is another secret, or when the refused one may be sent again. */
  beginAnew(): void {
    this.#become('unproven');
  }

  /** @param at when the secret was last written; undefined if that cannot be known */
  written(at: number | undefined): void {
    if (this.state === 'refused' && at !== this.#refusedWrittenAt) this.beginAnew();
  }

  /**
   * Call it when the upstream has accepted the header. Returns false for an acceptance that arrives after a refusal: it belongs to an
   * earlier request, and says nothing.
   */
  accepted(header: CredentialHeader): boolean {
    if (this.state !== 'unproven' && !this.#turns.isProbe(header)) return false;
    this.#become('proven');
    if (this.#isAfterRefusal) this.#options.onAccepted?.();
    this.#isAfterRefusal = false;
    return true;
  }

  /** @param writtenAt when the refused secret was last written */
  refused(status: number, writtenAt: number | undefined): void {
    this.state = 'refused';
    this.#refusedWrittenAt = writtenAt;
    this.#isAfterRefusal = true;
    this.#turns.latched(status);
  }

  /** Call it at each answer: if the header is that of the probe, no probe is in progress any more. */
  answered(header: CredentialHeader): void {
    this.#turns.answered(header);
  }

  /** Returns the header of a probe; undefined if none may be sent now. */
  probe(header: CredentialHeader): CredentialHeader | undefined {
    return this.#turns.take(header);
  }

  /** Asks for a probe if one may be due. Never rejects. */
  awaitProbe(): Promise<void> | undefined {
    return this.#turns.askIfDue();
  }

  #become(next: 'unproven' | 'proven'): void {
    this.state = next;
    this.#turns.end();
  }
}
