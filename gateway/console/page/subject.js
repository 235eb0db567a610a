// The page of an operation, an upstream, an organization or an error code: its causes, its facts, its figures and charts, and tables of the
// remembered requests.

import { addressOf, instanceIn, SUBJECTS, subjectIn } from './addresses.js';
import { follow, read, Unavailable } from './api.js';
import { isSlow, showCauses } from './attention.js';
import { createBreakdown } from './breakdown.js';
import { causesAbout } from './causes-about.js';
import { emptyCard, link, place } from './elements.js';
import { operationName } from './format.js';
import { causesIn, createHappened } from './happened.js';
import { noteLatest, refreshOrganization, showOrganization } from './organizations.js';
import { showCode, showOperation, showUpstream } from './subject-facts.js';
import { codeTiles, showMore, tilesOf } from './subject-tiles.js';
import { shownTime } from './time-range.js';
import { createTrafficCharts } from './traffic-charts.js';

const BREAKDOWN_EVERY_MS = 4000;
const NOT_COUNTED =
  'No counts for this time: it had no requests, or fewer than those that are counted. The remembered requests are listed below.';

/** Causes, figures and charts come with the feed. The page asks for the remembered requests itself. */
export class SubjectPage {
  #tell;
  #subject;
  /** Whether nothing has this name. */
  #isUnknown = false;
  /** Whether one of the causes is that the subject has become slow. */
  #isSlow = false;
  /** The causes of the latest feed, and those of a past time, if it is shown. */
  #causes = [];
  #past;
  /** The status of an error code. */
  #status;
  /** The latest answer about remembered requests. */
  #found;
  #showFound;
  #stop = () => undefined;
  #isRefreshing = false;
  #showCharts = createTrafficCharts(place('subject-traffic'), place('subject-latency'), () => subjectIn(this.#subject));

  #showHappened = createHappened(place('subject-happened'), 'h3');

  /** @param tell what questions of the page report (`follow` of `api.js`) */
  constructor(tell) {
    this.#tell = tell;
  }

  /** Opens the page of a subject. `feed` and `before` are the latest feeds of this address and of any address; each may be absent. */
  async open(route, feed, before) {
    const { view, id } = route;
    this.#subject = { view, id };
    this.#isUnknown = false;
    this.#found = undefined;
    this.#clear();
    if (feed !== undefined) this.#show(feed);
    else if (before !== undefined) this.#showKnown(before);
    this.#showFound = createBreakdown(this.#subject);
    const question = { ...subjectIn(this.#subject), ...shownTime(), instance: instanceIn(route) };
    const answer = (found) => this.#showBreakdown(found);
    this.#stop = follow(() => read('breakdown', question), BREAKDOWN_EVERY_MS, { ...this.#tell, answer });
    if (view === 'organizations') await this.#showOrganization(id);
    if (view === 'codes') showCode(await read(`codes/${encodeURIComponent(id)}`));
  }

  /** The figures and causes of an organization are shown without its record if that cannot be read. */
  async #showOrganization(id) {
    try {
      if (!(await showOrganization(id)))
        this.#showNothing(`There is no organization ${id}.`, link(addressOf('organizations'), 'All organizations'));
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      place('subject-about').replaceChildren(emptyCard(error.message));
    }
  }

  feed(latest) {
    this.#show(latest);
    void this.#refresh();
  }

  close() {
    this.#stop();
  }

  #clear() {
    const { view, id } = this.#subject;
    place('subject-kind').textContent = SUBJECTS[view].kind;
    place('subject-title').textContent = view === 'operations' ? operationName(id) : id;
    for (const box of ['subject-causes', 'subject-about', 'organization', 'breakdown', 'subject-tiles'])
      place(box).replaceChildren();
    place('subject-note').textContent = 'Loading …';
    place('subject-figures').hidden = false;
    for (const box of ['subject-traffic', 'subject-latency']) place(box).parentElement.hidden = true;
  }

