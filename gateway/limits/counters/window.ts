// Pure: the sliding window of one counted subject, which uses bounded memory and admits no more than the limit in any span as long as the
// window. `limits/counters/redis/window.lua` implements the same algorithm in Lua with these constants, and a property test compares the
// two.

import { hash } from 'node:crypto';

/** Grains per window. An entry covers at most one grain, a hundredth of the window, so a unit counts at most 1 % longer than the window. */
export const GRAINS_PER_WINDOW = 100;

/** Maximum number of entries of a window. Until entries are merged, each covers one millisecond, so limits of up to 150 are exact. */
export const ENTRIES_MAX = 150;

/**
 * A merge takes Redis as long as twenty decisions. Subjects that fill at the same rate must not all merge at the same moment, so the number
 * of entries that causes a merge depends on the name and lies between 111 and 150. This applies to limits above ENTRIES_MAX; lower limits
 * never merge.
 */
export const ENTRIES_SPREAD = 40;

/**
 * A merge uses the finest grain that leaves at most this number of entries. Only the coarsest grain may leave one entry more. At least ten
 * admissions come between two merges, and the second one uses a coarser grain. The coarsest grain needs no other merge.
 */
export const ENTRIES_MERGED = 100;

/** Below this number of entries, new entries use the finest grain again. */
export const ENTRIES_FEW = 25;

/**
 * A list of entries, at most ENTRIES_MAX, the oldest first. Each entry stands for admissions that follow each other, and counts until the
 * latest of them has left the window.
 */
export interface Window {
  readonly name: string;
  /** The latest admission of each entry. The values never decrease. */
  readonly lastMs: number[];
  /** The units admitted up to and including each entry. The values always increase. */
  readonly spent: number[];
  /** Units admitted before the oldest entry. */
  spentBefore: number;
  /** The grain of the newest entry is the coarsest grain, halved this number of times. */
  halvings: number;
  /** The number of entries above which entries are merged; undefined until it is first needed. */
  mergedAbove: number | undefined;
}

export interface WindowRule {
  readonly requests: number;
  readonly windowMs: number;
}

export interface CostCheck {
  /** Units that could be admitted now. */
  readonly remaining: number;
  /** Milliseconds until the oldest entry frees its units; 0 if nothing is spent. */
  readonly resetMs: number;
  /** Milliseconds until the cost fits, if no other request is admitted; 0 if it fits now. */
  readonly waitMs: number;
}

/** @param name of the counter */
export function createWindow(name: string): Window {
  return { name, lastMs: [], spent: [], spentBefore: 0, halvings: 0, mergedAbove: undefined };
}

/** Returns the time of the latest admission; -Infinity before the first one. Decisions are never made at an earlier time. */
export function newestMsOf(window: Window): number {
  return window.lastMs.at(-1) ?? Number.NEGATIVE_INFINITY;
}

/**
 * Checks whether a cost fits, without changing the window.
 *
 * @param cost units
 * @param atMs the time of the decision: the clock, but never before the latest admission
 * @param clockMs the unadjusted clock, from which waits are counted
 */
export function checkCost(window: Window, rule: WindowRule, cost: number, atMs: number, clockMs: number): CostCheck {
  const { lastMs, spent } = window;
  const { requests, windowMs } = rule;
  const oldest = firstAbove(lastMs, atMs - windowMs);
  const all = spent.at(-1) ?? 0;
  const total = oldest === lastMs.length ? 0 : all - spentBefore(window, oldest);
  const remaining = Math.max(0, requests - total);
  const resetMs = total === 0 ? 0 : (lastMs[oldest] as number) + windowMs - clockMs;
  if (cost === 0 || total + cost <= requests) return { remaining, resetMs, waitMs: 0 };
  // A cost above the limit never fits. The wait is capped at one window; the refusal repeats after it.
  if (cost > requests) return { remaining, resetMs, waitMs: windowMs };
  const lastInTheWay = firstAbove(spent, all + cost - requests - 1);
  return { remaining, resetMs, waitMs: (lastMs[lastInTheWay] as number) + windowMs - clockMs };
}

