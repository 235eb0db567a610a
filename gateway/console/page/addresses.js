// The addresses of the views, which are a path and parameters behind `#`, and the subjects that have their own page.

/** The parameters that every view keeps: the time, and the instance. */
const LASTING = ['range', 'from', 'to', 'instance'];

/** An address without an instance means all instances: the fault of one instance may hurt the others. */
export const ALL = 'all';

export const instanceIn = ({ params }) => params.get('instance') ?? ALL;

let lasting = {};

/** Keeps the parameters of a route. A list of requests has a separate time, which does not change the time of the charts. */
export function keep({ view, params }) {
  const names = view === 'requests' ? ['instance'] : LASTING;
  lasting = { ...lasting, ...Object.fromEntries(names.map((name) => [name, params.get(name) ?? undefined])) };
}

/** Addresses of earlier releases, because tickets contain them. */
const FORMER = { exchanges: 'requests' };

/** Parses `#/requests/req_1?code=x`. */
export function routeIn(hash) {
  const [path, query = ''] = hash.replace(/^#/, '').split('?');
  const [first = '', ...rest] = path.split('/').filter((part) => part !== '');
  return {
    view: first === '' ? 'overview' : (FORMER[first] ?? first),
    id: rest.length > 0 ? decode(rest.join('/')) : undefined,
    params: new URLSearchParams(query),
  };
}

/** Returns the address of a view, with the time and the instance that are shown now; members without a value are left out. */
export function addressOf(view, params = {}, id) {
  const wanted = Object.entries({ ...lasting, ...params }).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const query = new URLSearchParams(wanted).toString();
  const path = view === 'overview' ? '' : `${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
  return `#/${path}${query === '' ? '' : `?${query}`}`;
}

/** Returns the address of a page about one thing, such as an organization. */
export const pageOf = (view, id) => addressOf(view, {}, id);

/** The subjects that have their own page, by view: the member that narrows a question to the subject, and the word for readers. */
export const SUBJECTS = {
  operations: { member: 'operation', kind: 'Operation' },
  upstreams: { member: 'upstream', kind: 'Upstream' },
  organizations: { member: 'organization', kind: 'Organization' },
  codes: { member: 'code', kind: 'Error code' },
};

/** Returns the members that narrow a question to the gateway to the subject; empty in a view that has no subject. */
export function subjectIn({ view, id }) {
  const known = id === undefined ? undefined : SUBJECTS[view];
  return known === undefined ? {} : { [known.member]: id };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