  /**
   * Shows what the latest feed of another view has of the subject, until its own feed comes: causes, the state of an upstream, and the
   * figures of an operation of the first page.
   */
  #showKnown(feed) {
    const { view, id } = this.#subject;
    const { history } = feed;
    const known = history?.operations.find(({ name }) => view === 'operations' && name === id);
    const of = known === undefined ? null : { ...history, subject: known };
    this.#show({ ...feed, history: of, listed: [] });
  }

  #show(feed) {
    const { view, id } = this.#subject;
    this.#causes = feed.attention;
    this.#past = feed.history?.range === 'free' ? causesIn(feed) : undefined;
    this.#status = feed.history?.subject?.status;
    this.#isSlow = isSlow(this.#showCauses());
    if (view === 'upstreams' && !this.#isUnknown) showUpstream(feed, id);
    if (feed.history === null || this.#isUnknown) return;
    this.#showFigures(feed);
    this.#showHappened(feed);
  }

  #showCauses() {
    const { view, id } = this.#subject;
    const causes = this.#past ?? causesOf(this.#subject, this.#causes, this.#status);
    // They are above the figures, because the figures show them, but do not name them.
    showCauses(place('subject-causes'), causes, (led) => led.view === view && led.id === id);
    return causes;
  }

  #showFigures(feed) {
    const { view, id } = this.#subject;
    const { history } = feed;
    const isCode = view === 'codes';
    const known = history.subject;
    place('subject-figures').hidden = false;
    place('subject-note').textContent = known === null ? NOT_COUNTED : noteOf(history, view);
    place('subject-traffic').parentElement.hidden = known === null;
    place('subject-latency').hidden = isCode;
    if (known === null) {
      place('subject-tiles').replaceChildren();
      return;
    }
    const tiles = isCode ? codeTiles(history, this.#subject) : tilesOf(history, this.#subject, this.#isSlow);
    place('subject-tiles').replaceChildren(...tiles);
    if (this.#found !== undefined) showMore(this.#subject, this.#found);
    this.#showCharts(feed, isCode ? asRequests(known) : known, id);
  }

  #showBreakdown(found) {
    const { view } = this.#subject;
    this.#found = found;
    this.#showFound(found, this.#isSlow);
    if (view === 'operations') this.#showOperation(found);
    noteLatest(found.latest);
    showMore(this.#subject, found);
  }

  /** The upstream of an operation is known from its requests. Requests that were refused early have none. */
  #showOperation({ latest, failures }) {
    const upstream = [...latest, ...failures].find((one) => one.upstream)?.upstream;
    showOperation(upstream, this.#subject.id);
    if (upstream === this.#subject.upstream) return;
    this.#subject.upstream = upstream;
    this.#showCauses();
  }

  /** Says that nothing has this name. Figures without any value would only hide that. */
  #showNothing(text, ...leads) {
    this.#isUnknown = true;
    place('subject-figures').hidden = true;
    place('breakdown').hidden = true;
    place('subject-about').replaceChildren(emptyCard(text, ' ', ...leads));
  }

  /** An organization is read again with each answer, because a key that is revoked elsewhere must not stay active on the page. */
  async #refresh() {
    const { view, id } = this.#subject;
    if (view !== 'organizations' || this.#isRefreshing) return;
    this.#isRefreshing = true;
    await refreshOrganization(id).catch(() => undefined);
    this.#isRefreshing = false;
  }
}

/** Returns the causes of a subject. The page of a code has the causes that name the code or its status, because none has a code as its page. */
function causesOf(subject, attention, status) {
  if (subject.view !== 'codes') return causesAbout(attention, subject);
  return attention.filter(
    ({ cause, consequence }) =>
      `${cause} ${consequence}`.split(/[^\w]+/).includes(subject.id) ||
      (status >= 500 && /fail with ([\d, or]+)/.exec(consequence)?.[1].includes(status)),
  );
}

/** Returns the series of a code in the form in which charts take series of requests. All its requests have this code. */
function asRequests({ series, status }) {
  const none = series.map(() => 0);
  const unknown = series.map(() => null);
  const isServer = status === null || status >= 500;
  return {
    series: {
      requests: series,
      redirects: none,
      client_errors: isServer ? none : series,
      server_errors: isServer ? series : none,
      failed: isServer ? series : none,
      refused: isServer ? none : series,
      p50_ms: unknown,
      p99_ms: unknown,
    },
  };
}

function noteOf({ before_seconds: seconds, range }, view) {
  const compared =
    seconds > 0 ? 'Compared with the same time yesterday.' : 'There are no counts of the same time yesterday.';
  if (view === 'codes') return compared;
  const limit = view === 'upstreams' ? ' Durations end when the upstream begins to respond.' : '';
  const now = range === 'free' ? '' : ' Large figures are of the last minute.';
  return `${compared}${now}${limit} ≈ marks estimates from counts.`;
}
