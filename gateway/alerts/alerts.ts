// Reports causes to receivers: checks the causes every few seconds, and begins the deliveries of the messages that are due (deliveries.ts).

import { randomBytes } from 'node:crypto';
import type { Cause } from '../shared/contracts/cause.ts';
import { Deliveries, type DeliveriesOptions } from './deliveries.ts';
import { isInWindow, matchesPattern } from './matching.ts';
import { boundedCause, noteOf } from './message.ts';
import { afterCheck, type Outbox } from './outbox.ts';
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

export interface AlertsOptions extends DeliveriesOptions {
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
  const { store, logger, now } = options;
  const speaker = createSpeaker(store, options.instance, now);
  const ended = new AbortController();
  const deliveries = new Deliveries(speaker, options, ended.signal);
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
    const { settings, gateway } = inForce;
    const { consoleUrl = options.consoleUrl } = settings;
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
        isSilent: (id) => isSilent(id, settings),
        isLeft: speaker.leaves,
        messageOf: (due) => ({
          id: `msg_${randomBytes(12).toString('hex')}`,
          atMs: now(),
          gateway,
          notes: due.map((one) => noteOf(one, consoleUrl)),
        }),
        nowMs: now(),
      }),
    ]);
    // Write the outbox before sending a message: if this instance crashes, the next speaker sends the message under the same id.
    if (!(await speaker.write(Object.fromEntries(after)))) return;
    for (const [name, { sending }] of after) {
      const receiver = settings.receivers[name];
      if (receiver !== undefined && sending !== undefined && sending.nextMs <= now()) deliveries.begin(name, receiver);
    }
  }

  function isSilent(id: string, { silences: windows }: AlertSettings): boolean {
    const isNamed = ({ causes }: Silence) => matchesPattern(causes, id);
    if (speaker.silences().some(isNamed)) return true;
    return windows.some((one) => one.causes.some((pattern) => matchesPattern(pattern, id)) && isInWindow(one, now()));
  }

  return {
    status: () => receiversStatus(inForce?.settings, speaker.outboxes()),
    report: () =>
      reportOf(
        inForce?.settings,
        speaker.outboxes(),
        speaker.silences(),
        (id) => inForce?.settings !== undefined && isSilent(id, inForce.settings),
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
      await deliveries.settled();
      await store.close();
    },
  };
}
