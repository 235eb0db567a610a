// The two charts of a subject: requests by outcome, and durations. Both mark the time under the pointer. A click opens the
// requests of this time. Dragging selects a longer time, and the charts then show only that time.

import { addressOf } from './addresses.js';
import { DURATIONS, STACKED } from './chart-kinds.js';
import { Chart } from './charts.js';
import { count, period } from './format.js';
import { showTime } from './time-range.js';

/** Fewer requests have no p99, because a single slow request would look like an incident. */
const FEW = 5;

/** The lists of requests to which the parts of a column lead. The list of 4xx has refusals, too. */
const LISTS = { '3xx': '3xx', '4xx': '4xx', refused: 'refused', failed: 'service_failed' };

/**
 * @param filter gives the members that narrow a list of requests to the subject
 * @returns `show(feed, subject, name)`: takes the feed, the history of the subject, and its name; empty: all operations
 */
export function createTrafficCharts(trafficBox, latencyBox, filter) {
  let data;

  /** Opens the requests of a slot. */
  function open(slot, params) {
    const { fromMs, slotMs } = data.traffic;
    const from = new Date(fromMs + slot * slotMs).toISOString();
    const to = new Date(fromMs + (slot + 1) * slotMs).toISOString();
    location.hash = addressOf('requests', { ...filter(), ...params, range: undefined, from, to });
  }

  function zoom(first, last) {
    const { fromMs, slotMs } = data.traffic;
    showTime({ fromMs: fromMs + first * slotMs, toMs: fromMs + (last + 1) * slotMs });
  }

  const traffic = new Chart(trafficBox, {
    ...STACKED,
    title: 'Requests',
    onChoose: (slot, name) => open(slot, { status: LISTS[name] }),
    onZoom: zoom,
    onPoint: (slot) => latency.point(slot),
  });
  const latency = new Chart(latencyBox, {
    ...DURATIONS,
    title: 'Duration',
    onChoose: (slot) => open(slot, { sort: 'duration' }),
    onZoom: zoom,
    onPoint: (slot) => traffic.point(slot),
  });

  return (feed, subject, name) => {
    data = chartData(feed, subject, name);
    traffic.show(data.traffic);
    latency.show(data.latency);
  };
}

function chartData({ history, at, events, ended }, { series }, of) {
  const slotMs = history.slot_seconds * 1000;
  // The last slot shows the count so far, because a rate over its first seconds would be noise.
  const unfinished = history.last_slot_seconds < history.slot_seconds ? series.requests.length - 1 : undefined;
  const perSecond = (values) => values.map((value) => value / history.slot_seconds);
  const { requests, redirects, client_errors: clientErrors, server_errors: serverErrors, failed, refused } = series;
  // What the gateway refuses has a colour of its own, because it must not look like a failure of the service, whatever its status.
  const valuesOf = (of) => perSecond(requests.map((_, slot) => of(slot)));
  const answered4xx = (slot) => clientErrors[slot] + serverErrors[slot] - failed[slot] - refused[slot];
  const shared = {
    ...{ of, events, slotMs, unfinished, endsNow: history.range !== 'free' },
    ...{ fromMs: Date.parse(history.from), slots: history.slots, endMs: Date.parse(at) },
    notes: (slot) => [
      `${count(series.requests[slot])} requests${slot === unfinished ? ' so far' : ''}`,
      ...ended.flatMap(({ instance, until }) =>
        Date.parse(until) < Date.parse(history.from) + (slot + 1) * slotMs ? `without ${instance}` : [],
      ),
    ],
  };
  const few = series.requests.map((requests) => requests > 0 && requests < FEW);
  const good = (slot) => requests[slot] - redirects[slot] - clientErrors[slot] - serverErrors[slot];
  const byOutcome = [
    { name: '2xx', kind: 'status-2', values: valuesOf(good) },
    { name: '3xx', kind: 'status-3', values: perSecond(redirects) },
    { name: '4xx', kind: 'answered-4', values: valuesOf((slot) => Math.max(0, answered4xx(slot))) },
    { name: 'refused', kind: 'status-4', values: perSecond(refused) },
    { name: 'failed', kind: 'status-5', values: perSecond(failed) },
  ];
  const isShown = ({ name, values }) => !/[34]xx/.test(name) || values.some((value) => value > 0);
  return {
    traffic: {
      ...shared,
      unit: `per second, in columns of ${period(history.slot_seconds)}`,
      series: byOutcome.filter(isShown),
      combine: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
    },
    latency: {
      ...shared,
      unit: `of the responses of services, estimated${few.includes(true) ? `, pale where there were fewer than ${FEW}` : ''}`,
      series: [
        { name: 'p50', kind: 'p50', values: series.p50_ms, few },
        { name: 'p99', kind: 'p99', values: series.p99_ms, few },
      ],
      combine: (values) => Math.max(...values),
    },
  };
}
