// Addresses of the page's views: a path and parameters behind `#`, so that every view can be linked, and none is asked of the server.

/** Parses `#/exchanges/req_1?code=x`. */
export function routeIn(hash) {
  const [path, query = ''] = hash.replace(/^#/, '').split('?');
  const [view = '', ...rest] = path.split('/').filter((part) => part !== '');
  return {
    view: view === '' ? 'overview' : view,
    id: rest.length > 0 ? decoded(rest.join('/')) : undefined,
    params: new URLSearchParams(query),
  };
}

/** The address of a view; members without a value are left out. */
export function addressOf(view, params = {}, id) {
  const wanted = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const query = new URLSearchParams(wanted).toString();
  const path = view === 'overview' ? '' : `${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
  return `#/${path}${query === '' ? '' : `?${query}`}`;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