/** Adds an admission of `cost` units and drops entries that have left the window. */
export function spend(window: Window, { requests, windowMs }: WindowRule, cost: number, atMs: number): void {
  if (cost === 0) return;
  const { lastMs, spent } = window;
  dropFirst(window, firstAbove(lastMs, atMs - windowMs));
  const count = lastMs.length;
  const newest = count - 1;
  if (count > 0 && isOneGrain(lastMs[newest] as number, atMs, grainOf(windowMs, window.halvings))) {
    lastMs[newest] = atMs;
    spent[newest] = (spent[newest] as number) + cost;
    return;
  }
  if (count < ENTRIES_FEW) window.halvings = halvingsOfFinest(windowMs);
  spent.push(spentBefore(window, count) + cost);
  lastMs.push(atMs);
  if (lastMs.length > ENTRIES_MAX - ENTRIES_SPREAD && lastMs.length > mergedAbove(window, requests))
    merge(window, windowMs);
}

function mergedAbove(window: Window, requests: number): number {
  if (requests <= ENTRIES_MAX) return ENTRIES_MAX;
  window.mergedAbove ??= ENTRIES_MAX - (Number.parseInt(hash('sha1', window.name).slice(0, 6), 16) % ENTRIES_SPREAD);
  return window.mergedAbove;
}

/** Grains begin at multiples of their length, so each consists of two grains of the next finer size. */
function grainOf(windowMs: number, halvings: number): number {
  return windowMs / GRAINS_PER_WINDOW / 2 ** halvings;
}

/** Number of halvings after which no two milliseconds share a grain. */
function halvingsOfFinest(windowMs: number): number {
  return 32 - Math.clz32(windowMs / GRAINS_PER_WINDOW);
}

function isOneGrain(oneMs: number, otherMs: number, grainMs: number): boolean {
  return Math.floor(oneMs / grainMs) === Math.floor(otherMs / grainMs);
}

/** Merges the entries that share a grain, with the finest grain that leaves few enough entries. */
function merge(window: Window, windowMs: number): void {
  const { lastMs, spent } = window;
  let grainMs: number;
  do {
    window.halvings = Math.max(0, window.halvings - 1);
    grainMs = grainOf(windowMs, window.halvings);
  } while (window.halvings > 0 && countOfGrains(lastMs, grainMs) > ENTRIES_MERGED);
  let kept = 0;
  for (let index = 1; index < lastMs.length; index += 1) {
    if (!isOneGrain(lastMs[kept] as number, lastMs[index] as number, grainMs)) kept += 1;
    lastMs[kept] = lastMs[index] as number;
    spent[kept] = spent[index] as number;
  }
  lastMs.length = kept + 1;
  spent.length = kept + 1;
}

function countOfGrains(lastMs: readonly number[], grainMs: number): number {
  let count = 1;
  for (let index = 1; index < lastMs.length; index += 1) {
    if (!isOneGrain(lastMs[index - 1] as number, lastMs[index] as number, grainMs)) count += 1;
  }
  return count;
}

function spentBefore(window: Window, index: number): number {
  return index === 0 ? window.spentBefore : (window.spent[index - 1] as number);
}

function dropFirst(window: Window, count: number): void {
  if (count === 0) return;
  window.spentBefore = spentBefore(window, count);
  window.lastMs.splice(0, count);
  window.spent.splice(0, count);
}

/** Returns the index of the first value above the bound in an ascending list; the length of the list if there is none. */
function firstAbove(values: readonly number[], bound: number): number {
  let low = 0;
  let high = values.length;
  // In most cases nothing has expired since the last decision.
  if (high === 0 || (values[0] as number) > bound) return 0;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
