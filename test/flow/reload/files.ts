// Saves configuration under a running gateway, and reads the gateway's report about it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestGateway } from '../../support/gateway.ts';

/** No test waits longer than this for something that is promised within a second. */
const PATIENCE_MS = 60_000;

export interface InForce {
  readonly version: string;
  readonly loaded_at: string;
  readonly last_failure: { readonly at: string; readonly mistakes: readonly string[] } | null;
}

/** Writes one file below the gateway's directory; an object as JSON, which is YAML. */
export function save({ directory }: TestGateway, file: string, content: string | object): void {
  const path = join(directory, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

/** Saves, and triggers the reload rather than waiting until it is noticed. */
export async function saveAndReload(gateway: TestGateway, file: string, content: string | object): Promise<void> {
  save(gateway, file, content);
  await gateway.app.reload();
}

export async function inForce({ adminUrl }: Pick<TestGateway, 'adminUrl'>): Promise<InForce> {
  const status = (await (await fetch(`${adminUrl}/status`)).json()) as { configuration: InForce };
  return status.configuration;
}

/** Milliseconds until it holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedAt > PATIENCE_MS) throw new Error('It never came to hold.');
    await sleep(20);
  }
  return performance.now() - startedAt;
}

/** Samples of the metric for reloads. */
export async function reloadsCounted({ adminUrl }: TestGateway): Promise<{ applied: number; refused: number }> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const of = (outcome: string) =>
    Number(new RegExp(`^gateway_configuration_reloads_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(text)?.[1]);
  return { applied: of('applied'), refused: of('refused') };
}

export const roomy = { tiers: { standard: { requests: 1_000_000 } }, addresses: { failures: 1_000_000 } };
