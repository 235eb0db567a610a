// The last parts of the process: reloads and the views of operators on all parts.

import { dirname } from 'node:path';
import { reloadConfiguration } from '../../configuration.ts';
import type { Sample } from '../../console/history/sample.ts';
import type { Operators } from '../../observe/admin/answers.ts';
import { instanceName } from '../../shared/questions/fleet.ts';
import { createConfigurationChanges } from '../configuration-changes.ts';
import { answersForOperators } from '../operators.ts';
import type { Parts } from '../parts.ts';
import { Reloads } from '../reload.ts';
import type { Sections } from '../sections.ts';
import type { TrafficSection } from './traffic.ts';

interface AdministrationSection {
  readonly reloads: Reloads;
  readonly operators: Operators<Sample>;
}

interface EarlierSections extends Omit<Sections, 'traffic'> {
  readonly traffic: TrafficSection;
}

/** Starts to follow the configuration files. */
export function openAdministration(sections: EarlierSections, parts: Parts): AdministrationSection {
  const { options, base, observation, counters, upstreams, callers, stores, certificates, traffic } = sections;
  const { settings, environment, store, digestOf, version, worker, now } = options;
  const { inForce, lifecycle } = base;
  const { log, metrics, pressed, admin } = observation;
  const { access } = upstreams;
  const { identity } = callers;
  const { deprecatedCalls } = stores;
  const reloads = new Reloads({
    directories: [settings.configDirectory, settings.contractsDirectory],
    secretsDirectory: settings.secretsDirectory,
    log,
    store,
    instance: `${instanceName(settings.port)}${worker === undefined ? '' : `, worker ${worker}`}`,
    now,
    inForce,
    load: (before) => reloadConfiguration(settings, environment, before),
    check: parts.check,
    apply: parts.apply,
    onOutcome: metrics.reload,
  });
  parts.add({ name: 'reload', status: () => ({ configuration: reloads.status() }), close: () => reloads.stop() });
  const changes = createConfigurationChanges(now, (file) => dirname(file) === settings.configDirectory);
  changes.note(inForce());
  parts.add({ name: 'configuration changes', apply: changes.note });

  watchState(sections, reloads);
  const operators = answersForOperators({
    version,
    lifecycle,
    keys: identity.keysStatus,
    limits: counters.requests.status,
    missingCertificates: () => certificates.ordered?.missing(),
    parts: parts.status,
    now,
    store,
    digestOf,
    log,
    metrics,
    pressed,
    limitUsage: counters.limitUsage,
    changes,
    deprecatedCalls,
    retryCredential: (upstream) => access.retry(upstream),
    askFleet: admin.askFleet,
    credentialOf: (upstream) => new Map(Object.entries(access.status())).get(upstream),
    serving: traffic.servingInForce,
  });

  return { reloads, operators };
}

/** Gives the metrics the functions that read the state of the parts. */
function watchState(
  { observation, counters, upstreams, callers, stores, certificates, traffic }: EarlierSections,
  reloads: Reloads,
): void {
  observation.metrics.watch({
    requestsInProgress: () => traffic.listeners.requestsInProgress(),
    keyStoreAway: () => (callers.identity.keysStatus().store === 'failing' ? 1 : 0),
    limitStoreAway: () => (counters.requests.status().state === 'away' ? 1 : 0),
    limitPolicyInForce: () => counters.requests.status().policyInForce,
    usageWaiting: () => stores.usage.status().waiting,
    tunnelStreams: () => traffic.tunnels.open(),
    openStreams: () => callers.streams.counts(),
    upstreamStates: () => upstreams.access.status(),
    targetStates: () => upstreams.targets.targetSets.status(),
    bufferedBytes: traffic.overload.bufferedBytes,
    configurationLoadedAtMs: () => reloads.loadedAtMs(),
    certificates: certificates.status,
  });
}
