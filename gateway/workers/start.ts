// Starts the primary or a worker: the same command runs in all processes. Each loads its own code only, because the primary serves nothing.

import cluster from 'node:cluster';
import type { Settings } from '../config/settings.ts';
import type { Started } from '../process/greeting.ts';
import type { HostProcess, Painter } from '../process/host-process.ts';
import type { AppOptions } from '../wiring/app-options.ts';

/** Resolves with undefined in a worker, because the primary prints the addresses. Rejects with the reason why the start failed. */
export async function startSeveral(
  context: HostProcess & Painter,
  settings: Settings,
  story: AppOptions['story'],
): Promise<Started | undefined> {
  if (cluster.worker === undefined) return (await import('./primary.ts')).startPrimary(context, settings, story);
  await (await import('./worker.ts')).startWorker(cluster.worker, context, story);
  return undefined;
}
