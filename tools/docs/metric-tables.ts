// The tables of docs/metrics.md, made from the help texts of the metrics: those of the gateway, and those of the Prometheus client.

import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { createMetrics } from '../../gateway/observe/metrics/metrics.ts';
import { createWorkerMetrics } from '../../gateway/observe/metrics/worker-metrics.ts';
import { table } from './table.ts';

interface Registered {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

/** The tables by the name of their place in docs/metrics.md. */
export async function metricTables(): Promise<Record<string, string>> {
  const registry = new Registry();
  const metrics = createMetrics({ version: '', onPressure: () => undefined, registry });
  metrics.watch(NO_STATES);
  const ofWorkers = new Registry();
  createWorkerMetrics(() => 0, ofWorkers);
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  const isOfProcess = ({ name }: Registered) => ofProcess.getSingleMetric(name) !== undefined;
  const all = new Map(
    [...(await registeredIn(registry)), ...(await registeredIn(ofWorkers))].map((one) => [one.name, one]),
  );
  const own = [...all.values()].filter((metric) => !isOfProcess(metric));
  return { gateway: tableOf(own), process: tableOf([...all.values()].filter(isOfProcess)) };
}

/** The gauges are registered with their sources, and none is read here. */
const NO_STATES = {
  requestsInProgress: () => 0,
  keyStoreAway: () => 0,
  tunnelStreams: () => 0,
  openStreams: () => ({ events: 0, lines: 0, websocket: 0 }),
  certificates: () => [],
  usageWaiting: () => 0,
  bufferedBytes: () => 0,
  upstreamStates: () => ({}),
  targetStates: () => ({}),
  configurationLoadedAtMs: () => 0,
  limitStoreAway: () => 0,
  limitPolicyInForce: () => undefined,
};

async function registeredIn(registry: Registry): Promise<Registered[]> {
  const types = new Map((await registry.getMetricsAsJSON()).map(({ name, type }) => [name, String(type)]));
  return (registry.getMetricsAsArray() as unknown as Omit<Registered, 'type'>[]).map(({ name, help, labelNames }) => ({
    name,
    help,
    labelNames: labelNames ?? [],
    type: types.get(name) ?? '',
  }));
}

function tableOf(metrics: readonly Registered[]): string {
  const code = (text: string) => `\`${text}\``;
  return table(
    ['Metric', 'Type', 'Labels', 'Shows'],
    metrics.map(({ name, type, labelNames, help }) => [code(name), type, labelNames.map(code).join(', '), help]),
  );
}
