// The same command in several processes: which of them this one is.

import cluster from 'node:cluster';
import type { CommandEnvironment } from '../commands/environment.ts';
import type { Started } from '../commands/start.ts';
import type { Settings } from '../config/load.ts';
import { startPrimary } from './primary.ts';
import { startWorker } from './worker.ts';

/** Answers undefined in a worker: the primary says for all of them where they listen. Rejects with what stops the start. */
export async function startSeveral(surroundings: CommandEnvironment, settings: Settings): Promise<Started | undefined> {
  if (cluster.worker === undefined) return startPrimary(surroundings, settings);
  await startWorker(cluster.worker, surroundings, settings);
  return undefined;
}
