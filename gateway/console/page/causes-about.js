// The causes that a page is about: those that lead to it, and those of what its requests depend on.

import { routeIn } from './addresses.js';

/** Causes of the gateway that concern each request. */
const OF_ALL = /^(redis|stores|keys lost|store writes|silent|lifecycle|loop|shedding)\b/;
const CALLS = new Set(['operations', 'organizations']);

/** @param page its `view` and `id`; for an operation also its `upstream`, once that is known */
export function causesAbout(causes, { view, id, upstream }) {
  const ledBy = ({ details }) => (details === undefined ? {} : routeIn(details));
  const isOwn = (cause) => ledBy(cause).view === view && ledBy(cause).id === id;
  const found = causes.filter((cause) => {
    const led = ledBy(cause);
    if (isOwn(cause)) return true;
    if (view === 'upstreams' && cause.upstream === id) return true;
    if (view === 'organizations' && cause.organizations?.includes(id)) return true;
    if (view === 'system') return led.view === 'upstreams' || cause.upstream || OF_ALL.test(cause.id);
    if (CALLS.has(view) && OF_ALL.test(cause.id)) return true;
    return view === 'operations' && led.view === 'upstreams' && led.id === upstream;
  });
  // What hits all organizations is less news on the page of one than its own limit.
  return view === 'organizations' ? found.sort((one, other) => isOwn(other) - isOwn(one)) : found;
}
