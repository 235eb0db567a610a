// Opens the console of a gateway, in a single process or in the primary process of several, and the alerts about the causes that it finds.

import type { Attention } from '../administration/attention.ts';
import { AlertMonitor, type AlertsInForce, type AlertsOptions } from '../alerts/alerts.ts';
import { createFileAlertStore } from '../alerts/file-store.ts';
import { matchesPattern } from '../alerts/matching.ts';
import { createRedisAlertStore } from '../alerts/redis-store.ts';
import { type CausesReport, causesReport } from '../alerts/report.ts';
import { isCausePattern } from '../alerts/settings.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import { effectText } from '../console/causes/effect.ts';
import { missingCauseId } from '../console/causes/instance-causes.ts';
import { Console, type ConsoleOptions } from '../console/console.ts';
import { pageFile } from '../console/files.ts';
import { Fleet } from '../console/fleet/fleet.ts';
import { createHistoryFile } from '../console/history/history-file.ts';
import { exchangeReport } from '../explain/report.ts';
import type { AdminOptions } from '../observe/admin/admin.ts';
import type { Answers } from '../observe/admin/answers.ts';
import { DURATION_BUCKETS } from '../observe/metrics/duration-metrics.ts';
import type { AlertMetrics } from '../observe/metrics/library-metrics.ts';
import { redisCliOptions } from '../redis/url.ts';
import type { ActionAnswer, ConsoleAction } from '../shared/questions/console-action.ts';
import { type AskFleet, instanceName } from '../shared/questions/fleet.ts';

interface OpenConsoleOptions extends Pick<ConsoleOptions, 'version' | 'now'> {
  readonly settings: Pick<
    Settings,
    'port' | 'redisUrl' | 'configDirectory' | 'dataDirectory' | 'adminHost' | 'adminPort'
  >;
  readonly secrets: Pick<Secrets, 'read'>;
  readonly logger: AlertsOptions['logger'];
  /** Returns false while the gateway starts and ends. */
  isServing(): boolean;
  isEnding(): boolean;
  readonly onOutcome: AlertMetrics;
}

/** The answers of the listener of operators. They replace the answers with which the listener was opened. */
export interface OpenedConsole extends Pick<AdminOptions, 'act' | 'alerts' | 'causes' | 'console' | 'status'> {
  /** Resolves when the history is kept. */
  stop(): Promise<void>;
}

type ConsoleSources = Omit<
  ConsoleOptions,
  'bounds' | 'story' | 'version' | 'configDirectory' | 'name' | 'adminPort' | 'now'
> &
  Pick<Answers, 'act' | 'alertsInForce'>;

export function openConsole(
  answers: ConsoleSources,
  { settings, version, now, ...options }: OpenConsoleOptions,
): OpenedConsole {
  const { port, redisUrl: url, configDirectory, dataDirectory, adminHost, adminPort } = settings;
  const name = instanceName(port);
  const consoleUrl = `http://${adminHost.includes(':') ? `[${adminHost}]` : adminHost}:${adminPort}`;
  const status = async () => ({ ...(await answers.status()), ...statusOf(alerts) });
  const console = new Console({
    ...answers,
    status,
    bounds: DURATION_BUCKETS,
    story: (line, found) => exchangeReport(line, causesReport(found, consoleUrl, now()).causes),
    version,
    configDirectory,
    file: createHistoryFile(dataDirectory),
    name,
    adminPort,
    now,
    ...(url !== undefined && {
      redisOptions: redisCliOptions(url),
      openFleet: (self, answer) =>
        new Fleet({ url, self, answer, isEnding: options.isEnding, clock: () => performance.now(), now }),
    }),
  });
  const { instances } = console;
  const inForce = async () => (await answers.alertsInForce()) as AlertsInForce;
  const alerts = new AlertMonitor({
    ...options,
    inForce,
    causes: (of) => instances.causesAndEnds(of),
    effectOf: effectText,
    instance: name,
    store: url === undefined ? createFileAlertStore(dataDirectory, now) : createRedisAlertStore(url, now),
    consoleUrl,
    readSecret: options.secrets.read,
    version,
    now,
  });

  async function causes(): Promise<CausesReport> {
    // If no process can say which settings are in force, the causes are reported all the same.
    const settings = (await inForce().catch(() => undefined))?.settings;
    return causesReport(await instances.causes(), settings?.consoleUrl ?? consoleUrl, now());
  }

  const act: Answers['act'] = (action, requestId, by) =>
    action.action === 'silence-alerts'
      ? silence({ alerts, fleet: instances.fleet, act: answers.act }, action, requestId, by)
      : answers.act(action, requestId, by);

  const askFleet: AskFleet = async (question) => {
    if (question.about === 'attention') return [{ ...alerts.report(), ...(await causes()) } satisfies Attention];
    if (question.about === 'silence') return [await act(question.action, question.requestId, question.by)];
    return instances.askFleet(question);
  };

  return {
    console: { file: pageFile, answer: (path, query) => console.answer(path, query), askFleet },
    status,
    alerts: () => alerts.report(),
    causes,
    act,
    async stop() {
      await alerts.stop();
      await instances.stop();
    },
  };
}

function statusOf(alerts: AlertMonitor): object {
  const report = alerts.status();
  return Object.keys(report.receivers).length === 0 ? {} : { alerts: report };
}

/** Stores a silence after the action is noted. A preview only says what the action would do. */
async function silence(
  { alerts, fleet, act }: { alerts: AlertMonitor; fleet: Fleet | undefined; act: Answers['act'] },
  action: ConsoleAction,
  requestId: string,
  by: string,
): Promise<ActionAnswer> {
  const { target: causes, reason = '' } = action;
  if (!isCausePattern(causes)) return refusal(400, 'action_invalid', `No cause has an id such as ${causes}.`);
  const until = alerts.report().silences.find((one) => one.causes === causes)?.until ?? null;
  const noted = await act(action, requestId, by);
  const { after } = noted.body as { readonly after?: { readonly silent_until: string | null } };
  if (noted.status !== 200 || after === undefined) return noted;
  try {
    if (!action.dryRun && after.silent_until === null) await alerts.endSilence(causes);
    else if (!action.dryRun) {
      await alerts.silence({ causes, untilMs: Date.parse(String(after.silent_until)), by, reason });
      // A silence about a missing instance also removes the instance from the list, because it may never come back.
      if (causes.startsWith('instance ')) await fleet?.dismiss((name) => matchesPattern(causes, missingCauseId(name)));
    }
  } catch {
    return refusal(503, 'records_unavailable', 'The store of silences cannot be reached.');
  }
  return { ...noted, body: { ...noted.body, before: { silent_until: until } } };
}

function refusal(status: number, code: string, error: string): ActionAnswer {
  return { status, body: { code, error } };
}
