// Since when the store lists a gateway for sure, after a start, an outage, and with a replica that lacks the latest reports.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createListing } from '../../../gateway/auth/listing.ts';

const LISTED_MS = 60_000;
const EVERY_MS = 2000;
const LAG_MS = 10_000;

/** @param id of the server; empty: it tells none */
function begin(id = 'first') {
  const clock = { atMs: 1_000_000, at: 0 };
  let server = id;
  const listing = createListing({
    listedMs: LISTED_MS,
    reportedEveryMs: EVERY_MS,
    now: () => clock.atMs,
    performance: { now: () => clock.at },
  });
  const pass = (ms: number) => {
    clock.atMs += ms;
    clock.at += ms;
  };
  const report = () => listing.noteReport({ ...listing.sending(), server });
  /** Reports every two seconds. Returns whether the first one found the gateway forgotten. */
  function reportFor(ms: number): boolean {
    const isNew = report();
    for (let passedMs = EVERY_MS; passedMs <= ms; passedMs += EVERY_MS) {
      pass(EVERY_MS);
      assert.equal(report(), false);
    }
    return isNew;
  }
  function takeOver(by: string): void {
    server = by;
    pass(EVERY_MS);
  }
  return { clock, listing, pass, reportFor, takeOver };
}

test('a gateway that has started is listed from its first report on', () => {
  const { listing, pass, reportFor } = begin();
  assert.equal(listing.since(), Number.POSITIVE_INFINITY);
  pass(500);
  assert.equal(reportFor(0), true);
  assert.equal(listing.since(), 500);
  reportFor(20_000);
  assert.equal(listing.since(), 500);
});

test('during an outage it counts on the last report that a late replica has', () => {
  const { listing, pass, reportFor } = begin();
  reportFor(20_000);
  pass(LISTED_MS - LAG_MS - 1000);
  assert.equal(listing.since(), 0);
  pass(1);
  assert.equal(listing.since(), Number.POSITIVE_INFINITY);
});

test('after an outage in which it was forgotten, it is listed when a late replica has its report', () => {
  const { clock, listing, pass, reportFor } = begin('');
  reportFor(20_000);
  pass(LISTED_MS);
  assert.equal(reportFor(6000), true);
  assert.equal(listing.since(), clock.at - 6000 + LAG_MS);
  // Another outage, in which a replica without this report may have taken over.
  pass(20_000);
  assert.equal(reportFor(20_000), true);
  assert.equal(listing.since(), clock.at - 20_000 + LAG_MS);
});

test('a first report after a shorter outage does not count before a late replica has it', () => {
  const { clock, listing, pass, reportFor } = begin('');
  reportFor(20_000);
  const keptAt = clock.at - LAG_MS;
  pass(30_000);
  assert.equal(reportFor(4000), false);
  clock.at = keptAt + LISTED_MS - 1000;
  assert.equal(listing.since(), 0);
  clock.at += 1;
  assert.equal(listing.since(), Number.POSITIVE_INFINITY);
});

test('the clock that has gone further counts, as on a machine that was suspended', () => {
  const { clock, listing, reportFor } = begin();
  reportFor(20_000);
  clock.atMs += LISTED_MS;
  assert.equal(listing.since(), Number.POSITIVE_INFINITY);
});

test('two servers take over within ten seconds of a first report: it counts from the first report to the second of them', () => {
  const { clock, listing, pass, reportFor, takeOver } = begin();
  reportFor(20_000);
  pass(LISTED_MS);
  assert.equal(reportFor(6000), true);
  takeOver('second');
  assert.equal(reportFor(4000), true);
  takeOver('third');
  assert.equal(reportFor(8000), true);
  assert.equal(listing.since(), clock.at - 8000 + LAG_MS);
});

test('a server that takes over has the reports that are older than the lag', () => {
  const { listing, reportFor, takeOver } = begin();
  reportFor(20_000);
  takeOver('second');
  assert.equal(reportFor(2000), false);
  takeOver('third');
  assert.equal(reportFor(2000), false);
  assert.equal(listing.since(), 0);
});

test('a server that takes over just after the first report of a process may lack it', () => {
  const { clock, listing, reportFor, takeOver } = begin();
  reportFor(6000);
  takeOver('second');
  assert.equal(reportFor(0), true);
  assert.equal(listing.since(), clock.at + LAG_MS);
});

test('a process that stands still just after its first reports stays listed by the same server', () => {
  const { listing, pass, reportFor } = begin();
  reportFor(4000);
  pass(6000);
  assert.equal(reportFor(2000), false);
  assert.equal(listing.since(), 0);
});

test('after an outage, the same server has the reports from before it', () => {
  const { clock, listing, pass, reportFor } = begin();
  reportFor(20_000);
  const lastAt = clock.at;
  pass(30_000);
  assert.equal(reportFor(4000), false);
  clock.at = lastAt + LISTED_MS - 1000;
  assert.equal(listing.since(), 0);
  clock.at += 1;
  assert.equal(listing.since(), Number.POSITIVE_INFINITY);
});
