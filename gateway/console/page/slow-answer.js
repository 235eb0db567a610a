// Says where the time of a slow request went, and what is slow now.

import { ALL } from './addresses.js';
import { read } from './api.js';
import { isSlow, leadsOf } from './attention.js';
import { causesAbout } from './causes-about.js';
import { element, linkTo } from './elements.js';
import { duration, partsOf, percent, quantile, withTimes } from './format.js';

/** A request with this many times the usual duration is slow. */
const SLOW = 2;

/** Shows the section, unless the request was as fast as usual. */
export async function showTime(section, record, stages) {
  const { method, route, upstream, duration_ms: all } = record;
  const operation = `${method} ${route}`;
  const { attention, history } = await read('feed', { range: '15m', operation, instance: ALL });
  const causes = causesAbout(attention, { view: 'operations', id: operation, upstream }).filter((one) => isSlow([one]));
  const { p50_ms: p50, p99_ms: p99 } = history?.subject?.total ?? {};
  const usual = `p50 ${quantile(p50)}, p99 ${quantile(p99)}`;
  if (causes.length === 0 && !(all > SLOW * p50)) return;
  const items = [
    timesOf(record, stages),
    ...causes.map((cause) => [element('strong', {}, withTimes(cause.cause)), ' ', ...leadsOf(cause)]),
    [
      ...(causes.length === 0 ? ['Nothing needs attention for its duration now. '] : []),
      linkTo('operations', operation),
      ` in the last 15 minutes: ${usual}.`,
    ],
  ];
  const list = element('ul', { class: 'steps card' }, ...items.map((item) => element('li', {}, ...item)));
  section.replaceChildren(element('h3', {}, 'Where the time went'), list);
}

function timesOf(record, stages) {
  const { duration_ms: all, upstream, target, queued_ms: queued } = record;
  const { own, upstream: ms, transfer } = partsOf(record);
  const [longest] = stages
    .filter(({ stage }) => stage !== 'forward')
    .toSorted((one, other) => (other.duration_ms ?? 0) - (one.duration_ms ?? 0));
  const most = longest?.duration_ms > own / 2 ? `, most of it in ${longest.stage}` : '';
  const waited = queued > 0 ? `, of which it waited ${duration(queued)} for its turn` : '';
  const sent = transfer > 1 ? `; ${duration(transfer)} (${percent(transfer, all)}) in the transfer to the client` : '';
  const gateway = `${duration(own)} (${percent(own, all)}) in the gateway${waited || most}${sent}.`;
  if (ms === undefined) return [gateway];
  const service = linkTo('upstreams', upstream, `the upstream ${upstream}`);
  return [`${duration(ms)} (${percent(ms, all)}) in `, service, `${target ? `, ${target}` : ''}; `, gateway];
}
