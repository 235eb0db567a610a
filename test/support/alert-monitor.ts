// A monitor of alerts inside the test process, which checks its causes every few milliseconds and tells them to one receiver at once.

import { AlertMonitor, type AlertsOptions } from '../../gateway/alerts/alerts.ts';
import { alertSettings } from '../../gateway/alerts/settings.ts';
import type { startAlertReceiver } from './alert-receiver.ts';

/** @param options the causes, the name of the instance, its store and its clock */
export function startAlertMonitor(
  pager: Pick<Awaited<ReturnType<typeof startAlertReceiver>>, 'url' | 'secret'>,
  options: Pick<AlertsOptions, 'causes' | 'instance' | 'store' | 'now'>,
): AlertMonitor {
  const settings = alertSettings.parse({
    receivers: { pager: { webhook: { url: pager.url, secret: 'pager_key' } } },
    ...{ forSeconds: 0, recoverySeconds: 0, groupSeconds: 0 },
  });
  return new AlertMonitor({
    ...options,
    inForce: async () => ({ settings, gateway: 'https://api.example.com' }),
    consoleUrl: 'http://127.0.0.1:9090',
    readSecret: () => pager.secret,
    isServing: () => true,
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
    onOutcome: () => undefined,
    version: 'test',
    checkMs: 20,
  });
}

/** Whether the monitor reaches its store. */
export const reachesStore = (monitor: AlertMonitor): Promise<boolean> =>
  monitor.endSilence('none').then(
    () => true,
    () => false,
  );
