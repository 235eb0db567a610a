// Sends messages about causes to receivers. It checks the causes every few seconds. Each receiver has its own delivery: a receiver that hangs
// delays neither the next check nor another receiver.

import { randomBytes } from 'node:crypto';
import type { Cause } from '../shared/contracts/cause.ts';
import type { AlertMessage } from './alert.ts';
import { isInWindow, matchesPattern } from './matching.ts';
import { boundedCause, noteOf } from './message.ts';
import { afterCheck, afterDelivery, afterFailure, type Outbox } from './outbox.ts';
import { type ReceiverDeps, sendTo } from './receiver.ts';
import { type AlertsReport, type ReceiversStatus, receiversStatus, reportOf } from './report.ts';
import type { AlertSettings } from './settings.ts';
import { createSpeaker, outboxOf } from './speaker.ts';
import type { AlertStore, Silence } from './store.ts';

export interface AlertsInForce {
  /** The settings of the configuration, if it has any. */
  readonly settings?: AlertSettings | undefined;
  /** The public address of the gateway. */
  readonly gateway: string;
}

export interface AlertsOptions extends ReceiverDeps {
  /** Returns the alerts in force. Rejects if no process of the gateway can answer at present. */
  inForce(): Promise<AlertsInForce>;
  /** Returns the causes of all instances, or those of this instance. */
  causes(of: 'all' | 'self'): Promise<readonly Cause[]>;
  /** The name of this instance, as causes have it. */
  readonly instance: string;
  readonly store: AlertStore;
  /** The address at which operators open the console, if the settings name none. */
  readonly consoleUrl: string;
  /** Returns false while the gateway starts or ends: parts that are missing during that time are not reported. */
  isServing(): boolean;
  readonly logger: Readonly<Record<'info' | 'warn' | 'error', (about: object, text: string) => void>>;
  onOutcome(receiver: string, outcome: 'delivered' | 'failed' | 'given_up'): void;
  /** Milliseconds between two checks; by default 3000. */
  readonly checkMs?: number;
}

export interface AlertsRun {
  /** For `/status`. */
  status(): ReceiversStatus;
  report(): AlertsReport;
  /** Rejects while the store is away. */
  silence(silence: Silence): Promise<void>;
  /** Resolves with false if there was no such silence. Rejects while the store is away. */
  endSilence(causes: string): Promise<boolean>;
  /** Ends the deliveries in progress. The next start sends these messages again. */
  stop(): Promise<void>;
}

const CHECK_MS = 3000;
const FIRST_CHECK_MS = 500;

export function startAlerts(options: AlertsOptions): AlertsRun {
  const { store, logger, now, onOutcome } = options;
  const speaker = createSpeaker(store, options.instance, now);
  const deliveries = new Map<string, Promise<void>>();
  const ended = new AbortController();
  let inForce: AlertsInForce | undefined;
  let checking: Promise<void> | undefined;
  let timer = setTimeout(checkAgain, options.checkMs ?? FIRST_CHECK_MS).unref();

  function checkAgain(): void {
    checking = check()
      .catch((error) => logger.error({ err: error }, 'the causes of alerts could not be read'))
      .finally(() => {
        checking = undefined;
        if (!ended.signal.aborted) timer = setTimeout(checkAgain, options.checkMs ?? CHECK_MS).unref();
      });
  }

  async function check(): Promise<void> {
    if (!options.isServing()) return;
    inForce = await options.inForce().catch(() => inForce);
    if (inForce?.settings === undefined || !(await speaker.take())) return;
    const { settings } = inForce;
    const found = await options.causes(speaker.isAlone() ? 'self' : 'all');
    const causes = found.map(boundedCause);
    // Do not report the causes of a gateway that has begun to end during this check.
    if (ended.signal.aborted || !options.isServing()) return;
    const before = speaker.outboxes();
    const after = Object.keys(settings.receivers).map((name): [string, Outbox] => [
      name,
      afterCheck(outboxOf(before, name) ?? { alerts: {} }, {
        receiver: name,
        settings: settings.receivers[name] as AlertSettings['receivers'][string],
        causes: [...causes, ...speaker.assumed(outboxOf(before, name), causes)],
        rules: settings,
        isSilent: (id) => isSilent(settings, id),
        isLeft: speaker.leaves,
        messageOf: (due) => messageOf(due.map((one) => noteOf(one, settings.consoleUrl ?? options.consoleUrl))),
        nowMs: now(),
      }),
    ]);
    // Write the outbox before sending a message: if this instance crashes, the next speaker sends the message under the same id.
    if (!(await speaker.write(Object.fromEntries(after)))) return;
    for (const [name, { sending }] of after) if (sending !== undefined && sending.nextMs <= now()) begin(name);
  }

  function isSilent({ silences: windows }: AlertSettings, id: string): boolean {
    const isNamed = ({ causes }: Silence) => matchesPattern(causes, id);
    if (speaker.silences().some(isNamed)) return true;
    return windows.some((one) => one.causes.some((pattern) => matchesPattern(pattern, id)) && isInWindow(one, now()));
  }

  function messageOf(notes: AlertMessage['notes']): AlertMessage {
    const id = `msg_${randomBytes(12).toString('hex')}`;
    return { id, atMs: now(), gateway: inForce?.gateway ?? '', notes };
  }

  function begin(receiver: string): void {
    if (deliveries.has(receiver)) return;
    const delivery = deliver(receiver).finally(() => deliveries.delete(receiver));
    deliveries.set(receiver, delivery);
  }

  async function deliver(receiver: string): Promise<void> {
    const settings = inForce?.settings?.receivers[receiver];
    const message = outboxOf(speaker.outboxes(), receiver)?.sending?.message;
    if (settings === undefined || message === undefined) return;
    const failure = await sendTo(settings, message, options, ended.signal).then(
      () => undefined,
      (error: Error) => error.message,
    );
    // Another instance may have become the speaker during the delivery. Its outbox counts, and this result does not.
    const outbox = outboxOf(speaker.outboxes(), receiver);
    if (ended.signal.aborted || outbox?.sending?.message.id !== message.id) return;
    const next = failure === undefined ? afterDelivery(outbox) : afterFailure(outbox, failure, now(), Math.random());
    note(receiver, message, outbox, next);
    await speaker.write({ ...speaker.outboxes(), [receiver]: next });
  }

  function note(receiver: string, { id, notes }: AlertMessage, before: Outbox, { failing, sending }: Outbox): void {
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

  return {
    status: () => receiversStatus(inForce?.settings, speaker.outboxes()),
    report: () =>
      reportOf(
        inForce?.settings,
        speaker.outboxes(),
        speaker.silences(),
        (id) => inForce?.settings !== undefined && isSilent(inForce.settings, id),
      ),
    async silence(silence) {
      await store.setSilence(silence);
      await speaker.take();
    },
    async endSilence(causes) {
      const wasThere = await store.endSilence(causes);
      await speaker.take();
      return wasThere;
    },
    async stop() {
      clearTimeout(timer);
      ended.abort();
      await checking;
      await Promise.all(deliveries.values());
      await store.close();
    },
  };
}
