// What a start warns of in its log, beside what `doctor` says: the machine allows less than the configuration wants. And what is told later:
// the process has used up what the machine allows.

import { checkOpenFiles, readLimits } from '../commands/doctor/machine.ts';
import { areFilesFree } from '../config/free-files.ts';
import type { Config } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import type { Log } from '../observe/log.ts';

export function warnOfMachine({ logger }: Pick<Log, 'logger'>, config: Config, { workers }: Settings): void {
  for (const { check, verdict, says, remedy } of [checkOpenFiles(readLimits(), config, workers)])
    if (verdict === 'warn') logger.warn({ check, remedy }, says);
}

const LOOK_EVERY_MS = 2000;

/** Tells when no file descriptor is left, for as long as the process runs: libuv closes new connections then, and reports nothing. */
export function tellLackOfFiles({ logger }: Pick<Log, 'logger'>): void {
  let isLacking = false;
  setInterval(() => {
    if (areFilesFree(1) !== isLacking) return;
    isLacking = !isLacking;
    if (isLacking)
      logger.error('no file descriptor is left: new connections are closed at once, and files cannot be read');
    else logger.warn('file descriptors are free again');
  }, LOOK_EVERY_MS).unref();
}
