// Pure: finds the cause in the disk of the data directory. All embedded stores are on it, so a full disk is one cause.

import { isDiskFull, roomText } from '../../shared/disk.ts';
import { ALL_WRITTEN, firstFailureOf, lossesOf } from '../stores.ts';
import { type FoundCause, failureCause, type StatusForCauses, warningCause } from './cause.ts';

/** `gateway doctor` fails below this, too. */
const WARNED_BYTES = 104_857_600;
/** A small disk is nearly full below this part of it. */
const WARNED_PART = 0.05;

/** Returns the cause if the disk is full, or nearly full. With Redis, the disk has no stores. */
export function diskCauses(status: StatusForCauses, nowMs: number): FoundCause[] {
  const { disk, redis } = status;
  if (disk === undefined || redis !== undefined) return [];
  const { directory, free_bytes: freeBytes, total_bytes: totalBytes } = disk;
  const room = roomText({ freeBytes, totalBytes });
  const links = { runbook: 'GatewayDiskFull', details: '#/system' };
  if (isDiskFull({ freeBytes }))
    return [
      failureCause(
        { topic: 'stores', detail: 'disk' },
        `The disk of GATEWAY_DATA ${directory} is full (${room}): ${ALL_WRITTEN} cannot be written.`,
        `${lossesText(status, nowMs)} This ends by itself when the disk has room.`,
        { ...links, since: firstFailureOf(status).since_at },
      ),
    ];
  if (freeBytes >= Math.min(WARNED_BYTES, totalBytes * WARNED_PART)) return [];
  return [
    warningCause(
      { topic: 'stores', detail: 'disk' },
      `The disk of GATEWAY_DATA ${directory} is nearly full (${room}).`,
      `When it is full, ${ALL_WRITTEN} cannot be written.`,
      links,
    ),
  ];
}

function lossesText(status: StatusForCauses, nowMs: number): string {
  const lost = [
    ...lossesOf(status, nowMs).map((one) => one.lost),
    'changes of organizations and keys are refused',
    'counts of use wait in memory',
  ];
  return `${lost.join('; ').replace(/^./, (first) => first.toUpperCase())}. Known keys work.`;
}
