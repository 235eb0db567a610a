// Starts the primary or a worker: the same command runs in all processes.

import cluster from 'node:cluster';
import type { CommandContext } from '../commands/context.ts';
import type { Started } from '../commands/greeting.ts';
import type { Settings } from '../config/settings.ts';
import { startPrimary } from './primary.ts';
import { startWorker } from './worker.ts';

/** Resolves with undefined in a worker, because the primary prints the addresses. Rejects with the reason why the start failed. */
export async function startSeveral(context: CommandContext, settings: Settings): Promise<Started | undefined> {
  if (cluster.worker === undefined) return startPrimary(context, settings);
  await startWorker(cluster.worker, context);
  return undefined;
}
