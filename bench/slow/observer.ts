// Loaded into a contestant (`--import`): writes its garbage collections to the file of COLLECTIONS_FILE when it is told to end.

import { writeFileSync } from 'node:fs';
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { monotonicMs } from './clock.ts';

const file = process.env.COLLECTIONS_FILE;
if (file !== undefined) {
  const collections: { fromMs: number; ms: number }[] = [];
  const startedMs = monotonicMs() - performance.now();
  const note = (entries: readonly PerformanceEntry[]) => {
    for (const { startTime, duration } of entries) collections.push({ fromMs: startedMs + startTime, ms: duration });
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  process.once('SIGTERM', () => {
    note(observer.takeRecords());
    writeFileSync(file, JSON.stringify(collections));
  });
}
