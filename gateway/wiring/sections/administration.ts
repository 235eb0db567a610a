// The last parts of the process: reloads, and what operators see of all parts.

import { dirname } from 'node:path';
import { reloadConfiguration } from '../../configuration.ts';
import type { Parts } from '../../parts.ts';
import { createConfigurationChanges } from '../configuration-changes.ts';
import { answersForOperators } from '../operators.ts';
import { followConfiguration } from '../reload.ts';
import type { BaseSection } from './base.ts';
import type { CallersSection } from './callers.ts';
import type { CertificatesSection } from './certificates.ts';
import type { CountersSection } from './counters.ts';
import type { ObservationSection } from './observation.ts';
import type { TrafficSection } from './traffic.ts';
import type { UpstreamsSection } from './upstreams.ts';

/** Starts to follow the configuration files. */
export function openAdministration(
  opened: BaseSection &
    ObservationSection &
    CountersSection &
    UpstreamsSection &
    CallersSection &
    CertificatesSection &
    TrafficSection,
  parts: Parts,
) {
  const { settings, environment, store, inForce, log, metrics, pressed, now } = opened;
  const { counters, access, targets, streams, identity, versionUses, usage } = opened;
  const { ordered, certificatesStatus, listeners, tunnels, overload, serving } = opened;
  const reloads = followConfiguration({
    directories: [settings.configDirectory, settings.contractsDirectory],
    secretsDirectory: settings.secretsDirectory,
    log,
    store,
    now,
    inForce,
    load: (before) => reloadConfiguration(settings, environment, before),
    check: parts.check,
    use: parts.use,
    onOutcome: metrics.reload,
  });
  parts.add({ name: 'reload', status: () => ({ configuration: reloads.status() }), close: reloads.stop });
  const changes = createConfigurationChanges(now, (file) => dirname(file) === settings.configDirectory);
  changes.note(inForce());
  parts.add({ name: 'configuration changes', use: changes.note });

  metrics.watch({
    activeRequests: listeners.activeRequests,
    keyStoreAway: () => (identity.keysStatus().store === 'failing' ? 1 : 0),
    limitStoreAway: () => (counters.status().state === 'away' ? 1 : 0),
    limitPolicyInForce: () => counters.status().policyInForce,
    usageWaiting: () => usage.status().waiting,
    tunnelStreams: tunnels.open,
    openStreams: streams.counts,
    upstreamStates: access.status,
    targetStates: targets.targetSets.status,
    bufferedBytes: overload.bufferedBytes,
    configurationLoadedAtMs: reloads.loadedAtMs,
    certificates: certificatesStatus,
  });
  const operators = answersForOperators({
    version: opened.version,
    lifecycle: opened.lifecycle,
    keys: identity.keysStatus,
    limits: counters.status,
    missingCertificates: () => ordered?.missing(),
    parts: parts.status,
    now,
    store,
    log,
    metrics,
    pressed,
    limitUsage: opened.limitUsage,
    changes,
    versionUses,
    retryUpstream: access.retry,
    askFleet: opened.admin.askFleet,
    credentialOf: (upstream) => new Map(Object.entries(access.status())).get(upstream),
    serving: serving.current,
  });

  return { reloads, operators };
}
