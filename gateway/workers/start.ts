// Starts the primary or a worker: the same command runs in all processes. Each loads its own code only, because the primary serves nothing.

import cluster from 'node:cluster';
import type { CommandContext } from '../commands/context.ts';
import type { Settings } from '../config/settings.ts';
import type { Started } from '../process/greeting.ts';

/** Resolves with undefined in a worker, because the primary prints the addresses. Rejects with the reason why the start failed. */
export async function startSeveral(context: CommandContext, settings: Settings): Promise<Started | undefined> {
  if (cluster.worker === undefined) return (await import('./primary.ts')).startPrimary(context, settings);
  await (await import('./worker.ts')).startWorker(cluster.worker, context);
  return undefined;
}
