// Reports causes to receivers. Checks the causes every few seconds, and begins the deliveries of the messages that are due (deliveries.ts).

import type { Cause } from '../shared/contracts/cause.ts';
import { Deliveries, type DeliveriesOptions } from './deliveries.ts';
import { isInWindow, matchesPattern } from './matching.ts';
import { boundedCause, type EffectOf, messageIdOf, noteOf } from './message.ts';
import { afterCheck, type Outbox } from './outbox.ts';
import { outboxOf } from './outboxes.ts';
import { type AlertsReport, type ReceiversStatus, receiversStatus, reportOf } from './report.ts';
import type { AlertSettings } from './settings.ts';
import { Speaker } from './speaker.ts';
import type { AlertStore, Silence } from './store.ts';

export interface AlertsInForce {
  /** The alert settings of the configuration; undefined if there are none. */
  readonly settings?: AlertSettings | undefined;
  /** The public address of the gateway. */
  readonly gateway: string;
  /** Tells the gateway from others, if its public address does not. */
  readonly deployment?: string | undefined;
}

export interface AlertsOptions extends DeliveriesOptions {
  /** Returns the alerts in force. Rejects if no process of the gateway can answer now. */
  inForce(): Promise<AlertsInForce>;
  /** Returns the causes of all instances, or only the causes of this instance. */
  causes(of: 'all' | 'self'): Promise<readonly Cause[]>;
  /** Returns the text of the figures of several times of a cause; absent if messages say those of the last time. */
  readonly effectOf?: EffectOf;
  /** The name of this instance in causes. */
  readonly instance: string;
  readonly store: AlertStore;
  /** The address at which operators open the console, if the settings name none. */
  readonly consoleUrl: string;
  /** Returns false while the gateway starts or ends, because parts that are missing during that time are not reported. */
  isServing(): boolean;
  /** Milliseconds between two checks; by default 3000. */
  readonly checkMs?: number;
}

const CHECK_MS = 3000;
const FIRST_CHECK_MS = 500;

export class AlertMonitor {
  readonly #options: AlertsOptions;
  readonly #speaker: Speaker;
  readonly #ended = new AbortController();
  readonly #deliveries: Deliveries;
  #inForce: AlertsInForce | undefined;
  #checking: Promise<void> | undefined;
  #timer: NodeJS.Timeout;

  /** Starts the checks. */
  constructor(options: AlertsOptions) {
    this.#options = options;
    this.#speaker = new Speaker(options.store, options.instance, options.now);
    this.#deliveries = new Deliveries(this.#speaker, options, this.#ended.signal);
    this.#timer = this.#checkIn(options.checkMs ?? FIRST_CHECK_MS);
  }

  /** For `/status`. */
  status(): ReceiversStatus {
    return receiversStatus(this.#inForce?.settings, this.#speaker.outboxes());
  }

  report(): AlertsReport {
    const settings = this.#inForce?.settings;
    const isSilent = (id: string) => settings !== undefined && this.#isSilent(id, settings);
    return reportOf(settings, this.#speaker.outboxes(), this.#speaker.silences(), isSilent);
  }

  /** Rejects while the store cannot be reached. */
  async silence(silence: Silence): Promise<void> {
    await this.#options.store.setSilence(silence);
    await this.#speaker.take();
  }

  /** Resolves with false if there was no such silence. Rejects while the store cannot be reached. */
  async endSilence(causes: string): Promise<boolean> {
    const wasThere = await this.#options.store.endSilence(causes);
    await this.#speaker.take();
    return wasThere;
  }

  /** Ends the deliveries in progress. The next start sends these messages again. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#ended.abort();
    await this.#checking;
    await this.#deliveries.settled();
    await this.#options.store.close();
  }

  #checkIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#checking = this.#check()
        .catch((error) => this.#options.logger.error({ err: error }, 'the causes of alerts could not be read'))
        .finally(() => {
          this.#checking = undefined;
          if (!this.#ended.signal.aborted) this.#timer = this.#checkIn(this.#options.checkMs ?? CHECK_MS);
        });
    }, ms).unref();
  }

  async #check(): Promise<void> {
    const { isServing, inForce, causes, now } = this.#options;
    const speaker = this.#speaker;
    if (!isServing()) return;
    this.#inForce = await inForce().catch(() => this.#inForce);
    const settings = this.#inForce?.settings;
    if (settings === undefined || !(await speaker.take())) return;
    const found = (await causes(speaker.isAlone() ? 'self' : 'all')).map(boundedCause);
    // The causes of a gateway that has begun to end during this check are not reported.
    if (this.#ended.signal.aborted || !isServing()) return;
    const after = Object.keys(settings.receivers).map((name): [string, Outbox] => [
      name,
      this.#afterCheck(name, found, settings),
    ]);
    // The outbox is written before a message is sent, so that if this instance crashes, the next speaker sends the message under the same
    // id.
    if (!(await speaker.write(Object.fromEntries(after)))) return;
    for (const [name, { sending }] of after) {
      const receiver = settings.receivers[name];
      if (receiver !== undefined && sending !== undefined && sending.nextMs <= now())
        this.#deliveries.begin(name, receiver);
    }
  }

  #afterCheck(receiver: string, causes: readonly Cause[], settings: AlertSettings): Outbox {
    const { now, consoleUrl } = this.#options;
    const before = outboxOf(this.#speaker.outboxes(), receiver);
    return afterCheck(before ?? { alerts: {} }, {
      receiver,
      settings: settings.receivers[receiver] as AlertSettings['receivers'][string],
      causes: [...causes, ...this.#speaker.assumed(before, causes)],
      rules: settings,
      isSilent: (id) => this.#isSilent(id, settings),
      isDelegated: (id) => this.#speaker.delegates(id),
      isEndDelegated: (alert) => this.#speaker.delegatesEnd(alert),
      messageOf: (due) => ({
        id: messageIdOf(receiver, due),
        atMs: now(),
        gateway: this.#inForce?.gateway ?? '',
        deployment: this.#inForce?.deployment,
        notes: due.map((one) =>
          noteOf(one.state, one.alert, settings.consoleUrl ?? consoleUrl, this.#options.effectOf),
        ),
      }),
      nowMs: now(),
    });
  }

  #isSilent(id: string, { silences: windows }: AlertSettings): boolean {
    const isNamed = ({ causes }: Silence) => matchesPattern(causes, id);
    if (this.#speaker.silences().some(isNamed)) return true;
    const nowMs = this.#options.now();
    return windows.some((one) => one.causes.some((pattern) => matchesPattern(pattern, id)) && isInWindow(one, nowMs));
  }
}
