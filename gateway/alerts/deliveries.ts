// Delivers the messages of the outboxes. Each receiver has its own delivery, so that a receiver that hangs delays neither the next check
// nor another receiver.

import type { AlertMessage } from './message.ts';
import { afterDelivery, afterFailure, type Outbox } from './outbox.ts';
import { outboxOf } from './outboxes.ts';
import { type ReceiverDeps, sendTo } from './receiver.ts';
import type { ReceiverSettings } from './settings.ts';
import type { Speaker } from './speaker.ts';

export interface DeliveriesOptions extends ReceiverDeps {
  readonly logger: Readonly<Record<'info' | 'warn' | 'error', (about: object, text: string) => void>>;
  onOutcome(receiver: string, outcome: 'delivered' | 'failed' | 'given_up'): void;
}

export class Deliveries {
  readonly #speaker: Speaker;
  readonly #options: DeliveriesOptions;
  readonly #ended: AbortSignal;
  readonly #inProgress = new Map<string, Promise<void>>();

  /** @param ended ends the deliveries in progress */
  constructor(speaker: Speaker, options: DeliveriesOptions, ended: AbortSignal) {
    this.#speaker = speaker;
    this.#options = options;
    this.#ended = ended;
  }

  /** Delivers the message in the outbox of the receiver. Has no effect while a delivery to it is in progress. */
  begin(receiver: string, settings: ReceiverSettings): void {
    if (this.#inProgress.has(receiver)) return;
    const delivery = this.#deliver(receiver, settings).finally(() => this.#inProgress.delete(receiver));
    this.#inProgress.set(receiver, delivery);
  }

  /** Resolves when no delivery is in progress. */
  async settled(): Promise<void> {
    await Promise.all(this.#inProgress.values());
  }

  async #deliver(receiver: string, settings: ReceiverSettings): Promise<void> {
    const speaker = this.#speaker;
    const message = outboxOf(speaker.outboxes(), receiver)?.sending?.message;
    if (message === undefined) return;
    const failure = await sendTo(settings, message, this.#options, this.#ended).then(
      () => undefined,
      (error: Error) => error.message,
    );
    // Another instance may have become the speaker during the delivery. Its outbox is used, and this result is discarded.
    const outbox = outboxOf(speaker.outboxes(), receiver);
    if (this.#ended.aborted || outbox?.sending?.message.id !== message.id) return;
    const nowMs = this.#options.now();
    const next =
      failure === undefined ? afterDelivery(outbox, nowMs) : afterFailure(outbox, failure, nowMs, Math.random());
    this.#note(receiver, message, outbox, next);
    await speaker.write({ ...speaker.outboxes(), [receiver]: next });
  }

  #note(receiver: string, { id, notes }: AlertMessage, before: Outbox, { failing, sending }: Outbox): void {
    const { logger, onOutcome } = this.#options;
    const about = { receiver, message: id, causes: notes.map((one) => `${one.state} ${one.id}`) };
    if (failing === undefined) {
      onOutcome(receiver, 'delivered');
      logger.info(about, 'alerts were sent');
      return;
    }
    onOutcome(receiver, 'failed');
    if (sending === undefined) onOutcome(receiver, 'given_up');
    const { reason } = failing;
    if (sending === undefined) logger.error({ ...about, reason }, 'alerts were given up');
    else if (before.failing === undefined)
      logger.warn({ ...about, reason }, 'alerts could not be sent; they are tried again');
  }
}
