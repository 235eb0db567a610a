// Opens the admin listener, and makes its answers to operators: status, metrics, limits, recent exchanges and the console.

import type { Server } from 'node:http';
import { resetLimits } from '../administration/limits.ts';
import { retryUpstream } from '../administration/upstreams.ts';
import type { AlertsInForce } from '../alerts/alerts.ts';
import type { DigestOf } from '../auth/api-key.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import { GatewayError } from '../catalogue/errors.ts';
import { adminTokensIn, type Secrets } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import type { NearLimit } from '../console/feed/near-limit.ts';
import type { Sample } from '../console/history/sample.ts';
import { closeAtOnce, listen } from '../edge/connections/listen.ts';
import type { LimitUsage } from '../limits/limit-usage.ts';
import { createAdminServer } from '../observe/admin/admin.ts';
import type { Operators } from '../observe/admin/answers.ts';
import { createStatus, type StatusOptions } from '../observe/admin/status.ts';
import type { Log } from '../observe/log/log.ts';
import type { AlertMetrics } from '../observe/metrics/library-metrics.ts';
import type { Metrics } from '../observe/metrics/metrics.ts';
import { CREDENTIAL_STATES, type CredentialState } from '../shared/contracts/upstreams.ts';
import { type AskFleet, answerFleet, type FleetSources, type UpstreamRetry } from '../shared/questions/fleet.ts';
import type { DeprecatedCalls } from '../versions/deprecated-calls.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import type { AppOptions } from './app-options.ts';
import type { ConfigurationChanges } from './configuration-changes.ts';
import { type OpenedConsole, openConsole } from './console.ts';
import { createConsoleActions } from './console-actions.ts';
import { createConsoleViews } from './console-views.ts';
import { createOrganizationReports } from './organization-reports.ts';

interface AdminListenerOptions {
  readonly settings: Settings;
  readonly secrets: Pick<Secrets, 'read'>;
  readonly version: string;
  readonly log: Pick<Log, 'logger'>;
  /** Set in a worker: the primary process has the listener and asks the worker. */
  readonly worker?: number | undefined;
  readonly askPrimary: AppOptions['askPrimary'];
  isServing(): boolean;
  isEnding(): boolean;
  onOutcome: AlertMetrics;
  now(): number;
}

export interface AdminListener {
  /** Starts to listen. Resolves with the port, or 0 in a worker. */
  listen(answers: Operators<Sample>): Promise<number>;
  /**
   * Asks all processes of all instances. Gets no answer before `listen`. A worker that cannot reach its primary answers only for itself.
   */
  readonly askFleet: AskFleet;
  close(): Promise<void>;
}

/** Opens the listener before the other parts, and closes it after them, so that operators see the gateway start and drain. */
export function openAdminListener({
  settings,
  secrets,
  version,
  log,
  worker,
  askPrimary,
  isServing,
  isEnding,
  onOutcome,
  now,
}: AdminListenerOptions): AdminListener {
  let opened: { readonly server: Server; readonly console: OpenedConsole } | undefined;
  let askFleet: AskFleet = async () => [];
  return {
    async listen(answers) {
      if (worker !== undefined) {
        askFleet = throughPrimary(answers, askPrimary);
        return 0;
      }
      const { adminHost: host, adminPort } = settings;
      // A gateway of a single process has one entry.
      const process = {};
      const samples = async () => new Map([[process, await answers.sample()]]);
      const console = openConsole(
        { ...answers, samples },
        { settings, version, secrets, isServing, isEnding, onOutcome, now, logger: log.logger },
      );
      const tokens = adminTokensIn(secrets);
      const server = createAdminServer({ host, tokens, logger: log.logger, ...answers, ...console });
      opened = { server, console };
      askFleet = console.console.askFleet;
      return listen(server, host, adminPort, 'ADMIN_PORT');
    },
    askFleet: (question) => askFleet(question),
    async close() {
      await opened?.console.stop();
      if (opened?.server.listening) await closeAtOnce(opened.server);
    },
  };
}

