// The latch of the gateway's credential at one upstream: whether the upstream has accepted or refused the secret. A refused secret is
// latched: only probes send it.
//
//   state      meaning                                     event                                            next state
//   unproven   the upstream has not judged the secret      a request is accepted                            proven
//              yet; one request at a time is sent          a request is refused                             latched
//              (`#limitOf` in upstream/access.ts)          a request that needs no secret is accepted       unproven, but
//                                                                                                           several are sent
//   proven     the secret was accepted                     a request is refused                             latched
//   latched    the secret was refused: single requests     a probe is accepted                              proven
//              probe it, unless the login itself was       a probe of another process is accepted           unproven
//              wrong                                       the secret is written again                      unproven
//                                                          an operator asks for another try, or an address  unproven
//                                                          of the upstream changes
//
// When the secret is replaced by another one, the state becomes `unproven`, whatever it was. While the secret is missing or cannot be
// parsed, requests are suspended and the state stays (`CredentialSecret` in credential-secret.ts). All instances share one schedule of
// probes (latch-probes.ts).

import { isLoginRefusal } from '../../shared/http/words.ts';
import type { CredentialHeader } from './credential-kinds.ts';
import type { LatchProbes } from './latch-probes.ts';
import type { ProbeTurn } from './probe-schedule.ts';

/** The pause between two attempts to read the schedule of the probes while it cannot be read. */
const ASK_AGAIN_MS = 30_000;

export interface LatchOptions {
  /** Gives the processes turns, in which they may probe a latched credential. */
  readonly probes: LatchProbes;
  /** Epoch milliseconds. */
  now(): number;
}

export class Latch {
  state: 'unproven' | 'proven' | 'latched' = 'unproven';
  /** Whether several requests may be sent at a time. */
  sendsSeveral = false;
  readonly #upstream: string;
  readonly #options: LatchOptions;
  readonly #onHealed: () => void;
  /** When the refused secret was written. */
  #refusedWrittenAt: number | undefined;
  /** Whether the upstream has accepted nothing since the last refusal. */
  #isAfterRefusal = false;
  #latchedAtMs = 0;
  #isLoginRefused = false;
  /** When this process asks for a turn. Infinity (it never asks) while the credential is not latched, or after a refused login. */
  #askAtMs = Number.POSITIVE_INFINITY;
  #mayProbe = false;
  /** Number of probes that were sent. */
  #probes = 0;
  /** The number of the probe in progress. */
  #probe: number | undefined;

  /** @param onHealed called when this process learns from the schedule that the probe of another process was accepted */
  constructor(upstream: string, options: LatchOptions, onHealed: () => void) {
    this.#upstream = upstream;
    this.#options = options;
    this.#onHealed = onHealed;
  }

  /** Call it when there is another secret, or when the refused secret may be sent again. */
  becomeUnproven(): void {
    this.#become('unproven');
  }

  /**
   * Call it when the secret of a latched credential is read. If the secret was written again since the refusal, it may be sent again.
   *
   * @param writtenAt when the secret was last written; undefined if that cannot be known
   */
  noteWritten(writtenAt: number | undefined): void {
    if (writtenAt !== this.#refusedWrittenAt) this.becomeUnproven();
  }

  /**
   * Call it when the upstream has accepted the header. If the secret was refused in the meantime, only the header of the probe has an
   * effect, because requests with other headers were sent before the refusal.
   *
   * @param isProof false for an operation that needs no credential: its success proves only that the upstream does not lock the gateway
   * out. It permits several requests at a time, too, because a service may get no other requests.
   */
  accepted(header: CredentialHeader, isProof: boolean): void {
    if (this.state !== 'unproven' && !this.#isProbe(header)) return;
    this.sendsSeveral = true;
    if (!isProof) return;
    this.#become('proven');
    if (this.#isAfterRefusal) void this.#options.probes.healed(this.#upstream, this.#options.now());
    this.#isAfterRefusal = false;
  }

  /** @param writtenAt when the refused secret was last written */
  refused(status: number, writtenAt: number | undefined): void {
    this.state = 'latched';
    this.sendsSeveral = false;
    this.#refusedWrittenAt = writtenAt;
    this.#isAfterRefusal = true;
    this.#mayProbe = false;
    // After a refused login no probe is sent, because the upstream may count each probe toward a ban of the gateway.
    this.#isLoginRefused ||= isLoginRefusal(status);
    if (this.#isLoginRefused) this.#askAtMs = Number.POSITIVE_INFINITY;
    else if (this.#askAtMs === Number.POSITIVE_INFINITY) {
      this.#latchedAtMs = this.#options.now();
      this.#askAtMs = this.#latchedAtMs;
      void this.askIfDue();
    }
  }

  /** Asks for a turn to probe if one may be due. Until the answer has come, other requests do not ask. Never rejects. */
  askIfDue(): Promise<void> | undefined {
    const { probes, now } = this.#options;
    const nowMs = now();
    if (nowMs < this.#askAtMs) return undefined;
    this.#askAtMs = nowMs + ASK_AGAIN_MS;
    return probes.take(this.#upstream, this.#latchedAtMs, nowMs).then(
      (turn) => this.#use(turn),
      () => undefined,
    );
  }

  /** Returns the header of a probe, if this process has a turn. `accepted` and `endProbe` recognize the probe by its number. */
  probe(header: CredentialHeader): CredentialHeader | undefined {
    if (!this.#mayProbe) return undefined;
    this.#mayProbe = false;
    this.#probes += 1;
    this.#probe = this.#probes;
    return { ...header, probe: this.#probe };
  }

  /** Ends the probe in progress, if this is the header of that probe. Call it at each refusal. */
  endProbe(header: CredentialHeader): void {
    if (this.#isProbe(header)) this.#probe = undefined;
  }

  #isProbe({ probe }: CredentialHeader): boolean {
    return probe !== undefined && probe === this.#probe;
  }

  #become(next: 'unproven' | 'proven'): void {
    this.state = next;
    this.sendsSeveral = next === 'proven';
    this.#askAtMs = Number.POSITIVE_INFINITY;
    this.#mayProbe = false;
    this.#probe = undefined;
    this.#isLoginRefused = false;
  }

  #use(turn: ProbeTurn): void {
    if (this.#askAtMs === Number.POSITIVE_INFINITY) return;
    this.#askAtMs = turn.nextAtMs;
    this.#mayProbe = turn.kind === 'probe';
    if (turn.kind !== 'healed') return;
    this.becomeUnproven();
    this.#onHealed();
  }
}
