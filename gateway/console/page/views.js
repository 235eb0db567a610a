// Shows the view of the address. The script of the first page is loaded at once, the script of another page when it is first opened. Only
// the view of the address shows a feed, because the feed of another view may be of another time.

import { routeIn, SUBJECTS } from './addresses.js';
import { Unavailable } from './api.js';
import { place } from './elements.js';
import { overview } from './overview.js';

const TITLES = {
  overview: 'Overview',
  requests: 'Requests',
  organizations: 'Organizations',
  system: 'System',
  runbook: 'Runbook',
  routes: 'Routes',
  audit: 'Audit',
  alerts: 'Alerts',
  configuration: 'Configuration',
  explain: 'Explain a request',
  operations: 'Operation',
  upstreams: 'Upstream',
  codes: 'Error code',
};
const WITH_CHARTS = ['overview', 'subject'];
/** Views that are reached from another view. The link of that view is then marked at the top. */
const WITHIN = { configuration: 'system', alerts: 'system', upstreams: 'system', operations: 'routes' };

/** The functions that load the panels, by panel. The result has `open(route, feed)`, and if needed `feed(feed)` and `close()`. */
const LOADERS = {
  async overview() {
    const show = overview();
    return { open: (_route, feed) => feed && show(feed), feed: show };
  },
  async requests(tell) {
    const { open, close, feed } = (await import('./exchanges.js')).exchanges(tell);
    return { open: ({ params }) => open(params), close, feed };
  },
  async story() {
    const { showStory } = await import('./story.js');
    return { open: ({ id, params }) => showStory(id, params.has('searched')) };
  },
  async system() {
    const show = (await import('./system.js')).system();
    return { open: (_route, feed) => feed && show(feed), feed: show };
  },
  async organizations() {
    const { openSearch } = await import('./organizations.js');
    return { open: ({ params }) => openSearch(params.get('find') ?? '') };
  },
  async routes() {
    const { showRoutes } = await import('./routes-view.js');
    return { open: showRoutes };
  },
  async audit() {
    const { showAudit } = await import('./audit.js');
    return { open: showAudit };
  },
  async alerts() {
    const { showAlerts } = await import('./alerts.js');
    return { open: (_route, feed) => showAlerts(feed), feed: (feed) => void showAlerts(feed).catch(() => undefined) };
  },
  async configuration() {
    const { renew, showConfiguration } = await import('./configuration.js');
    return { open: showConfiguration, feed: (feed) => void renew(feed) };
  },
  async explain() {
    const { openExplain } = await import('./explain.js');
    return { open: openExplain };
  },
  async runbook() {
    const { showRunbook } = await import('./runbook.js');
    return { open: ({ id = '' }, feed) => showRunbook(id, feed?.attention ?? []) };
  },
  async subject(tell) {
    const { SubjectPage } = await import('./subject.js');
    return new SubjectPage(tell);
  },
};

/** The lists of the subjects, which an address without a name opens. */
const LISTS = { upstreams: 'system', operations: 'routes', codes: 'overview' };

/** Returns the panel of an address; undefined for an unknown address. */
function panelOf({ view: name, id }) {
  if (!(name in TITLES)) return undefined;
  if (id === undefined) return LISTS[name] ?? name;
  if (name === 'runbook') return name;
  return name === 'requests' ? 'story' : name in SUBJECTS ? 'subject' : name;
}

/** Shows the panel of a view, and marks its link at the top. */
function placeView(route, panel) {
  const name = route.view;
  for (const part of document.querySelectorAll('[data-view]')) part.hidden = part.dataset.view !== panel;
  for (const one of document.querySelectorAll('#nav a')) {
    if (one.dataset.name !== (WITHIN[name] ?? name)) one.removeAttribute('aria-current');
    else one.setAttribute('aria-current', name in WITHIN ? 'true' : 'page');
  }
  for (const part of document.querySelectorAll('.of-charts')) part.hidden = !WITH_CHARTS.includes(panel);
  place('controls').hidden = panel === 'runbook' || panel === undefined;
  // The number of failures in the title stays until the next answer.
  const [failures = ''] = /^\(\d+\) /.exec(document.title) ?? [];
  document.title = `${failures}${name in TITLES ? (route.id ?? TITLES[name]) : 'Not found'} · Gateway console`;
}

/**
 * @param tell what questions of the views report (`follow` of `api.js`)
 * @param latest gives the feed that answers the question of the present address, if there is one
 * @param before gives the latest feed of any address with the same time and instance
 */
export function createViews(tell, latest, before) {
  const loaded = new Map();
  let current;
  let shown;
  /** Whether the view needs a store that is unavailable. Then the next feed opens the view again. */
  let isUnread = false;

  /** Loads a panel once. After a failure, the next call tries again. */
  function load(panel) {
    if (!loaded.has(panel))
      loaded.set(
        panel,
        LOADERS[panel](tell).catch((error) => {
          loaded.delete(panel);
          throw error;
        }),
      );
    return loaded.get(panel);
  }

  /** Says that the contents could not be read. An empty table would say that there are none. */
  function tellUnread(panel, reason) {
    place('not-read').textContent = reason;
    place('not-read').hidden = false;
    document.querySelector(`[data-view="${panel}"]`).hidden = true;
    isUnread = true;
  }

  /** Opens the view again. The message stays until the view can be shown. */
  async function openAgain() {
    const { hash } = location;
    const route = routeIn(hash);
    isUnread = false;
    current?.close?.();
    try {
      await current?.open(route, latest());
    } catch {
      isUnread = shown === hash;
      return;
    }
    if (shown !== hash) return;
    place('not-read').hidden = true;
    placeView(route, panelOf(route));
  }

  function close() {
    isUnread = false;
    current?.close?.();
    current = undefined;
  }

  /** Shows the view of the address. */
  async function show() {
    const { hash } = location;
    const route = routeIn(hash);
    const panel = panelOf(route);
    close();
    placeView(route, panel);
    place('not-loaded').hidden = true;
    place('not-read').hidden = true;
    if (shown !== undefined && shown !== hash) {
      place('main').focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    shown = hash;
    if (panel === undefined) {
      place('not-read').textContent = `The console has no page ${hash}. The links at the top lead to all of its pages.`;
      place('not-read').hidden = false;
      return;
    }
    let view;
    try {
      view = await load(panel);
    } catch {
      if (shown === hash) place('not-loaded').hidden = false;
      return;
    }
    if (shown === hash) await open(view, route, panel);
  }

  async function open(view, route, panel) {
    current = view;
    try {
      await view.open(route, latest(), before());
    } catch (error) {
      if (error instanceof Unavailable) tellUnread(panel, error.message);
      // The next question to the gateway updates the state of the connection at the top.
      else tell.lost();
    }
  }

  return {
    close,
    /** Loads the script of a view that will probably be opened. */
    prepare(route) {
      const panel = panelOf(route);
      if (panel) void load(panel).catch(() => undefined);
    },
    feed(feed) {
      if (isUnread) void openAgain();
      else current?.feed?.(feed);
    },
    show,
  };
}