function throughPrimary(own: FleetSources, askPrimary: AppOptions['askPrimary']): AskFleet {
  return async (question) => {
    const answers = await askPrimary?.(question).catch(() => undefined);
    return answers ?? [await answerFleet(own, question).catch(() => undefined)];
  };
}

interface OperatorsOptions extends StatusOptions {
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
  readonly log: Pick<Log, 'recent' | 'list'>;
  readonly metrics: Metrics;
  readonly pressed: NearLimit;
  readonly limitUsage: LimitUsage;
  readonly changes: ConfigurationChanges;
  readonly deprecatedCalls: Pick<DeprecatedCalls, 'report'>;
  /** Makes this process send the refused credential of an upstream again. Returns undefined for an unknown upstream. */
  retryCredential(upstream: string): UpstreamRetry | undefined;
  /** Asks all processes of all instances. */
  readonly askFleet: AskFleet;
  /** Returns the state of the credential of an upstream; undefined for an unknown upstream. */
  credentialOf(upstream: string): { readonly credential?: CredentialState } | undefined;
  /** Returns the serving object of the configuration in force. */
  serving(): { readonly configuration: Configuration; readonly deprecations: Deprecations };
}

/** Creates the answers of this process to operators. */
export function answersForOperators(options: OperatorsOptions): Operators<Sample> {
  const { metrics, store, now, deprecatedCalls, serving, limitUsage } = options;
  const { readiness, status } = createStatus(options);
  const rules = () => serving().configuration.config.limits;
  return {
    metrics,
    readiness,
    status,
    sample: async () => ({ ...(await metrics.sample()), nearLimits: options.pressed.list() }),
    retryCredential: async (upstream) => options.retryCredential(upstream),
    async refusedUpstream(upstream) {
      const known = options.credentialOf(upstream);
      if (known === undefined) return undefined;
      const { credential } = known;
      const isRetried = credential !== undefined && CREDENTIAL_STATES[credential].afterRetry !== credential;
      return { retried: isRetried ? [upstream] : [] };
    },
    ...createConsoleActions({ ...options, configuration: () => serving().configuration }),
    exchanges: async (id, owner) => options.log.recent(id, owner),
    view: createConsoleViews({ ...options, configuration: () => serving().configuration }),
    versions: () => deprecatedCalls.report(serving().deprecations),
    async alertsInForce() {
      const { alerts: settings, publicUrl: gateway } = serving().configuration.config.gateway;
      // All instances have the same key pepper. Without `publicUrl`, the address is that of the machine.
      const isLocal = new URL(gateway).hostname === 'localhost';
      const deployment = isLocal ? options.digestOf('the deployment in alerts') : undefined;
      return { settings, gateway, deployment } satisfies AlertsInForce;
    },
    limits: {
      show: limitUsage.show,
      reset: (organization, author) =>
        resetLimits({ store, limitUsage, now }, { kind: 'operator', ...author }, { organization }),
    },
    async retry(upstream, author) {
      const isRetried = await orUnknown(
        retryUpstream({ store, askFleet: options.askFleet, now }, { kind: 'operator', ...author }, { upstream }),
      );
      return isRetried === undefined ? undefined : { retried: isRetried ? [upstream] : [] };
    },
    recent: async (filter) => options.log.list(filter),
    ...createOrganizationReports({
      store,
      usageOf: limitUsage.show,
      tiers: () => Object.keys(rules().tiers),
      now,
    }),
  };
}

/** Resolves with undefined if the action fails because its object does not exist. */
async function orUnknown<T>(action: Promise<T>): Promise<T | undefined> {
  try {
    return await action;
  } catch (cause) {
    if (cause instanceof GatewayError && cause.code === 'resource_missing') return undefined;
    throw cause;
  }
}
